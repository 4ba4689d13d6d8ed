//! The interface of the kernel's programs and the loader: `bpf/contract.h`, byte by byte.
//!
//! `field` finds fields by the header's names. `key` has the keys of maps, `path` and `settings`
//! their values. `summary`, `decision` and `inquiry` are reports.

mod decision;
mod field;
mod inquiry;
mod key;
mod layout;
mod path;
mod settings;
mod start_reason;
mod summary;

pub use decision::{DecisionTrigger, StartDecision};
pub use inquiry::PathInquiry;
pub use key::{Override, PortKey, PrefixKey};
pub use path::LearntPath;
pub use settings::{ConnectionSettings, StoppedParts};
pub use start_reason::StartReason;
pub use summary::ConnectionSummary;
