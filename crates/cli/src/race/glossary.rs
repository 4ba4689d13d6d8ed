//! The words of a race's report and their meanings.

use cmdline::installed;
use race::{PERFECT_START, RaceResult, World};

/// The scheme of the agent that races by default.
const AGENT: &str = "hs-cubic";

/// The words that the report uses, one a line, and the documents that explain all words.
pub(super) fn definitions(result: &RaceResult) -> Vec<String> {
    let is_raced = |name: &str| result.schemes.iter().any(|row| row.name == name);
    let has_perfect = is_raced(PERFECT_START);
    let lines = [
        ("linux: TCP of Linux with its defaults. All gains are over linux.", true),
        ("hs-cubic: linux with the agent of headstart, which remembers paths.", is_raced(AGENT)),
        (
            "perfect start: servers that know the rate of the path and their share of it. \
             of perfect: a gain divided by the gain of a perfect start.",
            has_perfect,
        ),
        (
            "limit: the earliest possible end of the load on this path with handshakes, computed. \
             × limit: a time divided by the limit.",
            true,
        ),
        (
            "bound by: path, the link carries bytes of the page; cwnd, the congestion window stops \
             the server; rounds, handshakes and requests travel without data.",
            true,
        ),
        (
            "other changes, without it: each change by itself; their savings do not add up. While \
             the link sends, other waits go on, so twice the rate saves less than half of path.",
            !result.what_if.is_empty(),
        ),
        ("no difference: the interval of a gain contains zero.", true),
    ];
    let used = lines.into_iter().filter(|(_, is_used)| *is_used);
    let documents: &[&str] = match result.worlds() == [World::Sim] {
        true => &["docs/race.md"],
        false => &["docs/race.md", "docs/worlds.md"],
    };
    used.map(|(line, _)| line.to_owned()).chain([installed::explained_in(documents)]).collect()
}
