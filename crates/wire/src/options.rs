//! TCP options: kinds, lengths, and the order in which they are written.
//!
//! Kinds that are not known are skipped by their length (RFC 9293 §3.1). Options that only a SYN
//! may carry are ignored elsewhere.

use crate::malformed::Malformed;
use crate::too_long::TooLong;
use segment::option_kind::{
    ACC_ECN_0, ACC_ECN_1, END, EXPERIMENT, MSS, NOOP, SACK, SACK_PERMITTED, TIMESTAMPS,
    WINDOW_SCALE,
};
use segment::{EcnCounters, FastOpenCookie, Performance, SackBlocks, TcpOptions, Timestamps};
use units::SeqNum;

/// Largest shift of a window; a larger one means this (RFC 7323 §2.3).
const MAX_SHIFT: u8 = 14;

/// Reads the options of a header.
pub(crate) fn parse(mut bytes: &[u8], syn: bool) -> Result<TcpOptions, Malformed> {
    let fast_open = FastOpenCookie::find(bytes).filter(|_| syn);
    let mut options = TcpOptions { fast_open, ..TcpOptions::default() };
    let mut seen = 0_u32;
    while let Some((&kind, rest)) = bytes.split_first() {
        match kind {
            END => break,
            NOOP => bytes = rest,
            _ => {
                let len = usize::from(*rest.first().ok_or(Malformed::OptionLength)?);
                let option = bytes.get(..len).filter(|option| option.len() >= 2);
                let option = option.ok_or(Malformed::OptionLength)?;
                mark_seen(&mut seen, kind)?;
                take(&mut options, kind, syn, &option[2..])?;
                bytes = &bytes[len..];
            }
        }
    }
    Ok(options)
}

/// Marks a kind of option as seen. Only experimental options may occur several times.
fn mark_seen(seen: &mut u32, kind: u8) -> Result<(), Malformed> {
    let Some(bit) = 1_u32.checked_shl(u32::from(kind)) else { return Ok(()) };
    if *seen & bit != 0 {
        return Err(Malformed::OptionRepeated);
    }
    *seen |= bit;
    Ok(())
}

/// Takes one option; `body` follows kind and length.
fn take(options: &mut TcpOptions, kind: u8, syn: bool, body: &[u8]) -> Result<(), Malformed> {
    match kind {
        MSS => {
            let mss = u16::from_be_bytes(exactly(body)?);
            options.mss = syn.then_some(mss);
        }
        WINDOW_SCALE => {
            let [shift] = exactly(body)?;
            options.window_scale = syn.then_some(shift.min(MAX_SHIFT));
        }
        SACK_PERMITTED => {
            let [] = exactly(body)?;
            options.sack_permitted = syn;
        }
        SACK => take_sack(&mut options.sack, body)?,
        TIMESTAMPS => {
            let [value, echo] = two_words(exactly::<8>(body)?);
            options.timestamps = Some(Timestamps { value, echo });
        }
        EXPERIMENT => take_experiment(options, body),
        ACC_ECN_0 | ACC_ECN_1 => options.ecn = EcnCounters::parse(kind, body),
        _ => {}
    }
    Ok(())
}

fn exactly<const N: usize>(body: &[u8]) -> Result<[u8; N], Malformed> {
    body.try_into().map_err(|_| Malformed::OptionLength)
}

fn two_words(bytes: [u8; 8]) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = bytes;
    [u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h])]
}

fn take_sack(blocks: &mut SackBlocks, body: &[u8]) -> Result<(), Malformed> {
    let (pairs, rest) = body.as_chunks::<8>();
    if pairs.is_empty() || !rest.is_empty() {
        return Err(Malformed::OptionLength);
    }
    for pair in pairs {
        let [left, right] = two_words(*pair);
        blocks.push(SeqNum(left), SeqNum(right));
    }
    Ok(())
}

/// Ours among experiments; whatever else they are is not our concern.
fn take_experiment(options: &mut TcpOptions, body: &[u8]) {
    let len = body.len() as u8 + 2;
    let mut whole = [0; Performance::WIRE_BYTES as usize];
    if usize::from(len) == whole.len() {
        whole[..2].copy_from_slice(&[EXPERIMENT, len]);
        whole[2..].copy_from_slice(body);
        options.performance = options.performance.or(Performance::find(&whole));
    }
}

/// Options as they stand in a header.
#[derive(Debug)]
pub(crate) struct Encoded {
    bytes: [u8; TcpOptions::ROOM as usize],
    len: usize,
}

impl Encoded {
    /// The options in the order in which Linux writes them, padding first, so that those of a
    /// segment without SYN start at a word as RFC 7323 (appendix A) recommends.
    ///
    /// # Errors
    /// If they take more than there is room for.
    pub(crate) fn of(options: &TcpOptions) -> Result<Self, TooLong> {
        if options.wire_bytes() > TcpOptions::ROOM {
            return Err(TooLong { bytes: options.wire_bytes() as usize });
        }
        let mut encoded = Self { bytes: [NOOP; TcpOptions::ROOM as usize], len: 0 };
        // The report is whole words, so whatever stands before it is padded as without it.
        let bare = TcpOptions { performance: None, ..*options };
        encoded.len = bare.wire_bytes() as usize - unpadded(&bare);
        encoded.push_bare(options);
        if let Some(performance) = &options.performance {
            encoded.push(&performance.to_bytes());
        }
        Ok(encoded)
    }

    fn push_bare(&mut self, options: &TcpOptions) {
        if let Some(mss) = options.mss {
            self.push(&[MSS, 4]);
            self.push(&mss.to_be_bytes());
        }
        if options.sack_permitted {
            self.push(&[SACK_PERMITTED, 2]);
        }
        if let Some(ts) = options.timestamps {
            self.push(&[TIMESTAMPS, 10]);
            self.push(&ts.value.to_be_bytes());
            self.push(&ts.echo.to_be_bytes());
        }
        if let Some(shift) = options.window_scale {
            self.push(&[WINDOW_SCALE, 3, shift]);
        }
        let blocks = options.sack.as_slice();
        if !blocks.is_empty() {
            self.push(&[SACK, 2 + 8 * blocks.len() as u8]);
        }
        for (left, right) in blocks {
            self.push(&left.0.to_be_bytes());
            self.push(&right.0.to_be_bytes());
        }
        if let Some(cookie) = &options.fast_open {
            let mut bytes = [0; FastOpenCookie::LONGEST_OPTION];
            let len = cookie.write(&mut bytes);
            self.push(&bytes[..len]);
        }
        if let Some(counters) = &options.ecn {
            let mut bytes = [0; EcnCounters::LONGEST];
            let len = counters.write(&mut bytes);
            self.push(&bytes[..len]);
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// Bytes of the options without padding and without the report (RFC 9293 §3.1, RFC 7323 §2, §3, RFC
/// 2018 §2, §3, RFC 7413 §2).
fn unpadded(options: &TcpOptions) -> usize {
    let blocks = options.sack.as_slice().len();
    options.mss.map_or(0, |_| 4)
        + usize::from(options.sack_permitted) * 2
        + options.timestamps.map_or(0, |_| 10)
        + options.window_scale.map_or(0, |_| 3)
        + if blocks == 0 { 0 } else { 2 + 8 * blocks }
        + options.fast_open.map_or(0, |cookie| cookie.wire_bytes() as usize)
        + options.ecn.map_or(0, |counters| counters.wire_bytes() as usize)
}
