//! A case is loaded: Chromium and nginx, each in a namespace, and the emulated link between them.

use super::case::PageCase;
use super::har::RecordedHar;
use super::site::{self, PageTransport, Site, SiteAddresses};
use super::slow;
use crate::client::{Chromium, ClientTcp};
use crate::kernel::{Nginx, listen};
use crate::pair::{HostPair, PairPlan, Recorded};
use crate::punctual::until_punctual;
use crate::truth::AnalysedCapture;
use emulator::ThreadScheduling;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::rc::Rc;
use tokio::task::LocalSet;
use units::Duration;

/// A load takes a few seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// The programs of both ends.
#[derive(Clone, Debug)]
pub struct PagePeers {
    chromium: Chromium,
    nginx: Nginx,
}

/// A page that was loaded.
#[derive(Clone, Debug)]
pub struct LoadedPage {
    /// The load as a HAR file.
    pub har: Vec<u8>,
    /// Time from the first request to the event `load`, seconds.
    pub load_s: f64,
    /// The capture at the client.
    pub at_client: Vec<u8>,
    /// The capture at the server.
    pub at_server: Vec<u8>,
    /// The analyser's account of the capture at the server.
    pub analysed: AnalysedCapture,
    /// Scheduling delay of all packets but one in a hundred.
    pub scheduling_delay_p99: Duration,
}

impl PagePeers {
    /// The programs that are installed.
    ///
    /// # Errors
    /// If one is missing: how to install it.
    pub fn installed() -> io::Result<Self> {
        let missing = |what: &str, package: &str| {
            let why = format!("no {what} in PATH: `apt install {package}` installs it on Debian");
            io::Error::new(ErrorKind::NotFound, why)
        };
        Ok(Self {
            chromium: Chromium::installed().ok_or_else(|| missing("chromium", "chromium"))?,
            nginx: Nginx::installed().ok_or_else(|| missing("nginx", "nginx-light"))?,
        })
    }

    /// Names and versions of the browser and the server.
    pub fn versions(&self) -> [&str; 2] {
        [self.chromium.version(), self.nginx.version()]
    }

    /// Loads a page until its packets were not late ([`until_punctual`]).
    ///
    /// # Errors
    /// If the machine does not let it, or the page does not load; the error names the case.
    pub fn load(&self, case: &PageCase, seed: u64) -> io::Result<LoadedPage> {
        let load = || ThreadScheduling::on_its_own_thread(|| self.load_here(case, seed));
        let loaded = until_punctual(load, |loaded| loaded.scheduling_delay_p99)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", case.name)))?;
        Ok(loaded.measured)
    }

    fn load_here(&self, case: &PageCase, seed: u64) -> io::Result<LoadedPage> {
        let links = case.path.links();
        let pair = HostPair::open(PairPlan { links, initial_window: case.initial_window, seed })?;
        ClientTcp { window: case.client_window }.prepare(&pair.client)?;
        let (scheme, port) = match case.transport {
            PageTransport::Http11 => ("http", 80),
            PageTransport::Http2 => ("https", 443),
        };
        let at = SocketAddr::new(pair.address.into(), port);
        let listener = pair.server.run(|| listen(at, Some("cubic"), None))??;
        let behind = pair.server.run(|| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))??;
        behind.set_nonblocking(true)?;
        let slow_at = behind.local_addr()?;
        let site = Site { files: &case.files, transport: case.transport };
        let serving = self.nginx.serve_site(&pair.server, &[listener], |folder, ready| {
            let addresses = SiteAddresses { site: at, ready, slow: slow_at };
            site::write_site(folder, &site, addresses, |module| self.nginx.has_module(module))
        })?;
        let url = format!("{scheme}://{}{}", pair.address, case.files[0].at);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let events = LocalSet::new().block_on(&runtime, async {
            let behind = tokio::net::TcpListener::from_std(behind)?;
            let slow = slow::serve(behind, Rc::new(case.files.clone()), pair.clock);
            tokio::task::spawn_local(slow);
            self.chromium.watch(&pair.client, &pair.clock, &url, PATIENCE).await
        })?;
        drop(serving);
        let Recorded { at_client, at_server, scheduling_delay, .. } = pair.close()?;
        let har = RecordedHar::of(&events).map_err(io::Error::other)?;
        Ok(LoadedPage {
            har: serde_json::to_vec_pretty(&har.har)?,
            load_s: har.load_s,
            analysed: AnalysedCapture::of(at_server.clone()).map_err(io::Error::other)?,
            at_client,
            at_server,
            scheduling_delay_p99: scheduling_delay.p99(),
        })
    }
}
