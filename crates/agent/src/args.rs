//! The command line.

use agent::options::Options;
use agent::schema;
use clap::{Parser, Subcommand};
use ipnet::IpNet;
use std::path::PathBuf;

/// Has the Linux kernel's own TCP begin with what is remembered of the path.
///
/// Runs in the foreground until it is interrupted. New connections of the cgroup, of servers and of clients,
/// get the kernel's CUBIC or BBR with a warm start; applications need not be changed or restarted, but those that
/// already listen and connect keep what they have for open connections. When the agent ends, however it
/// ends, open connections finish and new ones are as before.
#[derive(Clone, Debug, Parser)]
#[command(name = "headstart agent", bin_name = "headstart agent", version)]
#[command(after_help = EXAMPLES, max_term_width = 100, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// Read what is to be done from this file; what is said here wins over it
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    #[command(flatten)]
    options: Options,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Command {
    /// See whether it can work on this kernel, with these rights: what an agent with the same options would do
    Check {
        /// Of an agent that reads this file
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        #[command(flatten)]
        options: Box<Options>,
        /// For machines
        #[arg(long)]
        json: bool,
        /// Print the JSON's schema and do nothing else
        #[arg(long)]
        json_schema: bool,
    },
    /// How it is going: connections that began warm beside those that did not
    Status {
        /// For machines
        #[arg(long)]
        json: bool,
        /// Print the JSON's schema and do nothing else
        #[arg(long)]
        json_schema: bool,
    },
    /// What is remembered of which destinations
    Paths {
        /// For machines
        #[arg(long)]
        json: bool,
        /// Print the JSON's schema and do nothing else
        #[arg(long)]
        json_schema: bool,
    },
    /// Write what is remembered as a JSON document
    Export {
        /// Write here [default: standard output]
        file: Option<PathBuf>,
        /// Print the JSON's schema and do nothing else
        #[arg(long)]
        json_schema: bool,
    },
    /// Remember what such a document holds, where nothing younger is known
    Import {
        /// Of `headstart agent export`
        file: PathBuf,
    },
    /// Use windows again, after they were found to do harm
    Arm,
    /// As root, take away what an agent that was killed has left in the kernel (before Linux 6.4)
    Tidy,
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
  headstart agent check --mode wrap         can it with these options?
  sudo headstart agent                      for all connections of this machine
  sudo headstart agent --cgroup /sys/fs/cgroup/system.slice/nginx.service
                                            for one service
  sudo headstart agent --prefix 198.51.100.0/22 --prefix 10.0.0.0/8=0
                                            one customer as one path, none of the own network
  sudo headstart agent --local-port 443 --except-cgroup /sys/fs/cgroup/system.slice/backup.service
                                            one port of whatever listens there, but not of this service
  sudo headstart agent --config /etc/headstart/agent.toml
                                            a file with the same options as keys: cap = 64
  sudo headstart agent status --json        how it is going

SIGHUP has it read the file again; what is wrong there leaves the old in force.
IPv4 destinations are remembered by /24, IPv6 by /48, each network namespace by itself.
Exit codes: 0 done, 2 it cannot work here, or bad input";

impl Command {
    /// The schema that is asked for instead of anything else.
    pub(crate) const fn schema(&self) -> Option<&'static str> {
        match self {
            Self::Check { json_schema: true, .. } => Some(schema::CHECK),
            Self::Status { json_schema: true, .. } => Some(schema::STATUS),
            Self::Paths { json_schema: true, .. } => Some(schema::PATHS),
            Self::Export { json_schema: true, .. } => Some(schema::MEMORY),
            _ => None,
        }
    }
}

impl Args {
    /// What is said here, and where nothing is, in the file.
    pub(crate) fn options(&self) -> Result<Options, String> {
        let (config, said) = match &self.command {
            Some(Command::Check { config, options, .. }) => (config, &**options),
            _ => (&self.config, &self.options),
        };
        let file = config.as_deref().map_or_else(|| Ok(Options::default()), Options::read)?;
        Ok(said.clone().or(file))
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

    /// It is asked what an agent would do that is started so.
    #[test]
    fn check_takes_the_options_of_an_agent() {
        let options = |line: &str| Args::parse_from(line.split(' ')).options().unwrap();
        let agent = "agent --mode window --holdout 0.5 --socket /x";
        assert_eq!(options(&agent.replace("agent", "agent check")), options(agent));
    }
}
