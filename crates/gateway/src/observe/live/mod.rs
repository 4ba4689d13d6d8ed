//! What the gateway sees by itself: packets of the site's servers, from interfaces, a file or a pipe (Zhang, Qiu & Keshav 2000
//! §5.2.2, third way). Nobody has to report, and no server has to run anything.
//!
//! A thread reads packets and rebuilds their senders by crate `trace` (`reading`). A task takes in what it finds, as reports of one
//! more reporter, and tells servers of visitors whose SYNs have come, or who ask again (`telling`). Between the two is a bounded queue; what finds it full is
//! counted. The thread waits for nobody.

mod idle;
mod packets;
mod path_options;
mod reading;
mod reporting;

pub(crate) use path_options::PathOptionReader;
pub(crate) use reporting::Found;
pub use reporting::{CAPTURE, OPTION};

use crate::config::capture::{CaptureConfig, CapturePlace};
use crate::site::GatewaySite;
use capture::ReadAhead;
use capture::{CaptureError, CaptureFiles, CaptureTrouble, LiveCapture, LiveOptions, PortRange};
use packets::PacketSource;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task;

/// What waits to be taken in, at most; arrivals take no more than half of it.
const QUEUE: usize = 16_384;

/// A capture that nobody reads yet.
pub struct OpenCapture {
    config: CaptureConfig,
    source: PacketSource,
    stop: Arc<AtomicBool>,
}

impl std::fmt::Debug for OpenCapture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenCapture").field("config", &self.config).finish_non_exhaustive()
    }
}

/// A capture under way; it ends when this goes.
#[derive(Debug)]
pub struct RunningCapture {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    /// Ends when the thread has ended and all that it has found is taken in.
    taking: task::JoinHandle<()>,
    /// The thread never waits long: it reads interfaces.
    is_live: bool,
}

impl OpenCapture {
    /// Begins to capture; a file is read from here on.
    ///
    /// # Errors
    /// If an interface is unknown, or the right to capture is missing, with the way out.
    pub fn open(config: &CaptureConfig) -> Result<Self, String> {
        let (source, stop) = match &config.place {
            CapturePlace::File(file) => {
                let ahead = ReadAhead::new(CaptureFiles::new([file]));
                let ahead = ahead.map_err(|error| format!("capture: no thread for it: {error}"))?;
                (PacketSource::Other(Box::new(ahead)), Arc::default())
            }
            CapturePlace::Interfaces(interfaces) => {
                let ports = config.ports.iter().map(|port| PortRange { first: *port, last: *port });
                let options = LiveOptions {
                    interfaces: interfaces.clone(),
                    ports: ports.collect(),
                    snap: None,
                };
                let live = LiveCapture::open(&options).map_err(|error| refusal(&error))?;
                let stop = live.stopper();
                (PacketSource::Live(Box::new(live)), stop)
            }
        };
        Ok(Self { config: config.clone(), source, stop })
    }

    /// Reads on a thread of its own; what it finds goes into `site`, by a task of the runtime in which this is called.
    ///
    /// # Errors
    /// If there is no thread to be had.
    pub fn run(self, site: &Arc<GatewaySite>) -> io::Result<RunningCapture> {
        let Self { config, source, stop } = self;
        let (queue, found) = mpsc::channel(QUEUE);
        let taking = reporting::take_in(Arc::clone(site), config.tenant.clone(), found);
        let taking = tokio::spawn(taking);
        let is_live = matches!(config.place, CapturePlace::Interfaces(_));
        let (of_thread, ended) = (Arc::clone(site), Arc::clone(&stop));
        let read = move || reading::read(source, &config, (&of_thread, &queue), &ended);
        let thread = std::thread::Builder::new().name("capture".to_owned()).spawn(read)?;
        Ok(RunningCapture { stop, thread: Some(thread), taking, is_live })
    }
}

impl RunningCapture {
    /// Ends the capture. Of interfaces, waits until the transfers under way count, for `patience` at most. Nobody waits for a file: it
    /// may be a pipe that nobody writes into.
    pub async fn end(mut self, patience: Duration) {
        self.stop.store(true, Ordering::Relaxed);
        if self.is_live {
            // Whatever is not in time is lost, as where a gateway is killed.
            let _ = tokio::time::timeout(patience, &mut self.taking).await;
        }
    }
}

impl Drop for RunningCapture {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // A pipe that nobody writes into may keep it for ever: it ends with the process, then.
        if let Some(thread) = self.thread.take().filter(JoinHandle::is_finished) {
            let _ = thread.join();
        }
    }
}

/// Why it cannot capture, and the way out.
fn refusal(error: &CaptureError) -> String {
    match error.trouble {
        CaptureTrouble::NotPermitted => {
            "capture: the gateway may not see packets: it needs CAP_NET_RAW (AmbientCapabilities=CAP_NET_RAW in a drop-in of its \
             unit, docs/gateway/operate.md); or leave [capture] out"
                .to_owned()
        }
        _ => format!("capture: {error}"),
    }
}
