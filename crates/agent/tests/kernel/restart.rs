//! The memory outlives the agent, however it ends, and keeps its age.

use crate::bed::{Bed, until};
use crate::failing::{self, JUDGED_CONNECTIONS};
use nix::sys::signal::Signal;
use socket2::Domain;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, thread};
use test_support::retry_on_stall;

fn fresh(name: &str) -> PathBuf {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_file(&file);
    file
}

#[test]
fn kill_9_at_any_moment_loses_seconds_at_most_and_makes_nothing_younger() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let file = fresh("killed.redb");
        let arguments = ["--state", file.to_str().unwrap(), "--save-every", "1"];
        let server = bed.serve(Domain::IPV4, None);
        let mut agent = bed.agent(&arguments);
        bed.visit(&server, 30_000);
        agent.wait_for_closed(1);
        let taught = agent.paths()[0].clone();
        // Saved by then: once a second, and a tick.
        thread::sleep(std::time::Duration::from_secs(2));
        let mut age = taught.age_s;
        // In the middle of saving, too: every visit changes the path.
        for pause in [0, 350, 700, 1050] {
            agent.kill();
            agent = bed.agent(&arguments);
            let path = agent.paths()[0].clone();
            assert_eq!((path.prefix, path.window), (taught.prefix, taught.window), "{path:?}");
            assert!(path.age_s > age, "{path:?}, before {age}");
            age = path.age_s;
            // Too short to teach anything but its count.
            bed.visit(&server, 1000);
            agent.wait_for_closed(1);
            thread::sleep(std::time::Duration::from_millis(pause));
        }
        bed.visit(&server, 30_000);
        agent.wait_for_closed(2);
        assert!(agent.status().connections.warm.closed >= 1);
    });
}

#[test]
fn an_end_by_signal_keeps_all_and_what_was_forgotten_stays_so() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let file = fresh("ended.redb");
        let arguments = ["--state", file.to_str().unwrap(), "--save-every", "3600"];
        let server = bed.serve(Domain::IPV4, None);
        {
            let mut agent = bed.agent(&arguments);
            bed.visit(&server, 30_000);
            agent.wait_for_closed(1);
            agent.signal(Signal::SIGTERM);
            agent.wait();
        }
        let mut agent = bed.agent(&arguments);
        assert_eq!(agent.paths().len(), 1);
        assert_eq!(agent.forget(None), 1);
        // Forgotten on disk before it is answered.
        agent.kill();
        let agent = bed.agent(&arguments);
        assert_eq!(agent.paths(), []);
    });
}

#[test]
fn being_off_outlives_the_agent() {
    retry_on_stall(|| {
        let Some(bed) = failing::bed() else { return };
        let file = fresh("off.redb");
        let state = [
            "--state",
            file.to_str().unwrap(),
            "--cap",
            "1024",
            "--off-connections",
            JUDGED_CONNECTIONS,
        ];
        let server = bed.serve(Domain::IPV4, None);
        let mut agent = bed.agent(&state);
        let failed = failing::turn_off(&bed, &agent, &server);
        let why = agent.status().off;
        assert!(why.is_some());
        agent.kill();
        let mut agent = bed.agent(&state);
        assert_eq!(agent.status().off, why);
        // The comparison behind it goes on, too.
        assert_eq!(agent.status().parts[0].chosen, failed);
        assert!(agent.arm());
        agent.kill();
        let status = bed.agent(&state).status();
        assert_eq!((status.off, status.parts[0].chosen), (None, 0));
    });
}

#[test]
fn what_is_exported_can_be_imported_and_is_as_old() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let (file, again) = (fresh("memory.json"), fresh("again.json"));
        let server = bed.serve(Domain::IPV4, None);
        let agent = bed.agent(&[]);
        bed.visit(&server, 30_000);
        agent.wait_for_closed(1);
        let run = |command: &str, file: &Path| {
            let mut program = Command::new(env!("CARGO_BIN_EXE_headstart-agent"));
            program.arg(command).arg(file).arg("--socket").arg(agent.socket());
            let output = program.output().unwrap();
            let printed =
                String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            (output.status.success(), printed)
        };
        assert_eq!(run("export", &file), (true, String::new()));
        let before = agent.paths()[0].clone();
        // A sample of the same age is known already.
        assert!(run("import", &file).1.starts_with("0 of 1 paths taken"));
        agent.forget(None);
        assert!(run("import", &file).1.starts_with("1 of 1 paths taken"));
        let after = agent.paths()[0].clone();
        assert_eq!(
            (after.window, after.srtt_ms, after.namespace),
            (before.window, before.srtt_ms, before.namespace)
        );
        assert!(after.age_s >= before.age_s, "{after:?}, {before:?}");
        assert!(after.age_s < before.age_s + 10.0, "{after:?}, {before:?}");

        fs::write(
            &again,
            fs::read_to_string(&file).unwrap().replace("\"window\": ", "\"window\": -"),
        )
        .unwrap();
        let (is_done, why) = run("import", &again);
        assert!(!is_done && why.contains("again.json: paths[0].window: "), "{why}");
        until("the path is as it was", || agent.paths()[0].window == before.window);
    });
}
