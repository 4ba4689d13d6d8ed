//! The lines of a log, with their numbers and what is wrong with some of them.

use crate::captures::reading::ReadingProgress;
use crate::failure::Failure;
use crate::input::unreadable;
use capture::{DecompressedInput, InputProgress};
use findings::access_log::{LogFault, LogReader, LogRequest};
use std::io::{BufRead, Read};
use std::path::Path;
use units::counted;

/// Longer lines are none of a log.
const LONGEST: u64 = 1 << 16;
/// Lines in a row at the beginning that may be wrong; more are another format.
const TRIED: u64 = 100;
/// Number of wrong lines that are each reported.
const MAX_SHOWN_LINES: u64 = 3;

/// Counts of a log's lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineCounts {
    /// Lines of the log.
    pub lines: u64,
    /// Number of those that could not be read.
    pub wrong: u64,
}

/// Hands each request of a log to `take`, as `reader` reads its lines. Lines that cannot be read
/// are reported with their numbers.
///
/// # Errors
/// If the file cannot be opened, or is compressed by another program than gzip or zstd.
pub fn read(
    path: &Path,
    mut reader: LogReader,
    mut take: impl FnMut(&LogRequest<'_>),
) -> Result<(LineCounts, Result<(), Failure>), Failure> {
    let mut input =
        DecompressedInput::open(path).map_err(|why| Failure::input(unreadable(path, &why)))?;
    let shown =
        if path.as_os_str() == "-" { "standard input".into() } else { path.to_string_lossy() };
    if let Some(packed) = input.fill_buf().ok().and_then(capture::packed_by) {
        return Err(Failure::input(format!("{shown}: {packed}")));
    }
    let total = path.metadata().ok().filter(|meta| meta.is_file()).map(|meta| meta.len());
    let mut progress = ReadingProgress::begin(total, "lines");
    let mut counts = LineCounts::default();
    let mut line = Vec::new();
    let mut stopped = None;
    loop {
        line.clear();
        match input.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(_) => {}
            Err(why) => {
                stopped = Some(format!("{shown}: line {}: {why}", counts.lines + 1));
                break;
            }
        }
        counts.lines += 1;
        if line.len() as u64 == LONGEST && !line.ends_with(b"\n") {
            skip_line(&mut input);
        }
        match reader.read(&String::from_utf8_lossy(&line)) {
            Ok(request) => take(&request),
            Err(LogFault::Empty) => {}
            Err(why) => {
                counts.wrong += 1;
                let fault = format!("{shown}: line {}: {why}", counts.lines);
                if counts.wrong == TRIED && counts.lines == TRIED {
                    stopped = Some(format!("{fault} (as each of the {} lines before)", TRIED - 1));
                    break;
                }
                if counts.wrong <= MAX_SHOWN_LINES {
                    progress.refuse(&fault);
                }
            }
        }
        let read = InputProgress { read: input.bytes_read(), total };
        progress.at(counts.lines, read);
    }
    progress.end();
    Ok((counts, verdict(&shown, counts, stopped)))
}

/// Reads on to the end of a line that is too long.
fn skip_line(input: &mut DecompressedInput) {
    while let Ok(bytes) = input.fill_buf()
        && !bytes.is_empty()
    {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let passed = end.map_or(bytes.len(), |end| end + 1);
        input.consume(passed);
        if end.is_some() {
            return;
        }
    }
}

/// Whether all was read. `stopped`: why reading ended before the end.
fn verdict(shown: &str, counts: LineCounts, stopped: Option<String>) -> Result<(), Failure> {
    let LineCounts { lines, wrong } = counts;
    let read = match lines - wrong {
        0 => "no line could be read".to_owned(),
        read => format!("the results are of {} that could be read", counted(read, "line")),
    };
    match stopped {
        Some(why) => Err(Failure::failed(format!("{why}; {read}"))),
        None if lines == 0 => Err(Failure::failed(format!("{shown}: empty"))),
        None if wrong == lines => {
            Err(Failure::failed(format!("{shown}: no line of {lines} could be read")))
        }
        None if wrong > 0 => Err(Failure::failed(format!(
            "{shown}: {} of {lines} could not be read; the results are of the others",
            counted(wrong, "line")
        ))),
        None => Ok(()),
    }
}
