//! The capture: a thread reads packets and rebuilds their senders by crate `trace` (`reading`). It
//! hands findings to [`crate::reporting`], whose queues are bounded, and waits for nobody.

mod idle;
mod packets;
mod path_options;
mod reading;

pub(crate) use path_options::PathOptionReader;

use crate::config::{CaptureConfig, CapturePlace};
use crate::reporting::Findings;
use capture::ReadAhead;
use capture::{CaptureError, CaptureFiles, CaptureTrouble, LiveCapture, LiveOptions, PortRange};
use packets::PacketSource;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use tokio::sync::oneshot;

/// A capture that nobody reads yet.
pub(crate) struct OpenCapture {
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
pub(crate) struct RunningCapture {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    /// Ends when the thread has ended.
    ended: oneshot::Receiver<()>,
    /// The thread never waits long: it reads interfaces.
    is_live: bool,
}

impl OpenCapture {
    /// Begins to capture; a file is read from here on.
    ///
    /// # Errors
    /// If an interface is unknown, or the right to capture is missing, with the way out.
    pub(crate) fn open(config: &CaptureConfig) -> Result<Self, String> {
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

    /// Reads on a thread of its own, and hands what it finds to `findings`.
    ///
    /// # Errors
    /// If there is no thread to be had.
    pub(crate) fn run(self, findings: Arc<Findings>) -> io::Result<RunningCapture> {
        let Self { config, source, stop } = self;
        let (is_live, of_thread) = (config.place.is_live(), Arc::clone(&stop));
        let (end, ended) = oneshot::channel();
        let read = move || {
            // It goes with the thread, also if the thread panics.
            let _end: oneshot::Sender<()> = end;
            reading::read(source, &config, &findings, &of_thread);
        };
        let thread = std::thread::Builder::new().name("capture".to_owned()).spawn(read)?;
        Ok(RunningCapture { stop, thread: Some(thread), ended, is_live })
    }
}

impl RunningCapture {
    /// Waits until the capture has ended by itself.
    pub(crate) async fn ended(&mut self) {
        let _ = (&mut self.ended).await;
    }

    /// Ends the capture. Of interfaces, waits until the transfers under way are reported. Nobody
    /// waits for a file: it may be a pipe that nobody writes into.
    ///
    /// # Errors
    /// If the thread has failed.
    pub(crate) fn end(mut self) -> Result<(), String> {
        self.stop.store(true, Ordering::Relaxed);
        let is_live = self.is_live;
        match self.thread.take().filter(|thread| is_live || thread.is_finished()) {
            Some(thread) => thread.join().map_err(|_| "the capture has failed".to_owned()),
            None => Ok(()),
        }
    }
}

impl Drop for RunningCapture {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Why it cannot capture, and the way out.
fn refusal(error: &CaptureError) -> String {
    match error.trouble {
        CaptureTrouble::NotPermitted => {
            "interfaces: the observer may not see packets: it needs CAP_NET_RAW, which its unit \
             headstart-observe.service has (docs/gateway/operate.md); or let tcpdump write into a \
             pipe and name it as file"
                .to_owned()
        }
        _ => format!("capture: {error}"),
    }
}
