//! Makes the runs that claims need, each once, spread over threads.
//!
//! Results do not depend on the number of threads: runs are independent of one another, and their
//! readings are put together in the order of the plans.

use super::book::{Book, ExperimentRecord, RecordCell};
use super::choices::{self, EditedPlan};
use super::claim::{Experiment, How, PaperClaim};
use super::error::PapersError;
use super::reading::{Readings, RunRecords};
use super::site::{self, LogMorning, ShiftSize};
use experiment::plan::{Coordinate, Plan, Run};
use rayon::prelude::*;
use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

/// One experiment and its runs that are to be made.
struct Job<'t> {
    experiment: &'static Experiment,
    /// The plan as it stands, which says where cells are.
    plan: Plan<'t>,
    /// The plan under a reading, which is run instead of the plan.
    edited: Option<Plan<'t>>,
    /// Variants of the figures of its runs that replace the plain ones under the reading.
    variants: &'t [String],
    /// Made beside the plan as it stands, for the chosen reading.
    chosen: bool,
    /// Cells that remain, and repeats of each.
    cells: Vec<usize>,
    repeats: u32,
}

/// The runs that claims need.
pub struct PreparedRuns<'t> {
    jobs: Vec<Job<'t>>,
    /// Captures beside a busy server, with their seeds.
    shifts: Vec<(ShiftSize, u64)>,
    /// Mornings of a busy site's log.
    mornings: Vec<LogMorning>,
    /// A part of each experiment.
    quick: bool,
}

impl<'t> PreparedRuns<'t> {
    /// Creates the experiments of `claims`, each once, and again under the reading that was chosen
    /// of the paper; a part of each if it is to be quick.
    ///
    /// # Errors
    /// If a plan is wrong.
    pub fn new(claims: &[&PaperClaim], quick: bool) -> Result<Self, PapersError> {
        let mut jobs: Vec<Job<'t>> = Vec::new();
        for experiment in claims.iter().flat_map(|claim| claim.experiments()) {
            if !jobs.iter().any(|job| job.experiment.name == experiment.name) {
                jobs.push(Job::new(experiment, experiment.plan, quick)?);
            }
        }
        for chosen in choices::chosen_plans()?.iter().filter(|plan| plan.changed) {
            if jobs.iter().any(|job| job.experiment.name == chosen.experiment.name) {
                jobs.push(Job { chosen: true, ..Job::experiment_under(chosen, quick)? });
            }
        }
        let any = |needs: fn(&How) -> bool| claims.iter().any(|claim| needs(&claim.how));
        let captures = any(|how| matches!(how, How::Site(_)));
        let logs = any(|how| matches!(how, How::Log(_)));
        let shifts = if captures { site::all_shifts(quick) } else { Vec::new() };
        let mornings = if logs { site::mornings(quick) } else { Vec::new() };
        Ok(Self { jobs, shifts, mornings, quick })
    }

    /// Returns the experiments of `claims` under a reading: `plans` are theirs, and only the cells
    /// that results are read from are run.
    ///
    /// # Errors
    /// If a plan is wrong.
    pub fn under(
        claims: &[&PaperClaim],
        plans: &'t [EditedPlan],
        quick: bool,
    ) -> Result<Self, PapersError> {
        let needed = |plan: &&EditedPlan| {
            let mut own = claims.iter().flat_map(|claim| claim.experiments());
            own.any(|experiment| experiment.name == plan.experiment.name)
        };
        let jobs = plans.iter().filter(needed).map(|plan| Job::experiment_under(plan, quick));
        let jobs = jobs.collect::<Result<_, _>>()?;
        Ok(Self { jobs, shifts: Vec::new(), mornings: Vec::new(), quick })
    }

    /// Returns the same without simulated captures: the user gives real ones ([`Book::give_site`]).
    #[must_use]
    pub fn with_captures_given(self) -> Self {
        Self { shifts: Vec::new(), ..self }
    }

    /// Returns the same without simulated logs: the user gives a real one ([`Book::give_log`]).
    #[must_use]
    pub fn with_log_given(self) -> Self {
        Self { mornings: Vec::new(), ..self }
    }

    /// Returns the number of runs.
    pub fn len(&self) -> usize {
        self.jobs.iter().map(Job::len).sum::<usize>() + self.shifts.len() + self.mornings.len()
    }

    /// Returns true if nothing has to be run.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes the runs on `threads` threads (0: as many as there are cores), calling `done` after
    /// each from any of them.
    ///
    /// # Errors
    /// If a run does not end as its plan says.
    pub fn run(&self, threads: usize, done: &(dyn Fn() + Sync)) -> Result<Book, PapersError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| PapersError(format!("no threads: {error}")))?;
        let all = self.jobs.iter().flat_map(|job| (0..job.len()).map(move |nth| (job, nth)));
        let all: Vec<(&Job<'_>, usize)> = all.collect();
        let one = |(job, nth): &(&Job<'_>, usize)| {
            let readings = job.read(*nth);
            done();
            readings
        };
        let readings: Result<Vec<Readings>, PapersError> =
            pool.install(|| all.par_iter().with_max_len(1).map(one).collect());
        let mut readings = readings?.into_iter();
        let mut book = Book::new(self.quick);
        for job in &self.jobs {
            let record = job.record(&mut readings);
            match job.chosen {
                true => book.add_chosen(job.experiment.name, record),
                false => book.add(job.experiment.name, record),
            }
        }
        let found = pool
            .install(|| run_all(&self.shifts, |(size, seed)| site::run_shift(*size, *seed), done));
        found?.into_iter().for_each(|found| book.add_site(found));
        let found = pool.install(|| run_all(&self.mornings, |morning| morning.run(), done));
        found?.into_iter().for_each(|found| book.add_log(found));
        Ok(book)
    }
}

/// Runs each of `all`, in the order of all.
fn run_all<J: Sync, F: Send>(
    all: &[J],
    run: impl Fn(&J) -> Result<F, String> + Sync,
    done: &(dyn Fn() + Sync),
) -> Result<Vec<F>, PapersError> {
    let one = |job: &J| {
        let found = run(job);
        done();
        found
    };
    let found: Result<Vec<F>, String> = all.par_iter().with_max_len(1).map(one).collect();
    found.map_err(PapersError)
}

impl<'t> Job<'t> {
    /// Creates the runs of an experiment. A quick one has fewer repeats and cells.
    fn new(
        experiment: &'static Experiment,
        text: &'t str,
        quick: bool,
    ) -> Result<Self, PapersError> {
        let plan = read(experiment, text)?;
        let all = 0..plan.cell_count();
        let (cells, repeats) = match quick {
            false => (all.collect(), plan.repeats()),
            true => {
                let remain = |cell: &usize| is_kept(experiment, &plan.coordinates(*cell));
                (all.filter(remain).collect(), plan.repeats().min(experiment.quick.repeats))
            }
        };
        Ok(Self { experiment, plan, edited: None, variants: &[], chosen: false, cells, repeats })
    }

    /// Returns a plan under a reading, of which only the cells that results are read from are run.
    fn experiment_under(edited: &'t EditedPlan, quick: bool) -> Result<Self, PapersError> {
        let mut job = Self::new(edited.experiment, &edited.plain, quick)?;
        let plan = &job.plan;
        job.cells.retain(|cell| edited.is_judged(&plan.coordinates(*cell)));
        if edited.changed {
            job.edited = Some(read(edited.experiment, &edited.text)?);
            job.variants = &edited.variants;
        }
        Ok(job)
    }

    fn len(&self) -> usize {
        self.cells.len() * self.repeats as usize
    }

    /// Returns the `nth` run of those to be made.
    fn run_of(&self, nth: usize) -> Run {
        let repeats = self.repeats as usize;
        let first = self.cells[nth / repeats] * self.plan.repeats() as usize;
        self.plan.run(first + nth % repeats)
    }

    /// Makes the `nth` run and returns its figures; an error names the run.
    fn read(&self, nth: usize) -> Result<Readings, PapersError> {
        let run = self.run_of(nth);
        self.run_one(&run).map_err(|why| {
            let place = self.plan.coordinates(run.cell).into_iter();
            let place: Vec<_> = place.map(|c| format!("{}={}", c.key, c.value)).collect();
            let name = self.experiment.name;
            PapersError(format!("{name}, {}, repeat {}: {why}", place.join(" "), run.repeat))
        })
    }

    /// Makes a run and returns its figures, with the variants that the reading asks for.
    fn run_one(&self, run: &Run) -> Result<Readings, String> {
        let plan = self.edited.as_ref().unwrap_or(&self.plan);
        let mut readings = readings_of(plan, run, self.experiment.read)?;
        match self.variants.iter().find(|variant| !readings.stand_in(variant)) {
            Some(variant) => {
                Err(format!("the reading asks for figures \"{variant}\", and there are none"))
            }
            None => Ok(readings),
        }
    }

    /// Returns its record, whose readings come next.
    fn record(&self, readings: &mut impl Iterator<Item = Readings>) -> ExperimentRecord {
        let repeats = self.repeats as usize;
        let cell = |cell: &usize| {
            let coordinates = self.plan.coordinates(*cell);
            let edited = self.edited.as_ref().map(|edited| edited.coordinates(*cell));
            RecordCell {
                run_at: run_at(&coordinates, &edited.unwrap_or_default()),
                coordinates,
                repeats: readings.by_ref().take(repeats).collect(),
            }
        };
        ExperimentRecord { cells: self.cells.iter().map(cell).collect() }
    }
}

/// Returns the values of a plan's keys at a cell as a reading has edited them; a key that it has
/// taken from its axis keeps its value.
fn run_at(plain: &[Coordinate], edited: &[Coordinate]) -> Vec<Coordinate> {
    let of = |own: &Coordinate| edited.iter().find(|c| c.key == own.key).unwrap_or(own).clone();
    plain.iter().map(of).collect()
}

/// Reads the plan of an experiment, or its edited version under a reading.
fn read<'p>(experiment: &Experiment, text: &'p str) -> Result<Plan<'p>, PapersError> {
    let file = format!("plans/papers/{}.toml", experiment.name);
    let no_files = |name: &str| Err(format!("{name}: plans of claims name no files"));
    Plan::read(&file, text, &no_files).map_err(|error| PapersError(error.to_string()))
}

/// Makes one run of a plan: its metrics, and the figures that `read` adds to them.
///
/// # Errors
/// If it does not end as the plan says.
pub(crate) fn readings_of(
    plan: &Plan<'_>,
    run: &Run,
    read: fn(&RunRecords<'_>, &mut Readings),
) -> Result<Readings, String> {
    let (flows, packets) = (Memory::default(), Memory::default());
    let mut output = |name: &str| -> io::Result<Box<dyn Write>> {
        match name {
            "flows.csv" => Ok(Box::new(flows.clone())),
            "packets.csv" => Ok(Box::new(packets.clone())),
            _ => Ok(Box::new(io::sink())),
        }
    };
    let result = plan.execute(run, &mut output, &AtomicBool::new(false));
    let result = result.map_err(|error| error.to_string())?;
    let mut readings = Readings::of(&result);
    let (flows, packets) = (flows.0.borrow(), packets.0.borrow());
    let rows = csv::Reader::from_reader(flows.as_slice()).into_deserialize();
    let flows = rows.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    let records = RunRecords { result: &result, flows, packets: &packets };
    read(&records, &mut readings);
    Ok(readings)
}

/// Returns true if a cell at these coordinates remains in a quick run.
fn is_kept(experiment: &Experiment, coordinates: &[Coordinate]) -> bool {
    let kept = |c: &Coordinate| {
        let axis = experiment.quick.keep.iter().find(|(key, _)| *key == c.key);
        axis.is_none_or(|(_, values)| values.contains(&c.value.as_str()))
    };
    coordinates.iter().all(kept)
}

/// A file in memory.
#[derive(Clone, Default)]
struct Memory(Rc<RefCell<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
