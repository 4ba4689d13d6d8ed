//! Set-up of a row: two namespaces, the emulated link between them, and its recording.

use super::row::{NamespaceSysctl, TruthPath};
use emulator::{
    Addresses, Clock, Emulation, EmulationOptions, EmulationRecording, Files, Interface,
    InterfaceConfig, Lateness, LogFormat, Namespace, SegmentEnd, Sink,
};
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};

/// Receive buffers of both ends. The kernel offers half of the second figure at once, so that the
/// receiver bounds only rows that ask for it.
const RECEIVE_MEMORY: &str = "4096 2000000 8000000";

/// Both ends and the link.
pub(super) struct RowSetup {
    pub(super) client: Namespace,
    pub(super) server: Namespace,
    /// The server's address.
    pub(super) address: Ipv4Addr,
    pub(super) clock: Clock,
    /// They live as long as their devices.
    _devices: [Interface; 2],
    emulation: Emulation,
    recording: EmulationRecording,
    captures: [SharedBytes; 2],
    log: SharedBytes,
    segments: Arc<Mutex<Vec<SegmentEnd>>>,
}

/// Everything that crossed a link.
pub(super) struct Recorded {
    /// Segments, each direction in the order in which their ways ended.
    pub(super) segments: Vec<SegmentEnd>,
    /// A capture at the client.
    pub(super) at_client: Vec<u8>,
    /// A capture at the server.
    pub(super) at_server: Vec<u8>,
    /// A line for each packet: its times, its fate, and the queue that it found.
    pub(super) link_log: Vec<u8>,
    /// Scheduling delay of the packets.
    pub(super) lateness: Lateness,
}

impl RowSetup {
    /// Opens it.
    ///
    /// # Errors
    /// If the machine does not let it.
    pub(super) fn open(
        path: &TruthPath,
        sysctls: &[NamespaceSysctl],
        seed: u64,
    ) -> io::Result<Self> {
        let clock = Clock::start();
        let (client, server) = (Namespace::new()?, Namespace::new()?);
        for namespace in [&client, &server] {
            namespace.set_sysctl("net.ipv4.tcp_rmem", RECEIVE_MEMORY)?;
        }
        for NamespaceSysctl { name, value } in sysctls {
            server.set_sysctl(name, value)?;
        }
        let [near, far] = Addresses::numbered(0);
        let config = InterfaceConfig::new(near).with_default_route();
        let devices = [
            Interface::open(&client, &config)?,
            Interface::open(&server, &InterfaceConfig::new(far))?,
        ];
        let captures = [SharedBytes::default(), SharedBytes::default()];
        let sinks = captures.each_ref().map(|bytes| Box::new(bytes.clone()) as Sink);
        let segments = Arc::<Mutex<Vec<SegmentEnd>>>::default();
        let kept = Arc::clone(&segments);
        let keep = move |end| kept.lock().unwrap_or_else(PoisonError::into_inner).push(end);
        let log = SharedBytes::default();
        let files = Files {
            captures: Some(sinks),
            segments: Some(Box::new(keep)),
            log: Some((LogFormat::Csv, Box::new(log.clone()))),
        };
        let (recording, recorders) = EmulationRecording::begin(files)?;
        let links = path.links().map_err(io::Error::other)?;
        let recorders = Some(recorders);
        let options = EmulationOptions { clock, recorders, seed, ..EmulationOptions::new(links) };
        let emulation = Emulation::start(devices[0].port(), devices[1].port(), options)?;
        let address = far.v4;
        let _devices = devices;
        Ok(Self {
            client,
            server,
            address,
            clock,
            _devices,
            emulation,
            recording,
            captures,
            log,
            segments,
        })
    }

    /// Ends it.
    ///
    /// # Errors
    /// If the link failed, or packets are missing from the recording.
    pub(super) fn close(self) -> io::Result<Recorded> {
        let lateness = self.emulation.take_lateness();
        let report = self.emulation.stop();
        let missed = self.recording.finish()?;
        if let Some(why) = report.down.failure.or(report.up.failure) {
            return Err(io::Error::other(format!("the emulated link failed: {why}")));
        }
        if missed > 0 {
            return Err(io::Error::other(format!("the recording lacks {missed} notes of packets")));
        }
        let segments =
            std::mem::take(&mut *self.segments.lock().unwrap_or_else(PoisonError::into_inner));
        let [at_client, at_server] = self.captures.map(SharedBytes::take);
        let link_log = self.log.take();
        Ok(Recorded { segments, at_client, at_server, link_log, lateness })
    }
}

/// A file in memory, written by one thread and read by another.
#[derive(Clone, Debug, Default)]
struct SharedBytes(Arc<Mutex<Vec<u8>>>);

impl SharedBytes {
    fn take(self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for SharedBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
