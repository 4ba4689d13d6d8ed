//! Segments as scripts write them: `P. 1:1001(1000) ack 1 win 257 <TS val 10 ecr 5>`.

use super::model::{Expected, ExpectedEcn};
use super::parse::FLAG_LETTERS;
use std::fmt::{self, Display, Write};
use tcp::{Ecn, EcnCounters, Flags, Segment, TcpOptions};

/// A segment in the script's notation, every part written.
pub fn segment(segment: &Segment) -> String {
    let everything = Expected {
        segment: *segment,
        check_window: true,
        ecn: if segment.ecn == Ecn::NotEct { ExpectedEcn::Any } else { ExpectedEcn::Same },
        check_options: true,
    };
    expected_text(&everything)
}

/// An expected segment as it was written, but for spacing and the order of options.
pub(crate) fn expected_text(expected: &Expected) -> String {
    let segment = &expected.segment;
    let mut out = String::new();
    match expected.ecn {
        ExpectedEcn::Any => {}
        ExpectedEcn::Same => {
            let _ = write!(out, "[{}] ", ecn(segment.ecn));
        }
        ExpectedEcn::Capable => out.push_str("[ect01] "),
    }
    let end = segment.seq + segment.len;
    let (flags, seq) = (Letters(segment.flags), segment.seq);
    let _ = write!(out, "{flags} {}:{}({})", seq.0, end.0, segment.len);
    if segment.has(Flags::ACK) {
        let _ = write!(out, " ack {}", segment.ack.0);
    }
    if expected.check_window {
        let _ = write!(out, " win {}", segment.window);
    }
    if !expected.check_options {
        out.push_str(" <...>");
    } else if segment.options != TcpOptions::default() {
        let _ = write!(out, " <{}>", options(&segment.options));
    }
    out
}

/// The ECN field as written in brackets.
pub(crate) fn ecn(field: Ecn) -> &'static str {
    match field {
        Ecn::NotEct => "noecn",
        Ecn::Ect1 => "ect1",
        Ecn::Ect0 => "ect0",
        Ecn::Ce => "ce",
    }
}

/// Options in the order in which Linux sends them, without padding.
pub(crate) fn options(options: &TcpOptions) -> String {
    let mut list = Vec::new();
    list.extend(options.mss.map(|mss| format!("mss {mss}")));
    list.extend(options.sack_permitted.then(|| "sackOK".to_owned()));
    list.extend(options.timestamps.map(|ts| format!("TS val {} ecr {}", ts.value, ts.echo)));
    list.extend(options.window_scale.map(|shift| format!("wscale {shift}")));
    list.extend(options.fast_open.map(|cookie| format!("{cookie:?}").trim_end().to_owned()));
    list.extend(options.ecn.as_ref().map(counters));
    if !options.sack.is_empty() {
        let blocks = options.sack.as_slice().iter();
        let blocks: Vec<_> =
            blocks.map(|(left, right)| format!("{}:{}", left.0, right.0)).collect();
        list.push(format!("sack {}", blocks.join(" ")));
    }
    if list.is_empty() { "none".to_owned() } else { list.join(",") }
}

/// `ECN e1b 1 ceb 0 e0b 1`. An option without counters has the name alone.
fn counters(option: &EcnCounters) -> String {
    let named = option.iter().map(|(field, counter)| match field {
        Ecn::Ect1 => format!(" e1b {counter}"),
        Ecn::Ect0 => format!(" e0b {counter}"),
        Ecn::NotEct | Ecn::Ce => format!(" ceb {counter}"),
    });
    format!("ECN{}", named.collect::<String>())
}

/// Flags as letters; `-` for none.
pub(crate) struct Letters(pub(crate) Flags);

impl Display for Letters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == Flags::default() {
            return f.write_char('-');
        }
        for (letter, flag) in FLAG_LETTERS {
            if self.0.contains(flag) {
                f.write_char(letter)?;
            }
        }
        if self.0.contains(Flags::ACK) { f.write_char('.') } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::ScriptAction;
    use super::super::parse;
    use super::*;
    use proptest::prelude::*;
    use tcp::{SackBlocks, Timestamps};
    use units::SeqNum;

    fn any_options() -> impl Strategy<Value = TcpOptions> {
        let timestamps = proptest::option::of(any::<(u32, u32)>());
        let blocks = proptest::collection::vec(any::<(u32, u32)>(), 0..=2);
        (any::<Option<u16>>(), any::<bool>(), proptest::option::of(0..=14_u8), timestamps, blocks)
            .prop_map(|(mss, sack_permitted, window_scale, timestamps, blocks)| {
                let mut sack = SackBlocks::default();
                blocks.iter().for_each(|(left, right)| sack.push(SeqNum(*left), SeqNum(*right)));
                let timestamps = timestamps.map(|(value, echo)| Timestamps { value, echo });
                TcpOptions {
                    mss,
                    window_scale,
                    sack_permitted,
                    timestamps,
                    sack,
                    ..TcpOptions::default()
                }
            })
    }

    fn any_segment() -> impl Strategy<Value = Segment> {
        let flags =
            proptest::sample::subsequence(FLAG_LETTERS.map(|(_, flag)| flag).to_vec(), 0..=7);
        let ecn = proptest::sample::select(vec![Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce]);
        let ack = proptest::option::of(any::<u32>());
        (any::<u32>(), 0..70_000_u32, ack, any::<u16>(), flags, ecn, any_options()).prop_map(
            |(seq, len, ack, window, flags, ecn, options)| {
                let mut all = flags.into_iter().fold(Flags::default(), Flags::with);
                if ack.is_some() {
                    all = all.with(Flags::ACK);
                }
                let (seq, ack) = (SeqNum(seq), SeqNum(ack.unwrap_or(0)));
                Segment { seq, ack, len, window, flags: all, ecn, options, ..Segment::default() }
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_written_is_what_is_read(segment in any_segment()) {
            let text = format!("0 > {}", super::segment(&segment));
            let script = parse("written.pkt", &text).map_err(|error| error.to_string());
            let script = script.map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
            let ScriptAction::Outbound(read) = &script.events[0].action else { panic!("{text}") };
            prop_assert_eq!(read.segment, segment, "{}", text);
        }
    }
}
