//! TCP options as a capture shows them, in 48 bytes.

use segment::{RawOptions, SackBlocks, TcpOptions, Timestamps, option_kind as kind};
use std::fmt;
use units::SeqNum;

/// Bits of what is there.
const HAS_MSS: u8 = 1;
const HAS_SCALE: u8 = 2;
const SACK_PERMITTED: u8 = 4;
const HAS_TIMESTAMPS: u8 = 8;
const CUT: u8 = 16;

/// The options of one segment. What only a SYN may carry is told wherever it stands.
#[derive(Clone, Copy, Default)]
pub struct CapturedOptions {
    sack: SackBlocks,
    /// These three mean nothing without their bit of what is present.
    timestamps: Timestamps,
    mss: u16,
    scale: u8,
    present: u8,
}

impl CapturedOptions {
    /// Maximum segment size (RFC 9293 §3.7.1).
    pub const fn mss(&self) -> Option<u16> {
        if self.has(HAS_MSS) { Some(self.mss) } else { None }
    }

    /// Shift of the windows to come, as on the wire; a shift above 14 means 14 (RFC 7323 §2.3).
    pub const fn window_scale(&self) -> Option<u8> {
        if self.has(HAS_SCALE) { Some(self.scale) } else { None }
    }

    /// True if the sender accepts selective acknowledgements (RFC 2018 §2).
    pub const fn sack_permitted(&self) -> bool {
        self.has(SACK_PERMITTED)
    }

    /// Timestamps (RFC 7323 §3).
    pub const fn timestamps(&self) -> Option<Timestamps> {
        if self.has(HAS_TIMESTAMPS) { Some(self.timestamps) } else { None }
    }

    /// Selective acknowledgements in the order of the wire, which has a D-SACK first (RFC 2883 §4).
    pub const fn sack(&self) -> &SackBlocks {
        &self.sack
    }

    /// True if not all options are here: the snap length has cut them, or one is not what options have to
    /// be. Those that can be read are told.
    pub const fn cut(&self) -> bool {
        self.has(CUT)
    }

    /// Becomes the options of a header, of which `cut` says whether some are missing.
    #[inline]
    pub(crate) fn read(&mut self, bytes: &[u8], cut: bool) {
        self.present = if cut { CUT } else { 0 };
        self.sack.clear();
        // What nearly every segment has (RFC 7323 appendix A).
        if let Ok([head @ .., a, b, c, d, e, f, g, h]) = <&[u8; 12]>::try_from(bytes)
            && *head == [kind::NOOP, kind::NOOP, kind::TIMESTAMPS, 10]
        {
            let [value, echo] = [[*a, *b, *c, *d], [*e, *f, *g, *h]].map(u32::from_be_bytes);
            self.timestamps = Timestamps { value, echo };
            self.present |= HAS_TIMESTAMPS;
        } else if !bytes.is_empty() {
            self.take_all(bytes);
        }
    }

    fn take_all(&mut self, bytes: &[u8]) {
        let mut all = RawOptions::new(bytes);
        for option in &mut all {
            self.take(option);
        }
        if !all.rest().is_empty() {
            self.present |= CUT;
        }
    }

    /// Takes one option, kind and length included.
    #[inline]
    fn take(&mut self, option: &[u8]) {
        match *option {
            [kind::TIMESTAMPS, _, a, b, c, d, e, f, g, h] => {
                let (value, echo) =
                    (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
                self.timestamps = Timestamps { value, echo };
                self.present |= HAS_TIMESTAMPS;
            }
            [kind::SACK, _, ref ranges @ ..] if ranges.len().is_multiple_of(8) => {
                self.take_sack(ranges);
            }
            [kind::MSS, _, a, b] => {
                self.mss = u16::from_be_bytes([a, b]);
                self.present |= HAS_MSS;
            }
            [kind::WINDOW_SCALE, _, shift] => {
                self.scale = shift;
                self.present |= HAS_SCALE;
            }
            [kind::SACK_PERMITTED, _] => self.present |= SACK_PERMITTED,
            [
                kind::TIMESTAMPS
                | kind::SACK
                | kind::MSS
                | kind::WINDOW_SCALE
                | kind::SACK_PERMITTED,
                ..,
            ] => self.present |= CUT,
            _ => {}
        }
    }

    fn take_sack(&mut self, ranges: &[u8]) {
        for [a, b, c, d, e, f, g, h] in ranges.as_chunks::<8>().0 {
            let left = u32::from_be_bytes([*a, *b, *c, *d]);
            self.sack.push(SeqNum(left), SeqNum(u32::from_be_bytes([*e, *f, *g, *h])));
        }
    }

    const fn has(&self, bit: u8) -> bool {
        self.present & bit != 0
    }
}

impl PartialEq for CapturedOptions {
    fn eq(&self, other: &Self) -> bool {
        self.present == other.present
            && self.sack == other.sack
            && self.timestamps() == other.timestamps()
            && self.mss() == other.mss()
            && self.window_scale() == other.window_scale()
    }
}

impl Eq for CapturedOptions {}

impl From<&TcpOptions> for CapturedOptions {
    fn from(options: &TcpOptions) -> Self {
        let bit = |is: bool, bit| if is { bit } else { 0 };
        let present = bit(options.mss.is_some(), HAS_MSS)
            | bit(options.window_scale.is_some(), HAS_SCALE)
            | bit(options.sack_permitted, SACK_PERMITTED)
            | bit(options.timestamps.is_some(), HAS_TIMESTAMPS);
        Self {
            sack: options.sack,
            timestamps: options.timestamps.unwrap_or_default(),
            mss: options.mss.unwrap_or_default(),
            scale: options.window_scale.unwrap_or_default(),
            present,
        }
    }
}

impl fmt::Debug for CapturedOptions {
    /// Only what is there.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        self.mss().map(|mss| map.entry(&"mss", &mss));
        self.window_scale().map(|scale| map.entry(&"window_scale", &scale));
        self.timestamps().map(|timestamps| map.entry(&"timestamps", &timestamps));
        if self.sack_permitted() {
            map.entry(&"sack_permitted", &true);
        }
        if !self.sack.is_empty() {
            map.entry(&"sack", &self.sack);
        }
        if self.cut() {
            map.entry(&"cut", &true);
        }
        map.finish()
    }
}
