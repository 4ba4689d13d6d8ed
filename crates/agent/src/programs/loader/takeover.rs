//! Puts the programs into links of another agent, and back again: one takes over from the other
//! while connections run.

use super::Loaded;
use crate::programs::link_update;
use crate::programs::links::{Attached, GONE, HeldLink, HookLink, LinkRole};
use libbpf_rs::ErrorKind;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

impl Loaded {
    /// Attaches by links of another agent, which these programs enter: at every instant exactly one
    /// program runs. Hooks without a link get one.
    ///
    /// # Errors
    /// Fails as [`Self::attach`] does; links may be of either agent then.
    pub(crate) fn take_over_links(
        &mut self,
        links: Vec<(LinkRole, OwnedFd)>,
        cgroups: &[PathBuf],
        except: &[PathBuf],
    ) -> Result<Attached, String> {
        let mut attached = Attached::default();
        for (role, link) in links {
            match role {
                LinkRole::Control(name) if self.control_names().contains(&name.as_str()) => {
                    let link = self.move_control(&name, HeldLink::Taken(link))?;
                    attached.controls.push((name, link));
                }
                LinkRole::Cgroup(hook, cgroup) if self.needs_hook(hook) => {
                    // The link of a removed cgroup only shows that the next one is awaited; a
                    // cgroup of the same name gets a new link now.
                    let directory = fs::metadata(&cgroup).map_or(GONE, |found| found.ino());
                    if directory == GONE
                        || link_update::replace(&link, self.program_for(hook)).is_ok()
                    {
                        let link = HeldLink::Taken(link);
                        attached.hooks.insert((hook, cgroup), HookLink { link, directory });
                    }
                }
                LinkRole::Control(_) | LinkRole::Cgroup(..) => {}
            }
        }
        self.register_missing(&mut attached)?;
        self.reattach(&mut attached, cgroups, except)?;
        Ok(attached)
    }

    /// Puts these programs back into all links, after another agent failed to take over.
    ///
    /// # Errors
    /// If a link cannot be regained; the message names it.
    pub(crate) fn take_back(&mut self, attached: &mut Attached) -> Result<(), String> {
        for (name, link) in std::mem::take(&mut attached.controls) {
            let is_ours = link.map_id() == self.map_id(&name);
            let link = if is_ours { link } else { self.move_control(&name, link)? };
            attached.controls.push((name, link));
        }
        attached.drop_ended();
        for ((hook, cgroup), link) in attached.hooks.iter().filter(|((_, at), _)| at.exists()) {
            link_update::replace(&link.link, self.program_for(*hook))
                .map_err(|error| format!("link to {}: {error}", cgroup.display()))?;
        }
        self.register_missing(attached)
    }

    /// Puts the congestion control into a link that another agent has made. Connections that have
    /// the other's keep it.
    fn move_control(&mut self, name: &str, link: HeldLink) -> Result<HeldLink, String> {
        let mut map = self.control_map(name);
        // Registering makes the kernel look at it; the error that the name is taken is expected.
        match map.attach_struct_ops() {
            Ok(made) => return Ok(HeldLink::Made(made)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(format!("cannot register {name}: {error}")),
        }
        link_update::replace(&link, &map)
            .map_err(|error| format!("cannot take over {name}: {error}"))?;
        Ok(link)
    }
}
