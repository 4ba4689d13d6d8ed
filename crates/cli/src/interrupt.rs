//! Ctrl-C: the first asks what is under way to stop, the second ends at once.

use crate::failure::{Failure, remark};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set once somebody has asked to stop.
pub(crate) fn watch() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        remark("stopping; once more to end at once");
    })
    .map_err(|error| Failure::failed(format!("cannot listen for Ctrl-C: {error}")))?;
    Ok(stop)
}
