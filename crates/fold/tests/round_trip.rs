//! What was folded unfolds to itself.

use fold::{Foldable, Folding};
use proptest::prelude::*;
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Light {
    #[default]
    Red,
    Green,
}
fold::choices!(Light { Red, Green });

#[derive(Clone, Debug, Default, PartialEq)]
struct Crossing {
    name: &'static str,
    light: Light,
    cars: VecDeque<(u32, bool)>,
    last: Option<Box<[u64; 2]>>,
    lanes: Vec<u16>,
}
fold::state!(Crossing { light, cars, last, lanes; name });

fn folded(value: &mut impl Foldable) -> Vec<u8> {
    let mut bytes = Vec::new();
    Folding::write(&mut bytes).each(value);
    bytes
}

/// Numbers of every length, and those at both ends.
fn any_number() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0_u32..64, any::<bool>()).prop_map(|(number, shift, not)| {
        let small = number >> shift;
        if not { !small } else { small }
    })
}

/// A time of these days, or one that is next to an end or the middle of all.
fn any_time() -> impl Strategy<Value = u64> {
    let edge = prop::sample::select(vec![0, 1 << 62, 1 << 63, u64::MAX]);
    let near = (edge, 0_u64..4).prop_map(|(edge, near)| edge.wrapping_add(near).wrapping_sub(2));
    prop_oneof![0..1_u64 << 62, near]
}

proptest! {
    #[test]
    fn words_numbers_and_times(numbers in prop::collection::vec(any_number(), 0..40)) {
        let mut bytes = Vec::new();
        let mut writing = Folding::write(&mut bytes);
        for &number in &numbers {
            let (mut word, mut near) = (number, number);
            writing.word(&mut word);
            writing.near(&mut near, 1 << 40);
            writing.number(&mut word);
            prop_assert_eq!((word, near), (number, number), "writing changes nothing");
        }
        drop(writing);
        let mut reading = Folding::read(&bytes);
        for &number in &numbers {
            let (mut word, mut near, mut small) = (0, 0, 0);
            reading.word(&mut word);
            reading.near(&mut near, 1 << 40);
            reading.number(&mut small);
            prop_assert_eq!((word, near, small), (number, number, number));
        }
    }

    /// Also such as are half of all time apart.
    #[test]
    fn times(times in prop::collection::vec(any_time(), 0..40)) {
        let mut bytes = Vec::new();
        let mut writing = Folding::write(&mut bytes);
        times.clone().iter_mut().for_each(|time| writing.time(time));
        drop(writing);
        let mut reading = Folding::read(&bytes);
        let mut read = vec![5; times.len()];
        read.iter_mut().for_each(|time| reading.time(time));
        prop_assert_eq!(read, times);
    }

    #[test]
    fn values(
        green in any::<bool>(),
        cars in prop::collection::vec_deque(any::<(u32, bool)>(), 0..20),
        last in any::<Option<[u64; 2]>>(),
        lanes in prop::collection::vec(any::<u16>(), 0..20),
    ) {
        let light = if green { Light::Green } else { Light::Red };
        let mut crossing = Crossing { name: "x", light, cars, last: last.map(Box::new), lanes };
        let before = crossing.clone();
        let bytes = folded(&mut crossing);
        prop_assert_eq!(&crossing, &before);
        let mut fresh = Crossing { name: "x", lanes: vec![1; 30], ..Crossing::default() };
        Folding::read(&bytes).each(&mut fresh);
        prop_assert_eq!(fresh, before);
    }
}

/// Sixty-four zeros take a bit each. "No limit" takes a byte beside its bit, as does a time that is the same as the one
/// before, or never; the first time, 2^32, is 2^33 + 2 with its sign and the two codes, 34 bits, and takes five.
#[test]
fn what_is_usual_takes_next_to_nothing() {
    const MASK: usize = 8;
    assert_eq!(folded(&mut [0_u64; 64]).len(), MASK);
    assert_eq!(folded(&mut [0_u64; 65]).len(), 2 * MASK);
    assert_eq!(folded(&mut { u64::MAX }).len(), MASK + 1);
    let mut bytes = Vec::new();
    let mut folding = Folding::write(&mut bytes);
    for mut time in [1 << 32, 1 << 32, u64::MAX, 0] {
        folding.time(&mut time);
    }
    drop(folding);
    assert_eq!(bytes.len(), MASK + 5 + 1 + 1);
}

/// What cannot be folded says so, and the one who asked knows.
#[test]
fn what_refuses_is_told() {
    struct Stubborn;
    impl Foldable for Stubborn {
        fn fold(&mut self, folding: &mut Folding<'_>) {
            folding.refuse();
        }
    }
    let mut bytes = Vec::new();
    let mut folding = Folding::write(&mut bytes);
    assert!(!folding.each(&mut 1_u64).is_refused());
    assert!(folding.each(&mut Stubborn).each(&mut 2_u64).is_refused());
}
