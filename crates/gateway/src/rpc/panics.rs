//! A panic costs one call and no connection: the call ends with the status `INTERNAL`, and is counted.

use crate::site::GatewaySite;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use tonic::Status;

/// Does `work`, which is part of a call.
///
/// # Errors
/// With the status of the call if `work` panics. Locks are taken also if somebody has panicked with them, so whoever comes next goes on.
pub(super) fn guard<T>(site: &GatewaySite, work: impl FnOnce() -> T) -> Result<T, Status> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
        site.counts.failed_calls.add(1);
        Status::internal("the gateway has failed at this call; its journal says where")
    })
}

/// The same for work that waits.
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
