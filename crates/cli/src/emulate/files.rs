//! The files that an emulation writes while it runs.

use super::args::EmulateArgs;
use cmdline::{Failure, remark};
use emulator::{EmulationRecording, Files, LogFormat, PacketRecorder, Sink};
use link::Duplex;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

/// Begins the requested files, if any. Returns the writer, and the recorder that feeds it. The
/// recorder has to be dropped before writing can end.
pub(super) fn begin(
    args: &EmulateArgs,
) -> Result<Option<(EmulationRecording, Duplex<PacketRecorder>)>, Failure> {
    let files = Files {
        log: args.log.as_deref().map(log).transpose()?,
        captures: args.pcap.as_deref().map(captures).transpose()?,
        segments: None,
    };
    if files.log.is_none() && files.captures.is_none() {
        return Ok(None);
    }
    EmulationRecording::begin(files).map(Some).map_err(Failure::failed)
}

/// Waits until all is written.
pub(super) fn finish(recording: Option<EmulationRecording>) -> Result<(), Failure> {
    let Some(recording) = recording else {
        return Ok(());
    };
    let missed = recording.finish();
    let missed = missed.map_err(|error| Failure::failed(format!("cannot write: {error}")))?;
    if missed > 0 {
        remark(&format!("warning: files could not be written fast enough: {missed} notes missed"));
    }
    Ok(())
}

fn log(path: &Path) -> Result<(LogFormat, Sink), Failure> {
    let is_json = path.extension().is_some_and(|ending| ending == "jsonl" || ending == "json");
    let format = if is_json { LogFormat::JsonLines } else { LogFormat::Csv };
    Ok((format, create(path)?))
}

fn captures(folder: &Path) -> Result<[Sink; 2], Failure> {
    fs::create_dir_all(folder)
        .map_err(|error| Failure::input(format!("{}: {error}", folder.display())))?;
    Ok([create(&folder.join("client.pcap"))?, create(&folder.join("host.pcap"))?])
}

fn create(path: &Path) -> Result<Sink, Failure> {
    let file = File::create(path);
    let file = file.map_err(|error| Failure::input(format!("{}: {error}", path.display())))?;
    Ok(Box::new(BufWriter::new(file)))
}
