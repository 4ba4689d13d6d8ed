//! Recognises segments of a connection that were captured in another network than its first one.

use super::{Side, TracedConnection};
use crate::half::Half;
use capture::Observed;
use segment::Flags;
use units::SeqNum;

/// Maximum distance of a connection's sequence numbers from the newest ones: windows of 4 MiB. Two
/// connections are as near by chance with a probability of one in 500 a direction.
const MAX_NUMBER_DISTANCE: u32 = 4 << 20;

impl TracedConnection {
    /// Returns true if a segment from `side` has numbers of this connection: the same ones if it is
    /// a SYN, else near the newest ones of all known directions.
    pub(crate) fn has_numbers_of(&self, side: Side, segment: &Observed) -> bool {
        let (own, peer) = (&self.halves[side & 1], &self.halves[1 - (side & 1)]);
        if segment.has(Flags::SYN) && !segment.has(Flags::ACK) {
            return own.origin() == Some(segment.seq);
        }
        let sent = is_near(own, segment.seq);
        let acknowledged = segment.acknowledged().and_then(|ack| is_near(peer, ack));
        match (sent, acknowledged) {
            (None, None) => false,
            (sent, acknowledged) => sent.unwrap_or(true) && acknowledged.unwrap_or(true),
        }
    }
}

/// Returns true if a number is near the newest one of a direction; `None` if that is unknown.
fn is_near(half: &Half, number: SeqNum) -> Option<bool> {
    let newest = half.origin()?.0.wrapping_add(half.high() as u32);
    Some(number.0.wrapping_sub(newest).wrapping_add(MAX_NUMBER_DISTANCE) <= 2 * MAX_NUMBER_DISTANCE)
}
