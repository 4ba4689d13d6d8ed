//! Errors of reading: the fault, and its position.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// A file, pipe or interface that cannot be read any further.
#[derive(Debug)]
pub struct CaptureError {
    /// The input, by its given name: a path, `-` for standard input, or the name of an interface.
    pub input: PathBuf,
    /// Offset of the fault, bytes from the beginning, after decompression.
    pub offset: u64,
    /// The fault.
    pub trouble: CaptureTrouble,
}

/// A fault of an input.
#[derive(Debug)]
pub enum CaptureTrouble {
    /// It cannot be opened or read.
    Io(io::Error),
    /// The input is not a capture: its likely kind, and the way out.
    NotACapture(String),
    /// There is no such interface: the list of interfaces.
    NoInterface(String),
    /// The right to capture is missing.
    NotPermitted,
    /// It ends within a record: its last packet is not complete.
    Truncated,
    /// A record or block contradicts the format.
    Corrupt(String),
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let input = match self.input.to_str() {
            Some("-") => "standard input".into(),
            _ => self.input.to_string_lossy(),
        };
        match &self.trouble {
            CaptureTrouble::Io(error) => write!(f, "{input}: {error}"),
            CaptureTrouble::NotACapture(why) => write!(f, "{input}: {why}"),
            CaptureTrouble::NoInterface(why) => f.write_str(why),
            CaptureTrouble::NotPermitted => {
                f.write_str("capturing needs root, or CAP_NET_RAW: try sudo")
            }
            CaptureTrouble::Truncated => {
                write!(f, "{input}: ends within a packet, at byte {}", self.offset)
            }
            CaptureTrouble::Corrupt(why) => write!(f, "{input}: byte {}: {why}", self.offset),
        }
    }
}

impl std::error::Error for CaptureError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.trouble {
            CaptureTrouble::Io(error) => Some(error),
            _ => None,
        }
    }
}
