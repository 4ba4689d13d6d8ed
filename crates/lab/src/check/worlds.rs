//! `headstart lab check worlds`: do simulation, endpoint and kernel agree?

use super::of_machine;
use cmdline::field::installed_agent;
use cmdline::progress::CountBar;
use cmdline::{Appendix, Failure, stdout};
use link::path::PathSpec;
use report::{Cell, Column, Quantity, Row, Table};
use std::path::PathBuf;
use tcp::Scheme;
use testbed::agreement::{
    self, AGENT_SCHEMES, Agreement, AgreementLoad, AgreementVerdict, Grid, LINUX_SCHEMES,
    SchemeCount,
};
use testbed::{Contender, ServerChoice, ServerProgram};
use units::counted;
use workload::ServerModel;

#[derive(Debug, clap::Args)]
pub(super) struct CheckWorldsArgs {
    /// Measure a part of the grid, in about a minute
    #[arg(long)]
    quick: bool,
    /// Schemes, separated by commas (`headstart schemes`) [default: linux, linux-bbr and
    /// linux-reno]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', value_parser = parse_scheme)]
    schemes: Vec<Scheme>,
    /// Compare every scheme in simulation and by headstart's own TCP, on three of the paths
    ///
    /// One path has 5 Mbit/s and 80 ms with a queue of one bandwidth-delay product. One has 20
    /// Mbit/s and 20 ms with half a product, and one 100 Mbit/s and 200 ms with one. The table
    /// shows the cells that are not inside, and sums by scheme.
    #[arg(long, conflicts_with_all = ["schemes", "quick"])]
    every_scheme: bool,
    /// Compare Linux with the agent, first and repeated visits, over the paths of `check agent`
    ///
    /// The schemes are hs-cubic, hs-bbr and hs-session, unless --schemes names others. Single
    /// objects and pages are loaded three times over new connections, single objects also over
    /// connections that were idle for two seconds.
    #[arg(long, conflicts_with_all = ["every_scheme", "quick"])]
    agent: bool,
    /// Measure this load alone, as it is named in the table; may be repeated
    #[arg(long, value_name = "LOAD")]
    load: Vec<String>,
    /// Measure this path alone, as it is written in the table; may be repeated
    #[arg(long, value_name = "PATH")]
    path: Vec<PathSpec>,
    /// Keep captures of the first load of each cell in each world, by load and path
    ///
    /// A folder for each load and path has the captures of `race --pcap`: at the client and at the
    /// host in real worlds, before and behind each link in simulation.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pcap: Option<PathBuf>,
    /// Loads of each cell in each real world [default: 7; 3 with --quick or --every-scheme; 1 with
    /// --agent]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: Option<u32>,
    /// Loads more, in all worlds, of a cell that is not inside by the first ones [default: 0; 6
    /// with --agent]
    ///
    /// If a load takes another course in one case of six, several loads show that, and one does
    /// not. All loads count.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000))]
    more: Option<u32>,
    /// Cells measured at a time; if the machine is too slow for them, the scheduling delay grows
    ///
    /// Not with --agent: the kernel has one congestion control of a name, so agents run one at a
    /// time.
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "agent", value_parser = clap::value_parser!(u16).range(1..=64))]
    jobs: u16,
    /// Web server in the world `kernel`: builtin, nginx, auto, or the path of an nginx
    #[arg(long, value_name = "SERVER", default_value = "builtin")]
    server: ServerChoice,
    /// Web server that simulated servers write as: builtin or nginx [default: builtin]
    #[arg(long, value_name = "MODEL", default_value_t = ServerModel::Builtin, hide_default_value = true)]
    server_model: ServerModel,
    /// Print JSON with every sample instead of a table
    #[arg(long)]
    json: bool,
}

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            (
                "sudo headstart lab check worlds --quick",
                "Measures a part of the grid, in about a minute.",
            ),
            (
                "sudo headstart lab check worlds --schemes linux --repeat 15",
                "Measures one scheme more often.",
            ),
            (
                "sudo headstart lab check worlds --agent",
                "Compares what the agent does in the kernel with what its schemes do elsewhere.",
            ),
            (
                "sudo headstart lab check worlds --agent --load '30 KB after idle' --repeat 21 --pcap captures",
                "Looks closer at one load, over all paths.",
            ),
            (
                "sudo headstart lab check worlds --every-scheme",
                "Compares all schemes in simulation and by headstart's own TCP.",
            ),
        ],
        notes: NOTES.into(),
        exit: &[
            ("0", "the worlds agree"),
            ("1", "they do not, or a load failed"),
            ("2", "the input is wrong, or a privilege is missing"),
        ],
        see_also: &["headstart-race"],
        more: &["docs/worlds.md", "docs/validation/three-worlds.md"],
        ..Appendix::default()
    }
}

const NOTES: &str = "\
`wire` agrees if nine of ten cells are within 3 % of simulation and all cells are within 10 %. `kernel` agrees if nine of ten \
cells are within 5 %, or between the kernel's own fastest and slowest load, and all cells are within 15 %. A cell is inside, too, if both worlds take the same \
courses about as often, by seven clients or more. Cells of all schemes count together. The sums by scheme show where the differences are, and decide nothing.\n\n\
A load is repeated, and listed as redone, if more than one in a hundred of its packets were handed over more than 1 ms late. A cell whose \
longest of 21 simulated loads is more than 1.05 times the shortest is loaded three times as often. With --agent each load is three \
visits of a client, and a cell that is not inside after the first client is measured with six more; all of them count.\n\n\
It needs root and TUN devices.";

fn parse_scheme(name: &str) -> Result<Scheme, String> {
    Scheme::parse(name).map_err(|error| error.to_string())
}

pub(super) fn run(args: &CheckWorldsArgs) -> Result<(), Failure> {
    let grid = grid(args)?;
    let plan = grid.plan().map_err(Failure::failed)?;
    let progress = CountBar::begin(plan.load_count(), "loads");
    let agreement = plan.run(&|| progress.step());
    progress.end();
    let agreement = agreement.map_err(of_machine)?;
    match args.json {
        true => stdout::print_json(&agreement)?,
        false => print(&agreement, args.every_scheme)?,
    }
    match agreement.holds() {
        true => Ok(()),
        false => {
            Err(Failure::failed("the worlds do not agree; docs/validation.md says what is known"))
        }
    }
}

fn grid(args: &CheckWorldsArgs) -> Result<Grid, Failure> {
    let default = if args.agent { AGENT_SCHEMES } else { LINUX_SCHEMES };
    let schemes = match args.schemes.is_empty() {
        true => default.map(Scheme::parse).into_iter().collect::<Result<_, _>>(),
        false => Ok(args.schemes.clone()),
    };
    let schemes = schemes.map_err(Failure::input)?;
    if !args.agent {
        refuse_agents(&schemes)?;
    }
    let grid = match args {
        CheckWorldsArgs { agent: true, .. } => {
            Grid::of_agent(schemes, installed_agent().map_err(Failure::input)?)
        }
        CheckWorldsArgs { every_scheme: true, .. } => Grid::every_scheme(),
        CheckWorldsArgs { quick: true, .. } => Grid::quick(schemes),
        _ => Grid::full(schemes),
    };
    let grid = grid.only(&args.load, &args.path).map_err(Failure::input)?;
    let repeats = args.repeat.unwrap_or(grid.repeats);
    let server = server(&args.server, &grid)?;
    let jobs = args.jobs.into();
    let captures = args.pcap.clone();
    let more = args.more.unwrap_or(grid.more);
    let grid = Grid { repeats, more, jobs, server, captures, ..grid };
    Ok(grid.with_server_model(args.server_model))
}

/// The kernel runs some schemes by an agent alone.
fn refuse_agents(schemes: &[Scheme]) -> Result<(), Failure> {
    let takes_agent = |scheme: &&Scheme| Contender::new((*scheme).clone()).agent().is_some();
    match schemes.iter().find(takes_agent) {
        None => Ok(()),
        Some(scheme) => Err(Failure::input(format!(
            "{}: the kernel runs this scheme by the agent; add --agent",
            scheme.name()
        ))),
    }
}

/// One that serves all that is loaded.
fn server(choice: &ServerChoice, grid: &Grid) -> Result<ServerProgram, Failure> {
    let of_load = |load: &AgreementLoad| choice.serve(&load.page, &load.loader);
    let servers = grid.loads.iter().map(of_load).collect::<Result<Vec<_>, _>>();
    let servers = servers.map_err(|why| Failure::input(format!("--server: {why}")))?;
    Ok(servers.into_iter().last().map_or(ServerProgram::Builtin, |(server, _)| server))
}

/// All cells, or those alone that are not inside; the sums under them.
fn print(agreement: &Agreement, in_short: bool) -> Result<(), Failure> {
    let shown =
        |cell: &&agreement::AgreementCell| !in_short || cell.verdict != AgreementVerdict::Inside;
    let cells: Vec<&agreement::AgreementCell> = agreement.cells.iter().filter(shown).collect();
    if !cells.is_empty() {
        stdout::print_table(&cells_table(&cells))?;
        stdout::print("\n")?;
    }
    stdout::print_table(&sums(&agreement.schemes))?;
    for count in &agreement.worlds {
        stdout::print(&format!(
            "\n{}: {} of {} inside, {} outside ({} of these where times overlap): {}\n",
            count.world,
            count.inside,
            counted(count.cells, "cell"),
            count.outside,
            count.met,
            if count.agrees { "agrees" } else { "does not agree" },
        ))?;
    }
    stdout::print(&format!("\n{RULE}\n"))
}

/// Rule of agreement, with its scope.
const RULE: &str = "A world agrees if nine of ten of its cells, of all schemes together, are inside and none is outside.\n\
     The sums by scheme show where the differences are; they decide nothing.";

fn sums(schemes: &[SchemeCount]) -> Table {
    let columns = [
        Column::new("scheme", Quantity::Text, "How the servers send"),
        Column::new("world", Quantity::Text, "Beside which world"),
        Column::new("cells", Quantity::Count, "All of them"),
        Column::new("inside", Quantity::Count, "Within the first bound"),
        Column::new("outside", Quantity::Count, "Beyond the second"),
        Column::new("worst", Quantity::Gain, "The difference furthest from zero"),
    ];
    let number = |n: usize| Cell::Number((n as f64).into());
    let row = |SchemeCount { scheme, count, worst }: &SchemeCount| Row {
        cells: vec![
            Cell::Text(scheme.clone()),
            Cell::Text(count.world.to_owned()),
            number(count.cells),
            number(count.inside),
            number(count.outside),
            worst.map_or(Cell::Undefined, |by| Cell::Number(by.into())),
        ],
        is_reference: false,
    };
    Table { columns: columns.into(), rows: schemes.iter().map(row).collect() }
}

fn cells_table(cells: &[&agreement::AgreementCell]) -> Table {
    let columns = [
        Column::new("load", Quantity::Text, "What was loaded"),
        Column::new("path", Quantity::Text, "Rate, round trip, queue"),
        Column::new(
            "visit",
            Quantity::Text,
            "The first, or the repeated ones, and over which connections",
        ),
        Column::new("scheme", Quantity::Text, "How the servers send"),
        Column::new("world", Quantity::Text, "Beside which world"),
        Column::new("sim", Quantity::Time, "Simulated, median"),
        Column::new("min – max", Quantity::Text, "Its extremes over seeds"),
        Column::new("real", Quantity::Time, "Measured, median"),
        Column::new("min – max", Quantity::Text, "Its extremes"),
        Column::new("difference", Quantity::Gain, "Simulated over measured, less one"),
        Column::new("drops", Quantity::Text, "Dropped packets: simulated / measured, medians"),
        Column::new("redone", Quantity::Count, "Loads repeated because of scheduling delay"),
        Column::new("verdict", Quantity::Text, "Whether they agree"),
    ];
    Table { columns: columns.into(), rows: cells.iter().map(|cell| cell_row(cell)).collect() }
}

fn visit(cell: &agreement::AgreementCell) -> String {
    match cell.visit {
        "first" => cell.visit.to_owned(),
        _ => format!("{}, {} connections", cell.visit, cell.over),
    }
}

fn cell_row(cell: &agreement::AgreementCell) -> Row {
    let number = |value: Option<f64>| value.map_or(Cell::Undefined, |v| Cell::Number(v.into()));
    let spread = |(min, max): (f64, f64)| format!("{:.0} – {:.0} ms", min * 1e3, max * 1e3);
    let drops = cell.sim_drops.zip(cell.real_drops);
    let text = |text: Option<String>| text.map_or(Cell::Undefined, Cell::Text);
    Row {
        cells: vec![
            Cell::Text(cell.load.clone()),
            Cell::Text(cell.path.clone()),
            Cell::Text(visit(cell)),
            Cell::Text(cell.scheme.clone()),
            Cell::Text(cell.world.to_owned()),
            number(cell.sim_s.map(|sim| sim.median)),
            text(cell.sim_s.map(|sim| spread((sim.min, sim.max)))),
            number(cell.real_s.map(|real| real.median)),
            text(cell.real_s.map(|real| spread((real.min, real.max)))),
            number(cell.difference),
            text(drops.map(|(sim, real)| format!("{sim} / {}", real.median))),
            number(Some(f64::from(cell.redone))),
            Cell::Text(verdict(cell.verdict).to_owned()),
        ],
        is_reference: false,
    }
}

const fn verdict(verdict: AgreementVerdict) -> &'static str {
    match verdict {
        AgreementVerdict::Inside => "inside",
        AgreementVerdict::Near => "near",
        AgreementVerdict::Outside => "outside",
    }
}
