//! The capture: a thread reads packets and rebuilds their senders by crate `trace` (`reading`). It
//! passes findings to [`crate::reporting`], whose queues are bounded, and never waits.

mod idle;
mod packets;
mod path_options;
mod reading;

pub(crate) use path_options::PathOptionReader;

use crate::config::{CaptureConfig, CapturePlace};
use crate::reporting::GatewayReporter;
use capture::ReadAhead;
use capture::{CaptureError, CaptureFiles, CaptureTrouble, LiveCapture, LiveOptions, PortRange};
use packets::PacketSource;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use tokio::sync::oneshot;

/// A running capture; it ends when this value is dropped.
#[derive(Debug)]
pub(crate) struct RunningCapture {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    /// Ends when the thread has ended.
    ended: oneshot::Receiver<()>,
    /// True if the thread ends soon once it is stopped: it reads interfaces, or has ended.
    ends_soon: bool,
}

impl RunningCapture {
    /// Captures on its own thread, and passes its findings to `reporter`.
    ///
    /// # Errors
    ///
    /// If an interface is unknown, the right to capture is missing, or no thread can be started:
    /// with the solution.
    pub(crate) fn start(
        config: CaptureConfig,
        reporter: Arc<GatewayReporter>,
    ) -> Result<Self, String> {
        let (source, stop) = open(&config)?;
        let (ends_soon, of_thread) = (config.place.is_live(), Arc::clone(&stop));
        let (end, ended) = oneshot::channel();
        let read = move || {
            // It is dropped with the thread, also if the thread panics.
            let _end: oneshot::Sender<()> = end;
            reading::read(source, &config, &reporter, &of_thread);
        };
        let thread = std::thread::Builder::new().name("capture".to_owned()).spawn(read);
        Ok(Self { stop, thread: Some(thread.map_err(no_thread)?), ended, ends_soon })
    }

    /// Waits until the capture has ended by itself.
    pub(crate) async fn ended(&mut self) {
        let _ = (&mut self.ended).await;
        self.ends_soon = true;
    }

    /// Ends the capture. For interfaces, waits until the current transfers are reported. For a file
    /// it does not wait: the file may be a pipe without a writer.
    ///
    /// # Errors
    ///
    /// If the thread has failed.
    pub(crate) fn end(mut self) -> Result<(), String> {
        self.stop.store(true, Ordering::Relaxed);
        match self.thread.take() {
            Some(thread) if self.ends_soon || thread.is_finished() => {
                thread.join().map_err(|_| "the capture has failed".to_owned())
            }
            _ => Ok(()),
        }
    }
}

/// Opens the source of packets, which `true` ends; a file is read from now on.
fn open(config: &CaptureConfig) -> Result<(PacketSource, Arc<AtomicBool>), String> {
    match &config.place {
        CapturePlace::File(file) => {
            let ahead = ReadAhead::new(CaptureFiles::new([file])).map_err(no_thread)?;
            Ok((PacketSource::Other(Box::new(ahead)), Arc::default()))
        }
        CapturePlace::Interfaces(interfaces) => {
            let ports = config.ports.iter().map(|port| PortRange { first: *port, last: *port });
            let (interfaces, ports) = (interfaces.clone(), ports.collect());
            let options = LiveOptions { interfaces, ports, snap: None };
            let live = LiveCapture::open(&options).map_err(|error| refusal(&error))?;
            let stop = live.stopper();
            Ok((PacketSource::Live(Box::new(live)), stop))
        }
    }
}

fn no_thread(error: io::Error) -> String {
    format!("capture: no thread for it: {error}")
}

impl Drop for RunningCapture {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Returns why it cannot capture, and the solution.
fn refusal(error: &CaptureError) -> String {
    match error.trouble {
        CaptureTrouble::NotPermitted => {
            "interfaces: the observer may not see packets: it needs CAP_NET_RAW, which its unit \
             headstart-observer.service has (docs/gateway/operate.md); or let tcpdump write into a \
             pipe and name it as file"
                .to_owned()
        }
        _ => format!("capture: {error}"),
    }
}
