//! The command line.

use agent::agent::Config;
use agent::contract::Settings;
use agent::kernel::{Load, cgroup_root};
use agent::overrides::{self, MAX_CAP};
use agent::question::SOCKET;
use agent::schemes::Choice;
use clap::{Parser, Subcommand};
use ipnet::IpNet;
use std::path::PathBuf;

/// Has the Linux kernel's own TCP begin with what is remembered of the path.
///
/// Runs in the foreground until it is interrupted. New connections of the cgroup, of servers and of clients,
/// get the kernel's CUBIC or BBR with a warm start; applications need not be changed or restarted, but those that
/// already listen and connect keep what they have for open connections. When the agent ends, however it
/// ends, open connections finish and new ones are as before.
#[derive(Debug, Parser)]
#[command(name = "headstart agent", bin_name = "headstart agent", version)]
#[command(after_help = EXAMPLES, max_term_width = 100, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// Attend to the connections of this cgroup and of those below [default: all]
    #[arg(long, value_name = "DIR")]
    cgroup: Option<PathBuf>,

    /// What these connections get
    #[arg(long, value_enum, default_value_t)]
    control: Choice,

    /// Largest first window, segments
    #[arg(long, value_name = "SEGMENTS", default_value_t = 256)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=MAX_CAP as i64))]
    cap: u32,

    /// Believe nothing that is older, seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    max_age: u32,

    /// Believe half of a window after so many round trips of its path
    #[arg(long, value_name = "ROUND_TRIPS", default_value_t = 3000)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    half_life: u32,

    /// Remember so many paths; the one least recently used goes first
    #[arg(long, value_name = "PATHS", default_value_t = 65_536)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=16_777_216))]
    max_paths: u32,

    /// Remember this prefix as one path, with a cap of its own; 0 leaves its connections alone
    #[arg(long = "prefix", value_name = "PREFIX[=CAP]")]
    prefixes: Vec<String>,

    /// Where a running agent is asked
    #[arg(long, value_name = "FILE", default_value = SOCKET, global = true)]
    pub(crate) socket: PathBuf,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// See whether it can work on this kernel, with these rights
    Check {
        /// For machines
        #[arg(long)]
        json: bool,
    },
    /// How it is going: connections that began warm beside those that did not
    Status {
        /// For machines
        #[arg(long)]
        json: bool,
    },
    /// What is remembered of which destinations
    Paths {
        /// For machines
        #[arg(long)]
        json: bool,
    },
    /// Forget what lies within a prefix
    Forget {
        /// Such as 192.0.2.0/24
        #[arg(required_unless_present = "all")]
        prefix: Option<IpNet>,
        /// Forget everything
        #[arg(long, conflicts_with = "prefix")]
        all: bool,
    },
}

const EXAMPLES: &str = "\
Examples:
  headstart agent check                     can it work here?
  sudo headstart agent                      for all connections of this machine
  sudo headstart agent --cgroup /sys/fs/cgroup/system.slice/nginx.service
                                            for one service
  sudo headstart agent --prefix 198.51.100.0/22 --prefix 10.0.0.0/8=0
                                            one customer as one path, none of the own network
  sudo headstart agent status --json        how it is going

IPv4 destinations are remembered by /24, IPv6 by /48, each network namespace by itself.
Exit codes: 0 done, 2 it cannot work here, or bad input";

/// Prefixes that are remembered as one: networks as they are given to sites.
const V4_BITS: u8 = 24;
const V6_BITS: u8 = 48;

impl Args {
    /// How the programs are to be.
    pub(crate) fn load(&self) -> Result<Load, String> {
        let mut said = overrides::loopback().to_vec();
        for text in &self.prefixes {
            said.push(overrides::parse(text, self.cap).map_err(|why| format!("--prefix: {why}"))?);
        }
        let settings = Settings {
            max_age_ns: u64::from(self.max_age) * 1_000_000_000,
            half_life_rtts: self.half_life,
            cap: self.cap,
            v4_bits: V4_BITS,
            v6_bits: V6_BITS,
            control: self.control,
        };
        Ok(Load { settings, overrides: said, max_paths: self.max_paths })
    }

    pub(crate) fn config(self) -> Result<Config, String> {
        let load = self.load()?;
        let none = "no cgroups of version 2 are mounted here: `headstart agent check` says more";
        let cgroup = self.cgroup.or_else(cgroup_root).ok_or(none)?;
        Ok(Config { load, cgroup, socket: self.socket })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Args::command().debug_assert();
    }
}
