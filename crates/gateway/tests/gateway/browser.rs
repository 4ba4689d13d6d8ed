//! The dashboard in a real browser: it loads its data without an error, and no element is wider
//! than the window.

use crate::bed::{Bed, Running, batch, get, report, send};
use gateway_proto::v1::{HostStatus, ReportBatch};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use test_support::Need;

const HTML: &str = include_str!("../../src/http/dashboard.html");
const CSS: &str = include_str!("../../src/http/dashboard.css");
const JS: &str = include_str!("../../src/http/dashboard.js");
/// Widths of a telephone's and a desktop's window, px.
const WIDTHS: [u64; 2] = [400, 1400];
/// Chromium's numbers of the two colour schemes (dark 0, light 1), with the background colour that
/// [`CSS`] has in each.
const SCHEMES: [(u8, &str); 2] = [(1, "rgb(255, 255, 255)"), (0, "rgb(20, 24, 31)")];

/// A script that reports the page's width and errors to the page around it.
const MEASURE: &str = r##"
const errors = [];
addEventListener("error", (event) => errors.push(String(event.message)));
addEventListener("unhandledrejection", (event) => errors.push(String(event.reason)));
setTimeout(() => {
  const view = document.documentElement.clientWidth;
  const wide = [...document.querySelectorAll("main *")].filter((node) => !node.closest(".wide")
    && node.getBoundingClientRect().right > view + 0.5);
  parent.postMessage({ width: innerWidth, view, scroll: document.documentElement.scrollWidth, errors,
    wide: wide.map((node) => node.tagName + "#" + node.id), background: getComputedStyle(document.body).backgroundColor,
    shown: !document.querySelector("main").hidden, hosts: document.querySelector("#reporters tbody").textContent,
    gateways: document.querySelectorAll("#gateways tbody tr").length }, "*");
}, 1000);
"##;

/// Runs Chromium on `url`. Its output is the DOM of the loaded page, or the DOM after `time` ms of
/// virtual time.
fn chromium(profile: &Path, scheme: u8, time: Option<u32>, url: &str) -> Output {
    Command::new("timeout")
        .args(["120", "chromium", "--headless", "--no-sandbox", "--disable-gpu"])
        .args(["--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking"])
        .args(["--enable-logging=stderr", "--window-size=2000,1200"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .args(time.map(|ms| format!("--virtual-time-budget={ms}")))
        .args(["--dump-dom", url])
        .output()
        .unwrap()
}

/// Starts a gateway with data to show: a host with a long name, networks of both families.
async fn with_something(bed: &Bed) -> Running {
    let running = bed.run().await;
    let name = "a-host-with-a-name-as-long-as-certificates-allow.dc1.example.org";
    let issued = bed.issue(gateway::pki::HolderRole::Agent, "site", &name[..63]);
    let mut client = bed.connect(running.grpc, Some(&issued)).await.unwrap();
    let status = HostStatus { version: "1<b>".to_owned(), ..HostStatus::default() };
    let reports = ["192.0.2.0/24", "2001:db8:ffff::/48"].map(|network| report(network, 100_000));
    let one = ReportBatch { status: Some(status), ..batch(1, reports.to_vec()) };
    send(&mut client, vec![one]).await.unwrap();
    running
}

/// Writes the page, which shows `answers` of the gateway, and a page around it with a frame
/// for each of [`WIDTHS`].
fn write_pages(folder: &Path, answers: &Value) {
    let stub = format!(
        "const answers = {answers};\nwindow.fetch = () => new Promise(() => {{}});\n\
         window.EventSource = class {{ constructor() {{ setTimeout(() => this.onmessage({{ data: JSON.stringify(answers) }}), 10); }} }};\n{MEASURE}"
    );
    fs::write(folder.join("stub.js"), stub.replace("</", "<\\/")).unwrap();
    let html = HTML.replace("\"/dashboard.css\"", "\"dashboard.css\"").replace(
        "<script src=\"/dashboard.js\" defer>",
        "<script src=\"stub.js\"></script><script src=\"dashboard.js\" defer>",
    );
    assert!(html.contains("stub.js"), "the page has another form than this test knows");
    fs::write(folder.join("dashboard.html"), html).unwrap();
    fs::write(folder.join("dashboard.css"), CSS).unwrap();
    fs::write(folder.join("dashboard.js"), JS).unwrap();
    let frames = WIDTHS.map(|width| {
        format!(
            "<iframe src=dashboard.html style=\"width:{width}px;height:900px;border:0\"></iframe>"
        )
    });
    let around = format!(
        "<!doctype html><meta charset=utf-8><meta name=color-scheme content=\"light dark\"><pre id=report></pre><script>\
         addEventListener('message', (event) => {{ document.getElementById('report').textContent += JSON.stringify(event.data) + '\\n'; }});\
         </script>{}",
        frames.concat()
    );
    fs::write(folder.join("around.html"), around).unwrap();
}

#[tokio::test]
async fn the_dashboard_fits_and_works_in_a_browser() {
    if !test_support::has(&[Need::Program("chromium")]) {
        return;
    }
    let bed = Bed::new("");
    let running = with_something(&bed).await;
    // This is the page as served, under its own content security policy. Its stream of events never
    // ends, so the test looks at it right after loading.
    let url = format!("http://{}/", running.http);
    let profile = bed.file("profile");
    let served =
        tokio::task::spawn_blocking(move || chromium(&profile, 1, None, &url)).await.unwrap();
    let (dom, said) =
        (String::from_utf8_lossy(&served.stdout), String::from_utf8_lossy(&served.stderr));
    assert!(dom.contains("id=\"gateways\""), "{dom}\n{said}");
    assert!(!said.contains(":CONSOLE"), "{said}");
    let json = async |path: &str| -> Value {
        serde_json::from_str(&get(running.http, path).await.1).unwrap()
    };
    let answers = json!({
        "status": json("/api/v1/status").await,
        "tenant": "site",
        "networks": json("/api/v1/networks?limit=25").await,
        "network": json("/api/v1/network?prefix=2001:db8:ffff::/48").await,
    });
    write_pages(&bed.folder, &answers);
    for (scheme, background) in SCHEMES {
        let url = format!("file://{}", bed.file("around.html").display());
        let profile = bed.file(&format!("profile-{scheme}"));
        let seen = chromium(&profile, scheme, Some(4000), &url);
        let dom = String::from_utf8_lossy(&seen.stdout);
        let report =
            dom.split("<pre id=\"report\">").nth(1).and_then(|rest| rest.split("</pre>").next());
        let lines: Vec<Value> = report
            .unwrap_or_default()
            .lines()
            .map(|line| {
                serde_json::from_str(&line.replace("&amp;", "&").replace("&lt;", "<")).unwrap()
            })
            .collect();
        let of = |key: &str| lines.iter().map(|line| line[key].clone()).collect::<Vec<_>>();
        let mut widths: Vec<_> = lines.iter().filter_map(|line| line["width"].as_u64()).collect();
        widths.sort_unstable();
        assert_eq!(widths, WIDTHS, "{dom}\n{}", String::from_utf8_lossy(&seen.stderr));
        for line in &lines {
            assert_eq!(line["scroll"], line["view"], "{line:#}");
            assert_eq!((&line["wide"], &line["errors"]), (&json!([]), &json!([])), "{line:#}");
            assert_eq!((&line["shown"], &line["gateways"]), (&json!(true), &json!(1)), "{line:#}");
            assert!(line["hosts"].as_str().unwrap().contains("a-host-with-a-name"), "{line:#}");
        }
        assert_eq!(of("background"), [background, background]);
    }
    running.handle.end().await.unwrap();
}
