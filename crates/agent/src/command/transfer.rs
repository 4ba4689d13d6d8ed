//! `headstart agent export` and `import`: the document between a file and a running agent.

use agent::interface::control_socket::{MAX_ENTRIES, ask};
use agent::interface::question::{AgentAnswer, Question};
use agent::memory::exchange::{ExchangeDocument, FORMAT, VERSION};
use agent::os::clock::Moment;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// Writes the paths of the running agent to `file`, or prints them.
pub(crate) fn export(socket: &Path, file: Option<&Path>) -> Result<ExitCode, String> {
    // The clock is read before the ages are, so that an imported sample never looks younger than it
    // is.
    let exported_unix_ms = Moment::now().wall_ns / 1_000_000;
    let AgentAnswer::Exported(paths) = ask(socket, &Question::Export)? else {
        return Err("the agent answered something else".to_owned());
    };
    let document =
        ExchangeDocument { format: FORMAT.to_owned(), version: VERSION, exported_unix_ms, paths };
    let text = crate::to_json(&document);
    match file {
        None => crate::print(&text)?,
        Some(file) => fs::write(file, text + "\n")
            .map_err(|error| format!("cannot write {}: {error}", file.display()))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Sends the paths of a document to the agent. Everything is checked before anything is sent.
pub(crate) fn import(socket: &Path, file: &Path) -> Result<ExitCode, String> {
    let of_file = |why: String| format!("{}: {why}", file.display());
    let text = fs::read_to_string(file).map_err(|error| of_file(error.to_string()))?;
    let document = ExchangeDocument::parse(&text).map_err(of_file)?;
    let mut taken = 0;
    for some in document.paths.chunks(MAX_ENTRIES) {
        let part =
            ExchangeDocument { paths: some.to_vec(), format: document.format.clone(), ..document };
        match ask(socket, &Question::Import(part))? {
            AgentAnswer::Imported(count) => taken += count,
            AgentAnswer::Refused(why) => return Err(of_file(why)),
            _ => return Err("the agent answered something else".to_owned()),
        }
    }
    let count = document.paths.len();
    crate::print(&format!(
        "{taken} of {count} paths taken; of the others something as young is known"
    ))?;
    Ok(ExitCode::SUCCESS)
}
