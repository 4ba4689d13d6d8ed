//! Tests of policies: the lists of the registry, and senders step by step.

mod capabilities;
mod linux_sender;
mod registry;
mod scoreboard;
mod steps_linux_recovery;
mod steps_linux_timeouts;
