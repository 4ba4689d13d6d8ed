//! Real packets between two namespaces. Needs root and TUN devices; says so and passes without
//! them. Times are bounded generously, since other tests run on the same machine.

use emulator::{Addresses, Emulation, EmulationOptions, Interface, InterfaceConfig, Namespace};
use link::{Duplex, LinkConfig, QueueLimit};
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream, UdpSocket};
use std::time;
use test_support::retry_on_any_stall;
use units::{Duration, Rate};

/// Two namespaces joined by a link each way.
struct Joined {
    client: Interface,
    server: Interface,
    emulation: Emulation,
}

/// Returns `None`, after a message, where it cannot be.
fn joined(rate: Rate, delay: Duration, queue: QueueLimit) -> Option<Joined> {
    let link = LinkConfig::new(rate, delay, queue).unwrap();
    let options = EmulationOptions::new(Duplex::symmetric(link));
    test_support::has(&test_support::EMULATION).then(|| try_joined(options).unwrap())
}

fn try_joined(options: EmulationOptions) -> std::io::Result<Joined> {
    let (near, far) = (Namespace::new()?, Namespace::new()?);
    let [client, server] = Addresses::numbered(7);
    let client = Interface::open(&near, &InterfaceConfig::new(client).with_default_route())?;
    let server = Interface::open(&far, &InterfaceConfig::new(server))?;
    let emulation = Emulation::start(client.port(), server.port(), options)?;
    Ok(Joined { client, server, emulation })
}

#[expect(clippy::disallowed_methods, reason = "real time is what is tested")]
fn timed(job: impl FnOnce()) -> time::Duration {
    let start = time::Instant::now();
    job();
    start.elapsed()
}

impl Joined {
    fn server_addresses(&self) -> [IpAddr; 2] {
        let addresses = self.server.addresses();
        [addresses.v4.into(), addresses.v6.into()]
    }

    /// Round trips of one byte over UDP; the first one also finds the route.
    fn round_trips(&self, server: IpAddr, count: usize) -> Vec<time::Duration> {
        let echo = self.server.namespace().run(|| UdpSocket::bind((server, 7)).unwrap()).unwrap();
        let client: IpAddr = match server {
            IpAddr::V4(_) => self.client.addresses().v4.into(),
            IpAddr::V6(_) => self.client.addresses().v6.into(),
        };
        let ask = self.client.namespace().run(|| UdpSocket::bind((client, 0)).unwrap()).unwrap();
        ask.set_read_timeout(Some(time::Duration::from_secs(5))).unwrap();
        let thread = std::thread::spawn(move || {
            let mut buffer = [0; 64];
            for _ in 0..count {
                let (length, from) = echo.recv_from(&mut buffer).unwrap();
                echo.send_to(&buffer[..length], from).unwrap();
            }
        });
        let round_trip = |_| {
            timed(|| {
                ask.send_to(b"x", (server, 7)).unwrap();
                ask.recv(&mut [0; 64]).unwrap();
            })
        };
        let all = (0..count).map(round_trip).collect();
        thread.join().unwrap();
        all
    }
}

/// A round trip takes both delays, over IPv4 and IPv6, and not much more.
#[test]
fn a_round_trip_takes_both_delays() {
    retry_on_any_stall(|| {
        let delay = Duration::from_millis(20);
        let Some(joined) = joined(Rate::from_mbps(20), delay, QueueLimit::Packets(100)) else {
            return;
        };
        for server in joined.server_addresses() {
            let times = joined.round_trips(server, 5);
            let least = *times.iter().min().unwrap();
            // 40 ms and twice the transmission of less than 80 bytes, 32 us each.
            assert!(times.iter().all(|time| time.as_micros() >= 40_000), "{server}: {times:?}");
            assert!(least.as_micros() < 50_000, "{server}: {times:?}");
        }
        let report = joined.emulation.stop();
        let (down, up) = (report.down.totals, report.up.totals);
        assert_eq!((down.delivered_packets, up.delivered_packets), (10, 10), "{report:?}");
        // There are only these packets: the namespaces send nothing else. 5 of IPv4 with 20 + 8 + 1
        // bytes, 5 of IPv6 with 40 + 8 + 1.
        assert_eq!(down.delivered_bytes, 5 * 29 + 5 * 49);
        assert_eq!(report.down.scheduling_delay.packets(), 10);
    });
}

/// TCP fills the link and no more than that.
#[test]
fn tcp_gets_the_rate_of_the_link() {
    retry_on_any_stall(|| {
        let delay = Duration::from_millis(5);
        let Some(joined) = joined(Rate::from_mbps(40), delay, QueueLimit::Packets(50)) else {
            return;
        };
        const BYTES: u64 = 5_000_000;
        let server = joined.server_addresses()[0];
        let listener = joined.server.namespace().run(|| TcpListener::bind((server, 80))).unwrap();
        let listener = listener.unwrap();
        let serve = std::thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            stream.write_all(&vec![0; BYTES as usize]).unwrap();
        });
        let client = joined.client.namespace();
        let mut got = 0;
        let took = timed(|| {
            let mut stream = client.run(|| TcpStream::connect((server, 80))).unwrap().unwrap();
            got = std::io::copy(&mut Read::by_ref(&mut stream), &mut std::io::sink()).unwrap();
        });
        serve.join().unwrap();
        assert_eq!(got, BYTES);
        // 5 MB at 40 Mbit/s take 1 s; headers (52 bytes beside 1448) 3.6 % more, start-up some
        // round trips of 10 ms. Losses at a queue of 50 packets, more than the 33 of the
        // bandwidth-delay product, leave the link busy.
        let seconds = took.as_secs_f64();
        assert!((1.03..1.5).contains(&seconds), "{seconds} s");
        let report = joined.emulation.stop();
        assert!(report.down.totals.delivered_bytes > BYTES);
        assert_eq!(report.down.totals.refused_packets, 0);
    });
}

/// A host that forwards, with an uplink, forwards no packet of the emulation; packets for itself
/// arrive.
#[test]
fn a_host_that_forwards_does_not_forward_for_the_command() {
    let link =
        LinkConfig::new(Rate::from_mbps(20), Duration::from_millis(1), QueueLimit::Packets(100));
    let set_up = || -> std::io::Result<_> {
        let (near, far) = (Namespace::new()?, Namespace::new()?);
        far.set_sysctl("net.ipv4.ip_forward", "1")?;
        let [client, host] = Addresses::numbered(7);
        let client = Interface::open(&near, &InterfaceConfig::new(client).with_default_route())?;
        let host = Interface::open(&far, &InterfaceConfig::new(host))?;
        let [uplink, _] = Addresses::numbered(8);
        let uplink = Interface::open(&far, &InterfaceConfig::new(uplink).with_default_route())?;
        Ok((client, host, uplink))
    };
    if !test_support::has(&test_support::EMULATION) {
        return;
    }
    let (client, host, uplink) = set_up().unwrap();
    let options = EmulationOptions::new(Duplex::symmetric(link.unwrap()));
    let emulation = Emulation::start(client.port(), host.port(), options).unwrap();
    let at = (host.addresses().v4, 7);
    let receiver = host.namespace().run(|| UdpSocket::bind(at).unwrap()).unwrap();
    receiver.set_read_timeout(Some(time::Duration::from_secs(5))).unwrap();
    let from = (client.addresses().v4, 0);
    let socket = client.namespace().run(|| UdpSocket::bind(from).unwrap()).unwrap();
    socket.send_to(b"beyond", ("192.0.2.1", 7)).unwrap();
    socket.send_to(b"host", at).unwrap();
    let mut buffer = [0; 64];
    assert_eq!(receiver.recv(&mut buffer).unwrap(), 4, "the later one has arrived");
    let forwarded = uplink.port().read(&mut buffer);
    assert_eq!(forwarded.unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_eq!(emulation.stop().up.totals.delivered_packets, 2);
}
