//! Paths with names.
//!
//! Round figures of the kind of access they name, not measurements of any one line; the rationale
//! of each says where its figures come from. Where queues are deep in practice (cellular,
//! satellite) they are deep here, because a start-up meets them.

use super::PathSpec;

/// A path with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathPreset {
    /// Name of the preset, for options.
    pub name: &'static str,
    /// The path, as one would write it.
    pub path: &'static str,
    /// Reason for these figures.
    pub rationale: &'static str,
}

/// The preset of a race that names no path.
pub const DEFAULT_PRESET: &str = "cable";

const fn new_preset(name: &'static str, path: &'static str, rationale: &'static str) -> PathPreset {
    PathPreset { name, path, rationale }
}

/// All presets, fast to slow.
pub const PRESETS: &[PathPreset] = &[
    new_preset(
        "fiber",
        "300mbit,20ms,1bdp",
        "fibre to the home, symmetric, to a server in the same region; one bandwidth-delay product of queue",
    ),
    new_preset(
        "overseas",
        "200mbit,180ms,0.5bdp",
        "fibre to a server across an ocean: the queue is sized for near servers, half a product here",
    ),
    new_preset(
        "cable",
        "100mbit,30ms,500kB,up=20mbit",
        "a DOCSIS 3.1 subscription to a server in the same country; 40 ms of queue, as modems with active buffers hold",
    ),
    new_preset(
        "5g",
        "80mbit,40ms,1.5MB,up=15mbit",
        "a mid-band 5G cell that others share: a few times LTE's rate and half of its delay; deep per-user queue, 0.15 s here",
    ),
    new_preset(
        "geo-satellite",
        "50mbit,600ms,4MB,up=3mbit,loss=0.0005",
        "geostationary orbit: 4 x 35,786 km take 477 ms, the rest is framing and the ground; about one product of queue",
    ),
    new_preset(
        "dsl",
        "16mbit,50ms,128kB,up=1mbit",
        "ADSL2+ (ITU-T G.992.5) on a medium line with interleaving; 64 ms of queue",
    ),
    new_preset(
        "lte",
        "12mbit,70ms,1MB,up=12mbit",
        "WebPageTest's LTE profile (12 Mbit/s, 70 ms); cellular queues are deep and per user, 0.7 s here",
    ),
    new_preset(
        "wifi-cafe",
        "10mbit,40ms,100p,up=5mbit,loss=0.01",
        "a shared hot spot: a tenth of what the radio could, and one packet in a hundred lost for good",
    ),
    new_preset(
        "3g",
        "1.6mbit,300ms,256kB,up=768kbit",
        "WebPageTest's 3G profile (1.6 Mbit/s, 768 kbit/s, 300 ms), which browsers' slow-network tests follow; 1.3 s of queue",
    ),
    new_preset(
        "t1-1998",
        "1.5mbit,104ms,10p",
        "the T1 link of the start-up papers: 50 ms one way, 1 ms to either side, ten packets of queue",
    ),
    new_preset(
        "modem-1998",
        "53kbit,150ms,16p,up=33.6kbit",
        "a V.90 modem: 53 kbit/s is the most that regulation let it have down, 33.6 up",
    ),
];

/// The preset of this name.
pub fn preset(name: &str) -> Option<PathPreset> {
    PRESETS.iter().copied().find(|p| p.name == name)
}

impl PathPreset {
    /// The path it stands for.
    pub fn spec(&self) -> PathSpec {
        self.path.parse().expect("every preset is read by a test")
    }
}
