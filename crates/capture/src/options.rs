//! TCP options as a capture shows them, in 48 bytes.

use segment::{Options, SackBlocks, Timestamps};
use std::fmt;

/// Bits of what is there.
const HAS_MSS: u8 = 1;
const HAS_SCALE: u8 = 2;
const SACK_PERMITTED: u8 = 4;
const HAS_TIMESTAMPS: u8 = 8;
const CUT: u8 = 16;

/// The options of one segment. What only a SYN may carry is told wherever it stands.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct TcpOptions {
    sack: SackBlocks,
    timestamps: Timestamps,
    mss: u16,
    scale: u8,
    present: u8,
}

impl TcpOptions {
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

    /// True if the options are not all here: the snap length has cut them, or they are not what options
    /// have to be. Those before are told.
    pub const fn cut(&self) -> bool {
        self.has(CUT)
    }

    const fn has(&self, bit: u8) -> bool {
        self.present & bit != 0
    }
}

impl From<&Options> for TcpOptions {
    fn from(options: &Options) -> Self {
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

impl fmt::Debug for TcpOptions {
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
