//! The command line.

use agent::config::options::AgentOptions;
use agent::config::value::{Percentage, Within};
use agent::interface::schema;
use clap::{CommandFactory, Parser, Subcommand};
use cmdline::Appendix;
use cmdline::complete::{Asked, Candidate, Completion, FilesOffered, ShellQuestion};
use cmdline::man::ManAppendix;
use ipnet::IpNet;
use std::path::PathBuf;

/// Start the Linux kernel's own TCP connections with what is remembered of their paths
///
/// The agent runs in the foreground until it is interrupted. It remembers what connections learn of
/// the network of their peer. New connections get the kernel's CUBIC or BBR with a warm start: they
/// start with the remembered window, paced. Applications stay unchanged and are not restarted, and
/// open connections stay as they are.
///
/// When the agent ends, also by `kill -9`, open connections finish and new ones are stock. IPv4
/// destinations are remembered by /24, IPv6 by /48, and each network namespace by itself.
#[derive(Clone, Debug, Parser)]
#[command(name = "headstart agent", bin_name = "headstart agent", version)]
#[command(display_name = "headstart-agent", after_help = appendix().help())]
#[command(max_term_width = 100, args_conflicts_with_subcommands = true)]
pub(crate) struct AgentArgs {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// Read options from this file (TOML); options of the command line win over it
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Continue for the running agent: every connection stays hooked, and none starts cold for that
    ///
    /// Use it to upgrade, or to go back to another version. Start the new program with this option
    /// and the options of the old one. The old one ends as soon as the new one works, and goes on
    /// if the new one cannot start. If no agent runs, this one starts as usual.
    #[arg(long)]
    pub(crate) take_over: bool,

    #[command(flatten)]
    options: AgentOptions,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Command {
    /// Say what an agent with the same options would do on this kernel, with these rights
    ///
    /// Loads the programs, unloads them, and changes nothing. The last line of the output decides.
    Check {
        /// Configuration file of that agent
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        #[command(flatten)]
        options: Box<AgentOptions>,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Print the schema of the JSON and do nothing else
        #[arg(long)]
        json_schema: bool,
    },
    /// Compare warm starts with the control group, on the connections so far
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Print the schema of the JSON and do nothing else
        #[arg(long)]
        json_schema: bool,
        /// Ask again after this number of seconds each time, until it is interrupted
        #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true)]
        #[arg(default_missing_value = "2", conflicts_with_all = ["json", "json_schema"])]
        watch: Option<Within<1, 86_400>>,
    },
    /// List what is remembered of each destination
    Paths {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Print the schema of the JSON and do nothing else
        #[arg(long)]
        json_schema: bool,
    },
    /// Write the memory as a JSON document
    Export {
        /// File to write [default: standard output]
        file: Option<PathBuf>,
        /// Print the schema of the JSON and do nothing else
        #[arg(long)]
        json_schema: bool,
    },
    /// Read an exported document into the memory, except where the memory is younger
    Import {
        /// Document of `headstart agent export`
        file: PathBuf,
    },
    /// Let this percentage of connections start warm from now on, beside the control group
    ///
    /// It counts until the agent ends, or the key `percent` of its file changes.
    Ramp {
        /// New percentage, 0 to 100
        percent: Percentage,
    },
    /// Use remembered windows again after the agent has turned them off
    #[command(visible_alias = "resume")]
    Arm,
    /// Say what is installed, attached, measured and suspicious: a page for a report of a defect
    ///
    /// It changes nothing and names no destination. It names cgroups and files as the configuration
    /// does.
    Doctor {
        /// Configuration file of the agent
        #[arg(long, value_name = "FILE", default_value = "/etc/headstart/agent.toml")]
        config: PathBuf,
    },
    /// As root, have the agent that runs replaced by its program's file as it is now, while
    /// connections run
    ///
    /// This is an upgrade without a gap, also of a service: the agent starts its program's file,
    /// which takes over. If that fails, the agent goes on as it was, and the exit code is 2; then
    /// restart it.
    Renew {
        /// Configuration file of the agent, for its `socket`
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
    /// As root, remove what a killed agent has left in the kernel (before Linux 6.4)
    #[command(visible_alias = "clean-up")]
    Tidy,
    /// Forget the destinations within a prefix, or all
    Forget {
        /// Prefix to forget, like 192.0.2.0/24
        #[arg(required_unless_present = "all", value_parser = cmdline::parse_prefix)]
        prefix: Option<IpNet>,
        /// Forget everything
        #[arg(long, conflicts_with = "prefix")]
        all: bool,
    },
    /// Answer a shell's question about what may be typed
    #[command(hide = true)]
    Complete(ShellQuestion),
    /// Write the man pages to a folder
    #[command(hide = true)]
    Man(cmdline::man::ManArgs),
}

/// Returns the texts of help and man page that follow the options.
fn appendix() -> Appendix {
    Appendix {
        examples: &[
            ("sudo headstart agent check", "Says whether the agent can work here."),
            ("sudo headstart agent check --mode wrap", "Says whether an agent with these options can."),
            (
                "sudo headstart agent --cgroup /sys/fs/cgroup/system.slice/nginx.service --dry-run",
                "Measures the connections of one service, and changes nothing.",
            ),
            (
                "sudo headstart agent --cgroup /sys/fs/cgroup/system.slice/nginx.service",
                "Starts the connections of one service warm.",
            ),
            ("sudo headstart agent", "Starts all connections of this machine warm."),
            (
                "sudo headstart agent --prefix 198.51.100.0/22 --prefix 10.0.0.0/8=0",
                "Remembers one customer as one path, and leaves a network of your own alone.",
            ),
            (
                "sudo headstart agent --local-port 443 --except-cgroup /sys/fs/cgroup/system.slice/backup.service",
                "Hooks one port of all services but one.",
            ),
            (
                "sudo headstart agent --config /etc/headstart/agent.toml",
                "Reads the same options from a file, as keys: cap = 64.",
            ),
            ("sudo headstart agent --percent 1", "Begins with one connection in a hundred."),
            ("sudo headstart agent ramp 25", "Lets a quarter of the connections start warm from now on."),
            (
                "sudo headstart agent --config /etc/headstart/agent.toml --take-over",
                "Continues for the running agent, which may be of another version.",
            ),
            ("sudo headstart agent renew", "Upgrades the agent that runs to the version that is installed."),
            ("sudo headstart agent doctor", "Prints what a report of a defect should have."),
            ("sudo headstart agent status --json", "Asks the running agent how warm starts compare."),
        ],
        notes: "SIGHUP makes the agent read its file again. If the new file has an error, the old one stays in force.\n\n\
            SIGUSR2 makes the agent start its program's file as it is now, with the same options and --take-over: an upgrade\n\
            without a gap, also of a service, which `renew` waits for. If the new program fails, the old one goes on.\n\n\
            It needs root, or CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN. Only root may ask a running agent."
            .into(),
        files: &[
            ("/etc/headstart/agent.toml", "configuration of the service"),
            ("/var/lib/headstart/agent.redb", "memory of the service"),
            ("/run/headstart-agent.sock", "where a running agent is asked"),
        ],
        exit: &[
            ("0", "done"),
            ("2", "the agent cannot work here or does not answer, or the input is wrong"),
        ],
        see_also: &["headstart"],
        more: &["docs/agent/README.md", "docs/agent/operate.md", "docs/agent/reference.md"],
        ..Appendix::default()
    }
}

/// Writes the man page, on which all subcommands are.
///
/// # Errors
/// Fails as [`cmdline::man::ManArgs::write`] does.
pub(crate) fn write_man(args: &cmdline::man::ManArgs) -> Result<(), String> {
    args.write(AgentArgs::command(), &|command| match command {
        "" => ManAppendix::OnOwnPage(appendix()),
        _ => ManAppendix::OnParentsPage,
    })
}

/// Answers a shell's question for completions.
pub(crate) fn completion_answer(question: &ShellQuestion) -> String {
    question.answer(AgentArgs::command(), &option_values)
}

/// Returns the values of options that clap does not know.
fn option_values(asked: &Asked<'_>) -> Option<Completion> {
    const CGROUPS: &str = "/sys/fs/cgroup/";
    match asked.argument {
        "cgroup" | "except_cgroup" if CGROUPS[..CGROUPS.len() - 1].starts_with(asked.typed) => {
            Some(Completion::of([Candidate::open(CGROUPS, "")]))
        }
        "cgroup" | "except_cgroup" => Some(Completion::files(FilesOffered::Folders)),
        "config" => Some(Completion::files(FilesOffered::Ending(&[".toml"]))),
        "file" => Some(Completion::files(FilesOffered::Ending(&[".json"]))),
        _ => None,
    }
}

impl Command {
    /// Returns the schema that is asked for instead of anything else.
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

impl AgentArgs {
    /// Returns the options of the command line; the file supplies those that it lacks.
    pub(crate) fn options(&self) -> Result<AgentOptions, String> {
        let (config, said) = match &self.command {
            Some(Command::Check { config, options, .. }) => (config, &**options),
            Some(Command::Renew { config }) => (config, &self.options),
            _ => (&self.config, &self.options),
        };
        let file =
            config.as_deref().map_or_else(|| Ok(AgentOptions::default()), AgentOptions::read)?;
        Ok(said.clone().or(file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cmdline::complete::{self, Shell};
    use cmdline::documents::commands_of;

    #[test]
    fn the_command_line_is_sound() {
        AgentArgs::command().debug_assert();
    }

    /// It is asked what an agent would do that is started so.
    #[test]
    fn check_takes_the_options_of_an_agent() {
        let options = |line: &str| AgentArgs::parse_from(line.split(' ')).options().unwrap();
        let agent = "agent --mode window --holdout 0.5 --socket /x";
        assert_eq!(options(&agent.replace("agent", "agent check")), options(agent));
    }

    #[test]
    fn the_man_page_has_every_subcommand_and_the_files() {
        let folder =
            std::env::temp_dir().join(format!("headstart-agent-man-{}", std::process::id()));
        let arguments = ["headstart-agent", "man", folder.to_str().unwrap()];
        let Some(Command::Man(pages)) = AgentArgs::parse_from(arguments).command else { panic!() };
        write_man(&pages).unwrap();
        let page = std::fs::read_to_string(folder.join("headstart-agent.1")).unwrap();
        std::fs::remove_dir_all(folder).unwrap();
        for sub in AgentArgs::command().get_subcommands() {
            let has = page.contains(&format!(".SS {}\n", sub.get_name()));
            assert_eq!(has, !sub.is_hide_set(), "{}", sub.get_name());
        }
        for part in [
            "\\fB\\-\\-holdout\\fR",
            "/etc/headstart/agent.toml",
            ".SH \"EXIT STATUS\"",
            ".SH EXAMPLES",
        ] {
            assert!(page.contains(part), "{part}");
        }
    }

    /// Commands of documents and examples are read, those of `headstart agent` alone.
    #[test]
    fn what_documents_show_is_read() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let pages =
            ["README", "operate", "reference", "tutorial", "measurements", "design", "beside"];
        let pages = pages.map(|page| root.join(format!("docs/agent/{page}.md")));
        let texts = pages.map(|page| std::fs::read_to_string(page).unwrap());
        let examples = appendix().examples.iter().map(|(example, _)| format!("```\n{example}\n"));
        let texts: Vec<String> = texts.into_iter().chain(examples).collect();
        let commands = texts.iter().flat_map(|text| commands_of("headstart", text));
        let mut count = 0;
        for shown in commands.filter(|shown| shown.words.get(1).is_some_and(|sub| sub == "agent")) {
            count += 1;
            if let Err(error) = AgentArgs::try_parse_from(&shown.words[1..]) {
                assert!(!error.use_stderr(), "{}: {error}", shown.words.join(" "));
            }
        }
        assert!(count > 12, "{count}");
    }

    /// The line comes from `headstart agent`, whose second word is not one of the agent's.
    #[test]
    fn a_shell_is_told_values() {
        let asked = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            complete::answer(Shell::Fish, AgentArgs::command(), &words, &option_values)
        };
        assert!(asked(&["agent", "--mode", "wr"]).contains("wrap\t"));
        assert!(asked(&["sta"]).starts_with("\nnone\nstatus\t"));
        assert_eq!(asked(&["--cgroup", ""]), "\nnone\n/sys/fs/cgroup/\t\n");
        assert_eq!(asked(&["--cgroup", "/sys/fs/cgroup/"]), "\nfolders\n");
    }
}
