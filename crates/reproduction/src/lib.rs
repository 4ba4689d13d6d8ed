//! What the papers said, reproduced: their claims, their closed forms, and the programs that they used.
//!
//! [`papers`] runs each claim's experiments and says whether it holds; [`theory`] computes what the
//! closed forms predict; [`check`] runs single cases beside ns-2's recorded results. The product is in
//! crates `race` and `plan` and knows nothing of this one. Start with [`papers::PaperClaim`], or with
//! [`check::ns2`].

pub mod check;
pub mod papers;
pub mod theory;
