//! `headstart lab script`: plays a scenario script.

use cmdline::{Appendix, Failure, input, stdout};
use std::path::PathBuf;
use tcp::{LinuxVersion, Scheme};
use units::counted;

#[derive(Debug, clap::Args)]
pub(crate) struct ScriptArgs {
    /// The script
    #[arg(value_name = "FILE.pkt")]
    file: PathBuf,
    /// Scheme to play it against (`headstart schemes`) [default: the one that the script names]
    #[arg(long, value_name = "NAME", value_parser = parse_scheme)]
    scheme: Option<Scheme>,
    /// Version of Linux that the scheme follows: 6.12, 6.18 or 7.0 [default: the one that the
    /// script names, else 6.18]
    #[arg(long, value_name = "VERSION")]
    linux: Option<LinuxVersion>,
}

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            (
                "headstart lab script scripts/handshake/passive.pkt",
                "Plays the script against the scheme that it names.",
            ),
            (
                "headstart lab script packetdrill/gtests/net/tcp/slow_start/slow-start-app-limited.pkt",
                "Plays one of packetdrill's own scripts, unchanged, against linux.",
            ),
            (
                "headstart lab script scripts/handshake/passive.pkt --scheme linux+iw=4",
                "Plays it against another scheme.",
            ),
        ],
        exit: &[
            (
                "0",
                "every segment is as the script says; assertions that cannot be judged add to a count",
            ),
            ("1", "a segment differs; the message names the line, and the segment that was sent"),
            ("2", "the script cannot be read, or is about what TCP has no part in"),
        ],
        see_also: &["headstart-schemes", "headstart-lab-check-scripts"],
        more: &["scripts/README.md", "docs/scenarios.md"],
        ..Appendix::default()
    }
}

fn parse_scheme(text: &str) -> Result<Scheme, String> {
    Scheme::parse(text).map_err(|error| error.to_string())
}

pub(crate) fn run(args: &ScriptArgs) -> Result<(), Failure> {
    let name = args.file.display().to_string();
    let mut script = script::parse(&name, input::read(&args.file)?).map_err(Failure::input)?;
    script.settings.linux = args.linux.or(script.settings.linux);
    // Before it runs: they may say why it differs.
    for note in &script.notes {
        cmdline::remark(&format!("{name}: {note}"));
    }
    let report = script::run(&script, args.scheme.as_ref()).map_err(Failure::failed)?;
    let not_asked = match report.not_asked {
        0 => String::new(),
        n => format!(", {} not judged", counted(n, "assertion")),
    };
    stdout::print(&format!(
        "{name}: {} as expected under {}, {} sent as the script says{not_asked}\n",
        counted(report.events, "event"),
        report.scheme,
        counted(report.sent, "segment")
    ))
}
