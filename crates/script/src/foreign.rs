//! Scripts of other systems and protocols, by words that no script of Linux' TCP has.

use super::error::{Refusal, RefusalKind};
use super::model::Position;

/// A word, and the reason why a script that has it is not played.
struct ForeignWord {
    word: &'static str,
    kind: RefusalKind,
    about: &'static str,
}

const fn foreign_word(word: &'static str, kind: RefusalKind, about: &'static str) -> ForeignWord {
    ForeignWord { word, kind, about }
}

const MPTCP: &str = "Multipath TCP (RFC 8684)";

/// The first that a script has decides.
const FOREIGN: [ForeignWord; 7] = [
    foreign_word("net.inet.", RefusalKind::OtherSystem, "FreeBSD"),
    foreign_word("IPPROTO_SCTP", RefusalKind::NotOfTcp, "SCTP"),
    foreign_word("mp_capable", RefusalKind::NotModelled, MPTCP),
    foreign_word("net.mptcp.", RefusalKind::NotModelled, MPTCP),
    foreign_word("multipath off", RefusalKind::NotModelled, MPTCP),
    foreign_word("--psp_udp_port", RefusalKind::NotModelled, "PSP, which encrypts segments"),
    foreign_word("--udp_encapsulation", RefusalKind::NotModelled, "TCP in UDP"),
];

/// The foreign word in `text`, if any: its position, and the refusal in its name.
pub(crate) fn of(text: &[u8]) -> Option<(Position, Refusal)> {
    let text = std::str::from_utf8(text).ok()?;
    FOREIGN.iter().find_map(|ForeignWord { word, kind, about }| {
        let found = (1..).zip(text.lines()).find_map(|(line, content)| {
            let at = content.find(word)?;
            let is_comment = content.trim_start().starts_with("//");
            (!is_comment).then(|| (line, 1 + content[..at].chars().count() as u32))
        });
        let (line, column) = found?;
        let refusal = Refusal { kind: *kind, message: format!("{about} ({word})") };
        Some((Position { line, column }, refusal))
    })
}
