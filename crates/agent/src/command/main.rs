//! `headstart-agent`, which `headstart agent` runs: reads the command line, prints what the library
//! says.

#![forbid(unsafe_code)]

mod args;
mod page;
mod show;
mod transfer;

use agent::config::{self, AgentConfig};
use agent::daemon::AgentSignals;
use agent::daemon::check;
use agent::daemon::renew::{self, Renewed};
use agent::doctor;
use agent::interface::control_socket;
use agent::interface::question::{AgentAnswer, Question};
use agent::programs::leftovers;
use args::{AgentArgs, Command};
use clap::Parser;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Bad input, a missing privilege, or a kernel that does not do: as `headstart` has it.
const CANNOT: u8 = 2;

fn main() -> ExitCode {
    match run(AgentArgs::parse()) {
        Ok(code) => code,
        Err(why) => {
            let _ = writeln!(io::stderr(), "headstart agent: {why}");
            ExitCode::from(CANNOT)
        }
    }
}

/// Runs the command, or the agent if there is none.
fn run(args: AgentArgs) -> Result<ExitCode, String> {
    if let Some(schema) = args.command.as_ref().and_then(Command::schema) {
        return print(schema.trim_end()).map(|()| ExitCode::SUCCESS);
    }
    let options = args.options()?;
    let socket = config::socket(&options);
    match args.command {
        None => run_daemon(&args).map(|()| ExitCode::SUCCESS),
        Some(Command::Check { json, .. }) => {
            let checked = check::check(&options)?;
            let text = match json {
                true => to_json(&checked.findings),
                false => show::findings(&checked.findings),
            };
            print(&text)?;
            Ok(if checked.is_good() { ExitCode::SUCCESS } else { ExitCode::from(CANNOT) })
        }
        Some(Command::Status { watch: Some(every), .. }) => {
            print_status_repeatedly(&socket, every.get())
        }
        Some(Command::Status { json, .. }) => print_answer(&socket, &Question::Status, json),
        Some(Command::Paths { json, .. }) => print_answer(&socket, &Question::Paths, json),
        Some(Command::Export { file, .. }) => transfer::export(&socket, file.as_deref()),
        Some(Command::Import { file }) => transfer::import(&socket, &file),
        Some(Command::Renew { .. }) => {
            let Renewed { before, now } = renew::renew(&socket)?;
            print(&format!("process {now} replaces process {before}"))?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Tidy) => print(&remove_leftovers()).map(|()| ExitCode::SUCCESS),
        Some(Command::Doctor { config }) => {
            let seen = doctor::examine(&config, options);
            print(&page::doctor_page(&seen)).map(|()| ExitCode::SUCCESS)
        }
        Some(Command::Ramp { percent }) => {
            print_answer(&socket, &Question::Ramp(percent.per_million()), false)
        }
        Some(Command::Arm) => print_answer(&socket, &Question::Arm, false),
        Some(Command::Forget { prefix, .. }) => {
            print_answer(&socket, &Question::Forget(prefix), false)
        }
        Some(Command::Man(pages)) => args::write_man(&pages).map(|()| ExitCode::SUCCESS),
        Some(Command::Complete(question)) => {
            print(args::completion_answer(&question).trim_end()).map(|()| ExitCode::SUCCESS)
        }
    }
}

fn remove_leftovers() -> String {
    match leftovers::take_away().as_slice() {
        [] => "nothing was left, or an agent runs".to_owned(),
        names => format!("took away {}", names.join(", ")),
    }
}

/// Runs the agent until a signal ends it. SIGHUP reloads the configuration, and SIGUSR2
/// replaces the process by the program's file as it is now.
fn run_daemon(args: &AgentArgs) -> Result<(), String> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR2};
    let wishes = AgentSignals::default();
    for (signal, wish) in [
        (SIGINT, &wishes.stop),
        (SIGTERM, &wishes.stop),
        (SIGHUP, &wishes.reload),
        (SIGUSR2, &wishes.renew),
    ] {
        signal_hook::flag::register(signal, Arc::clone(wish))
            .map_err(|error| format!("cannot listen to signals: {error}"))?;
    }
    let reread = || AgentConfig::new(&args.options()?);
    agent::daemon::run(reread()?, args.take_over, &wishes, reread)
}

/// Asks the running agent, and prints its answer as text or JSON.
fn print_answer(socket: &Path, question: &Question, json: bool) -> Result<ExitCode, String> {
    let text = match control_socket::ask(socket, question)? {
        AgentAnswer::Status(status) if json => to_json(&status),
        AgentAnswer::Status(status) => show::status(&status),
        AgentAnswer::Paths(paths) if json => to_json(&paths),
        AgentAnswer::Paths(paths) => show::paths(&paths),
        AgentAnswer::Armed(true) => "windows are used again".to_owned(),
        AgentAnswer::Armed(false) => {
            "windows had not been turned off; their comparison starts again".to_owned()
        }
        AgentAnswer::Ramped(was) => {
            format!("in force for new connections; before it were {} %", f64::from(was) / 1e4)
        }
        AgentAnswer::Forgotten(1) => "1 path forgotten".to_owned(),
        AgentAnswer::Forgotten(count) => format!("{count} paths forgotten"),
        AgentAnswer::Exported(_) | AgentAnswer::Imported(_) | AgentAnswer::HandingOver(_) => {
            return Err("the agent answered something else".to_owned());
        }
        AgentAnswer::Refused(why) => return Err(format!("the agent did not understand: {why}")),
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the status repeatedly, until it is interrupted or the agent ends.
fn print_status_repeatedly(socket: &Path, every_s: u32) -> Result<ExitCode, String> {
    let is_terminal = io::stdout().is_terminal();
    loop {
        let AgentAnswer::Status(status) = control_socket::ask(socket, &Question::Status)? else {
            return Err("the agent answered something else".to_owned());
        };
        // A terminal is cleared, from its top left on; elsewhere one follows the other.
        print(&format!(
            "{}{}\n",
            if is_terminal { "\x1b[H\x1b[2J" } else { "" },
            show::status(&status)
        ))?;
        thread::sleep(Duration::from_secs(every_s.into()));
    }
}

fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).expect("plain fields")
}

/// Prints a result. A reader that has closed the pipe is no error.
fn print(text: &str) -> Result<(), String> {
    match writeln!(io::stdout(), "{text}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("cannot write results: {error}"))
        }
        _ => Ok(()),
    }
}
