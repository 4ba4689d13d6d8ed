//! The request of a connection to the memory.

/// A request for a first window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReservationRequest {
    /// Stock initial window, which the connection gets in any case, segments.
    pub cold: u32,
    /// The least first window that it takes, segments; less counts as none.
    pub least: u32,
    /// Number of connections that start together, this one included.
    pub among: u32,
    /// First round trip, microseconds; 0: not measured.
    pub rtt_us: u32,
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// The connection uses the window that it is offered; otherwise only its stock window is
    /// reserved.
    pub takes: bool,
}
