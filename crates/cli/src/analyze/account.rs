//! The account of what was read, and of anything unusual: `reading` in the JSON of findings, and
//! the warnings in words.

use super::reading::{OneDirection, ReadCapture, SurveyedServer};
use super::summary::SummarySink;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use trace::{EngineCounters, FastOpenOutcome, Vantage};
use units::counted;

/// Copies among the segments, as a share, that are not worth a warning.
const NOTABLE_COPIES_SHARE: f64 = 0.01;

/// Account of what was read, and of anything unusual. Names of fields are keys of the JSON, which
/// `docs/analyze.md` lists.
#[derive(Debug, Default, Serialize)]
pub(super) struct ReadingAccount {
    packets: u64,
    /// Packets that are no TCP segments, by reason.
    not_analysed: BTreeMap<String, u64>,
    lost_by_capture: u64,
    untimed: u64,
    first_fragments: u64,
    segments: u64,
    of_other_servers: u64,
    connections: u64,
    opened_by_servers: u64,
    of_other_clients: u64,
    segments_by_time: u64,
    segments_by_client: u64,
    copies: u64,
    backwards: u64,
    clock_set: u64,
    evicted: u64,
    /// Connections by where they were captured.
    vantages: BTreeMap<&'static str, u64>,
    /// Connections whose SYN had data, by what came of it.
    fast_open: BTreeMap<String, u64>,
    /// Connections by what their server was rebuilt as.
    profiles: BTreeMap<String, u64>,
    /// Findings of `--sender auto` for each server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    surveyed: Vec<SurveyedServer>,
    /// The TCP of the servers was to be found out.
    #[serde(skip)]
    is_surveyed: bool,
    /// Transfers without ACKs in the capture, though it may have both directions.
    without_pure_acks: u64,
    without_acks: OneDirection,
    without_data: OneDirection,
}

impl ReadingAccount {
    pub(super) fn of(
        summary: &SummarySink,
        counters: &EngineCounters,
        capture: &ReadCapture,
    ) -> Self {
        let ReadCapture { counters: read, surveyed, left_out, .. } = capture;
        Self {
            packets: read.packets,
            not_analysed: read.reasons().map(|(why, count)| (why.to_string(), count)).collect(),
            lost_by_capture: read.lost,
            untimed: read.untimed,
            first_fragments: read.first_fragments,
            segments: counters.segments - counters.of_others,
            of_other_servers: counters.of_others,
            connections: counters.connections - left_out.connections(),
            opened_by_servers: left_out.opened_by_servers,
            of_other_clients: left_out.of_other_clients,
            segments_by_time: left_out.segments_by_time,
            segments_by_client: left_out.segments_by_client,
            copies: summary.copies,
            backwards: counters.backwards,
            clock_set: counters.clock_set,
            evicted: counters.evicted,
            vantages: summary.vantages_by_name(),
            fast_open: summary.fast_open.clone(),
            without_pure_acks: summary.without_pure_acks,
            profiles: summary.profiles.clone(),
            surveyed: surveyed.clone().unwrap_or_default(),
            is_surveyed: surveyed.is_some(),
            without_acks: summary.without_acks,
            without_data: summary.without_data,
        }
    }

    /// Describes what was read, and anything unusual.
    pub(super) fn counts(&self, summary: &SummarySink) -> String {
        let mut text = format!(
            "{} of {}",
            counted(self.segments, "segment"),
            counted(self.connections, "connection")
        );
        let places = summary.vantages_in_words();
        for (n, (count, place)) in places.iter().enumerate() {
            text += if n == 0 { ", captured " } else { ", " };
            text += place;
            if places.len() > 1 {
                let _ = write!(text, " ({count})");
            }
        }
        for (n, (profile, count)) in self.profiles.iter().enumerate() {
            text += if n == 0 { ", servers rebuilt as " } else { ", " };
            text += profile;
            if self.profiles.len() > 1 {
                let _ = write!(text, " ({count})");
            }
        }
        let unusual = [
            (self.of_other_servers, "segment", "of other servers"),
            (self.opened_by_servers, "connection", "that the servers opened themselves"),
            (self.segments_by_time, "segment", "before --from or after --to"),
            (self.segments_by_client, "segment", "of other clients"),
            (self.of_other_clients, "connection", "of other clients"),
            (self.copies, "segment", "captured twice"),
            (self.backwards, "packet", "with a time before that of the packet before"),
            (self.clock_set, "time", "that all connections ended because the clock was set back"),
            (self.evicted, "connection", "evicted"),
        ];
        for (count, of, what) in unusual.into_iter().filter(|(count, ..)| *count > 0) {
            let _ = write!(text, "; {} {what}", counted(count, of));
        }
        text
    }

    /// Doubts about the results, a line each.
    pub(super) fn warnings(&self) -> String {
        let mut text = String::new();
        let OneDirection { connections, retransmissions } = self.without_acks;
        if retransmissions > 0 {
            text += &format!(
                "Warning: the capture has no ACKs of the clients of {}. Without them the cause of a retransmission is not known. \
                 The kinds of {retransmissions} of its retransmissions are no more than guesses, and many of them are timeouts \
                 that never happened. Capture both directions.\n",
                counted(connections, "connection")
            );
        }
        let OneDirection { connections, .. } = self.without_data;
        if connections > 0 && !self.surveyed.is_empty() {
            text += &format!(
                "Warning: the results of {} are of the ACKs of clients alone. ACKs alone hardly distinguish senders: name the \
                 servers' TCP with --sender.\n",
                counted(connections, "connection")
            );
        }
        text + &self.warning_of_filter()
            + &self.warning_of_fast_open()
            + &self.warning_of_client()
            + &self.warning_of_copies()
    }

    /// Both directions were captured, and no ACK without data.
    fn warning_of_filter(&self) -> String {
        if self.without_pure_acks == 0 || self.without_acks.connections > 0 {
            return String::new();
        }
        format!(
            "Warning: the capture has no ACKs without data of {}, as if exported through a display filter. Only sizes, and times \
             up to the first byte, are known of these; the rest is unexplained. Export whole connections.\n",
            counted(self.without_pure_acks, "transfer")
        )
    }

    /// Data in SYNs that was of no use.
    fn warning_of_fast_open(&self) -> String {
        let of = |outcome: FastOpenOutcome| {
            self.fast_open.get(outcome.name()).copied().unwrap_or_default()
        };
        let mut text = String::new();
        let lost = of(FastOpenOutcome::Blackholed) + of(FastOpenOutcome::Unanswered);
        if lost > 0 {
            text += &format!(
                "Warning: Fast Open does not work for {}: SYNs with data are dropped on the path, and each connection waits until one \
                 without data is sent.\n",
                counted(lost, "connection")
            );
        }
        let ignored = of(FastOpenOutcome::Ignored);
        if ignored > 0 {
            text += &format!(
                "Fast Open was ignored by the servers of {}: their clients retransmitted the requests.\n",
                counted(ignored, "connection")
            );
        }
        let accepted = of(FastOpenOutcome::Accepted);
        if accepted > 0 {
            text +=
                &format!("Fast Open spared {} a round trip.\n", counted(accepted, "connection"));
        }
        text
    }

    /// All was captured next to the clients.
    fn warning_of_client(&self) -> String {
        let at_client = Vantage::Client.name();
        if !self.is_surveyed || self.vantages.len() != 1 || !self.vantages.contains_key(at_client) {
            return String::new();
        }
        "Captured next to the client: the capture does not show what TCP the servers run. Name it with --sender.\n".to_owned()
    }

    /// The share of copies, if it is more than a few, which any network has.
    fn warning_of_copies(&self) -> String {
        let share = self.copies as f64 / self.segments.max(1) as f64;
        if share <= NOTABLE_COPIES_SHARE {
            return String::new();
        }
        format!(
            "Warning: {:.0} % of the segments are copies of others: the capture shows packets twice, as a mirror port or `-i any` does. \
             The results leave the copies out.\n",
            100.0 * share
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::reading::LeftOut;
    use super::*;
    use trace::{ConnectionTrace, ProfileSurvey, SenderCounters, TraceSink};

    /// The warnings for one connection: packets of the client, packets and retransmissions of the
    /// server.
    fn warned(client: u64, server: u64, again: u64, survey: Option<&ProfileSurvey>) -> String {
        let mut summary = SummarySink::default();
        let retransmissions = [0, 0, again, 0, 0];
        summary.on_connection(&ConnectionTrace {
            client_sent: SenderCounters { packets: client, ..SenderCounters::default() },
            server_sent: SenderCounters {
                packets: server,
                retransmissions,
                ..SenderCounters::default()
            },
            ..ConnectionTrace::default()
        });
        let counters = EngineCounters { connections: 1, ..EngineCounters::default() };
        let surveyed = survey.map(SurveyedServer::all);
        let read = ReadCapture { surveyed, ..ReadCapture::default() };
        ReadingAccount::of(&summary, &counters, &read).warnings()
    }

    /// 376 of 752 are half of them; 10 of 1,000 are no more than 1 %.
    #[test]
    fn many_copies_are_warned_of() {
        let warned =
            |segments, copies| ReadingAccount { segments, copies, ..Default::default() }.warnings();
        assert!(warned(752, 376).contains("50 % of the segments are copies"));
        assert_eq!(warned(1_000, 10), "");
        assert!(warned(1_000, 11).contains("1 % of the segments"));
        assert_eq!(warned(0, 0), "");
    }

    #[test]
    fn one_direction_is_warned_of() {
        assert_eq!(warned(9, 9, 3, None), "");
        assert_eq!(warned(0, 9, 0, None), "", "no retransmission has a kind");
        assert!(warned(0, 9, 3, None).contains("no ACKs of the clients of 1 connection"));
        assert_eq!(warned(9, 0, 3, None), "", "the sender was named");
        let server = capture::TcpEnd { port: 80, ..capture::TcpEnd::default() };
        let segment =
            capture::Observed { source: server, payload: 100, ..capture::Observed::default() };
        let survey = ProfileSurvey::of(&trace::EngineConfig::default(), &[segment], 1);
        assert!(warned(9, 0, 3, Some(&survey)).contains("--sender"));
        assert_eq!(warned(9, 9, 3, Some(&survey)), "");
    }

    #[test]
    fn one_of_a_thing_is_in_the_singular() {
        let counters = EngineCounters {
            segments: 1,
            connections: 2,
            evicted: 1,
            clock_set: 1,
            backwards: 2,
            ..EngineCounters::default()
        };
        let left_out = LeftOut { opened_by_servers: 1, ..LeftOut::default() };
        let read = ReadCapture { left_out, ..ReadCapture::default() };
        let summary = SummarySink::default();
        assert_eq!(
            ReadingAccount::of(&summary, &counters, &read).counts(&summary),
            "1 segment of 1 connection; 1 connection that the servers opened themselves; \
             2 packets with a time before that of the packet before; \
             1 time that all connections ended because the clock was set back; 1 connection evicted"
        );
    }
}
