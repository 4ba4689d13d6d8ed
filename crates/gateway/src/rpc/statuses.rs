//! Reasons why calls end, as statuses of gRPC.

use crate::site::{GatewaySite, Silenced};
use tonic::{Code, Status};

/// Returns the status of a message that is too large, which is `RESOURCE_EXHAUSTED` in gRPC. tonic
/// has `OUT_OF_RANGE` for it.
pub(super) fn too_large(status: Status) -> Status {
    match status.code() {
        Code::OutOfRange => Status::resource_exhausted(status.message()),
        _ => status,
    }
}

/// Returns the status of a call by a certificate that is no longer accepted.
pub(super) fn refusal(why: Silenced) -> Status {
    Status::permission_denied(match why {
        Silenced::Revoked => "the certificate is revoked",
        Silenced::Unchecked => "the gateway cannot read its list of revoked certificates",
        Silenced::OtherAuthority => "the certificate is not of the authority of this gateway",
        Silenced::Expired => "the certificate has expired",
        Silenced::NotAllowed => "the certificate's tenant is not of this gateway",
    })
}

/// Returns the same status for an open stream, and counts it.
pub(super) fn ended(site: &GatewaySite, why: Silenced) -> Status {
    site.counts.ended_streams.add(1);
    refusal(why)
}

/// Returns the status of streams while the gateway drains.
pub(super) fn draining() -> Status {
    Status::unavailable("the gateway ends; ask another, or again in a moment")
}
