//! Links by which programs are at work, made by this process or taken over from another one.

use libbpf_rs::Link;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Role of a link.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkRole {
    /// The congestion control of this name.
    Control(String),
    /// A hook of a cgroup: the role of its program, and the cgroup.
    Cgroup(CgroupHook, PathBuf),
}

/// Role of a program that is attached to a cgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CgroupHook {
    /// New connections start by the memory.
    Attend,
    /// New connections are left alone.
    Leave,
    /// Connections that are opened offer more.
    Widen,
    /// Connections that close report their path by a TCP option.
    Report,
    /// Applications set socket options.
    Hear,
    /// Applications read socket options.
    Answer,
}

/// A link.
#[derive(Debug)]
pub(crate) enum HeldLink {
    Made(Link),
    Taken(OwnedFd),
}

impl AsFd for HeldLink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Made(link) => link.as_fd(),
            Self::Taken(file) => file.as_fd(),
        }
    }
}

impl HeldLink {
    /// Returns the number of the map that it has registered; `None` if it is no link of a
    /// congestion control.
    pub(crate) fn map_id(&self) -> Option<u32> {
        self.fdinfo_number("map_id:")?.try_into().ok()
    }

    /// Returns the number of the cgroup at which its program runs, 0 if it is detached; `None` if
    /// it is no link of a cgroup.
    fn cgroup_id(&self) -> Option<u64> {
        self.fdinfo_number("cgroup_id:")
    }

    /// Returns true if it is the link of a congestion control that another process has detached.
    fn is_unregistered(&self) -> bool {
        self.fdinfo_number("link_id:").is_some() && self.map_id().is_none()
    }

    /// Returns a number of the link's `fdinfo`.
    fn fdinfo_number(&self, name: &str) -> Option<u64> {
        let text = format!("/proc/self/fdinfo/{}", self.as_fd().as_raw_fd());
        let text = fs::read_to_string(text).ok()?;
        let number = text.lines().find_map(|line| line.strip_prefix(name))?;
        number.trim().parse().ok()
    }
}

/// Hook and cgroup of an attached program.
pub(crate) type AttachPoint = (CgroupHook, PathBuf);

/// Replaces the number of a directory that had gone when the link was taken over. No directory has
/// it.
pub(crate) const GONE: u64 = 0;

/// A program at a cgroup. It ends with the cgroup, also where another one is made at the same path.
#[derive(Debug)]
pub(crate) struct HookLink {
    pub(crate) link: HeldLink,
    /// Number of the directory, which the kernel never gives again (kernfs).
    pub(crate) directory: u64,
}

/// Attached programs. Dropping this detaches them from new connections; open ones keep theirs.
#[derive(Debug, Default)]
pub struct Attached {
    /// Programs of cgroups are dropped first, and `attend` first among them.
    pub(crate) hooks: BTreeMap<AttachPoint, HookLink>,
    /// The congestion controls can be had while these live.
    pub(crate) controls: Vec<(String, HeldLink)>,
}

impl HookLink {
    /// Returns true if another process has detached the program. The kernel also detaches it when
    /// the cgroup ends; `cgroup` is not that cgroup then.
    fn is_detached(&self, cgroup: &Path) -> bool {
        let is_there = fs::metadata(cgroup).is_ok_and(|found| found.ino() == self.directory);
        is_there && self.link.cgroup_id() == Some(GONE)
    }
}

impl Attached {
    /// Returns the programs that another process has detached, in words. Congestion controls
    /// without links (before Linux 6.4) cannot be detached.
    pub(crate) fn detached_programs(&self) -> Vec<String> {
        let hooks = self.hooks.iter().filter(|((_, cgroup), link)| link.is_detached(cgroup));
        let hooks = hooks.map(|((hook, cgroup), _)| {
            format!("{} at {}", format!("{hook:?}").to_lowercase(), cgroup.display())
        });
        let controls = self.controls.iter().filter(|(_, link)| link.is_unregistered());
        let controls = controls.map(|(name, _)| name.clone());
        hooks.chain(controls).collect()
    }

    /// Takes out the links whose programs another process has detached.
    pub(crate) fn take_detached(&mut self) -> Self {
        let hooks = self.hooks.extract_if(.., |(_, cgroup), link| link.is_detached(cgroup));
        let controls = self.controls.extract_if(.., |(_, link)| link.is_unregistered());
        Self { hooks: hooks.collect(), controls: controls.collect() }
    }

    /// Puts back links of `taken` for which there are no others.
    pub(crate) fn put_back(&mut self, taken: Self) {
        for (place, link) in taken.hooks {
            self.hooks.entry(place).or_insert(link);
        }
        let missing = taken.controls.into_iter();
        let missing: Vec<_> = missing
            .filter(|(name, _)| self.controls.iter().all(|(other, _)| other != name))
            .collect();
        self.controls.extend(missing);
    }

    /// Returns true if a cgroup that is to be hooked, or left alone, exists without its programs,
    /// since it was recreated.
    pub(crate) fn lacks_programs(&self, cgroups: &[PathBuf], except: &[PathBuf]) -> bool {
        let lacks = |hook: CgroupHook, cgroup: &PathBuf| {
            let directory = fs::metadata(cgroup).map(|directory| directory.ino());
            let link = self.hooks.get(&(hook, cgroup.clone()));
            directory.is_ok_and(|number| link.is_none_or(|link| link.directory != number))
        };
        cgroups.iter().any(|cgroup| lacks(CgroupHook::Attend, cgroup))
            || except.iter().any(|cgroup| lacks(CgroupHook::Leave, cgroup))
    }

    /// Drops the links of cgroups at whose paths there are others now.
    pub(crate) fn drop_ended(&mut self) {
        self.hooks.retain(|(_, cgroup), link| {
            fs::metadata(cgroup).map_or(true, |directory| directory.ino() == link.directory)
        });
    }

    /// Returns the role of each link, and its file.
    pub(crate) fn files(&self) -> Vec<(LinkRole, BorrowedFd<'_>)> {
        let controls = self.controls.iter();
        let controls = controls.map(|(name, link)| (LinkRole::Control(name.clone()), link.as_fd()));
        let hooks = self.hooks.iter().map(|((hook, cgroup), link)| {
            (LinkRole::Cgroup(*hook, cgroup.clone()), link.link.as_fd())
        });
        controls.chain(hooks).collect()
    }
}
