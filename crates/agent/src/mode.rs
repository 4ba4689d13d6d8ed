//! How connections get their windows: by a congestion control of ours, or by the first window alone where the kernel
//! allows no more.

use crate::check::{self, Finding};
use crate::kernel::Loaded;
use crate::load::{Load, Mode, Wanted};
use crate::schemes::Choice;

/// Loads what is asked for, or what there can be of it; in the second case also why it is no more.
///
/// # Errors
/// Why it cannot work here.
pub fn load(load: &Load) -> Result<(Loaded, Option<String>), String> {
    let control = load.settings.control;
    let wrap = || match check::refusal(control) {
        Some(why) => Err(why),
        None => Loaded::load(load, Mode::Wrap),
    };
    let window = || match check::window_refusal() {
        Some(why) => Err(why),
        None => Loaded::load(load, Mode::Window),
    };
    if load.is_dry_run {
        return measuring(load).map(|loaded| (loaded, None));
    }
    choose(load.wanted, control, wrap, window)
}

fn measuring(load: &Load) -> Result<Loaded, String> {
    match check::window_refusal() {
        Some(why) => Err(why),
        None => Loaded::load(load, Mode::Measure),
    }
}

/// Looks at everything; loads the programs to see whether the kernel takes them, and lets them go. The last finding is
/// whether the agent can work, and how.
pub fn findings(load: &Load) -> Vec<Finding> {
    let mut findings = check::findings(load.settings.control);
    findings.push(trial(load));
    findings
}

fn trial(load: &Load) -> Finding {
    let found = match self::load(load) {
        Ok((loaded, None)) => {
            Ok(format!("mode {}; the kernel takes them, they are gone again", loaded.mode()))
        }
        Ok((loaded, Some(why))) => Ok(format!("mode {} alone: {why}", loaded.mode())),
        // The verifier's reasons are long; whoever starts the agent gets them all.
        Err(why) => Err(why.lines().next().unwrap_or_default().to_owned()),
    };
    check::finding("programs", found)
}

fn choose<T>(
    wanted: Wanted,
    control: Choice,
    wrap: impl FnOnce() -> Result<T, String>,
    window: impl FnOnce() -> Result<T, String>,
) -> Result<(T, Option<String>), String> {
    let is_any = control == Choice::Auto;
    match wanted {
        Wanted::Wrap => wrap().map(|loaded| (loaded, None)),
        Wanted::Window if !is_any => Err(format!(
            "control: {control} cannot be had with mode window, which leaves connections the one that they have"
        )),
        Wanted::Window => window().map(|loaded| (loaded, None)),
        // What was asked for by name is not replaced by something else.
        Wanted::Auto if !is_any => wrap().map(|loaded| (loaded, None)),
        Wanted::Auto => match wrap() {
            Ok(loaded) => Ok((loaded, None)),
            // If not even that can be had, what stands in the way of more is the same.
            Err(why) => window().map(|loaded| (loaded, Some(first_line(&why)))).map_err(|_| why),
        },
    }
}

/// The verifier's reasons are long.
fn first_line(why: &str) -> String {
    why.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAN: fn() -> Result<u32, String> = || Ok(1);
    const CANNOT: fn() -> Result<u32, String> = || Err("no struct_ops\nand more".to_owned());

    #[test]
    fn windows_alone_are_what_is_left_where_nothing_was_asked_for_by_name() {
        let left = choose(Wanted::Auto, Choice::Auto, CANNOT, || Ok(2));
        assert_eq!(left, Ok((2, Some("no struct_ops".to_owned()))));
        assert_eq!(choose(Wanted::Auto, Choice::Auto, CAN, || Ok(2)), Ok((1, None)));
        for (wanted, control) in [(Wanted::Wrap, Choice::Auto), (Wanted::Auto, Choice::Session)] {
            assert!(choose(wanted, control, CANNOT, || Ok(2)).is_err());
        }
    }

    #[test]
    fn where_neither_can_be_the_reason_is_that_against_more() {
        let why = choose(Wanted::Auto, Choice::Auto, CANNOT, || Err("no BTF".to_owned()));
        assert!(why.unwrap_err().starts_with("no struct_ops"));
    }

    #[test]
    fn windows_alone_go_with_no_congestion_control() {
        assert_eq!(choose(Wanted::Window, Choice::Auto, CANNOT, CAN), Ok((1, None)));
        let why = choose(Wanted::Window, Choice::Bbr, CAN, CAN).unwrap_err();
        assert!(why.starts_with("control: bbr cannot be had with mode window"), "{why}");
    }
}
