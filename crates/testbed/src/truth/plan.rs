//! Plays rows, a few at a time, and repeats those that the machine handed over too late.

use super::analysed::AnalysedCapture;
use super::compare::{
    BURSTY_TOLERANCE_POINTS, ComparedCapture, Judgement, MeasuredRow, SHARE_TOLERANCE_POINTS,
};
use super::keep::write_row_files;
use super::played::{self, Played};
use super::row::{AckWay, TruthRow};
use super::rows;
use super::secured::Secrets;
use super::shares::RowTruth;
use crate::punctual::{Punctual, until_punctual};
use crate::selection::select;
use serde::Serialize;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::PoisonError;

/// The rows that are measured.
#[derive(Clone, Debug)]
pub struct TruthPlan {
    /// The rows.
    pub rows: Vec<TruthRow>,
    /// Folder for captures and `truth.json` of each row.
    pub keep: Option<PathBuf>,
    /// Rows at a time.
    pub jobs: usize,
    /// Seed of random losses and jitter.
    pub seed: u64,
}

/// A row that this machine cannot play.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOutRow {
    /// Its name.
    pub row: String,
    /// The feature that the machine lacks.
    pub why: String,
}

/// All rows.
#[derive(Clone, Debug, Serialize)]
pub struct TruthReport {
    /// Rows that were measured, in their order.
    pub rows: Vec<MeasuredRow>,
    /// Rows that were not.
    pub left_out: Vec<LeftOutRow>,
}

/// Names of all rows.
pub fn row_names() -> Vec<String> {
    rows::all().into_iter().map(|row| row.name).collect()
}

impl TruthReport {
    /// Every row is judged rightly at both ends, and its conditions were as planned.
    pub fn holds(&self) -> bool {
        self.rows.iter().all(|row| row.is_inside() && row.truth.contradictions.is_empty())
    }
}

impl TruthPlan {
    /// All rows, or the quick subset.
    pub fn new(quick: bool) -> Self {
        let mut rows = rows::all();
        rows.retain(|row| row.quick || !quick);
        Self { rows, keep: None, jobs: 1, seed: 1 }
    }

    /// The rows whose names contain one of these texts.
    ///
    /// # Errors
    /// If no row's name contains one of them; the error lists all names.
    pub fn only(mut self, texts: &[String]) -> Result<Self, String> {
        self.rows = select(self.rows, texts, "row", |row| &row.name)?;
        Ok(self)
    }

    /// Measures all rows. `on_row` is called after each, from any thread.
    ///
    /// # Errors
    /// If the machine does not let it ([`crate::cannot_be_had`]), a connection fails, or a file
    /// cannot be written.
    pub fn run(&self, on_row: &(dyn Fn() + Sync)) -> io::Result<TruthReport> {
        let secrets = Secrets::new()?;
        let (rows, left_out) = split_playable(&self.rows);
        let todo = Mutex::new(rows.iter().enumerate());
        let next = || todo.lock().unwrap_or_else(PoisonError::into_inner).next();
        let worker = || {
            let mut done = Vec::new();
            while let Some((n, row)) = next() {
                done.push((n, self.measure(row, &secrets)?));
                on_row();
            }
            io::Result::Ok(done)
        };
        let done = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..self.jobs.max(1)).map(|_| scope.spawn(worker)).collect();
            let join = |worker: std::thread::ScopedJoinHandle<'_, io::Result<Vec<_>>>| {
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            workers.into_iter().map(join).collect::<io::Result<Vec<_>>>()
        })?;
        let mut done: Vec<(usize, MeasuredRow)> = done.into_iter().flatten().collect();
        done.sort_by_key(|(n, _)| *n);
        Ok(TruthReport { rows: done.into_iter().map(|(_, row)| row).collect(), left_out })
    }

    /// Plays a row until it was not late, and has both captures analysed.
    fn measure(&self, row: &TruthRow, secrets: &Secrets) -> io::Result<MeasuredRow> {
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("row {:?}: {error}", row.name));
        let Punctual { measured: played, redone } = until_punctual(
            || played::play_row(row, secrets, self.seed).map_err(named),
            |played| played.recorded.scheduling_delay.p99(),
        )?;
        let truth = RowTruth::of(row, &played);
        let Played { connections, recorded } = played;
        let tolerance = match row.path.acks {
            AckWay::Plain => SHARE_TOLERANCE_POINTS,
            AckWay::Jitter(_) | AckWay::Aggregate(_) => BURSTY_TOLERANCE_POINTS,
        };
        let compared = |capture: &[u8], may_be_unexplained| -> io::Result<ComparedCapture> {
            let found = AnalysedCapture::of(capture.to_vec()).map_err(io::Error::other)?;
            Ok(ComparedCapture::new(&truth, found, Judgement { tolerance, may_be_unexplained }))
        };
        let measured = MeasuredRow {
            row: row.clone(),
            at_server: compared(&recorded.at_server, false)?,
            at_client: compared(&recorded.at_client, true)?,
            truth,
            lateness_p99_s: recorded.scheduling_delay.p99().as_secs_f64(),
            redone,
            connections,
        };
        if let Some(folder) = &self.keep {
            write_row_files(folder, &measured, &recorded)?;
        }
        Ok(measured)
    }
}

/// Rows that this kernel can play, and the others.
fn split_playable(rows: &[TruthRow]) -> (Vec<&TruthRow>, Vec<LeftOutRow>) {
    const CONTROLS: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let there = fs::read_to_string(CONTROLS).unwrap_or_default();
    let lacks = |row: &TruthRow| {
        row.needed_controls().find(|control| !there.split_whitespace().any(|one| one == *control))
    };
    let (mut can, mut cannot) = (Vec::new(), Vec::new());
    for row in rows {
        match lacks(row) {
            None => can.push(row),
            Some(control) => cannot.push(LeftOutRow {
                row: row.name.clone(),
                why: format!("the kernel has no congestion control {control}"),
            }),
        }
    }
    (can, cannot)
}
