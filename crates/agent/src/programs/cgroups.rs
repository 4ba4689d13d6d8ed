//! Cgroups that go and come back: a service manager removes the cgroup of a service which stops,
//! and makes another one at the same path when it starts. Programs end with the cgroup that they
//! are attached to, so the new one has to get them, too.

use super::links::Attached;
use super::loader::Loaded;
use crate::os::log::{Level, say};
use std::path::PathBuf;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct CgroupWatch {
    /// Reason why the last one could not be hooked; logged once.
    failure: Option<String>,
}

impl CgroupWatch {
    /// Hooks the cgroups that were recreated since, and leaves those of `except` alone. A cgroup
    /// that is missing is hooked when it appears.
    pub(crate) fn hook_recreated(
        &mut self,
        loaded: &mut Loaded,
        attached: &mut Attached,
        (cgroups, except): (&[PathBuf], &[PathBuf]),
    ) {
        if !attached.lacks_programs(cgroups, except) {
            return;
        }
        let failure = loaded.reattach(attached, cgroups, except).err();
        match &failure {
            None => {
                say(Level::Notice, "a cgroup was replaced: its connections have the programs again")
            }
            Some(why) if failure != self.failure => {
                say(Level::Error, &format!("a cgroup was replaced, but {why}"));
            }
            Some(_) => {}
        }
        self.failure = failure;
    }
}
