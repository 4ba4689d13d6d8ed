//! A separate process that is measured: its processor time and memory.

use gateway::daemon::Daemon;
use std::error::Error;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{env, fs, io, thread};
use tokio::sync::oneshot;

/// The process ends when its handle is dropped.
pub(crate) struct Measured {
    child: Child,
}

impl Drop for Measured {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Measured {
    /// Starts `command`, and waits until it listens at `address`.
    pub(crate) fn start(command: &mut Command, address: SocketAddr) -> io::Result<Self> {
        let measured = Self { child: command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()? };
        while TcpStream::connect(address).is_err() {
            thread::sleep(Duration::from_millis(5));
        }
        Ok(measured)
    }

    /// Starts this program as a gateway.
    pub(crate) fn gateway(config: &Path, address: SocketAddr) -> io::Result<Self> {
        Self::start(Command::new(env::current_exe()?).arg("serve").arg(config), address)
    }

    /// Returns the processor time so far, seconds.
    pub(crate) fn processor_s(&self) -> f64 {
        processor_s(&self.child.id().to_string())
    }

    /// Returns the resident memory, or its maximum, MiB.
    pub(crate) fn memory_mib(&self, key: &str) -> u64 {
        self.memory_kib(key) >> 10
    }

    /// Returns the resident memory, or its maximum, KiB.
    pub(crate) fn memory_kib(&self, key: &str) -> u64 {
        let status =
            fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
        line.trim_start_matches(':').trim().trim_end_matches(" kB").parse().unwrap_or(0)
    }

    /// Asks it to end, and waits for that.
    pub(crate) fn end(mut self) -> io::Result<()> {
        drop(self.child.stdin.take());
        self.child.wait().map(drop)
    }
}

/// Returns the processor time of this process so far, seconds.
pub(crate) fn own_processor_s() -> f64 {
    processor_s("self")
}

/// Returns user and system time of all threads (proc_pid_stat(5), fields 14 and 15, in hundredths
/// of a second), seconds.
fn processor_s(process: &str) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ').skip(11).take(2);
    fields.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Runs a gateway until the other end of standard input is closed.
pub(crate) async fn serve(config: &Path) -> Result<(), Box<dyn Error>> {
    let (end, ended) = oneshot::channel();
    thread::spawn(move || {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        let _ = end.send(());
    });
    let handle = Daemon::open(config).await?.spawn(false);
    let _ = ended.await;
    Ok(handle.end().await?)
}
