//! Loads the programs and attaches them, for the lifetime of the returned values.

mod maps;
mod takeover;

use super::leftovers;
use super::links::{AttachPoint, Attached, CgroupHook, HeldLink, HookLink};
use super::load_options::{LoadOptions, Mode};
use super::shape;
use super::telemetry::gauges::ProgramFile;
use crate::contract::{ConnectionSettings, LearntPath, Override, PrefixKey};
use crate::kernel::congestion::HsControl;
use crate::kernel::facts::Shape;
use crate::kernel::rejection::Rejection;
use crate::os::log::{Level, say};
use libbpf_rs::{
    ErrorKind, Link, MapCore, MapMut, MapType, Object, ObjectBuilder, OpenObject, PrintLevel,
    ProgramMut,
};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Mutex;

/// The section that is [`ConnectionSettings`].
const SETTINGS: &str = ".data.settings";

static OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/agent.bpf.o"));

/// Output of libbpf and the verifier for the present load.
static LOADER_OUTPUT: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The programs, in the kernel and checked by it, attached to nothing.
#[derive(Debug)]
pub struct Loaded {
    object: Object,
    /// Congestion controls whose module was loaded later, of the same maps.
    later: Vec<Object>,
    programs: Programs,
    /// The program that writes TCP options is one of them.
    writes_option: bool,
}

/// Maps of another agent that has the same programs, by their names: programs loaded with them go
/// on with their contents.
#[derive(Debug, Default)]
pub struct SharedMaps(BTreeMap<String, OwnedFd>);

impl SharedMaps {
    /// Adds a map.
    pub(crate) fn add(&mut self, name: String, file: OwnedFd) {
        self.0.insert(name, file);
    }

    /// Returns the maps by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&String, BorrowedFd<'_>)> {
        self.0.iter().map(|(name, file)| (name, file.as_fd()))
    }

    /// Returns true if there are no maps.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Returns the digest of the programs. Agents with the same digest can share maps, since each byte
/// has the same meaning.
pub(crate) fn programs_digest() -> String {
    Sha256::digest(OBJECT).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The programs to load, and the kind of kernel.
#[derive(Clone, Debug)]
pub struct Programs {
    /// Mode of the programs.
    pub mode: Mode,
    /// The congestion controls among them; none but in mode `wrap`.
    pub schemes: Vec<HsControl>,
    /// Form that the kernel needs.
    pub shape: Shape,
}

impl Loaded {
    /// Loads the programs.
    ///
    /// # Errors
    /// If the kernel or libbpf rejects them; the error has the reason.
    pub fn load(
        load: &LoadOptions,
        programs: Programs,
        shared: &SharedMaps,
    ) -> Result<Self, Rejection> {
        loader_output().clear();
        libbpf_rs::set_print(Some((PrintLevel::Warn, |_, line| loader_output().push(line))));
        let loaded = Self::try_load(load, programs, shared);
        loaded.map_err(|error| Rejection::new(&error.to_string(), &loader_output().join("")))
    }

    /// Loads the programs once: selects and fits them to the kernel, and uses the shared maps.
    fn try_load(
        load: &LoadOptions,
        programs: Programs,
        shared: &SharedMaps,
    ) -> libbpf_rs::Result<Self> {
        let mut open = ObjectBuilder::default().open_memory(OBJECT)?;
        shape::select_programs(&mut open, programs.mode, &programs.schemes)?;
        shape::choose_report(&mut open, load.writes_option);
        shape::fit_to_kernel(&mut open, OBJECT, programs.shape)?;
        configure(&mut open, load)?;
        reuse(&mut open, shared)?;
        let object = open.load()?;
        let writes_option = load.writes_option;
        let loaded = Self { object, later: Vec::new(), programs, writes_option };
        loaded.assert_contract();
        // Shared maps are still another agent's.
        if shared.is_empty() {
            loaded.program_settings()?.apply(load)?;
        }
        Ok(loaded)
    }

    /// Returns all programs that were loaded.
    pub(crate) fn program_files(&self) -> Vec<ProgramFile> {
        let objects = std::iter::once(&self.object).chain(&self.later);
        let programs = objects.flat_map(Object::progs).filter(|program| program.autoload());
        let file = |program: libbpf_rs::Program<'_>| ProgramFile {
            name: program.name().to_string_lossy().into_owned(),
            file: program.as_fd().as_raw_fd(),
        };
        programs.map(file).collect()
    }

    /// Asserts that both halves of the contract were built together. Otherwise no value could be
    /// interpreted.
    fn assert_contract(&self) {
        let sizes = |name| {
            let map = self.map(name);
            (map.key_size() as usize, map.value_size() as usize)
        };
        assert_eq!(sizes("paths"), (PrefixKey::SIZE, LearntPath::SIZE));
        assert_eq!(sizes("overrides"), (Override::KEY_SIZE, Override::VALUE_SIZE));
        assert_eq!(sizes(SETTINGS).1, ConnectionSettings::SIZE);
    }

    /// Hooks the connections of cgroups and of those below, from now on, except those of `except`.
    ///
    /// # Errors
    /// If another agent runs, or a cgroup is none of version 2.
    pub fn attach(&mut self, cgroups: &[PathBuf], except: &[PathBuf]) -> Result<Attached, String> {
        if !self.programs.shape.is_linked {
            for name in leftovers::take_away() {
                say(
                    Level::Notice,
                    &format!("took away {name}, which an agent that was killed had left"),
                );
            }
        }
        let mut attached = Attached::default();
        self.attach_missing(&mut attached, cgroups, except)?;
        Ok(attached)
    }

    /// Attaches and registers what `attached` lacks.
    ///
    /// # Errors
    /// The same errors as [`Self::attach`].
    pub(crate) fn attach_missing(
        &mut self,
        attached: &mut Attached,
        cgroups: &[PathBuf],
        except: &[PathBuf],
    ) -> Result<(), String> {
        self.register_missing(attached)?;
        self.reattach(attached, cgroups, except)
    }

    /// Registers the congestion controls that are not registered yet.
    fn register_missing(&mut self, attached: &mut Attached) -> Result<(), String> {
        let is_linked = self.programs.shape.is_linked;
        for name in self.control_names() {
            if attached.controls.iter().all(|(other, _)| other != name) {
                let link = register(&mut self.control_map(name), name, is_linked)?;
                attached.controls.push((name.to_owned(), HeldLink::Made(link)));
            }
        }
        Ok(())
    }

    fn control_names(&self) -> Vec<&'static str> {
        self.programs.schemes.iter().flat_map(|scheme| scheme.names()).copied().collect()
    }

    /// Returns the map of a congestion control, from the object that has it.
    fn control_map(&mut self, name: &str) -> MapMut<'_> {
        let objects = std::iter::once(&mut self.object).chain(&mut self.later);
        let mut maps = objects.flat_map(Object::maps_mut);
        maps.find(|map| map.name() == OsStr::new(name) && map.autocreate()).expect("in an object")
    }

    fn map_id(&mut self, name: &str) -> Option<u32> {
        self.control_map(name).info().ok().map(|info| info.info.id)
    }

    /// Returns all maps but the congestion controls, for an agent that goes on with them.
    ///
    /// # Errors
    /// If there are no more file descriptors.
    pub(crate) fn maps(&self) -> io::Result<SharedMaps> {
        let maps = self.object.maps().filter(|map| map.map_type() != MapType::StructOps);
        let files = maps.map(|map| {
            Ok((map.name().to_string_lossy().into_owned(), map.as_fd().try_clone_to_owned()?))
        });
        files.collect::<io::Result<_>>().map(SharedMaps)
    }

    /// Returns true if congestion controls are attached by links, so they are listed only as long
    /// as their links live.
    pub(crate) const fn is_linked(&self) -> bool {
        self.programs.shape.is_linked
    }

    /// Returns the mode of the programs.
    pub const fn mode(&self) -> Mode {
        self.programs.mode
    }

    /// Returns the congestion controls that can be had here.
    pub fn schemes(&self) -> &[HsControl] {
        &self.programs.schemes
    }

    /// Adds one more congestion control whose basis has appeared since. It uses the same maps, so
    /// it shares the memory.
    ///
    /// # Errors
    /// If the kernel rejects it; the error has the reason.
    pub fn add(&mut self, attached: &mut Attached, scheme: HsControl) -> Result<(), String> {
        let told = |error: libbpf_rs::Error| {
            Rejection::new(&error.to_string(), &loader_output().join("")).reason
        };
        loader_output().clear();
        let mut object = self.try_add(scheme).map_err(told)?;
        for name in scheme.names() {
            let mut maps = object.maps_mut();
            let mut map = maps.find(|map| map.name() == OsStr::new(name)).expect("in the object");
            let link = register(&mut map, name, self.programs.shape.is_linked)?;
            attached.controls.push(((*name).to_owned(), HeldLink::Made(link)));
        }
        self.later.push(object);
        self.programs.schemes.push(scheme);
        Ok(())
    }

    fn try_add(&self, scheme: HsControl) -> libbpf_rs::Result<Object> {
        let mut open = ObjectBuilder::default().open_memory(OBJECT)?;
        shape::choose_alone(&mut open, scheme)?;
        shape::fit_to_kernel(&mut open, OBJECT, self.programs.shape)?;
        reuse(&mut open, &self.maps()?)?;
        open.load()
    }

    /// Attaches the programs to other cgroups; cgroups that stay keep theirs all the time.
    ///
    /// # Errors
    /// If a cgroup is none of version 2; then nothing has changed.
    pub fn reattach(
        &mut self,
        attached: &mut Attached,
        cgroups: &[PathBuf],
        except: &[PathBuf],
    ) -> Result<(), String> {
        attached.drop_ended();
        let mut wanted = vec![(CgroupHook::Leave, except)];
        let others = [
            CgroupHook::Attend,
            CgroupHook::Widen,
            CgroupHook::Report,
            CgroupHook::Hear,
            CgroupHook::Answer,
        ];
        wanted.extend(
            others.into_iter().filter(|hook| self.needs_hook(*hook)).map(|hook| (hook, cgroups)),
        );
        let mut new = Vec::new();
        for (hook, cgroups) in &wanted {
            new.extend(self.attach_to(*hook, cgroups, attached)?);
        }
        attached.hooks.extend(new);
        let is_wanted = |hook: &CgroupHook, cgroup: &PathBuf| {
            wanted.iter().any(|(other, cgroups)| other == hook && cgroups.contains(cgroup))
        };
        attached.hooks.retain(|(hook, cgroup), _| is_wanted(hook, cgroup));
        Ok(())
    }

    /// Returns true if a hook gets a program.
    const fn needs_hook(&self, hook: CgroupHook) -> bool {
        match (hook, self.mode()) {
            // Only our congestion controls apply hints of applications.
            (CgroupHook::Hear | CgroupHook::Answer, Mode::Window | Mode::Measure)
            | (CgroupHook::Widen, Mode::Measure) => false,
            (CgroupHook::Report, _) => self.writes_option,
            _ => true,
        }
    }

    /// Returns the program that the mode has for a hook of cgroups.
    fn program_for(&mut self, hook: CgroupHook) -> ProgramMut<'_> {
        let name = match (hook, self.mode()) {
            (CgroupHook::Leave, _) => "leave",
            (CgroupHook::Attend, Mode::Wrap) => "attend",
            (CgroupHook::Attend, Mode::Window | Mode::Measure) => "hs_window",
            (CgroupHook::Widen, _) => "widen",
            (CgroupHook::Report, _) => "report",
            (CgroupHook::Hear, _) => "hs_setsockopt",
            (CgroupHook::Answer, _) => "hs_getsockopt",
        };
        let mut programs = self.object.progs_mut();
        programs.find(|program| program.name() == name).expect("in the object")
    }

    /// Attaches a program to those cgroups that it is not attached to.
    fn attach_to(
        &mut self,
        hook: CgroupHook,
        cgroups: &[PathBuf],
        present: &Attached,
    ) -> Result<Vec<(AttachPoint, HookLink)>, String> {
        let program = self.program_for(hook);
        let missing = cgroups.iter().map(|cgroup| (hook, cgroup.clone()));
        let missing = missing.filter(|place| !present.hooks.contains_key(place));
        missing
            .map(|place| {
                let cgroup = &place.1;
                let cannot = |error| format!("cannot open cgroup {}: {error}", cgroup.display());
                let directory = File::open(cgroup).map_err(cannot)?;
                let number = directory.metadata().map_err(cannot)?.ino();
                let link = program.attach_cgroup(directory.as_raw_fd()).map_err(|error| {
                    format!("cannot attach to {} (is it a cgroup v2?): {error}", cgroup.display())
                })?;
                Ok((place, HookLink { link: HeldLink::Made(link), directory: number }))
            })
            .collect()
    }
}

/// Makes the programs of an open object use these maps instead of their own of the same names.
fn reuse(open: &mut OpenObject, shared: &SharedMaps) -> libbpf_rs::Result<()> {
    for mut map in open.maps_mut() {
        if let Some(file) = shared.0.get(map.name().to_string_lossy().as_ref()) {
            map.reuse_fd(file.as_fd())?;
        }
    }
    Ok(())
}

/// Registers a congestion control.
///
/// # Errors
///
/// If the kernel has one of this name already, or refuses it.
fn register(map: &mut MapMut<'_>, name: &str, is_linked: bool) -> Result<Link, String> {
    map.attach_struct_ops().map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists if is_linked => {
            format!("there is a congestion control {name} already: another agent runs")
        }
        ErrorKind::AlreadyExists => format!(
            "there is a congestion control {name} already: another agent runs, or one was killed and has left it \
             (as root, `headstart agent tidy` takes it away)"
        ),
        _ => format!("cannot register {name}: {error}"),
    })
}

/// Sets the sizes of the maps of paths and lines.
fn configure(open: &mut OpenObject, load: &LoadOptions) -> libbpf_rs::Result<()> {
    for mut map in open.maps_mut() {
        if is_named(map.name(), "paths") || is_named(map.name(), "lines") {
            map.set_max_entries(load.max_paths)?;
        }
    }
    Ok(())
}

/// Compares a map's name; libbpf puts the object's name before section names.
fn is_named(map: &OsStr, name: &str) -> bool {
    map == OsStr::new(name) || (name.starts_with('.') && map.to_string_lossy().ends_with(name))
}

fn loader_output() -> std::sync::MutexGuard<'static, Vec<String>> {
    LOADER_OUTPUT.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
