//! The check against ns-2's rounds of transfers: a representative part of it, as it must come out.

use reproduction::check::ns2::{ComparisonRow, Ns2Verdict, Selection, check, read};

/// Every kind of case, each with another variant and number of competitors; the whole takes
/// 45 s of a release build, this part 8 s of a test build.
const CASES: [Excerpt; 3] = [
    Excerpt {
        name: "30kb",
        text: include_str!("../../data/ns2-sp2-30kb.csv"),
        chosen: &[0, 5, 10, 19, 24, 33, 46],
    },
    Excerpt {
        name: "sizes",
        text: include_str!("../../data/ns2-sp3-sizes.csv"),
        chosen: &[1, 6, 11, 12],
    },
    Excerpt { name: "udp", text: include_str!("../../data/ns2-sp4-udp.csv"), chosen: &[3, 6] },
];

/// Lines of a file of ns-2's results.
struct Excerpt {
    name: &'static str,
    text: &'static str,
    /// Numbers of the rows, without the head.
    chosen: &'static [usize],
}

fn rows() -> Vec<ComparisonRow> {
    let file = |Excerpt { name, text, chosen }: &Excerpt| {
        let lines: Vec<_> = text.lines().collect();
        let picked = chosen.iter().map(|n| lines[n + 1]);
        let text: Vec<_> = std::iter::once(lines[0]).chain(picked).collect();
        read(name, &text.join("\n")).unwrap()
    };
    let files: Vec<_> = CASES.iter().map(file).collect();
    check(&files, &Selection::default()).unwrap()
}

#[test]
fn rounds_agree_with_ns2() {
    let rows = rows();
    assert_eq!(rows.len(), 13);
    for row in &rows {
        assert_eq!(row.verdict, Ns2Verdict::Inside, "{row:?}");
    }
    // Within 10 % each; far closer together, or agreement would be luck.
    let errors: f64 = rows.iter().map(|row| (row.ours / row.ns2).ln()).sum();
    assert!((errors / 13.0).abs() < 0.02, "{errors}");
}
