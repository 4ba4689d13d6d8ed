//! A congestion control of the kernel's whose module is loaded while the agent runs: ours on top of
//! it is added then.

use super::links::Attached;
use super::load_options::Mode;
use super::loader::Loaded;
use crate::kernel::congestion::HsControl;
use crate::kernel::facts::Facts;
use crate::os::log::{Level, say};
use std::path::Path;

/// BBR is a module on most machines, loaded when it is first asked for.
const SCHEME: HsControl = HsControl::Bbr;
/// There as long as the module is.
const MODULE: &str = "/sys/kernel/btf/tcp_bbr";

/// State of the module.
#[derive(Debug, Default)]
pub(crate) struct LateModules {
    /// True if the module was there when it was looked for last.
    was_there: bool,
}

impl LateModules {
    /// Looks for the module; true if `loaded` has gained a congestion control. A failure is logged
    /// once, and retried after the module has been away.
    pub(crate) fn try_late_modules(
        &mut self,
        loaded: &mut Loaded,
        attached: &mut Attached,
    ) -> bool {
        if loaded.mode() != Mode::Wrap || loaded.schemes().contains(&SCHEME) {
            return false;
        }
        let is_there = Path::new(MODULE).exists();
        let has_come = is_there && !self.was_there;
        self.was_there = is_there;
        has_come && attach_late_control(loaded, attached)
    }
}

/// Adds the congestion control whose module has been loaded since, and logs the outcome. Returns
/// true if it was added.
fn attach_late_control(loaded: &mut Loaded, attached: &mut Attached) -> bool {
    let facts = Facts::running();
    let found = SCHEME.found_in(&facts).map_err(|absence| absence.to_string());
    let name = SCHEME.name();
    let mut add = || loaded.add(attached, SCHEME);
    match found.and_then(|_| add().map_err(|why| format!("{} {why}", facts.kernel()))) {
        Ok(()) => {
            say(
                Level::Notice,
                &format!("the kernel's BBR has come: {name} can be had from now on"),
            );
            true
        }
        Err(why) => {
            say(Level::Warning, &format!("without {name}: {why}"));
            false
        }
    }
}
