//! What the programs in the kernel and this side share: `bpf/contract.h`, byte by byte.
//!
//! `field` finds fields by the header's names, `key` has what maps are asked by, `path` and `settings` what is in
//! them, `summary`, `decision` and `inquiry` what is told.

mod decision;
mod field;
mod inquiry;
mod key;
mod layout;
mod path;
mod settings;
mod start_reason;
mod summary;

pub use decision::{StartDecision, StartOccasion};
pub use inquiry::PathInquiry;
pub use key::{Override, PortKey, PrefixKey};
pub use path::LearntPath;
pub use settings::{ConnectionSettings, StoppedParts};
pub use start_reason::StartReason;
pub use summary::ConnectionSummary;
