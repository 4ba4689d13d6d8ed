//! The agent at work in this machine's kernel: connections between two network namespaces behind an
//! emulated link, a server in a cgroup of its own. Needs root, TUN devices, cgroups of version 2
//! and a kernel that takes the programs; says so and passes without them.

mod any_kernel;
mod bbr;
mod bed;
mod beside;
mod bulk;
mod cable;
mod canary;
mod cold;
mod config;
mod decisions;
mod detach;
mod failing;
mod gateway;
mod harm;
mod hostile;
mod kill;
mod late;
mod live;
mod mark;
mod memory;
mod namespaces;
mod overhead;
mod pacing;
mod peers;
mod prefixes;
mod race;
mod receive;
mod refusal;
mod reservations;
mod restart;
mod safety;
mod scale;
mod schema;
mod service;
mod session;
mod socket_options;
mod stale;
mod timers;
mod upgrade;
mod verifier;
mod warm;
mod wide;
mod window;
