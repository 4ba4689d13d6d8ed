//! `headstart-agent`, which `headstart agent` runs: reads the command line, prints what the library says.

mod args;
mod show;

use agent::agent::Config;
use agent::question::{Answer, Question};
use agent::{check, control};
use args::{Args, Command};
use clap::Parser;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Bad input, a missing privilege, or a kernel that does not do: as `headstart` has it.
const CANNOT: u8 = 2;

fn main() -> ExitCode {
    match run(Args::parse()) {
        Ok(code) => code,
        Err(why) => {
            let _ = writeln!(io::stderr(), "headstart agent: {why}");
            ExitCode::from(CANNOT)
        }
    }
}

fn run(args: Args) -> Result<ExitCode, String> {
    let socket = args.socket.clone();
    match args.command {
        None => attend(args.config()?).map(|()| ExitCode::SUCCESS),
        Some(Command::Check { json }) => {
            let findings = check::all(&args.load()?);
            let text = if json { to_json(&findings) } else { show::findings(&findings) };
            print(&text)?;
            let can = findings.iter().all(|finding| finding.is_there);
            Ok(if can { ExitCode::SUCCESS } else { ExitCode::from(CANNOT) })
        }
        Some(Command::Status { json }) => ask(&socket, &Question::Status, json),
        Some(Command::Paths { json }) => ask(&socket, &Question::Paths, json),
        Some(Command::Forget { prefix, .. }) => ask(&socket, &Question::Forget(prefix), false),
    }
}

fn attend(config: Config) -> Result<(), String> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))
            .map_err(|error| format!("cannot be told to stop: {error}"))?;
    }
    let (cgroup, socket) = (config.cgroup.clone(), config.socket.clone());
    agent::agent::run(config, &stop, || {
        let _ = writeln!(
            io::stderr(),
            "headstart agent: attending to new connections of {}; asked at {}",
            cgroup.display(),
            socket.display()
        );
    })
}

fn ask(socket: &Path, question: &Question, json: bool) -> Result<ExitCode, String> {
    let text = match control::ask(socket, question)? {
        Answer::Status(status) if json => to_json(&status),
        Answer::Status(status) => show::status(&status),
        Answer::Paths(paths) if json => to_json(&paths),
        Answer::Paths(paths) => show::paths(&paths),
        Answer::Forgotten(1) => "1 path forgotten".to_owned(),
        Answer::Forgotten(count) => format!("{count} paths forgotten"),
        Answer::Refused(why) => return Err(format!("the agent did not understand: {why}")),
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).expect("plain fields")
}

fn print(text: &str) -> Result<(), String> {
    match writeln!(io::stdout(), "{text}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("cannot write results: {error}"))
        }
        _ => Ok(()),
    }
}
