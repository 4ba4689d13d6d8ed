//! Types of kernels that there are not, byte by byte (the kernel's Documentation/bpf/btf.rst).

use super::{HEADER, MAGIC, kind};
use crate::kernel::assumptions::{ASSUMED, COUNTS_HANDSHAKES, LINKED, OPERATIONS, Sort};
use std::collections::BTreeMap;

/// Types under construction; `int` is the first.
pub(crate) struct SyntheticTypes {
    types: Vec<u8>,
    count: u32,
    strings: Vec<u8>,
}

impl Default for SyntheticTypes {
    fn default() -> Self {
        let mut types = Self { types: Vec::new(), count: 0, strings: vec![0] };
        types.add("int", kind::INT, 0, 4, &[32]);
        types
    }
}

/// The number of `int`.
pub(crate) const INT: u32 = 1;

impl SyntheticTypes {
    /// Adds a name that is to be found, and returns its offset; "" is at 0.
    pub(crate) fn add_string(&mut self, name: &str) -> u32 {
        if name.is_empty() {
            return 0;
        }
        let at = self.strings.len() as u32;
        self.strings.extend(name.bytes().chain([0]));
        at
    }

    /// Adds a type and returns its number. `of`: its size, or the type it refers to; `more`: the
    /// words after the three of each type.
    pub(crate) fn add(&mut self, name: &str, kind: u8, count: u32, of: u32, more: &[u32]) -> u32 {
        let name = self.add_string(name);
        let words = [name, u32::from(kind) << 24 | count, of];
        self.types.extend(words.iter().chain(more).flat_map(|word| word.to_ne_bytes()));
        self.count += 1;
        self.count
    }

    /// Members of given types, one word behind the other.
    pub(crate) fn structure(&mut self, name: &str, members: &[(&str, u32)]) -> u32 {
        let mut more = Vec::new();
        for (at, (member, of)) in members.iter().enumerate() {
            more.extend([self.add_string(member), *of, 32 * at as u32]);
        }
        self.add(name, kind::STRUCT, members.len() as u32, 4 * members.len() as u32, &more)
    }

    /// Adds a pointer to a function with this number of arguments.
    pub(crate) fn pointer_to_function(&mut self, arguments: u32) -> u32 {
        let more = [0, INT].repeat(arguments as usize);
        let prototype = self.add("", kind::PROTOTYPE, arguments, INT, &more);
        self.add("", kind::POINTER, 0, prototype, &[])
    }

    pub(crate) fn add_enum(&mut self, names: &[&str]) {
        let more: Vec<u32> = names.iter().flat_map(|name| [self.add_string(name), 7]).collect();
        self.add("", kind::ENUM, names.len() as u32, 4, &more);
    }

    pub(crate) fn add_function(&mut self, name: &str) {
        let prototype = self.add("", kind::PROTOTYPE, 0, INT, &[]);
        self.add(name, kind::FUNCTION, 1, prototype, &[]);
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let magic = [MAGIC.to_ne_bytes(), [1, 0]].concat();
        let (types, strings) = (self.types.len() as u32, self.strings.len() as u32);
        // The header's length; from where and how long types and strings are.
        let header = [HEADER as u32, 0, types, types, strings].map(u32::to_ne_bytes).concat();
        [magic, header, self.types.clone(), self.strings.clone()].concat()
    }
}

/// Returns all that is assumed of a kernel.
pub(crate) fn complete() -> Vec<u8> {
    kernel_without("")
}

/// Returns the same types without one name.
pub(crate) fn kernel_without(left_out: &str) -> Vec<u8> {
    let mut types = SyntheticTypes::default();
    let mut members: BTreeMap<&str, Vec<(String, u32)>> = BTreeMap::new();
    let cong_control = types.pointer_to_function(4);
    let (mut functions, mut numbers) = (vec![COUNTS_HANDSHAKES], vec![LINKED.to_owned()]);
    for assumption in ASSUMED {
        let names = assumption.names.iter().flat_map(|names| names.split('|'));
        for name in names.filter(|name| *name != left_out) {
            match assumption.of {
                Sort::Function => functions.push(name),
                Sort::Member(of) => members.entry(of).or_default().push((name.to_owned(), INT)),
                Sort::Operation => {
                    members.entry(OPERATIONS).or_default().push((name.to_owned(), cong_control));
                }
                Sort::Helper => numbers.push(format!("BPF_FUNC_{name}")),
                Sort::Map => numbers.push(format!("BPF_MAP_TYPE_{name}")),
            }
        }
    }
    for (of, members) in members {
        let members: Vec<_> = members.iter().map(|(name, of)| (name.as_str(), *of)).collect();
        types.structure(of, &members);
    }
    functions.into_iter().for_each(|name| types.add_function(name));
    types.add_enum(&numbers.iter().map(String::as_str).collect::<Vec<_>>());
    types.bytes()
}
