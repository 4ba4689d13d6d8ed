//! TCP Fast Start (Padmanabhan & Katz 1998 §4, §5).
//!
//! `load` has the single bursty connection among bulk transfers, the files beside it the others.

mod load;

use super::claim::{Claim, How};

/// The paper's clock: BSD's retransmission timer (§7.1).
const COARSE: &str = "profile=paper+tick=500ms";
/// ns's, which is shown beside it.
const FINE: &str = "profile=paper+tick=100ms";
/// The plans' key for either.
const TICK: &str = "parameters";

pub(super) const CLAIMS: &[Claim] = &[Claim {
    id: "FS-1",
    text: "Under constant load Fast Start cuts the time of a 30 KB burst after 20 s of idle time by \
           50 to 65 %; the gain is largest at low load",
    source: "Padmanabhan & Katz 1998 §4.1, Figure 2",
    conditions: "50 ms, buffer 50; tick 500 ms, 100 ms beside it; 10 seeds; low load: 0 to 2 bulk \
                 transfers, which leave a part of the link free, and of these the largest gain, as the \
                 paper has it (\"largest\", \"up to\"); time to the last acknowledgement",
    why: "",
    how: How::Experiments(&[&load::FS_1], load::fs_1),
}];
