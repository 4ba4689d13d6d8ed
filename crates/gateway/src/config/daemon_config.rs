//! A gateway's complete, checked configuration: [`GatewayOptions`] with defaults. A reload makes a
//! second one, and [`DaemonConfig::fixed_differences`] lists the changed keys that wait for a
//! restart.

use super::options::{CollectorName, GatewayOptions};
use super::permission::Permissions;
use crate::os::log::GatewayLogLevel;
use crate::pki::TlsFiles;
use std::collections::BTreeSet;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Default port for agents.
pub const GRPC_PORT: u16 = 9466;
/// Default port of HTTP.
pub const HTTP_PORT: u16 = 9465;

/// Length of the shortest IPv4 prefix that counts as a network of visitors, bits; a shorter one is
/// a part of the Internet.
pub const SHORTEST_V4: u8 = 16;
/// Length of the shortest IPv6 prefix that counts as a network of visitors, bits.
pub const SHORTEST_V6: u8 = 32;
/// Longest time that a network can be remembered without reports, seconds: 17 h
/// ([`memory::site::SiteConfig::max_age`]).
pub const MAX_RETENTION: u32 = 61_200;
/// Largest number of reports in a batch that an operator can allow.
pub const MAX_BATCH: usize = 65_536;
/// Upper limit for the time that the list of revoked certificates may be unreadable, seconds: a
/// day.
const MAX_REVOKED_GRACE: u32 = 86_400;
/// Longest time between two snapshots, seconds: a year.
const MAX_SAVE_EVERY: u32 = 31_536_000;

/// A gateway's complete configuration.
#[derive(Clone, Debug)]
pub struct DaemonConfig {
    /// Address for agents.
    pub listen: SocketAddr,
    /// Address of HTTP.
    pub http: SocketAddr,
    /// Authority, certificate and key.
    pub tls: TlsFiles,
    /// The list of revoked certificates.
    pub revoked: PathBuf,
    /// Longest time for which that list may be unreadable before no certificate is accepted.
    pub revoked_grace: Duration,
    /// File of the snapshot; `None`: no snapshot.
    pub state: Option<PathBuf>,
    /// Time between two snapshots.
    pub save_every: Duration,
    /// A store that gateways share.
    pub redis: Option<StoreConfig>,
    /// Maximum number of networks that are remembered.
    pub max_networks: usize,
    /// Maximum number of connections at a time.
    pub max_connections: usize,
    /// Verbosity of the log.
    pub log: GatewayLogLevel,
    /// Settings that can change without a restart.
    pub rules: Rules,
}

/// Address of one or several servers of Redis's protocol: `redis://` or, with TLS, `rediss://`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StorePlace {
    /// One server.
    Server(String),
    /// Some nodes of a cluster; the client finds the others.
    Cluster(Vec<String>),
}

/// A store of Redis's protocol, and the certificates for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreConfig {
    /// Its address.
    pub place: StorePlace,
    /// The authority of its certificate; `None`: the authorities that the system trusts.
    pub ca: Option<PathBuf>,
    /// The gateway's own certificate for the store, and its key.
    pub shown: Option<(PathBuf, PathBuf)>,
}

/// The rules by which reports and questions are judged.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Age after which reports are forgotten.
    pub retention: Duration,
    /// Longest prefixes in reports and questions, bits.
    pub longest: LongestPrefix,
    /// Accepted ways of collecting reports.
    pub collect: BTreeSet<CollectorName>,
    /// Maximum number of reports in a batch.
    pub max_batch: usize,
    /// Maximum number of reports of one reporter per second.
    pub reports_per_second: u32,
    /// Permissions of certificates.
    pub permissions: Permissions,
}

/// Lengths of the longest prefixes, bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongestPrefix {
    /// Length for IPv4, at most 32.
    pub v4: u8,
    /// Length for IPv6, at most 128.
    pub v6: u8,
}

impl DaemonConfig {
    /// Reads the configuration from `file`.
    ///
    /// # Errors
    /// If it is wrong: the file and line, or the key, and the way out.
    pub fn read(file: &Path) -> Result<Self, String> {
        let shown = file.display();
        let text = fs::read_to_string(file).map_err(|error| {
            format!("{shown}: {error}; `headstart gateway init DIR` writes a configuration")
        })?;
        let options =
            GatewayOptions::parse(&text, &shown.to_string()).map_err(|why| why.to_string())?;
        let folder = file.parent().unwrap_or(Path::new(""));
        let service = std::env::var_os("STATE_DIRECTORY").map(PathBuf::from);
        Self::new(&options, folder, service.as_deref()).map_err(|why| format!("{shown}: {why}"))
    }

    /// Builds the configuration from `options`, with files relative to `folder`; a service's folder
    /// of state is `service`.
    ///
    /// # Errors
    /// If a value is wrong: the key and the way out.
    pub fn new(
        options: &GatewayOptions,
        folder: &Path,
        service: Option<&Path>,
    ) -> Result<Self, String> {
        let file = |named: &Option<PathBuf>, default: &str| {
            folder.join(named.as_deref().unwrap_or(Path::new(default)))
        };
        let state = match &options.state {
            Some(none) if none.as_os_str() == "none" => None,
            Some(named) => Some(folder.join(named)),
            None => Some(service.unwrap_or(folder).join("gateway.redb")),
        };
        let rules = Rules::new(options)?;
        Ok(Self {
            listen: options.listen.unwrap_or((Ipv4Addr::LOCALHOST, GRPC_PORT).into()),
            http: http(options)?,
            tls: TlsFiles {
                ca: file(&options.ca, "ca.pem"),
                certificate: file(&options.certificate, "server.pem"),
                key: file(&options.key, "server.key"),
                certificate_ca: options.certificate_ca.as_ref().map(|named| folder.join(named)),
            },
            revoked: file(&options.revoked, "revoked.txt"),
            revoked_grace: seconds("revoked-grace", options.revoked_grace, 60, MAX_REVOKED_GRACE)?,
            state,
            save_every: seconds("save-every", options.save_every, 30, MAX_SAVE_EVERY)?,
            redis: StoreConfig::new(options, folder)?,
            max_networks: within("max-networks", options.max_networks, 1_000_000, (1, 1 << 26))?,
            max_connections: within(
                "max-connections",
                options.max_connections,
                4096,
                (1, 1 << 20),
            )?,
            log: options.log.unwrap_or_default(),
            rules,
        })
    }

    /// Returns the keys in which `new` differs and that a running gateway cannot change.
    pub fn fixed_differences(&self, new: &Self) -> Vec<&'static str> {
        let differ = [
            ("listen", self.listen != new.listen),
            ("http", self.http != new.http),
            ("revoked", self.revoked != new.revoked),
            ("revoked-grace", self.revoked_grace != new.revoked_grace),
            ("state", self.state != new.state),
            ("save-every", self.save_every != new.save_every),
            ("redis", self.redis != new.redis),
            ("max-networks", self.max_networks != new.max_networks),
            ("max-connections", self.max_connections != new.max_connections),
        ];
        differ.into_iter().filter_map(|(key, differs)| differs.then_some(key)).collect()
    }
}

impl StoreConfig {
    /// Reads the options of the shared store; `None` if no store is named.
    fn new(options: &GatewayOptions, folder: &Path) -> Result<Option<Self>, String> {
        let file = |named: &Option<PathBuf>| named.as_deref().map(|named| folder.join(named));
        let (ca, certificate) = (file(&options.redis_ca), file(&options.redis_certificate));
        let shown = match (certificate, file(&options.redis_key)) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err("redis-certificate and redis-key go together".to_owned()),
        };
        let is_tls = |url: &String| url.starts_with("rediss://");
        let is_encrypted = options.redis.iter().chain(&options.redis_cluster).any(is_tls);
        if (ca.is_some() || shown.is_some()) && !is_encrypted {
            let why = "redis-ca and redis-certificate: only if redis or redis-cluster names rediss://HOST:PORT";
            return Err(why.to_owned());
        }
        let place = match (options.redis.clone(), options.redis_cluster.clone()) {
            (Some(_), nodes) if !nodes.is_empty() => {
                return Err("redis and redis-cluster: name one of them".to_owned());
            }
            (Some(url), _) => StorePlace::Server(url),
            (None, nodes) if nodes.is_empty() => return Ok(None),
            (None, nodes) => StorePlace::Cluster(nodes),
        };
        Ok(Some(Self { place, ca, shown }))
    }
}

impl Rules {
    /// Returns the default rules, without tenants, to judge reports that come from no certificate.
    pub fn of_files() -> Self {
        Self {
            retention: Duration::MAX,
            longest: LongestPrefix { v4: 28, v6: 64 },
            collect: CollectorName::ALL.into(),
            max_batch: usize::MAX,
            reports_per_second: u32::MAX,
            permissions: Permissions::default(),
        }
    }

    /// Reads the rules for reporters. Options that are not set have their default.
    fn new(options: &GatewayOptions) -> Result<Self, String> {
        let default = [CollectorName::Agent, CollectorName::Application, CollectorName::Passive];
        let collect = options.collect.clone().unwrap_or(default.to_vec());
        Ok(Self {
            retention: seconds("retention", options.retention, 3600, MAX_RETENTION)?,
            longest: LongestPrefix {
                v4: within("longest-v4", options.longest_v4, 28, (SHORTEST_V4, 32))?,
                v6: within("longest-v6", options.longest_v6, 64, (SHORTEST_V6, 64))?,
            },
            collect: collect.into_iter().collect(),
            max_batch: within("max-batch", options.max_batch, 4096, (1, MAX_BATCH))?,
            reports_per_second: within(
                "reports-per-second",
                options.reports_per_second,
                100_000,
                (1, 100_000_000),
            )?,
            permissions: Permissions::new(&options.tenant)?,
        })
    }
}

/// Returns the address of HTTP. HTTP asks for no password, so an address for other machines needs
/// the operator's consent.
fn http(options: &GatewayOptions) -> Result<SocketAddr, String> {
    let http = options.http.unwrap_or((Ipv4Addr::LOCALHOST, HTTP_PORT).into());
    match http.ip().is_loopback() || options.http_for_all {
        true => Ok(http),
        false => Err(format!(
            "http: {http} is open to other machines, and HTTP shows networks of visitors; \
             set http-for-all = true if only permitted machines can connect to it, or use 127.0.0.1"
        )),
    }
}

fn seconds(key: &str, said: Option<u32>, default: u32, most: u32) -> Result<Duration, String> {
    within(key, said, default, (1, most)).map(|count| Duration::from_secs(count.into()))
}

/// Returns the value of `key`, or its default.
///
/// # Errors
///
/// If the value lies outside of the bounds.
fn within<N: Copy + PartialOrd + std::fmt::Display>(
    key: &str,
    said: Option<N>,
    default: N,
    (least, most): (N, N),
) -> Result<N, String> {
    match said.unwrap_or(default) {
        n if (least..=most).contains(&n) => Ok(n),
        n => Err(format!("{key} = {n}: from {least} to {most}, please")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Result<DaemonConfig, String> {
        let text = format!("{text}\n[[tenant]]\nname = \"site\"");
        let options = GatewayOptions::parse(&text, "f").unwrap();
        DaemonConfig::new(&options, Path::new("/etc/g"), None)
    }

    #[test]
    fn files_lie_beside_the_configuration() {
        let config = config("key = \"/k\"").unwrap();
        assert_eq!(config.tls.ca, Path::new("/etc/g/ca.pem"));
        assert_eq!(config.tls.key, Path::new("/k"));
        assert_eq!(config.state.as_deref(), Some(Path::new("/etc/g/gateway.redb")));
    }

    #[test]
    fn http_is_opened_to_others_by_word_alone() {
        let why = config("http = \"0.0.0.0:9465\"").unwrap_err();
        assert!(why.contains("http-for-all = true"), "{why}");
        assert!(config("http = \"0.0.0.0:9465\"\nhttp-for-all = true").is_ok());
    }

    #[test]
    fn what_is_out_of_bounds_is_named() {
        let why = |text: &str| config(text).unwrap_err();
        assert_eq!(why("longest-v4 = 33"), "longest-v4 = 33: from 16 to 32, please");
        // With a shorter limit no report at all would count.
        assert_eq!(why("longest-v4 = 15"), "longest-v4 = 15: from 16 to 32, please");
        assert_eq!(why("longest-v6 = 31"), "longest-v6 = 31: from 32 to 64, please");
        // 17 h are 61,200 s.
        assert_eq!(why("retention = 61201"), "retention = 61201: from 1 to 61200, please");
        assert_eq!(why("max-batch = 65537"), "max-batch = 65537: from 1 to 65536, please");
        assert!(config("longest-v4 = 16\nlongest-v6 = 32\nretention = 61200").is_ok());
        let options = GatewayOptions::parse("", "f").unwrap();
        let why = DaemonConfig::new(&options, Path::new(""), None).unwrap_err();
        assert!(why.contains("[[tenant]]"), "{why}");
    }

    #[test]
    fn certificates_of_a_store_need_tls_and_a_key() {
        let tls = "redis = \"rediss://store:6379\"\nredis-ca = \"r.pem\"";
        let store = config(tls).unwrap().redis.unwrap();
        assert_eq!(store.ca.as_deref(), Some(Path::new("/etc/g/r.pem")));
        let nodes = "redis-cluster = [\"rediss://a:1\", \"rediss://b:1\"]\nredis-ca = \"r.pem\"";
        let place = config(nodes).unwrap().redis.unwrap().place;
        assert_eq!(place, StorePlace::Cluster(vec!["rediss://a:1".into(), "rediss://b:1".into()]));
        let both = "redis = \"redis://a:1\"\nredis-cluster = [\"redis://b:1\"]";
        assert!(config(both).unwrap_err().contains("name one of them"));
        let why = config(&tls.replace("rediss", "redis")).unwrap_err();
        assert!(why.contains("redis-cluster") && why.contains("rediss://"), "{why}");
        let why = config(&format!("{tls}\nredis-certificate = \"c.pem\"")).unwrap_err();
        assert!(why.contains("redis-key"), "{why}");
    }

    #[test]
    fn a_reload_names_what_waits_for_a_restart() {
        let (old, new) = (config("").unwrap(), config("max-networks = 5\nretention = 9").unwrap());
        assert_eq!(old.fixed_differences(&new), ["max-networks"]);
        // Each key that docs/gateway/reference.md calls fixed, by its first word.
        for text in [
            "listen = \"127.0.0.1:1\"",
            "http = \"127.0.0.1:1\"",
            "revoked = \"r\"",
            "revoked-grace = 61",
            "state = \"s\"",
            "save-every = 31",
            "max-networks = 5",
            "max-connections = 5",
            "redis = \"redis://a:1\"",
            "redis-cluster = [\"redis://a:1\"]",
        ] {
            let named = old.fixed_differences(&config(text).unwrap());
            assert!(named.len() == 1 && text.contains(named[0]), "{text}: {named:?}");
        }
    }
}
