//! Captures of every world, for a reader who compares two of them.
//!
//! The simulator records the segments on its links with its loads. In real time the emulated link
//! reports the segments it received and the segments it delivered, at both its ends. Both are
//! classic pcap, with times since the world began.

use emulator::{EmulationRecording, Files, PacketRecorder, SegmentSink, Sink};
use netsim::Duplex;
use race::{RaceOutcome, World};
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// A folder for the captures of a race: of each scheme's first repeat in each world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Folder<'a>(Option<&'a Path>);

impl<'a> Folder<'a> {
    /// The folder, which is made if it is not there; without one nothing is captured.
    ///
    /// # Errors
    /// If it cannot be made; the error names it.
    pub(crate) fn new(folder: Option<&'a Path>) -> io::Result<Self> {
        if let Some(folder) = folder {
            fs::create_dir_all(folder).map_err(|error| error_with_path(folder, &error))?;
        }
        Ok(Self(folder))
    }

    /// Paths of a real world's captures of this repeat; none if it is not the first repeat.
    pub(crate) fn of(self, scheme: &str, world: World, repeat: u32) -> Ends {
        let at = |folder: &Path, end| folder.join(format!("{scheme}-{world}-{end}.pcap"));
        let ends = |folder| ["client", "host"].map(|end| at(folder, end));
        Ends(self.0.filter(|_| repeat == 0).map(ends))
    }
}

/// The captures that came with simulated loads, by the names of their files: `SCHEME-LINK.pcap` and
/// `SCHEME-LINK-sent.pcap`, or `SCHEME-sim-LINK.pcap` where `beside_others`, which are of real
/// worlds.
pub fn of_simulations(
    outcome: &RaceOutcome,
    beside_others: bool,
) -> impl Iterator<Item = (String, &[u8])> {
    let world = if beside_others { "-sim" } else { "" };
    outcome.contestants.iter().flat_map(move |contestant| {
        let captures = contestant.loads().flat_map(|load| &load.captures);
        captures.map(move |(link, bytes)| {
            (format!("{}{world}-{link}.pcap", contestant.name.replace(' ', "-")), bytes.as_slice())
        })
    })
}

/// The files for both ends of an emulated link, if they are wanted.
#[derive(Clone, Debug)]
pub(crate) struct Ends(Option<[PathBuf; 2]>);

impl Ends {
    /// No files.
    pub(crate) const NONE: Self = Self(None);

    /// Starts the files, if any, and reports every segment to `segments`. Returns the sink for the
    /// emulation's reports.
    ///
    /// # Errors
    /// If a file cannot be made; the error names it.
    pub(crate) fn begin(
        &self,
        segments: SegmentSink,
    ) -> io::Result<(EmulationRecording, Duplex<PacketRecorder>)> {
        let captures = match &self.0 {
            Some([client, host]) => Some([create(client)?, create(host)?]),
            None => None,
        };
        EmulationRecording::begin(Files { captures, segments: Some(segments), ..Files::default() })
    }

    /// Waits until all segments are written and reported, after the emulation has ended. Returns
    /// false if some segments were not reported.
    ///
    /// # Errors
    /// If writing failed, or was too slow for the packets on the link.
    pub(crate) fn finish(&self, recording: EmulationRecording) -> io::Result<bool> {
        match (recording.finish()?, &self.0) {
            (0, _) => Ok(true),
            (_, None) => Ok(false),
            (missed, Some(_)) => {
                let why = format!("captures: written too slowly for {missed} packets");
                Err(io::Error::other(why))
            }
        }
    }
}

fn create(path: &Path) -> io::Result<Sink> {
    let file = File::create(path).map_err(|error| error_with_path(path, &error))?;
    Ok(Box::new(BufWriter::new(file)))
}

fn error_with_path(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
