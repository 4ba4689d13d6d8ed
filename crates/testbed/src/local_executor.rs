//! Executor for hyper's tasks: they run on the thread that serves or loads, which is the only one.

use hyper::rt::Executor;
use std::future::Future;
use tokio::task::spawn_local;

/// Runs HTTP/2's tasks beside a connection on this thread.
#[derive(Clone, Copy)]
pub(crate) struct LocalExecutor;

impl<F: Future + 'static> Executor<F> for LocalExecutor {
    fn execute(&self, future: F) {
        spawn_local(async move {
            future.await;
        });
    }
}
