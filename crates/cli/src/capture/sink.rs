//! Where captured packets go.

use super::args::Args;
use crate::failure::Failure;
use capture::{Anonymizer, CaptureWriter, LiveCapture, LivePacket};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The file or files, if any, and what is done to packets before.
pub(super) struct Sink {
    writer: Option<CaptureWriter>,
    anonymizer: Option<Anonymizer>,
    path: PathBuf,
    pub(super) packets: u64,
}

impl Sink {
    pub(super) fn begin(args: &Args) -> Result<Self, Failure> {
        let path = args.write.clone().unwrap_or_default();
        let anonymizer =
            args.anonymize.as_ref().map(|secret| anonymizer(secret.as_deref())).transpose()?;
        let mut new = Self { writer: None, anonymizer, path, packets: 0 };
        if args.write.is_some() {
            let writer = CaptureWriter::begin(&new.path, LiveCapture::LINK, args.rotation());
            new.writer = Some(writer.map_err(|why| Failure::input(new.trouble(&why)))?);
        }
        Ok(new)
    }

    pub(super) fn record(&mut self, mut packet: LivePacket<'_>) -> io::Result<()> {
        self.packets += 1;
        if let Some(anonymizer) = &mut self.anonymizer {
            packet.anonymize(anonymizer);
        }
        match &mut self.writer {
            Some(writer) => writer.record(packet.at, packet.record, packet.length),
            None => Ok(()),
        }
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.writer.as_mut().map_or(Ok(()), CaptureWriter::flush)
    }

    pub(super) fn finish(&mut self) -> Result<(), Failure> {
        let finished = self.writer.as_mut().map_or(Ok(()), CaptureWriter::finish);
        finished.map_err(|why| self.failure(&why))
    }

    pub(super) fn files(&self) -> &[PathBuf] {
        self.writer.as_ref().map_or(&[], CaptureWriter::files)
    }

    fn trouble(&self, why: &io::Error) -> String {
        format!("cannot write {}: {why}", self.path.display())
    }

    pub(super) fn failure(&self, why: &io::Error) -> Failure {
        match why.kind() {
            io::ErrorKind::BrokenPipe => Failure::ReaderGone,
            _ => Failure::failed(self.trouble(why)),
        }
    }
}

fn anonymizer(secret: Option<&Path>) -> Result<Anonymizer, Failure> {
    let Some(path) = secret else { return Anonymizer::random().map_err(Failure::failed) };
    let secret = fs::read(path)
        .map_err(|why| Failure::input(format!("cannot read {}: {why}", path.display())))?;
    if secret.is_empty() {
        return Err(Failure::input(format!("{} is empty: no secret", path.display())));
    }
    Ok(Anonymizer::of_secret(&secret))
}
