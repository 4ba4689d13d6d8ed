//! The keys of `observe.toml` with defaults, checked.

use capture::PortRange;
use gateway_client::ClientConfig;
use gateway_proto::v1::Collector;
use ipnet::IpNet;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::fmt;
use std::fs;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use support::errors::Fault;

/// The configuration of an observer, complete and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObserveConfig {
    /// The gateways that it reports to, and its certificate.
    pub client: ClientConfig,
    /// The packets that it reads.
    pub capture: CaptureConfig,
    /// Address at which it serves `/metrics` by plain HTTP; `None`: nowhere.
    pub metrics: Option<SocketAddr>,
}

/// The packets that an observer reads, and their use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureConfig {
    /// The source of the packets.
    pub place: CapturePlace,
    /// Ports of the site's servers.
    pub ports: Vec<u16>,
    /// True if it rebuilds senders and reports their transfers.
    pub passive: bool,
    /// True if it announces visitors as their SYNs arrive, and as they ask on idle connections.
    pub push: bool,
    /// Addresses of the site's servers whose TCP options are accepted.
    pub option_servers: Vec<IpNet>,
    /// Longest prefixes that it reports.
    pub longest: ReportedPrefix,
}

/// Bits of the longest prefixes that an observer reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportedPrefix {
    /// Bits of an IPv4 address, 16 to 24.
    pub v4: u8,
    /// Bits of an IPv6 address, 32 to 48.
    pub v6: u8,
}

/// The source of packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CapturePlace {
    /// These interfaces.
    Interfaces(Vec<String>),
    /// A capture file, or a pipe into which another program writes one.
    File(PathBuf),
}

impl CapturePlace {
    /// Returns true for interfaces: packets are recent, and no read waits for long.
    pub(crate) const fn is_live(&self) -> bool {
        matches!(self, Self::Interfaces(_))
    }

    /// Returns true for a file that ends, but not for a pipe.
    pub(crate) fn is_file(&self) -> bool {
        matches!(self, Self::File(file) if file.is_file())
    }
}

/// Writes the interfaces, separated by commas, or the path of the file.
impl fmt::Display for CapturePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interfaces(interfaces) => f.write_str(&interfaces.join(", ")),
            Self::File(file) => write!(f, "{}", file.display()),
        }
    }
}

/// Keys of `observe.toml`. [`ClientConfig::of_agent`] reads the keys that an agent also has.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct ObserveOptions {
    #[serde(rename = "gateway")]
    _gateway: IgnoredAny,
    #[serde(rename = "gateway-ca")]
    _gateway_ca: IgnoredAny,
    #[serde(rename = "gateway-certificate")]
    _gateway_certificate: IgnoredAny,
    #[serde(rename = "gateway-key")]
    _gateway_key: IgnoredAny,
    interfaces: Vec<String>,
    file: Option<PathBuf>,
    ports: Option<Vec<u16>>,
    passive: Option<bool>,
    push: Option<bool>,
    option_servers: Vec<IpNet>,
    longest_v4: Option<u8>,
    longest_v6: Option<u8>,
    metrics: Option<SocketAddr>,
}

impl ObserveConfig {
    /// Reads the configuration in `file`.
    ///
    /// # Errors
    ///
    /// With file and line, or the key, and the solution.
    pub fn read(file: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(file).map_err(|error| {
            let way_out = "`headstart gateway init DIR --observe INTERFACE` writes one";
            format!("{}: {error}; {way_out}", file.display())
        })?;
        Self::parse(&text, file)
    }

    /// Reads the configuration in `text` of `file`. Names of files are relative to the folder of
    /// `file`.
    fn parse(text: &str, file: &Path) -> Result<Self, String> {
        let shown = file.display().to_string();
        let options: ObserveOptions = toml::from_str(text)
            .map_err(|error| Fault::from(error).of_file(&shown, text).to_string())?;
        let folder = file.parent().unwrap_or(Path::new(""));
        let mut client = ClientConfig::of_agent(file, text.as_bytes(), Collector::Passive)?;
        for named in [&mut client.ca, &mut client.certificate, &mut client.key] {
            *named = folder.join(&named);
        }
        let metrics = options.metrics;
        let capture =
            CaptureConfig::new(options, folder).map_err(|why| format!("{shown}: {why}"))?;
        Ok(Self { client, capture, metrics })
    }
}

impl CaptureConfig {
    /// Checks the options and adds defaults. Files are relative to `folder`.
    ///
    /// # Errors
    ///
    /// If options contradict each other, or there is nothing to observe.
    fn new(options: ObserveOptions, folder: &Path) -> Result<Self, String> {
        let place = match (options.file, options.interfaces) {
            (Some(file), none) if none.is_empty() => CapturePlace::File(folder.join(file)),
            (Some(_), _) => return Err("interfaces and file: leave one out".to_owned()),
            (None, none) if none.is_empty() => {
                return Err("interfaces: name some (`ip link` lists them), or \"any\"".to_owned());
            }
            (None, interfaces) => CapturePlace::Interfaces(interfaces),
        };
        let ports = options.ports.unwrap_or_else(|| vec![80, 443]);
        if ports.is_empty() || ports.len() > PortRange::MAX_RANGES || ports.contains(&0) {
            let most = PortRange::MAX_RANGES;
            return Err(format!("ports: 1 to {most} ports of your servers, please"));
        }
        let (passive, push) = (options.passive.unwrap_or(true), options.push.unwrap_or(true));
        if !passive && !push && options.option_servers.is_empty() {
            return Err("passive, push, option-servers: with none of them there is nothing to \
                report; leave passive = false out"
                .to_owned());
        }
        let longest = ReportedPrefix {
            v4: within("longest-v4", options.longest_v4, 16..=24)?,
            v6: within("longest-v6", options.longest_v6, 32..=48)?,
        };
        Ok(Self { place, ports, passive, push, option_servers: options.option_servers, longest })
    }
}

/// Returns the value of `key`, the upper bound by default.
fn within(key: &str, value: Option<u8>, allowed: RangeInclusive<u8>) -> Result<u8, String> {
    let (least, most) = (*allowed.start(), *allowed.end());
    match value.unwrap_or(most) {
        bits if allowed.contains(&bits) => Ok(bits),
        bits => Err(format!("{key} = {bits}: from {least} to {most}, please")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An observer's first lines.
    const GATEWAY: &str = "gateway = [\"127.0.0.1:9466\"]\ngateway-ca = \"ca.pem\"\n\
        gateway-certificate = \"/o/observer.pem\"\ngateway-key = \"observer.key\"\n";

    fn config(text: &str) -> Result<ObserveConfig, String> {
        ObserveConfig::parse(&format!("{GATEWAY}{text}"), Path::new("/etc/o/observe.toml"))
    }

    #[test]
    fn files_lie_beside_the_configuration_and_the_rest_has_defaults() {
        let found = config("interfaces = [\"eth0\", \"eth1\"]").unwrap();
        assert_eq!(found.client.ca, Path::new("/etc/o/ca.pem"));
        assert_eq!(found.client.certificate, Path::new("/o/observer.pem"));
        assert_eq!(found.client.key, Path::new("/etc/o/observer.key"));
        let CaptureConfig { place, ports, passive, push, option_servers, longest } = found.capture;
        assert_eq!(place.to_string(), "eth0, eth1");
        assert_eq!((ports, passive, push, option_servers), (vec![80, 443], true, true, vec![]));
        assert_eq!((longest, found.metrics), (ReportedPrefix { v4: 24, v6: 48 }, None));
        let file = config("file = \"p\"").unwrap().capture.place;
        assert_eq!(file, CapturePlace::File("/etc/o/p".into()));
    }

    /// Each error names the file, the key or the line, and the solution.
    #[test]
    fn what_is_wrong_is_named() {
        for (text, expected) in [
            ("", "interfaces: name some (`ip link` lists them)"),
            ("interfaces = [\"a\"]\nfile = \"p\"", "interfaces and file: leave one out"),
            ("file = \"p\"\nports = [0]", "ports: 1 to 32 ports"),
            ("file = \"p\"\nports = []", "ports: 1 to 32 ports"),
            ("file = \"p\"\nlongest-v4 = 25", "longest-v4 = 25: from 16 to 24, please"),
            ("file = \"p\"\nlongest-v6 = 31", "longest-v6 = 31: from 32 to 48, please"),
            ("file = \"p\"\npassive = false\npush = false", "leave passive = false out"),
        ] {
            let why = config(text).unwrap_err();
            assert!(why.starts_with("/etc/o/observe.toml: ") && why.contains(expected), "{why}");
        }
        // Four lines name the gateway.
        let why = config("file = \"p\"\npusch = true").unwrap_err();
        assert!(
            why.starts_with("/etc/o/observe.toml:6: unknown key \"pusch\" (did you mean \"push\"?")
        );
        let why = ObserveConfig::parse("file = \"p\"", Path::new("o.toml")).unwrap_err();
        assert!(why.starts_with("o.toml: gateway is missing; `headstart gateway init`"), "{why}");
        assert!(
            config("file = \"p\"\npassive = false\npush = false\noption-servers = [\"::/0\"]")
                .is_ok()
        );
    }
}
