//! What the gateway is to look at itself: `[capture]` of its configuration with defaults, checked.

use super::options::CaptureOptions;
use capture::PortRange;
use ipnet::IpNet;
use std::fmt;
use std::path::{Path, PathBuf};

/// What to look at, complete and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureConfig {
    /// Where packets come from.
    pub place: CapturePlace,
    /// Ports of the site's servers.
    pub ports: Vec<u16>,
    /// Whose servers they are.
    pub tenant: String,
    /// Whether servers are told of visitors as their SYNs come, and as they ask on connections that were idle.
    pub push: bool,
    /// Whose TCP options are believed: addresses of the site's servers.
    pub option_servers: Vec<IpNet>,
}

/// Where packets come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CapturePlace {
    /// These interfaces.
    Interfaces(Vec<String>),
    /// A capture file, or a pipe that somebody writes one into.
    File(PathBuf),
}

/// As the operator named it.
impl fmt::Display for CapturePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interfaces(interfaces) => f.write_str(&interfaces.join(", ")),
            Self::File(file) => write!(f, "{}", file.display()),
        }
    }
}

impl CaptureConfig {
    /// What `options` say, with files relative to `folder`; `tenants` of the gateway are there.
    ///
    /// # Errors
    /// With the key and the way out.
    pub fn new(options: &CaptureOptions, folder: &Path, tenants: &[&str]) -> Result<Self, String> {
        let place = match (&options.file, options.interfaces.is_empty()) {
            (Some(file), true) => CapturePlace::File(folder.join(file)),
            (None, false) => CapturePlace::Interfaces(options.interfaces.clone()),
            (Some(_), false) => {
                return Err("capture.interfaces and capture.file: leave one out".to_owned());
            }
            (None, true) => {
                let why = "capture.interfaces: name some (`ip link` lists them), or \"any\"";
                return Err(why.to_owned());
            }
        };
        let ports = options.ports.clone().unwrap_or_else(|| vec![80, 443]);
        if ports.is_empty() || ports.len() > PortRange::MOST || ports.contains(&0) {
            let most = PortRange::MOST;
            return Err(format!("capture.ports: 1 to {most} ports of your servers, please"));
        }
        let tenant = match (&options.tenant, tenants) {
            (Some(named), _) if tenants.contains(&named.as_str()) => named.clone(),
            (Some(named), _) => {
                return Err(format!("capture.tenant = {named:?}: there is no such [[tenant]]"));
            }
            (None, [only]) => (*only).to_owned(),
            (None, _) => {
                return Err("capture.tenant: say whose servers they are".to_owned());
            }
        };
        let push = options.push.unwrap_or(true);
        Ok(Self { place, ports, tenant, push, option_servers: options.option_servers.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(options: &CaptureOptions, tenants: &[&str]) -> Result<CaptureConfig, String> {
        CaptureConfig::new(options, Path::new("/etc/g"), tenants)
    }

    #[test]
    fn what_is_missing_is_named() {
        let none = CaptureOptions::default();
        assert!(config(&none, &["site"]).unwrap_err().starts_with("capture.interfaces: name some"));
        let one = CaptureOptions { interfaces: vec!["eth0".to_owned()], ..none.clone() };
        let good = config(&one, &["site"]).unwrap();
        assert_eq!((good.ports, good.tenant.as_str(), good.push), (vec![80, 443], "site", true));
        assert!(config(&one, &["a", "b"]).unwrap_err().starts_with("capture.tenant: say whose"));
        let other = CaptureOptions { tenant: Some("c".to_owned()), ..one.clone() };
        assert!(config(&other, &["a"]).unwrap_err().contains("no such [[tenant]]"));
        let both = CaptureOptions { file: Some("p".into()), ..one.clone() };
        assert!(config(&both, &["a"]).unwrap_err().contains("leave one out"));
        let file = CaptureOptions { file: Some("p".into()), ..none };
        let place = config(&file, &["a"]).unwrap().place;
        assert_eq!(place, CapturePlace::File("/etc/g/p".into()));
        assert_eq!(place.to_string(), "/etc/g/p");
        let two = CapturePlace::Interfaces(vec!["eth0".to_owned(), "eth1".to_owned()]);
        assert_eq!(two.to_string(), "eth0, eth1");
        let ports = CaptureOptions { ports: Some(vec![0]), ..one };
        assert!(config(&ports, &["a"]).unwrap_err().starts_with("capture.ports"));
    }
}
