//! The running kernel compared with the agent's assumptions: looked up once, before anything is
//! loaded. Both `check` and the agent decide by this.

use super::assumptions::{
    ARGUMENTS_WITH_ACK, COUNTS_HANDSHAKES, LINKED, OF_NEWER_BBR, OWN_TX_START, Part,
};
use super::btf::Btf;
use super::listing::Listing;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Files in which a kernel describes itself; tests have kernels of their own.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// The folder of its types: `vmlinux`, and a file for each module.
    pub types: &'a Path,
    /// Its lockdown state (kernel_lockdown(7)).
    pub lockdown: &'a Path,
    /// Its version.
    pub release: &'a Path,
}

impl Places<'static> {
    /// Returns the files of the running kernel.
    pub fn running() -> Self {
        Self {
            types: Path::new("/sys/kernel/btf"),
            lockdown: Path::new("/sys/kernel/security/lockdown"),
            release: Path::new("/proc/sys/kernel/osrelease"),
        }
    }
}

/// A module that may hold what `hs_cubic` calls.
pub const CUBIC_MODULE: &str = "tcp_cubic";
/// A module that may hold what `hs_bbr` calls.
pub const BBR_MODULE: &str = "tcp_bbr";

/// Facts about a kernel.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Version, as `uname -r` prints it.
    pub release: String,
    /// Lockdown state.
    pub lockdown: String,
    /// The kernel shows this process the types of modules (`CAP_SYS_ADMIN`, `bpf_btf_get_fd_by_id`
    /// in kernel/bpf/syscall.c). Without them no program can call a module's functions.
    pub shows_modules: bool,
    /// Its types, or why they cannot be read.
    pub types: Result<Types, String>,
}

/// Names in the kernel's types.
#[derive(Clone, Debug, Default)]
pub struct Types {
    /// Names of the kernel and of all its modules that matter.
    pub all: Listing,
    /// Names of the kernel alone.
    pub built_in: Listing,
    /// Modules that matter and are loaded.
    pub modules: Vec<&'static str>,
    /// Modules among those whose types were not merged with the kernel's: to the verifier their
    /// sockets are of another type.
    pub apart: Vec<&'static str>,
}

/// Form of the programs that a kernel needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// A congestion control is listed only as long as its link lives.
    pub is_linked: bool,
    /// The start of sending has an operation of its own.
    pub has_own_tx_start: bool,
    /// `cong_control` gets the number and the flags of an ACK.
    pub tells_ack: bool,
}

/// Number of `CAP_SYS_ADMIN` (include/uapi/linux/capability.h).
pub const CAP_SYS_ADMIN: u32 = 21;

/// Returns true if the effective rights of this process have the capability of this number.
fn has_right(bit: u32) -> bool {
    effective_rights() >> bit & 1 == 1
}

/// Returns the effective rights of this process, a bit for each capability.
pub fn effective_rights() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    line.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0)
}

impl Facts {
    /// Returns the facts about the running kernel.
    pub fn running() -> Self {
        Self::of(&Places::running())
    }

    /// Returns the facts about the kernel that these files describe.
    pub fn of(places: &Places<'_>) -> Self {
        let release = fs::read_to_string(places.release).unwrap_or_default();
        let modes = fs::read_to_string(places.lockdown).unwrap_or_default();
        let lockdown = modes.split(['[', ']']).nth(1).unwrap_or("none").to_owned();
        Self {
            release: release.trim().to_owned(),
            lockdown,
            shows_modules: has_right(CAP_SYS_ADMIN),
            types: types(places.types),
        }
    }

    /// Returns a description such as `this kernel (6.1.0)`.
    pub fn kernel(&self) -> String {
        format!("this kernel ({})", self.release)
    }

    /// Returns the form of the programs that the kernel needs.
    pub fn shape(&self) -> Shape {
        let has =
            |test: fn(&Listing) -> bool| self.types.as_ref().is_ok_and(|types| test(&types.all));
        Shape {
            is_linked: has(|all| all.has_number(LINKED)),
            has_own_tx_start: has(|all| all.has_operation(OWN_TX_START)),
            tells_ack: has(|all| {
                all.cong_control_arguments().is_none_or(|count| count >= ARGUMENTS_WITH_ACK)
            }),
        }
    }
}

impl Types {
    /// Needs of a part that the kernel lacks.
    pub fn missing_needs(&self, part: Part) -> Vec<String> {
        self.all.missing_needs(part)
    }

    /// Returns true if programs can count pending handshakes, so that connections that open at once
    /// share a path's window.
    pub fn counts_handshakes(&self) -> bool {
        self.all.has_function(COUNTS_HANDSHAKES)
    }

    /// Returns true if the kernel's BBR is of version 2 or 3.
    pub fn has_newer_bbr(&self) -> bool {
        OF_NEWER_BBR.iter().any(|member| self.all.has_member("bbr", member))
    }
}

/// Reads the types of the kernel and of the modules of CUBIC and BBR, from the files in `folder`.
fn types(folder: &Path) -> Result<Types, String> {
    let file = folder.join("vmlinux");
    let bytes = match fs::read(&file) {
        Ok(bytes) => bytes,
        Err(_) => {
            let name = file.display();
            return Err(format!("{name} is not there (CONFIG_DEBUG_INFO_BTF)"));
        }
    };
    let unread = |why| format!("cannot read {}: {why}", file.display());
    let kernel = Arc::new(Btf::of_kernel(bytes).map_err(unread)?);
    let built_in = Listing::of(&kernel);
    let (mut all, mut modules, mut apart) = (built_in.clone(), Vec::new(), Vec::new());
    for module in [CUBIC_MODULE, BBR_MODULE] {
        let bytes = fs::read(folder.join(module)).ok();
        if let Some(Ok(types)) = bytes.map(|bytes| Btf::of_module(bytes, Arc::clone(&kernel))) {
            let listing = Listing::of(&types);
            if listing.has_member("sock", "__sk_common") {
                apart.push(module);
            }
            all.add(listing);
            modules.push(module);
        }
    }
    Ok(Types { all, built_in, modules, apart })
}
