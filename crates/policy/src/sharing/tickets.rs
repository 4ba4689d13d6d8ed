//! The number of tickets of a member: Ensemble-TCP's four policies (Eggert, Heidemann & Touch 2000
//! §4).

/// Content of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Content {
    /// HTML: the text of a page, and what names the rest.
    Html,
    /// Programs: scripts, style sheets, once Java.
    Code,
    /// Images, sound, fonts.
    Image,
    /// Anything else, as a downloaded file; the default.
    #[default]
    Other,
}

/// The rule for the number of tickets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tickets {
    /// One each.
    Fair,
    /// By content: HTML 12, code 6, images 3, anything else 1.
    Content,
    /// 16 at first, halved after the 5th, 10th, 20th and 40th packet.
    Decay,
    /// HTML before everything else; the rest by content.
    HtmlFirst,
}

/// A member's claim on the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnClaim {
    /// Before all members that do not pre-empt, in proportion to this among those that do.
    Preempting(u32),
    /// A share in proportion to this.
    Proportional(u32),
}

/// Packets after which half of the tickets decay.
const DECAYS: [u64; 4] = [5, 10, 20, 40];
/// Tickets that decaying ones begin with.
const FIRST_TICKETS: u32 = 16;

impl Tickets {
    /// The claim of a member of `weight` that carries `content` and has sent `packets` of new data.
    pub fn claim(self, content: Content, packets: u64, weight: u32) -> TurnClaim {
        let tickets = match self {
            Self::Fair => 1,
            Self::HtmlFirst if content == Content::Html => return TurnClaim::Preempting(weight),
            Self::Content | Self::HtmlFirst => match content {
                Content::Html => 12,
                Content::Code => 6,
                Content::Image => 3,
                Content::Other => 1,
            },
            Self::Decay => FIRST_TICKETS >> DECAYS.iter().filter(|&&n| packets >= n).count(),
        };
        TurnClaim::Proportional(weight.saturating_mul(tickets))
    }

    /// A member's claim changes with the data that it sends.
    pub fn decay(self) -> bool {
        self == Self::Decay
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_decay_after_the_fifth_tenth_twentieth_and_fortieth_packet() {
        let tickets = |packets| Tickets::Decay.claim(Content::Html, packets, 1);
        let expected = [(0, 16), (4, 16), (5, 8), (9, 8), (10, 4), (19, 4), (20, 2), (39, 2)];
        for (packets, left) in expected.into_iter().chain([(40, 1), (1000, 1)]) {
            assert_eq!(tickets(packets), TurnClaim::Proportional(left), "{packets}");
        }
    }

    #[test]
    fn content_decides_and_weights_multiply() {
        let claim = |policy: Tickets, content| policy.claim(content, 7, 2);
        for (content, tickets) in [(Content::Code, 12), (Content::Image, 6), (Content::Other, 2)] {
            assert_eq!(claim(Tickets::Content, content), TurnClaim::Proportional(tickets));
            assert_eq!(claim(Tickets::HtmlFirst, content), TurnClaim::Proportional(tickets));
            assert_eq!(claim(Tickets::Fair, content), TurnClaim::Proportional(2));
        }
        assert_eq!(claim(Tickets::Content, Content::Html), TurnClaim::Proportional(24));
        assert_eq!(claim(Tickets::HtmlFirst, Content::Html), TurnClaim::Preempting(2));
    }
}
