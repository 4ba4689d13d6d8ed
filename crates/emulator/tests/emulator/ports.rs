//! An emulation between ports within the process: real time, but neither devices nor privileges.

use crate::packets::Made;
use emulator::{
    Clock, Direction, DirectionTotals, Emulation, EmulationOptions, EmulationRecording, Files,
    LogFormat, PacketFate, Port, SegmentEnd, Sink, port_pair,
};
use link::{Duplex, LinkConfig, QueueLimit};
use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;
use units::Rate;

/// A file that is looked at when it has been written.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shared {
    fn sink(&self) -> Sink {
        Box::new(self.clone())
    }

    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }

    fn text(&self) -> String {
        String::from_utf8(self.bytes()).unwrap()
    }
}

/// 8 Mbit/s, so that 1000 bytes take 1 ms, 10 ms, two packets of queue.
fn link() -> LinkConfig {
    let delay = units::Duration::from_millis(10);
    LinkConfig::new(Rate::from_mbps(8), delay, QueueLimit::Packets(2)).unwrap()
}

/// The ends of client and host, and the emulation between them.
struct Joined {
    client: Port,
    host: Port,
    emulation: Emulation,
}

fn joined(change: impl FnOnce(&mut EmulationOptions)) -> Joined {
    let mut options = EmulationOptions::new(Duplex::symmetric(link()));
    change(&mut options);
    let ((near, client), (far, host)) = (port_pair().unwrap(), port_pair().unwrap());
    let emulation = Emulation::start(near, far, options).unwrap();
    Joined { client: Port::new(client).unwrap(), host: Port::new(host).unwrap(), emulation }
}

fn read(port: &Port) -> Option<Vec<u8>> {
    let mut buffer = [0; 2000];
    match port.read(&mut buffer) {
        Ok(length) => Some(buffer[..length].to_vec()),
        Err(error) if error.kind() == ErrorKind::WouldBlock => None,
        Err(error) => panic!("{error}"),
    }
}

/// A reader that a busy machine lets wait loses nothing. 180 packets are 22 ms at 100 Mbit/s, twice
/// the system's default for a socket, and less than its limit without privileges.
#[test]
fn packets_wait_for_a_late_reader() {
    let (near, far) = port_pair().unwrap();
    let far = Port::new(far).unwrap();
    for number in 0..180 {
        near.write(&[number; 1500]).unwrap();
    }
    for number in 0..180 {
        assert_eq!(read(&far), Some(vec![number; 1500]));
    }
}

/// The next packet, within five seconds.
fn wait_for(port: &Port) -> Vec<u8> {
    for _ in 0..5000 {
        if let Some(packet) = read(port) {
            return packet;
        }
        sleep(Duration::from_millis(1));
    }
    panic!("no packet");
}

#[test]
fn both_directions_pass_packets_in_order() {
    let Joined { client, host, emulation } = joined(|_| ());
    let packets = [0, 1].map(|serial| Made { serial, ..Made::plain(100) }.tcp());
    let clock = Clock::start();
    for (from, to) in [(&client, &host), (&host, &client)] {
        packets.iter().for_each(|packet| from.write(packet).unwrap());
        assert_eq!([wait_for(to), wait_for(to)], packets);
    }
    // Two ways of 10 ms.
    assert!(clock.now().as_nanos() >= 20_000_000);
    let report = emulation.stop();
    for way in [report.down, report.up] {
        let DirectionTotals { link, delivered_packets, delivered_bytes, .. } = way.totals;
        assert_eq!((link.taken_packets, delivered_packets, delivered_bytes), (2, 2, 280));
        assert_eq!((way.scheduling_delay.packets(), way.failure), (2, None));
        assert!(way.scheduling_delay.p50() <= way.scheduling_delay.p99());
        assert!(way.scheduling_delay.p99() <= way.scheduling_delay.max());
    }
}

/// Three hosts are behind one end: the client receives from all of them in turn, and each receives
/// only its own packets.
#[test]
fn several_hosts_share_an_end() {
    let addresses = [1, 2, 3].map(|last| [10, 0, 1, last]);
    let ends: Vec<_> = addresses.map(|own| (own, port_pair().unwrap())).into();
    let (ours, hosts): (Vec<_>, Vec<_>) = ends
        .into_iter()
        .map(|(own, (near, far))| ((vec![own.into()], near), Port::new(far).unwrap()))
        .unzip();
    let (near, client) = port_pair().unwrap();
    let client = Port::new(client).unwrap();
    let options = EmulationOptions::new(Duplex::symmetric(link()));
    let emulation = Emulation::start(near, Port::of_several(ours).unwrap(), options).unwrap();
    for (own, host) in addresses.iter().zip(&hosts) {
        let packet = between([10, 0, 0, 9], *own);
        client.write(&packet).unwrap();
        assert_eq!(wait_for(host), packet);
        let answer = between(*own, [10, 0, 0, 9]);
        host.write(&answer).unwrap();
        assert_eq!(wait_for(&client), answer);
    }
    // A packet for an unknown host is refused, and no host gets it.
    client.write(&between([10, 0, 0, 9], [10, 0, 1, 4])).unwrap();
    client.write(&between([10, 0, 0, 9], addresses[0])).unwrap();
    assert_eq!(wait_for(&hosts[0]), between([10, 0, 0, 9], addresses[0]));
    assert!(hosts[1..].iter().all(|host| read(host).is_none()));
    let report = emulation.stop();
    assert_eq!((report.up.totals.delivered_packets, report.up.totals.refused_packets), (4, 1));
}

/// A UDP datagram of ten bytes.
fn between(source: [u8; 4], destination: [u8; 4]) -> Vec<u8> {
    let mut packet = Vec::new();
    let builder = etherparse::PacketBuilder::ipv4(source, destination, 64).udp(1, 2);
    builder.write(&mut packet, &[0; 10]).unwrap();
    packet
}

/// A packet without room in the queue never comes out, and every packet has its row; captures hold
/// the packets that each end sent and received.
#[test]
fn files_tell_of_every_packet() {
    for format in [LogFormat::Csv, LogFormat::JsonLines] {
        let (log, near, far) = (Shared::default(), Shared::default(), Shared::default());
        let (sender, ends) = std::sync::mpsc::channel();
        let files = Files {
            log: Some((format, log.sink())),
            captures: Some([near.sink(), far.sink()]),
            segments: Some(Box::new(move |end| sender.send(end).unwrap())),
        };
        let (recording, recorders) = EmulationRecording::begin(files).unwrap();
        let Joined { client, host, emulation } =
            joined(|options| options.recorders = Some(recorders));
        // At once, or nearly: of ten packets of 1 ms each, two find room and few others.
        let packets: Vec<_> =
            (0..10).map(|serial| Made { serial, ..Made::plain(960) }.tcp()).collect();
        packets.iter().for_each(|packet| host.write(packet).unwrap());
        assert_eq!(wait_for(&client), packets[0]);
        sleep(Duration::from_millis(50));
        let totals = emulation.stop().down.totals;
        assert_eq!(recording.finish().unwrap(), 0);

        let text = log.text();
        let count = |word: &str| text.lines().filter(|line| line.contains(word)).count() as u64;
        assert_eq!(totals.delivered_packets + totals.link.dropped_packets, 10);
        assert!(totals.link.dropped_packets > 0);
        assert_eq!(count("dropped"), totals.link.dropped_packets, "{text}");
        // The first line of CSV has a column of that name.
        let header = u64::from(format == LogFormat::Csv);
        let delivered = text.lines().filter(|line| {
            line.contains("down,delivered") || line.contains(r#""fate":"delivered""#)
        });
        assert_eq!(delivered.count() as u64, totals.delivered_packets);
        assert_eq!(text.lines().count() as u64, 10 + header);
        // 24 bytes of header, and 16 before each packet of 1000.
        assert_eq!(far.bytes().len(), 24 + 10 * 1016);
        assert_eq!(near.bytes().len() as u64, 24 + totals.delivered_packets * 1016);
        // 960 bytes of payload each, and the fate that the log has.
        let ends: Vec<SegmentEnd> = ends.iter().collect();
        assert!(ends.iter().all(|e| e.direction == Direction::Down && e.packet.segment.len == 960));
        let dropped =
            ends.iter().filter(|end| end.record.fate == PacketFate::Dropped).count() as u64;
        assert_eq!((ends.len(), dropped), (10, totals.link.dropped_packets));
    }
}

/// Packets in flight when it is stopped are lost, and reported as lost.
#[test]
fn stopping_leaves_what_is_on_the_way() {
    let Joined { client, host, emulation } = joined(|options| {
        let delay = units::Duration::from_secs(60);
        let long = LinkConfig::new(Rate::from_mbps(8), delay, QueueLimit::Unlimited).unwrap();
        options.links = Duplex::symmetric(long);
    });
    host.write(&Made::plain(100).tcp()).unwrap();
    for _ in 0..1000 {
        if emulation.totals().forward.held_packets > 0 {
            break;
        }
        sleep(Duration::from_millis(1));
    }
    let totals = emulation.stop().down.totals;
    assert_eq!((totals.held_packets, totals.delivered_packets), (1, 0));
    // The other end has nothing, and then is closed.
    assert!(read(&client).is_none_or(|packet| packet.is_empty()));
}

/// `/dev/zero` always has one more packet to read.
#[test]
fn it_ends_while_a_host_sends_without_a_pause() {
    let (near, _client) = port_pair().unwrap();
    let endless = Port::new(std::fs::File::open("/dev/zero").unwrap()).unwrap();
    let options = EmulationOptions::new(Duplex::symmetric(link()));
    let emulation = Emulation::start(near, endless, options).unwrap();
    let (sender, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(Box::new(emulation.stop())));
    ended.recv_timeout(Duration::from_secs(20)).expect("it has ended");
}

/// Scheduling delays since the last call.
#[test]
fn lateness_is_told_run_by_run() {
    let Joined { client, host, emulation } = joined(|_| ());
    for _ in 0..2 {
        host.write(&Made::plain(100).tcp()).unwrap();
        wait_for(&client);
        let mut late = emulation.take_scheduling_delay();
        for _ in 0..1000 {
            if late.packets() > 0 {
                break;
            }
            sleep(Duration::from_millis(1));
            late = emulation.take_scheduling_delay();
        }
        assert_eq!(late.packets(), 1);
    }
}

/// 1000 bytes take 1 ms at 8 Mbit/s, and 1 s at 8 kbit/s. The way back keeps its rate.
#[test]
fn a_link_has_another_rate_from_the_next_packet_on() {
    let Joined { client, host, emulation } = joined(|_| ());
    let took = |from: &Port, to: &Port| {
        let sent = emulation.now();
        from.write(&[0; 1000]).unwrap();
        while read(to).is_none() {
            assert!(emulation.now() - sent < units::Duration::from_secs(10), "it is lost");
            sleep(Duration::from_millis(1));
        }
        emulation.now() - sent
    };
    let second = units::Duration::from_secs(1);
    assert!(took(&host, &client) < second);
    let rate = Rate::from_mbps(8);
    emulation.set_rates(Duplex { forward: Rate::from_bps(8000), reverse: rate });
    assert!(took(&host, &client) > second);
    assert!(took(&client, &host) < second);
    emulation.set_rates(Duplex::symmetric(rate));
    assert!(took(&host, &client) < second);
}
