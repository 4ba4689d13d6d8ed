//! Real gateways for tests: one in this process, whose memory the test sees, and one in a process
//! of its own, which the test can kill.

use crate::bed::until;
use emulator::Namespace;
use gateway::config::init::{FirstGateway, TENANT, Written, replace_private};
use gateway::daemon::Daemon;
use gateway::os::clock::system_time;
use gateway::pki::{Authority, HolderRole};
use gateway::site::GatewaySite;
use gateway::site::tenant::Tenant;
use gateway_client::{ClientConfig, SiteClient, SystemNames};
use gateway_observe::{ObserveConfig, SiteObserver};
use gateway_proto::v1::{Bound, Collector, Network, Report};
use ipnet::IpNet;
use prometheus_client::metrics::gauge::Gauge;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};
use std::{env, fs, io};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A folder with certificates and configurations of a site; removed when it goes.
pub(super) struct SiteFolder {
    folder: PathBuf,
    pub(super) config: PathBuf,
}

impl SiteFolder {
    /// Files of a gateway at `address`; with port 0, at a free one.
    pub(super) fn new(address: SocketAddr) -> Self {
        Self::of_hosts(address, &["127.0.0.1"])
    }

    /// The same, with these names of the gateway in its certificate.
    #[expect(clippy::disallowed_methods, reason = "certificates begin now")]
    pub(super) fn of_hosts(address: SocketAddr, hosts: &[&str]) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("headstart-agent-gateway-{}-{number}", std::process::id());
        let folder = env::temp_dir().join(name);
        let first = FirstGateway {
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
            agent: "agent".to_owned(),
            observe: vec!["any".to_owned()],
            user: None,
            force: true,
        };
        let Written { gateway: config, .. } = first.write(&folder, SystemTime::now()).unwrap();
        let text = fs::read_to_string(&config).unwrap();
        let text = text.replace("127.0.0.1:9466", &address.to_string()).replace(":9465", ":0");
        fs::write(&config, text).unwrap();
        Self { folder, config }
    }

    pub(super) fn file(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// Contents of a file.
    pub(super) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap()
    }

    /// Replaces a file, which is whole at any time.
    pub(super) fn replace(&self, name: &str, text: &str) {
        replace_private(Path::new(&self.file(name)), text).unwrap();
    }

    /// The authority of the folder.
    pub(super) fn authority(&self) -> Authority {
        Authority::of_pem(&self.text("authority/ca.pem"), &self.text("authority/ca.key")).unwrap()
    }

    /// Options of an agent that uses the gateway at `address`.
    pub(super) fn options(&self, address: &str) -> Vec<String> {
        self.options_of(address, ["ca.pem", "agent.pem", "agent.key"])
    }

    /// Options of an agent whose authority, certificate and key are these files.
    pub(super) fn options_of(&self, address: &str, files: [&str; 3]) -> Vec<String> {
        let mut options = vec!["--gateway".to_owned(), address.to_owned()];
        for (key, name) in ["ca", "certificate", "key"].into_iter().zip(files) {
            options.extend([format!("--gateway-{key}"), self.file(name)]);
        }
        options
    }
}

impl Drop for SiteFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Any free port of this machine.
pub(super) fn any_port() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

/// A gateway in this process, with certificates in a folder; all goes with it.
pub(super) struct Gateway {
    pub(super) files: SiteFolder,
    pub(super) address: String,
    /// Its memory and its counters.
    pub(super) tenant: Arc<Tenant>,
    pub(super) site: Arc<GatewaySite>,
    /// Interfaces that its observer misses, if it has one.
    pub(super) missing: Option<Gauge>,
    /// Makes it read its files again with each message, and end when it is dropped.
    orders: Option<UnboundedSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Gateway {
    pub(super) fn start() -> Self {
        Self::start_by(SiteFolder::new(any_port()), None, thread::spawn)
    }

    /// On the host of a namespace, with an observer there that sees the packets of this port.
    pub(super) fn seeing(namespace: &Namespace, port: u16) -> Self {
        Self::seeing_by(namespace, "any", port, ("", ""))
    }

    /// A gateway that observes one interface.
    pub(super) fn seeing_interface(namespace: &Namespace, interface: &str) -> Self {
        Self::seeing_by(namespace, interface, 80, ("", ""))
    }

    /// A gateway that accepts the TCP options of this address, and nothing else.
    pub(super) fn believing(namespace: &Namespace, server: SocketAddr) -> Self {
        let servers = format!("passive = false\noption-servers = [\"{}/32\"]\n", server.ip());
        Self::seeing_by(namespace, "any", server.port(), ("collect = [\"option\"]\n", &servers))
    }

    /// With more in its configuration, and in its observer's.
    fn seeing_by(
        namespace: &Namespace,
        interface: &str,
        port: u16,
        (first, more): (&str, &str),
    ) -> Self {
        let files = SiteFolder::new(any_port());
        let text = fs::read_to_string(&files.config).unwrap();
        fs::write(&files.config, format!("{first}{text}")).unwrap();
        let observe = PathBuf::from(files.file("observe/observe.toml"));
        let text = fs::read_to_string(&observe).unwrap();
        let text = text.replace("\"any\"", &format!("{interface:?}"));
        let text = text.replace("[80, 443]", &format!("[{port}]")) + more;
        fs::write(&observe, text).unwrap();
        Self::start_by(files, Some(observe), |job| namespace.spawn(job).unwrap())
    }

    pub(super) fn start_by(
        files: SiteFolder,
        observe: Option<PathBuf>,
        spawn: impl FnOnce(Box<dyn FnOnce() + Send>) -> JoinHandle<()>,
    ) -> Self {
        let ((orders, received), (sender, receiver)) = (unbounded_channel(), mpsc::channel());
        let config = files.config.clone();
        let thread = spawn(Box::new(move || {
            let sender = |address, site, missing| sender.send((address, site, missing)).unwrap();
            run(&config, observe.as_deref(), received, sender);
        }));
        let (address, site, missing) = receiver.recv().unwrap();
        let tenant = site.tenant(TENANT).unwrap();
        Self { files, address, tenant, site, missing, orders: Some(orders), thread: Some(thread) }
    }

    /// Reads its configuration and certificates again, as it does at SIGHUP. The rules are the last
    /// that changes, so all is in force when a limit has its new value.
    pub(super) fn reload(&self) {
        let limit = || self.site.rules().max_batch;
        let (name, old) = ("gateway.toml", limit());
        let text = self.files.text(name);
        let line = |limit| format!("max-batch = {limit}\n");
        let text = line(old + 1) + &text.replace(&line(old), "");
        self.files.replace(name, &text);
        self.orders.as_ref().unwrap().send(()).unwrap();
        until("the gateway has read its files again", || limit() == old + 1);
    }

    pub(super) fn file(&self, name: &str) -> String {
        self.files.file(name)
    }

    /// Options of an agent that uses it.
    pub(super) fn options(&self) -> Vec<String> {
        self.options_at(&self.address)
    }

    /// Options of an agent that reaches it by another address.
    pub(super) fn options_at(&self, address: &str) -> Vec<String> {
        self.files.options(address)
    }

    /// Reports as another server of the site: it has lost a segment at this window on the way to
    /// this network.
    pub(super) fn teach(&self, network: IpNet, window: u64, min_rtt: Duration) {
        self.teach_rate(network, window, min_rtt, 0);
    }

    /// Reports also a rate, bits a second; 0: not measured.
    pub(super) fn teach_rate(&self, network: IpNet, window: u64, min_rtt: Duration, rate: u64) {
        let client = self.client("agent");
        for _ in 0..8 {
            client.report(Report {
                network: Some(Network::of(network)),
                window,
                rate,
                min_rtt_us: u64::try_from(min_rtt.as_micros()).unwrap(),
                sent: 100,
                lost: 1,
                bound: Bound::Loss.into(),
                ..Report::default()
            });
        }
        assert!(client.flush(Duration::from_secs(30)), "{:?}", client.status());
        assert_eq!(client.status().reports_taken, 8, "{:?}", client.status());
    }

    /// Another server of the site, with a certificate of this name.
    pub(super) fn server(&self, name: &str) -> SiteClient<()> {
        let (of, authority) = ((TENANT, name), self.files.authority());
        let issued = authority.client(system_time(), 1, HolderRole::Agent, of).unwrap();
        fs::write(self.file(&format!("{name}.pem")), issued.certificate).unwrap();
        fs::write(self.file(&format!("{name}.key")), issued.key).unwrap();
        self.client(name)
    }

    fn client(&self, name: &str) -> SiteClient<()> {
        let config = ClientConfig {
            gateways: vec![self.address.clone()],
            ca: Path::new(&self.file("ca.pem")).into(),
            certificate: Path::new(&self.file(&format!("{name}.pem"))).into(),
            key: Path::new(&self.file(&format!("{name}.key"))).into(),
            collector: Collector::Agent,
            version: "1".to_owned(),
            addresses: Vec::new,
            names: SystemNames::shared(),
        };
        SiteClient::start(config, |_| false).unwrap()
    }

    /// The code of the rate in each sample that it keeps of `network`; 0: the sample has none.
    pub(super) fn rates_of(&self, network: IpNet) -> Vec<u8> {
        let memory = self.tenant.memory();
        let of_network = memory.records().filter(|record| record.network == network);
        let rates = of_network.flat_map(|record| {
            // The fourth byte of a sample's seven (`SiteRecord::samples`).
            let samples = record.samples.chunks(7);
            samples.map(|sample| sample[3]).collect::<Vec<_>>()
        });
        rates.collect()
    }

    /// Has it forget `network`, everywhere; how many networks were known.
    pub(super) fn forget(&self, network: IpNet) -> u64 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(self.tenant.forget(self.site.clock.now(), network))
    }

    /// It ends, and its peers are notified.
    pub(super) fn stop(&mut self) {
        drop(self.orders.take());
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || thread::panicking(), "the gateway has failed");
        }
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Runs a gateway until the sender of its orders is gone, with an observer if there is a
/// configuration of one. Says where it listens.
fn run(
    config: &Path,
    observe: Option<&Path>,
    mut orders: UnboundedReceiver<()>,
    sender: impl FnOnce(String, Arc<GatewaySite>, Option<Gauge>),
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let daemon = Daemon::open(config).await.unwrap();
        let (address, site) =
            (daemon.grpc_address().unwrap().to_string(), Arc::clone(daemon.site()));
        let handle = daemon.spawn(false);
        let observer = observe.map(|file| observer(file, &address));
        while observer.as_ref().is_some_and(|observer| !observer.is_connected()) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let missing = observer.as_ref().map(|of| of.counts().missing_interfaces.clone());
        sender(address, site, missing);
        while orders.recv().await.is_some() {
            handle.reload();
        }
        if let Some(observer) = observer {
            tokio::task::spawn_blocking(|| observer.end()).await.unwrap().unwrap();
        }
        handle.end().await.unwrap();
    });
}

/// An observer in the namespace of this thread that reports to the gateway at `address`.
fn observer(file: &Path, address: &str) -> SiteObserver {
    let text = fs::read_to_string(file).unwrap().replace("127.0.0.1:9466", address);
    fs::write(file, text).unwrap();
    SiteObserver::start(&ObserveConfig::read(file).unwrap()).unwrap()
}

/// Names the configuration of a gateway to the process that is to be one.
const CONFIG: &str = "HEADSTART_TEST_GATEWAY";

/// A gateway in a process of its own, at the same address each time that it starts.
pub(super) struct GatewayProcess {
    files: SiteFolder,
    address: SocketAddr,
    child: Option<Child>,
}

impl GatewayProcess {
    pub(super) fn start() -> Self {
        let free = TcpListener::bind(any_port()).unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let mut process = Self { files: SiteFolder::new(address), address, child: None };
        process.start_again();
        process
    }

    pub(super) fn options(&self) -> Vec<String> {
        self.files.options(&self.address.to_string())
    }

    /// Starts the gateway again, and waits until it listens.
    pub(super) fn start_again(&mut self) {
        let test = "gateway::running::is_a_gateway_for_another_test";
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", test, "--ignored", "--quiet"]).env(CONFIG, &self.files.config);
        // It ends when the other end of its standard input closes.
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        self.child = Some(command.spawn().unwrap());
        until("the gateway listens", || TcpStream::connect(self.address).is_ok());
    }

    /// `kill -9`.
    pub(super) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for GatewayProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

#[test]
#[ignore = "is no test: a gateway that other tests start and kill"]
fn is_a_gateway_for_another_test() {
    let Some(config) = env::var_os(CONFIG) else { return };
    let (end, orders) = unbounded_channel();
    thread::spawn(move || {
        // The gateway runs until the test that has started it is gone.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        drop(end);
    });
    run(Path::new(&config), None, orders, |_, _, _| ());
}
