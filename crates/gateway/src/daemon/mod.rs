//! The daemon: listens, restores the snapshot, notifies its service manager, saves periodically,
//! reloads its configuration, warns before its certificate ends, and drains.

mod background;
mod reload;

use crate::config::init::readable_keys;
use crate::config::{DaemonConfig, StoreConfig};
use crate::http;
use crate::os::clock::SiteClock;
use crate::os::descriptors;
use crate::os::log::{LogPriority, say, set_log_level};
use crate::pki::{beginning, earliest_end, ending};
use crate::rpc::http2;
use crate::rpc::listen;
use crate::rpc::service::GatewayService;
use crate::site::GatewaySite;
use crate::storage::shared::SharedStore;
use crate::storage::snapshot::SnapshotFile;
use arc_swap::ArcSwap;
use background::{
    run_chores, save_forgets_at_once, save_snapshots, warn_of_end, warn_of_keys, warn_of_start,
};
use gateway_proto::v1::gateway_server::GatewayServer;
use reload::{ReadTls, reload, tls};
use rustls::ServerConfig;
use sd_notify::NotifyState;
use service::http::HTTP_LIMITS;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;

/// Maximum number of connections that wait for the server after their handshake.
const MAX_READY_CONNECTIONS: usize = 64;
/// Longest time for draining.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);
/// A gateway with its listeners.
pub struct Daemon {
    file: PathBuf,
    config: DaemonConfig,
    site: Arc<GatewaySite>,
    tls: Arc<ArcSwap<ServerConfig>>,
    snapshot: Option<Arc<SnapshotFile>>,
    shared: Option<Arc<SharedStore>>,
    grpc: TcpListener,
    http: TcpListener,
}

impl std::fmt::Debug for Daemon {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Daemon").field("file", &self.file).finish_non_exhaustive()
    }
}

/// Handle to end or reload a daemon, for tests and for the command line.
#[derive(Debug)]
pub struct DaemonHandle {
    end: watch::Sender<bool>,
    reload: Arc<Notify>,
    task: JoinHandle<Result<(), String>>,
}

impl Daemon {
    /// Restores the memory and listens; answers nothing yet.
    ///
    /// # Errors
    /// With the file, the key or the address, and the way out.
    pub async fn open(file: &Path) -> Result<Self, String> {
        let config = DaemonConfig::read(file)?;
        set_log_level(config.log);
        descriptors::raise_limit();
        let snapshot = config.state.as_deref().map(SnapshotFile::open).transpose()?.map(Arc::new);
        let origin = snapshot.as_ref().map(|snapshot| snapshot.origin()).transpose()?;
        let site =
            Arc::new(GatewaySite::new(&config, origin.unwrap_or_else(crate::os::draw::number))?);
        let ReadTls { config: tls, authority } = tls(&config, &site)?;
        site.trust.set_authority(authority);
        let tls = Arc::new(ArcSwap::from_pointee(tls));
        site.set_certificate_end(earliest_end(&config.tls.certificate)?);
        warn_of_start(&config);
        warn_of_end(&site);
        warn_of_keys(file, &config);
        if let Some(snapshot) = &snapshot {
            let restored = snapshot.restore(&site)?;
            say(LogPriority::Notice, &format!("{restored} networks restored"));
        }
        let shared =
            |store: &StoreConfig| SharedStore::open(store, site.origin, config.rules.retention);
        let shared = config.redis.as_ref().map(shared).transpose()?.map(Arc::new);
        if let Some(shared) = &shared {
            shared.restore(&site).await;
            site.begin_sharing();
        }
        let grpc = bind("listen", config.listen).await?;
        let http = bind("http", config.http).await?;
        Ok(Self { file: file.to_owned(), config, site, tls, snapshot, shared, grpc, http })
    }

    /// Returns the address for agents.
    ///
    /// # Errors
    /// If the system does not return it.
    pub fn grpc_address(&self) -> io::Result<SocketAddr> {
        self.grpc.local_addr()
    }

    /// Returns the address of HTTP.
    ///
    /// # Errors
    /// If the system does not return it.
    pub fn http_address(&self) -> io::Result<SocketAddr> {
        self.http.local_addr()
    }

    /// Returns the site that it serves.
    pub const fn site(&self) -> &Arc<GatewaySite> {
        &self.site
    }

    /// Runs until `end` of the handle, or also until a signal if `signals`.
    pub fn spawn(self, signals: bool) -> DaemonHandle {
        let (end, ended) = watch::channel(false);
        let (stop, reload) = (end.clone(), Arc::new(Notify::new()));
        let task = tokio::spawn(self.run(stop, ended, Arc::clone(&reload), signals));
        DaemonHandle { end, reload, task }
    }

    /// Serves until a signal or `end` ends the gateway. It then ends all tasks and saves the state.
    /// SIGHUP and `wish` reload the configuration.
    async fn run(
        mut self,
        end: watch::Sender<bool>,
        ended: watch::Receiver<bool>,
        wish: Arc<Notify>,
        signals: bool,
    ) -> Result<(), String> {
        let mut hang_up = wished(signals, SignalKind::hangup())?;
        let mut terminate = wished(signals, SignalKind::terminate())?;
        let mut interrupt = wished(signals, SignalKind::interrupt())?;
        let (ready, connections) = mpsc::channel(MAX_READY_CONNECTIONS);
        let accepting = tokio::spawn(listen::accept(
            Arc::clone(&self.site),
            self.grpc,
            Arc::clone(&self.tls),
            affordable_connections(self.config.max_connections, &self.site),
            ready,
        ));
        let service = GatewayServer::new(GatewayService::new(
            Arc::clone(&self.site),
            self.shared.clone(),
            ended.clone(),
        ));
        let serving = http2::serve(Arc::clone(&self.site), service, connections, ended.clone());
        let mut grpc = tokio::spawn(serving);
        // All is restored, so the gateway accepts agents from here on.
        self.site.set_ready(true);
        let http = tokio::spawn(http::serve(self.http, Arc::clone(&self.site), ended.clone()));
        let chores = tokio::spawn(run_chores(Arc::clone(&self.site)));
        let saving = tokio::spawn(save_snapshots(
            Arc::clone(&self.site),
            self.snapshot.clone(),
            self.config.save_every,
            ended.clone(),
        ));
        let forgetting =
            tokio::spawn(save_forgets_at_once(Arc::clone(&self.site), self.snapshot.clone()));
        let share =
            |store: &Arc<SharedStore>| tokio::spawn(Arc::clone(store).run(Arc::clone(&self.site)));
        let sharing = self.shared.as_ref().map(share);
        notify(&[NotifyState::Ready]);
        let mut ended = ended;
        loop {
            tokio::select! {
                // The order matters: a server that was ordered to end may have ended by now.
                biased;
                _ = ended.wait_for(|ended| *ended) => break,
                _ = hang_up.recv() => reload(&self.file, &mut self.config, &self.site, &self.tls),
                () = wish.notified() => reload(&self.file, &mut self.config, &self.site, &self.tls),
                _ = terminate.recv() => break,
                _ = interrupt.recv() => break,
                // The server may have seen the end first.
                gone = &mut grpc => match *end.borrow() {
                    true => break,
                    false => return Err(format!("the server of gRPC has ended: {gone:?}")),
                },
            }
        }
        self.site.set_ready(false);
        notify(&[NotifyState::Stopping]);
        say(LogPriority::Notice, "draining");
        accepting.abort();
        // Sending fails if no task listens, and then there is nothing to end.
        let _ = end.send(true);
        let calls = async {
            if !grpc.is_finished() {
                let _ = (&mut grpc).await;
            }
        };
        if tokio::time::timeout(DRAIN_TIMEOUT, calls).await.is_err() {
            grpc.abort();
        }
        chores.abort();
        forgetting.abort();
        http.abort();
        if let Some(sharing) = sharing {
            sharing.abort();
            // The task must not announce this gateway once more afterwards.
            let _ = sharing.await;
        }
        if let Some(shared) = &self.shared {
            shared.withdraw(&self.site).await;
        }
        // Batches wait for a snapshot that is being written, and the last snapshot must include all
        // batches that have started.
        let _ = saving.await;
        let _ = tokio::time::timeout(DRAIN_TIMEOUT, self.site.finish_batches()).await;
        match &self.snapshot {
            Some(snapshot) => snapshot.save(&self.site).map(|_| ()),
            None => Ok(()),
        }
    }
}

impl DaemonHandle {
    /// Makes the daemon reload its configuration and certificates, as SIGHUP does; does not wait.
    pub fn reload(&self) {
        self.reload.notify_one();
    }

    /// Ends the daemon, and waits until all is saved.
    ///
    /// # Errors
    /// If it ended for another reason: that reason.
    pub async fn end(self) -> Result<(), String> {
        let _ = self.end.send(true);
        self.wait().await
    }

    /// Waits until the daemon ends.
    ///
    /// # Errors
    /// If it did not end because of a signal: the reason.
    pub async fn wait(self) -> Result<(), String> {
        self.task.await.map_err(|error| format!("the gateway has failed: {error}"))?
    }
}

/// Checks whether a gateway can run with `config`, as far as files show. Returns a warning if its
/// certificate ends soon, or is not valid yet.
///
/// # Errors
/// With the file, and the way out.
pub fn check(config: &DaemonConfig) -> Result<Option<String>, String> {
    let site = Arc::new(GatewaySite::new(config, 0)?);
    tls(config, &site)?;
    config.state.as_deref().map_or(Ok(()), SnapshotFile::check)?;
    let (file, now) = (&config.tls.certificate, SiteClock::wall_seconds());
    let end = earliest_end(file)?;
    let ends = ending(end, now).map(|said| format!("{}: {said}", file.display()));
    let said = beginning(file, now)?.or(ends);
    match (said, end < now) {
        (Some(why), true) => Err(why),
        (said, _) => Ok(said),
    }
}

/// Returns a warning if this process can read keys that a gateway does not need.
pub fn warning_of_keys(file: &Path, config: &DaemonConfig) -> Option<String> {
    let keys = readable_keys(file, &config.tls.ca);
    let named: Vec<_> = keys.iter().map(|key| key.display().to_string()).collect();
    (!named.is_empty()).then(|| {
        format!(
            "{}: this user can read it. If the gateway runs as this user, who breaks into the gateway can make certificates with it. \
             Run the gateway as another user (`headstart gateway init --user`), or move the folder away",
            named.join(", ")
        )
    })
}

/// Returns how many connections of reporters are accepted at a time: fewer than `wanted` if file
/// descriptors are few, which it logs.
fn affordable_connections(wanted: usize, site: &GatewaySite) -> usize {
    let others = site.unauthenticated.limits().all + HTTP_LIMITS.all;
    let limit = descriptors::limit();
    let most = descriptors::affordable(wanted, others, limit);
    if most < wanted {
        let what = format!(
            "max-connections = {wanted}: of {limit} file descriptors {most} are left for connections; raise the limit (LimitNOFILE of the unit, ulimit -n)"
        );
        say(LogPriority::Warning, &what);
    }
    most
}

/// A signal, or one that never arrives.
struct Wished(Option<Signal>);

fn wished(is_wished: bool, kind: SignalKind) -> Result<Wished, String> {
    let signal = is_wished.then(|| signal(kind)).transpose();
    signal.map(Wished).map_err(|error| format!("cannot listen for signals: {error}"))
}

impl Wished {
    async fn recv(&mut self) {
        match &mut self.0 {
            Some(signal) => drop(signal.recv().await),
            None => std::future::pending().await,
        }
    }
}

async fn bind(key: &str, address: SocketAddr) -> Result<TcpListener, String> {
    TcpListener::bind(address).await.map_err(|error| {
        format!(
            "{key} = \"{address}\": {error}; `ss -ltnp` shows who has the port, or name another"
        )
    })
}

fn notify(states: &[NotifyState<'_>]) {
    // Notifying fails if there is no service manager.
    let _ = sd_notify::notify(states);
}
