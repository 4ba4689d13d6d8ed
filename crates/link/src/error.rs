//! Errors of links, in words.

use std::fmt;

/// Reason why a link is impossible.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkError {
    /// A link of rate zero never delivers.
    ZeroRate,
    /// A queue of zero has no room for the packet in service.
    ZeroQueue,
    /// Loss must be a probability below one.
    Loss(f64),
    /// Packets are held back with a probability.
    Reordering,
    /// A discipline's parameters contradict each other or the queue.
    Discipline {
        /// The discipline.
        name: &'static str,
        /// The fault, and a value that would do.
        why: &'static str,
    },
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroRate => write!(f, "a link needs a rate above zero, like 20mbit"),
            Self::ZeroQueue => {
                write!(f, "a queue of 0 has no room for the packet in service: use at least 1")
            }
            Self::Loss(p) => write!(f, "loss {p} is not a probability: use 0 or more, below 1"),
            Self::Reordering => {
                write!(f, "packets are held back with a probability: use 0 or more, at most 1")
            }
            Self::Discipline { name, why } => write!(f, "{name}: {why}"),
        }
    }
}

impl std::error::Error for LinkError {}
