//! Tests of another scheme for a connection that has sent nothing: from then on it sends as if it
//! had been opened under it.

use crate::common::{CLIENT, Pipe, World};
use tcp::{ConnId, Scheme, SchemeIsFixed, State};
use units::{Duration, Instant};

fn scheme(name: &str) -> Scheme {
    Scheme::parse(name).unwrap()
}

/// The server's number of a connection from that port, just accepted.
fn accepted(world: &mut World, port: u16) -> ConnId {
    let count = |w: &World| w.accepted().count();
    let before = count(world);
    world.connect_from(&scheme("linux"), port);
    assert!(world.run(Duration::from_secs(10), |w| count(w) > before));
    world.accepted().next_back().unwrap()
}

fn world(first: &str) -> (World, ConnId) {
    let mut world = World::new(Pipe::clean(10, 20, 30), &scheme(first), 1);
    let id = accepted(&mut world, CLIENT);
    (world, id)
}

/// Time of departure of a data segment, and the segment.
#[derive(PartialEq)]
struct SentData {
    at: Instant,
    seq: u32,
    len: u32,
}

/// Returns the data segments of a download of 300 kB, once it is complete.
fn download(world: &mut World, id: ConnId) -> Vec<SentData> {
    world.hosts[1].write(world.now, id, 300_000);
    assert!(world.run(Duration::from_secs(60), |w| w.received(0) == 300_000), "never there");
    let sent = world.sent.iter().filter(|sent| sent.host == 1 && sent.segment.len > 0);
    sent.map(|sent| SentData { at: sent.at, seq: sent.segment.seq.0, len: sent.segment.len })
        .collect()
}

/// The schemes agree on the same options in the handshake.
#[test]
fn it_sends_as_if_it_had_been_opened_under_it() {
    for name in ["linux+iw=32", "linux-bbr", "linux-reno"] {
        let (mut opened, id) = world(name);
        let expected = download(&mut opened, id);
        let (mut changed, id) = world("linux");
        changed.hosts[1].set_scheme(changed.now, id, &scheme(name)).unwrap();
        assert!(download(&mut changed, id) == expected, "{name}");
        let (mut other, id) = world("linux");
        assert!(download(&mut other, id) != expected, "{name} is not linux");
    }
}

#[test]
fn it_joins_those_under_its_new_scheme_and_leaves_those_under_its_old() {
    let (mut world, first) = world("etcp-fair");
    let second = accepted(&mut world, CLIENT + 1);
    let members = |w: &World, id| w.hosts[1].members_with(id).count();
    assert_eq!((members(&world, first), members(&world, second)), (2, 2));
    let now = world.now;
    for (to, left) in [("linux", 1), ("etcp-fair", 2), ("session", 1), ("etcp-fair", 2)] {
        world.hosts[1].set_scheme(now, second, &scheme(to)).unwrap();
        assert_eq!(members(&world, first), left, "{to}");
    }
    // The last member may leave, too, and come back.
    for to in ["linux", "etcp-fair"] {
        for id in [first, second] {
            world.hosts[1].set_scheme(now, id, &scheme(to)).unwrap();
        }
    }
    for id in [first, second] {
        world.hosts[1].write(now, id, 200_000);
    }
    let done = world.run(Duration::from_secs(60), |w| {
        let path = w.hosts[1].path_of(first).unwrap();
        let conns = [first, second].map(|id| w.hosts[1].connection(id).unwrap());
        assert_eq!(path.bytes_in_flight(), conns.iter().map(|c| c.bytes_in_flight()).sum::<u64>());
        conns.iter().all(|conn| conn.acked() == 200_000)
    });
    assert!(done);
    assert_eq!((members(&world, first), members(&world, second)), (2, 2));
}

#[test]
fn it_is_too_late_once_something_was_sent() {
    let (mut world, id) = world("linux");
    let reno = scheme("linux-reno");
    let server = &mut world.hosts[1];
    assert_eq!(
        server.set_scheme(world.now, id, &scheme("reno+profile=ns2-one-way")),
        Err(SchemeIsFixed)
    );
    // Written data that has not left may still be sent under another scheme.
    server.write(world.now, id, 1000);
    assert_eq!(server.set_scheme(world.now, id, &reno), Ok(()));
    assert!(world.run(Duration::from_secs(1), |w| w.received(0) == 1000));
    let server = &mut world.hosts[1];
    assert_eq!(server.set_scheme(world.now, id, &reno), Err(SchemeIsFixed));
    assert_eq!(server.connection(id).unwrap().state(), State::Established);
    assert_eq!(server.set_scheme(world.now, ConnId(77), &reno), Err(SchemeIsFixed));
}
