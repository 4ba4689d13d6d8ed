//! Parameters of schemes whose connections share a path: the order of senders, and the use of one
//! connection's ACKs as evidence about the others' segments.

use super::{SchemeParameter, parameter};
use crate::recovery::Overtaken;
use crate::registry::values::{choose, on_off, positive, whole};
use crate::scheme::Recipe;
use crate::scheme::recipes::{share_as_etcp, share_as_session};
use crate::sharing::{JoinPacing, Scheduling, Sharing, Tickets, TimerScope};

/// Maximum number of segments whose order is kept for each path.
const MAX_LATER_ACKS: u32 = 100;

/// Makes a scheme share as another does.
pub(in crate::scheme) type ShareAs = fn(&mut Recipe);

/// Values of `share` that stand for more than turns: parameters beside them override what they set.
pub(in crate::scheme) const AS_OTHERS: [(&str, ShareAs); 2] =
    [("session", share_as_session), ("etcp", share_as_etcp)];

pub(super) const SHARING: &[SchemeParameter] = &[
    parameter!(
        "share",
        "none|rr|wrr|fair|content|decay|html-pre|session|etcp",
        "connections to the same host share a path, and take turns: plain, by weight, or by tickets. Recovery by SACK then \
                also uses later ACKs. session, etcp: all parts of linux-session or linux-etcp",
        |r, v| {
            if let Some((_, share)) = AS_OTHERS.iter().find(|(name, _)| *name == v) {
                share(r);
                return Ok(());
            }
            let tickets = |tickets| Some(Scheduling::Stride(tickets));
            let choices = [
                ("none", None),
                ("rr", Some(Scheduling::RoundRobin)),
                ("wrr", Some(Scheduling::WeightedRoundRobin)),
                ("fair", tickets(Tickets::Fair)),
                ("content", tickets(Tickets::Content)),
                ("decay", tickets(Tickets::Decay)),
                ("html-pre", tickets(Tickets::HtmlFirst)),
            ];
            let now = r.sharing.unwrap_or_default();
            choose(v, &choices)
                .map(|s| r.set_sharing(s.map(|scheduling| Sharing { scheduling, ..now })))
        }
    ),
    parameter!(
        "share_timer",
        "connection|path",
        "share: scope of a retransmission timer",
        |r, v| {
            let scopes = [("connection", TimerScope::Connection), ("path", TimerScope::Path)];
            let timer = choose(v, &scopes)?;
            change_sharing(r, |sharing| sharing.timer = timer)
        }
    ),
    parameter!(
        "share_turn",
        "segments",
        "share: segments of a turn (default: 2 if the receiver delays ACKs, else 1)",
        |r, v| positive(v).map(|n| r.turn = Some(n))
    ),
    parameter!(
        "share_pacing",
        "on|off|exact",
        "share: a connection that finds the path without an ACK clock is paced at first, over the smoothed round trip or \
                the lowest, which no coarse clock rounds",
        |r, v| {
            let joins = choose(
                v,
                &[
                    ("on", JoinPacing::Smoothed),
                    ("off", JoinPacing::Off),
                    ("exact", JoinPacing::Lowest),
                ],
            )?;
            change_sharing(r, |sharing| sharing.joins = joins)
        }
    ),
    parameter!(
        "later_acks",
        "off|oldest|all|duplicates",
        "evidence in ACKs of one connection of a path about the others' segments: none. Overtaken ones are lost, and \
                retransmitted one per ACK or all at once. Each ACK counts as a duplicate ACK",
        |r, v| {
            let rules = [
                ("off", None),
                ("oldest", Some(Overtaken::OLDEST_LOST)),
                ("all", Some(Overtaken::ALL_LOST)),
                ("duplicates", Some(Overtaken::Each)),
            ];
            choose(v, &rules).map(|rule| r.later_acks = rule)
        }
    ),
    parameter!(
        "later_threshold",
        "count",
        "later ACKs that a segment not yet lost may have (3)",
        |r, v| {
            let count = whole(v)?;
            if count > MAX_LATER_ACKS {
                return Err(format!("must be at most {MAX_LATER_ACKS}"));
            }
            *later_rule(r)?.threshold = count;
            Ok(())
        }
    ),
    parameter!(
        "later_again",
        "on|off",
        "later ACKs: retransmissions may be found lost, too",
        |r, v| {
            let on = on_off(v)?;
            *later_rule(r)?.again = on;
            Ok(())
        }
    ),
    parameter!(
        "later_delayed",
        "on|off",
        "later ACKs: receivers may delay theirs, which takes more evidence",
        |r, v| {
            let on = on_off(v)?;
            *later_rule(r)?.delayed_acks = on;
            Ok(())
        }
    ),
    parameter!(
        "later_growth",
        "on|off",
        "later ACKs: those that overtake another connection's segment grow the window, too",
        |r, v| {
            let on = on_off(v)?;
            *later_rule(r)?.grow = on;
            Ok(())
        }
    ),
];

/// Changes how a path is shared, if it is.
fn change_sharing(recipe: &mut Recipe, change: impl FnOnce(&mut Sharing)) -> Result<(), String> {
    let sharing = recipe.sharing.as_mut();
    sharing.map(change).ok_or_else(|| "the scheme shares no path; share=… goes before".to_owned())
}

/// The fields of [`Overtaken::Lost`].
struct LaterRule<'a> {
    threshold: &'a mut u32,
    delayed_acks: &'a mut bool,
    again: &'a mut bool,
    grow: &'a mut bool,
}

/// The rule of later ACKs that finds segments lost, if the scheme has it.
fn later_rule(recipe: &mut Recipe) -> Result<LaterRule<'_>, String> {
    match &mut recipe.later_acks {
        Some(Overtaken::Lost { threshold, delayed_acks, again, grow, .. }) => {
            Ok(LaterRule { threshold, delayed_acks, again, grow })
        }
        _ => Err("needs later_acks=oldest or all before it".to_owned()),
    }
}
