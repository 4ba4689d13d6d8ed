//! What the gateway sees by itself: packets of the site's servers, from interfaces, a file or a pipe (Zhang, Qiu & Keshav 2000
//! §5.2.2, third way). Nobody has to report, and no server has to run anything.
//!
//! A thread reads packets and rebuilds their senders by crate `trace` (`reading`). A task takes in what it finds, as reports of one
//! more reporter, and tells servers of visitors whose SYNs have come (`telling`). Between the two is a bounded queue; what finds it full is
//! counted. The thread waits for nobody.

mod arrivals;
mod reading;
mod telling;

pub use arrivals::{Arrival, Arrivals, addresses_of};
pub use telling::CAPTURE;

use crate::options::CaptureOptions;
use crate::site::GatewaySite;
use capture::{CaptureError, CaptureFiles, CaptureTrouble, LiveCapture, LiveOptions, PortRange};
use capture::{ReadAhead, SegmentSource};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use tokio::sync::mpsc;

/// What waits to be taken in, at most.
const QUEUE: usize = 16_384;

/// What to look at, complete and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureConfig {
    /// Where packets come from.
    pub place: CapturePlace,
    /// Ports of the site's servers.
    pub ports: Vec<u16>,
    /// Whose servers they are.
    pub tenant: String,
    /// Whether servers are told of visitors as their SYNs come.
    pub push: bool,
}

/// Where packets come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CapturePlace {
    /// These interfaces.
    Interfaces(Vec<String>),
    /// A capture file, or a pipe that somebody writes one into.
    File(PathBuf),
}

impl CaptureConfig {
    /// What `options` say, with files relative to `folder`; `tenants` of the gateway are there.
    ///
    /// # Errors
    /// With the key and the way out.
    pub fn new(
        options: &CaptureOptions,
        folder: &Path,
        tenants: &[&str],
    ) -> Result<Self, String> {
        let place = match (&options.file, options.interfaces.is_empty()) {
            (Some(file), true) => CapturePlace::File(folder.join(file)),
            (None, false) => CapturePlace::Interfaces(options.interfaces.clone()),
            (Some(_), false) => {
                return Err("capture.interfaces and capture.file: leave one out".to_owned());
            }
            (None, true) => {
                let why = "capture.interfaces: name some (`ip link` lists them), or \"any\"";
                return Err(why.to_owned());
            }
        };
        let ports = options.ports.clone().unwrap_or_else(|| vec![80, 443]);
        if ports.is_empty() || ports.len() > PortRange::MOST || ports.contains(&0) {
            let most = PortRange::MOST;
            return Err(format!("capture.ports: 1 to {most} ports of your servers, please"));
        }
        let tenant = match (&options.tenant, tenants) {
            (Some(named), _) if tenants.contains(&named.as_str()) => named.clone(),
            (Some(named), _) => {
                return Err(format!("capture.tenant = {named:?}: there is no such [[tenant]]"));
            }
            (None, [only]) => (*only).to_owned(),
            (None, _) => {
                return Err("capture.tenant: say whose servers they are".to_owned());
            }
        };
        Ok(Self { place, ports, tenant, push: options.push.unwrap_or(true) })
    }
}

/// A capture that nobody reads yet.
pub struct OpenCapture {
    config: CaptureConfig,
    source: Box<dyn SegmentSource + Send>,
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
}

impl OpenCapture {
    /// Begins to capture; a file is read from here on.
    ///
    /// # Errors
    /// If an interface is unknown, or the right to capture is missing, with the way out.
    pub fn open(config: &CaptureConfig) -> Result<Self, String> {
        let (source, stop): (Box<dyn SegmentSource + Send>, _) = match &config.place {
            CapturePlace::File(file) => {
                let ahead = ReadAhead::new(CaptureFiles::new([file]));
                let ahead = ahead.map_err(|error| format!("capture: no thread for it: {error}"))?;
                (Box::new(ahead), Arc::default())
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
                (Box::new(live), stop)
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
        tokio::spawn(telling::take_in(Arc::clone(site), config.tenant.clone(), found));
        let (of_thread, ended) = (Arc::clone(site), Arc::clone(&stop));
        let read = move || reading::read(source, &config, (&of_thread, &queue), &ended);
        let thread = std::thread::Builder::new().name("capture".to_owned()).spawn(read)?;
        Ok(RunningCapture { stop, thread: Some(thread) })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn config(options: &CaptureOptions, tenants: &[&str]) -> Result<CaptureConfig, String> {
        CaptureConfig::new(options, Path::new("/etc/g"), tenants)
    }

    #[test]
    fn what_is_missing_is_named() {
        let none = CaptureOptions::default();
        assert!(config(&none, &["site"]).unwrap_err().starts_with("capture.interfaces: name some"));
        let one = CaptureOptions { interfaces: vec!["eth0".to_owned()], ..none.clone() };
        let good = config(&one, &["site"]).unwrap();
        assert_eq!((good.ports, good.tenant.as_str(), good.push), (vec![80, 443], "site", true));
        assert!(config(&one, &["a", "b"]).unwrap_err().starts_with("capture.tenant: say whose"));
        let other = CaptureOptions { tenant: Some("c".to_owned()), ..one.clone() };
        assert!(config(&other, &["a"]).unwrap_err().contains("no such [[tenant]]"));
        let both = CaptureOptions { file: Some("p".into()), ..one.clone() };
        assert!(config(&both, &["a"]).unwrap_err().contains("leave one out"));
        let file = CaptureOptions { file: Some("p".into()), ..none };
        let place = config(&file, &["a"]).unwrap().place;
        assert_eq!(place, CapturePlace::File("/etc/g/p".into()));
        let ports = CaptureOptions { ports: Some(vec![0]), ..one };
        assert!(config(&ports, &["a"]).unwrap_err().starts_with("capture.ports"));
    }
}
