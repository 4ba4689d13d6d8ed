//! Counts of what was read, and of what is in no result.

use super::rebuilt::name_of;
use capture::CaptureCounters;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::IpAddr;
use trace::{ProfileSurvey, SenderProfile};

/// Counts of the captures, beside the findings.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct ReadCapture {
    #[serde(rename = "tally")]
    pub(super) counters: CaptureCounters,
    /// Servers by the survey of `--sender auto`; `None` if the sender was named.
    pub(super) surveyed: Option<Vec<SurveyedServer>>,
    pub(super) left_out: LeftOut,
    /// Some input could not be read, or not to its end.
    pub(super) is_damaged: bool,
}

impl ReadCapture {
    /// Adds the counts of captures that come after these.
    pub(super) fn add(&mut self, other: &Self) {
        self.counters.add(&other.counters);
        self.left_out.add(&other.left_out);
        self.is_damaged |= other.is_damaged;
        if let Some(servers) = &other.surveyed {
            let own = self.surveyed.get_or_insert_default();
            servers.iter().for_each(|server| add_server(own, server));
        }
    }
}

/// Connections of which the capture has one direction alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OneDirection {
    pub(super) connections: u64,
    /// Retransmissions of their servers.
    pub(super) retransmissions: u64,
}

impl OneDirection {
    pub(super) fn add(&mut self, other: &Self) {
        self.connections += other.connections;
        self.retransmissions += other.retransmissions;
    }
}

/// Counts of what is in no result, because it was not named or chosen.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct LeftOut {
    /// Connections that named servers opened themselves.
    pub(super) opened_by_servers: u64,
    /// Connections of named servers with clients that were not named.
    pub(super) of_other_clients: u64,
    /// Segments beside `--from` and `--to`.
    pub(super) segments_by_time: u64,
    /// Segments of clients that were not named.
    pub(super) segments_by_client: u64,
}

impl LeftOut {
    /// Connections.
    pub(super) const fn connections(&self) -> u64 {
        self.opened_by_servers + self.of_other_clients
    }

    fn add(&mut self, other: &Self) {
        self.opened_by_servers += other.opened_by_servers;
        self.of_other_clients += other.of_other_clients;
        self.segments_by_time += other.segments_by_time;
        self.segments_by_client += other.segments_by_client;
    }
}

/// One server of a survey.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SurveyedServer {
    server: IpAddr,
    profile: String,
    /// Things that could have been foreseen.
    seen: u64,
    /// Charges of each profile.
    charges: BTreeMap<String, u64>,
}

impl SurveyedServer {
    pub(super) fn all(survey: &ProfileSurvey) -> Vec<Self> {
        let hosts = survey.hosts.iter();
        let one = |host: &trace::SurveyedHost| Self {
            server: host.host,
            profile: name_of(survey.models.of(host.host)),
            seen: host.fit_errors[0].seen,
            charges: SenderProfile::ALL
                .iter()
                .zip(&host.fit_errors)
                .map(|(profile, fit_error)| (profile.name().to_owned(), fit_error.charge))
                .collect(),
        };
        hosts.map(one).collect()
    }
}

/// Adds a server of another survey. If the surveys disagree, both profiles are named.
fn add_server(servers: &mut Vec<SurveyedServer>, server: &SurveyedServer) {
    let Some(known) = servers.iter_mut().find(|known| known.server == server.server) else {
        servers.push(server.clone());
        return;
    };
    if !known.profile.split(", ").any(|profile| profile == server.profile) {
        known.profile = format!("{}, {}", known.profile, server.profile);
    }
    known.seen += server.seen;
    for (profile, charge) in &server.charges {
        *known.charges.entry(profile.clone()).or_default() += charge;
    }
}
