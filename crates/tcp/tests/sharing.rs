//! Connections that share a path: one window for all, everybody's share at once, and whatever
//! members do, nothing of it is lost or used twice.

mod common;

use common::{CLIENT, Pipe, World};
use tcp::{ConnId, EventKind, Scheme};
use units::Duration;

/// `n` connections, all open; the server's numbers of them, in the order of opening.
fn open(world: &mut World, scheme: &Scheme, n: u16) -> Vec<ConnId> {
    (0..n).map(|i| open_one(world, scheme, i)).collect()
}

fn open_one(world: &mut World, scheme: &Scheme, i: u16) -> ConnId {
    let accepted = |w: &World| w.events.iter().filter(|e| e.2.kind == EventKind::Accepted).count();
    let before = accepted(world);
    world.connect_from(scheme, CLIENT + i);
    assert!(world.run(Duration::from_secs(100), |w| accepted(w) > before), "never accepted");
    let newest = world.events.iter().rev().find(|e| e.2.kind == EventKind::Accepted);
    newest.unwrap().2.conn
}

/// Bytes of `conns` that are acknowledged.
fn acked(world: &World, conns: &[ConnId]) -> Vec<u64> {
    conns.iter().map(|&id| world.hosts[1].connection(id).map_or(0, |c| c.acked())).collect()
}

#[test]
fn all_bytes_of_all_members_arrive_and_one_window_holds_for_all() {
    for name in ["session", "tcp-int", "tcp-int-proxy", "etcp-fair", "etcp-decay", "sack+share=rr"]
    {
        let scheme = Scheme::parse(name).unwrap();
        let mut world = World::new(Pipe::clean(10, 10, 20), &scheme, 1);
        let conns = open(&mut world, &scheme, 4);
        for &id in &conns {
            world.hosts[1].write(world.now, id, 200_000);
        }
        let done = world.run(Duration::from_secs(60), |w| {
            let path = w.hosts[1].path_of(conns[0]).unwrap();
            let sum: u64 =
                conns.iter().map(|&id| w.hosts[1].connection(id).unwrap().bytes_in_flight()).sum();
            assert_eq!(path.bytes_in_flight(), sum);
            acked(w, &conns).iter().all(|&bytes| bytes == 200_000)
        });
        assert!(done, "{name}: {:?} at {}", acked(&world, &conns), world.now);
        let same = conns.iter().all(|&id| world.hosts[1].members_with(id).count() == 4);
        assert!(same, "{name}");
    }
}
