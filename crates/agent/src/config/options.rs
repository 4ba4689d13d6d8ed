//! The options of an operator, each defined once: a field is an option of the command line and a
//! key of the configuration file (TOML), by the same name. The command line wins. [`crate::config`]
//! has the defaults of missing options; the types in [`crate::config::value`] have the bounds.

use super::overrides::{MAX_CAP, PrefixCap};
use super::value::{
    ColdStart, Factor, Fraction, GatewayAddress, HandshakeTimer, Namespaces, Percentage,
    PortNumber, Profile, SizedStart, Within,
};
use crate::interface::metrics::MetricsAddress;
use crate::kernel::congestion::ControlChoice;
use crate::os::log::LogLevel;
use crate::programs::load_options::{DetachResponse, Wanted};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use support::errors::{Fault, FileError};

/// All options; `None` and empty lists for missing ones.
#[derive(Clone, Debug, Default, PartialEq, clap::Args, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct AgentOptions {
    /// Hook connections of this cgroup and of those below; give it again for more [default: all]
    #[arg(long, value_name = "DIR")]
    pub cgroup: Vec<PathBuf>,

    /// Leave connections of this cgroup and of those below alone; of nested cgroups the nearest
    /// counts
    #[arg(long, value_name = "DIR")]
    pub except_cgroup: Vec<PathBuf>,

    /// Hook only connections with this local port (or a named remote one); give it again for more
    #[arg(long, value_name = "PORT")]
    pub local_port: Vec<PortNumber>,

    /// Hook only connections with this port of the peer (or a named local one); give it again for
    /// more
    #[arg(long, value_name = "PORT")]
    pub remote_port: Vec<PortNumber>,

    /// Leave connections with this local port alone, whatever other options say
    #[arg(long, value_name = "PORT")]
    pub except_local_port: Vec<PortNumber>,

    /// Leave connections with this port of the peer alone, whatever other options say
    #[arg(long, value_name = "PORT")]
    pub except_remote_port: Vec<PortNumber>,

    /// Remember this prefix as one path, with a cap of its own; cap 0 leaves its connections alone
    #[arg(long, value_name = "PREFIX[=CAP]")]
    pub prefix: Vec<PrefixCap>,

    /// Whether network namespaces, like those of containers, share the memory [default: apart]
    #[arg(long, value_enum, value_name = "HOW")]
    pub namespaces: Option<Namespaces>,

    /// Set windows in this mode [default: auto]
    #[arg(long, value_enum, value_name = "MODE")]
    pub mode: Option<Wanted>,

    /// Give connections this congestion control [default: auto]
    #[arg(long, value_enum, value_name = "CONTROL")]
    pub control: Option<ControlChoice>,

    /// Defaults of --cold, --handshake-timer and --rto-min [default: balanced]
    #[arg(long, value_enum, value_name = "PROFILE")]
    pub profile: Option<Profile>,

    /// Largest first window, in segments [default: 256]
    #[arg(long, value_name = "SEGMENTS")]
    pub cap: Option<Within<1, MAX_CAP>>,

    /// Ignore memories older than this, in seconds [default: 600]
    #[arg(long, value_name = "SECONDS")]
    pub max_age: Option<Within<1, { u32::MAX }>>,

    /// Halve the estimate of a window after this number of round trips of its path [default: 3000]
    #[arg(long, value_name = "ROUND_TRIPS")]
    pub half_life: Option<Within<1, { u32::MAX }>>,

    /// Remember at most this number of paths; the least recently used is forgotten first [default:
    /// 65536]
    #[arg(long, value_name = "PATHS")]
    pub max_paths: Option<Within<1, 16_777_216>>,

    /// Mark warm first flights for routers that drop by precedence; without a value 14, which is
    /// AF13
    #[arg(long, value_name = "DSCP", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "14")]
    pub mark: Option<Within<1, 63>>,

    /// Receive window that connections opened here offer from the start; it fixes their receive
    /// buffer
    #[arg(long, value_name = "BYTES")]
    pub receive_window: Option<Within<65_536, 1_073_741_823>>,

    /// Wait this long before a SYN or SYN-ACK is retransmitted [default: by --profile]
    #[arg(long, value_enum, value_name = "WAIT")]
    pub handshake_timer: Option<HandshakeTimer>,

    /// Retransmit unacknowledged data after the round trip and at least this, in milliseconds
    /// [default: by --profile]
    #[arg(long, value_name = "MS")]
    pub rto_min: Option<Within<10, 200>>,

    /// Start connections to unknown paths in this way [default: by --profile]
    #[arg(long, value_enum, value_name = "START")]
    pub cold: Option<ColdStart>,

    /// First window of a transfer whose size the application sets (HEADSTART_SIZE) [default: whole]
    #[arg(long, value_enum, value_name = "START")]
    pub sized: Option<SizedStart>,

    /// Assign this share of connections to a control group, by chance [default: 0.05]
    ///
    /// Connections of the control group start cold. `headstart agent status` compares warm starts
    /// with them.
    #[arg(long, value_name = "PART")]
    pub holdout: Option<Fraction>,

    /// Let this percentage of connections start warm, beside the control group [default: 100]
    ///
    /// The other connections are stock. Raise it by `headstart agent ramp`, or in the file and by
    /// SIGHUP.
    #[arg(long, value_name = "PERCENT")]
    pub percent: Option<Percentage>,

    /// Turn warm starts off if they retransmit more than the control group by this factor, with
    /// 95 % confidence [default: 2]
    ///
    /// They are turned off as well if they are slower with that confidence: for all connections, or
    /// for one part of them, until `headstart agent arm`. Parts are by remembered window, earlier
    /// bytes or losses of the path, length of the prefix, and busy network.
    #[arg(long, value_name = "TIMES")]
    pub off_ratio: Option<Factor>,

    /// Judge nothing before this number of connections on each side [default: 100]
    ///
    /// With fewer than 100, false alarms are more frequent than one in twenty.
    #[arg(long, value_name = "CONNECTIONS")]
    pub off_connections: Option<Within<2, { u32::MAX }>>,

    /// Only measure; change nothing
    ///
    /// Connections keep their congestion control, windows and socket options. Nothing is written to
    /// disk unless --state names a file.
    #[arg(long)]
    pub dry_run: bool,

    /// Keep the memory in this file; "none" keeps nothing [default: none]
    ///
    /// As a systemd service the default is agent.redb in the state directory, /var/lib/headstart.
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,

    /// Save changes of the memory so often, in seconds [default: 10]
    #[arg(long, value_name = "SECONDS")]
    pub save_every: Option<Within<1, 3600>>,

    /// Ask this performance gateway of paths that are not known here, and report to it; give it
    /// again for others to fall back on
    ///
    /// A name may also be that of a service of DNS (SRV), such as `_headstart._tcp.example`. Needs
    /// --gateway-ca, --gateway-certificate and --gateway-key. `headstart gateway init` makes all of
    /// them.
    #[arg(long, value_name = "HOST:PORT")]
    pub gateway: Vec<GatewayAddress>,

    /// Certificate of the authority that signs the gateways' certificates (PEM)
    #[arg(long, value_name = "FILE")]
    pub gateway_ca: Option<PathBuf>,

    /// Certificate that this agent shows to gateways (PEM)
    #[arg(long, value_name = "FILE")]
    pub gateway_certificate: Option<PathBuf>,

    /// Private key of that certificate (PEM)
    #[arg(long, value_name = "FILE")]
    pub gateway_key: Option<PathBuf>,

    /// Report a connection's path by a TCP option in its FIN, for an observer that sees it
    ///
    /// An experiment (RFC 6994): kind 254, 16 bytes. Networks on which it is lost are left alone.
    /// An observer needs `option-servers` in observe.toml, and the gateway `option` in `collect`.
    #[arg(long)]
    pub tcp_option: bool,

    /// Response if another process, like a cgroup manager, detaches the programs [default: attach]
    #[arg(long, value_enum, value_name = "RESPONSE")]
    pub on_detach: Option<DetachResponse>,

    /// Serve /metrics and /healthz at this address, or at a Unix socket [default: off]
    #[arg(long, value_name = "ADDRESS:PORT|unix:FILE")]
    pub metrics: Option<MetricsAddress>,

    /// Log on standard error at this level [default: notice]
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub log: Option<LogLevel>,

    /// Unix socket at which a running agent is asked [default: /run/headstart-agent.sock]
    #[arg(long, value_name = "FILE", global = true)]
    pub socket: Option<PathBuf>,
}

impl AgentOptions {
    /// Returns these options. Options that are not set have the value of `file`.
    #[must_use]
    pub fn or(self, file: Self) -> Self {
        // Without `..`: a new option is refused here until it is merged.
        let Self {
            cgroup,
            except_cgroup,
            local_port,
            remote_port,
            except_local_port,
            except_remote_port,
            prefix,
            namespaces,
            mode,
            control,
            profile,
            cap,
            max_age,
            half_life,
            max_paths,
            mark,
            receive_window,
            handshake_timer,
            rto_min,
            cold,
            sized,
            holdout,
            percent,
            off_ratio,
            off_connections,
            dry_run,
            state,
            save_every,
            gateway,
            gateway_ca,
            gateway_certificate,
            gateway_key,
            tcp_option,
            on_detach,
            metrics,
            log,
            socket,
        } = self;
        Self {
            cgroup: first_if_any(cgroup, file.cgroup),
            except_cgroup: first_if_any(except_cgroup, file.except_cgroup),
            local_port: first_if_any(local_port, file.local_port),
            remote_port: first_if_any(remote_port, file.remote_port),
            except_local_port: first_if_any(except_local_port, file.except_local_port),
            except_remote_port: first_if_any(except_remote_port, file.except_remote_port),
            prefix: first_if_any(prefix, file.prefix),
            namespaces: namespaces.or(file.namespaces),
            mode: mode.or(file.mode),
            control: control.or(file.control),
            profile: profile.or(file.profile),
            cap: cap.or(file.cap),
            max_age: max_age.or(file.max_age),
            half_life: half_life.or(file.half_life),
            max_paths: max_paths.or(file.max_paths),
            mark: mark.or(file.mark),
            receive_window: receive_window.or(file.receive_window),
            handshake_timer: handshake_timer.or(file.handshake_timer),
            rto_min: rto_min.or(file.rto_min),
            cold: cold.or(file.cold),
            sized: sized.or(file.sized),
            holdout: holdout.or(file.holdout),
            percent: percent.or(file.percent),
            off_ratio: off_ratio.or(file.off_ratio),
            off_connections: off_connections.or(file.off_connections),
            dry_run: dry_run || file.dry_run,
            state: state.or(file.state),
            save_every: save_every.or(file.save_every),
            gateway: first_if_any(gateway, file.gateway),
            gateway_ca: gateway_ca.or(file.gateway_ca),
            gateway_certificate: gateway_certificate.or(file.gateway_certificate),
            gateway_key: gateway_key.or(file.gateway_key),
            tcp_option: tcp_option || file.tcp_option,
            on_detach: on_detach.or(file.on_detach),
            metrics: metrics.or(file.metrics),
            log: log.or(file.log),
            socket: socket.or(file.socket),
        }
    }

    /// Reads the options of a configuration file.
    ///
    /// # Errors
    /// If it cannot be read, or as [`Self::parse`].
    pub fn read(file: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(file)
            .map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        Self::parse(&text, &file.display().to_string()).map_err(|error| error.to_string())
    }

    /// Parses the text of a configuration file named `file`.
    ///
    /// # Errors
    /// If it has a fault; the error has the file, the line, the key and the fault.
    pub fn parse(text: &str, file: &str) -> Result<Self, FileError> {
        let of_file = |fault: Fault| fault.of_file(file, text);
        let reader = toml::Deserializer::parse(text).map_err(|error| of_file(error.into()))?;
        serde_path_to_error::deserialize(reader).map_err(|error| {
            let key = error.path().to_string();
            let mut fault = Fault::from(error.into_inner());
            if !fault.why.starts_with("unknown key") {
                fault.why = format!("{key}: {}", fault.why);
            }
            of_file(fault)
        })
    }
}

fn first_if_any<T>(said: Vec<T>, file: Vec<T>) -> Vec<T> {
    if said.is_empty() { file } else { said }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        AgentOptions::parse(text, "agent.toml").unwrap_err().to_string()
    }

    /// The block of agent.toml in the manifest, by its indentation.
    #[test]
    fn the_configuration_for_kubernetes_is_read() {
        let manifest = include_str!("../../share/kubernetes/headstart-agent.yaml");
        let (_, block) = manifest.split_once("  agent.toml: |\n").unwrap();
        let lines = block.lines().take_while(|line| line.starts_with("    "));
        let text: Vec<&str> = lines.map(str::trim_start).collect();
        let options = AgentOptions::parse(&text.join("\n"), "agent.toml").unwrap();
        assert!(options.percent.is_some());
        assert_eq!(options.cgroup, [PathBuf::from("/sys/fs/cgroup/kubepods.slice")]);
    }

    #[test]
    fn what_is_wrong_is_said_with_file_line_and_key() {
        let near = refused("cap = 64\nhodlout = 0.1\n");
        assert!(
            near.starts_with("agent.toml:2: unknown key \"hodlout\" (did you mean \"holdout\"?)")
        );
        assert_eq!(refused("\ncap = 0"), "agent.toml:2: cap: 0 is not from 1 to 1024");
        assert_eq!(refused("holdout = 5"), "agent.toml:1: holdout: 5 is not from 0 to 1");
        // The line is where the list begins.
        let prefix = refused("\nprefix = [\n  \"10.0.0.0/8\",\n  \"10.0.0.0\",\n]");
        assert!(
            prefix.starts_with("agent.toml:2: prefix[1]: \"10.0.0.0\" is no prefix"),
            "{prefix}"
        );
        let port = refused("local-port = [0]");
        assert_eq!(port, "agent.toml:1: local-port[0]: 0 is not from 1 to 65535");
        assert!(refused("cap = \"many\"").starts_with("agent.toml:1: cap: invalid type"));
        assert!(refused("cap = ").starts_with("agent.toml:1: "));
    }

    #[test]
    fn the_example_is_sound_and_shows_every_key_with_its_default() {
        let example = include_str!("../../share/agent.toml");
        let said = AgentOptions::parse(example, "agent.toml").unwrap();
        assert_eq!(said.except_local_port, [PortNumber(22)]);
        // `# key = value` is a key; other comments have words between.
        let is_key = |line: &str| line.split_once(" = ").is_some_and(|(key, _)| !key.contains(' '));
        let all = example.lines().filter_map(|line| match line.strip_prefix("# ") {
            Some(key) => is_key(key).then_some(key),
            None => Some(line),
        });
        let all = all.collect::<Vec<_>>().join("\n");
        AgentOptions::parse(&all, "agent.toml").unwrap();
        // The error about an unknown key lists the known ones.
        let known = refused("x = 1");
        let known = known.split("known here: ").nth(1).unwrap().split(", ");
        let shown: Vec<_> = all.lines().filter_map(|line| line.split_once(" = ")).collect();
        for key in known {
            assert!(shown.iter().any(|(shown, _)| *shown == key), "{key} is not in the example");
        }
    }

    #[test]
    fn the_command_line_wins_over_the_file() {
        let file =
            AgentOptions::parse("cap = 64\nmax-age = 60\nlocal-port = [80, 443]", "f").unwrap();
        let said = AgentOptions::parse("cap = 32\nlocal-port = [8080]", "said").unwrap();
        let both =
            AgentOptions::parse("cap = 32\nmax-age = 60\nlocal-port = [8080]", "both").unwrap();
        assert_eq!(said.or(file), both);
    }
}
