//! What may be typed as the value of an option, by the lists that the program itself reads them with.

use cmdline::captures::{CAPTURE_ENDINGS, sender_names};
use cmdline::complete::{Asked, Candidate, Completion, FilesOffered, schemes};
use link::DISCIPLINES;
use race::path::PRESETS;
use trace::Vantage;
use workload::BUILTINS;
use worlds::Contender;

/// The values of an option or argument; `None` where clap knows them, or where any number or text will do.
pub(super) fn of(asked: &Asked<'_>) -> Option<Completion> {
    Some(match (asked.command, asked.argument) {
        ("race", "schemes") => schemes::list(asked.typed, |text| Contender::parse(text).is_ok()),
        ("race", "page") => pages(),
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
        ("capture", "interface") => interfaces(),
        ("capture", "write") => Completion::ending(&[".pcap"]),
        (_, "path") => path(asked.typed, &[("up=", "rate away from the client"), LOSS]),
        (_, "down" | "up") => {
            path(asked.typed, &[LOSS, ("jitter=", "delays each packet by up to so much more")])
        }
        (_, "path_preset") => {
            Completion::named(PRESETS.iter().map(|preset| (preset.name, preset.rationale)))
        }
        (_, "server_model") => Completion::named([("builtin", ""), ("nginx", "")]),
        (_, "client_model") => Completion::named([("loader", ""), ("chromium", "")]),
        (_, "http") => Completion::named([("1.0", ""), ("1.1", ""), ("2", "")]),
        (_, "tls") => Completion::named([("none", ""), ("1.3", "")]),
        _ => return schemes::shared(asked),
    })
}

const LOSS: (&str, &str) = ("loss=", "probability that a packet is lost");

/// Network interfaces of this machine; none where the kernel does not list them.
fn interfaces() -> Completion {
    let listed = std::fs::read_dir("/sys/class/net").into_iter().flatten().flatten();
    let names = listed.filter_map(|entry| entry.file_name().into_string().ok());
    let any = Candidate::whole("any", "all of them");
    Completion::of([any].into_iter().chain(names.map(|name| Candidate::whole(name, ""))))
}

fn pages() -> Completion {
    let named = Completion::named(BUILTINS.iter().map(|page| (page.name, page.description)));
    Completion { files: Some(FilesOffered::Ending(&[".har", ".har.gz"])), ..named }
}

/// Behind `RATE,RTT,QUEUE` of a path, or `RATE,DELAY,QUEUE` of one direction: disciplines, and what has a name.
fn path(typed: &str, keys: &[(&'static str, &'static str)]) -> Completion {
    let Some(comma) = typed.rfind(',') else { return Completion::default() };
    if typed[..comma].split(',').count() < 3 || typed[comma..].contains('=') {
        return Completion::default();
    }
    let queues = DISCIPLINES.iter().map(|queue| Candidate::open(queue.name, queue.about));
    let keys = keys.iter().map(|(key, about)| Candidate::open(*key, *about));
    Completion::of(queues.chain(keys)).behind(comma + 1)
}
