//! Any report at all makes a page.

use crate::page::{HOSTILE, race_of};
use crate::scan::Page;
use proptest::prelude::*;
use report::{
    BoundPoint, ConnectionView, CriticalSpan, LevelPoint, ObjectSpan, OpeningView, QueueCapacity,
    QueuePoint, QueueView, RaceReport, SchemeView, SenderBound, SequenceKind, SequencePoint,
    WindowPoint,
};
use units::Instant;

fn word() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), Just(HOSTILE.to_owned()), "[a-z]{1,8}"]
}

fn instant() -> impl Strategy<Value = Instant> {
    prop_oneof![
        (0u64..5_000_000_000).prop_map(Instant::from_nanos),
        any::<u64>().prop_map(Instant::from_nanos),
        Just(Instant::ZERO),
    ]
}

prop_compose! {
    fn object()(
        words in prop::array::uniform4(word()),
        bytes in any::<u64>(),
        discovered in instant(),
        later in prop::array::uniform3(prop::option::of(instant())),
        index in 0usize..9,
        revealed_by in prop::option::of(0usize..9),
        revealed in prop::option::of(instant()),
        server_wait in instant(),
        critical in prop::option::of((instant(), instant())),
        opening in prop::option::of((instant(), prop::array::uniform3(prop::option::of(instant())))),
    ) -> ObjectSpan {
        let [label, host, kind, connection] = words;
        let [requested, first_byte, done] = later;
        let opening = opening.map(|(opened, [lookup, connected, ready])| OpeningView { lookup, opened, connected, ready });
        let server_wait = server_wait - Instant::ZERO;
        let critical = critical.map(|(from, to)| CriticalSpan { from, to });
        ObjectSpan {
            index, label, host, kind, connection, opening, bytes, revealed_by, server_wait, critical,
            revealed, discovered, requested, first_byte, done,
        }
    }
}

prop_compose! {
    fn connection()(
        label in word(),
        points in prop::collection::vec((instant(), any::<u64>(), any::<u64>(), 0usize..5), 0..20),
        window in prop::collection::vec((instant(), any::<u64>(), any::<Option<u64>>(), word()), 0..20),
        levels_of in prop::array::uniform2(prop::collection::vec((instant(), any::<u64>()), 0..20)),
        bounds in prop::collection::vec((instant(), prop::option::of(0usize..3)), 0..20),
    ) -> ConnectionView {
        let kinds = [
            SequenceKind::Sent, SequenceKind::Retransmitted, SequenceKind::Acked,
            SequenceKind::Sacked, SequenceKind::Dropped,
        ];
        let sequence = points.into_iter();
        let sequence = sequence.map(|(at, from, to, k)| SequencePoint { at, from, to, kind: kinds[k] });
        let window = window.into_iter();
        let window = window.map(|(at, cwnd, ssthresh, cause)| WindowPoint {
            at, cwnd, ssthresh, cause: cause.into(),
        });
        let levels = |levels: Vec<(Instant, u64)>| {
            levels.into_iter().map(|(at, bytes)| LevelPoint { at, bytes }).collect()
        };
        let [flight, offered] = levels_of.map(levels);
        let causes = [SenderBound::Path, SenderBound::ReceiveWindow, SenderBound::Server];
        let bounds = bounds.into_iter();
        let bounds = bounds.map(|(at, n)| BoundPoint { at, bound: n.map(|n| causes[n]) }).collect();
        let (sequence, window) = (sequence.collect(), window.collect());
        ConnectionView { label, sequence, window, flight, offered, bounds }
    }
}

prop_compose! {
    fn queue()(
        label in word(),
        capacity in prop::option::of(any::<u64>()),
        in_bytes in any::<bool>(),
        points in prop::collection::vec((instant(), any::<u64>(), any::<u64>()), 0..20),
        drops in prop::collection::vec(instant(), 0..5),
    ) -> QueueView {
        let bound = if in_bytes { QueueCapacity::Bytes } else { QueueCapacity::Packets };
        let points = points.into_iter();
        let points = points.map(|(at, packets, bytes)| QueuePoint { at, packets, bytes });
        QueueView { label, capacity: capacity.map(bound), points: points.collect(), drops }
    }
}

prop_compose! {
    fn report()(
        word in word(),
        objects in prop::collection::vec(object(), 0..5),
        connections in prop::collection::vec(connection(), 0..3),
        queues in prop::collection::vec(queue(), 0..2),
    ) -> RaceReport {
        let mut report = race_of(&word);
        let odd = SchemeView { objects, connections, queues, ..SchemeView::default() };
        report.schemes.push(odd);
        report.compared = Some((0, 1));
        report
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Any input, in order or not, possible or not, makes one well-formed page. A second call gives
    /// the same page, and SVG knows all its numbers.
    #[test]
    fn any_report_makes_a_page(report in report()) {
        let html = report.to_html();
        let page = Page::of(&html);
        prop_assert_eq!(page.tags("script"), 3);
        for name in ["d", "x", "y", "data-x", "data-y", "viewBox"] {
            for value in page.attributes(name) {
                prop_assert!(!value.contains("NaN") && !value.contains("inf"), "{name}={value}");
            }
        }
        prop_assert_eq!(report.to_html(), html);
    }
}
