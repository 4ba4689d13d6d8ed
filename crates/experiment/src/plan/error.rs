//! Reasons why a plan was refused: file, line, fault, and the way out.

pub use support::errors::FileError as PlanError;
pub(super) use support::errors::{Fault, meant};

/// Converts an error of the TOML reader.
pub(super) fn of_toml(error: toml::de::Error) -> Fault {
    let mut fault = Fault::from(error);
    if fault.why.ends_with(" is missing") {
        fault.why += "; `headstart lab sim --schema` says what it takes";
    }
    fault
}
