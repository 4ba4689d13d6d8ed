//! The cases. By construction each has one cause that takes far longer than all others together.

use super::case::{CriticalMark, PageCase};
use super::site::{PageTransport, SiteFile};
use race::Bound;
use trace::TimeShare;
use units::Duration;
use workload::ObjectKind;

use PageTransport::{Http2, Http11};

/// A number of pictures of a size.
fn pictures(count: usize, bytes: usize) -> impl Iterator<Item = SiteFile> {
    (0..count).map(move |n| SiteFile::picture(&format!("/picture{n}"), bytes))
}

/// Files of a kind, one for each letter.
fn files(kind: ObjectKind, letters: &str) -> Vec<SiteFile> {
    letters.chars().map(|letter| SiteFile::empty(&format!("/{letter}"), kind)).collect()
}

/// A script that keeps the browser busy, and then asks for pictures.
fn busy_script(busy: Duration, pictures: &[SiteFile]) -> SiteFile {
    let ms = busy.as_millis();
    let mut text = format!("let end=performance.now()+{ms};while(performance.now()<end);");
    for picture in pictures {
        text +=
            &format!("document.body.append(Object.assign(new Image,{{src:\"{}\"}}));", picture.at);
    }
    SiteFile::script("/late.js", &text)
}

pub(super) fn all() -> Vec<PageCase> {
    let mut cases = servers();
    cases.extend(browsers());
    cases.extend(paths());
    cases.extend(windows());
    cases
}

/// Cases of servers and their answers.
fn servers() -> Vec<PageCase> {
    const SLOW: Duration = Duration::from_millis(800);
    let mut document = PageCase::over("20mbit,40ms,100p", Http11, "slow document");
    document.files[0] = document.files[0].clone().delayed_by(SLOW);
    let script = SiteFile::script("/slow.js", "").delayed_by(SLOW);
    vec![
        document
            .with_files(pictures(5, 10_000))
            .with_cause(Bound::Server)
            .shown_by(CriticalMark::Server("/")),
        PageCase::over("20mbit,40ms,100p", Http2, "slow script")
            .with_files([script])
            .with_files(pictures(20, 8000))
            .with_cause(Bound::Server)
            .shown_by(CriticalMark::Server("/slow.js")),
        PageCase::over("20mbit,100ms,100p", Http2, "redirects")
            .redirected(5)
            .with_cause(Bound::Rounds),
    ]
}

/// Cases of the times at which the browser discovers objects.
fn browsers() -> Vec<PageCase> {
    let late: Vec<SiteFile> = pictures(8, 4000).collect();
    let script = busy_script(Duration::from_millis(900), &late);
    let mut busy = PageCase::over("20mbit,40ms,100p", Http2, "late discovery").with_files([script]);
    busy.files.extend(late);
    vec![
        PageCase::over("20mbit,100ms,100p", Http2, "imports of styles")
            .with_chained_files(files(ObjectKind::Style, "abcdef"))
            .with_cause(Bound::Rounds),
        PageCase::over("20mbit,100ms,100p", Http11, "imports of modules")
            .with_chained_files(files(ObjectKind::Script, "abcdef"))
            .with_cause(Bound::Rounds),
        busy.with_cause(Bound::Client).shown_by(CriticalMark::Browser("/picture")),
        PageCase::over("20mbit,100ms,100p", Http11, "six connections")
            .with_files(pictures(100, 1000))
            .with_cause(Bound::Rounds)
            .shown_by(CriticalMark::Connections(10)),
    ]
}

/// Cases of the path.
fn paths() -> Vec<PageCase> {
    vec![
        PageCase::over("100mbit,500ms,1000p", Http2, "long round trips")
            .with_files(pictures(3, 5000))
            .with_cause(Bound::Rounds),
        PageCase::over("1500kbit,40ms,1000p", Http11, "thin link")
            .with_files(pictures(12, 40_000))
            .with_cause(Bound::Path),
        PageCase::over("100mbit,40ms,200p,loss=0.05", Http11, "lossy path")
            .with_files(pictures(60, 3000))
            .with_cause(Bound::Recovery)
            .analysed_as([TimeShare::Recovery, TimeShare::Timeout]),
    ]
}

/// Cases of windows.
fn windows() -> Vec<PageCase> {
    let first = PageCase::over("50mbit,120ms,200p", Http2, "small initial window");
    let offered = PageCase::over("20mbit,80ms,100p", Http11, "small receive window");
    vec![
        PageCase { initial_window: Some(1), ..first }
            .document_bytes(300_000)
            .with_cause(Bound::CongestionWindow)
            .analysed_as([TimeShare::SlowStart]),
        PageCase { client_window: Some(16_384), ..offered }
            .with_files(pictures(3, 200_000))
            .with_cause(Bound::ReceiveWindow)
            .analysed_as([TimeShare::ReceiverWindow]),
    ]
}
