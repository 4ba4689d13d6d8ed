//! Another process detaches the programs of a running agent.

use crate::bed::{Agent, Bed, Server, finish, is_upon_cubic, until};
use libbpf_rs::query::{LinkInfo, LinkInfoIter, LinkTypeInfo, MapInfoIter};
use socket2::Domain;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::time::{Duration, Instant};
use test_support::retry_on_stall;

/// Detaches the link of a number by `BPF_LINK_GET_FD_BY_ID` (30) and `BPF_LINK_DETACH` (34) of
/// bpf(2), as `bpftool link detach` does.
const DETACH: &str = "
import ctypes, os, struct, sys
number = {'x86_64': 321, 'aarch64': 280}[os.uname().machine]
def bpf(command, value):
    attributes = ctypes.create_string_buffer(struct.pack('=I', value), 16)
    result = ctypes.CDLL(None, use_errno=True).syscall(number, command, attributes, 16)
    assert result >= 0, os.strerror(ctypes.get_errno())
    return result
bpf(34, bpf(30, int(sys.argv[1])))
";

/// Detaches all programs at the bed's cgroup. Returns their number.
fn detach_all(bed: &Bed) -> usize {
    let cgroup = fs::metadata(bed.cgroup()).unwrap().ino();
    let links: Vec<u32> = LinkInfoIter::default()
        .filter(|link| matches!(&link.info, LinkTypeInfo::Cgroup(at) if at.cgroup_id == cgroup))
        .map(|link| link.id)
        .collect();
    links.iter().for_each(|link| detach(*link));
    links.len()
}

fn detach(link: u32) {
    let detached =
        Command::new("python3").args(["-c", DETACH, &link.to_string()]).output().unwrap();
    assert!(detached.status.success(), "{detached:?}");
}

fn is_handled(bed: &Bed, server: &Server) -> bool {
    is_upon_cubic(&finish(&mut bed.open(server, 1000), 1000))
}

/// Numbers of programs that the agent reports as detached: now, and since its start.
fn reported(agent: &Agent) -> (usize, u64) {
    let found = agent.status().detachments;
    (found.missing.len(), found.count)
}

#[test]
#[expect(clippy::disallowed_methods, reason = "seconds that an operator waits are real ones")]
fn detached_programs_are_attached_again_within_seconds() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&[]);
        let server = bed.serve(Domain::IPV4, None);
        assert!(is_handled(&bed, &server) && reported(&agent) == (0, 0));
        let started = Instant::now();
        let count = detach_all(&bed) as u64;
        assert!(count > 0);
        until("it is reported", || reported(&agent).1 == count);
        until("they are attached again", || reported(&agent).0 == 0);
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
        assert!(is_handled(&bed, &server));
        let printed = agent.printed();
        assert!(printed.contains("attend at ") && printed.contains("attached again"), "{printed}");
    });
}

#[test]
fn detached_programs_are_only_reported_if_the_operator_wants_that() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&["--on-detach", "report"]);
        let server = bed.serve(Domain::IPV4, None);
        let count = detach_all(&bed);
        until("it is reported", || reported(&agent) == (count, count as u64));
        std::thread::sleep(Duration::from_secs(2));
        assert!(!is_handled(&bed, &server) && reported(&agent) == (count, count as u64));
        assert!(agent.printed().contains("another process has detached programs"));
    });
}

/// Since Linux 6.9 a link of a congestion control can be detached as well.
#[test]
fn a_detached_congestion_control_is_registered_again() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&[]);
        let server = bed.serve(Domain::IPV4, None);
        let maps = MapInfoIter::default();
        let ours = maps.filter(|map| map.name.to_string_lossy().starts_with("hs_"));
        let ours: Vec<u32> = ours.map(|map| map.id).collect();
        let is_ours = |link: &LinkInfo| match &link.info {
            LinkTypeInfo::StructOps(control) => ours.contains(&control.map_id),
            _ => false,
        };
        let links = LinkInfoIter::default().filter(is_ours);
        let controls: Vec<u32> = links.map(|link| link.id).collect();
        assert!(!controls.is_empty());
        controls.iter().for_each(|link| detach(*link));
        until("it is reported", || reported(&agent).1 == controls.len() as u64);
        until("they are registered again", || reported(&agent).0 == 0);
        assert!(is_handled(&bed, &server));
    });
}
