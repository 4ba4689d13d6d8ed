//! Chooses the mode: connections get their windows by a congestion control of ours, or, if the
//! kernel supports no more, only their first window. `check` and the agent decide here by the same
//! steps, so `check` shows what the agent does.

use super::check::{self, Finding};
use super::load_options::{LoadOptions, Mode, Wanted};
use super::loader::{Loaded, Programs, SharedMaps};
use crate::kernel::congestion::{Absence, ControlChoice, HsControl};
use crate::kernel::facts::Facts;
use crate::kernel::rejection::Rejection;

/// Loaded programs, with remarks for the operator.
#[derive(Debug)]
pub struct Outcome<T = Loaded> {
    /// The loaded programs.
    pub loaded: T,
    /// Reason for first windows alone, if more was asked for.
    pub less: Option<String>,
    /// Congestion controls that are left out though their basis exists, with reasons.
    pub left_out: Vec<String>,
}

/// Features that connections lack with first windows alone.
const LESS: &str = "connections start with a remembered first window, paced, and keep the kernel's congestion control; \
     they have no warm start after idle, no mark, no session and no socket options";

/// Loads the requested mode, or the best supported one, with the maps of `shared`.
///
/// # Errors
/// If it cannot work here; the error has the reason.
pub fn load(load: &LoadOptions, shared: &SharedMaps) -> Result<Outcome, String> {
    load_best_mode(load, &Facts::running(), shared)
}

/// Loads the programs in the best mode that the kernel supports and the options allow.
fn load_best_mode(
    load: &LoadOptions,
    facts: &Facts,
    shared: &SharedMaps,
) -> Result<Outcome, String> {
    if load.is_dry_run {
        return load_first_windows(load, Mode::Measure, facts, shared);
    }
    let wrap = || load_wrapped(load, facts, shared);
    let window = || load_first_windows(load, Mode::Window, facts, shared);
    choose(load.wanted, load.settings.control, wrap, window)
}

/// Loads the programs that set first windows alone, or only measure.
fn load_first_windows(
    load: &LoadOptions,
    mode: Mode,
    facts: &Facts,
    shared: &SharedMaps,
) -> Result<Outcome, String> {
    if let Some(why) = check::first_missing(&check::needed_for_windows(facts)) {
        return Err(why);
    }
    let programs = Programs { mode, schemes: Vec::new(), shape: facts.shape() };
    let loaded = Loaded::load(load, programs, shared)
        .map_err(|rejection| rejection_details(facts, &rejection))?;
    Ok(Outcome { loaded, less: None, left_out: Vec::new() })
}

/// Loads all of our congestion controls that the kernel supports. One that it rejects is left out,
/// unless it is asked for.
fn load_wrapped(load: &LoadOptions, facts: &Facts, shared: &SharedMaps) -> Result<Outcome, String> {
    let needed = load.settings.control.required_control();
    if let Some(why) = check::first_missing(&check::required_findings(load.settings.control, facts))
    {
        return Err(why);
    }
    let (mut schemes, mut left_out) = supported_controls(facts);
    loop {
        let programs =
            Programs { mode: Mode::Wrap, schemes: schemes.clone(), shape: facts.shape() };
        let rejection = match Loaded::load(load, programs, shared) {
            Ok(loaded) => return Ok(Outcome { loaded, less: None, left_out }),
            Err(rejection) => rejection,
        };
        let rejected = rejection.program.as_deref().and_then(HsControl::of_program);
        match rejected.filter(|scheme| *scheme != needed && schemes.contains(scheme)) {
            Some(scheme) => {
                left_out.push(format!(
                    "{}: {}",
                    scheme.name(),
                    rejection_summary(facts, &rejection)
                ));
                schemes.retain(|other| *other != scheme);
            }
            None => return Err(rejection_details(facts, &rejection)),
        }
    }
}

/// Returns the congestion controls that the kernel supports, and the reasons against the others
/// whose basis exists.
fn supported_controls(facts: &Facts) -> (Vec<HsControl>, Vec<String>) {
    let (mut schemes, mut left_out) = (Vec::new(), Vec::new());
    for scheme in HsControl::ALL {
        match scheme.found_in(facts) {
            Ok(_) => schemes.push(scheme),
            Err(Absence::NotLoaded { .. }) => {}
            Err(why) => left_out.push(format!("{}: {why}", scheme.name())),
        }
    }
    (schemes, left_out)
}

fn rejection_summary(facts: &Facts, rejection: &Rejection) -> String {
    format!("{} {}", facts.kernel(), rejection.reason)
}

/// Returns the sentence, and below it all output of libbpf and the verifier.
fn rejection_details(facts: &Facts, rejection: &Rejection) -> String {
    format!("{}\n{}", rejection_summary(facts, rejection), rejection.details)
}

/// Looks at everything; loads the programs to see whether the kernel takes them, and lets them go.
/// The last finding is whether the agent can work, and how.
pub fn findings(load: &LoadOptions) -> Vec<Finding> {
    let (facts, control) = (Facts::running(), load.settings.control);
    let mut findings = check::required_findings(control, &facts);
    findings.extend(check::optional(control, &facts));
    findings.push(try_to_load(load, &facts));
    findings
}

/// Loads the programs, and unloads them at once, to check that the kernel accepts them.
fn try_to_load(load: &LoadOptions, facts: &Facts) -> Finding {
    let found = match load_best_mode(load, facts, &SharedMaps::default()) {
        Ok(Outcome { loaded, less: Some(why), .. }) => {
            Ok(format!("mode {} alone: {why}", loaded.mode()))
        }
        Ok(Outcome { loaded, left_out, .. }) => {
            let all = format!(
                "mode {}; the kernel accepts the programs; they are unloaded again",
                loaded.mode()
            );
            Ok([vec![all], left_out].concat().join("; without "))
        }
        // The verifier's reasons are long; the start of an agent shows them all.
        Err(why) => Err(first_line(&why)),
    };
    check::finding("programs", found)
}

/// Chooses the mode. `wrap` and `window` load the programs of one mode each; the second one is
/// tried if the first one fails and `wanted` allows it.
fn choose<T>(
    wanted: Wanted,
    control: ControlChoice,
    wrap: impl FnOnce() -> Result<Outcome<T>, String>,
    window: impl FnOnce() -> Result<Outcome<T>, String>,
) -> Result<Outcome<T>, String> {
    let is_any = control == ControlChoice::Auto;
    let cannot = |why: String| format!("cannot work here: {why}");
    match wanted {
        Wanted::Window if !is_any => Err(format!(
            "control: {control} cannot be had with mode window, which leaves connections the one that they have"
        )),
        Wanted::Window => window().map_err(cannot),
        Wanted::Auto if is_any => {
            let why = match wrap() {
                Ok(outcome) => return Ok(outcome),
                Err(why) => why,
            };
            match window() {
                Ok(outcome) => {
                    Ok(Outcome { less: Some(format!("{}; {LESS}", first_line(&why))), ..outcome })
                }
                Err(also) if first_line(&also) == first_line(&why) => Err(cannot(why)),
                Err(also) => {
                    Err(cannot(format!("{}; nor first windows alone: {also}", first_line(&why))))
                }
            }
        }
        // A mode that was asked for by name is not replaced.
        Wanted::Wrap | Wanted::Auto => wrap().map_err(cannot),
    }
}

/// Returns the first line of a reason, since the verifier's reasons are long.
fn first_line(why: &str) -> String {
    why.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Tried = Result<Outcome<u32>, String>;

    const fn outcome(loaded: u32) -> Outcome<u32> {
        Outcome { loaded, less: None, left_out: Vec::new() }
    }

    const WRAP: fn() -> Tried = || Ok(outcome(1));
    const WINDOW: fn() -> Tried = || Ok(outcome(2));
    const NO_WRAP: fn() -> Tried = || Err("no struct_ops\nand more".to_owned());
    const NO_BTF: fn() -> Tried = || Err("no BTF".to_owned());

    #[test]
    fn windows_alone_are_what_is_left_where_nothing_was_asked_for_by_name() {
        let left = choose(Wanted::Auto, ControlChoice::Auto, NO_WRAP, WINDOW).unwrap();
        assert_eq!(left.loaded, 2);
        let why = left.less.unwrap();
        assert!(why.starts_with("no struct_ops; connections start with a remembered"), "{why}");
        let all = choose(Wanted::Auto, ControlChoice::Auto, WRAP, WINDOW).unwrap();
        assert_eq!((all.loaded, all.less), (1, None));
        for (wanted, control) in
            [(Wanted::Wrap, ControlChoice::Auto), (Wanted::Auto, ControlChoice::Session)]
        {
            let why = choose(wanted, control, NO_WRAP, WINDOW).unwrap_err();
            // An explicit request shows the verifier's words, too.
            assert_eq!(why, "cannot work here: no struct_ops\nand more");
        }
    }

    #[test]
    fn where_neither_can_be_both_reasons_are_told() {
        let why = choose(Wanted::Auto, ControlChoice::Auto, NO_WRAP, NO_BTF).unwrap_err();
        assert_eq!(why, "cannot work here: no struct_ops; nor first windows alone: no BTF");
        // Once, if it is one.
        let why = choose(Wanted::Auto, ControlChoice::Auto, NO_BTF, NO_BTF).unwrap_err();
        assert_eq!(why, "cannot work here: no BTF");
    }

    #[test]
    fn windows_alone_go_with_no_congestion_control() {
        let alone = choose(Wanted::Window, ControlChoice::Auto, NO_WRAP, WINDOW).unwrap();
        assert_eq!((alone.loaded, alone.less), (2, None));
        let why = choose(Wanted::Window, ControlChoice::Bbr, WRAP, WINDOW).unwrap_err();
        assert!(why.starts_with("control: bbr cannot be had with mode window"), "{why}");
    }
}
