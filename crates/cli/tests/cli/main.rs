//! The binary from outside. `run` starts it; one module per kind of claim.

mod agent;
mod analyze;
mod analyze_input;
mod analyze_log;
mod analyze_report;
mod analyze_tables;
mod bad_input;
mod capture;
mod commands;
mod completions;
mod emulate;
mod install;
mod man;
mod papers;
mod privileges;
mod race;
mod race_agent;
mod race_curl;
mod race_worlds;
mod readme;
mod run;
mod scoreboard;
mod serve;
mod sim;
mod sim_folder;
mod theory;
