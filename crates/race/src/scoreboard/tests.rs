//! The matrix and its sample, and transfers in it.

use super::cells::{all, pairs};
use super::*;
use std::collections::BTreeSet;

/// The sample as it is published: levels of a cell a line.
const PUBLISHED: &str = include_str!("../../data/scoreboard-sample.csv");

/// The cells of a set of the matrix.
fn matrix(set: Set) -> Vec<MatrixCell> {
    let cell = |cell: BoardCell| match cell {
        BoardCell::Matrix(cell) => cell,
        BoardCell::Real(_) => panic!("{set:?} is of the matrix"),
    };
    set.cells().into_iter().map(cell).collect()
}

#[test]
fn the_matrix_has_every_cell_once() {
    // 5 sizes, 5 round trips, 4 rates, 2 queues, 3 loads, 3 memories, 3 shapes.
    let cells = matrix(Set::All);
    assert_eq!(cells.len(), 5 * 5 * 4 * 2 * 3 * 3 * 3);
    let distinct: BTreeSet<String> = cells.iter().map(MatrixCell::name).collect();
    assert_eq!(distinct.len(), cells.len());
    for (place, cell) in all().iter().zip(&cells) {
        assert_eq!(cell.levels(), *place);
    }
}

#[test]
fn every_two_levels_meet_in_the_sample() {
    let cells = matrix(Set::Sample);
    assert_eq!(cells.len(), SAMPLE_CELLS);
    let places: BTreeSet<_> = cells.iter().map(MatrixCell::levels).collect();
    assert_eq!(places.len(), SAMPLE_CELLS, "no cell twice");
    for (a, b) in pairs() {
        for x in 0..LEVELS[a] {
            for y in 0..LEVELS[b] {
                let met = places.iter().filter(|place| place[a] == x && place[b] == y).count();
                // Balanced: each as often as any other of its factors, by two more or less.
                let share = SAMPLE_CELLS as f64 / (LEVELS[a] * LEVELS[b]) as f64;
                assert!(met > 0 && (met as f64 - share).abs() <= 3.0, "{a}:{x} {b}:{y} {met}");
            }
        }
    }
}

/// Every level, every cell once, and each stratum for its share of the matrix: a third without a
/// background, the rest by four rates.
#[test]
fn the_quick_set_has_every_level_and_stands_for_the_matrix() {
    let quick = matrix(Set::Quick);
    let places: BTreeSet<_> = quick.iter().map(MatrixCell::levels).collect();
    assert_eq!(places.len(), quick.len(), "no cell twice");
    for factor in MatrixFactor::ALL {
        let levels: BTreeSet<_> = quick.iter().map(|cell| cell.level(factor)).collect();
        assert_eq!(levels.len(), factor.levels().len());
    }
    let weights = Set::Quick.weights();
    let share = |of: &dyn Fn(&MatrixCell) -> bool| -> f64 {
        quick.iter().zip(&weights).filter(|(cell, _)| of(cell)).map(|(_, weight)| weight).sum()
    };
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
    near(share(&|_| true), 1.0);
    near(share(&|cell| cell.load == BackgroundLoad::Idle), 1.0 / 3.0);
    for rate in link::matrix::RATES {
        near(share(&|cell| cell.load != BackgroundLoad::Idle && cell.rate_bps == rate), 1.0 / 6.0);
    }
    // Other factors are balanced within strata, not exactly, but nearly: 0.2 of each size, 0.5 of
    // each queue.
    for (factor, most_off) in
        [(MatrixFactor::Size, 0.03), (MatrixFactor::Rtt, 0.03), (MatrixFactor::Queue, 0.03)]
    {
        for level in 0..LEVELS[factor as usize] {
            let expected = 1.0 / LEVELS[factor as usize] as f64;
            let found = share(&|cell| cell.level(factor) == level);
            assert!((found - expected).abs() < most_off, "{factor:?} {level}: {found}");
        }
    }
}

#[test]
fn cells_of_other_sets_stand_for_equal_shares() {
    for set in [Set::Sample, Set::All] {
        let (cells, weights) = (set.cells(), set.weights());
        assert_eq!(cells.len(), weights.len());
        assert!(weights.iter().all(|weight| *weight == 1.0 / cells.len() as f64));
    }
}

#[test]
fn the_published_sample_is_the_one_that_is_run() {
    let built = Set::Sample.listing(None);
    assert_eq!(built, PUBLISHED, "data/scoreboard-sample.csv");
}

fn cell(load: BackgroundLoad, memory: Memory, shape: TransferShape) -> MatrixCell {
    MatrixCell {
        bytes: 100_000,
        rtt_ms: 40,
        rate_bps: 10_000_000,
        queue_millibdp: 1000,
        load,
        memory,
        shape,
    }
}

fn outcome(cell: &MatrixCell, scheme: &str) -> TransferOutcome {
    run::run(&cell.setup(), &Scheme::parse(scheme).unwrap(), draw(1))
}

fn draw(seed: u64) -> Draw {
    Draw { seed, processing: ProcessingDelay::NONE }
}

#[test]
fn nothing_is_over_before_the_limit() {
    for shape in [TransferShape::One, TransferShape::Page4, TransferShape::Page12] {
        for memory in [Memory::Cold, Memory::Warm, Memory::Stale] {
            let cell = cell(BackgroundLoad::Idle, memory, shape);
            let limit = cell.setup().reference().limit_without_handshake;
            for scheme in ["linux", "phttp", "newreno+open=data+iw=1000", "fs", "spand", "session"]
            {
                let outcome = outcome(&cell, scheme);
                let done = outcome.completion.unwrap_or_else(|| panic!("{scheme} in {cell:?}"));
                assert!(done >= limit, "{scheme} in {cell:?}: {outcome:?}");
                assert_eq!((outcome.background, outcome.background_packets), (None, 0));
            }
        }
    }
}

#[test]
fn who_remembers_nothing_is_the_same_warm_and_cold() {
    // A stale memory's path differs only before the transfer: the same again.
    let times = [Memory::Cold, Memory::Warm, Memory::Stale].map(|memory| {
        outcome(&cell(BackgroundLoad::Idle, memory, TransferShape::Page4), "newreno").completion
    });
    assert!(times[0].is_some() && times.iter().all(|time| *time == times[0]), "{times:?}");
}

#[test]
fn a_full_background_is_measured() {
    let cell = cell(BackgroundLoad::Full, Memory::Cold, TransferShape::Page12);
    let outcome = outcome(&MatrixCell { bytes: 400_000, ..cell }, "newreno+iw=1");
    let time = outcome.background.unwrap();
    // 400 kB at 10 Mbit/s, less the data of a round trip that was under way at its beginning.
    assert!(time >= Duration::from_millis(320 - 41), "{time}");
    // 276 segments of 1448 bytes; the data that was under way at the start, 66 segments at most, is
    // offered at the end instead.
    assert!((210..=342).contains(&outcome.background_packets), "{outcome:?}");
}

/// Half a load keeps 16 packets under way and no more. By itself it never fills a path of 33
/// packets and its queue of 33, so the transfer has caused all of its losses.
#[test]
fn what_a_background_loses_is_the_transfers_doing() {
    let cell = MatrixCell {
        bytes: 1_000_000,
        ..cell(BackgroundLoad::Half, Memory::Cold, TransferShape::Page12)
    };
    let mut dropped = 0;
    for seed in 1..=8 {
        let run =
            |scheme: &str| run::run(&cell.setup(), &Scheme::parse(scheme).unwrap(), draw(seed));
        // Twelve packets more, one for each connection: 28 do not even fill the path.
        let (modest, bold) = (run("newreno+window=1"), run("linux"));
        assert_eq!(modest.background_drops, 0, "{modest:?}");
        // Twelve connections begin with ten packets each and double: the queue is full from then
        // on, for the second that 1 MB takes. Meanwhile the background delivers 16 packets each 80
        // ms at most, otherwise 16 each 40 ms and a little. It loses 0.5 s of its 1.85 s, so it
        // takes 1.27 times as long. 1.19 to 1.56 over twenty seeds.
        let times = [bold, modest].map(|outcome| outcome.background.unwrap().as_secs_f64());
        assert!(times[0] / times[1] > 1.1, "{bold:?} {modest:?}");
        dropped += bold.background_drops;
    }
    // Each of the twenty dropped three or more, eight of them 125 together.
    assert!(dropped >= 16, "{dropped}");
}

#[test]
fn half_a_load_takes_half_of_the_path() {
    let cell = cell(BackgroundLoad::Half, Memory::Cold, TransferShape::One);
    // Alone with a transfer of a segment at a time: 100 kB at 5 Mbit/s take 160 ms.
    let time = outcome(&cell, "newreno+iw=1").background.unwrap().as_secs_f64();
    assert!((0.14..0.24).contains(&time), "{time}");
}

/// Alone, half a load has 16 packets of 1448 bytes under way each round trip, of 40 ms and a
/// packet's 1.2 ms. It sends 100 kB in 4.3 round trips, 178 ms, less or more by one of its bursts.
#[test]
fn a_background_alone_takes_what_its_window_says() {
    for memory in [Memory::Cold, Memory::Warm] {
        let setup = cell(BackgroundLoad::Half, memory, TransferShape::One).setup();
        let time = run::background_alone(&setup, draw(1)).unwrap().as_secs_f64();
        assert!((0.137..0.220).contains(&time), "{time}");
    }
    let idle = cell(BackgroundLoad::Idle, Memory::Cold, TransferShape::One).setup();
    assert_eq!(run::background_alone(&idle, draw(1)), None);
}

#[test]
fn causes_are_those_of_the_transfer() {
    let idle = cell(BackgroundLoad::Idle, Memory::Warm, TransferShape::One);
    // 70 packets at once do not fit a queue of 33; nothing is in the way of a SYN.
    let burst = outcome(&idle, "linux+iw=1000+rwnd=1MB").causes;
    assert!(burst.retransmitted >= 30 && burst.lost_syns == 0, "{burst:?}");
    // One segment at a time meets no other packet.
    assert_eq!(outcome(&idle, "newreno+window=1").causes, CauseCounts::default());
    // Two transfers keep a queue of four packets full: some of twelve SYN-ACKs find no room.
    let full = MatrixCell {
        rtt_ms: 10,
        rate_bps: 1_500_000,
        queue_millibdp: 250,
        ..cell(BackgroundLoad::Full, Memory::Cold, TransferShape::Page12)
    };
    let causes = outcome(&full, "linux").causes;
    assert!(causes.lost_syns > 0 && causes.timeouts > 0, "{causes:?}");
    assert!(causes.retransmitted >= causes.lost_syns, "{causes:?}");
}

/// The default list has each scheme of a paper and, beside it, the paper's idea over `linux`: one
/// choice, with the rest of `linux` unchanged. `linux-session` and `linux-etcp` are
/// `linux+share=session` and `linux+share=etcp`, as a test of `tcp` shows.
#[test]
fn each_idea_of_the_papers_runs_by_itself_and_over_linux() {
    let schemes: Vec<&str> = DEFAULT_SCHEMES.split(',').collect();
    for pair in [
        ["right-edge", "linux+limited_transmit=edge"],
        ["fs", "linux+startup=fs"],
        ["spand", "linux+startup=spand"],
        ["past", "linux+startup=past"],
        ["session", "linux-session"],
        ["etcp", "linux-etcp"],
    ] {
        for name in pair {
            assert!(schemes.contains(&name) && Scheme::parse(name).is_ok(), "{name}");
        }
    }
}

/// 100 kB over 10 Mbit/s and 40 ms: two round trips until the first byte, and 80 ms of payload. The
/// headers of 70 packets, the handshake's ACK and the options take 4 ms more.
#[test]
fn perfect_start_keeps_an_idle_link_busy() {
    for memory in [Memory::Cold, Memory::Warm, Memory::Stale] {
        let cell = cell(BackgroundLoad::Idle, memory, TransferShape::One);
        let outcome = run::perfect_transfer(&cell.setup(), draw(1));
        let time = outcome.completion.unwrap().as_secs_f64();
        assert!((0.160..0.168).contains(&time), "{memory:?}: {time}");
        assert_eq!(outcome.causes, CauseCounts::default());
    }
}

/// The transfer has a third of the link beside two others: 240 ms of payload, and headers. The time
/// of the background, which fills an unlimited queue, is left out.
#[test]
fn perfect_start_takes_its_share_of_a_full_link() {
    let cell = cell(BackgroundLoad::Full, Memory::Cold, TransferShape::One);
    let outcome = run::perfect_transfer(&cell.setup(), draw(1));
    let time = outcome.completion.unwrap().as_secs_f64();
    assert!((0.320..0.345).contains(&time), "{time}");
    assert_eq!((outcome.background, outcome.background_packets), (None, 0));
}

/// The gain of `linux` is 0, and the gain of perfect start is 1. Each state, a load and a visit,
/// has gains of its own.
#[test]
fn gains_are_parts_of_the_gain_of_perfect_start() {
    let schemes = crate::contestants("linux,linux+iw=32").unwrap();
    let (set, half) = (Set::Real, Some(Half::Tune));
    let processing = ProcessingDelay::NONE;
    let plan = ScoreboardPlan { schemes, set, half, seed: 1, seeds: 1, processing };
    let board = plan.run(0, &|| ());
    let perfect = &board.perfect_start;
    assert_eq!(perfect.share_of_perfect_start, Some(1.0));
    assert!(perfect.harm.harm.is_none() && perfect.unfinished == 0);
    let of = |name: &str| board.schemes.iter().find(|score| score.name == name).unwrap();
    assert_eq!(of("linux").share_of_perfect_start, Some(0.0));
    let wide = of("linux+iw=32");
    let parts = (1.0 - wide.time.over_linux) / (1.0 - perfect.time.over_linux);
    assert_eq!(wide.share_of_perfect_start, Some(parts));
    let states: Vec<_> = wide.states.iter().map(|state| (state.load, state.before)).collect();
    let [first, new, kept] = RealCell::VISITS;
    let visits = [first, new, kept, "by use"];
    let expected = RealCell::LOADS.into_iter().flat_map(|load| visits.map(|visit| (load, visit)));
    assert_eq!(states, expected.collect::<Vec<_>>());
    for (state, best) in wide.states.iter().zip(&perfect.states) {
        let gain = 1.0 - state.over_linux.unwrap();
        let part = gain / (1.0 - best.over_linux.unwrap());
        assert_eq!(state.share_of_perfect_start, Some(part), "{}, {}", state.load, state.before);
    }
    // Idle paths and first visits: the mean of the cells of both.
    let cells = board.cells.iter().zip(&board.weights).zip(&wide.cells);
    let first = cells.filter(|((cell, _), _)| {
        matches!(cell, BoardCell::Real(cell) if cell.visit == RealVisit::First && cell.load == BackgroundLoad::Idle)
    });
    let (sum, weights) = first.fold((0.0, 0.0), |(sum, weights), ((_, weight), score)| {
        (sum + weight * score.over_linux.ln(), weights + weight)
    });
    let mean = (sum / weights).exp();
    assert!((wide.states[0].over_linux.unwrap() - mean).abs() < 1e-9, "{mean}");
    // By use, idle: the mean of the same load, each cell by its weight times the share of its path
    // and its visit.
    let (mut sum, mut weights) = (0.0, 0.0);
    for ((cell, weight), score) in board.cells.iter().zip(&board.weights).zip(&wide.cells) {
        let BoardCell::Real(cell) = cell else { unreachable!() };
        if cell.load == BackgroundLoad::Idle {
            sum += weight * cell.share_of_use() * score.over_linux.ln();
            weights += weight * cell.share_of_use();
        }
    }
    let mean = (sum / weights).exp();
    assert!((wide.states[3].over_linux.unwrap() - mean).abs() < 1e-9, "{mean}");
}
