//! Captures of every world, for a reader who asks why two of them differ.
//!
//! The simulator has what its links carried with its loads; in real time the emulated link tells what it was handed and
//! what it handed over, at both its ends. Both are classic pcap, with times since the world began.

use emulator::{Files, Recorder, Recording, Sink};
use netsim::Duplex;
use race::World;
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
            fs::create_dir_all(folder).map_err(|error| named(folder, &error))?;
        }
        Ok(Self(folder))
    }

    /// Where a real world's captures of this repeat go; nowhere if it is not the first.
    pub(crate) fn of(self, scheme: &str, world: World, repeat: u32) -> Ends {
        let at = |folder: &Path, end| folder.join(format!("{scheme}-{world}-{end}.pcap"));
        let ends = |folder| ["client", "host"].map(|end| at(folder, end));
        Ends(self.0.filter(|_| repeat == 0).map(ends))
    }
}

/// The files for both ends of an emulated link, if they are wanted.
#[derive(Clone, Debug)]
pub(crate) struct Ends(Option<[PathBuf; 2]>);

impl Ends {
    /// Begins the files: what writes them, and what the emulation tells.
    ///
    /// # Errors
    /// If one cannot be made; the error names it.
    pub(crate) fn begin(&self) -> io::Result<(Option<Recording>, Option<Duplex<Recorder>>)> {
        let Some([client, host]) = &self.0 else { return Ok((None, None)) };
        let captures = Some([create(client)?, create(host)?]);
        let (recording, recorders) = Recording::begin(Files { captures, ..Files::default() })?;
        Ok((Some(recording), Some(recorders)))
    }
}

/// Waits until all is written, when the emulation is over.
///
/// # Errors
/// If writing failed, or was too slow for what crossed the link.
pub(crate) fn finish(recording: Option<Recording>) -> io::Result<()> {
    let missed = recording.map_or(Ok(0), Recording::finish)?;
    match missed {
        0 => Ok(()),
        _ => Err(io::Error::other(format!("captures: written too slowly for {missed} packets"))),
    }
}

fn create(path: &Path) -> io::Result<Sink> {
    let file = File::create(path).map_err(|error| named(path, &error))?;
    Ok(Box::new(BufWriter::new(file)))
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
