//! What a connection asks the memory for.

/// A first window that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoanRequest {
    /// What the connection begins with otherwise, and has in any case, segments.
    pub cold: u32,
    /// The least first window that it takes, segments; less counts as none.
    pub least: u32,
    /// Of how many that begin together it is one, itself included.
    pub among: u32,
    /// First round trip, microseconds; 0: not measured.
    pub rtt_us: u32,
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// The connection takes what it is offered; otherwise only its stock window counts as given.
    pub takes: bool,
}
