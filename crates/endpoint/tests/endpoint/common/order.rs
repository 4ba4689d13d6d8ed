//! Counts overtaken packets of an emulated link, from its log while that is written.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// Number of packets delivered before that are compared.
const LOOK_BACK: usize = 64;

/// A log that only counts. Rows are in the order of delivery.
#[derive(Clone, Default)]
pub(crate) struct Overtaken(Arc<Mutex<Counting>>);

#[derive(Default)]
struct Counting {
    /// An incomplete row.
    rest: Vec<u8>,
    /// Columns of a row's direction, fate and arrival.
    columns: Option<[usize; 3]>,
    /// Arrival times of the packets delivered last, by direction.
    before: [VecDeque<u64>; 2],
    /// Number of packets, by the number of later packets that were delivered before them.
    by: BTreeMap<usize, u64>,
}

impl Overtaken {
    /// Returns the number of packets that at least `least` others have overtaken.
    pub(crate) fn by(&self, least: usize) -> u64 {
        self.0.lock().unwrap().by.range(least..).map(|(_, n)| n).sum()
    }
}

impl Counting {
    fn row(&mut self, row: &str) {
        let fields: Vec<&str> = row.split(',').collect();
        let Some([direction, fate, arrived]) = self.columns else {
            let column = |name| fields.iter().position(|field| *field == name).unwrap();
            self.columns = Some(["direction", "fate", "arrived"].map(column));
            return;
        };
        if fields[fate] != "delivered" {
            return;
        }
        let arrived: u64 = fields[arrived].parse().unwrap();
        let before = &mut self.before[usize::from(fields[direction] == "up")];
        let by = before.iter().filter(|other| **other > arrived).count();
        *self.by.entry(by).or_default() += 1;
        before.push_back(arrived);
        before.drain(..before.len().saturating_sub(LOOK_BACK));
    }
}

impl Write for Overtaken {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let counting = &mut *self.0.lock().unwrap();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            counting.rest.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let row = String::from_utf8(std::mem::take(&mut counting.rest)).unwrap();
                counting.row(row.trim_end());
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
