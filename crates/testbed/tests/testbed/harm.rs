//! The check of harm in simulation, and in the kernel where the machine lets it: one table serves
//! both worlds.

use race::World;
use test_support::retry_on_any_stall;
use testbed::harm::{self, HarmCell, HarmEffort, HarmPlan, HarmReport};

fn cells(names: &[&str]) -> Vec<HarmCell> {
    names.iter().map(|name| name.parse().expect("a cell")).collect()
}

fn simulated(names: &[&str]) -> HarmReport {
    let effort = HarmEffort { most: 6, ..HarmEffort::SIM };
    let plan = HarmPlan { cells: cells(names), world: World::Sim, challenger: None, effort };
    plan.run(None, &|_| ()).expect("a simulation needs nothing")
}

/// The quickest cells with each kind of path: all are measured, and none fails to load.
#[test]
fn every_kind_of_cell_can_be_simulated() {
    let _turn = crate::shared();
    let all = harm::cells();
    let kinds = ["loss", "mobile", "beside", "after", "bbr", "offers", "x"];
    let quickest = |kind: &&str| all.iter().find(|cell| cell.to_string().contains(kind)).cloned();
    let cells: Vec<HarmCell> = kinds.iter().filter_map(quickest).collect();
    assert_eq!(cells.len(), kinds.len());
    let effort = HarmEffort { least: 2, least_if_random: 2, most: 2, ..HarmEffort::SIM };
    let plan = HarmPlan { cells, world: World::Sim, challenger: None, effort };
    let report = plan.run(None, &|_| ()).expect("a simulation needs nothing");
    assert_eq!((report.summary.cells, report.summary.left_out), (kinds.len(), 0), "{report:#?}");
    for row in &report.cells {
        let figures = row.figures.as_ref().expect("it was measured");
        assert!(figures.stock.segments >= 1.0 && figures.repeats == 2, "{row:?}");
    }
}

/// A warm start saves a clean short answer a round trip: 173 in place of 248 ms
/// (docs/agent/measurements.md).
#[test]
fn a_clean_path_gains_and_the_slowest_cell_is_first() {
    let _turn = crate::shared();
    let report = simulated(&["cubic 30kB 20mbit,80ms,100p", "cubic 10kB 20mbit,80ms,100p"]);
    let ratios: Vec<f64> = report
        .cells
        .iter()
        .map(|row| row.figures.as_ref().expect("it was measured").time_ratio.value)
        .collect();
    // 10 kB fit into the stock initial window: nothing can be gained.
    assert!((ratios[0] - 1.0).abs() < 0.01 && (ratios[1] - 0.70).abs() < 0.02, "{ratios:?}");
    assert!(report.summary.holds);
}

/// A slow visitor and a fast one of a /24 in turn, a hundred times each. The network is remembered
/// as the slow one from its first visit on. Its visits take as long as under stock and retransmit
/// as much, and the fast one keeps its own gain.
#[test]
fn a_slow_line_and_a_fast_one_of_a_network_do_no_harm_to_each_other() {
    let _turn = crate::shared();
    let (slow, fast) = ("2mbit,60ms,50p", "50mbit,60ms,100p");
    let effort = HarmEffort { least: 1, most: 1, ..HarmEffort::SIM };
    let names = [
        format!("cubic 200kB {slow} beside {fast} visits 100"),
        format!("cubic 200kB {fast} beside {slow} visits 100"),
        format!("cubic 200kB {fast} visits 100"),
    ];
    let ratios = names.map(|name| {
        let plan = HarmPlan { cells: cells(&[&name]), world: World::Sim, challenger: None, effort };
        let report = plan.run(None, &|_| ()).expect("a simulation needs nothing");
        let figures = report.cells[0].figures.clone().expect("it was measured");
        (figures.time_ratio.value, figures.extra_retransmissions.value)
    });
    let [(slow, slow_lost), (fast, _), (alone, _)] = ratios;
    assert!(slow <= 1.05 && slow_lost <= 0.05, "{ratios:?}");
    assert!(1.0 - fast >= 0.8 * (1.0 - alone), "{ratios:?}");
}

/// Both sides are treated alike: without a loss no side retransmits, and both send the same
/// segments.
#[test]
fn segments_are_counted_on_every_connection() {
    let _turn = crate::shared();
    let report = simulated(&["cubic 2x30kB 50mbit,40ms,1bdp"]);
    let figures = report.cells[0].figures.as_ref().expect("it was measured");
    // 30,200 bytes are 21 segments of 1,448 bytes.
    assert_eq!((figures.stock.segments, figures.agent.segments), (21.0, 21.0));
    assert_eq!((figures.stock.retransmitted, figures.agent.retransmitted), (0.0, 0.0));
}

/// In the kernel a neighbour is behind a path of its own, too: stock Linux uses the paths' rates.
/// Needs no agent, as none of the two sides has one.
#[test]
fn the_kernel_has_neighbours_and_changing_rates() {
    let _turn = crate::shared();
    use race::{Race, VisitKind};
    use testbed::{Browser, ClientTcp, Contender, ContestOptions, ServerProgram};
    if !test_support::has(&test_support::EMULATION) {
        return;
    }
    for (text, other_is_slow) in [
        ("cubic 50kB 20mbit,20ms,100p beside 2mbit,20ms,100p", true),
        ("cubic 50kB 2mbit,20ms,100p after 20mbit", false),
    ] {
        let cell = text.parse::<HarmCell>().expect("a cell");
        retry_on_any_stall(|| {
            let race = Race {
                schemes: race::contestants("linux").expect("a scheme"),
                ..cell.race(0, &[])
            };
            let outcome = testbed::run(
                &race,
                ContestOptions {
                    worlds: &[World::Kernel],
                    contenders: &[Contender::parse("linux").expect("a contender")],
                    client: ClientTcp::default(),
                    browser: &Browser::Loader,
                    server: &ServerProgram::Builtin,
                    agent: None,
                    captures: None,
                    record: false,
                    threads: 0,
                    on_run: &|| (),
                },
            );
            let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
            let turn = outcome.contestants[0].counted().next().expect("a turn");
            let loads = turn.loads(VisitKind::First).iter().chain(turn.loads(VisitKind::Repeated));
            for (n, load) in (0..).zip(loads) {
                // 36 packets of 1,500 bytes take 0.2 s at 2 Mbit/s, and a tenth of it at 20.
                let seconds = load.page.expect("it ended").as_secs_f64();
                let is_other = race.visits.crossing(n) == race::Crossing::Other;
                assert_eq!(
                    seconds > 0.2,
                    is_other == other_is_slow,
                    "{text}, visit {n}: {seconds} s"
                );
                assert_eq!(load.sent.expect("the link is watched").all, 35, "{text}, visit {n}");
            }
        });
    }
}
