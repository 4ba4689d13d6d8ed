//! Loads the programs and attaches them, for as long as what is returned lives.

use crate::contract::{ConnectionSettings, ConnectionSummary, LearntPath, Override, PrefixKey};
use crate::facts::Shape;
use crate::gauges::{KernelGauges, ProgramFile};
use crate::knobs::Knobs;
use crate::leftovers;
use crate::load::{LoadOptions, Mode};
use crate::log::{Level, say};
use crate::rejection::Rejection;
use crate::schemes::HsControl;
use crate::shape;
use libbpf_rs::{
    ErrorKind, Link, MapCore, MapFlags, MapHandle, MapImpl, MapType, Object, ObjectBuilder,
    OpenObject, PrintLevel, RingBuffer, RingBufferBuilder,
};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Mutex;

/// The section that is [`ConnectionSettings`].
const SETTINGS: &str = ".data.settings";

static OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/agent.bpf.o"));

/// What libbpf and the verifier said of the load under way.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The programs, in the kernel and checked by it, attached to nothing.
#[derive(Debug)]
pub struct Loaded {
    object: Object,
    /// Congestion controls whose module was loaded later, of the same maps.
    later: Vec<Object>,
    programs: Programs,
}

/// Programs at work. Dropping it ends that for new connections; open ones go on with what they have.
#[derive(Debug)]
pub struct Attached {
    /// New connections of these cgroups are attended to while their links live.
    attend: CgroupLinks,
    /// And of these not.
    leave: CgroupLinks,
    /// Their connections that are opened offer more than they would while these live.
    widen: CgroupLinks,
    /// Applications of the attended cgroups can say and ask more while these live.
    hear: CgroupLinks,
    answer: CgroupLinks,
    /// The congestion controls can be had while these live.
    controls: Vec<Link>,
}

/// A program at the cgroups of these paths.
type CgroupLinks = BTreeMap<PathBuf, CgroupLink>;

/// A program at a cgroup. It ends with the cgroup, also where another one is made at the same path.
#[derive(Debug)]
struct CgroupLink {
    _link: Link,
    /// Number of the directory, which the kernel never gives again (kernfs).
    directory: u64,
}

impl Attached {
    /// Whether a cgroup that is to be attended to, or left alone, is there and has none of its programs: it was made anew.
    pub(crate) fn lacks(&self, cgroups: &[PathBuf], except: &[PathBuf]) -> bool {
        let lacks = |links: &CgroupLinks, cgroup: &PathBuf| {
            let directory = fs::metadata(cgroup).map(|directory| directory.ino());
            directory
                .is_ok_and(|number| links.get(cgroup).is_none_or(|link| link.directory != number))
        };
        cgroups.iter().any(|cgroup| lacks(&self.attend, cgroup))
            || except.iter().any(|cgroup| lacks(&self.leave, cgroup))
    }

    /// Links of cgroups at whose paths there are others now.
    fn drop_ended(&mut self) {
        let Self { attend, leave, widen, hear, answer, .. } = self;
        for links in [attend, leave, widen, hear, answer] {
            links.retain(|cgroup, link| {
                fs::metadata(cgroup).map_or(true, |directory| directory.ino() == link.directory)
            });
        }
    }
}

/// Which of the programs are loaded, and for what kind of kernel.
#[derive(Clone, Debug)]
pub struct Programs {
    /// How far they go.
    pub mode: Mode,
    /// The congestion controls among them; none but in mode `wrap`.
    pub schemes: Vec<HsControl>,
    /// How they have to be shaped.
    pub shape: Shape,
}

impl Loaded {
    /// Loads the programs.
    ///
    /// # Errors
    /// What the kernel or libbpf have against it.
    pub fn load(load: &LoadOptions, programs: Programs) -> Result<Self, Rejection> {
        said().clear();
        libbpf_rs::set_print(Some((PrintLevel::Warn, |_, line| said().push(line))));
        let loaded = Self::try_load(load, programs);
        loaded.map_err(|error| Rejection::new(&error.to_string(), &said().join("")))
    }

    fn try_load(load: &LoadOptions, programs: Programs) -> libbpf_rs::Result<Self> {
        let mut open = ObjectBuilder::default().open_memory(OBJECT)?;
        shape::choose(&mut open, programs.mode, &programs.schemes)?;
        shape::fit(&mut open, OBJECT, programs.shape)?;
        configure(&mut open, load)?;
        let object = open.load()?;
        let loaded = Self { object, later: Vec::new(), programs };
        loaded.assert_contract();
        loaded.knobs()?.turn(load)?;
        Ok(loaded)
    }

    /// What can be changed while it runs.
    ///
    /// # Errors
    /// If there are no more file descriptors.
    pub fn knobs(&self) -> libbpf_rs::Result<Knobs> {
        Ok(Knobs {
            settings: MapHandle::try_from(&self.map(SETTINGS))?,
            overrides: MapHandle::try_from(&self.map("overrides"))?,
            ports: MapHandle::try_from(&self.map("ports"))?,
        })
    }

    /// What can be seen of it from outside while it runs.
    ///
    /// # Errors
    /// If there are no more file descriptors.
    pub(crate) fn gauges(&self) -> libbpf_rs::Result<KernelGauges> {
        // Elsewhere nobody shares a window of a session, or knows of a handshake.
        let names: &[&str] =
            if self.mode() == Mode::Wrap { &["accounts", "hosts"] } else { &["accounts"] };
        let handle = |name: &&str| Ok(((*name).to_owned(), MapHandle::try_from(&self.map(name))?));
        let maps = names.iter().map(handle).collect::<libbpf_rs::Result<_>>()?;
        Ok(KernelGauges::new(maps, self.program_files()))
    }

    /// All programs that were loaded.
    pub(crate) fn program_files(&self) -> Vec<ProgramFile> {
        let objects = std::iter::once(&self.object).chain(&self.later);
        let programs = objects.flat_map(Object::progs).filter(|program| program.autoload());
        let file = |program: libbpf_rs::Program<'_>| ProgramFile {
            name: program.name().to_string_lossy().into_owned(),
            file: program.as_fd().as_raw_fd(),
        };
        programs.map(file).collect()
    }

    /// Both halves of the contract were built together; if not, nothing that is read means anything.
    fn assert_contract(&self) {
        let sizes = |name| {
            let map = self.map(name);
            (map.key_size() as usize, map.value_size() as usize)
        };
        assert_eq!(sizes("paths"), (PrefixKey::SIZE, LearntPath::SIZE));
        assert_eq!(sizes("overrides"), (Override::KEY_SIZE, Override::VALUE_SIZE));
        assert_eq!(sizes(SETTINGS).1, ConnectionSettings::SIZE);
    }

    /// Attends to the connections of cgroups and of those below, from now on, but for those of `except`.
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
        let names = self.programs.schemes.iter().flat_map(|scheme| scheme.names());
        let is_linked = self.programs.shape.is_linked;
        let controls = names.map(|name| register(&mut self.object, name, is_linked));
        let controls = controls.collect::<Result<_, _>>()?;
        let [attend, leave, widen, hear, answer] = [const { BTreeMap::new() }; 5];
        let mut attached = Attached { attend, leave, widen, hear, answer, controls };
        self.reattach(&mut attached, cgroups, except)?;
        Ok(attached)
    }

    /// How far they go.
    pub const fn mode(&self) -> Mode {
        self.programs.mode
    }

    /// The congestion controls that can be had here.
    pub fn schemes(&self) -> &[HsControl] {
        &self.programs.schemes
    }

    /// One more congestion control, what it is built upon having come since: of the same maps, so it remembers with the
    /// others.
    ///
    /// # Errors
    /// What the kernel has against it.
    pub fn add(&mut self, attached: &mut Attached, scheme: HsControl) -> Result<(), String> {
        let told =
            |error: libbpf_rs::Error| Rejection::new(&error.to_string(), &said().join("")).reason;
        said().clear();
        let mut object = self.try_add(scheme).map_err(told)?;
        for name in scheme.names() {
            attached.controls.push(register(&mut object, name, self.programs.shape.is_linked)?);
        }
        self.later.push(object);
        self.programs.schemes.push(scheme);
        Ok(())
    }

    fn try_add(&self, scheme: HsControl) -> libbpf_rs::Result<Object> {
        let mut open = ObjectBuilder::default().open_memory(OBJECT)?;
        shape::choose_alone(&mut open, scheme)?;
        shape::fit(&mut open, OBJECT, self.programs.shape)?;
        for mut map in open.maps_mut().filter(|map| map.map_type() != MapType::StructOps) {
            let name = map.name().to_owned();
            let mut present = self.object.maps();
            let present = present.find(|other| other.name() == name).expect("in the object");
            map.reuse_fd(present.as_fd())?;
        }
        open.load()
    }

    /// The same with other cgroups; those that stay are attended to all the while.
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
        let leave = self.attach_to("leave", except, &attached.leave)?;
        // What applications say is heeded by a congestion control of ours alone.
        let (attends, hears) = match self.mode() {
            Mode::Wrap => ("attend", cgroups),
            Mode::Window | Mode::Measure => ("hs_window", &[][..]),
        };
        let widens = if self.mode() == Mode::Measure { &[][..] } else { cgroups };
        let attend = self.attach_to(attends, cgroups, &attached.attend)?;
        let widen = self.attach_to("widen", widens, &attached.widen)?;
        let hear = self.attach_to("hs_setsockopt", hears, &attached.hear)?;
        let answer = self.attach_to("hs_getsockopt", hears, &attached.answer)?;
        attached.leave.extend(leave);
        attached.attend.extend(attend);
        attached.widen.extend(widen);
        attached.hear.extend(hear);
        attached.answer.extend(answer);
        let Attached { attend, widen, hear, answer, .. } = attached;
        for links in [attend, widen, hear, answer] {
            links.retain(|cgroup, _| cgroups.contains(cgroup));
        }
        attached.leave.retain(|cgroup, _| except.contains(cgroup));
        Ok(())
    }

    /// Attaches a program to those cgroups that it is not attached to.
    fn attach_to(
        &mut self,
        program: &str,
        cgroups: &[PathBuf],
        present: &CgroupLinks,
    ) -> Result<Vec<(PathBuf, CgroupLink)>, String> {
        let mut programs = self.object.progs_mut();
        let program = programs.find(|other| other.name() == program).expect("in the object");
        let missing = cgroups.iter().filter(|cgroup| !present.contains_key(*cgroup));
        missing
            .map(|cgroup| {
                let cannot = |error| format!("cannot open cgroup {}: {error}", cgroup.display());
                let directory = File::open(cgroup).map_err(cannot)?;
                let number = directory.metadata().map_err(cannot)?.ino();
                let link = program.attach_cgroup(directory.as_raw_fd()).map_err(|error| {
                    format!("cannot attach to {} (is it a cgroup v2?): {error}", cgroup.display())
                })?;
                Ok((cgroup.clone(), CgroupLink { _link: link, directory: number }))
            })
            .collect()
    }

    /// The memory of paths, also for another thread.
    ///
    /// # Errors
    /// If there are no more file descriptors.
    pub fn paths(&self) -> Result<MapHandle, String> {
        let copy = MapHandle::try_from(&self.map("paths"));
        copy.map_err(|error| format!("cannot keep hold of the memory of paths: {error}"))
    }

    /// Summaries that found the buffer full.
    pub fn summaries_lost(&self) -> u64 {
        let bytes = self.map("lost_summaries").lookup(&0_u32.to_ne_bytes(), MapFlags::ANY);
        let count = bytes.ok().flatten().and_then(|bytes| bytes.try_into().ok());
        count.map(u64::from_ne_bytes).unwrap_or_default()
    }

    /// Tells of each connection that has closed, when polled.
    ///
    /// # Errors
    /// If there are no more file descriptors.
    pub fn summaries<'a>(
        &self,
        mut on_summary: impl FnMut(ConnectionSummary) + 'a,
    ) -> Result<RingBuffer<'a>, String> {
        let map = self.map("summaries");
        let mut builder = RingBufferBuilder::new();
        let callback = move |bytes: &[u8]| {
            if let Some(summary) = ConnectionSummary::from_bytes(bytes) {
                on_summary(summary);
            }
            0
        };
        let built = builder.add(&map, callback).map(|_| ()).and_then(|()| builder.build());
        built.map_err(|error| format!("cannot read summaries: {error}"))
    }

    fn map(&self, name: &str) -> MapImpl<'_> {
        let mut maps = self.object.maps();
        maps.find(|map| is_named(map.name(), name)).expect("in the object")
    }
}

fn register(object: &mut Object, name: &str, is_linked: bool) -> Result<Link, String> {
    let mut maps = object.maps_mut();
    let mut map = maps.find(|map| map.name() == OsStr::new(name)).expect("in the object");
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

fn configure(open: &mut OpenObject, load: &LoadOptions) -> libbpf_rs::Result<()> {
    for mut map in open.maps_mut() {
        if is_named(map.name(), "paths") {
            map.set_max_entries(load.max_paths)?;
        }
    }
    Ok(())
}

/// libbpf puts the object's name before those of sections.
fn is_named(map: &OsStr, name: &str) -> bool {
    map == OsStr::new(name) || (name.starts_with('.') && map.to_string_lossy().ends_with(name))
}

fn said() -> std::sync::MutexGuard<'static, Vec<String>> {
    SAID.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
