//! The possible values of options, by the lists with which the program itself reads them.

use cmdline::captures::{CAPTURE_ENDINGS, sender_names};
use cmdline::complete::{Asked, Completion, FilesOffered, schemes};
use link::path::PRESETS;
use testbed::Contender;
use trace::Vantage;
use workload::BUILTINS;

/// The values of an option or argument; `None` where clap knows them, or where any number or text
/// will do.
pub(super) fn of(asked: &Asked<'_>) -> Option<Completion> {
    Some(match (asked.command, asked.argument) {
        ("race", "schemes") => schemes::list(asked.typed, |text| Contender::parse(text).is_ok()),
        ("race" | "pages", "page") => pages(),
        ("analyze" | "predict", "sender") => sender_names(),
        ("analyze" | "predict", "vantage") => {
            let all = [Vantage::Server, Vantage::Client, Vantage::Middle];
            Completion::named(all.map(|at| (at.name(), "")))
        }
        // Addresses and ports.
        ("analyze" | "predict", "server") => Completion::default(),
        ("analyze", "access_log") => Completion::ending(&[".log", ".log.gz", ".json"]),
        ("analyze" | "predict", "files") => Completion::ending(&CAPTURE_ENDINGS),
        ("report", "config") => Completion::ending(&[".toml"]),
        ("report", "file") => Completion::ending(&[".jsonl", ".json"]),
        ("analyze", "out") => Completion::files(FilesOffered::Folders),
        ("capture", "interface") => Completion::interfaces(),
        ("capture", "write") => Completion::ending(&[".pcap"]),
        (_, "down" | "up") => {
            let jitter = ("jitter=", "delays each packet by up to so much more");
            let aggregate = ("aggregate=", "delivers packets in bursts, one in each interval");
            schemes::path(
                asked.typed,
                &[
                    schemes::LOSS,
                    jitter,
                    schemes::ORDERED_JITTER,
                    schemes::DELAY_STEPS,
                    aggregate,
                    schemes::FROM,
                ],
            )
        }
        (_, "path_preset") => {
            Completion::named(PRESETS.iter().map(|preset| (preset.name, preset.rationale)))
        }
        (_, "client_model") => Completion::named([("loader", ""), ("chromium", "")]),
        (_, "http") => Completion::named([("1.0", ""), ("1.1", ""), ("2", ""), ("3", "")]),
        (_, "until") => Completion::named([
            ("load", "the last byte that the load event waits for"),
            ("last", "the last byte of all"),
        ]),
        (_, "tls") => Completion::named([("none", ""), ("1.2", ""), ("1.3", ""), ("0rtt", "")]),
        _ => return schemes::shared(asked),
    })
}

fn pages() -> Completion {
    let named = Completion::named(BUILTINS.iter().map(|page| (page.name, page.description)));
    Completion { files: Some(FilesOffered::Ending(&[".har", ".har.gz"])), ..named }
}
