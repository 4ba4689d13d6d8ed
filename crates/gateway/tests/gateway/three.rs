//! Three gateways over one store, each a process of its own, of which one is killed while agents report.

use crate::bed::{Bed, report};
use crate::shared::{beside, over};
use crate::store::Redis;
use gateway::daemon::Daemon;
use gateway::pki::HolderRole;
use gateway_client::{ClientConfig, SiteClient, SiteEvent};
use gateway_proto::v1::Collector;
use memory::site::SiteRecord;
use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{env, fs, thread};
use tokio::sync::oneshot;

/// Reports of each agent, each of a network of its own, so that one that counts twice shows.
const REPORTS: u32 = 3000;
/// They leave at 1500 a second.
const GAP: Duration = Duration::from_micros(667);
/// Within so long an agent has found another gateway.
const FOLLOWS: Duration = Duration::from_secs(1);
/// Names the configuration of a gateway to the process that is to be one.
const CONFIG: &str = "HEADSTART_TEST_GATEWAY";

/// A gateway in a process of its own; killed when it goes.
struct GatewayProcess {
    child: Child,
    address: SocketAddr,
}

impl GatewayProcess {
    fn start(bed: &Bed) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let listen = format!("listen = \"{address}\"");
        let text = bed.text("gateway.toml").replace("listen = \"127.0.0.1:0\"", &listen);
        fs::write(bed.file("gateway.toml"), text).unwrap();
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "three::is_a_gateway_for_another_test", "--ignored", "--quiet"]);
        command.env(CONFIG, bed.file("gateway.toml")).stdin(Stdio::piped());
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let process = Self { child, address };
        for _ in 0..500 {
            if TcpStream::connect(address).is_ok() {
                return process;
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("it does not listen at {address}");
    }
}

impl Drop for GatewayProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
#[ignore = "is no test: a gateway that another one starts and kills"]
async fn is_a_gateway_for_another_test() {
    let Some(config) = env::var_os(CONFIG) else { return };
    let (end, ended) = oneshot::channel();
    thread::spawn(move || {
        // Until the test that has started it is gone.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        let _ = end.send(());
    });
    let handle = Daemon::open(config.as_ref()).await.unwrap().spawn(false);
    let _ = ended.await;
    handle.end().await.unwrap();
}

/// An agent by the name of its number, which prefers the gateway of that number, and what it hears of gateways.
fn agent(
    bed: &Bed,
    number: usize,
    gateways: &[String],
) -> (SiteClient<()>, mpsc::Receiver<(Instant, String)>) {
    let name = format!("web-{number}");
    let issued = bed.issue(HolderRole::Agent, "site", &name);
    let file = |ending: &str| bed.file(&format!("{name}.{ending}"));
    fs::write(file("pem"), issued.certificate).unwrap();
    fs::write(file("key"), issued.key).unwrap();
    let mut gateways = gateways.to_vec();
    gateways.rotate_left(number);
    let config = ClientConfig {
        gateways,
        ca: bed.file("ca.pem"),
        certificate: file("pem"),
        key: file("key"),
        collector: Collector::Agent,
        version: "1".to_owned(),
        addresses: Vec::new,
    };
    let (tell, told) = mpsc::channel();
    let hear = move |event| {
        if let SiteEvent::Connected(gateway) = event {
            let _ = tell.send((now(), gateway));
        }
        false
    };
    (SiteClient::start(config, hear).unwrap(), told)
}

/// The network of an agent's report of this number.
fn network_of(agent: usize, number: u32) -> String {
    format!("10.{}.{}.0/24", 16 * agent as u32 + number / 256, number % 256)
}

#[expect(clippy::disallowed_methods, reason = "real time is what is tested")]
fn now() -> Instant {
    Instant::now()
}

fn reports(client: &SiteClient<()>, agent: usize) {
    for number in 0..REPORTS {
        client.report(report(&network_of(agent, number), 100_000));
        thread::sleep(GAP);
    }
}

/// What the store has of each network: reports that count, whichever gateway has counted them.
async fn counted(bed: &Bed) -> HashMap<String, u32> {
    let running = bed.run().await;
    // It has read all records once it has read those of the last changes.
    let mut before = usize::MAX;
    let tenant = running.site.tenant("site").unwrap();
    loop {
        tokio::time::sleep(Duration::from_millis(600)).await;
        let known = tenant.memory().len();
        if known > 0 && known == before {
            break;
        }
        before = known;
    }
    let mut counts = HashMap::new();
    for SiteRecord { network, sequence, .. } in tenant.memory().records() {
        if network.prefix_len() == 24 {
            *counts.entry(network.to_string()).or_default() += sequence;
        }
    }
    running.handle.end().await.unwrap();
    counts
}

#[test]
fn agents_follow_when_one_of_three_is_killed_and_no_report_counts_twice() {
    // An agent leaves a gateway that gives no sign of life for most of a second, as one does whose machine stands still.
    calm::calmly_throughout(one_of_three_is_killed);
}

fn one_of_three_is_killed() {
    let Some(redis) = Redis::start() else { return };
    let first = Bed::new("");
    over(&first, redis.port);
    let (second, third) = (beside(&first, redis.port), beside(&first, redis.port));
    let beds = [first, second, third];
    let mut gateways = beds.each_ref().map(GatewayProcess::start).map(Some);
    let addresses: Vec<String> =
        gateways.iter().flatten().map(|gateway| gateway.address.to_string()).collect();
    let agents: Vec<_> = (0..3).map(|number| agent(&beds[0], number, &addresses)).collect();
    for (number, (_, told)) in agents.iter().enumerate() {
        let (_, gateway) = told.recv_timeout(Duration::from_secs(30)).unwrap();
        assert_eq!(gateway, addresses[number]);
    }
    let killed_at = thread::scope(|scope| {
        for (number, (client, _)) in agents.iter().enumerate() {
            scope.spawn(move || reports(client, number));
        }
        thread::sleep(GAP * REPORTS / 2);
        let killed_at = now();
        gateways[0] = None;
        killed_at
    });
    let (followed_at, gateway) = agents[0].1.recv_timeout(Duration::from_secs(30)).unwrap();
    assert_eq!(gateway, addresses[1]);
    let took = followed_at.saturating_duration_since(killed_at);
    assert!(took < FOLLOWS, "{took:?}");
    for (client, told) in &agents {
        assert!(client.flush(Duration::from_secs(30)), "{:?}", client.status());
        assert_eq!(client.status().reports_dropped, 0);
        assert!(told.try_recv().is_err(), "an agent has left a gateway that is alive");
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let counts = runtime.block_on(counted(&beside(&beds[0], redis.port)));
    let twice: Vec<_> = counts.iter().filter(|(_, count)| **count > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
    let of = |agent: usize| {
        let names = (0..REPORTS).map(|number| network_of(agent, number));
        names.filter(|name| counts.contains_key(name)).count()
    };
    eprintln!("follows after {took:?}; counted {} {} {}", of(0), of(1), of(2));
    // All of those whose gateways lived; of the others what was shared, and what went to the next gateway.
    assert_eq!((of(1), of(2)), (REPORTS as usize, REPORTS as usize));
    assert!(of(0) > REPORTS as usize / 2, "{}", of(0));
}
