//! placeholder rack
