//! The waterfall in a real browser, on a narrow and on a wide page: its filter, its rows on hover
//! and tap, and its head while the page scrolls.

use crate::page::{ms, race_of};
use report::{CriticalSpan, ObjectSpan, RaceReport};
use std::fs;
use std::path::Path;
use std::process::Command;
use test_support::Need;

/// Sixty objects of three kinds on four hosts; every fifth is a photo. Two schemes have different
/// critical paths, and are compared.
fn sixty_objects() -> RaceReport {
    let mut report = race_of("linux");
    let mut other = report.schemes[0].clone();
    other.name = "other".to_owned();
    other.page_done = Some(ms(26));
    report.schemes.push(other);
    report.compared = Some((0, 1));
    let first = report.schemes[0].objects[0].clone();
    for (scheme, critical) in report.schemes.iter_mut().zip([&[0, 7, 55][..], &[0, 9]]) {
        let object = |index: usize| {
            let host = format!("h{}.example", index % 4);
            let folder = if index.is_multiple_of(5) { "Photo" } else { "file" };
            ObjectSpan {
                index,
                label: format!("https://{host}/{folder}/{index}"),
                host,
                bytes: if index == 1 { 999_900 } else { 1_000 },
                kind: ["image", "script", "style"][index % 3].to_owned(),
                critical: critical
                    .contains(&index)
                    .then_some(CriticalSpan { from: ms(0), to: ms(30) }),
                ..first.clone()
            }
        };
        scheme.objects = (0..60).map(object).collect();
    }
    report
}

/// Filters, points and taps, and reports to the page around it what can be seen then.
const FILTER: &str = r##"
setTimeout(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const [own, compare, other] = all(".waterfall");
  const filter = own.parentNode.querySelector(".filter");
  const [text, critical, kind, host] = ["[type=search]", "[type=checkbox]", "select", "select + select"]
    .map((selector) => filter.querySelector(selector));
  const visible = (chart) => all(".rows .r", chart).filter((row) => !row.hidden);
  const box = (element) => element.getBoundingClientRect();
  const inside = (inner, outer) => inner.top > outer.top - 1 && inner.bottom < outer.bottom + 1;
  const look = () => {
    const bars = all(".curves > :not([display]) .bar", own);
    const rows = visible(own);
    return {
      names: rows.map((row) => row.querySelector("b").textContent).join(" "),
      shown: [own, compare, other].map((chart) => visible(chart).length).join(" "),
      aligned: rows.length === bars.length && rows.every((row, at) => inside(box(bars[at]), box(row))),
      said: filter.querySelector("output").value,
    };
  };
  const set = (element, value) => {
    if (element === critical) { element.click(); return look(); }
    element.value = value;
    element.dispatchEvent(new Event(element === text ? "input" : "change"));
    return look();
  };
  const found = { first: look() };
  found.photo = set(text, "pHoTo");
  found.words = set(text, "h1. photo");
  found.image = set(text, "photo") && set(kind, "image");
  found.host = set(host, "h1.example");
  found.none = set(text, "nowhere");
  found.every = set(text, "") && set(kind, "") && set(host, "");
  found.critical = set(critical);
  found.criticalPhoto = set(text, "photo");
  found.again = set(text, "") && set(critical);

  const tip = document.querySelector("#tip");
  const point = (element, type, more = {}) => {
    element.dispatchEvent(new PointerEvent(type, { bubbles: true, ...more }));
    return tip.hidden ? "" : tip.textContent;
  };
  const rowOf = (chart, at) => visible(chart)[at];
  found.hover = point(rowOf(own, 7), "pointermove");
  point(rowOf(own, 7), "pointerdown");
  found.left = tip.hidden;
  found.tap = point(rowOf(own, 8), "click", { pointerType: "touch" });
  const lanes = all(".curves > :first-child use", compare).map((use) => box(use));
  found.lanes = lanes.map(({ top, bottom }) =>
    point(rowOf(compare, 0), "pointermove", { clientY: (top + bottom) / 2 }).split("\n", 2).join(" "));

  const choice = document.querySelectorAll("#choice select")[1];
  choice.value = 0;
  choice.dispatchEvent(new Event("change"));
  found.lines = all(".ref.lower", compare).map((line) => line.getAttribute("x") + line.textContent.trim());

  const view = document.documentElement.clientWidth;
  const cover = getComputedStyle(visible(own)[0], "::before");
  found.covered = cover.content !== "none" && cover.height;
  found.fits = document.documentElement.scrollWidth <= view;
  found.cut = visible(own).filter((row) => [...row.children].some((cell) => cell.scrollWidth > cell.clientWidth)).length;
  scrollTo({ top: scrollY + box(own).top + 500, behavior: "instant" });
  found.head = Math.round(box(own.querySelector(".head")).top);
  all(".tabs a")[1].click();
  scrollTo({ top: scrollY + box(other).top + 500, behavior: "instant" });
  found.tabHead = Math.round(box(other.querySelector(".head")).top - box(document.querySelector(".tabbar")).bottom);
  parent.postMessage({ view, found }, "*");
}, 300);
"##;

/// Looks at the axes of a load with an object long after it: at first, with all objects, after a
/// reset, and with the wheel at a page that scrolls.
const AXES: &str = r##"
setTimeout(() => {
  const [own, progress] = [".waterfall", ".plot"].map((selector) => document.querySelector(selector));
  const look = () => {
    const [, , width] = own.querySelector(".curves").getAttribute("viewBox").split(" ");
    const lines = [...own.querySelectorAll(".marks .ref")];
    const shown = lines.filter((line) => line.getAttribute("visibility") !== "hidden").map((line) => line.getAttribute("x"));
    const arrow = getComputedStyle(own.querySelector(".later"), "::after").content;
    return `${Math.round(width)} ${shown} ${arrow.includes("→")}`;
  };
  const found = { home: look() };
  found.progress = Math.round(progress.querySelector(".curves").getAttribute("viewBox").split(" ")[2]);
  const wheel = new WheelEvent("wheel", { deltaY: 100, bubbles: true, cancelable: true });
  own.querySelector(".rows").dispatchEvent(wheel);
  found.scrolls = !wheel.defaultPrevented;
  const rest = own.querySelector(".rest button");
  found.text = rest.textContent;
  rest.click();
  found.all = look();
  own.parentNode.querySelector(".zoom :last-child").click();
  found.reset = look();
  parent.postMessage({ view: document.documentElement.clientWidth, found }, "*");
}, 300);
"##;

/// The widths of a telephone and of a desk's screen, in pixels.
const WIDTHS: [u32; 2] = [400, 1400];

/// Runs a driver on a page in a frame of each width. Returns the reports of the frames.
fn driven(html: &str, driver: &str, folder: &Path) -> Vec<(u32, String)> {
    let dom = shown(html, driver, folder);
    let report = |width: u32| {
        let line = dom.split(&format!("<pre>found {width} ")).nth(1);
        let line = line.unwrap_or_else(|| panic!("no report at {width}: {dom}"));
        (width, line.split("</pre>").next().unwrap().to_owned())
    };
    WIDTHS.map(report).into()
}

/// Shows a page in a frame of each width. Returns the page around the frames.
fn shown(html: &str, driver: &str, folder: &Path) -> String {
    let page = html.replace("script-src ", "script-src 'nonce-driver' ");
    let driver = format!("<script nonce=\"driver\">{driver}</script></body>");
    fs::write(folder.join("page.html"), page.replace("</body>", &driver)).unwrap();
    let frames = WIDTHS.map(|width| {
        format!("<iframe src=\"page.html\" width=\"{width}\" height=\"700\"></iframe>")
    });
    let around = format!(
        "<!DOCTYPE html><body>{}<script>addEventListener('message', ({{ data }}) => {{ \
         const line = document.createElement('pre'); \
         line.textContent = `found ${{data.view}} ${{JSON.stringify(data.found)}}`; \
         document.body.append(line); }});</script></body>",
        frames.concat()
    );
    fs::write(folder.join("around.html"), around).unwrap();
    let output = Command::new("timeout")
        .args(["120", "chromium", "--headless", "--no-sandbox", "--disable-gpu"])
        .args(["--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking"])
        .args(["--hide-scrollbars", "--window-size=2000,1600", "--virtual-time-budget=5000"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .args(["--dump-dom", &format!("file://{}", folder.join("around.html").display())])
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Expected numbers follow from the construction. Photos are 0, 5, … 55; images are 0, 3, … 57;
/// the host h1 has 1, 5, … 57. So 12 objects are photos, 0, 15, 30 and 45 are also images, and 45
/// alone is on h1, too. The critical paths are 0, 7, 55 and 0, 9: four objects are on one of them.
#[test]
fn the_filter_shows_what_is_chosen_in_all_waterfalls() {
    if !test_support::has(&[Need::Program("chromium")]) {
        return;
    }
    let folder = crate::files::folder("waterfall");
    for (width, line) in driven(&sixty_objects().to_html(), FILTER, &folder) {
        let has = |part: &str| assert!(line.contains(part), "{width}: no {part} in {line}");
        let look = |step: &str, names: &str, shown: &str, expected: &str| {
            has(&format!(
                "\"{step}\":{{\"names\":\"{names}\",\"shown\":\"{shown}\",\"aligned\":true,\"said\":\"{expected}\"}}"
            ));
        };
        let every: Vec<String> = (0..60)
            .map(|n| format!("/{}/{n}", if n % 5 == 0 { "Photo" } else { "file" }))
            .collect();
        let photos: Vec<String> = (0..12).map(|n| format!("/Photo/{}", 5 * n)).collect();
        look("first", &every.join(" "), "60 60 60", "");
        look("photo", &photos.join(" "), "12 12 12", "12 of 60 objects");
        look("words", "/Photo/5 /Photo/25 /Photo/45", "3 3 3", "3 of 60 objects");
        look("image", "/Photo/0 /Photo/15 /Photo/30 /Photo/45", "4 4 4", "4 of 60 objects");
        look("host", "/Photo/45", "1 1 1", "1 of 60 objects");
        look("none", "", "0 0 0", "0 of 60 objects");
        look("every", &every.join(" "), "60 60 60", "");
        look("critical", "/Photo/0 /file/7 /Photo/55", "3 4 2", "3 of 60 objects");
        look("criticalPhoto", "/Photo/0 /Photo/55", "2 2 1", "2 of 60 objects");
        look("again", &every.join(" "), "60 60 60", "");
        has(
            "\"hover\":\"https://h3.example/file/7\\nscript · h3.example · 1\u{202f}000 B with header",
        );
        has("\"left\":true");
        has("\"tap\":\"https://h0.example/file/8\\n");
        has(
            "\"lanes\":[\"linux https://h0.example/Photo/0\",\"other https://h0.example/Photo/0\"]",
        );
        // The load of `linux` ends at 30 ms of 30.9, 97.087 %, in the rows and above them.
        has("\"lines\":[\"97.087%below 30.0 ms\",\"97.087%\"]");
        // Upright lines pass behind the labels of a narrow page, which stand above the bars.
        has(if width == 400 { "\"covered\":\"17px\"" } else { "\"covered\":false" });
        has("\"fits\":true,\"cut\":0,\"head\":0,\"tabHead\":0");
    }
}

/// The load ends at 30 ms, and an object at 300 ms, so the axis ends at 309 ms. At first it shows
/// 34.5 ms, which are 11,165 of 100,000 steps. The two lines of the limit stand at 25 / 34.5 then,
/// and the load's line at 30 / 34.5. With all objects they stand at 25 / 309 and 30 / 309.
#[test]
fn the_axis_ends_with_the_load_until_a_reader_wants_the_rest() {
    if !test_support::has(&[Need::Program("chromium")]) {
        return;
    }
    let mut report = race_of("linux");
    let object = report.schemes[0].objects[0].clone();
    report.schemes[0].milestones.truncate(1);
    report.schemes[0].objects.push(ObjectSpan {
        index: 1,
        critical: None,
        opening: None,
        revealed: None,
        discovered: ms(280),
        requested: Some(ms(280)),
        first_byte: Some(ms(290)),
        done: Some(ms(300)),
        ..object
    });
    let folder = crate::files::folder("axes");
    for (width, line) in driven(&report.to_html(), AXES, &folder) {
        let home = "11165 72.464%,72.464%,86.957% true";
        let all = "100000 8.091%,8.091%,9.709% false";
        let expected = format!(
            "{{\"home\":\"{home}\",\"progress\":11165,\"scrolls\":true,\"text\":\"1 later object until 300 ms →\",\
             \"all\":\"{all}\",\"reset\":\"{home}\"}}"
        );
        assert_eq!(line, expected, "{width}");
    }
}
