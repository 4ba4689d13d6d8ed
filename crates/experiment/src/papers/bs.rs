//! TCP behaviour of a busy web server (Balakrishnan et al. 1998).

use super::claim::{Claim, How};

const SOURCE: &str = "Balakrishnan et al. 1998";

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "BS-4",
        text: "From the ACK stream alone an emulated TCP predicts the count of each kind of \
               retransmission within 0.75 % of what happened",
        source: SOURCE,
        conditions: "Needs the analysis of captures, which does not exist yet",
        why: "",
        how: How::Pending,
    },
    Claim {
        id: "BS-5",
        text: "Table 3 and Figures 2 to 10 from a capture of the server",
        source: SOURCE,
        conditions: "Needs the analysis of captures, which does not exist yet",
        why: "",
        how: How::Pending,
    },
];
