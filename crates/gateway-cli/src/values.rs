//! Completion of the values of options.

use cmdline::complete::{Asked, Completion, FilesOffered};

/// Returns the values of an option or argument; `None` if clap has them, or if any number or text
/// is valid.
pub(crate) fn of(asked: &Asked<'_>) -> Option<Completion> {
    Some(match (asked.command, asked.argument) {
        (_, "config") | ("replay", "to") => Completion::ending(&[".toml"]),
        ("init", "observe") => Completion::interfaces(),
        ("init" | "certificate" | "request", "folder") => Completion::files(FilesOffered::Folders),
        ("certificate", "request") => Completion::ending(&[".csr", ".pem"]),
        ("revoke" | "forget", "certificate") => Completion::ending(&[".pem"]),
        ("forget", "key") => Completion::ending(&[".key", ".pem"]),
        ("replay", "log") => Completion::ending(&[".log", ".log.gz", ".json", ".pcap", ".pcapng"]),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GatewayCli;
    use clap::CommandFactory;
    use cmdline::complete::unlisted;

    /// Values that no program can list: numbers, times, names that the user makes up.
    const FREE: &[&str] = &[
        "agent",
        "arguments",
        "begin",
        "date",
        "days",
        "fingerprint",
        "host",
        "http",
        "name",
        "network",
        "seed",
        "serial",
        "size",
        "span",
        "tenant",
        "times",
        "user",
    ];

    #[test]
    fn every_option_has_its_values() {
        assert_eq!(unlisted(GatewayCli::command(), &of), FREE);
    }
}
