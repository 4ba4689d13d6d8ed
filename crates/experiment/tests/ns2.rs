//! The check against ns-2's single flows, as it must come out: at most one case in twenty outside,
//! and every one that is explained by a tie that ns-2's rounding decided the other way.

use experiment::check::ns2::{Row, Verdict, check, shipped};

#[test]
fn ns2_agrees_and_ties_explain_the_rest() {
    let rows = check(&shipped().unwrap()).unwrap();
    assert!(rows.len() >= 40, "{} cases", rows.len());
    let outside: Vec<&Row> = rows.iter().filter(|r| r.verdict == Verdict::Outside).collect();
    assert!(outside.len() * 20 <= rows.len(), "{} of {}: {outside:#?}", outside.len(), rows.len());
    for row in outside {
        let other = row.beside.time_with_other_ties.unwrap_or(f64::INFINITY);
        let agrees = (row.bound[0]..=row.bound[1]).contains(&other);
        assert!(agrees, "{:?} is outside under either rule for ties", row.case);
    }
}

#[test]
fn most_flows_agree_to_a_thousandth_with_the_same_losses() {
    // 37 of the 40 at the time of writing; far fewer would mean that agreement is luck.
    let rows = check(&shipped().unwrap()).unwrap();
    let close = |r: &&Row| {
        let counts = [r.beside.drops, r.beside.rexmit, r.beside.timeouts];
        (r.ours / r.ns2 - 1.0).abs() < 0.001 && counts.iter().all(|c| c[0] == c[1])
    };
    let exact = rows.iter().filter(close).count();
    assert!(exact * 10 >= rows.len() * 9, "{exact} of {}", rows.len());
}
