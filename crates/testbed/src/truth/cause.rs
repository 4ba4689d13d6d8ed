//! Causes of a transfer's duration in files: by the analyser's names.

use serde::{Serialize, Serializer};
use trace::TimeShare;

/// Writes a cause by its name.
pub(super) fn serialize_cause<S: Serializer>(
    cause: &TimeShare,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    cause.name().serialize(serializer)
}

/// Writes causes by their names.
pub(super) fn serialize_causes<S: Serializer>(
    causes: &[TimeShare],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(causes.iter().map(|cause| cause.name()))
}
