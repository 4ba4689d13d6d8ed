//! The choice of connections to hook, and changes of the configuration while the agent runs.

use crate::bed::{Agent, Bed, Server, finish, is_upon_cubic, until};
use nix::sys::signal::Signal;
use socket2::Domain;
use std::fs;
use std::path::Path;
use test_support::retry_on_stall;

/// Waits for the connection's end: in a host that has gone it would keep the programs for minutes.
fn is_hooked(bed: &Bed, agent: &Agent, server: &Server) -> bool {
    let closed = agent.closed();
    let is_hooked = is_upon_cubic(&finish(&mut bed.open(server, 1000), 1000));
    agent.wait_for_closed(closed + u64::from(is_hooked));
    is_hooked
}

#[test]
fn ports_are_attended_to_or_left_alone() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let (meant, other) = (bed.serve(Domain::IPV4, None), bed.serve(Domain::IPV6, None));
        {
            let agent = bed.agent(&["--local-port", &meant.port().to_string()]);
            assert!(is_hooked(&bed, &agent, &meant));
            assert!(!is_hooked(&bed, &agent, &other));
        }
        {
            let agent = bed.agent(&["--except-local-port", &other.port().to_string()]);
            assert!(is_hooked(&bed, &agent, &meant));
            assert!(!is_hooked(&bed, &agent, &other));
        }
        // The client's port is none of these.
        let agent = bed.agent(&["--remote-port", &meant.port().to_string()]);
        assert!(!is_hooked(&bed, &agent, &meant));
    });
}

#[test]
fn the_nearer_cgroup_counts() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let (above, below) = (bed.serve(Domain::IPV4, None), bed.serve_below(Domain::IPV4));
        {
            let agent = bed.agent(&["--except-cgroup", bed.below().to_str().unwrap()]);
            assert!(is_hooked(&bed, &agent, &above));
            assert!(!is_hooked(&bed, &agent, &below));
        }
        // Both are hooked, once.
        let agent = bed.agent(&["--cgroup", bed.below().to_str().unwrap()]);
        assert!(is_hooked(&bed, &agent, &above));
        assert!(is_hooked(&bed, &agent, &below));
        agent.wait_for_closed(2);
        assert_eq!(agent.status().connections.cold.closed, 2);
    });
}

/// A service manager removes the cgroup of a service that stops, and makes another one at the same
/// path when it starts.
#[test]
fn a_cgroup_that_is_made_anew_is_attended_to_or_left_alone_as_the_old_one_was() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let below = bed.below().to_owned();
        let restart = || {
            fs::remove_dir(&below).unwrap();
            fs::create_dir(&below).unwrap();
            bed.serve_below(Domain::IPV4)
        };
        let notices = |agent: &Agent| agent.printed().matches("a cgroup was replaced").count();
        {
            let agent = Agent::start(&below, "cubic", &[]);
            assert!(is_hooked(&bed, &agent, &bed.serve_below(Domain::IPV4)));
            for count in 1..=2 {
                let server = restart();
                until("it is seen", || notices(&agent) == count);
                assert!(is_hooked(&bed, &agent, &server));
            }
        }
        let agent = bed.agent(&["--except-cgroup", below.to_str().unwrap()]);
        assert!(!is_hooked(&bed, &agent, &bed.serve_below(Domain::IPV4)));
        let server = restart();
        until("it is seen", || notices(&agent) == 1);
        assert!(!is_hooked(&bed, &agent, &server));
    });
}

#[test]
fn a_reload_changes_what_it_can_and_an_error_changes_nothing() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("reloaded.toml");
        let server = bed.serve(Domain::IPV4, None);
        let port = server.port();
        fs::write(&file, format!("except-local-port = [{port}]\ncap = 100\n")).unwrap();
        let agent = bed.agent(&["--config", file.to_str().unwrap(), "--max-age", "60"]);
        assert_eq!(agent.status().cap, 100);
        assert!(!is_hooked(&bed, &agent, &server));

        fs::write(&file, "cap = 50\nmax-paths = 7\nprefix = [\"198.18.0.0/15=20\"]\n").unwrap();
        agent.signal(Signal::SIGHUP);
        until("it is read again", || agent.status().cap == 50);
        assert!(is_hooked(&bed, &agent, &server));
        assert_eq!(agent.status().max_paths, 65_536);
        assert!(agent.printed().contains("max-paths is as it was until"), "{}", agent.printed());
        agent.wait_for_closed(1);
        // The path has the new prefix.
        assert_eq!(agent.paths()[0].prefix, "198.18.0.0/15".parse().unwrap());

        for (wrong, why) in [
            ("cap = 20\nhodlout = 0.1\n", "reloaded.toml:2: unknown key \"hodlout\" (did you mean"),
            ("cap = 20\nexcept-cgroup = [\"/nonexistent\"]\n", "cannot open cgroup /nonexistent"),
        ] {
            fs::write(&file, wrong).unwrap();
            agent.signal(Signal::SIGHUP);
            until("it complains", || agent.printed().contains(why));
            assert_eq!(agent.status().cap, 50);
            assert!(is_hooked(&bed, &agent, &server));
        }
    });
}
