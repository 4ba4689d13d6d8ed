//! Log of the link, packet by packet.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// A packet's line of the emulation's log, as far as it is of interest.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct Delivered {
    direction: String,
    /// At the queue, nanoseconds.
    pub(crate) arrived: u64,
    fate: String,
    pub(crate) bytes: u32,
    /// Nanoseconds since the emulation began; of one that was dropped, when.
    pub(crate) left: u64,
    pub(crate) low_priority: bool,
}

impl Delivered {
    /// The queue had no room for it.
    pub(crate) fn was_dropped(&self) -> bool {
        self.fate == "dropped"
    }
}

/// Log of the emulation, line by line.
#[derive(Clone, Default)]
pub(super) struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    /// Packets of the server that the link has delivered, without the first `after` ones.
    pub(super) fn sent_by_server(&self, after: usize) -> Vec<Delivered> {
        let written = self.0.lock().unwrap();
        let rows = written.split(|byte| *byte == b'\n').filter(|row| !row.is_empty());
        let rows = rows.map(|row| serde_json::from_slice::<Delivered>(row).unwrap());
        rows.filter(|packet| packet.direction == "down").skip(after).collect()
    }

    /// Discards the log so far.
    pub(super) fn forget(&self) {
        self.0.lock().unwrap().clear();
    }
}
