//! Prints how badly each profile explains the servers of captures: a line for each file and server,
//! with the charge of every profile.
//!
//! `survey FILE…`; the last column names the profile that `headstart analyze` takes.

use capture::{CaptureFiles, SegmentSource};
use trace::{EngineConfig, ProfileSurvey, SenderProfile, SurveyedHost};

/// Number of segments that `headstart analyze` surveys.
const SURVEYED: usize = 100_000;

fn surveyed(file: &str) -> Result<Vec<SurveyedHost>, capture::CaptureError> {
    let (mut source, mut batch, mut segments) = (CaptureFiles::new([file]), Vec::new(), Vec::new());
    while segments.len() < SURVEYED && source.next_batch(&mut batch)? {
        segments.extend_from_slice(&batch);
    }
    Ok(ProfileSurvey::of(&EngineConfig::default(), &segments, 1).hosts)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let names = SenderProfile::ALL.map(|profile| format!("{:>11}", profile.name()));
    println!("{:>16} {:>11}{}", "server", "observed", names.concat());
    for file in std::env::args().skip(1) {
        println!("{file}");
        for SurveyedHost { host, profile, fit_errors } in surveyed(&file)? {
            let charges = fit_errors.map(|fit_error| format!("{:>11}", fit_error.charge));
            println!("{host:>16} {:>11}{} {profile}", fit_errors[0].seen, charges.concat());
        }
    }
    Ok(())
}
