//! A panic ends one call and no connection: the call has the status `INTERNAL`, and a counter of
//! failures grows.

use crate::site::GatewaySite;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use tonic::Status;

/// Does `work`, which is part of a call.
///
/// # Errors
/// With the status of the call if `work` panics. Poisoned locks are taken as well, so later calls
/// go on.
pub(super) fn guard<T>(site: &GatewaySite, work: impl FnOnce() -> T) -> Result<T, Status> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
        site.counts.failed_calls.add(1);
        Status::internal("the gateway has failed at this call; its journal says where")
    })
}

/// Awaits `work`, which is part of a call, in the same way as [`guard`].
pub(super) async fn guarded<T>(
    site: &GatewaySite,
    work: impl Future<Output = T>,
) -> Result<T, Status> {
    let mut work = pin!(work);
    poll_fn(|context| match guard(site, || work.as_mut().poll(context)) {
        Ok(polled) => polled.map(Ok),
        Err(status) => Poll::Ready(Err(status)),
    })
    .await
}
