//! placeholder reno
