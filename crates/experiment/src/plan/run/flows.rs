//! Transfers that are over: a line in flows.csv, and part of their workload's metrics.
//!
//! Workloads of many short transfers hand each on when it is over; nothing keeps them.

use super::rows::{FlowId, FlowRow, Output};
use crate::plan::metrics::{GroupSums, WorkloadResult};
use crate::plan::scenario::{MeasuredInterval, Scenario};
use netsim::{FlowRecord, HostId};
use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

/// Name of the file with a line for each transfer.
const FILE: &str = "flows.csv";

/// Destination of the records of transfers.
pub(super) struct Flows {
    group_sums: GroupSums,
    /// Name and scheme, by workload.
    names: Vec<(String, String)>,
    /// Names, by host.
    hosts: Vec<String>,
    out: Option<csv::Writer<Box<dyn Write>>>,
    failure: Option<csv::Error>,
}

/// Shared among the applications that hand transfers on.
pub(super) type SharedFlows = Rc<RefCell<Flows>>;

impl Flows {
    pub(super) fn begin(scenario: &Scenario, output: Output<'_>) -> io::Result<SharedFlows> {
        let groups = &scenario.groups;
        let topology = &scenario.net.topology;
        let hosts = (0..topology.host_count() as u32).map(HostId);
        let out = match scenario.records.flows {
            true => Some(csv::Writer::from_writer(output(FILE)?)),
            false => None,
        };
        let names = groups.iter().map(|group| (group.name.clone(), group.scheme.name().to_owned()));
        Ok(Rc::new(RefCell::new(Self {
            group_sums: GroupSums::new(groups, scenario.interval),
            names: names.collect(),
            hosts: hosts.map(|host| topology.host_name(host).to_owned()).collect(),
            out,
            failure: None,
        })))
    }

    /// Records a transfer that is over, or under way at the end of the run. `received` are the
    /// bytes that its member received in the measured interval, `None` if that is not known.
    pub(super) fn push(&mut self, id: FlowId, flow: &FlowRecord, received: Option<u64>) {
        self.group_sums.add_flow(id.group, flow, received);
        let (name, scheme) = &self.names[id.group];
        if let Some(out) = &mut self.out
            && self.failure.is_none()
        {
            let row = FlowRow::new(name, scheme, id, flow, &self.hosts);
            self.failure = out.serialize(row).err();
        }
    }

    pub(super) const fn group_sums(&mut self) -> &mut GroupSums {
        &mut self.group_sums
    }

    /// Writes the remaining records, and returns the sums, now that the measured interval is known.
    pub(super) fn finish(&mut self, interval: MeasuredInterval) -> io::Result<Vec<WorkloadResult>> {
        if let Some(failure) = self.failure.take() {
            return Err(failure.into());
        }
        if let Some(out) = &mut self.out {
            out.flush()?;
        }
        let empty = GroupSums::new(&[], interval);
        Ok(std::mem::replace(&mut self.group_sums, empty).results())
    }
}
