use super::synthetic::{INT, SyntheticTypes};
use super::*;
use proptest::prelude::*;

fn sample() -> SyntheticTypes {
    let mut types = SyntheticTypes::default();
    let operation = types.pointer_to_function(4);
    // struct inner { int in_inner; }; struct { struct inner; int plain; } with the inner one
    // nameless.
    let inner = types.structure("", &[("in_inner", INT)]);
    types.structure("outer", &[("", inner), ("plain", INT), ("run", operation)]);
    types.add_enum(&["BPF_ONE", "BPF_TWO"]);
    types.add_function("do_this");
    types
}

#[test]
fn names_are_found_by_their_sort() {
    let types = Btf::of_kernel(sample().bytes()).unwrap();
    assert_eq!(types.functions().collect::<Vec<_>>(), ["do_this"]);
    assert_eq!(types.enumerators().collect::<Vec<_>>(), ["BPF_ONE", "BPF_TWO"]);
    let members: Vec<_> = types.members("outer").into_iter().collect();
    assert_eq!(members, ["in_inner", "plain", "run"]);
    assert!(types.members("nowhere").is_empty());
    assert_eq!(types.arguments("outer", "run"), Some(4));
    assert_eq!(types.arguments("outer", "plain"), None);
    assert_eq!(types.arguments("nowhere", "run"), None);
}

/// A module's type numbers and string offsets continue those of its kernel: `int` is 1 in both, and
/// the module's first string follows the kernel's last.
#[test]
fn a_module_names_what_its_kernel_has() {
    let kernel = sample();
    let kernel = Arc::new(Btf::of_kernel(kernel.bytes()).unwrap());
    let behind = (kernel.strings.1 - kernel.strings.0) as u32;
    let plain = {
        let strings = &kernel.bytes[kernel.strings.0..kernel.strings.1];
        strings.windows(7).position(|name| name == b"\0plain\0").unwrap() as u32 + 1
    };
    // struct own { int plain; }, of which "plain" and int are the kernel's.
    let strings = b"\0own\0";
    let words = [behind + 1, u32::from(kind::STRUCT) << 24 | 1, 4, plain, INT, 0];
    let types = words.map(u32::to_ne_bytes).concat();
    let header = [24, 0, 24, 24, strings.len() as u32].map(u32::to_ne_bytes).concat();
    let bytes = [MAGIC.to_ne_bytes().as_slice(), &[1, 0], &header, &types, strings].concat();
    let module = Btf::of_module(bytes, kernel).unwrap();
    assert_eq!(module.members("own").into_iter().collect::<Vec<_>>(), ["plain"]);
    assert!(module.members("outer").is_empty());
}

#[test]
fn what_is_no_btf_is_refused() {
    assert!(Btf::of_kernel(Vec::new()).is_err());
    assert!(Btf::of_kernel(b"\x7fELF and more that is long enough".to_vec()).is_err());
    let whole = sample().bytes();
    assert!(Btf::of_kernel(whole[..whole.len() - 1].to_vec()).is_err());
    let mut unknown = whole;
    // The kind of the first type, the highest byte of its second word.
    unknown[HEADER + 7] = 31;
    let why = Btf::of_kernel(unknown).err().unwrap();
    assert_eq!(why, "BTF has types of kind 31, which this agent does not know");
}

/// A structure that is its own nameless part: later members are found, and the search ends, without
/// a deep recursion.
#[test]
fn a_part_that_is_the_whole_is_left() {
    let mut types = SyntheticTypes::default();
    let own = INT + 1;
    assert_eq!(types.structure("outer", &[("", own), ("plain", INT)]), own);
    let types = Btf::of_kernel(types.bytes()).unwrap();
    assert_eq!(types.members("outer").into_iter().collect::<Vec<_>>(), ["plain"]);
}

proptest! {
    /// Bytes with random changes are read or refused, and questions to the result end.
    #[test]
    fn bytes_that_are_changed_do_no_harm(changes in proptest::collection::vec((any::<u16>(), any::<u8>()), 1..8)) {
        let mut bytes = sample().bytes();
        for (at, byte) in changes {
            let at = usize::from(at) % bytes.len();
            bytes[at] = byte;
        }
        if let Ok(types) = Btf::of_kernel(bytes) {
            let asked = types.functions().count() + types.enumerators().count();
            let members = types.members("outer").len();
            prop_assert!(asked <= 1 << 20 && members <= 1 << 20);
            types.arguments("outer", "run");
        }
    }
}
