//! The complete, checked configuration of an agent: [`AgentOptions`] with defaults, in the
//! programs' form. A reload makes a second one, and [`AgentConfig::fixed_differences`] lists the
//! differences that need a restart.

use super::options::AgentOptions;
use super::overrides;
use super::value::{ColdStart, HandshakeTimer, Namespaces, PortNumber, SizedStart};
use crate::canary::state::HarmLimit;
use crate::contract::{ConnectionSettings, PortKey, StoppedParts};
use crate::interface::metrics::MetricsAddress;
use crate::interface::question::SOCKET;
use crate::os::addresses::own_addresses;
use crate::os::log::LogLevel;
use crate::programs::load_options::{DetachResponse, LoadOptions, Wanted, cgroup_root};
use ::canary::sequence::MIN_GROUP_CONNECTIONS;
use gateway_client::{ClientConfig, SystemNames};
use gateway_proto::v1::Collector;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// Prefixes that are remembered as one: networks as they are given to sites.
const V4_BITS: u8 = 24;
const V6_BITS: u8 = 48;
/// The memory's file in the folder that a service manager sets aside for state (systemd.exec(5),
/// StateDirectory=).
const STATE: &str = "agent.redb";
/// Entries of each map with the operator's rules for prefixes and for ports.
const MAX_RULES: usize = 4096;

/// Configuration of an agent.
#[derive(Clone, Debug)]
pub struct AgentConfig {
    /// Options for loading the programs.
    pub load: LoadOptions,
    /// Cgroups whose connections the agent hooks.
    pub cgroups: Vec<PathBuf>,
    /// Cgroups that are left alone, though they lie below one of the others.
    pub except_cgroups: Vec<PathBuf>,
    /// Limits of harm from which on it stops remembered windows.
    pub limit: HarmLimit,
    /// File of the memory; `None`: it is not kept.
    pub state: Option<PathBuf>,
    /// Interval at which the memory is saved, seconds.
    pub save_every: u32,
    /// The gateways of the site; `None`: it has none.
    pub site: Option<ClientConfig>,
    /// The response if another process detaches the programs.
    pub on_detach: DetachResponse,
    /// Address of the metrics; `None`: they are not served.
    pub metrics: Option<MetricsAddress>,
    /// Level of the log.
    pub log: LogLevel,
    /// Socket on which the agent answers questions.
    pub socket: PathBuf,
}

impl AgentConfig {
    /// Completes `options` with defaults.
    ///
    /// # Errors
    /// If there are too many rules for the maps, or no cgroups to hook.
    pub fn new(options: &AgentOptions) -> Result<Self, String> {
        let mut cgroups = options.cgroup.clone();
        if cgroups.is_empty() {
            let none =
                "no cgroups of version 2 are mounted here: `headstart agent check` says more";
            cgroups.push(cgroup_root().ok_or(none)?);
        }
        Ok(Self {
            load: load(options)?,
            cgroups,
            except_cgroups: options.except_cgroup.clone(),
            limit: HarmLimit {
                ratio: options.off_ratio.map_or(2.0, |ratio| ratio.get()),
                fewest: options
                    .off_connections
                    .map_or(MIN_GROUP_CONNECTIONS, |count| count.get().into()),
                has_control_group: options.holdout.is_none_or(|share| share.per_million() > 0),
            },
            state: state(options, std::env::var_os("STATE_DIRECTORY")),
            save_every: options.save_every.map_or(10, |seconds| seconds.get()),
            site: site(options)?,
            on_detach: options.on_detach.unwrap_or_default(),
            metrics: options.metrics.clone(),
            log: options.log.unwrap_or_default(),
            socket: socket(options),
        })
    }

    /// Returns the keys in which `new` differs and that a running agent cannot change.
    pub fn fixed_differences(&self, new: &Self) -> Vec<&'static str> {
        let differ = [
            ("dry-run", self.load.is_dry_run != new.load.is_dry_run),
            ("mode", self.load.wanted != new.load.wanted),
            ("max-paths", self.load.max_paths != new.load.max_paths),
            ("state", self.state != new.state),
            ("tcp-option", self.load.writes_option != new.load.writes_option),
            ("gateway", self.site != new.site),
            ("metrics", self.metrics != new.metrics),
            ("socket", self.socket != new.socket),
        ];
        differ.into_iter().filter_map(|(key, differs)| differs.then_some(key)).collect()
    }
}

/// Returns the file of the memory; `None` if it is not kept. Unless the operator names a file, only
/// a service keeps one, in the first of the folders that its manager has set aside. An agent that
/// is run by hand leaves nothing, and neither does a dry run.
fn state(options: &AgentOptions, folders: Option<OsString>) -> Option<PathBuf> {
    if let Some(file) = &options.state {
        return Some(file.clone()).filter(|file| file.as_os_str() != "none");
    }
    let folders = folders.filter(|_| !options.dry_run)?;
    let first = std::env::split_paths(&folders).next()?;
    (!first.as_os_str().is_empty()).then(|| first.join(STATE))
}

/// Returns the gateways; `None` if none is named.
fn site(options: &AgentOptions) -> Result<Option<ClientConfig>, String> {
    let file = |key: &str, file: &Option<PathBuf>| {
        file.clone().ok_or_else(|| {
            format!("gateway: {key} is missing; `headstart gateway init` makes certificates for a gateway and its agents")
        })
    };
    if options.gateway.is_empty() {
        let lone = [
            ("gateway-ca", &options.gateway_ca),
            ("gateway-certificate", &options.gateway_certificate),
            ("gateway-key", &options.gateway_key),
        ];
        return match lone.into_iter().find(|(_, file)| file.is_some()) {
            Some((key, _)) => Err(format!("{key}: there is no gateway to use it with")),
            None => Ok(None),
        };
    }
    Ok(Some(ClientConfig {
        gateways: options.gateway.iter().map(|address| address.0.clone()).collect(),
        ca: file("gateway-ca", &options.gateway_ca)?,
        certificate: file("gateway-certificate", &options.gateway_certificate)?,
        key: file("gateway-key", &options.gateway_key)?,
        collector: Collector::Agent,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        addresses: own_addresses,
        names: SystemNames::shared(),
    }))
}

/// Returns the socket of an agent with these options.
pub fn socket(options: &AgentOptions) -> PathBuf {
    options.socket.clone().unwrap_or_else(|| SOCKET.into())
}

/// Returns the options for loading the programs.
///
/// # Errors
/// If there are more rules for prefixes or ports than the maps hold.
pub fn load(options: &AgentOptions) -> Result<LoadOptions, String> {
    let profile = options.profile.unwrap_or_default();
    let cold = options.cold.unwrap_or(profile.cold());
    let timer = options.handshake_timer.unwrap_or(profile.handshake_timer());
    let cap = options.cap.map_or(256, |cap| cap.get());
    let mut said = overrides::loopback().to_vec();
    said.extend(options.prefix.iter().map(|prefix| prefix.or_cap(cap)));
    let ports = ports(options);
    for (key, count) in [("prefix", said.len()), ("ports", ports.len())] {
        if count > MAX_RULES {
            return Err(format!("{key}: {count} are too many, {MAX_RULES} at most"));
        }
    }
    let settings = ConnectionSettings {
        max_age_ns: u64::from(options.max_age.map_or(600, |age| age.get())) * 1_000_000_000,
        half_life_rtts: options.half_life.map_or(3000, |count| count.get()),
        cap,
        v4_bits: V4_BITS,
        v6_bits: V6_BITS,
        control: options.control.unwrap_or_default(),
        control_group: options.holdout.map_or(50_000, |share| share.per_million()),
        canary: options.percent.map_or(1_000_000, |share| share.per_million()),
        stage: 0,
        stopped: StoppedParts::default(),
        salt: getrandom::u32().map_err(|error| format!("no random numbers: {error}"))?,
        mark: options.mark.map_or(0, |dscp| dscp.get() as u8),
        leaves_windows: options.dry_run,
        // By the log's level (shared::in_force), and no reason for a new stage of the canary.
        tells_starts: false,
        asks_gateway: !options.gateway.is_empty(),
        receive_window: options.receive_window.map_or(0, |bytes| bytes.get()),
        knows_timers: timer == HandshakeTimer::Known,
        rto_min_us: options.rto_min.map_or(profile.rto_min_ms(), |ms| ms.get()) * 1000,
        only_ports: ports.values().any(|said| said & PortKey::ONLY != 0),
        is_superseded: false,
        paces_cold: cold != ColdStart::Stock,
        widens_cold: cold == ColdStart::Wide,
        ends_epochs: options.sized.unwrap_or_default() == SizedStart::Epoch,
        shares_namespaces: options.namespaces.unwrap_or_default() == Namespaces::Share,
    };
    let max_paths = options.max_paths.map_or(65_536, |count| count.get());
    let wanted = options.mode.unwrap_or_default();
    if settings.mark != 0 && wanted == Wanted::Window {
        return Err("mark: mode window marks nothing".to_owned());
    }
    Ok(LoadOptions {
        is_dry_run: options.dry_run,
        wanted,
        settings,
        overrides: said,
        ports,
        max_paths,
        // A dry run changes nothing on the wire.
        writes_option: options.tcp_option && !options.dry_run,
    })
}

/// Returns the rules for ports: to which ones the agent is limited, and which ones it leaves alone.
fn ports(options: &AgentOptions) -> BTreeMap<PortKey, u32> {
    let lists = [
        (&options.local_port, false, PortKey::ONLY),
        (&options.remote_port, true, PortKey::ONLY),
        (&options.except_local_port, false, PortKey::EXCEPT),
        (&options.except_remote_port, true, PortKey::EXCEPT),
    ];
    let mut ports = BTreeMap::new();
    for (list, is_remote, said) in lists {
        for PortNumber(number) in list {
            *ports.entry(PortKey { is_remote, number: *number }).or_insert(0) |= said;
        }
    }
    ports
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_merged_by_side() {
        let text = "local-port = [80, 22]\nremote-port = [80]\nexcept-local-port = [22]";
        let load = load(&AgentOptions::parse(text, "f").unwrap()).unwrap();
        let port = |is_remote, number| PortKey { is_remote, number };
        let both = PortKey::ONLY | PortKey::EXCEPT;
        let ports = [(port(false, 22), both), (port(false, 80), 1), (port(true, 80), 1)];
        assert_eq!(load.ports, BTreeMap::from(ports));
        assert!(load.settings.only_ports);
    }

    /// 1 % of a million is 10,000.
    #[test]
    fn the_configuration_of_a_first_gateway_touches_few_connections_and_never_ssh() {
        let folder = std::env::temp_dir().join(format!("headstart-first-{}", std::process::id()));
        let (hosts, agent, observe) = (vec![], "agent".to_owned(), vec![]);
        let first =
            gateway::config::init::FirstGateway { hosts, agent, observe, user: None, force: true };
        let written = first.write(&folder, gateway::os::clock::system_time()).unwrap();
        let load = load(&AgentOptions::read(&written.agent).unwrap()).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        let port = |number| PortKey { is_remote: false, number };
        let ports = [(port(22), PortKey::EXCEPT), (port(80), 1), (port(443), 1)];
        assert_eq!(load.ports, BTreeMap::from(ports));
        assert_eq!((load.settings.canary, load.settings.only_ports), (10_000, true));
    }

    #[test]
    fn cold_starts_are_wide_unless_the_operator_says_otherwise() {
        let of = |text: &str| {
            let load = load(&AgentOptions::parse(text, "f").unwrap()).unwrap();
            (load.settings.paces_cold, load.settings.widens_cold)
        };
        assert_eq!(of(""), (true, true));
        assert_eq!(of("cold = \"paced\""), (true, false));
        assert_eq!(of("cold = \"stock\""), (false, false));
    }

    #[test]
    fn a_profile_sets_what_no_option_of_its_own_does() {
        let of = |text: &str| {
            let load = load(&AgentOptions::parse(text, "f").unwrap()).unwrap();
            let ConnectionSettings { widens_cold, knows_timers, rto_min_us, .. } = load.settings;
            (widens_cold, knows_timers, rto_min_us)
        };
        assert_eq!(of("profile = \"careful\""), (false, false, 0));
        assert_eq!(of("profile = \"balanced\""), of(""));
        assert_eq!(of("profile = \"fast\""), (true, true, 20_000));
        let text =
            "profile = \"fast\"\nrto-min = 50\nhandshake-timer = \"kernel\"\ncold = \"stock\"";
        assert_eq!(of(text), (false, false, 50_000));
        assert_eq!(of("profile = \"careful\"\ncold = \"wide\""), (true, false, 0));
    }

    #[test]
    fn nothing_is_kept_by_hand_or_in_a_dry_run_unless_a_file_is_named() {
        let kept = |text: &str, folders: Option<&str>| {
            state(&AgentOptions::parse(text, "f").unwrap(), folders.map(OsString::from))
        };
        let service = Some("/var/lib/headstart:/var/lib/other");
        assert_eq!(kept("", None), None);
        assert_eq!(kept("", service), Some("/var/lib/headstart/agent.redb".into()));
        assert_eq!(kept("dry-run = true", service), None);
        assert_eq!(kept("dry-run = true\nstate = \"/x\"", service), Some("/x".into()));
        assert_eq!(kept("state = \"none\"", service), None);
    }

    #[test]
    fn exceptions_alone_leave_all_other_ports_attended_to() {
        let load = load(&AgentOptions::parse("except-local-port = [22]", "f").unwrap()).unwrap();
        assert!(!load.settings.only_ports);
    }

    #[test]
    fn what_does_not_fit_into_the_maps_is_refused() {
        let many: Vec<_> =
            (0..4095).map(|n| format!("\"10.{}.{}.0/24\"", n / 256, n % 256)).collect();
        let text = format!("prefix = [{}]", many.join(","));
        // Two more are there already: loopback.
        let why = load(&AgentOptions::parse(&text, "f").unwrap()).unwrap_err();
        assert_eq!(why, "prefix: 4097 are too many, 4096 at most");
    }
}
