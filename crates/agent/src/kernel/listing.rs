//! The names that a kernel has, by the sorts of [`crate::kernel::assumptions`], and the missing
//! ones.

use super::assumptions::{ASSUMED, Assumption, OPERATIONS, Part, Sort};
use super::btf::Btf;
use std::collections::{BTreeMap, BTreeSet};

/// Names of a kernel, with those of its loaded modules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    functions: BTreeSet<String>,
    /// Members of the structures that the agent makes assumptions about.
    members: BTreeMap<&'static str, BTreeSet<String>>,
    /// `BPF_…` alone.
    numbers: BTreeSet<String>,
    /// Arguments of the operation `cong_control`.
    arguments: Option<usize>,
}

impl Listing {
    /// Returns the names in these types.
    pub fn of(types: &Btf) -> Self {
        let owned = |name: &str| name.to_owned();
        let structures = ASSUMED.iter().filter_map(|assumption| match assumption.of {
            Sort::Member(of) => Some(of),
            _ => None,
        });
        let members = structures.chain([OPERATIONS]).collect::<BTreeSet<_>>().into_iter();
        let members =
            members.map(|of| (of, types.members(of).into_iter().map(owned).collect())).collect();
        Self {
            functions: types.functions().map(owned).collect(),
            members,
            numbers: types
                .enumerators()
                .filter(|name| name.starts_with("BPF_"))
                .map(owned)
                .collect(),
            arguments: types.arguments(OPERATIONS, "cong_control"),
        }
    }

    /// Adds the names of a module.
    pub fn add(&mut self, module: Self) {
        self.functions.extend(module.functions);
        for (of, names) in module.members {
            self.members.entry(of).or_default().extend(names);
        }
    }

    /// Returns true if there is a function of that name.
    pub fn has_function(&self, name: &str) -> bool {
        self.functions.contains(name)
    }

    /// Returns true if the structure has that member.
    pub fn has_member(&self, of: &str, name: &str) -> bool {
        self.members.get(of).is_some_and(|names| names.contains(name))
    }

    /// Returns true if congestion controls have that operation.
    pub fn has_operation(&self, name: &str) -> bool {
        self.has_member(OPERATIONS, name)
    }

    /// Returns true if there is a number of that name.
    pub fn has_number(&self, name: &str) -> bool {
        self.numbers.contains(name)
    }

    /// Returns the number of arguments of `cong_control`; `None` if the types do not show it.
    pub const fn cong_control_arguments(&self) -> Option<usize> {
        self.arguments
    }

    /// Returns true if the types have the name. Helpers and kinds of maps are numbers with a
    /// prefix.
    fn has_name(&self, of: Sort, name: &str) -> bool {
        match of {
            Sort::Function => self.has_function(name),
            Sort::Member(structure) => self.has_member(structure, name),
            Sort::Operation => self.has_operation(name),
            Sort::Helper => self.has_number(&format!("BPF_FUNC_{name}")),
            Sort::Map => self.has_number(&format!("BPF_MAP_TYPE_{name}")),
        }
    }

    /// Needs of a part that the kernel lacks, as messages.
    pub fn missing_needs(&self, part: Part) -> Vec<String> {
        let of_part = ASSUMED.iter().filter(|assumption| assumption.part == part);
        of_part.flat_map(|assumption| self.missing_of(assumption)).collect()
    }

    fn missing_of(&self, assumption: &Assumption) -> Vec<String> {
        let is_here = |names: &str| names.split('|').any(|name| self.has_name(assumption.of, name));
        let missing = assumption.names.iter().filter(|names| !is_here(names));
        missing.map(|names| assumption.described_by(names)).collect()
    }
}

#[cfg(test)]
impl Listing {
    /// Returns all that is assumed, and nothing else.
    pub(crate) fn complete() -> Self {
        let mut all = Self { arguments: Some(4), ..Self::default() };
        for assumption in ASSUMED {
            for name in assumption.names.iter().flat_map(|names| names.split('|')) {
                all.insert(assumption.of, name);
            }
        }
        all
    }

    pub(crate) fn insert(&mut self, of: Sort, name: &str) {
        _ = match of {
            Sort::Function => self.functions.insert(name.to_owned()),
            Sort::Member(of) => self.members.entry(of).or_default().insert(name.to_owned()),
            Sort::Operation => self.members.entry(OPERATIONS).or_default().insert(name.to_owned()),
            Sort::Helper => self.numbers.insert(format!("BPF_FUNC_{name}")),
            Sort::Map => self.numbers.insert(format!("BPF_MAP_TYPE_{name}")),
        };
    }

    /// The same under another name.
    pub(crate) fn rename_function(&mut self, from: &str, to: &str) {
        assert!(self.functions.remove(from), "{from}");
        self.functions.insert(to.to_owned());
    }

    pub(crate) fn remove_member(&mut self, of: &str, name: &str) {
        assert!(self.members.get_mut(of).is_some_and(|names| names.remove(name)), "{of}.{name}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_assumed_is_all_that_is_needed() {
        let all = Listing::complete();
        for part in [Part::Windows, Part::Wrap, Part::Cubic, Part::Bbr, Part::Session] {
            assert_eq!(all.missing_needs(part), [""; 0], "{part}");
            assert!(!Listing::default().missing_needs(part).is_empty(), "{part}");
        }
    }

    /// The next renaming: it is named, and takes along what calls that function, alone.
    #[test]
    fn what_is_renamed_is_named() {
        let mut renamed = Listing::complete();
        renamed.rename_function("cubictcp_acked", "cubictcp_pkts_acked");
        assert_eq!(renamed.missing_needs(Part::Cubic), ["function cubictcp_acked"]);
        renamed.remove_member("tcp_sock", "srtt_us");
        assert_eq!(renamed.missing_needs(Part::Windows), ["field tcp_sock.srtt_us"]);
        for other in [Part::Wrap, Part::Bbr, Part::Session] {
            assert!(renamed.missing_needs(other).is_empty(), "{other}");
        }
    }

    /// Linux 7.1 renamed `cubictcp_cwnd_event`: either name does, neither does not.
    #[test]
    fn one_of_several_names_is_enough() {
        let mut either = Listing::complete();
        either.functions.remove("cubictcp_cwnd_event");
        assert!(either.missing_needs(Part::Cubic).is_empty());
        either.functions.remove("cubictcp_cwnd_event_tx_start");
        let missing = "function cubictcp_cwnd_event or cubictcp_cwnd_event_tx_start";
        assert_eq!(either.missing_needs(Part::Cubic), [missing]);
    }
}
