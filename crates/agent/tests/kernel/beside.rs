//! Other programs at the same hooks, and special sockets of applications: the agent works beside
//! them, or leaves the connection alone. docs/agent/beside.md has limits that cannot be tested
//! here.

use crate::bed::{Agent, Bed, Server, finish, is_upon_cubic, request};
use libbpf_rs::{Link, MapCore, MapFlags, Object, ObjectBuilder, ProgramMut};
use socket2::Protocol;
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use test_support::retry_on_stall;

static OTHERS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/beside.bpf.o"));

/// Programs of others (tests/beside.bpf.c); attached for as long as their links live.
struct Others(Object);

impl Others {
    /// `set`: variables as they begin.
    fn new(set: impl Fn(&mut [u8], &dyn Fn(&str) -> usize)) -> Self {
        let mut open = ObjectBuilder::default().open_memory(OTHERS).unwrap();
        let place = |name: &str| place_of(name);
        for mut map in open.maps_mut() {
            if map.name().to_string_lossy().ends_with(".bss") {
                set(map.initial_value_mut().unwrap(), &place);
            }
        }
        Self(open.load().unwrap())
    }

    fn program(&mut self, name: &str) -> ProgramMut<'_> {
        self.0.progs_mut().find(|program| program.name() == name).unwrap()
    }

    fn attach(&mut self, name: &str, cgroup: &Path) -> Link {
        let directory = File::open(cgroup).unwrap();
        self.program(name).attach_cgroup(directory.as_raw_fd()).unwrap()
    }

    fn number(&self, name: &str) -> u32 {
        let mut maps = self.0.maps();
        let variables = maps.find(|map| map.name().to_string_lossy().ends_with(".bss")).unwrap();
        let bytes = variables.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).unwrap().unwrap();
        let at = place_of(name);
        u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap())
    }
}

/// Offset of a variable.
fn place_of(name: &str) -> usize {
    use libbpf_rs::btf::{Btf, types};
    let types = Btf::from_raw("beside", OTHERS).unwrap().unwrap();
    let section = types.type_by_name::<types::DataSec<'_>>(".bss").unwrap();
    let variable = section.iter().find(|variable| {
        types
            .type_by_id::<types::Var<'_>>(variable.ty)
            .is_some_and(|found| found.name() == Some(std::ffi::OsStr::new(name)))
    });
    variable.unwrap().offset as usize
}

/// Two visits, the second of which starts warm.
fn assert_warm(bed: &Bed, agent: &Agent, server: &Server) {
    let (closed, warm) = (agent.closed(), agent.status().connections.warm.closed);
    for visit in 1..3 {
        let control = finish(&mut bed.open(server, 30_000), 30_000);
        assert!(is_upon_cubic(&control), "{control}");
        agent.wait_for_closed(closed + visit);
    }
    assert!(agent.status().connections.warm.closed > warm, "{:?}", agent.status().connections);
}

#[test]
fn others_at_the_same_hook_run_before_and_after() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let mut others = Others::new(|_, _| {});
        let first = others.attach("watch_first", bed.cgroup());
        let (agent, server) = bed.hooked();
        let last = others.attach("watch_last", bed.cgroup());
        assert_warm(&bed, &agent, &server);
        assert_eq!((others.number("seen"), others.last_seen()), (2, 2));
        // Removing the others does not affect the agent.
        drop((first, last));
        assert_warm(&bed, &agent, &server);
        assert_eq!(others.number("seen"), 2);
    });
}

impl Others {
    fn last_seen(&self) -> u32 {
        let mut maps = self.0.maps();
        let variables = maps.find(|map| map.name().to_string_lossy().ends_with(".bss")).unwrap();
        let bytes = variables.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).unwrap().unwrap();
        let at = place_of("seen") + 4;
        u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap())
    }
}

/// Another agent's choice counts as an application's. If it comes first, ours leaves the connection
/// alone; if it comes last, the connection has the other's choice.
#[test]
fn whoever_else_chooses_the_congestion_control_has_it() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let mut others = Others::new(|_, _| {});
        for is_first in [true, false] {
            let first = is_first.then(|| others.attach("choose", bed.cgroup()));
            let (agent, server) = bed.hooked();
            let last = (!is_first).then(|| others.attach("choose", bed.cgroup()));
            for _ in 0..2 {
                assert_eq!(finish(&mut bed.open(&server, 30_000), 30_000), "reno");
            }
            drop((first, last));
            assert_eq!(agent.status().connections.warm.closed, 0, "first: {is_first}");
            assert_warm(&bed, &agent, &server);
        }
    });
}

/// Service meshes do this: sockets in a map, whose messages a program passes on.
#[test]
fn sockets_in_a_sockmap_start_warm() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let mut others = Others::new(|_, _| {});
        let map = others.0.maps().find(|map| map.name() == "sockets").unwrap().as_fd().as_raw_fd();
        others.program("pass").attach_sockmap(map).unwrap();
        let (agent, server) = bed.hooked();
        let _maps = others.attach("map_sockets", bed.cgroup());
        assert_warm(&bed, &agent, &server);
        assert_eq!(others.number("mapped"), 2);
        assert!(others.number("passed") >= 2, "{}", others.number("passed"));
    });
}

/// Socket load balancers of Kubernetes do this: an application connects to a service's address.
#[test]
fn a_translated_destination_is_remembered_by_its_true_address() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let sink = bed.sink();
        let SocketAddr::V4(to) = sink else { panic!("{sink}") };
        let service = SocketAddr::from((Ipv4Addr::new(203, 0, 113, 80), 80));
        let mut others = Others::new(|variables, place| {
            let mut set = |name, value: u32| {
                let at = place(name);
                variables[at..at + 4].copy_from_slice(&value.to_ne_bytes());
            };
            let port = |port: u16| u32::from(port.to_be());
            set("to_address", u32::from_ne_bytes(to.ip().octets()));
            set("from_port", port(service.port()));
            set("to_port", port(to.port()));
        });
        let _translates = others.attach("translate", bed.cgroup());
        let agent = bed.agent(&[]);
        for visit in 1..3 {
            bed.upload(service, 100_000);
            agent.wait_for_closed(visit);
        }
        let paths = agent.paths();
        assert_eq!(paths.len(), 1, "{paths:?}");
        assert!(paths[0].prefix.contains(&sink.ip()), "{paths:?}");
        assert_eq!(agent.status().connections.warm.closed, 1);
    });
}

/// nginx upgrades itself like this: a new process listens at the same port, the old one stops, its
/// connections go on.
#[test]
fn a_server_that_restarts_beside_itself_stays_warm() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let (agent, old) = bed.hooked();
        let mut kept = bed.open(&old, 30_000);
        finish(&mut kept, 30_000);
        let new = bed.serve_at(old.address(), None);
        old.stop_listening();
        let visit = finish(&mut bed.open(&new, 30_000), 30_000);
        assert!(is_upon_cubic(&visit), "{visit}");
        request(&mut kept, 30_000);
        assert!(is_upon_cubic(&finish(&mut kept, 30_000)));
        drop(kept);
        agent.wait_for_closed(2);
        let warm = agent.status().connections.warm.closed;
        bed.visit(&new, 30_000);
        agent.wait_for_closed(3);
        assert_eq!(agent.status().connections.warm.closed, warm + 1);
    });
}

/// Most clients of an MPTCP server speak plain TCP. Subflows of the others are connections of their
/// own, each on its path.
#[test]
fn mptcp_starts_warm_with_plain_clients_and_as_subflow() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let Ok(server) = bed.serve_by(Protocol::MPTCP) else {
            return test_support::skipped("no MPTCP");
        };
        let agent = bed.agent(&[]);
        let mut closed = 0;
        for protocol in [Protocol::TCP, Protocol::TCP, Protocol::MPTCP, Protocol::MPTCP] {
            let warm = agent.status().connections.warm.closed;
            let mut stream = bed.open_by(protocol, &server, 30_000);
            finish(&mut stream, 30_000);
            drop(stream);
            closed += 1;
            agent.wait_for_closed(closed);
            let now = agent.status().connections.warm.closed;
            assert_eq!(now - warm, u64::from(closed > 1), "{protocol:?}");
        }
    });
}

/// The request comes with the SYN, before any round trip is known: the connection starts cold, and
/// the memory learns from it.
#[test]
fn fast_open_goes_on_and_starts_cold_without_a_round_trip() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let (agent, server) = bed.hooked();
        if !bed.enable_fast_open(&server) {
            return test_support::skipped("no TCP Fast Open");
        }
        // The first one gets its cookie.
        for visit in 1..5 {
            let mut stream = bed.open_fast(&server, 30_000);
            finish(&mut stream, 30_000);
            drop(stream);
            agent.wait_for_closed(visit);
        }
        let totals = agent.status().connections;
        assert_eq!(agent.paths().len(), 1);
        eprintln!("fast open: {totals:?}");
        // With a cookie: no handshake took a round trip.
        let data_in_syn = bed.fast_opened();
        assert!(data_in_syn >= 3, "{data_in_syn}");
        bed.visit(&server, 30_000);
        agent.wait_for_closed(5);
        assert!(agent.status().connections.warm.closed > 0);
    });
}
