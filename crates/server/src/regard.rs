//! Properties of a response that a scheme uses when it decides which of a client's connections
//! sends next.

use crate::weights::{Weights, name};
use endpoint::Handle;
use tcp::Scheme;
use tcp::sharing::{Scheduling, Tickets};
use workload::ObjectKind;

/// Property of a response that the transport learns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ResponseProperty {
    /// Nothing: connections share no path, or take plain turns.
    Nothing,
    /// The kind of its content: the scheme has a policy of its own.
    Content,
    /// Its weight.
    Weight(Weights),
}

/// Fails if weights cannot have any effect under `scheme`; says why, and which schemes there are.
///
/// # Errors
/// If weights have no effect.
pub fn check_weights(scheme: &Scheme) -> Result<(), String> {
    let why = match scheme.sharing().map(|sharing| sharing.scheduling) {
        Some(Scheduling::WeightedRoundRobin | Scheduling::Stride(_)) => return Ok(()),
        Some(Scheduling::RoundRobin) => "has a client's connections take plain turns",
        None => "gives each connection a path of its own",
    };
    Err(format!(
        "the scheme {} {why}, where weights have no effect: take `--scheme etcp-fair` or add +share=wrr",
        scheme.name()
    ))
}

impl ResponseProperty {
    /// The property that `scheme` uses, with the weights that the operator gave.
    pub(crate) fn new(scheme: &Scheme, given: Option<Weights>) -> Self {
        if check_weights(scheme).is_err() {
            return Self::Nothing;
        }
        match (scheme.sharing().map(|sharing| sharing.scheduling), given) {
            (_, Some(weights)) => Self::Weight(weights),
            (Some(Scheduling::WeightedRoundRobin | Scheduling::Stride(Tickets::Fair)), None) => {
                Self::Weight(Weights::ensemble_tcp())
            }
            _ => Self::Content,
        }
    }

    /// The connection carries this from now on.
    pub(crate) fn set_kind(&self, handle: &Handle, kind: ObjectKind) {
        match self {
            Self::Nothing => {}
            Self::Content => handle.set_content(kind.ticket_content()),
            Self::Weight(weights) => handle.set_weight(weights.of(kind)),
        }
    }

    /// The weight that a response of this kind has been given, if any.
    pub(crate) fn weight(&self, kind: ObjectKind) -> Option<u32> {
        match self {
            Self::Weight(weights) => Some(weights.of(kind)),
            Self::Nothing | Self::Content => None,
        }
    }

    /// Description for the status page.
    pub(crate) fn description(&self) -> String {
        match self {
            Self::Nothing => "none: the scheme regards no weights".to_owned(),
            Self::Content => "the scheme's own, by content".to_owned(),
            Self::Weight(weights) => weights.to_string(),
        }
    }
}

/// The name of a connection's kind of content.
pub(crate) fn content_name(kind: ObjectKind) -> &'static str {
    name(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regard(scheme: &str, given: Option<&str>) -> ResponseProperty {
        let scheme = Scheme::parse(scheme).unwrap();
        ResponseProperty::new(&scheme, given.map(|text| text.parse().unwrap()))
    }

    #[test]
    fn a_scheme_with_a_policy_by_content_keeps_it_unless_weights_are_given() {
        let default = ResponseProperty::Weight(Weights::ensemble_tcp());
        assert_eq!(regard("linux", None), ResponseProperty::Nothing);
        assert_eq!(regard("tcp-int", None), ResponseProperty::Nothing);
        assert_eq!(regard("etcp-fair", None), default);
        assert_eq!(regard("linux+share=wrr", None), default);
        assert_eq!(regard("etcp-html-pre", None), ResponseProperty::Content);
        let given = ResponseProperty::Weight("image=9".parse().unwrap());
        assert_eq!(regard("etcp-html-pre", Some("image=9")), given);
    }

    #[test]
    fn weights_without_effect_are_refused_by_name() {
        for (scheme, why) in [("linux", "path of its own"), ("tcp-int", "plain turns")] {
            let error = check_weights(&Scheme::parse(scheme).unwrap()).unwrap_err();
            assert!(error.contains(scheme) && error.contains(why) && error.contains("etcp-fair"));
        }
        assert_eq!(check_weights(&Scheme::parse("etcp").unwrap()), Ok(()));
    }
}
