//! Results of papers, and ns-2's, that simulation reproduces.

mod ns2;
mod ns2_rounds;
mod ns2_shared;
mod ns2_starts;
mod papers;
