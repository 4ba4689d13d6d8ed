//! What may be typed as the value of an option, by the lists that the program itself reads them with.

use super::schemes;
use crate::sim;
use cmdline::complete::{Asked, Candidate, Completion, FilesOffered};
use link::DISCIPLINES;
use race::World;
use race::path::PRESETS;
use reproduction::check::ns2::SUITES;
use reproduction::papers::claims;
use tcp::Scheme;
use trace::{SenderProfile, Vantage};
use workload::BUILTINS;
use worlds::{Contender, agreement};

/// The values of an option or argument; `None` where clap knows them, or where any number or text will do.
pub(super) fn of(asked: &Asked<'_>) -> Option<Completion> {
    let is_scheme = |text: &str| Scheme::parse(text).is_ok();
    Some(match (asked.command, asked.argument) {
        ("race", "schemes") => schemes::list(asked.typed, |text| Contender::parse(text).is_ok()),
        (_, "schemes") => schemes::list(asked.typed, is_scheme),
        (_, "scheme") => schemes::one(asked.typed, is_scheme),
        ("race", "page") => pages(),
        ("analyze" | "predict" | "traces", "sender") => senders(),
        ("analyze" | "predict", "vantage") => {
            named([Vantage::Server, Vantage::Client, Vantage::Middle].map(|at| (at.name(), "")))
        }
        // Addresses and ports.
        ("analyze" | "predict", "server") => Completion::default(),
        ("analyze" | "papers", "access_log") => {
            Completion::files(FilesOffered::Ending(&[".log", ".log.gz", ".json"]))
        }
        ("analyze" | "predict", "files") | ("papers", "capture") => {
            Completion::files(FilesOffered::Ending(&[
                ".pcap",
                ".pcapng",
                ".pcap.gz",
                ".pcap.zst",
                ".pcapng.gz",
                ".pcapng.zst",
            ]))
        }
        ("gateway" | "report" | "revoke" | "status" | "ask" | "forget", "config")
        | ("replay", "to") => Completion::files(FilesOffered::Ending(&[".toml"])),
        ("init" | "certificate", "folder") => Completion::files(FilesOffered::Folders),
        ("revoke" | "forget", "certificate") => Completion::files(FilesOffered::Ending(&[".pem"])),
        ("forget", "key") => Completion::files(FilesOffered::Ending(&[".key", ".pem"])),
        ("report", "file") => Completion::files(FilesOffered::Ending(&[".jsonl", ".json"])),
        ("replay", "log") => Completion::files(FilesOffered::Ending(&[
            ".log", ".log.gz", ".json", ".pcap", ".pcapng",
        ])),
        ("analyze", "out") => Completion::files(FilesOffered::Folders),
        ("capture", "interface") => interfaces(),
        ("capture", "write") => Completion::files(FilesOffered::Ending(&[".pcap"])),
        ("traces" | "scripts", "folder") => Completion::files(FilesOffered::Folders),
        (_, "path") => path(asked.typed, &[("up=", "rate away from the client"), LOSS]),
        (_, "down" | "up") => {
            path(asked.typed, &[LOSS, ("jitter=", "delays each packet by up to so much more")])
        }
        ("worlds", "load") => {
            Completion::of(agreement::load_names().map(|name| Candidate::whole(name, "")))
        }
        (_, "path_preset") => named(PRESETS.iter().map(|preset| (preset.name, preset.rationale))),
        (_, "on") => Completion::of(World::ALL.map(|world| Candidate::open(world.name(), ""))),
        (_, "server") => {
            let named = named([("auto", ""), ("nginx", ""), ("builtin", "")]);
            Completion { files: Some(FilesOffered::Ending(&[])), ..named }
        }
        (_, "browser") => named([
            ("loader", "as in simulation"),
            ("curl", "as it is installed"),
            ("chromium", "the same"),
        ]),
        (_, "server_model") => named([("builtin", ""), ("nginx", "")]),
        (_, "client_model") => named([("loader", ""), ("chromium", "")]),
        (_, "http") => named([("1.0", ""), ("1.1", ""), ("2", "")]),
        (_, "tls") => named([("none", ""), ("1.3", "")]),
        ("sim", "plan") => Completion::files(FilesOffered::Ending(&[".toml"])),
        ("sim", "example") => named(sim::example_names().map(|name| (name, ""))),
        ("papers", "claims") => papers(),
        ("papers", "table") => Completion::files(FilesOffered::Ending(&[".toml"])),
        ("papers", "resume") => Completion::files(FilesOffered::Ending(&[".jsonl"])),
        ("script", "file") => Completion::files(FilesOffered::Ending(&[".pkt"])),
        ("ns2", "files") => Completion::files(FilesOffered::Ending(&[".csv"])),
        ("ns2", "suite") => named(SUITES.iter().map(|suite| (suite.name(), suite.about()))),
        _ => return None,
    })
}

const LOSS: (&str, &str) = ("loss=", "probability that a packet is lost");

fn named(all: impl IntoIterator<Item = (&'static str, &'static str)>) -> Completion {
    Completion::of(all.into_iter().map(|(name, about)| Candidate::whole(name, about)))
}

/// Network interfaces of this machine; none where the kernel does not list them.
fn interfaces() -> Completion {
    let listed = std::fs::read_dir("/sys/class/net").into_iter().flatten().flatten();
    let names = listed.filter_map(|entry| entry.file_name().into_string().ok());
    let any = Candidate::whole("any", "all of them");
    Completion::of([any].into_iter().chain(names.map(|name| Candidate::whole(name, ""))))
}

/// Profiles of senders; any scheme will do, too.
fn senders() -> Completion {
    let profiles = SenderProfile::ALL.map(|profile| (profile.name(), profile.scheme()));
    named([("auto", "what explains the first packets best")].into_iter().chain(profiles))
}

fn pages() -> Completion {
    let named = named(BUILTINS.iter().map(|page| (page.name, page.description)));
    Completion { files: Some(FilesOffered::Ending(&[".har", ".har.gz"])), ..named }
}

/// Claims, and families of them.
fn papers() -> Completion {
    let mut families: Vec<&str> = claims().map(|claim| claim.family()).collect();
    families.dedup();
    let families = families.into_iter().map(|family| Candidate::whole(family, "all of the family"));
    Completion::of(families.chain(claims().map(|claim| Candidate::whole(claim.id, claim.text))))
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
