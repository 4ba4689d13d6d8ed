//! Outcomes of TCP Fast Open (RFC 7413).

/// Outcome of a SYN that carried data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FastOpenOutcome {
    /// The server accepted the data of the SYN, which saved a round trip.
    Accepted,
    /// The server acknowledged the SYN but not its data.
    Ignored,
    /// No SYN with data was answered, but one without data was.
    Blackholed,
    /// No SYN with data was answered, and no SYN without data was sent.
    Unanswered,
}

impl FastOpenOutcome {
    /// Returns a short name for tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Ignored => "ignored",
            Self::Blackholed => "blackholed",
            Self::Unanswered => "unanswered",
        }
    }
}
