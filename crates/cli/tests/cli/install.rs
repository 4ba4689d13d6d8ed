//! `make install` puts there what it says, and `make uninstall` takes it away.

use crate::run::{folder, root};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use test_support::Need;

/// Programs that need no build: as the real ones, they write their page when they are asked to.
const OTHERS: [&str; 3] = ["headstart-agent", "headstart-gateway", "headstart-lab"];

/// Where the test installs to, and programs that need no build.
struct Machine {
    root: PathBuf,
    programs: PathBuf,
}

impl Machine {
    /// `None`, with a note, without make.
    fn new(name: &str) -> Option<Self> {
        if !test_support::has(&[Need::Program("make")]) {
            return None;
        }
        let folder = fs::canonicalize(folder(name)).unwrap();
        let [root, programs] = ["root", "programs"].map(|name| folder.join(name));
        for folder in [&root, &programs] {
            fs::create_dir(folder).unwrap();
        }
        fs::hard_link(env!("CARGO_BIN_EXE_headstart"), programs.join("headstart")).unwrap();
        for name in OTHERS {
            let other = programs.join(name);
            let script = format!("#!/bin/sh\n[ \"$1\" = man ] && echo .TH >\"$2/{name}.1\"\n");
            fs::write(&other, script).unwrap();
            fs::set_permissions(&other, Permissions::from_mode(0o755)).unwrap();
        }
        Some(Self { root, programs })
    }

    fn make(&self, target: &str) -> (bool, String) {
        let mut make = Command::new("make");
        // Variables of the make that may run this test.
        make.env_remove("MAKEFLAGS").env_remove("MFLAGS").env_remove("MAKELEVEL");
        make.args(["--silent", target, "PREFIX=/opt/hs"]).current_dir(root());
        make.arg(format!("DESTDIR={}", self.root.display()));
        let output = make.arg(format!("BINARIES={}", self.programs.display())).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// All files, with their rights, in order.
    fn files(&self) -> Vec<(String, u32)> {
        let mut files = files_below(&self.root, &self.root);
        files.sort();
        files
    }
}

fn files_below(root: &Path, folder: &Path) -> Vec<(String, u32)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.flat_map(|path| {
        if path.is_dir() {
            return files_below(root, &path);
        }
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        vec![(path.strip_prefix(root).unwrap().display().to_string(), mode)]
    });
    files.collect()
}

const CONFIG: &str = "etc/headstart/agent.toml";
const UNIT: &str = "opt/hs/lib/systemd/system/headstart-agent.service";
const DOCUMENTS: &str = "opt/hs/share/doc/headstart/docs/";
const PAGES: &str = "opt/hs/share/man/man1/";

#[test]
fn all_that_is_installed_comes_and_goes() {
    let Some(machine) = Machine::new("install") else { return };
    assert_eq!(machine.make("install"), (true, String::new()));
    let expected = [
        (CONFIG, 0o644),
        ("opt/hs/bin/headstart", 0o755),
        ("opt/hs/bin/headstart-agent", 0o755),
        ("opt/hs/bin/headstart-gateway", 0o755),
        ("opt/hs/bin/headstart-lab", 0o755),
        ("opt/hs/include/headstart.h", 0o644),
        (UNIT, 0o644),
        ("opt/hs/lib/systemd/system/headstart-gateway.service", 0o644),
        ("opt/hs/lib/systemd/system/headstart-observer.service", 0o644),
        ("opt/hs/share/bash-completion/completions/headstart", 0o644),
        ("opt/hs/share/bash-completion/completions/headstart-agent", 0o644),
        ("opt/hs/share/bash-completion/completions/headstart-gateway", 0o644),
        ("opt/hs/share/bash-completion/completions/headstart-lab", 0o644),
        ("opt/hs/share/doc/headstart/CHANGELOG.md", 0o644),
        ("opt/hs/share/doc/headstart/GLOSSARY.md", 0o644),
        ("opt/hs/share/doc/headstart/LICENSE-APACHE", 0o644),
        ("opt/hs/share/doc/headstart/LICENSE-GPL-2.0", 0o644),
        ("opt/hs/share/doc/headstart/LICENSE-MIT", 0o644),
        ("opt/hs/share/doc/headstart/README.md", 0o644),
        ("opt/hs/share/doc/headstart/SECURITY.md", 0o644),
        ("opt/hs/share/doc/headstart/agent.toml", 0o644),
        ("opt/hs/share/doc/headstart/scripts/README.md", 0o644),
        ("opt/hs/share/fish/vendor_completions.d/headstart-agent.fish", 0o644),
        ("opt/hs/share/fish/vendor_completions.d/headstart-gateway.fish", 0o644),
        ("opt/hs/share/fish/vendor_completions.d/headstart-lab.fish", 0o644),
        ("opt/hs/share/fish/vendor_completions.d/headstart.fish", 0o644),
        ("opt/hs/share/headstart/grafana/headstart-agent.json", 0o644),
        ("opt/hs/share/headstart/grafana/headstart-gateway.json", 0o644),
        ("opt/hs/share/headstart/prometheus/headstart-agent.rules.yml", 0o644),
        ("opt/hs/share/headstart/prometheus/headstart-gateway.rules.yml", 0o644),
        ("opt/hs/share/zsh/site-functions/_headstart", 0o644),
    ];
    let is_of = |folder: &'static str| move |file: &&(String, u32)| file.0.starts_with(folder);
    let files = machine.files();
    let (documents, rest): (Vec<_>, Vec<_>) = files.iter().partition(is_of(DOCUMENTS));
    let (pages, rest): (Vec<_>, Vec<_>) = rest.into_iter().partition(is_of(PAGES));
    assert_eq!(
        rest.into_iter().cloned().collect::<Vec<_>>(),
        expected.map(|(name, mode)| (name.to_owned(), mode))
    );
    for (folder, of_folder) in [("docs/agent/operate.md", documents), ("headstart-lab.1", pages)] {
        assert!(of_folder.iter().any(|(name, _)| name.ends_with(folder)), "{folder}");
        assert!(of_folder.iter().all(|(_, mode)| *mode == 0o644), "{of_folder:?}");
    }
    let unit = fs::read_to_string(machine.file(UNIT)).unwrap();
    let start = "ExecStart=/opt/hs/bin/headstart-agent --config /etc/headstart/agent.toml";
    assert!(unit.lines().any(|line| line == start), "{unit}");
    let page = "file:/opt/hs/share/doc/headstart/docs/agent/operate.md";
    assert!(unit.contains(page) && machine.file(&page["file:/".len()..]).is_file(), "{unit}");
    assert!(!unit.contains("/usr/"), "{unit}");

    assert_eq!(machine.make("uninstall"), (true, String::new()));
    assert_eq!(machine.files(), []);
}

/// A report of the installed program links to the page that explains it, and that page is there.
#[test]
fn reports_link_to_installed_documents() {
    let Some(machine) = Machine::new("install-links") else { return };
    assert!(machine.make("install").0);
    let report = machine.file("report.html");
    let mut race = Command::new(machine.file("opt/hs/bin/headstart"));
    race.args(["race", "30kB", "--exact", "--schemes", "linux", "--report"]).arg(&report);
    assert!(race.output().unwrap().status.success());
    let html = fs::read_to_string(report).unwrap();
    let links = html.split("<a href=\"file://").skip(1).filter_map(|rest| rest.split('"').next());
    let links: Vec<_> = links.map(PathBuf::from).collect();
    assert_eq!(links, [machine.file(DOCUMENTS).join("race.md")]);
    assert!(links[0].is_file());
}

#[test]
fn a_configuration_that_is_there_stays() {
    let Some(machine) = Machine::new("install-again") else { return };
    assert!(machine.make("install").0);
    fs::write(machine.file(CONFIG), "cap = 64\n").unwrap();
    assert_eq!(machine.make("install"), (true, String::new()));
    assert_eq!(machine.make("uninstall"), (true, String::new()));
    assert_eq!(machine.files(), [(CONFIG.to_owned(), 0o644)]);
    assert_eq!(fs::read_to_string(machine.file(CONFIG)).unwrap(), "cap = 64\n");
}

#[test]
fn an_application_finds_the_header_where_it_is_installed() {
    let Some(machine) = Machine::new("install-header") else { return };
    assert!(machine.make("install").0);
    let mut cc = Command::new("cc");
    cc.args(["-fsyntax-only", "-Wall", "-Werror", "-I"]).arg(machine.file("opt/hs/include"));
    if test_support::has(&[Need::Program("cc")]) {
        assert!(cc.arg(root().join("crates/agent/examples/size.c")).status().unwrap().success());
    }
}

#[test]
fn without_programs_it_says_what_to_build_and_installs_nothing() {
    let Some(machine) = Machine::new("install-nothing") else { return };
    fs::remove_file(machine.programs.join("headstart-agent")).unwrap();
    let (is_done, printed) = machine.make("install");
    assert!(!is_done && printed.contains("headstart-agent: make build agent"), "{printed}");
    assert_eq!(machine.files(), []);
}
