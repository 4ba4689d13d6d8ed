//! The updates for a subscriber.

use super::statuses::{draining, ended};
use crate::site::ReporterSession;
use crate::site::tenant::arrivals::{VisitorArrival, addresses_of};
use crate::site::tenant::subscribers::OpenSubscription;
use crate::site::tenant::subscriptions::UpdateReceiver;
use gateway_proto::v1::{KeepAlive, Network, SubscribeRequest, Update, update};
use ipnet::IpNet;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::Duration;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tonic::Status;

/// Longest time between two messages to a subscriber.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(10);
/// Maximum number of networks in a subscription.
const MAX_NETWORKS: usize = 1024;

/// The part of a tenant's updates that a subscriber wants.
pub(super) struct Wanted {
    networks: Vec<IpNet>,
    /// Addresses at which it serves.
    addresses: BTreeSet<IpAddr>,
}

impl Wanted {
    /// Reads it from a request from the address `from`.
    ///
    /// # Errors
    ///
    /// If the request is invalid.
    pub(super) fn new(request: &SubscribeRequest, from: Option<IpAddr>) -> Result<Self, Status> {
        if request.networks.len() > MAX_NETWORKS {
            return Err(Status::invalid_argument("more than 1024 networks; leave some out"));
        }
        let networks: Option<Vec<IpNet>> = request.networks.iter().map(Network::to_net).collect();
        let networks = networks.ok_or_else(|| Status::invalid_argument("no network"))?;
        let addresses = addresses_of(&request.addresses, from).map_err(Status::invalid_argument)?;
        Ok(Self { networks, addresses })
    }

    fn has(&self, network: &IpNet) -> bool {
        self.networks.is_empty() || self.networks.iter().any(|wanted| wanted.contains(network))
    }
}

/// The sources of a subscriber's updates.
pub(super) struct Sources {
    pub(super) changes: UpdateReceiver,
    pub(super) arrivals: Receiver<VisitorArrival>,
    /// Marks the subscriber as connected until the updates end.
    pub(super) open: OpenSubscription,
}

/// Sends updates until the subscriber may receive no more. Returns why.
pub(super) async fn tell(
    mut session: ReporterSession,
    wanted: &Wanted,
    known: u32,
    sources: Sources,
    updates: &mpsc::Sender<Result<Update, Status>>,
) -> Status {
    let Sources { mut changes, mut arrivals, open: _open } = sources;
    // Forgotten networks go first, then estimates made since.
    while let Some(update) = changes.next_missed() {
        if updates.send(Ok(update)).await.is_err() {
            return Status::cancelled("the subscriber is gone");
        }
    }
    for estimate in session.tenant().busiest(session.site().clock.now(), known as usize) {
        let update = Update { what: Some(update::What::Estimate(estimate)) };
        if is_for(&session, wanted, &update) && updates.send(Ok(update)).await.is_err() {
            return Status::cancelled("the subscriber is gone");
        }
    }
    let mut silent_until = Instant::now() + KEEP_ALIVE_INTERVAL;
    loop {
        let change = tokio::select! {
            // Changes go first: some make the subscriber forget a network, and no number of
            // arrivals may delay these.
            biased;
            change = tokio::time::timeout_at(silent_until, changes.recv()) => change,
            arrival = arrivals.recv() => Ok(arrived(arrival, wanted)),
        };
        if let Err(why) = session.renew() {
            return ended(session.site(), why);
        }
        let update = match change {
            Ok(Ok(update)) => update,
            Ok(Err(RecvError::Lagged(dropped))) => {
                session.site().counts.dropped_updates.add(dropped);
                Update { what: Some(update::What::Dropped(dropped)) }
            }
            Ok(Err(RecvError::Closed)) => return draining(),
            Err(_) => Update { what: Some(update::What::KeepAlive(KeepAlive {})) },
        };
        if !is_for(&session, wanted, &update) {
            continue;
        }
        silent_until = Instant::now() + KEEP_ALIVE_INTERVAL;
        let Ok(room) = updates.reserve().await else {
            return Status::cancelled("the subscriber is gone");
        };
        if matches!(update.what, Some(update::What::Arrival(_))) {
            session.site().counts.arrivals.add(1);
        }
        room.send(Ok(update));
    }
}

/// Returns the update of a visitor; empty if it goes to another server, or was too long ago.
fn arrived(
    arrival: Result<VisitorArrival, RecvError>,
    wanted: &Wanted,
) -> Result<Update, RecvError> {
    let is_for = |arrival: &VisitorArrival| wanted.addresses.contains(&arrival.server);
    match arrival {
        Ok(arrival) => {
            let what = is_for(&arrival).then_some(update::What::Arrival(arrival.estimate));
            Ok(Update { what })
        }
        Err(RecvError::Lagged(_)) => Ok(Update { what: None }),
        Err(RecvError::Closed) => Err(RecvError::Closed),
    }
}

/// Returns true if the subscriber wants the update, and may ask for its network.
fn is_for(session: &ReporterSession, wanted: &Wanted, update: &Update) -> bool {
    match &update.what {
        None => false,
        Some(update::What::Estimate(estimate) | update::What::Arrival(estimate)) => {
            let network = estimate.network.as_ref().and_then(Network::to_net);
            let may = |network: &IpNet| session.speaker().allowed.may_ask(network);
            network.is_some_and(|network| wanted.has(&network) && may(&network))
        }
        _ => true,
    }
}
