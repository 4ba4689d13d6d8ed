//! Records of every packet at chosen links: lines of a table, and captures.

use super::rows::Output;
use crate::plan::scenario::{Records, Scenario};
use netsim::{Body, Captures, LinkId, Observer, SimPacket, Simulation, Step};
use serde::Serialize;
use std::any::Any;
use std::io::{self, Write};
use units::Instant;

/// One step of one packet at one link.
#[derive(Debug, Serialize)]
struct PacketRow<'a> {
    time: f64,
    link: &'a str,
    step: &'static str,
    from: &'a str,
    to: &'a str,
    source_port: Option<u16>,
    destination_port: Option<u16>,
    /// Offset of the first payload byte in the sender's stream.
    offset: Option<u64>,
    payload: Option<u32>,
    ack: Option<u32>,
    wire_bytes: u32,
    retransmission: bool,
    queue_packets: Option<u32>,
    queue_bytes: Option<u64>,
}

/// Writes a line for every step of every packet at chosen links, in the order of the simulator.
/// Lines of one link and step are in the order of time, all together are not.
struct PacketLog {
    /// Names of chosen links, by link.
    links: Vec<Option<String>>,
    hosts: Vec<String>,
    out: csv::Writer<Box<dyn Write>>,
    failure: Option<csv::Error>,
}

impl Observer for PacketLog {
    fn on_packet(&mut self, at: Instant, link: LinkId, step: Step, packet: &SimPacket) {
        let Some(Some(name)) = self.links.get(link.index()) else {
            return;
        };
        if self.failure.is_some() {
            return;
        }
        let (step, queue) = match step {
            Step::Enter { queue } => ("enter", Some(queue)),
            Step::Drop { queue } => ("drop", Some(queue)),
            Step::Discard { queue } => ("discard", Some(queue)),
            Step::Mark => ("mark", None),
            Step::Leave => ("leave", None),
            Step::Lose => ("lose", None),
            Step::Arrive => ("arrive", None),
        };
        let transit = match &packet.body {
            Body::Segment(transit) => Some(transit),
            Body::Datagram(_) => None,
        };
        let row = PacketRow {
            time: at.as_secs_f64(),
            link: name,
            step,
            from: &self.hosts[packet.from.index()],
            to: &self.hosts[packet.to.index()],
            source_port: transit.map(|transit| transit.source_port),
            destination_port: transit.map(|transit| transit.destination_port),
            offset: transit.map(|transit| transit.payload_offset),
            payload: transit.map(|transit| transit.segment.len),
            ack: transit.map(|transit| transit.segment.ack.0),
            wire_bytes: packet.wire_bytes,
            retransmission: transit.is_some_and(|transit| transit.retransmission),
            queue_packets: queue.map(|queue| queue.packets),
            queue_bytes: queue.map(|queue| queue.bytes),
        };
        self.failure = self.out.serialize(row).err();
    }
}

/// Begins the records that a run is to have.
pub(super) fn begin(
    simulation: &mut Simulation,
    scenario: &Scenario,
    output: Output<'_>,
) -> io::Result<()> {
    let topology = simulation.topology().clone();
    let name = |link: &LinkId| topology.links()[link.index()].name.clone();
    let Records { packets, captures, .. } = &scenario.records;
    if !packets.is_empty() {
        let mut links = vec![None; topology.links().len()];
        packets.iter().for_each(|link| links[link.index()] = Some(name(link)));
        let hosts = 0..topology.host_count() as u32;
        simulation.observe(PacketLog {
            links,
            hosts: hosts.map(|n| topology.host_name(netsim::HostId(n)).to_owned()).collect(),
            out: csv::Writer::from_writer(output("packets.csv")?),
            failure: None,
        });
    }
    if !captures.is_empty() {
        let files =
            captures.iter().map(|link| Ok((*link, output(&format!("{}.pcap", name(link)))?)));
        let files = files.collect::<io::Result<Vec<_>>>()?;
        simulation.observe(Captures::begin(files)?);
    }
    Ok(())
}

/// Writes their remaining records.
pub(super) fn finish(simulation: &mut Simulation) -> io::Result<()> {
    for observer in simulation.take_observers() {
        let observer: Box<dyn Any> = observer;
        let observer = match observer.downcast::<PacketLog>() {
            Ok(log) => {
                log.finish()?;
                continue;
            }
            Err(other) => other,
        };
        if let Ok(captures) = observer.downcast::<Captures<Box<dyn Write>>>() {
            captures.finish()?;
        }
    }
    Ok(())
}

impl PacketLog {
    fn finish(mut self) -> io::Result<()> {
        match self.failure.take() {
            Some(failure) => Err(failure.into()),
            None => self.out.flush(),
        }
    }
}
