//! The filter that the kernel runs on each packet before it copies anything: classic BPF.
//!
//! The socket is cooked, so packets begin with their IP header on any link. A packet passes if it
//! is a TCP segment, over one of the interfaces, from or to one of the ports. On the loopback
//! interface each packet is seen twice, sent and received; the sent one does not pass.

use socket2::SockFilter;
use std::fmt;
use std::str::FromStr;

/// Ports from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRange {
    /// First port.
    pub first: u16,
    /// Last port, not below the first.
    pub last: u16,
}

impl PortRange {
    /// Maximum number of ranges of one filter, since a jump skips at most 255 instructions.
    pub const MAX_RANGES: usize = 32;
}

impl FromStr for PortRange {
    type Err = String;

    /// Parses `443` and `8000-8080`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        match (first.trim().parse(), last.trim().parse()) {
            (Ok(first), Ok(last)) if (1..=last).contains(&first) => Ok(Self { first, last }),
            _ => Err(format!("{text:?} is neither a port, like 443, nor a range, like 8000-8080")),
        }
    }
}

impl fmt::Display for PortRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first == self.last {
            true => write!(f, "{}", self.first),
            false => write!(f, "{}-{}", self.first, self.last),
        }
    }
}

/// Opcodes (`linux/bpf_common.h`).
const LOAD_WORD: u16 = 0x20;
const LOAD_HALF: u16 = 0x28;
const LOAD_BYTE: u16 = 0x30;
/// This one loads a half word at the offset X plus a constant.
const LOAD_HALF_AT_X: u16 = 0x48;
const LOAD_X: u16 = 0x01;
/// X becomes four times the lower half of a byte: the length of an IPv4 header.
const LOAD_X_HEADER: u16 = 0xb1;
const ADD: u16 = 0x04;
const SHIFT_LEFT: u16 = 0x64;
const TO_X: u16 = 0x07;
const JUMP: u16 = 0x05;
const IF_EQUAL: u16 = 0x15;
const IF_ABOVE: u16 = 0x25;
const IF_AT_LEAST: u16 = 0x35;
const IF_BITS: u16 = 0x45;
const RETURN: u16 = 0x06;

/// Offsets of the kernel's metadata of a packet (`SKF_AD_OFF` and so on in `linux/filter.h`).
const PROTOCOL: u32 = 0xffff_f000;
const PACKET_TYPE: u32 = PROTOCOL + 4;
const INTERFACE: u32 = PROTOCOL + 8;
const HARDWARE: u32 = PROTOCOL + 28;

const ETHERTYPE_IPV4: u32 = 0x0800;
const ETHERTYPE_IPV6: u32 = 0x86dd;
/// Values of `ARPHRD_LOOPBACK` and `PACKET_OUTGOING`.
const LOOPBACK: u32 = 772;
const OUTGOING: u32 = 4;
const TCP: u32 = 6;
const HOP_BY_HOP: u32 = 0;

/// The target of a jump.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Label {
    /// The next instruction.
    Next,
    Reject,
    Accept,
    Link,
    Network,
    V4,
    V6,
    V6Tcp,
    Ports,
    /// An instruction by its number.
    At(usize),
}

/// One instruction of a program: its opcode, the distances of its jumps if a condition holds or
/// not, and its constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instruction {
    code: u16,
    then: u8,
    otherwise: u8,
    k: u32,
}

impl From<&Instruction> for SockFilter {
    fn from(instruction: &Instruction) -> Self {
        let Instruction { code, then, otherwise, k } = *instruction;
        Self::new(code, then, otherwise, k)
    }
}

/// A program under construction, with labels in place of distances.
#[derive(Default)]
struct FilterAssembler {
    code: Vec<(u16, u32, Label, Label)>,
    labels: Vec<(Label, usize)>,
}

impl FilterAssembler {
    fn label(&mut self, label: Label) {
        self.labels.push((label, self.code.len()));
    }

    fn run(&mut self, code: u16, k: u32) {
        self.code.push((code, k, Label::Next, Label::Next));
    }

    fn jump_if(&mut self, code: u16, k: u32, then: Label, otherwise: Label) {
        self.code.push((code, k, then, otherwise));
    }

    fn distance(&self, from: usize, to: Label) -> usize {
        let target = match to {
            Label::At(at) => at,
            _ => self.labels.iter().find(|(label, _)| *label == to).map_or(from + 1, |(_, at)| *at),
        };
        target - from - 1
    }

    /// Replaces labels by distances.
    ///
    /// # Panics
    /// If a jump is too far, which [`PortRange::MAX_RANGES`] rules out.
    fn finish(self) -> Vec<Instruction> {
        let instruction =
            |(at, &(code, k, then, otherwise)): (usize, &(u16, u32, Label, Label))| {
                if code == JUMP {
                    let k = self.distance(at, then) as u32;
                    return Instruction { code, then: 0, otherwise: 0, k };
                }
                let near = |to| u8::try_from(self.distance(at, to)).expect("few ports");
                Instruction { code, then: near(then), otherwise: near(otherwise), k }
            };
        self.code.iter().enumerate().map(instruction).collect()
    }
}

/// Returns a filter that rejects everything.
pub(super) fn reject_all() -> Vec<Instruction> {
    vec![Instruction { code: RETURN, then: 0, otherwise: 0, k: 0 }]
}

/// Returns a filter that accepts everything.
pub(super) fn accept_all() -> Vec<Instruction> {
    vec![Instruction { code: RETURN, then: 0, otherwise: 0, k: u32::MAX }]
}

/// Returns a filter that accepts segments of these interfaces and ports; of all, if a list is
/// empty. Both lists have at most [`PortRange::MAX_RANGES`] entries.
pub(super) fn segments(interfaces: &[u32], ports: &[PortRange]) -> Vec<Instruction> {
    let mut program = FilterAssembler::default();
    if !interfaces.is_empty() {
        program.run(LOAD_WORD, INTERFACE);
        for index in interfaces {
            program.jump_if(IF_EQUAL, *index, Label::Link, Label::Next);
        }
        program.jump_if(JUMP, 0, Label::Reject, Label::Reject);
    }
    program.label(Label::Link);
    program.run(LOAD_WORD, HARDWARE);
    program.jump_if(IF_EQUAL, LOOPBACK, Label::Next, Label::Network);
    program.run(LOAD_WORD, PACKET_TYPE);
    program.jump_if(IF_EQUAL, OUTGOING, Label::Reject, Label::Network);
    network(&mut program);
    program.label(Label::Ports);
    for offset in [0, 2].into_iter().filter(|_| !ports.is_empty()) {
        program.run(LOAD_HALF_AT_X, offset);
        ports.iter().for_each(|range| is_within(&mut program, *range));
    }
    if !ports.is_empty() {
        program.jump_if(JUMP, 0, Label::Reject, Label::Reject);
    }
    program.label(Label::Accept);
    program.run(RETURN, u32::MAX);
    program.label(Label::Reject);
    program.run(RETURN, 0);
    program.finish()
}

/// Sets X to the offset of the TCP header; rejects packets without one.
fn network(program: &mut FilterAssembler) {
    program.label(Label::Network);
    program.run(LOAD_WORD, PROTOCOL);
    program.jump_if(IF_EQUAL, ETHERTYPE_IPV4, Label::V4, Label::Next);
    program.jump_if(IF_EQUAL, ETHERTYPE_IPV6, Label::V6, Label::Next);
    program.jump_if(JUMP, 0, Label::Reject, Label::Reject);
    // RFC 791 §3.1: protocol at 9; a later fragment has no ports.
    program.label(Label::V4);
    program.run(LOAD_BYTE, 9);
    program.jump_if(IF_EQUAL, TCP, Label::Next, Label::Reject);
    program.run(LOAD_HALF, 6);
    program.jump_if(IF_BITS, 0x1fff, Label::Reject, Label::Next);
    program.run(LOAD_X_HEADER, 0);
    program.jump_if(JUMP, 0, Label::Ports, Label::Ports);
    // RFC 8200 §3: next header at 6. Super-segments (BIG TCP) have a hop-by-hop header before TCP's
    // (§4.3). Its length at 1 counts units of eight bytes after the first eight.
    program.label(Label::V6);
    program.run(LOAD_BYTE, 6);
    program.jump_if(IF_EQUAL, TCP, Label::V6Tcp, Label::Next);
    program.jump_if(IF_EQUAL, HOP_BY_HOP, Label::Next, Label::Reject);
    program.run(LOAD_BYTE, 40);
    program.jump_if(IF_EQUAL, TCP, Label::Next, Label::Reject);
    program.run(LOAD_BYTE, 41);
    program.run(SHIFT_LEFT, 3);
    program.run(ADD, 48);
    program.run(TO_X, 0);
    program.jump_if(JUMP, 0, Label::Ports, Label::Ports);
    program.label(Label::V6Tcp);
    program.run(LOAD_X, 40);
}

/// Accepts if the port in A is within the range, and goes on otherwise.
fn is_within(program: &mut FilterAssembler, range: PortRange) {
    if range.first == range.last {
        program.jump_if(IF_EQUAL, range.first.into(), Label::Accept, Label::Next);
        return;
    }
    // Ports below the first skip the next instruction, which accepts all others up to the last.
    let skip = program.code.len() + 2;
    program.jump_if(IF_AT_LEAST, range.first.into(), Label::Next, Label::At(skip));
    program.jump_if(IF_ABOVE, range.last.into(), Label::Next, Label::Accept);
}

#[cfg(test)]
mod tests;
