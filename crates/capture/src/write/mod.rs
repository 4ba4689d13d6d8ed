//! Writes captures to rotating files: each has a maximum size or time, and only the latest are
//! kept.
//!
//! Names have the time of their first packet. So files of one run, and of consecutive runs, sort by
//! name as they do by time. Only their owner can read the files.

use jiff::Timestamp;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use units::{Duration, Instant};
use wire::PcapFile;

/// The rule by which one file ends and the next begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rotation {
    /// Maximum size of a file, bytes.
    pub size: Option<u64>,
    /// Maximum time span of a file, by the times of its packets.
    pub every: Option<Duration>,
    /// Number of files that are kept: a further one removes the oldest. Files of earlier runs
    /// count, too, and files that have been packed since (`.zst`, `.gz`).
    pub keep: Option<usize>,
}

impl Rotation {
    /// Returns true if there is more than one file.
    pub const fn is_on(&self) -> bool {
        self.size.is_some() || self.every.is_some()
    }
}

/// Name endings of packed files.
const PACKED: [&str; 2] = [".zst", ".gz"];
/// Size of the header of each packet, and of the file, bytes.
const RECORD: u64 = 16;
const HEADER: u64 = 24;

/// A capture that is being written to files.
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
    /// Starts a capture of packets of the link type `link`. If files rotate, the name of each has
    /// its time: `server.pcap` becomes `server-20261125T013000.123456Z.pcap`. Otherwise there is
    /// one file, which is created at once; `-` is standard output.
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
        if self
            .current
            .as_ref()
            .is_none_or(|current| self.rotation.must_rotate(current, at, record))
        {
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

    /// Passes the written bytes on to the system, for programs that read along.
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

    /// Returns the files that were created, and still exist.
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

    /// Returns the name of a file that begins at some time: one that does not exist yet.
    fn path_at(&self, at: Instant) -> PathBuf {
        let (stem, extension) = self.name();
        let name =
            |nanos| self.path.with_file_name(format!("{stem}-{}{extension}", time_stamp(nanos)));
        // The name is later by microseconds if several files begin in the same one.
        let mut nanos = at.as_nanos();
        while name(nanos).exists() {
            nanos += 1_000;
        }
        name(nanos)
    }

    /// Returns the parts of names before and after the time.
    fn name(&self) -> (String, String) {
        let text = |part: Option<&std::ffi::OsStr>| {
            part.unwrap_or_default().to_string_lossy().into_owned()
        };
        let extension =
            self.path.extension().map(|extension| format!(".{}", text(Some(extension))));
        (text(self.path.file_stem()), extension.unwrap_or_default())
    }

    /// Returns the files of this capture and of earlier ones by the times in their names, the
    /// oldest first. While a file is being packed there are two with one time.
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
    /// Returns true if a file ends before a record of this many bytes.
    fn must_rotate(&self, current: &CurrentFile, at: Instant, record: u64) -> bool {
        self.size.is_some_and(|size| current.bytes > HEADER && current.bytes + record > size)
            || self.every.is_some_and(|every| at.saturating_since(current.began) >= every)
    }
}

/// Creates a file that only its owner can read, also if it existed before, since addresses of hosts
/// are private. Devices and pipes keep their permissions.
fn create(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    if file.metadata()?.is_file() {
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

/// Removes a file that may be gone already: a program that packs it removes it, too.
fn remove(file: &Path) -> io::Result<()> {
    fs::remove_file(file).or_else(|why| match why.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(why),
    })
}

const STAMP: &str = "%Y%m%dT%H%M%S.%6fZ";

/// Formats a time as `20261125T013000.123456Z`.
fn time_stamp(nanos: u64) -> String {
    let time = Timestamp::from_nanosecond(i128::from(nanos)).unwrap_or_default();
    time.strftime(STAMP).to_string()
}

/// Returns true if a text looks like the output of [`stamp`]: as long, with digits at the same
/// positions.
fn is_stamp(text: &str) -> bool {
    let pattern = time_stamp(0);
    let same = |(a, b): (u8, u8)| if b.is_ascii_digit() { a.is_ascii_digit() } else { a == b };
    text.len() == pattern.len() && text.bytes().zip(pattern.bytes()).all(same)
}

#[cfg(test)]
mod tests;
