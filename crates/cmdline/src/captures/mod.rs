//! Reads captures and access logs, and reports what cannot be read and how far reading is.

pub mod access_log;
mod choice;
mod feed;
mod reading;

pub use choice::{ChosenTime, LeftOutSegments, SegmentChoice};
pub use feed::{Feed, LiveStep};
pub use reading::ReadingWatch;

use crate::complete::Completion;
use trace::SenderProfile;

/// Endings of the names of captures.
pub const CAPTURE_ENDINGS: [&str; 6] =
    [".pcap", ".pcapng", ".pcap.gz", ".pcapng.gz", ".pcap.zst", ".pcapng.zst"];

/// The profiles of senders, for completion; any scheme is one, too.
pub fn sender_names() -> Completion {
    let profiles = SenderProfile::ALL.map(|profile| (profile.name(), profile.scheme()));
    Completion::named(
        [("auto", "what explains the first packets best")].into_iter().chain(profiles),
    )
}
