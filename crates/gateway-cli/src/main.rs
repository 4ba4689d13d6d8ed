//! `headstart-gateway`, which `headstart gateway` runs: the shared memory of a site's servers about
//! paths, as a service, with its certificates and its answers.

mod calls;
mod certificates;
mod manual;
mod observe;
mod replay;
mod status;
mod tables;
mod values;

use clap::{Args, CommandFactory, Parser, Subcommand};
use cmdline::complete::ShellQuestion;
use cmdline::{Appendix, Failure, input, remark, stdout};
use gateway::config::DaemonConfig;
use gateway::config::init::FirstGateway;
use gateway::daemon::Daemon;
use gateway::os::clock::system_time;
use gateway_client::ClientConfig;
use gateway_proto::v1::Collector;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Run a site's performance gateway: what any of its servers learns of a path, all know
///
/// Servers of a site report what their connections learn of visitors' networks, and ask when a
/// visitor comes. So a server starts warm towards a network that it has never seen. No connection
/// waits for the gateway, or fails without it.
#[derive(Debug, Parser)]
#[command(
    name = "headstart gateway",
    bin_name = "headstart gateway",
    version,
    propagate_version = true
)]
#[command(display_name = "headstart-gateway", after_help = appendix().help())]
#[command(max_term_width = 100, args_conflicts_with_subcommands = true)]
struct GatewayCli {
    /// Run by this configuration; `headstart gateway init` writes one
    #[arg(long, value_name = "FILE.toml", default_value = "/etc/headstart/gateway/gateway.toml")]
    config: PathBuf,
    /// Only read the configuration and the certificates, and say what is wrong with them
    #[arg(long)]
    check: bool,
    #[command(subcommand)]
    command: Option<GatewayCommand>,
}

#[derive(Debug, Subcommand)]
enum GatewayCommand {
    /// Write a first gateway for one machine: an authority, certificates, gateway.toml and
    /// agent.toml
    #[command(after_help = init_appendix().help())]
    Init(InitArgs),
    /// Make a certificate for one more agent, application, observer, operator or gateway, or renew
    /// one
    #[command(after_help = certificates::certificate_appendix().help())]
    Certificate(certificates::CertificateArgs),
    /// Make a key that stays on this host, and a request to sign with `certificate --request`
    #[command(after_help = certificates::request_appendix().help())]
    Request(certificates::RequestArgs),
    /// Refuse a certificate from now on, without a restart
    #[command(after_help = certificates::revoke_appendix().help())]
    Revoke(certificates::RevokeArgs),
    /// Show how a gateway that runs is doing
    #[command(after_help = status::status_appendix().help())]
    Status(status::StatusArgs),
    /// Report packets of the site's servers to a gateway, in a process without the site's keys
    #[command(after_help = observe::observe_appendix().help())]
    Observe(observe::ObserveArgs),
    /// Ask a gateway what it knows of a visitor's network
    #[command(after_help = calls::ask_appendix().help())]
    Ask(calls::AskArgs),
    /// Have all gateways and agents of the site forget a network
    #[command(after_help = calls::forget_appendix().help())]
    Forget(calls::ForgetArgs),
    /// Show what a gateway would have answered, by an access log or a capture
    #[command(after_help = replay::replay_appendix().help())]
    Replay(replay::ReplayArgs),
    /// Write an access log like that of a busy site, simulated
    #[command(visible_alias = "simulate-log", after_help = replay::load_appendix().help())]
    Load(replay::LoadArgs),
    /// Answer a shell's question about what may be typed
    #[command(hide = true)]
    Complete(ShellQuestion),
    /// Write the man pages to a folder
    #[command(hide = true)]
    Man(cmdline::man::ManArgs),
}

#[derive(Debug, Args)]
struct InitArgs {
    /// Folder to write to; it is made if it is not there
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Name or address by which agents reach the gateway; give it again for more [default:
    /// 127.0.0.1, ::1, localhost]
    #[arg(long, value_name = "HOST")]
    host: Vec<String>,
    /// Name in the agent's certificate
    #[arg(long, value_name = "NAME", default_value = "agent")]
    agent: String,
    /// Also write observe/observe.toml and a certificate for an observer, which reports the packets
    /// of this interface; give it again for more, or say any
    #[arg(long, value_name = "INTERFACE")]
    observe: Vec<String>,
    /// User as whom the gateway will run: may read the gateway's own files, and not the folder
    /// authority
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Write over what is there; agents with certificates of the old authority are refused then
    #[arg(long)]
    force: bool,
}

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            ("headstart gateway init DIR", "Writes certificates, gateway.toml and agent.toml for this machine."),
            (
                "headstart gateway --config DIR/gateway.toml",
                "Runs the gateway. http://127.0.0.1:9465 is its dashboard.",
            ),
            (
                "sudo headstart agent --config DIR/agent.toml",
                "Runs an agent that asks the gateway and reports to it.",
            ),
        ],
        notes: "SIGHUP reloads the configuration and the certificates. SIGTERM makes it finish open work, save and end."
            .into(),
        exit: &[
            ("0", "ended by a signal, all saved"),
            ("1", "it failed while it ran"),
            ("2", "the configuration is wrong, or a port is taken"),
        ],
        more: &["docs/gateway/README.md"],
        ..Appendix::default()
    }
}

pub(crate) fn init_appendix() -> Appendix {
    Appendix {
        examples: &[
            ("headstart gateway init DIR", "For a gateway and an agent on one machine."),
            (
                "headstart gateway init DIR --host gateway.example --host 192.0.2.7",
                "For agents on other machines; then let it listen there (listen in gateway.toml).",
            ),
            (
                "headstart gateway init DIR --host gateway.example --user headstart-gateway",
                "For a gateway that runs as a user of its own, as the service does.",
            ),
            (
                "headstart gateway init DIR --observe eth0",
                "Also for an observer of eth0; DIR/observe has its files, and may move away.",
            ),
        ],
        notes: "DIR/authority has the keys that the gateway does not need. The holder of ca.key can make any certificate. \
            Move the folder to a safe machine after you have made certificates for all agents."
            .into(),
        exit: cmdline::EXIT,
        more: &["docs/gateway/README.md"],
        ..Appendix::default()
    }
}

fn main() -> ExitCode {
    match run(&GatewayCli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run(args: &GatewayCli) -> Result<(), Failure> {
    match &args.command {
        None if args.check => check(&args.config),
        None => serve(&args.config),
        Some(GatewayCommand::Init(args)) => init(args),
        Some(GatewayCommand::Certificate(args)) => certificates::make(args),
        Some(GatewayCommand::Request(args)) => certificates::request(args),
        Some(GatewayCommand::Revoke(args)) => certificates::revoke(args),
        Some(GatewayCommand::Status(args)) => status::status(args),
        Some(GatewayCommand::Observe(args)) => observe::run(args),
        Some(GatewayCommand::Ask(args)) => calls::ask(args),
        Some(GatewayCommand::Forget(args)) => calls::forget(args),
        Some(GatewayCommand::Replay(args)) => replay::run(args),
        Some(GatewayCommand::Load(args)) => replay::load(args),
        Some(GatewayCommand::Complete(question)) => {
            stdout::print(&question.answer(GatewayCli::command(), &values::of))
        }
        Some(GatewayCommand::Man(pages)) => {
            pages.write(GatewayCli::command(), &manual::appendix_of).map_err(Failure::failed)
        }
    }
}

/// Returns the gateways that an agent's configuration names.
fn client_config(file: &Path, collector: Collector) -> Result<ClientConfig, Failure> {
    ClientConfig::of_agent(file, &input::read(file)?, collector).map_err(Failure::input)
}

fn check(file: &Path) -> Result<(), Failure> {
    let config = DaemonConfig::read(file).map_err(Failure::input)?;
    if let Some(warning) = gateway::daemon::check(&config).map_err(Failure::input)? {
        remark(&format!("headstart: {warning}"));
    }
    if let Some(warning) = gateway::daemon::warning_of_keys(file, &config) {
        remark(&format!("headstart: {warning}"));
    }
    stdout::print(&format!("{}: good\n", file.display()))
}

fn serve(file: &Path) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(Failure::failed)?;
    runtime.block_on(async {
        let daemon = Daemon::open(file).await.map_err(Failure::input)?;
        let (grpc, http) = (daemon.grpc_address()?, daemon.http_address()?);
        remark(&format!("headstart gateway: agents at {grpc}; dashboard at http://{http}"));
        daemon.spawn(true).wait().await.map_err(Failure::failed)
    })
}

fn init(args: &InitArgs) -> Result<(), Failure> {
    let hosts = match args.host.is_empty() {
        true => ["127.0.0.1", "::1", "localhost"].map(str::to_owned).to_vec(),
        false => args.host.clone(),
    };
    let first = FirstGateway {
        hosts,
        agent: args.agent.clone(),
        observe: args.observe.clone(),
        user: args.user.clone(),
        force: args.force,
    };
    let written = first.write(&args.folder, system_time()).map_err(Failure::input)?;
    let files: Vec<String> =
        written.files.iter().map(|file| format!("  {}\n", file.display())).collect();
    let observer = written.observer.map_or_else(String::new, |file| {
        let file = file.display();
        format!("Run an observer that reports packets, with CAP_NET_RAW:\n  headstart gateway observe --config {file}\n")
    });
    stdout::print(&format!(
        "Written:\n{}\nRun the gateway:\n  headstart gateway --config {}\nRun an agent that asks it, as root:\n  \
         headstart agent --config {}\n{observer}",
        files.concat(),
        written.gateway.display(),
        written.agent.display(),
    ))
}
