//! The twin in C: the programs of `hs_cubic`, compiled for this machine, over pipes.

use super::event::{Event, Outcome, Words};
use crate::compiled;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The program that plays events to the C.
pub(super) struct Agent {
    program: PathBuf,
}

static COMPILED: OnceLock<Option<Agent>> = OnceLock::new();

impl Agent {
    /// The program, compiled once for all tests. Without a C compiler it prints that, and `None`.
    pub(super) fn compiled() -> Option<&'static Self> {
        COMPILED.get_or_init(Self::compile).as_ref()
    }

    fn compile() -> Option<Self> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folders = ["tests/twins/kernel", "bpf", "include"].map(|folder| here.join(folder));
        let program = compiled::compiled_file(&folders[0].join("driver.c"), "decisions", &folders)?;
        Some(Self { program })
    }

    /// Outcomes of the events in C.
    pub(super) fn play(&self, events: &[Event]) -> Vec<Outcome> {
        let words = events.iter().flat_map(Words::words);
        let input: Vec<u8> = words.flat_map(u64::to_ne_bytes).collect();
        let output = compiled::run(&self.program, input);
        let mut words = output
            .chunks_exact(size_of::<u64>())
            .map(|word| u64::from_ne_bytes(word.try_into().expect("eight bytes")));
        assert_eq!(output.len(), events.len() * Outcome::size());
        events.iter().map(|_| Outcome::of(&mut words)).collect()
    }
}
