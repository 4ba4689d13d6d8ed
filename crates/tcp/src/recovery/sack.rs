//! placeholder sack
