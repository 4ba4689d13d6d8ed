//! Keys of the plans that vary receivers and queues, and their values.

/// The key of the receivers' open choice, and its values: delayed ACKs, and an ACK for every
/// segment.
pub(super) const ACKS: &str = "parameters";
pub(super) const DELAYED: &str = "profile=ns2+window=20000+ssthresh=20000+rwnd=1000MB+ack=100ms";
pub(super) const IMMEDIATE: &str = "profile=ns2+window=20000+ssthresh=20000+rwnd=1000MB";
/// Whether ACKs wait behind data.
pub(super) const QUEUE: &str = "topology.bottleneck.queue.kind";
pub(super) const FIFO: &str = "droptail";
