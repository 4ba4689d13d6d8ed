//! The plan's topology as a network.

use super::net::Net;
use crate::plan::document::{Dumbbell, Topology};

/// Builds the network; a topology that does not say how many pairs it has gets `pairs`.
pub(super) fn build(topology: &Topology, pairs: u32) -> Net {
    match topology {
        Topology::Dumbbell(plan) => dumbbell(plan, plan.pairs.unwrap_or(pairs)),
    }
}

fn dumbbell(plan: &Dumbbell, pairs: u32) -> Net {
    let mut net = Net::default();
    let (left, right) = (net.topology.add_router(), net.topology.add_router());
    net.bottleneck = Some(net.wire("bottleneck", (left, right), &plan.bottleneck));
    for n in 0..pairs {
        let source = net.host(&format!("s{n}"), left, plan.side.as_ref());
        let sink = net.host(&format!("d{n}"), right, plan.side.as_ref());
        net.join("sources", source);
        net.join("sinks", sink);
    }
    net
}
