//! The page of `doctor` as text.

use crate::show;
use agent::doctor::{ConfigState, Examination, Machine, suspicions};

/// Formats the page of `headstart agent doctor`.
pub(crate) fn doctor_page(of: &Examination) -> String {
    let machine = &of.machine;
    let findings = match &of.check {
        Ok(check) => show::findings(&check.findings),
        Err(why) => why.clone(),
    };
    let status = match &of.status {
        Ok(status) => {
            format!("process {}, version {}\n{}", status.pid, status.version, show::status(status))
        }
        Err(why) => why.clone(),
    };
    let head = format!(
        "headstart agent {} on Linux {}, {}",
        machine.version, machine.kernel, machine.distribution
    );
    let sections = [
        ("suspicious", suspicious(of)),
        ("installed", installed_files(machine)),
        ("what an agent needs", findings),
        ("settings", settings(machine)),
        ("running agent: attached and measured", status),
    ];
    let sections = sections.map(|(title, text)| format!("\n## {title}\n{text}"));
    format!("{head}\n{}", sections.join("\n"))
}

/// Formats the suspicions, each with its remedy.
fn suspicious(of: &Examination) -> String {
    let all = suspicions(of);
    if all.is_empty() {
        return "nothing".to_owned();
    }
    let lines = all.iter().map(|suspicion| format!("- {}\n  {}", suspicion.what, suspicion.remedy));
    lines.collect::<Vec<_>>().join("\n")
}

/// Formats the table of installed files, and the state of the configuration.
fn installed_files(machine: &Machine) -> String {
    let rows = machine.files.iter().map(|file| {
        let size =
            file.bytes.map_or_else(|| "not there".to_owned(), |bytes| format!("{bytes} bytes"));
        [file.what.to_owned(), file.path.display().to_string(), size]
    });
    let config = match &machine.config {
        ConfigState::Missing => "there is no configuration file",
        ConfigState::Sound => "the configuration is sound",
        ConfigState::Refused(why) => why,
    };
    format!("{}\n{config}", show::table(["what", "where", "size"], rows))
}

/// Formats the table of kernel settings, and the programs of others at the agent's hooks.
fn settings(machine: &Machine) -> String {
    let rows = machine.settings.iter().map(|(name, value)| {
        [name.replace('/', "."), value.clone().unwrap_or_else(|| "–".to_owned())]
    });
    let others = match &machine.others {
        None => "no programs of anybody were seen: there are none, or CAP_SYS_ADMIN is missing"
            .to_owned(),
        Some(others) if others.is_empty() => {
            "no other programs at TCP's hooks of cgroups".to_owned()
        }
        Some(others) => format!("other programs at TCP's hooks of cgroups: {}", others.join(", ")),
    };
    format!("{}\n{others}", show::table(["sysctl", "value"], rows))
}
