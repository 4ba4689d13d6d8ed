//! A server for a client behind a link, ended by signals in the middle: nothing of the client's
//! network is left.

use super::{LINE, possible, site};
use crate::run::command;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// Looks, 50 ms apart, that are more than anything here takes on any machine.
const LOOKS: u32 = 400;

/// Processes on this machine that are in a network namespace, by its number.
fn processes_in(network: u64) -> usize {
    let all = fs::read_dir("/proc").expect("/proc").flatten();
    let of = |entry: fs::DirEntry| fs::metadata(entry.path().join("ns/net")).ok();
    all.filter_map(of).filter(|namespace| namespace.ino() == network).count()
}

/// Something holds on to a namespace by a mount, as `ip netns` does.
fn is_mounted(network: u64) -> bool {
    fs::read_to_string("/proc/self/mountinfo").unwrap().contains(&format!("net:[{network}]"))
}

fn soon(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..LOOKS {
        if holds() {
            return;
        }
        sleep(Duration::from_millis(50));
    }
    panic!("{what}: not after {LOOKS} looks");
}

/// A server whose client has had a page, has hidden a process in a session of its own, and waits;
/// its network.
fn start(name: &str) -> (Child, u64) {
    let script = "curl -sS --max-time 30 -o /dev/null $HEADSTART_URL; setsid sleep 86400 & \
                  stat -Lc %i /proc/self/ns/net; exec sleep 86400";
    let root = site(name);
    let arguments = [&["serve", root.to_str().unwrap(), "--quiet"], &LINE[..]].concat();
    let mut command = command(&[&arguments[..], &["--", "sh", "-c", script]].concat());
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let network = line.trim().parse().unwrap_or_else(|_| panic!("{line:?} is no number"));
    (child, network)
}

#[test]
fn a_signal_leaves_nothing_of_the_clients_network() {
    if !possible(&["curl"]) {
        return;
    }
    for (signal, code) in [("INT", Some(130)), ("TERM", Some(143)), ("KILL", None)] {
        let (mut child, network) = start(&format!("serve-ends-{signal}"));
        soon("client and hidden process are there", || processes_in(network) >= 2);
        let pid = child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), code, "{signal}");
        soon("its processes are gone", || processes_in(network) == 0);
        assert!(!is_mounted(network), "{signal}");
    }
    // Nor does anything that is left keep the next from starting.
    let root = site("serve-ends-next");
    let arguments = [&["serve", root.to_str().unwrap(), "--quiet"], &LINE[..]].concat();
    let next = command(&[&arguments[..], &["--", "true"]].concat()).output().unwrap();
    assert_eq!(next.status.code(), Some(0), "{}", String::from_utf8_lossy(&next.stderr));
}
