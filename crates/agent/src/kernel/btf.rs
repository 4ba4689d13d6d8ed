//! The kernel's types (BTF), as far as the agent needs them. These are names of functions, members
//! of structures, enumerators, and numbers of an operation's arguments. libbpf reads the same bytes
//! to find fields. But it shows neither a module's types alone, nor more than the first missing
//! item. Format: the kernel's Documentation/bpf/btf.rst.

use std::collections::BTreeSet;
use std::sync::Arc;

const MAGIC: u16 = 0xeb9f;
const HEADER: usize = 24;

/// Kinds of types by their numbers.
mod kind {
    pub(super) const INT: u8 = 1;
    pub(super) const POINTER: u8 = 2;
    pub(super) const ARRAY: u8 = 3;
    pub(super) const STRUCT: u8 = 4;
    pub(super) const UNION: u8 = 5;
    pub(super) const ENUM: u8 = 6;
    pub(super) const FUNCTION: u8 = 12;
    pub(super) const PROTOTYPE: u8 = 13;
    pub(super) const VARIABLE: u8 = 14;
    pub(super) const SECTION: u8 = 15;
    pub(super) const DECLARATION_TAG: u8 = 17;
    pub(super) const ENUM64: u8 = 19;
    /// The last kind that is known here; the length of later kinds is not known.
    pub(super) const LAST: u8 = 19;
}

/// Limit of the members of one structure, including those of its nameless parts: types may form a
/// circle.
const MAX_MEMBERS: u32 = 1 << 16;

/// Limit of nested nameless parts. In a kernel there are a few; in a circle each contains itself.
const DEEPEST: u32 = 64;

struct Type {
    name: u32,
    kind: u8,
    /// Members, enumerators or arguments.
    count: usize,
    /// Type that a pointer refers to, or a function has.
    of: u32,
    /// Offset of its members.
    at: usize,
}

/// The types of a kernel, or of a module beside those of its kernel.
pub struct Btf {
    bytes: Vec<u8>,
    types: Vec<Type>,
    /// Start and end of the strings.
    strings: (usize, usize),
    base: Option<Arc<Self>>,
}

impl Btf {
    /// Reads the types of a kernel.
    ///
    /// # Errors
    /// If the bytes violate the format.
    pub fn of_kernel(bytes: Vec<u8>) -> Result<Self, String> {
        Self::parse(bytes, None)
    }

    /// Reads the types of a module, which name those of its kernel.
    ///
    /// # Errors
    /// Fails as [`Self::of_kernel`] does.
    pub fn of_module(bytes: Vec<u8>, kernel: Arc<Self>) -> Result<Self, String> {
        Self::parse(bytes, Some(kernel))
    }

    /// Parses BTF (Documentation/bpf/btf.rst of the kernel). `base`: the kernel's types, for those
    /// of a module.
    fn parse(bytes: Vec<u8>, base: Option<Arc<Self>>) -> Result<Self, String> {
        let magic = bytes.get(..2).and_then(|magic| magic.try_into().ok()).map(u16::from_ne_bytes);
        if magic != Some(MAGIC) {
            return Err("no BTF of this machine's order of bytes".to_owned());
        }
        let field = |at| read_u32(&bytes, at).map(|word| word as usize);
        let part = |from: usize, length: usize| {
            let start = field(4)?.checked_add(field(from)?)?;
            let end = start.checked_add(field(length)?)?;
            (start >= HEADER && end <= bytes.len()).then_some((start, end))
        };
        let (Some(types), Some(strings)) = (part(8, 12), part(16, 20)) else {
            return Err("BTF is cut short".to_owned());
        };
        let types = types_within(&bytes, types)?;
        Ok(Self { bytes, types, strings, base })
    }

    /// Returns all types of `kind`.
    fn of_kind(&self, kind: u8) -> impl Iterator<Item = &Type> {
        self.types.iter().filter(move |found| found.kind == kind)
    }

    /// Returns the names of functions.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        self.of_kind(kind::FUNCTION).filter_map(|found| self.name(found.name))
    }

    /// Returns the names of numbers.
    pub fn enumerators(&self) -> impl Iterator<Item = &str> {
        let sized = [(kind::ENUM, 8), (kind::ENUM64, 12)];
        let all = sized.into_iter().flat_map(|(kind, size)| {
            self.of_kind(kind).flat_map(move |of| (0..of.count).map(move |n| of.at + n * size))
        });
        all.filter_map(|at| self.name(read_u32(&self.bytes, at)?))
    }

    /// Returns the names of the members of a structure, those in nameless parts of it included;
    /// none if there is no such structure.
    pub fn members(&self, structure: &str) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        for of in self.of_kind(kind::STRUCT).filter(|of| self.name(of.name) == Some(structure)) {
            self.collect(of, (DEEPEST, &mut { MAX_MEMBERS }), &mut names);
        }
        names
    }

    /// Collects the names of members. `deeper`: parts within that may still be looked into; `left`:
    /// members.
    fn collect<'a>(
        &'a self,
        of: &Type,
        (deeper, left): (u32, &mut u32),
        names: &mut BTreeSet<&'a str>,
    ) {
        for at in (0..of.count).map(|member| of.at + member * 12) {
            let Some(fewer) = left.checked_sub(1) else { return };
            *left = fewer;
            match read_u32(&self.bytes, at).and_then(|name| self.name(name)) {
                Some("") => {
                    let part = read_u32(&self.bytes, at + 4)
                        .and_then(|number| self.type_by_number(number));
                    let is_whole = |part: &Type| [kind::STRUCT, kind::UNION].contains(&part.kind);
                    if let Some((within, part)) = part.filter(|(_, part)| is_whole(part))
                        && let Some(deeper) = deeper.checked_sub(1)
                    {
                        within.collect(part, (deeper, &mut *left), names);
                    }
                }
                Some(name) => _ = names.insert(name),
                None => {}
            }
        }
    }

    /// Returns the number of arguments of the function that a member of a structure points to;
    /// `None` if it points to none.
    pub fn arguments(&self, structure: &str, member: &str) -> Option<usize> {
        let of =
            self.of_kind(kind::STRUCT).find(|found| self.name(found.name) == Some(structure))?;
        let mut members = (0..of.count).map(|number| of.at + number * 12);
        let at = members.find(|at| {
            read_u32(&self.bytes, *at).and_then(|name| self.name(name)) == Some(member)
        })?;
        let (_, pointer) = self.type_by_number(read_u32(&self.bytes, at + 4)?)?;
        let (_, function) =
            (pointer.kind == kind::POINTER).then(|| self.type_by_number(pointer.of))??;
        (function.kind == kind::PROTOTYPE).then_some(function.count)
    }

    /// Returns a type by its number. Numbers of a module's types go on behind the kernel's.
    fn type_by_number(&self, number: u32) -> Option<(&Self, &Type)> {
        let before = self.base.as_ref().map_or(1, |base| base.types.len() as u32 + 1);
        match (number.checked_sub(before), &self.base) {
            (Some(place), _) => self.types.get(place as usize).map(|found| (self, found)),
            (None, Some(base)) => base.type_by_number(number),
            (None, None) => None,
        }
    }

    /// Returns the string at an offset. A module's offsets of strings continue those of its kernel,
    /// like its numbers of types.
    fn name(&self, at: u32) -> Option<&str> {
        let before = self.base.as_ref().map_or(0, |base| base.strings.1 - base.strings.0);
        match ((at as usize).checked_sub(before), &self.base) {
            (Some(place), _) => {
                let strings = self.bytes.get(self.strings.0..self.strings.1)?.get(place..)?;
                let end = strings.iter().position(|byte| *byte == 0)?;
                std::str::from_utf8(&strings[..end]).ok()
            }
            (None, Some(base)) => base.name(at),
            (None, None) => None,
        }
    }
}

fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_ne_bytes(word.try_into().ok()?))
}

/// Parses the section of types.
///
/// # Errors
///
/// If it ends within a type, or has a kind of type that this agent does not know.
fn types_within(bytes: &[u8], (mut at, end): (usize, usize)) -> Result<Vec<Type>, String> {
    let mut types = Vec::new();
    while at < end {
        let (Some(name), Some(info), Some(of)) =
            (read_u32(bytes, at), read_u32(bytes, at + 4), read_u32(bytes, at + 8))
        else {
            return Err("BTF ends within a type".to_owned());
        };
        let kind = (info >> 24 & 0x1f) as u8;
        if kind > kind::LAST {
            return Err(format!("BTF has types of kind {kind}, which this agent does not know"));
        }
        let count = (info & 0xffff) as usize;
        at += 12;
        types.push(Type { name, kind, count, of, at });
        at += length_of(kind, count);
    }
    match at == end {
        true => Ok(types),
        false => Err("BTF ends within a type".to_owned()),
    }
}

/// Returns the number of bytes behind what every type begins with.
const fn length_of(kind: u8, count: usize) -> usize {
    match kind {
        kind::INT | kind::VARIABLE | kind::DECLARATION_TAG => 4,
        kind::ARRAY => 12,
        kind::STRUCT | kind::UNION | kind::SECTION | kind::ENUM64 => 12 * count,
        kind::ENUM | kind::PROTOTYPE => 8 * count,
        _ => 0,
    }
}

#[cfg(test)]
pub(crate) mod synthetic;
#[cfg(test)]
mod tests;
