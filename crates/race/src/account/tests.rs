//! Compares the account, an outside view, with the state of simulated senders.

use super::page::WaitingParties;
use super::replies::BrowserWork;
use super::sender::timeline;
use crate::bound::{Bound, BoundFrom};
use crate::record::{LoadRecording, Recorder, Stretch};
use crate::run::{SimulationParts, Stage};
use crate::{Hosts, ProcessingDelay, Race, Visits};
use std::sync::Arc;
use tcp::Scheme;
use units::{Duration, Instant};
use workload::{Http, LoaderConfig, Page, Tls};

/// A sender at an instant, by its own account.
#[derive(Clone, Copy, Debug)]
struct AccountAt {
    at: Instant,
    transfer: usize,
    /// Written and not sent.
    unsent: u64,
    /// Bytes for which the peer's window has room.
    offered_room: u64,
    /// Bytes for which the congestion window has room.
    congestion_room: u64,
    mss: u64,
    is_paced: bool,
    /// Nothing is lost or out of order: all outstanding data is in flight.
    is_clean: bool,
}

fn race(scheme: &str, http: Http, tls: Tls, path: &str) -> Race {
    Race {
        page: Arc::new(Page::builtin("frames").unwrap()),
        path: path.parse().unwrap(),
        loader: LoaderConfig { http: Some(http), tls: Some(tls), ..LoaderConfig::default() },
        schemes: vec![Scheme::parse(scheme).unwrap()],
        client: None,
        hosts: Hosts::Apart,
        processing: ProcessingDelay::NONE,
        visits: Visits::default(),
        background: 0,
        repeats: 1,
        seed: 3,
    }
}

/// Returns the state of all senders at an instant.
fn account_at((stage, race): (&Stage, &Race), at: Instant) -> Vec<AccountAt> {
    let transfers = stage.load_of(race, 0).transfers().iter().enumerate();
    let account = transfers.filter_map(|(transfer, of)| {
        let conn = of.server_conn().filter(|_| !of.is_recorded())?;
        let host = stage.simulation.host(of.server());
        let (connection, path) = (host.connection(conn)?, host.path_of(conn)?);
        let in_flight = connection.bytes_in_flight();
        Some(AccountAt {
            at,
            transfer,
            unsent: connection.unsent(),
            offered_room: connection.snd_wnd().saturating_sub(in_flight),
            congestion_room: path.usable_cwnd().saturating_sub(path.bytes_in_flight()),
            mss: connection.mss(),
            is_paced: path.is_paced(),
            is_clean: !connection.recovering() && connection.backoff() == 0,
        })
    });
    account.collect()
}

/// Runs a load and samples it about every 0.3 ms; returns the samples, and the account's view of
/// each sender.
fn asked(race: &Race) -> (Vec<AccountAt>, Vec<Vec<BoundFrom>>) {
    let mut stage = Stage::new(&SimulationParts::new(race, &race.schemes[0]), 0);
    stage.attach_observers(false);
    let (mut at, mut account) = (stage.start, Vec::new());
    while !stage.load_of(race, 0).loader().is_done() {
        stage.simulation.run_until(at).unwrap();
        account.extend(account_at((&stage, race), at));
        at += Duration::from_nanos(301_237);
    }
    let mut recording = LoadRecording::start_recording(stage.start, stage.load_of(race, 0));
    stage.simulation.observer::<Recorder>().unwrap().link_watch().complete(&mut recording, None);
    let all = 0..recording.transfers.len();
    (account, all.map(|index| timeline(&race.page, &recording, index)).collect())
}

fn in_force(timeline: &[BoundFrom], at: Instant) -> Option<Bound> {
    let index = timeline.partition_point(|from| from.at <= at).checked_sub(1)?;
    timeline[index].bound
}

/// Where the account says that a sender holds data back, the sender has unsent data, and the named
/// window is the full one. Where the account says that no data waits, none does.
#[test]
fn senders_say_the_same_of_themselves() {
    let schemes = ["linux", "linux+rwnd=8kB", "newreno+iw=1", "linux+iw=32+pacing=on", "linux-bbr"];
    let ways = [
        (Http::Http10, Tls::None),
        (Http::Http11, Tls::None),
        (Http::Http11, Tls::Tls13),
        (Http::Http2, Tls::Tls13),
    ];
    let mut seen = [0; Bound::ALL.len()];
    for scheme in schemes {
        for (http, tls) in ways {
            for path in ["50mbit,80ms,inf", "2mbit,60ms,8p"] {
                let (account, timelines) = asked(&race(scheme, http, tls, path));
                let of_use = |account: &AccountAt| !timelines[account.transfer].is_empty();
                for account in account.into_iter().filter(of_use) {
                    let bound = in_force(&timelines[account.transfer], account.at);
                    let place = format!("{scheme} {http} {tls} {path} {bound:?} {account:?}");
                    if let Some(bound) = bound {
                        seen[bound as usize] += 1;
                    }
                    check(bound, account, &place);
                }
            }
        }
    }
    for bound in [Bound::CongestionWindow, Bound::ReceiveWindow, Bound::Recovery, Bound::Rounds] {
        assert!(seen[bound as usize] > 100, "{bound:?} is hardly tried: {seen:?}");
    }
}

fn check(bound: Option<Bound>, account: AccountAt, place: &str) {
    let segment = account.unsent.min(account.mss);
    match bound {
        Some(Bound::CongestionWindow) => {
            assert!(account.unsent > 0, "{place}");
            assert!(!account.is_clean || account.offered_room >= segment, "{place}");
            assert!(account.is_paced || account.congestion_room < segment, "{place}");
        }
        Some(Bound::ReceiveWindow) => assert!(account.unsent > 0, "{place}"),
        Some(Bound::Recovery) => {}
        // From outside a pacer that still spaces the flight before looks like a host that has not
        // come to the next answer.
        Some(Bound::Server) => assert!(account.unsent == 0 || account.is_paced, "{place}"),
        None | Some(Bound::Rounds) => assert_eq!(account.unsent, 0, "{place}"),
        Some(Bound::Path | Bound::Client | Bound::Dns) => {
            panic!("no matter of one sender: {place}")
        }
    }
    if account.is_clean && account.unsent > 0 && account.offered_room < segment {
        assert!(matches!(bound, Some(Bound::ReceiveWindow | Bound::Recovery)), "{place}");
    }
}

/// From 0 to 100 the link is busy until 10. One sender waits for its congestion window until 40,
/// another for its server from 20 to 60, and none from there on. The browser works out two requests
/// at 30 to 40, as one. It looks up two names from 50 to 60, as one, and another from 80 to 95.
#[test]
fn moments_are_divided_among_those_who_wait() {
    let at = Instant::from_nanos;
    let from = |nanos, bound| BoundFrom { at: at(nanos), bound };
    let senders = [
        vec![from(0, Some(Bound::CongestionWindow)), from(40, None)],
        vec![from(20, Some(Bound::Server)), from(60, Some(Bound::Rounds)), from(70, None)],
    ];
    let busy = [Stretch { from: at(0), to: at(10) }];
    let stretch = |from, to| Stretch { from: at(from), to: at(to) };
    let browser = BrowserWork {
        requests: vec![stretch(30, 40), stretch(30, 40)],
        lookups: vec![stretch(50, 60), stretch(50, 60), stretch(80, 95)],
    };
    let shares =
        WaitingParties::new(&busy, &browser, &senders).bound_shares(at(0), at(100)).unwrap();
    // cwnd: 10 alone, half of 20 to 30, a third of 30 to 40; server: as much of these, 40 to 50,
    // and half of 50 to 60.
    let third = 10.0 / 3.0;
    let expected = [
        (Bound::Path, 10.0),
        (Bound::CongestionWindow, 10.0 + 5.0 + third),
        (Bound::Server, 5.0 + third + 10.0 + 5.0),
        (Bound::Client, third),
        (Bound::Dns, 5.0 + 15.0),
        (Bound::Rounds, 25.0),
    ];
    for (bound, nanos) in expected {
        assert!((shares.get(bound) - nanos / 100.0).abs() < 1e-12, "{bound:?}: {shares:?}");
    }
    let idle = BrowserWork { requests: Vec::new(), lookups: Vec::new() };
    assert_eq!(WaitingParties::new(&[], &idle, &[]).bound_shares(at(5), at(5)), None);
}
