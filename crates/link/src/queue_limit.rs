//! The room of a queue.

/// Limit of a queue, the packet in service included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// At most this many packets: `n - 1` waiting and one in service.
    Packets(u32),
    /// At most this many bytes, waiting and in service. A packet that finds the link idle is
    /// always taken, so a queue smaller than a packet still carries packets one at a time.
    Bytes(u64),
    /// The queue never drops.
    Unlimited,
}
