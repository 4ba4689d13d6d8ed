//! The gateway of a site in the kernel's world: `headstart-gateway`, a process of its own, with
//! certificates that it has made and that go with it. The agent reaches it over the loopback device
//! of the namespace that both are in, by mutual TLS.

use crate::temporary::{self, GLANCE, PATIENCE};
use emulator::Namespace;
use emulator::sandbox::{self, Sandbox};
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;

/// Address of the gateway that `headstart gateway init` describes. Its namespace has no other.
const ADDRESS: &str = "127.0.0.1:9466";

/// A running gateway.
#[derive(Debug)]
pub(super) struct SiteGateway {
    _sandbox: Sandbox,
    options: Vec<OsString>,
}

impl SiteGateway {
    /// Makes its files in `folder` and runs it; comes back when it answers.
    ///
    /// # Errors
    /// The gateway's own words on why it does not.
    pub(super) fn start(program: &Path, namespace: &Namespace, folder: &Path) -> io::Result<Self> {
        let files = folder.join("gateway");
        let config = files.join("gateway.toml");
        let made = Command::new(program).args(["init", "--force"]).arg(&files).output()?;
        if !made.status.success() {
            let printed = String::from_utf8_lossy(&made.stderr);
            return Err(io::Error::other(printed.trim_end().to_owned()));
        }
        // A race keeps nothing.
        let text = format!("state = \"none\"\n{}", fs::read_to_string(&config)?);
        fs::write(&config, text)?;
        let ready = folder.join("gateway.ready");
        let notifications = UnixDatagram::bind(&ready)?;
        let mut command = sandbox::command(program);
        command.arg("--config").arg(&config).env("NOTIFY_SOCKET", ready);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut sandbox = Sandbox::start(namespace, command)?;
        temporary::wait_until_ready(&notifications, "the gateway", &mut sandbox)?;
        Ok(Self { _sandbox: sandbox, options: options(&files) })
    }

    /// The agent's options for the gateway, as words of a command line.
    pub(super) fn options(&self) -> &[OsString] {
        &self.options
    }
}

fn options(files: &Path) -> Vec<OsString> {
    let file = |name: &str| files.join(name).into_os_string();
    let mut options = vec!["--gateway".into(), ADDRESS.into()];
    for (key, name) in [("ca", "ca.pem"), ("certificate", "agent.pem"), ("key", "agent.key")] {
        options.extend([format!("--gateway-{key}").into(), file(name)]);
    }
    options
}

/// Waits until the agent that is asked at `socket` has a gateway that answers.
///
/// # Errors
/// The reason why it has none.
pub(super) fn wait_until_asked(agent: &Path, socket: &Path) -> io::Result<()> {
    let mut why = String::new();
    for _ in 0..PATIENCE.as_millis() / GLANCE.as_millis() {
        let status =
            Command::new(agent).args(["status", "--json", "--socket"]).arg(socket).output()?;
        let of_gateway = serde_json::from_slice::<Value>(&status.stdout).unwrap_or_default();
        if of_gateway["gateway"]["gateway"].is_string() {
            return Ok(());
        }
        why = match of_gateway["gateway"]["trouble"].as_str() {
            Some(trouble) => trouble.to_owned(),
            None => String::from_utf8_lossy(&status.stderr).trim_end().to_owned(),
        };
        sleep(GLANCE);
    }
    Err(io::Error::other(format!("the agent reaches no gateway within {PATIENCE:?}: {why}")))
}
