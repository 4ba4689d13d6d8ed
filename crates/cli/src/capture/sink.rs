//! The destination of captured packets.

use super::args::CaptureArgs;
use crate::anonymity::anonymizer;
use capture::{Anonymizer, CaptureWriter, LiveCapture, LivePacket};
use cmdline::Failure;
use std::io;
use std::path::PathBuf;

/// The file or files, if any, and what is done to packets before.
pub(super) struct Sink {
    writer: Option<CaptureWriter>,
    anonymizer: Option<Anonymizer>,
    path: PathBuf,
    /// Packets taken, and those that may be.
    pub(super) packets: u64,
    most: u64,
    /// Reason why nothing more can be written.
    error: Option<io::Error>,
}

impl Sink {
    pub(super) fn begin(args: &CaptureArgs) -> Result<Self, Failure> {
        let mut new = Self {
            writer: None,
            anonymizer: anonymizer(args.anonymize.as_ref())?,
            path: args.write.clone().unwrap_or_default(),
            packets: 0,
            most: args.count.unwrap_or(u64::MAX),
            error: None,
        };
        if args.write.is_some() {
            let writer = CaptureWriter::begin(&new.path, LiveCapture::LINK, args.rotation());
            new.writer = Some(writer.map_err(|why| Failure::input(new.write_error(&why)))?);
        }
        Ok(new)
    }

    /// True as long as packets are taken.
    pub(super) const fn wants_more(&self) -> bool {
        self.packets < self.most && self.error.is_none()
    }

    pub(super) fn take(&mut self, mut packet: LivePacket<'_>) {
        if !self.wants_more() {
            return;
        }
        self.packets += 1;
        if let Some(anonymizer) = &mut self.anonymizer {
            packet.anonymize(anonymizer);
        }
        self.write(|writer| writer.record(packet.at, packet.record, packet.length));
    }

    pub(super) fn flush(&mut self) {
        self.write(CaptureWriter::flush);
    }

    pub(super) fn finish(&mut self) {
        self.write(CaptureWriter::finish);
    }

    fn write(&mut self, write: impl FnOnce(&mut CaptureWriter) -> io::Result<()>) {
        let wrote = self.writer.as_mut().map_or(Ok(()), write);
        // The first error is the cause of those that follow.
        self.error = self.error.take().or(wrote.err());
    }

    pub(super) fn files(&self) -> &[PathBuf] {
        self.writer.as_ref().map_or(&[], CaptureWriter::files)
    }

    fn write_error(&self, why: &io::Error) -> String {
        format!("cannot write {}: {why}", self.path.display())
    }

    /// The error, if not all could be written.
    pub(super) fn failure(&self) -> Option<Failure> {
        let why = self.error.as_ref()?;
        Some(match why.kind() {
            io::ErrorKind::BrokenPipe => Failure::ReaderGone,
            _ => Failure::failed(self.write_error(why)),
        })
    }
}
