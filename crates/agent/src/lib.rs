//! The agent: the Linux kernel's own TCP, starting with what is remembered of the path.
//!
//! The programs in `bpf/` run in the kernel and do all that concerns a connection. They continue
//! without this process for connections that are open. This side loads them, keeps their memory,
//! watches their effect and answers the operator. Nothing is pinned: a loaded program is gone with
//! the process and the last connection that used it.
//!
//! A module imports only modules of lower floors. `tools/circles` finds an arrow back:
//!
//! | floor | modules |
//! |---|---|
//! | 7 | [`daemon`]: the running agent; [`doctor`]: what is wrong on this machine |
//! | 6 | [`config`]: options, the configuration file, the checked configuration |
//! | 5 | [`interface`]: control socket, JSON, metrics, messages of a handover |
//! | 4 | [`programs`]: BPF programs loaded, attached and read; `site`: the client of the site's gateways |
//! | 3 | [`memory`]: remembered paths and the state file |
//! | 2 | [`canary`]: warm starts compared with the control group |
//! | 1 | [`contract`]: what programs and agent share, byte by byte |
//! | 0 | [`kernel`]: capabilities of the running kernel; [`os`]: time, log, sockets |

pub mod canary;
pub mod config;
pub mod contract;
pub mod daemon;
pub mod doctor;
pub mod interface;
pub mod kernel;
pub mod memory;
pub mod os;
pub mod programs;
mod site;
