//! TCP Session (Padmanabhan & Katz 1998 §6).

use super::claim::Claim;

pub(super) const CLAIMS: &[Claim] = &[];
