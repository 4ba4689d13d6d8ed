//! `headstart lab check agent`: what Linux gains by an agent, and whether that is what is asked of
//! it.

use super::of_machine;
use cmdline::field::{RaceField, installed_agent};
use cmdline::progress::CountBar;
use cmdline::{Appendix, Failure, note, remark, stdout};
use race::World;
use report::{Cell, Column, Quantity, Row, Table};
use testbed::gain::{
    GainCase, GainClaim, GainMeasure, GainPlan, GainTime, GainVerdict, Gains, SimulatedGain,
};
use testbed::{Browser, ServerChoice, ServerProgram, runs_in};

#[derive(Debug, clap::Args)]
pub(super) struct CheckAgentArgs {
    /// Measure hs-cubic with single objects over 20 Mbit/s and 80 ms, and a page whose SYNs are
    /// lost, in about a minute
    #[arg(long)]
    quick: bool,
    /// Measure documents and pages over the paths that people have, beside simulation and a first
    /// window of 32
    ///
    /// The paths are those of `headstart paths`: fibre, cable, DSL, LTE, 5G and Wi-Fi with losses.
    /// Takes twenty minutes.
    #[arg(long, conflicts_with = "quick")]
    presets: bool,
    /// Clients of each scheme in each case, each with two visits [default: 7; 3 with --quick, 5
    /// with --presets]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: Option<u32>,
    /// Web server: builtin, nginx, auto, or the path of an nginx
    #[arg(long, value_name = "SERVER", default_value = "builtin")]
    server: ServerChoice,
    /// Client: loader (as in simulation), or the installed curl
    ///
    /// curl loads single objects over new connections. Pages and idle connections are left out.
    #[arg(long = "client", value_name = "CLIENT", default_value = "loader")]
    browser: Browser,
    /// Print JSON with every sample instead of a table
    #[arg(long)]
    json: bool,
}

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            ("sudo headstart lab check agent --quick", "Measures a part, in about a minute."),
            ("sudo headstart lab check agent", "Measures everything, in about half an hour."),
            (
                "sudo headstart lab check agent --presets",
                "Measures the gains over fibre, cable, DSL, LTE, 5G and Wi-Fi, and compares them with simulation.",
            ),
            (
                "sudo headstart lab check agent --client curl --server nginx",
                "Uses client and server as they are installed.",
            ),
        ],
        notes: NOTES.into(),
        exit: &[
            ("0", "no target is missed"),
            ("1", "a target is missed, or a load failed"),
            ("2", "the input is wrong, or a privilege or headstart-agent is missing"),
        ],
        see_also: &["headstart-agent", "headstart-race"],
        more: &["docs/agent/measurements.md"],
        ..Appendix::default()
    }
}

const NOTES: &str = "\
Targets, as medians:\n\
\x20 repeated visits over new connections   at most 0.80 of linux's time, and less than linux-bbr's\n\
\x20 the same, client offers 1 MB           at most 0.58 of linux's time, and 1.05 of the limit\n\
\x20 200 KB over an idle connection         at most 0.50 of linux's time, and 1.03 of linux-bbr's\n\
\x20 first visits                           at most 1.03 of the time without an agent\n\
\x20 first visits, wide cold start          at most 0.85 of linux's time, and no more packets dropped\n\
\x20 the same over 1 Mbit/s                 at most 1.03 of linux's time, and no more packets dropped\n\
\x20 page whose SYNs overflow a queue       at most 0.50 of linux's time, first and repeated visits\n\
\x20 --presets, no random losses            at most 1.03 of linux's time, first and repeated visits\n\
\x20 --presets, nine of ten gains           time over linux's within 0.05 of simulation, 0.10 for pages\n\n\
`linux` is the kernel's CUBIC, `linux-bbr` its BBR. If the limit itself misses a target, the target is `barred` and does not count \
as missed.\n\n\
It needs root, TUN devices and headstart-agent.";

pub(super) fn run(args: &CheckAgentArgs) -> Result<(), Failure> {
    installed_agent().map_err(Failure::input)?;
    let plan = plan(args)?;
    let field = RaceField::in_worlds(&plan.contenders(), &[World::Kernel]).map_err(of_machine)?;
    let agent = field.agent.ok_or_else(|| Failure::input("no agent"))?;
    let mut present = field.contenders;
    present.retain(|contender| runs_in(contender, World::Kernel));
    let plan = plan.of(&present);
    let progress = CountBar::begin(plan.load_count(), "loads");
    let gains = plan.run(&agent, &|| progress.step());
    progress.end();
    let gains = gains.map_err(of_machine)?;
    match args.json {
        true => stdout::print_json(&gains)?,
        false => print(&gains)?,
    }
    remark(&format!("served by {}, loaded by {}", plan.server.name(), plan.browser.name()));
    match gains.holds() {
        true => Ok(()),
        false => Err(Failure::failed(
            "not all that is asked for was measured; docs/agent/measurements.md says what is known",
        )),
    }
}

fn plan(args: &CheckAgentArgs) -> Result<GainPlan, Failure> {
    let plan = match (args.quick, args.presets) {
        (true, _) => GainPlan::quick(),
        (_, true) => GainPlan::presets(),
        _ => GainPlan::full(),
    };
    let (plan, left_out) = plan.asked_by(&args.browser);
    for (case, why) in left_out {
        note(&format!("without {case}: {}: {why}", args.browser.name()));
    }
    let of_case = |case: &GainCase| case.served_by(&args.server);
    let servers = plan.cases.iter().map(of_case).collect::<Result<Vec<_>, _>>();
    let servers = servers.map_err(|why| Failure::input(format!("--server: {why}")))?;
    let server = servers.into_iter().next().unwrap_or(ServerProgram::Builtin);
    Ok(GainPlan { repeats: args.repeat.unwrap_or(plan.repeats), server, ..plan })
}

fn print(gains: &Gains) -> Result<(), Failure> {
    stdout::print_table(&times(&gains.times))?;
    stdout::print("\n")?;
    stdout::print_table(&claims_table(&gains.claims))?;
    if !gains.simulated.is_empty() {
        stdout::print("\n")?;
        stdout::print_table(&simulated(&gains.simulated))?;
        let agree = gains.simulated.iter().filter(|gain| gain.agrees()).count();
        stdout::print(&format!("\n{agree} of {} gains are as simulated\n", gains.simulated.len()))?;
    }
    let are = |verdict| gains.claims.iter().filter(|claim| claim.verdict == verdict).count();
    stdout::print(&format!(
        "\n{} of {} hold, {} fail, {} are barred by the limit\n",
        are(GainVerdict::Holds),
        gains.claims.len(),
        are(GainVerdict::Fails),
        are(GainVerdict::Barred)
    ))
}

/// Cases of visits, with their schemes.
type Visits<'a> = [&'a str; 4];

/// A table of results of schemes' visits: the results are columns of their own, with a definition
/// each.
fn results_table<'a, const N: usize>(
    figures: [Column; N],
    rows: impl Iterator<Item = (Visits<'a>, [Cell; N])>,
) -> Table {
    let visits = [
        Column::new("load", Quantity::Text, "What was loaded, and how"),
        Column::new("path", Quantity::Text, "Rate, round trip, queue"),
        Column::new("visit", Quantity::Text, "The first, or the repeated one"),
        Column::new("scheme", Quantity::Text, "How the servers send"),
    ];
    let row = |(visits, figures): (Visits<'a>, [Cell; N])| {
        let visits = visits.map(|text| Cell::Text(text.to_owned()));
        Row { cells: visits.into_iter().chain(figures).collect(), is_reference: false }
    };
    let columns = visits.into_iter().chain(figures);
    Table { columns: columns.collect(), rows: rows.map(row).collect() }
}

fn optional_number_cell(value: Option<f64>) -> Cell {
    value.map_or(Cell::Undefined, |value| Cell::Number(value.into()))
}

fn times(times: &[GainTime]) -> Table {
    let figures = [
        Column::new("median", Quantity::Time, "Until all was there"),
        Column::new("min – max", Quantity::Text, "Its extremes"),
        Column::new("limit", Quantity::Time, "What nothing can beat"),
        Column::new("drops", Quantity::Count, "Packets that the link dropped, median"),
        Column::new("redone", Quantity::Count, "Loads repeated because of scheduling delay"),
    ];
    let row = |time: &GainTime| {
        let extremes = time.page_s.map_or(Cell::Undefined, |spread| {
            Cell::Text(format!("{:.0} – {:.0} ms", spread.min * 1e3, spread.max * 1e3))
        });
        [
            optional_number_cell(time.page_s.map(|spread| spread.median)),
            extremes,
            optional_number_cell(Some(time.limit_s)),
            optional_number_cell(time.dropped_packets.map(|spread| spread.median)),
            optional_number_cell(Some(f64::from(time.redone))),
        ]
    };
    let rows = times.iter().map(|time| {
        let visits: Visits<'_> = [&time.load, &time.path, time.visit, &time.scheme];
        (visits, row(time))
    });
    results_table(figures, rows)
}

fn claims_table(claims: &[GainClaim]) -> Table {
    let figures = [
        Column::new("what", Quantity::Text, "Median of times, or packets dropped in all visits"),
        Column::new("measured", Quantity::Text, "Of the scheme"),
        Column::new("beside", Quantity::Text, "Beside whom"),
        Column::new("other", Quantity::Text, "What was measured there"),
        Column::new("ratio", Quantity::Ratio, "What was measured over the other's"),
        Column::new("at most", Quantity::Ratio, "What is asked for"),
        Column::new("limit", Quantity::Ratio, "The limit over the other's median"),
        Column::new("verdict", Quantity::Text, "Whether it is so"),
    ];
    let row = |claim: &GainClaim| {
        let value = |of: Option<f64>| {
            of.map_or(Cell::Undefined, |of| Cell::Text(gain_text(claim.measure, of)))
        };
        [
            Cell::Text(claim.measure.name().to_owned()),
            value(claim.measured),
            Cell::Text(claim.beside.to_owned()),
            value(claim.other),
            optional_number_cell(claim.ratio),
            optional_number_cell(Some(claim.at_most)),
            optional_number_cell(claim.limit_ratio),
            Cell::Text(verdict(claim.verdict).to_owned()),
        ]
    };
    let rows = claims.iter().map(|claim| {
        let visits: Visits<'_> = [&claim.load, &claim.path, claim.visit, &claim.scheme];
        (visits, row(claim))
    });
    results_table(figures, rows)
}

fn simulated(gains: &[SimulatedGain]) -> Table {
    let columns = [
        Column::new("kernel", Quantity::Ratio, "Median time over linux's, in the kernel"),
        Column::new("sim", Quantity::Ratio, "The same in simulation"),
        Column::new("within", Quantity::Ratio, "How far the two may be apart"),
        Column::new("verdict", Quantity::Text, "Whether they are as near"),
    ];
    let row = |gain: &SimulatedGain| {
        let verdict = if gain.agrees() { "agrees" } else { "DIFFERS" };
        let [measured, simulated] = [gain.measured, gain.simulated].map(optional_number_cell);
        [
            measured,
            simulated,
            optional_number_cell(Some(gain.within)),
            Cell::Text(verdict.to_owned()),
        ]
    };
    let rows = gains.iter().map(|gain| {
        let visits: Visits<'_> = [&gain.load, &gain.path, gain.visit, &gain.scheme];
        (visits, row(gain))
    });
    results_table(columns, rows)
}

fn gain_text(measure: GainMeasure, value: f64) -> String {
    match measure {
        GainMeasure::Time => format!("{:.0} ms", value * 1e3),
        GainMeasure::Drops => format!("{value:.0} packets"),
    }
}

const fn verdict(verdict: GainVerdict) -> &'static str {
    match verdict {
        GainVerdict::Holds => "holds",
        GainVerdict::Fails => "FAILS",
        GainVerdict::Barred => "barred",
    }
}
