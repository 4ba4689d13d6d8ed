//! The checks against ns-2's pages, start-ups beside cross traffic, and arriving flows: a
//! representative part of each, as it must come out.

use reproduction::check::ns2::{ComparisonRow, Ns2Verdict, Selection, check, read};

const PAGES: &str = include_str!("../../data/ns2-et-reno-pages.csv");
const CROSS: &str = include_str!("../../data/ns2-ps2-single.csv");
const ARRIVALS: &str = include_str!("../../data/ns2-ps4-dumbbell.csv");

/// Runs the rows of `text` with these numbers, which start at 0.
fn rows(text: &str, chosen: &[usize]) -> Vec<ComparisonRow> {
    let lines: Vec<_> = text.lines().collect();
    let picked = chosen.iter().map(|n| lines[n + 1]);
    let text: Vec<_> = std::iter::once(lines[0]).chain(picked).collect();
    check(&[read("part.csv", &text.join("\n")).unwrap()], &Selection::default()).unwrap()
}

fn outside(rows: &[ComparisonRow]) -> Vec<&ComparisonRow> {
    rows.iter().filter(|row| row.verdict == Ns2Verdict::Outside).collect()
}

fn exact(rows: &[ComparisonRow]) -> usize {
    rows.iter().filter(|row| (row.ours - row.ns2).abs() <= 0.001 * row.ns2).count()
}

#[test]
fn pages_agree_with_ns2_most_to_a_tenth_of_a_millisecond() {
    let rows = rows(PAGES, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!((rows.len(), outside(&rows).len()), (20, 0), "{:#?}", outside(&rows));
    // The runs are deterministic, so ns-2's four decimals are met unless a tie goes the other way:
    // 17 of 20.
    assert!(exact(&rows) >= 16, "{} of 20", exact(&rows));
}

#[test]
fn start_ups_beside_cross_traffic_agree_with_ns2() {
    // Sack and Hoe alone, Vegas beside 80 Mbit/s: 5 figures each.
    let rows = rows(CROSS, &[0, 8, 15]);
    assert_eq!((rows.len(), outside(&rows).len()), (15, 0), "{:#?}", outside(&rows));
    assert!(exact(&rows) >= 12, "{} of 15", exact(&rows));
}

#[test]
fn arriving_flows_agree_with_ns2() {
    // Sack one way: median and mean throughput, flows under way.
    let rows = rows(ARRIVALS, &[3]);
    assert_eq!((rows.len(), outside(&rows).len()), (3, 0), "{:#?}", outside(&rows));
    assert!(rows.iter().all(|row| row.ours_se > 0.0 && row.ns2_se > row.ours_se));
}

/// ns-2.35 made these figures with the set-up of the fast-start suite: four bulk transfers over ten
/// draws of starts. Their windows of 128 packets are one more than path and queue hold.
const FOUR_BULK: &str =
    "proto,nbulk,runs,first_mean,first_se,second_mean,second_se\nnewreno,4,10,7.77,1.15,7.26,0.11";

#[test]
fn a_second_burst_begins_when_the_first_has_been_over_for_20_s() {
    // 20 s after the start of the first one, ns-2 has 4.56 s, which is outside of 7.26 s.
    let file = read("ns2-fs2-constant-load-200ms.csv", FOUR_BULK).unwrap();
    let rows = check(&[file], &Selection::default()).unwrap();
    assert_eq!((rows.len(), outside(&rows).len()), (2, 0), "{:#?}", outside(&rows));
}
