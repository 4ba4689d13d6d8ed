//! Hosts and their connections, step by step and over pipes that lose and reorder.

mod combinations;
mod common;
mod defence;
mod fast_open;
mod host;
mod hostile;
mod icmp;
mod integrated;
mod memory;
mod openings;
mod rescheme;
mod sharing;
mod steps_baselines;
mod steps_classic;
mod steps_delay;
mod steps_fast_start;
mod steps_linux_acks;
mod steps_linux_offload;
mod steps_ns2;
mod steps_startups;
mod transfers;
mod wrappers;
