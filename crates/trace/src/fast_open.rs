//! Outcomes of TCP Fast Open (RFC 7413).

/// Outcome of a SYN that carried data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FastOpenOutcome {
    /// The server took the data of the SYN, which spared a round trip.
    Accepted,
    /// The server answered the SYN and not its data.
    Ignored,
    /// No SYN with data was answered; one without was.
    Blackholed,
    /// No SYN with data was answered, and no other was sent.
    Unanswered,
}

impl FastOpenOutcome {
    /// A short name for tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Ignored => "ignored",
            Self::Blackholed => "blackholed",
            Self::Unanswered => "unanswered",
        }
    }
}
