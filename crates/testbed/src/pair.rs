//! Two hosts: a namespace for each, the emulated link between them, and its recording.

use emulator::{
    Addresses, Clock, Emulation, EmulationOptions, EmulationRecording, Files, Interface,
    InterfaceConfig, LogFormat, Namespace, SchedulingDelays, SegmentEnd, Sink,
};
use link::{Duplex, LinkConfig};
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};

/// Both hosts and the link.
pub struct HostPair {
    /// The client.
    pub client: Namespace,
    /// The server.
    pub server: Namespace,
    /// The server's address.
    pub address: Ipv4Addr,
    /// The clock of the link and of its recording.
    pub clock: Clock,
    /// They live as long as their devices.
    _devices: [Interface; 2],
    emulation: Emulation,
    recording: EmulationRecording,
    captures: [SharedBytes; 2],
    log: SharedBytes,
    segments: Arc<Mutex<Vec<SegmentEnd>>>,
}

/// The links and parameters of a pair.
pub struct PairPlan {
    /// The links, forward towards the client.
    pub links: Duplex<LinkConfig>,
    /// Segments that the server's TCP begins with; `None`: as Linux does.
    pub initial_window: Option<u32>,
    /// Seed of random losses and jitter.
    pub seed: u64,
}

/// Segments and bytes that crossed a link.
pub struct Recorded {
    /// Segments, each direction in the order in which their ways ended.
    pub segments: Vec<SegmentEnd>,
    /// A capture at the client.
    pub at_client: Vec<u8>,
    /// A capture at the server.
    pub at_server: Vec<u8>,
    /// A line for each packet: its times, its fate, and the queue that it found.
    pub link_log: Vec<u8>,
    /// Scheduling delay of the packets.
    pub scheduling_delay: SchedulingDelays,
}

impl HostPair {
    /// Opens the pair.
    ///
    /// # Errors
    /// If the machine does not let it.
    pub fn open(plan: PairPlan) -> io::Result<Self> {
        let PairPlan { links, initial_window, seed } = plan;
        let clock = Clock::start();
        let (client, server) = (Namespace::new()?, Namespace::new()?);
        let [near, far] = Addresses::numbered(0);
        let at_client = InterfaceConfig::new(near).with_default_route();
        let at_server = match initial_window {
            Some(segments) => InterfaceConfig::new(far).with_initial_window(segments),
            None => InterfaceConfig::new(far),
        };
        let devices =
            [Interface::open(&client, &at_client)?, Interface::open(&server, &at_server)?];
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

    /// Closes the pair.
    ///
    /// # Errors
    /// If the link failed, or packets are missing from the recording.
    pub fn close(self) -> io::Result<Recorded> {
        let scheduling_delay = self.emulation.take_scheduling_delay();
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
        Ok(Recorded { segments, at_client, at_server, link_log, scheduling_delay })
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
