//! Several races that differ in one option or in the page: runs them, and shows the gains over the
//! first one.

use super::raced::{self, Raced};
use super::races::RaceOfRun;
use super::variants::{PAGE, RaceCommand, Variant};
use super::{announced, page, page_changes, remarks, table};
use cmdline::progress::{CommandWatch, TerminalWatch};
use cmdline::{Failure, note, remark, stdout};
use race::{
    BASELINE, LIMIT_WITHOUT_HANDSHAKE, RaceComparison, RaceMetric, RaceOfVariant, RaceResult,
    RaceVariant, SchemeResult, VisitKind, World,
};
use report::{CausesRow, MilestoneCells, RaceRow, Table, VariantRow, seconds};
use std::collections::BTreeSet;
use std::path::Path;
use workload::PageMilestone;

/// Runs the variants one after another, and shows them side by side.
pub(super) fn run(command: &RaceCommand, races: &[Vec<RaceOfRun>]) -> Result<(), Failure> {
    let args = command.args();
    let raced = race_all(command, races, &TerminalWatch::default())?;
    let comparison = comparison(command, races, &raced);
    match args.json {
        true => stdout::print_json(&comparison)?,
        false => print(&with_file_names(comparison.clone()), races)?,
    }
    let Remarks { facts, notes } = remarks_on(command, &raced);
    facts.iter().for_each(|fact| remark(fact));
    notes.iter().for_each(|one| note(one));
    check_loads(command, &raced, &comparison)
}

/// Remarks on races that are over, each once.
pub(super) struct Remarks {
    /// Facts about the races.
    pub(super) facts: Vec<String>,
    /// Notes on the results.
    pub(super) notes: Vec<String>,
}

/// The remarks on the race of each variant.
pub(super) fn remarks_on(command: &RaceCommand, raced: &[Raced]) -> Remarks {
    let (facts, notes): (Vec<Vec<String>>, Vec<Vec<String>>) = command
        .variants
        .iter()
        .zip(raced)
        .map(|(variant, raced)| {
            (remarks::remarks_after_run(&variant.args, raced), remarks::on_result(raced))
        })
        .unzip();
    Remarks { facts: without_repeats(command, &facts), notes: without_repeats(command, &notes) }
}

/// Runs the variants one after another. Each result has the notes on it, and `watch` gets those on
/// the races before they start.
pub(super) fn race_all(
    command: &RaceCommand,
    races: &[Vec<RaceOfRun>],
    watch: &dyn CommandWatch,
) -> Result<Vec<Raced>, Failure> {
    refuse_files(command)?;
    let variants = || command.variants.iter().zip(races);
    let notes = variants().map(|(variant, races)| {
        let mut notes = announced(&variant.args, races)?;
        notes.extend(on_runs(command, variant, races));
        Ok(notes)
    });
    let notes = notes.collect::<Result<Vec<_>, Failure>>()?;
    without_repeats(command, &notes).iter().for_each(|one| watch.note(one));
    let mut raced = Vec::new();
    for ((variant, races), notes) in variants().zip(notes) {
        let mut one = raced::as_far_as_possible(&variant.args, races, watch)?;
        let servers: Vec<String> = one.other_servers.iter().cloned().collect();
        servers.iter().for_each(|sentence| watch.note(sentence));
        one.result.notes = [notes, servers, remarks::on_result(&one)].concat();
        raced.push(one);
    }
    Ok(raced)
}

/// Fails if a load did not complete, or if the last variant exceeds the budget.
pub(super) fn check_loads(
    command: &RaceCommand,
    raced: &[Raced],
    comparison: &RaceComparison,
) -> Result<(), Failure> {
    for (variant, raced) in command.variants.iter().zip(raced) {
        let of_variant = |failure: Failure| {
            Failure::failed(format!("{}: {}", variant_label(command, variant), failure.why()))
        };
        remarks::fail_if_incomplete(raced).map_err(of_variant)?;
    }
    command.args().judge_last(comparison)
}

/// Figures and captures are those of one race.
fn refuse_files(command: &RaceCommand) -> Result<(), Failure> {
    let args = command.args();
    let asked = [("--report", args.report.is_some()), ("--pcap", args.pcap.is_some())];
    match asked.into_iter().find(|(_, is_asked)| *is_asked) {
        Some((option, _)) => Err(Failure::input(format!(
            "{option} shows one race, and {} has several values: leave {option} out, or name one value",
            command.varied.as_deref().unwrap_or_default()
        ))),
        None => Ok(()),
    }
}

/// Remarks of all variants. A remark on some of them begins with the variant's name.
fn without_repeats(command: &RaceCommand, remarks: &[Vec<String>]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for (variant, own) in command.variants.iter().zip(remarks) {
        for remark in own {
            let is_shared = remarks.iter().all(|other| other.contains(remark));
            let of = match is_shared {
                true => String::new(),
                false => format!("{}: ", variant_label(command, variant)),
            };
            let line = format!("{of}{remark}");
            if !notes.contains(&line) {
                notes.push(line);
            }
        }
    }
    notes
}

fn variant_label(command: &RaceCommand, variant: &Variant) -> String {
    variant_name(command.varied.as_deref().unwrap_or_default(), &variant.value)
}

/// The name of a variant, like `http 2`; a page has its own.
fn variant_name(varied: &str, value: &str) -> String {
    match varied {
        PAGE => value.to_owned(),
        option => format!("{option} {value}"),
    }
}

pub(super) fn comparison(
    command: &RaceCommand,
    races: &[Vec<RaceOfRun>],
    raced: &[Raced],
) -> RaceComparison {
    let results = raced.iter().map(|raced| raced.result.clone());
    let pages = races.iter().map(|runs| runs.iter().map(|run| &*run.race.page).collect());
    let variants = command.variants.iter().map(|variant| variant.value.clone());
    let variants = variants.zip(results).zip(pages);
    let variants = variants.map(|((value, result), pages)| RaceOfVariant { value, result, pages });
    RaceComparison::new(command.varied.clone().unwrap_or_default(), variants.collect())
}

/// A note on the runs that the gains of a variant are over.
fn on_runs(command: &RaceCommand, variant: &Variant, races: &[RaceOfRun]) -> Option<String> {
    if !command.compares_pages() {
        return remarks::on_runs(&variant.args, races);
    }
    if !page::is_recording(&variant.args.page) {
        return None;
    }
    Some(match races.len() {
        1 => "one run of a page: intervals cover chance on the path, not how servers and pages vary between runs; record \
              each page several times, and compare them with --har-page all"
            .to_owned(),
        runs => format!(
            "times are medians of {runs} runs; gains compare each run of a page with each run of the first page"
        ),
    })
}

/// The same comparison, with files without their folders if that leaves different names.
fn with_file_names(mut comparison: RaceComparison) -> RaceComparison {
    let file = |one: &RaceVariant| Some(Path::new(&one.value).file_name()?.to_str()?.to_owned());
    let names = comparison.variants.iter().map(file).collect::<Option<Vec<String>>>();
    let names = names.filter(|names| {
        comparison.varied == PAGE && BTreeSet::from_iter(names).len() == names.len()
    });
    for (variant, name) in comparison.variants.iter_mut().zip(names.into_iter().flatten()) {
        variant.value = name;
    }
    comparison
}

/// The comparison in words, and its tables.
fn print(comparison: &RaceComparison, races: &[Vec<RaceOfRun>]) -> Result<(), Failure> {
    if let Some(sentence) = linux_summary(comparison) {
        stdout::print(&format!("{sentence}\n\n"))?;
    }
    for variant in &comparison.variants {
        page_changes::print(&comparison.variants[0], variant)?;
    }
    stdout::print_table(&table_of(comparison))?;
    let (rows, varied) = (variant_rows(comparison), &comparison.varied);
    let end = comparison.variants[0].result.until.name();
    let has_several = |run: &RaceOfRun| run.race.page.objects().len() > 1;
    if races.iter().flatten().any(has_several) {
        stdout::print("\n")?;
        stdout::print_table(&Table::compared_milestones(&rows, varied))?;
    }
    let causes: Option<Vec<CausesRow>> = comparison.variants.iter().map(causes_row).collect();
    let Some(causes) = causes else { return Ok(()) };
    stdout::print(&format!("\nThe time of {BASELINE} by its causes:\n\n"))?;
    stdout::print_table(&Table::causes(&causes, varied, end))
}

/// The times of each scheme, variant by variant.
pub(super) fn table_of(comparison: &RaceComparison) -> Table {
    let end = comparison.variants[0].result.until.name();
    Table::comparison(&variant_rows(comparison), &comparison.varied, end)
}

/// The first visits by `linux`, in the first world that has them.
fn linux(result: &RaceResult) -> Option<&SchemeResult> {
    World::ALL.into_iter().find_map(|world| result.row(BASELINE, world, VisitKind::First))
}

/// The times under `linux` in words; none if a load did not end.
pub(super) fn linux_summary(comparison: &RaceComparison) -> Option<String> {
    let (first, others) = comparison.variants.split_first()?;
    let varied = &comparison.varied;
    let time = linux(&first.result)?.median(RaceMetric::PageSeconds)?;
    let runs = most_runs(comparison);
    let others = others.iter().map(|other| {
        let gain = table::median_or_extremes(other.gain(linux(&other.result)?)?.gain?, runs);
        Some(format!("with {}: {}", variant_name(varied, &other.value), gain.gain_in_words()))
    });
    let others = others.collect::<Option<Vec<_>>>()?.join("; ");
    Some(format!(
        "Under {BASELINE} a load takes {} ({}) with {}; {others}.",
        seconds(time),
        first.result.until,
        variant_name(varied, &first.value)
    ))
}

/// The lines of each scheme, variant by variant. The limit without handshakes has none.
fn variant_rows(comparison: &RaceComparison) -> Vec<VariantRow> {
    let known = common_milestones(comparison);
    let runs = most_runs(comparison);
    let lines: Vec<Vec<(&SchemeResult, RaceRow)>> = comparison
        .variants
        .iter()
        .map(|one| one.result.schemes.iter().zip(table::result_rows(&one.result)).collect())
        .collect();
    let key = |row: &SchemeResult| (row.name.clone(), row.world, row.visit);
    let schemes = comparison.variants[0].result.schemes.iter();
    let schemes = schemes.filter(|row| row.name != LIMIT_WITHOUT_HANDSHAKE);
    let of_scheme = |first: &SchemeResult| {
        let own = comparison.variants.iter().zip(&lines).enumerate();
        let own = own.filter_map(|(n, (variant, lines))| {
            let (row, line) = lines.iter().find(|(row, _)| key(row) == key(first))?;
            Some(VariantRow {
                variant: variant.value.clone(),
                is_first: n == 0,
                row: over_first(line, row, variant, &known, runs),
            })
        });
        own.collect::<Vec<_>>()
    };
    schemes.flat_map(of_scheme).collect()
}

/// The number of runs of the page that has most of them.
fn most_runs(comparison: &RaceComparison) -> usize {
    comparison.variants.iter().map(|one| one.result.runs.len()).max().unwrap_or(1)
}

/// The milestones that all pages know.
fn common_milestones(comparison: &RaceComparison) -> Vec<PageMilestone> {
    let is_known = |milestone: &PageMilestone| {
        let mut rows = comparison.variants.iter().flat_map(|one| &one.gains);
        rows.all(|gain| gain.milestones.iter().any(|(known, _)| known == milestone))
    };
    PageMilestone::ALL.into_iter().filter(is_known).collect()
}

/// A line of a race, with gains over the first variant.
fn over_first(
    line: &RaceRow,
    row: &SchemeResult,
    variant: &RaceVariant,
    known: &[PageMilestone],
    runs: usize,
) -> RaceRow {
    let shown = |spread| table::median_or_extremes(spread, runs);
    let gain = variant.gain(row);
    let at = |milestone: &PageMilestone| {
        let gains = gain.map_or(&[][..], |gain| &gain.milestones);
        gains.iter().find(|(at, _)| at == milestone)?.1
    };
    let milestone = |milestone: &PageMilestone| MilestoneCells {
        name: milestone.name().to_owned(),
        time_s: row.time_to(*milestone).map(shown),
        gain: at(milestone).map(shown),
    };
    RaceRow {
        gain: gain.and_then(|gain| gain.gain).map(shown),
        milestones: known.iter().map(milestone).collect(),
        ..line.clone()
    }
}

/// The time of each cause under `linux`; `None` if it is not known of every load.
fn causes_row(variant: &RaceVariant) -> Option<CausesRow> {
    let row = linux(&variant.result)?;
    let (shares, page_s) = (row.bounds?, row.median(RaceMetric::PageSeconds)?);
    let causes = shares.iter().map(|(cause, share)| (cause.name().to_owned(), share * page_s));
    Some(CausesRow { variant: variant.value.clone(), page_s, causes: causes.collect() })
}
