//! A segment: `< [ect0] P. 1:1001(1000) ack 1 win 257 <nop,nop,sack 1:2>`.

use super::super::model::{Errno, Expected, ExpectedEcn, IcmpMessage, IcmpTrouble, ScriptAction};
use super::lexer::Token;
use super::{Parsed, Parser, Refusal};
use tcp::{Ecn, Flags, Segment, TcpOptions, Unreachable};
use units::{Duration, SeqNum};

/// Letters of the flags; `.` is ACK.
pub(crate) const FLAG_LETTERS: [(char, Flags); 7] = [
    ('S', Flags::SYN),
    ('F', Flags::FIN),
    ('R', Flags::RST),
    ('P', Flags::PSH),
    ('E', Flags::ECE),
    ('W', Flags::CWR),
    ('A', Flags::AE),
];

/// ECN fields by their names, the first four by their bits (RFC 3168 §5).
const ECN_FIELDS: [(&str, Ecn, ExpectedEcn); 5] = [
    ("noecn", Ecn::NotEct, ExpectedEcn::Same),
    ("ect1", Ecn::Ect1, ExpectedEcn::Same),
    ("ect0", Ecn::Ect0, ExpectedEcn::Same),
    ("ce", Ecn::Ce, ExpectedEcn::Same),
    ("ect01", Ecn::Ect0, ExpectedEcn::Capable),
];

const IP_FIELDS: &str = "noecn, ect0, ect1, ect01, ce, tos or ttl";

/// Direction of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// `<`
    Arrives,
    /// `>`
    Leaves,
}

const FLAGS: &str =
    "flags: letters of S F R P E W A, a digit for E, W and A, \".\" for ACK, \"-\" for none";

impl<'a> Parser<'a> {
    /// `<` and a segment, or what a router says.
    pub(super) fn parse_inbound(&mut self) -> Parsed<ScriptAction> {
        self.advance()?;
        if self.accept_word("icmp")? {
            return self.icmp().map(ScriptAction::Icmp);
        }
        self.inbound().map(ScriptAction::Inbound)
    }

    /// `unreachable host_unreachable [0:10(10)]`, `packet_too_big mtu 1400 [0:1440(1440)]`
    fn icmp(&mut self) -> Parsed<IcmpMessage> {
        let Token::Word(kind) = self.token else {
            return self.unexpected("unreachable, packet_too_big or time_exceeded");
        };
        self.advance()?;
        let (mut trouble, errno) = match kind {
            "time_exceeded" => {
                (IcmpTrouble::Unreachable(Unreachable::TimeExceeded), Errno::HostUnreachable)
            }
            "packet_too_big" => (IcmpTrouble::TooBig(0), Errno::MessageSize),
            "unreachable" => self.unreachable()?,
            _ => {
                return self.unexpected("unreachable, packet_too_big or time_exceeded before this");
            }
        };
        if let IcmpTrouble::TooBig(mtu) = &mut trouble
            && self.accept_word("mtu")?
        {
            *mtu = self.number32("the MTU")?;
        }
        let mut quoted = 0;
        if self.accept_mark("[")? {
            (quoted, _) = self.sequence_range()?;
            self.expect_mark("]", "after what is quoted")?;
        }
        Ok(IcmpMessage { trouble, errno, quoted })
    }

    /// The code, if one is given; `CODE` is what packetdrill's `run_all.py` defines. Errors are
    /// Linux's (`icmp_err_convert`).
    fn unreachable(&mut self) -> Parsed<(IcmpTrouble, Errno)> {
        const fn code(kind: Unreachable, errno: Errno) -> (IcmpTrouble, Errno) {
            (IcmpTrouble::Unreachable(kind), errno)
        }
        const CODES: [(&str, (IcmpTrouble, Errno)); 9] = [
            ("CODE", code(Unreachable::Route, Errno::HostUnreachable)),
            ("net_unreachable", code(Unreachable::Route, Errno::NetUnreachable)),
            ("host_unreachable", code(Unreachable::Route, Errno::HostUnreachable)),
            ("source_route_failed", code(Unreachable::Route, Errno::NotSupported)),
            ("protocol_unreachable", code(Unreachable::Protocol, Errno::NoProtocol)),
            ("port_unreachable", code(Unreachable::Port, Errno::ConnectionRefused)),
            ("net_prohibited", code(Unreachable::Prohibited, Errno::NetUnreachable)),
            ("host_prohibited", code(Unreachable::Prohibited, Errno::HostUnreachable)),
            ("frag_needed", (IcmpTrouble::TooBig(0), Errno::MessageSize)),
        ];
        let Token::Word(name) = self.token else {
            return Ok(CODES[1].1);
        };
        match CODES.iter().find(|(known, _)| *known == name) {
            Some((_, trouble)) => self.advance().map(|_| *trouble),
            None => {
                let known: Vec<_> = CODES.iter().map(|(known, _)| *known).collect();
                self.unexpected(&format!("a code: {}", known.join(", ")))
            }
        }
    }

    /// A segment that arrives. It needs its window, and its options in full.
    fn inbound(&mut self) -> Parsed<Segment> {
        let position = self.position;
        let packet = self.packet(Way::Arrives)?;
        if !packet.check_options {
            let message = "<...> stands for any options of a segment that leaves (\">\"); \
                           an arriving one needs them written out";
            return Err((position, message.into()));
        }
        if !packet.check_window {
            return self.unexpected("win N: a segment that arrives says its window");
        }
        Ok(packet.segment)
    }

    /// A segment that must leave.
    pub(super) fn outbound(&mut self) -> Parsed<Expected> {
        self.advance()?;
        self.packet(Way::Leaves)
    }

    fn packet(&mut self, way: Way) -> Parsed<Expected> {
        let (field, ecn) = self.ip_fields(way)?;
        let flags = self.parse_flags()?;
        let (seq, len) = self.sequence_range()?;
        let mut ack = 0;
        let ack_position = self.position;
        if self.accept_word("ack")? {
            ack = self.number32("the acknowledgement number")?;
            if !flags.contains(Flags::ACK) {
                let message = "ack N needs the flag \".\", as in \"S.\"".to_owned();
                return Err((ack_position, message.into()));
            }
        }
        let window = self.window()?;
        let options = self.options(way)?;
        let segment = Segment {
            seq: SeqNum(seq),
            ack: SeqNum(ack),
            len,
            window: window.unwrap_or(0),
            flags,
            ecn: field,
            options: options.unwrap_or_default(),
            ..Segment::default()
        };
        Ok(Expected {
            segment,
            check_window: window.is_some(),
            ecn,
            check_options: options.is_some(),
        })
    }

    /// `[ect0]`, `(noecn, ttl 64)`, `[tos 0x2]` or nothing.
    fn ip_fields(&mut self, way: Way) -> Parsed<(Ecn, ExpectedEcn)> {
        let close = match self.token {
            Token::Mark("[") => "]",
            Token::Mark("(") => ")",
            _ => return Ok((Ecn::NotEct, ExpectedEcn::Any)),
        };
        self.advance()?;
        let mut ecn = (Ecn::NotEct, ExpectedEcn::Any);
        loop {
            let position = self.position;
            let Token::Word(name) = self.token else {
                return self.unexpected(IP_FIELDS);
            };
            self.advance()?;
            match name {
                "ttl" => self.time_to_live(way)?,
                "tos" => ecn = self.type_of_service(way)?,
                "ect01" if way == Way::Arrives => {
                    let message = "a segment that arrives has [ect0] or [ect1], and not either";
                    return Err((position, message.into()));
                }
                name => match ECN_FIELDS.iter().find(|(known, ..)| *known == name) {
                    Some((_, field, expected)) => ecn = (*field, *expected),
                    None => {
                        let message = format!("expected {IP_FIELDS}, found {name:?}");
                        return Err((position, message.into()));
                    }
                },
            }
            if !self.accept_mark(",")? {
                break;
            }
        }
        self.expect_mark(close, "after the ECN field")?;
        Ok(ecn)
    }

    /// `64` behind `ttl`: every segment of a host has this value, and in received segments it does
    /// not matter.
    fn time_to_live(&mut self, way: Way) -> Parsed<()> {
        const OF_HOSTS: u64 = 64;
        let position = self.position;
        match (way, self.parse_number("the hops that are left", 255)?) {
            (Way::Leaves, hops) if hops != OF_HOSTS => {
                let why = format!("a time to live other than {OF_HOSTS}");
                Err((position, Refusal::not_modelled(why)))
            }
            _ => Ok(()),
        }
    }

    /// `0x2` behind `tos`: two bits of ECN, and six that hosts here leave zero.
    fn type_of_service(&mut self, way: Way) -> Parsed<(Ecn, ExpectedEcn)> {
        let position = self.position;
        let field = self.parse_number("the field", 255)?;
        if way == Way::Leaves && field >> 2 != 0 {
            return Err((position, Refusal::not_modelled("differentiated services (RFC 2474)")));
        }
        let (_, ecn, expected) = ECN_FIELDS[(field & 3) as usize];
        Ok((ecn, expected))
    }

    fn parse_flags(&mut self) -> Parsed<Flags> {
        if self.accept_mark("-")? {
            return Ok(Flags::default());
        }
        let mut flags = Flags::default();
        if let Token::Word(letters) = self.token {
            flags = self.flag_letters(letters)?;
            self.advance()?;
        } else if !self.is_mark(".") && !matches!(self.token, Token::Seconds(_)) {
            return self.unexpected(&format!("{FLAGS} (no ports: a script has one connection)"));
        }
        if let Token::Seconds(tenths) = self.token {
            // `.5` is ACK and an ACE field, and a number to the lexer.
            let ace = (0..8).find(|n| Duration::from_millis(100) * u64::from(*n) == tenths);
            let Some(ace) = ace else { return self.unexpected(FLAGS) };
            self.advance()?;
            return Ok(flags.with(Flags::ACK).with_ace(ace));
        }
        if self.accept_mark(".")? {
            flags = flags.with(Flags::ACK);
        }
        Ok(flags)
    }

    fn flag_letters(&self, letters: &str) -> Parsed<Flags> {
        let mut flags = Flags::default();
        for letter in letters.chars() {
            match FLAG_LETTERS.iter().find(|(known, _)| *known == letter) {
                Some((_, flag)) => flags = flags.with(*flag),
                None => match letter.to_digit(8) {
                    Some(ace) => flags = flags.with_ace(ace as u8),
                    None => return self.unexpected(FLAGS),
                },
            }
        }
        Ok(flags)
    }

    /// `seq:end(len)`; `end` wraps at 2^32 as sequence numbers do.
    fn sequence_range(&mut self) -> Parsed<(u32, u32)> {
        let position = self.position;
        let seq = self.number32("the first sequence number, as in 1:1001(1000)")?;
        self.expect_mark(":", "between the sequence numbers, as in 1:1001(1000)")?;
        let end = self.number32("the sequence number after the payload, as in 1:1001(1000)")?;
        self.expect_mark("(", "before the length, as in 1:1001(1000)")?;
        let len = self.number32("the bytes of payload")?;
        self.expect_mark(")", "after the length")?;
        if seq.wrapping_add(len) != end {
            let right = seq.wrapping_add(len);
            let message = format!("{seq} + {len} bytes end at {right}, not at {end}");
            return Err((position, message.into()));
        }
        Ok((seq, len))
    }

    fn window(&mut self) -> Parsed<Option<u16>> {
        if !self.accept_word("win")? {
            return Ok(None);
        }
        self.number16("the window field, unscaled,").map(Some)
    }

    /// The options; `None` for `<...>`.
    fn options(&mut self, way: Way) -> Parsed<Option<TcpOptions>> {
        if !self.accept_mark("<")? {
            return Ok(Some(TcpOptions::default()));
        }
        if self.token == Token::Ellipsis {
            self.advance()?;
            self.expect_mark(">", "after \"...\"")?;
            return Ok(None);
        }
        let options = self.option_list(way)?;
        self.expect_mark(">", "after the options")?;
        Ok(Some(options))
    }
}
