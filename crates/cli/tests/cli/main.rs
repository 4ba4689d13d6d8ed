//! `headstart` from outside. `run` starts it; one module per kind of claim.

mod agent;
mod analyze;
mod analyze_choice;
mod analyze_input;
mod analyze_log;
mod analyze_memory;
mod analyze_report;
mod analyze_tables;
mod bad_input;
mod capture;
mod commands;
mod completions;
mod emulate;
mod install;
mod launch;
mod man;
mod nobody;
mod outputs;
mod pages;
mod predict;
mod privileges;
mod published;
mod race;
mod race_agent;
mod race_chromium;
mod race_curl;
mod race_diagnosis;
mod race_distances;
mod race_files;
mod race_http3;
mod race_lookups;
mod race_milestones;
mod race_objects;
mod race_runs;
mod race_variants;
mod race_waterfall;
mod race_worlds;
mod readme;
mod report;
mod report_places;
mod run;
mod serve;
mod signals;

/// The program.
const PROGRAM: &str = env!("CARGO_BIN_EXE_headstart");
/// Commands that other programs carry out, and which write their own pages.
const OTHERS: &[&str] = &["agent", "gateway", "lab"];
/// Commands with commands of their own.
const GROUPS: &[&str] = &[];
