//! Start-ups that a program registers while it runs, like those of the Python package.

use super::{STARTUPS, StartUpDescriptor};
use std::sync::{PoisonError, RwLock};

static REGISTERED: RwLock<Vec<&'static StartUpDescriptor>> = RwLock::new(Vec::new());

/// Gives schemes another value of `startup=`. A start-up of the same name that was registered
/// before is replaced: schemes that were parsed earlier keep it.
///
/// # Errors
/// If a start-up of [`STARTUPS`] has the name, or the name cannot stand in the text of a scheme.
pub fn register(descriptor: &'static StartUpDescriptor) -> Result<(), String> {
    let name = descriptor.name;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || !name.chars().all(is_plain) {
        return Err(format!("start-up {name:?}: use letters, digits, \"-\", \"_\" and \".\""));
    }
    if STARTUPS.iter().any(|known| known.name == name) {
        return Err(format!("start-up {name:?} is headstart's own; use another name"));
    }
    let mut all = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    all.retain(|known| known.name != name);
    all.push(descriptor);
    Ok(())
}

/// The start-up of this name, in [`STARTUPS`] or registered.
pub fn find(name: &str) -> Option<&'static StartUpDescriptor> {
    let listed = STARTUPS.iter().find(|known| known.name == name).copied();
    listed.or_else(|| {
        let all = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|known| known.name == name).copied()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Make;
    use crate::startup::{SlowStart, StartUp};

    fn descriptor(name: &'static str, about: &'static str) -> &'static StartUpDescriptor {
        let make: Make<dyn StartUp> = Make::Alone(&|_| Box::new(SlowStart));
        Box::leak(Box::new(StartUpDescriptor::new(name, about, "here", make)))
    }

    #[test]
    fn the_last_of_a_name_is_found() {
        assert_eq!(find("of-a-test"), None);
        register(descriptor("of-a-test", "first")).unwrap();
        register(descriptor("of-a-test", "second")).unwrap();
        assert_eq!(find("of-a-test").map(|found| found.about), Some("second"));
        assert!(!STARTUPS.iter().any(|known| known.name == "of-a-test"));
    }

    #[test]
    fn names_that_a_scheme_cannot_have_are_refused() {
        for name in ["", "a+b", "a,b", "a=b", "a b"] {
            let error = register(descriptor(name, "never")).unwrap_err();
            assert!(error.contains("use letters"), "{error}");
        }
        let error = register(descriptor("slowstart", "never")).unwrap_err();
        assert!(error.contains("headstart's own"), "{error}");
        assert_eq!(find("slowstart").map(|found| found.source), Some("RFC 5681 §3.1"));
    }
}
