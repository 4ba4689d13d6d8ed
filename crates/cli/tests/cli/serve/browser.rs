//! A real browser loads a page over a link of 20 Mbit/s and 80 ms: every object arrives as it is on
//! disk, at times that the path allows. Upper bounds only detect a load that hangs: a browser on a
//! busy machine takes the time it needs.

use super::{LINE, possible};
use crate::run::{command, folder};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// Round trip of the path, ms; the browser rounds its times to 0.1 ms.
const RTT: f64 = 80.0 - 0.2;
const IMAGES: usize = 8;
/// An object that takes longer than this hangs, ms.
const HANGS: f64 = 60_000.0;

/// A page of a style sheet, two scripts and eight images of 30 kB each.
fn page() -> PathBuf {
    let around = folder("serve-browser");
    let root = around.join("root");
    fs::create_dir(&root).unwrap();
    let images: String = (0..IMAGES).map(|n| format!("<img src=image{n}.bmp>")).collect();
    let html = format!(
        "<!doctype html><meta charset=utf-8><title>page</title><link rel=icon href=image0.bmp>\
         <link rel=stylesheet href=style.css>\
         <script defer src=sha256.js></script><script defer src=report.js></script>\
         <body>{images}<pre id=report></pre><!-- {} -->",
        "x".repeat(20_000)
    );
    fs::write(root.join("index.html"), html).unwrap();
    fs::write(
        root.join("style.css"),
        format!("body {{ margin: 17px }} /* {} */", "y".repeat(9000)),
    )
    .unwrap();
    fs::write(root.join("sha256.js"), include_str!("page/sha256.js")).unwrap();
    fs::write(root.join("report.js"), include_str!("page/report.js")).unwrap();
    for n in 0..IMAGES {
        fs::write(root.join(format!("image{n}.bmp")), bitmap(n as u32)).unwrap();
    }
    root
}

/// 100 by 100 pixels, all different.
fn bitmap(seed: u32) -> Vec<u8> {
    let (side, header) = (100_u32, 54_u32);
    let mut bytes = b"BM".to_vec();
    let mut put = |numbers: &[u32]| bytes.extend(numbers.iter().flat_map(|n| n.to_le_bytes()));
    // Size, reserved, where pixels begin; size of what follows, width, height, a plane of 24 bits.
    put(&[header + 3 * side * side, 0, header, 40, side, side, 1 | 24 << 16, 0, 0, 0, 0, 0, 0]);
    let pixels =
        (0..3 * side * side).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8 ^ seed as u8);
    bytes.extend(pixels);
    bytes
}

/// Findings of the page's script; `root` is served under `scheme`.
fn load(root: &Path, scheme: &str) -> Value {
    let profile = root.with_file_name("profile");
    let script = format!(
        "timeout 180 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
         --disable-background-networking --disable-features=HttpsUpgrades --user-data-dir={} \
         --dump-dom $HEADSTART_URL",
        profile.display()
    );
    let arguments = [&["serve", root.to_str().unwrap(), "--scheme", scheme], &LINE[..]].concat();
    let output =
        command(&[&arguments[..], &["--", "sh", "-c", &script]].concat()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let dom = String::from_utf8_lossy(&output.stdout);
    let (_, report) =
        dom.split_once("<pre id=\"report\">").unwrap_or_else(|| panic!("{dom}\n{errors}"));
    let (report, _) = report.split_once("</pre>").unwrap();
    serde_json::from_str(report).unwrap_or_else(|why| panic!("{why}: {report}\n{errors}"))
}

#[test]
fn a_browser_loads_a_page_as_it_is_on_disk() {
    if !possible(&["chromium"]) {
        return;
    }
    let root = page();
    for scheme in ["linux", "etcp-html-pre"] {
        let report = load(&root, scheme);
        let names = fs::read_dir(&root).unwrap().map(|file| file.unwrap().file_name());
        for name in names.map(|name| name.into_string().unwrap()) {
            let digest = Sha256::digest(fs::read(root.join(&name)).unwrap());
            let hash: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(report["hashes"][&name], hash.as_str(), "{scheme}: {name}: {report:#}");
        }
        // They were understood, too: images have their width, and the style sheet holds.
        assert_eq!(report["images"], serde_json::json!(vec![100; IMAGES]));
        assert_eq!((&report["style"], &report["told"]["scheme"]), (&"17px".into(), &scheme.into()));
        check_times(&report);
    }
}

/// The first answer takes a round trip (a browser may have connected before it navigates), and
/// objects of the page one more. An object cannot be there before the page that names it has
/// started.
fn check_times(report: &Value) {
    let time = |name: &str| report["timing"][name].as_f64().unwrap();
    assert!(time("responseStart") - time("requestStart") >= RTT, "{report:#}");
    let ends = report["ends"].as_object().unwrap();
    assert_eq!(ends.len(), IMAGES + 3, "{report:#}");
    for (name, end) in ends {
        let end = end.as_f64().unwrap();
        assert!((time("responseStart") + RTT..HANGS).contains(&end), "{name}: {report:#}");
    }
    // 240 kB of images at 20 Mbit/s take 96 ms.
    assert!(time("domComplete") - time("requestStart") >= 2.0 * RTT + 96.0, "{report:#}");
}
