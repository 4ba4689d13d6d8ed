//! A first gateway for one machine: a new authority, certificates, and the configurations, written
//! into a folder. Keys that the gateway does not need are in a folder of their own, `authority`:
//! who breaks into the gateway must not be able to make certificates.

use crate::pki::{Authority, HolderRole};
use nix::unistd::{Gid, User};
use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Default validity of certificates of gateways, agents and observers, days.
pub const DAYS: u32 = 365;
/// The tenant of a first gateway.
pub const TENANT: &str = "site";

/// The settings of a first gateway.
#[derive(Clone, Debug)]
pub struct FirstGateway {
    /// Names and addresses by which agents connect to it.
    pub hosts: Vec<String>,
    /// Name of the agent's certificate.
    pub agent: String,
    /// Interfaces whose packets an observer is to read; none: no observer.
    pub observe: Vec<String>,
    /// User as whom the gateway will run: its group may read the gateway's files. `None`: only
    /// their owner may.
    pub user: Option<String>,
    /// Overwrite existing files.
    pub force: bool,
}

/// Files that were written.
#[derive(Clone, Debug)]
pub struct Written {
    /// `gateway.toml`
    pub gateway: PathBuf,
    /// `agent.toml`
    pub agent: PathBuf,
    /// `observe/observe.toml`, if an observer was asked for.
    pub observer: Option<PathBuf>,
    /// All of these files.
    pub files: Vec<PathBuf>,
}

impl FirstGateway {
    /// Writes the files into `folder`, and creates the folder if need be.
    ///
    /// # Errors
    /// If one of the files exists already or cannot be written, or if there is no such user.
    pub fn write(&self, folder: &Path, now: SystemTime) -> Result<Written, String> {
        let folder = &absolute(folder)?;
        let group = self.user.as_deref().map(group_of).transpose()?;
        let contents = self.contents(folder, now)?;
        let is_new = !folder.exists();
        if !self.force
            && let Some(there) = first_there(folder, &contents)
        {
            return Err(format!(
                "{}: is there already, and agents may know its authority; name another folder, or add --force",
                there.display()
            ));
        }
        let mut files = Vec::new();
        for (name, text) in contents {
            let file = folder.join(name);
            let of_file = file.parent().unwrap_or(folder);
            make_private_folder(of_file)
                .map_err(|error| format!("cannot make {}: {error}", of_file.display()))?;
            write_private(&file, &text).map_err(|error| format!("{}: {error}", file.display()))?;
            files.push(file);
        }
        if let Some(group) = group {
            for (name, mode) in READ_BY_GATEWAY {
                // Others may need the permissions of a folder that was there before.
                if name.is_empty() && !is_new {
                    continue;
                }
                let file = folder.join(name);
                open_to(group, &file, mode)
                    .map_err(|error| format!("{}: {error}", file.display()))?;
            }
        }
        Ok(Written {
            gateway: folder.join("gateway.toml"),
            agent: folder.join("agent.toml"),
            observer: (!self.observe.is_empty()).then(|| folder.join(OBSERVE_TOML)),
            files,
        })
    }

    /// Makes the authority and its certificates. Returns the names and contents of all files of the
    /// folder.
    fn contents(
        &self,
        folder: &Path,
        now: SystemTime,
    ) -> Result<Vec<(&'static str, String)>, String> {
        let failed = |error| format!("cannot make certificates: {error}");
        let (authority, ca) = Authority::new(now).map_err(failed)?;
        let server = authority.server(now, DAYS, &self.hosts).map_err(failed)?;
        let agent = authority.client(now, DAYS, HolderRole::Agent, (TENANT, &self.agent));
        let agent = agent.map_err(failed)?;
        let operator = authority.client(now, DAYS, HolderRole::Operator, (TENANT, "operator"));
        let operator = operator.map_err(failed)?;
        let host = self.hosts.first().map_or("127.0.0.1", String::as_str);
        let address = address(host);
        let mut contents = vec![
            ("ca.pem", ca.certificate.clone()),
            ("authority/ca.pem", ca.certificate.clone()),
            ("authority/ca.key", ca.key),
            ("server.pem", server.certificate),
            ("server.key", server.key),
            ("agent.pem", agent.certificate),
            ("agent.key", agent.key),
            ("authority/operator.pem", operator.certificate),
            ("authority/operator.key", operator.key),
            ("revoked.txt", REVOKED.to_owned()),
            ("gateway.toml", GATEWAY_TOML.to_owned()),
            ("agent.toml", agent_toml(folder, &address)),
        ];
        if !self.observe.is_empty() {
            let role = HolderRole::Observer;
            let observer = authority.client(now, DAYS, role, (TENANT, "observer"));
            let observer = observer.map_err(failed)?;
            contents.extend([
                ("observe/ca.pem", ca.certificate),
                ("observe/observer.pem", observer.certificate),
                ("observe/observer.key", observer.key),
                (OBSERVE_TOML, observe_toml(&address, &self.observe)),
            ]);
        }
        Ok(contents)
    }
}

/// Folder within that of a first gateway: `ca.pem`, `ca.key`, `operator.pem` and `operator.key`.
/// The gateway needs none of them.
pub const AUTHORITY: &str = "authority";

/// Files that the group of the gateway's user may read, with their permissions; an empty name is
/// the folder.
const READ_BY_GATEWAY: [(&str, u32); 6] = [
    ("ca.pem", 0o640),
    ("server.pem", 0o640),
    ("server.key", 0o640),
    ("revoked.txt", 0o640),
    ("gateway.toml", 0o640),
    ("", 0o750),
];

/// Returns the keys that a gateway does not need and that this process can read. They are searched
/// for in the folders of `config` and `ca`, and in their folders `authority`.
pub fn readable_keys(config: &Path, ca: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<_> = [config, ca].into_iter().filter_map(Path::parent).collect();
    folders.dedup();
    let keys = folders.into_iter().flat_map(|folder| {
        [folder.to_owned(), folder.join(AUTHORITY)]
            .into_iter()
            .flat_map(|folder| ["ca.key", "operator.key"].map(|key| folder.join(key)))
    });
    keys.filter(|key| fs::File::open(key).is_ok()).collect()
}

/// Returns the group of `user`.
///
/// # Errors
///
/// If there is no such user; the message says how to make one.
fn group_of(user: &str) -> Result<Gid, String> {
    match User::from_name(user) {
        Ok(Some(found)) => Ok(found.gid),
        Ok(None) => Err(format!(
            "--user {user}: there is no such user; \
             `useradd --system --no-create-home {user}` makes one"
        )),
        Err(error) => Err(format!("--user {user}: {error}")),
    }
}

/// Lets a group read a file or a folder, whose owner stays the same: the gateway changes none.
fn open_to(group: Gid, file: &Path, mode: u32) -> io::Result<()> {
    chown(file, None, Some(group.as_raw()))?;
    fs::set_permissions(file, Permissions::from_mode(mode))
}

/// Makes a folder that only its owner may read, if need be. Folders above it are as others are.
fn make_private_folder(folder: &Path) -> io::Result<()> {
    if let Some(above) = folder.parent() {
        fs::create_dir_all(above)?;
    }
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn absolute(folder: &Path) -> Result<PathBuf, String> {
    std::path::absolute(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

fn first_there(folder: &Path, contents: &[(&str, String)]) -> Option<PathBuf> {
    contents.iter().map(|(name, _)| folder.join(name)).find(|file| file.exists())
}

/// Writes a file that only its owner may read: some of them are keys.
///
/// # Errors
/// If it cannot be written.
pub fn write_private(file: &Path, text: &str) -> io::Result<()> {
    // An existing file would keep its permissions, so it is removed first.
    match fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
    opened?.write_all(text.as_bytes())
}

/// Writes a private file, and replaces an existing one. The new file has the owner and the
/// permissions of the old one, and a reader finds either of them whole.
///
/// # Errors
/// If it cannot be written, or not be given to the owner.
pub fn replace_private(file: &Path, text: &str) -> io::Result<()> {
    let mut name = file.as_os_str().to_owned();
    name.push(".new");
    let new = PathBuf::from(name);
    write_private(&new, text)?;
    if let Ok(old) = fs::metadata(file) {
        let made = fs::metadata(&new)?;
        if (old.uid(), old.gid()) != (made.uid(), made.gid()) {
            chown(&new, Some(old.uid()), Some(old.gid()))?;
        }
        fs::set_permissions(&new, old.permissions())?;
    }
    fs::rename(&new, file)
}

const REVOKED: &str = "\
# Certificates that this gateway refuses, of holders and of authorities, one a line: SHA-256 fingerprints, or `serial` and a serial
# number. It reads them again when this file changes. `headstart gateway revoke --config gateway.toml CERTIFICATE.pem` adds one.
";

const GATEWAY_TOML: &str = r#"# A performance gateway: `headstart gateway --config FILE`. What each key means: docs/gateway/reference.md.
# Files are relative to the folder of this one. `systemctl reload headstart-gateway`, or SIGHUP, reads it anew.

listen = "127.0.0.1:9466"       # agents, by gRPC and mutual TLS
http = "127.0.0.1:9465"         # dashboard, metrics, JSON; no password, so not for others
ca = "ca.pem"
certificate = "server.pem"
key = "server.key"
revoked = "revoked.txt"
retention = 3600                # seconds

[[tenant]]
name = "site"
# Networks of which agents may report and for which they may ask; all if left out.
# report = ["0.0.0.0/0", "::/0"]
# ask = ["0.0.0.0/0", "::/0"]
"#;

/// The observer's configuration is in a folder of its own, because its user may read no key of the
/// site.
const OBSERVE_TOML: &str = "observe/observe.toml";

/// Returns the configuration of an observer.
fn observe_toml(address: &str, interfaces: &[String]) -> String {
    format!(
        r#"# An observer that reports packets: `headstart gateway observe --config FILE`. Each key: docs/gateway/reference.md.
# Files are relative to the folder of this one, which may move to another machine.

gateway = ["{address}"]
gateway-ca = "ca.pem"
gateway-certificate = "observer.pem"
gateway-key = "observer.key"
interfaces = {interfaces:?}
ports = [80, 443]               # of your servers
"#
    )
}

/// Returns the address of a gateway at `host`, on the default port.
fn address(host: &str) -> String {
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    format!("{host}:{}", super::GRPC_PORT)
}

/// Returns the configuration of an agent, which begins with few connections.
fn agent_toml(folder: &Path, address: &str) -> String {
    let file = |name: &str| folder.join(name).display().to_string();
    format!(
        r#"# An agent that asks the gateway of this folder and reports to it: `headstart agent --config FILE`, as root.

# Safe to begin with: connections of a web server alone, and of these one of a hundred. `headstart agent status` compares them.
local-port = [80, 443]
except-local-port = [22]        # ssh, also if the line above goes
percent = 1                     # raise it here and by SIGHUP, or by `headstart agent ramp`

gateway = ["{address}"]
gateway-ca = {:?}
gateway-certificate = {:?}
gateway-key = {:?}
"#,
        file("ca.pem"),
        file("agent.pem"),
        file("agent.key"),
    )
}
