//! Shapes the programs, before the verifier sees them, for the options and the kernel: the programs
//! to load, the operations that congestion controls register, and how they are registered.

use super::load_options::Mode;
use crate::kernel::congestion::HsControl;
use crate::kernel::facts::Shape;
use libbpf_rs::btf::{Btf, types};
use libbpf_rs::{MapType, OpenObject};
use std::ffi::OsStr;

/// Section from which programs read facts about the kernel.
const OF_KERNEL: &str = ".rodata.kernel";
/// The kernel's `BPF_F_LINK`.
const LINKED: u32 = 1 << 13;

/// Loads the programs that `mode` needs, and of the congestion controls only `schemes`. So a
/// missing ability of the kernel affects only the programs that need it.
///
/// # Errors
/// An error of libbpf, which does not occur here.
pub(super) fn select_programs(
    open: &mut OpenObject,
    mode: Mode,
    schemes: &[HsControl],
) -> libbpf_rs::Result<()> {
    let is_absent = |scheme: &HsControl| !schemes.contains(scheme);
    for absent in HsControl::ALL.into_iter().filter(is_absent) {
        leave_out(open, absent)?;
    }
    for mut program in open.progs_mut() {
        if not_of(mode).iter().any(|name| program.name() == OsStr::new(name)) {
            program.set_autoload(false);
        }
    }
    Ok(())
}

/// Loads the program that writes TCP options, or does not.
pub(super) fn choose_report(open: &mut OpenObject, writes_option: bool) {
    for mut program in open.progs_mut() {
        if program.name() == OsStr::new("report") {
            program.set_autoload(writes_option);
        }
    }
}

/// Loads one congestion control and nothing else.
///
/// # Errors
/// An error of libbpf, which does not occur here.
pub(super) fn choose_alone(open: &mut OpenObject, scheme: HsControl) -> libbpf_rs::Result<()> {
    select_programs(open, Mode::Wrap, &[scheme])?;
    for mut program in open.progs_mut() {
        if HsControl::of_program(&program.name().to_string_lossy()).is_none() {
            program.set_autoload(false);
        }
    }
    Ok(())
}

/// Returns the programs that have nothing to do.
const fn not_of(mode: Mode) -> &'static [&'static str] {
    match mode {
        Mode::Wrap => &["hs_window"],
        Mode::Window => &["attend", "hs_setsockopt", "hs_getsockopt"],
        Mode::Measure => &["attend", "widen", "hs_setsockopt", "hs_getsockopt"],
    }
}

/// Leaves out the programs and maps of a congestion control.
fn leave_out(open: &mut OpenObject, scheme: HsControl) -> libbpf_rs::Result<()> {
    for mut program in open.progs_mut() {
        if program.name().to_string_lossy().starts_with(scheme.name()) {
            program.set_autoload(false);
        }
    }
    for mut map in open.maps_mut() {
        if scheme.names().iter().any(|name| map.name() == OsStr::new(name)) {
            map.set_autocreate(false)?;
        }
    }
    Ok(())
}

/// Fits the congestion controls of what is open, which `object` holds, to the kernel.
///
/// # Errors
/// An error of libbpf, which does not occur here.
pub(super) fn fit_to_kernel(
    open: &mut OpenObject,
    object: &[u8],
    shape: Shape,
) -> libbpf_rs::Result<()> {
    let places = Operations::of(object)?;
    for mut map in open.maps_mut() {
        if map.name().to_string_lossy().ends_with(OF_KERNEL) {
            // One variable: `cong_control_tells_ack`.
            map.set_initial_value(&[u8::from(shape.tells_ack)])?;
        }
        if map.map_type() != MapType::StructOps {
            continue;
        }
        if !shape.is_linked {
            let flags = map.map_flags();
            map.set_map_flags(flags & !LINKED)?;
        }
        let name = map.name().to_string_lossy().into_owned();
        let register = map.initial_value_mut().expect("operations");
        for dropped in places.dropped_operations(&name, shape) {
            // Without a program libbpf looks for no operation of the kernel's.
            register[dropped..dropped + size_of::<usize>()].fill(0);
        }
    }
    Ok(())
}

/// Offsets, in a congestion control's registration, of the operations of which a kernel has one or
/// the other.
struct Operations {
    cwnd_event: usize,
    own_tx_start: usize,
}

impl Operations {
    /// Reads from the object's types where the operations lie in the kernel's `tcp_congestion_ops`.
    fn of(object: &[u8]) -> libbpf_rs::Result<Self> {
        let types = Btf::from_raw("agent", object)?.expect("compiled with types");
        let all = types.type_by_name::<types::Struct<'_>>("tcp_congestion_ops").expect("declared");
        let place = |name: &str| {
            let mut members = all.iter();
            let member = members.find(|member| member.name == Some(OsStr::new(name)));
            match member.expect("declared").attr {
                types::MemberAttr::Normal { offset } => offset as usize / 8,
                types::MemberAttr::BitField { .. } => unreachable!("pointers are no bit fields"),
            }
        };
        Ok(Self { cwnd_event: place("cwnd_event"), own_tx_start: place("cwnd_event_tx_start") })
    }

    /// Returns the operations that the kernel lacks, or would call in vain. A kernel with an
    /// operation of its own for the start of sending leaves only CUBIC's restart after idle to
    /// `cwnd_event`.
    fn dropped_operations(&self, control: &str, shape: Shape) -> Vec<usize> {
        match shape.has_own_tx_start {
            false => vec![self.own_tx_start],
            true if HsControl::Cubic.names().contains(&control) => vec![],
            true => vec![self.cwnd_event],
        }
    }
}
