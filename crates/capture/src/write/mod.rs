//! Captures in files that take turns: each up to a size or a time, and only the latest kept.
//!
//! Names have the time of their first packet, so files of one run, and of runs after each other, sort by their
//! names as they do by time. Files can be read by their owner alone.

use jiff::Timestamp;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use units::{Duration, Instant};
use wire::PcapFile;

/// When one file ends and the next begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rotation {
    /// Bytes that a file may have.
    pub size: Option<u64>,
    /// How long a file may go on, by the times of its packets.
    pub every: Option<Duration>,
    /// Files that are kept: with the next one, the oldest goes. Files of runs before count, too, and files that have
    /// been packed since (`.zst`, `.gz`).
    pub keep: Option<usize>,
}

impl Rotation {
    /// True if there is more than one file.
    pub const fn is_on(&self) -> bool {
        self.size.is_some() || self.every.is_some()
    }
}

/// What names of packed files end with.
const PACKED: [&str; 2] = [".zst", ".gz"];
/// Bytes before each packet, and before all.
const RECORD: u64 = 16;
const HEADER: u64 = 24;

/// A capture that is written to files.
pub struct CaptureWriter {
    path: PathBuf,
    link: u32,
    rotation: Rotation,
    current: Option<CurrentFile>,
    written: Vec<PathBuf>,
}

struct CurrentFile {
    file: PcapFile<BufWriter<Box<dyn Write + Send>>>,
    bytes: u64,
    began: Instant,
}

impl CaptureWriter {
    /// A capture of packets of the link type `link`. If files take turns, the time goes into the name of each:
    /// `server.pcap` becomes `server-20261125T013000.123456Z.pcap`. Otherwise there is one file, which is begun at once;
    /// `-` is standard output.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn begin(path: &Path, link: u32, rotation: Rotation) -> io::Result<Self> {
        let path = path.to_owned();
        let mut new = Self { path, link, rotation, current: None, written: Vec::new() };
        match rotation.is_on() {
            true => drop(new.siblings()?),
            false => new.begin_file(new.path.clone(), Instant::ZERO)?,
        }
        Ok(new)
    }

    /// Writes the first `bytes` of a packet of `length` bytes.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn record(&mut self, at: Instant, bytes: &[u8], length: u32) -> io::Result<()> {
        let record = RECORD + bytes.len() as u64;
        if self.current.as_ref().is_none_or(|current| self.rotation.ends(current, at, record)) {
            self.finish()?;
            self.begin_file(self.path_at(at), at)?;
            self.remove_oldest()?;
        }
        if let Some(current) = &mut self.current {
            current.bytes += record;
            current.file.record(at, bytes, length)?;
        }
        Ok(())
    }

    /// Hands over to the system what has been written, for who reads along.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.current.as_mut().map_or(Ok(()), |current| current.file.flush())
    }

    /// Ends the last file.
    ///
    /// # Errors
    /// If the rest cannot be written.
    pub fn finish(&mut self) -> io::Result<()> {
        self.current.take().map_or(Ok(()), |current| current.file.finish().map(drop))
    }

    /// The files that were begun, and are still there.
    pub fn files(&self) -> &[PathBuf] {
        &self.written
    }

    fn begin_file(&mut self, path: PathBuf, began: Instant) -> io::Result<()> {
        let out: Box<dyn Write + Send> = match path.to_str() {
            Some("-") => Box::new(io::stdout()),
            _ => Box::new(create(&path)?),
        };
        let file = PcapFile::begin_with_link(BufWriter::with_capacity(1 << 16, out), self.link)?;
        self.current = Some(CurrentFile { file, bytes: HEADER, began });
        self.written.push(path);
        Ok(())
    }

    /// The name of a file that begins at some time: one that is not there yet.
    fn path_at(&self, at: Instant) -> PathBuf {
        let (stem, extension) = self.name();
        let name = |nanos| self.path.with_file_name(format!("{stem}-{}{extension}", stamp(nanos)));
        // Later by microseconds, if there have been as many files in one.
        let mut nanos = at.as_nanos();
        while name(nanos).exists() {
            nanos += 1_000;
        }
        name(nanos)
    }

    /// What stands before and behind the time in names.
    fn name(&self) -> (String, String) {
        let text = |part: Option<&std::ffi::OsStr>| {
            part.unwrap_or_default().to_string_lossy().into_owned()
        };
        let extension =
            self.path.extension().map(|extension| format!(".{}", text(Some(extension))));
        (text(self.path.file_stem()), extension.unwrap_or_default())
    }

    /// Files of this capture and of those before by the times in their names, the oldest first. While a file is being
    /// packed there are two of one time.
    fn siblings(&self) -> io::Result<BTreeMap<String, Vec<PathBuf>>> {
        let (stem, extension) = self.name();
        let folder = self.path.parent().filter(|folder| *folder != Path::new(""));
        let mut files: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        for entry in fs::read_dir(folder.unwrap_or(Path::new(".")))? {
            let name = entry?.file_name();
            let rest = name.to_str().and_then(|name| name.strip_prefix(&stem)?.strip_prefix('-'));
            let time = rest.and_then(|rest| {
                let plain = PACKED.iter().find_map(|packed| rest.strip_suffix(packed));
                plain.unwrap_or(rest).strip_suffix(&extension)
            });
            if let Some(time) = time.filter(|time| is_stamp(time)) {
                files.entry(time.to_owned()).or_default().push(self.path.with_file_name(&name));
            }
        }
        Ok(files)
    }

    fn remove_oldest(&mut self) -> io::Result<()> {
        let Some(keep) = self.rotation.keep else { return Ok(()) };
        let siblings = self.siblings()?;
        let excess = siblings.len().saturating_sub(keep.max(1));
        let (stem, extension) = self.name();
        for (time, files) in siblings.iter().take(excess) {
            files.iter().try_for_each(|file| remove(file))?;
            let plain = self.path.with_file_name(format!("{stem}-{time}{extension}"));
            self.written.retain(|written| *written != plain);
        }
        Ok(())
    }
}

impl Rotation {
    /// True if a file ends before a record of so many bytes.
    fn ends(&self, current: &CurrentFile, at: Instant, record: u64) -> bool {
        self.size.is_some_and(|size| current.bytes > HEADER && current.bytes + record > size)
            || self.every.is_some_and(|every| at.saturating_since(current.began) >= every)
    }
}

/// A file that its owner alone can read, also if it was there before: who talked to whom is nobody else's business.
/// Devices and pipes stay as they are.
fn create(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    if file.metadata()?.is_file() {
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

/// Removes a file that may have gone: whoever packs it removes it, too.
fn remove(file: &Path) -> io::Result<()> {
    fs::remove_file(file).or_else(|why| match why.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(why),
    })
}

const STAMP: &str = "%Y%m%dT%H%M%S.%6fZ";

/// `20261125T013000.123456Z`.
fn stamp(nanos: u64) -> String {
    let time = Timestamp::from_nanosecond(i128::from(nanos)).unwrap_or_default();
    time.strftime(STAMP).to_string()
}

/// True of what [`stamp`] writes: as long, digits where it has digits.
fn is_stamp(text: &str) -> bool {
    let pattern = stamp(0);
    let same = |(a, b): (u8, u8)| if b.is_ascii_digit() { a.is_ascii_digit() } else { a == b };
    text.len() == pattern.len() && text.bytes().zip(pattern.bytes()).all(same)
}

#[cfg(test)]
mod tests;
