//! The interfaces of a capture, by name: one that is deleted and re-created has another number.

use crate::error::CaptureTrouble;
use nix::errno::Errno;
use nix::net::if_::{if_nameindex, if_nametoindex};
use std::fmt;

/// All interfaces.
pub(super) const ANY: &str = "any";

/// An interface of a running capture has disappeared, or has returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InterfaceChange {
    /// There is no interface of this name any more.
    Gone(String),
    /// There is an interface of this name again; it is captured.
    Back(String),
}

impl fmt::Display for InterfaceChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone(name) => {
                write!(f, "interface {name} is gone; nothing of it is captured until it is back")
            }
            Self::Back(name) => write!(f, "interface {name} is back; it is captured"),
        }
    }
}

/// Interfaces that are captured; an empty list is all.
pub(super) struct Interfaces {
    names: Vec<String>,
    /// Their numbers; 0, which no interface has, stands for one that is missing.
    indices: Vec<u32>,
}

impl Interfaces {
    /// Finds the interfaces of these names; with [`ANY`] among them, or without a name, all.
    pub(super) fn find(names: &[String]) -> Result<Self, CaptureTrouble> {
        if names.iter().any(|name| name == ANY) {
            return Ok(Self { names: Vec::new(), indices: Vec::new() });
        }
        let index = |name: &String| if_nametoindex(name.as_str()).map_err(|why| unknown(name, why));
        let indices = names.iter().map(index).collect::<Result<_, _>>()?;
        Ok(Self { names: names.to_vec(), indices })
    }

    pub(super) fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// Checks the interfaces, and returns their changes.
    pub(super) fn poll_changes(&mut self) -> Vec<InterfaceChange> {
        let mut changes = Vec::new();
        for (name, index) in self.names.iter().zip(&mut self.indices) {
            let now = if_nametoindex(name.as_str()).unwrap_or(0);
            if std::mem::replace(index, now) != now {
                changes.push(match now {
                    0 => InterfaceChange::Gone(name.clone()),
                    _ => InterfaceChange::Back(name.clone()),
                });
            }
        }
        changes
    }
}

fn unknown(name: &str, why: Errno) -> CaptureTrouble {
    let Ok(interfaces) = if_nameindex() else { return CaptureTrouble::Io(why.into()) };
    let known: Vec<String> = interfaces
        .iter()
        .map(|one| one.name().to_string_lossy().into_owned())
        .chain([ANY.to_owned()])
        .collect();
    CaptureTrouble::NoInterface(support::errors::unknown(
        "interface",
        name,
        &known,
        "`ip link` lists them",
    ))
}
