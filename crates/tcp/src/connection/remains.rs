//! The rest of a connection in TIME-WAIT: the numbers for answers to late segments.

use super::Connection;
use units::SeqNum;

/// The numbers of a connection that is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Remains {
    /// The next number that we would send, and the next expected.
    pub(crate) snd_nxt: SeqNum,
    pub(crate) rcv_nxt: SeqNum,
    /// The window last offered, as on the wire.
    pub(crate) window: u16,
    /// Offset of its timestamp clock, and the peer's last timestamp, if it had timestamps.
    pub(crate) timestamps: Option<(u32, u32)>,
}

impl Connection {
    /// Returns the rest of the connection for TIME-WAIT.
    pub(crate) fn time_wait_state(&self) -> Remains {
        let clock = self.sender.terms().timestamps.then(|| (self.clock, self.receiver.echo()));
        Remains {
            snd_nxt: self.isn + self.sender.nxt() as u32,
            rcv_nxt: self.receiver.ack_number(),
            window: self.receiver.last_window(),
            timestamps: clock,
        }
    }
}
