//! Reproduction of the papers: their claims, and the programs that they used.
//!
//! [`papers`] runs each claim's experiments and says whether it holds; [`check`] runs single cases
//! beside ns-2's recorded results. The product is in crates `race` and `experiment` and knows
//! nothing of this one; the papers' closed forms are in crate `theory`. Start with
//! [`papers::PaperClaim`], or with [`check::ns2`].

pub mod check;
pub mod papers;
