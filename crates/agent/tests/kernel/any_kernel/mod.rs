//! What has to hold on every kernel, whatever mode it allows, and needs no real time: these tests run on this machine's
//! kernel as the others do, and on other kernels, in an emulated machine (`make test-kernels`), where nothing takes as long
//! as it should. So they look at windows, counters and bytes, and measure nothing.
//!
//! A test's name is a feature and the mode in which it is tested: `tools/kernels` makes a table of them.

mod decision;
mod hosts;
mod leftovers;
mod memory;
mod upgrade;
mod warm;
