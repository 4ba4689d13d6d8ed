//! The survey of senders: finds for each host the profile that explains the first segments of a
//! capture best.
//!
//! Every profile rebuilds all senders of that part, and is charged for each event that it does not
//! predict ([`FitError`]). The part has a maximum length, which bounds the time of a survey.

use crate::config::EngineConfig;
use crate::engine::TraceEngine;
use crate::fit_error::FitError;
use crate::profile::{SenderModel, SenderModels, SenderProfile};
use crate::sink::TraceSink;
use crate::summary::ConnectionTrace;
use crate::vantage::Vantage;
use capture::Observed;
use rustc_hash::FxHashMap;
use std::net::IpAddr;
use std::{panic, thread};

/// Number of observations that a host needs for a profile of its own.
const PROFILE_OBSERVATIONS: u64 = 50;

/// The profiles of the senders in a part of a capture.
#[derive(Clone, Debug)]
pub struct ProfileSurvey {
    /// The result for each host, in the order of addresses.
    pub hosts: Vec<SurveyedHost>,
    /// The models to rebuild senders with.
    pub models: SenderModels,
}

/// The result for one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SurveyedHost {
    /// The server's address.
    pub host: IpAddr,
    /// The profile that explains it best.
    pub profile: SenderProfile,
    /// The fit error of each profile, in the order of [`SenderProfile::ALL`].
    pub fit_errors: [FitError; SenderProfile::ALL.len()],
}

/// Adds up fit errors by host.
#[derive(Default)]
struct FitErrorSink(FxHashMap<IpAddr, FitError>);

impl TraceSink for FitErrorSink {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        // At the client, behind the link's queue, data shows little of the window that released it.
        if summary.vantage == Vantage::Client {
            return;
        }
        self.0.entry(summary.server.ip).or_default().add(&summary.server_sent.fit_error);
    }

    fn wants_packets(&self) -> bool {
        false
    }
}

/// Returns the charges of a profile, by host.
fn fit_errors_of_servers(
    config: &EngineConfig,
    profile: SenderProfile,
    segments: &[Observed],
) -> FxHashMap<IpAddr, FitError> {
    let models = SenderModels::all(SenderModel::of(profile));
    let config = EngineConfig { models, ..config.clone() };
    let mut engine = TraceEngine::new(config, FitErrorSink::default());
    segments.iter().for_each(|segment| engine.on_segment(segment));
    engine.finish_all().0.0
}

impl ProfileSurvey {
    /// Lets each profile rebuild the senders of these segments, in parallel if `threads` is more
    /// than one. The models of `config` do not matter.
    pub fn of(config: &EngineConfig, segments: &[Observed], threads: usize) -> Self {
        let charge = |profile| fit_errors_of_servers(config, profile, segments);
        if threads < 2 {
            return Self::by(&SenderProfile::ALL.map(charge));
        }
        thread::scope(|scope| {
            let charges = SenderProfile::ALL.map(|profile| scope.spawn(move || charge(profile)));
            let joined = charges.map(|charge| charge.join());
            Self::by(&joined.map(|found| found.unwrap_or_else(|why| panic::resume_unwind(why))))
        })
    }

    /// Builds the survey from the charges of each profile.
    fn by(found: &[FxHashMap<IpAddr, FitError>; SenderProfile::ALL.len()]) -> Self {
        let mut hosts: Vec<IpAddr> = found[0].keys().copied().collect();
        hosts.sort_unstable();
        let mut total = [FitError::default(); SenderProfile::ALL.len()];
        let mut surveyed = Vec::with_capacity(hosts.len());
        for host in hosts {
            let fit_errors = found.each_ref().map(|f| f.get(&host).copied().unwrap_or_default());
            total.iter_mut().zip(&fit_errors).for_each(|(sum, fit_error)| sum.add(fit_error));
            surveyed.push(SurveyedHost { host, profile: best_profile(&fit_errors), fit_errors });
        }
        let mut models = SenderModels::all(SenderModel::of(best_profile(&total)));
        for host in surveyed.iter().filter(|host| host.fit_errors[0].seen >= PROFILE_OBSERVATIONS) {
            models.set(host.host, SenderModel::of(host.profile));
        }
        Self { hosts: surveyed, models }
    }
}

/// Minimum number of charges by which a profile has to beat a likelier one.
const MARGIN: u64 = 16;
/// Number of observations from which one in fifty is significant.
const SIGNIFICANT_OBSERVATIONS: u64 = 5_000;

/// Returns the profile with clearly the least charge; otherwise the likeliest.
///
/// The difference is clear if it is a fifth of the charge. It is also clear if it is a hundred
/// charges and one in fifty observations. If much is lost, all profiles are charged for the same
/// retransmissions, and a fifth of that is too much to ask for.
fn best_profile(fit_errors: &[FitError; SenderProfile::ALL.len()]) -> SenderProfile {
    let mut best = (fit_errors[0].charge, SenderProfile::ALL[0]);
    for (fit_error, profile) in fit_errors.iter().zip(SenderProfile::ALL) {
        let charge = fit_error.charge;
        let less = best.0.saturating_sub(charge);
        let seen = fit_errors[0].seen.max(SIGNIFICANT_OBSERVATIONS);
        if less >= MARGIN && (less * 5 > best.0 || less * 50 > seen) {
            best = (charge, profile);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_has_to_beat_a_likelier_one_clearly() {
        let among = |seen, charges: [u64; 5]| {
            best_profile(&charges.map(|charge| FitError { seen, charge, ..FitError::default() }))
        };
        let of = |charges| among(10_000, charges);
        assert_eq!(of([25, 25, 92, 92, 14]), SenderProfile::Linux, "a difference of 11 is chance");
        assert_eq!(
            of([48, 24, 18, 34, 95]),
            SenderProfile::LinuxSack,
            "18 is not clearly less than 24"
        );
        assert_eq!(of([11_262, 18_075, 27_711, 26_579, 4_523]), SenderProfile::Bbr);
        assert_eq!(of([100, 100, 84, 100, 100]), SenderProfile::Linux, "less than a fifth");
        // All are charged 5,000 for 625 retransmissions.
        assert_eq!(of([5_400, 9_000, 9_000, 9_000, 5_201]), SenderProfile::Linux, "1 in 51");
        assert_eq!(of([5_400, 9_000, 9_000, 9_000, 5_199]), SenderProfile::Bbr, "1 in 49");
        assert_eq!(among(300, [96, 200, 200, 200, 80]), SenderProfile::Linux, "two segments");
        assert_eq!(among(300, [600, 900, 900, 900, 499]), SenderProfile::Bbr, "101 charges");
        assert_eq!(among(300, [600, 900, 900, 900, 501]), SenderProfile::Linux, "99 charges");
    }
}
