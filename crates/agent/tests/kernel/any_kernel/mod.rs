//! Properties that hold on every kernel, whatever mode it supports, and that need no real time.
//! These tests run on this machine's kernel, and on other kernels in an emulated machine
//! (`make test-kernels`). Times mean nothing there, so the tests look at windows, counters and
//! bytes, and measure nothing.
//!
//! A test's name is a feature and the mode in which it is tested: `tools/kernels` makes a table of
//! them.

mod decision;
mod hosts;
mod leftovers;
mod memory;
mod upgrade;
mod warm;
