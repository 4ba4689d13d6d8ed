//! The race as a library: who runs, what repeats share, what is recorded, what harm is.

use experiment::race::{
    Load, Metric, Outcome, Race, RaceResult, RunOptions, SequenceStep, contestants,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use units::Duration;
use workload::{LoaderConfig, Page};

fn race(schemes: &str, path: &str) -> Race {
    Race {
        page: Arc::new(Page::builtin("graphics").unwrap()),
        path: path.parse().unwrap(),
        loader: LoaderConfig::default(),
        schemes: contestants(schemes).unwrap(),
        background: 0,
        repeats: 1,
        seed: 3,
    }
}

fn run(race: &Race) -> Outcome {
    race.run(RunOptions { threads: 1, record: false, capture: false, on_run: &|| () })
}

fn recorded(race: &Race) -> Outcome {
    race.run(RunOptions { threads: 1, record: true, capture: true, on_run: &|| () })
}

/// A path on which every scheme loses packets.
const LOSSY: &str = "2mbit,60ms,8p,loss=0.02";

#[test]
fn linux_always_runs_and_no_one_twice() {
    let names = |list| {
        let schemes = contestants(list).unwrap();
        schemes.iter().map(|s| s.name().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names("newreno"), "linux newreno");
    assert_eq!(names("tahoe, linux,tahoe,limit"), "tahoe linux");
    assert_eq!(names("limit"), "linux");
    // A linux of another kind is another scheme.
    assert_eq!(names("linux+iw=3"), "linux linux+iw=3");
    assert!(contestants("linux,nil").unwrap_err().to_string().contains("nil"));
}

#[test]
fn looking_on_changes_nothing() {
    let race = race("linux,newreno,tahoe,phttp", LOSSY);
    let plain = |load: &Load| Load { recording: None, captures: Vec::new(), ..load.clone() };
    for (alone, watched) in run(&race).contestants.iter().zip(&recorded(&race).contestants) {
        assert!(watched.loads[0].recording.is_some() && watched.loads[0].captures.len() == 4);
        assert_eq!(alone.loads[0], plain(&watched.loads[0]), "{}", alone.name);
    }
}

#[test]
fn repeats_differ_and_schemes_of_one_share_their_chance() {
    let mut race = race("linux,linux+iw=10", LOSSY);
    race.repeats = 3;
    let outcome = run(&race);
    let [linux, twin] = &outcome.contestants[..] else { panic!("two contestants") };
    // The same TCP under another name: the same losses, so the same times.
    let pages =
        |c: &experiment::race::Contestant| c.loads.iter().map(|l| l.page).collect::<Vec<_>>();
    assert_eq!(pages(linux), pages(twin));
    assert_ne!(pages(linux)[0], pages(linux)[1]);
}

#[test]
fn harm_is_nothing_for_a_twin_of_linux_and_something_for_a_burst() {
    let mut race = race("linux,linux+iw=10,linux+iw=60+rwnd=1MB", "8mbit,60ms,60kB");
    (race.background, race.repeats) = (2, 2);
    // An object of 67 KB: enough for a window of 60 segments to show.
    race.page = Arc::new(Page::builtin("map").unwrap());
    let outcome = run(&race);
    for twin in &outcome.contestants[..2] {
        assert_eq!(twin.harm, [Some(0.0); 2], "{}", twin.name);
    }
    let harm: Vec<f64> = outcome.contestants[2].harm.iter().flatten().copied().collect();
    assert!(harm.iter().all(|h| h.abs() < 1.0) && harm.iter().any(|h| *h != 0.0), "{harm:?}");
    // Background bytes are what the link carried beside the page: never more than all of it.
    for load in outcome.contestants.iter().flat_map(|c| &c.loads) {
        let most = race.path.down().bytes_in(load.page.unwrap() + Duration::from_millis(60));
        assert!(load.background_bytes > 0 && load.background_bytes < most);
    }
}

#[test]
fn every_run_is_told_of() {
    let mut race = race("linux,reno", "8mbit,60ms,60kB");
    (race.background, race.repeats) = (1, 2);
    let runs = AtomicU64::new(0);
    let on_run = || {
        runs.fetch_add(1, Ordering::Relaxed);
    };
    race.run(RunOptions { threads: 2, record: false, capture: false, on_run: &on_run });
    // Two schemes and the baseline of harm, twice each.
    assert_eq!((runs.into_inner(), race.run_count()), (6, 6));
}

#[test]
fn a_recording_accounts_for_every_byte() {
    for contestant in &recorded(&race("linux,newreno,sack", LOSSY)).contestants {
        let load = &contestant.loads[0];
        let recording = load.recording.as_ref().unwrap();
        let (mut again, mut dropped) = (0, 0);
        for transfer in &recording.transfers {
            let mut end = 0;
            let mut acked = 0;
            for event in &transfer.sequence {
                match event.step {
                    // New data follows what was sent before it, without a gap.
                    SequenceStep::Sent => {
                        assert_eq!(event.from, end, "{}", contestant.name);
                        end = event.to;
                    }
                    SequenceStep::Retransmitted => {
                        assert!(event.to <= end);
                        again += 1;
                    }
                    SequenceStep::Dropped => dropped += 1,
                    SequenceStep::Acked => {
                        assert_eq!(event.from, acked);
                        assert!(event.to <= end + 1, "the FIN counts one");
                        acked = event.to;
                    }
                    SequenceStep::Sacked => assert!(event.from >= acked && event.to <= end + 1),
                }
            }
            assert!(!transfer.window.is_empty(), "{}", contestant.name);
        }
        // What the client sent again or lost comes on top.
        assert!(again > 0 && again <= load.retransmitted, "{}", contestant.name);
        assert!(dropped > 0 && dropped <= load.dropped, "{}", contestant.name);
    }
}

#[test]
fn queues_stay_within_their_bound_and_times_in_order() {
    let mut race = race("linux", "2mbit,60ms,8p");
    race.background = 1;
    let outcome = recorded(&race);
    let recording = outcome.contestants[0].loads[0].recording.as_ref().unwrap();
    let [down, up] = &recording.queues[..] else { panic!("two directions") };
    assert_eq!((down.link.as_str(), up.link.as_str()), ("down", "up"));
    for queue in [down, up] {
        assert!(queue.levels.iter().all(|level| level.packets <= 8));
        assert!(queue.levels.is_sorted_by_key(|level| level.at));
        assert!(queue.levels[0].at >= recording.start);
    }
    // A bulk flow was there before the page: its queue is not empty when the page begins.
    assert!(down.levels[0].packets > 0 && !down.drops.is_empty());
}

#[test]
fn a_load_that_never_ends_has_no_time_and_no_mean() {
    // 60 KB at 500 bit/s would take 16 minutes.
    let race = race("linux", "500bit,60ms,100p");
    let outcome = run(&race);
    assert!(!outcome.is_complete());
    let load = &outcome.contestants[0].loads[0];
    assert!(load.page.is_none() && load.failure.is_some());
    let result = RaceResult::new(&race, &outcome);
    let (linux, limit) = (&result.schemes[0], &result.schemes[1]);
    assert!(!linux.completed && linux.mean(Metric::PageSeconds).is_none());
    assert!(
        linux.mean(Metric::RatioToLimit).is_none() && limit.mean(Metric::GainOverLinux).is_none()
    );
    assert!(limit.completed && limit.is_limit() && limit.mean(Metric::PageSeconds).is_some());
}

#[test]
fn extreme_paths_end_in_an_answer() {
    for path in ["1bit,0ms,1p", "100gbit,0ms,inf", "1mbit,1000000s,inf", "10mbit,50ms,1B,loss=0.99"]
    {
        let outcome = run(&race("linux,newreno,linux+open=data", path));
        for load in outcome.contestants.iter().flat_map(|c| &c.loads) {
            assert_eq!(load.page.is_none(), load.failure.is_some(), "{path}");
        }
    }
}
