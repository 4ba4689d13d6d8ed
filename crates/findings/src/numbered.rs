//! Values by the number of their connection. Numbers are consecutive, and every packet looks one
//! up.

/// The golden ratio of 64 bits: multiples of consecutive numbers are far apart (Knuth 6.4).
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
/// The number of a free slot; no connection has it.
const FREE: u64 = u64::MAX;
/// Initial number of slots.
const FIRST: usize = 8;

/// A slot: a number, and its value.
#[derive(Debug)]
#[repr(C)]
struct NumberedSlot<V> {
    number: u64,
    value: V,
}

/// Values by number: a table with linear probing, at most three quarters full.
#[derive(Debug)]
pub(crate) struct Numbered<V> {
    /// The slots: a power of two, or none.
    places: Vec<NumberedSlot<V>>,
    /// Shift that reduces a product to the index of a slot.
    shift: u32,
    len: usize,
}

impl<V: Default> NumberedSlot<V> {
    fn free() -> Self {
        Self { number: FREE, value: V::default() }
    }
}

impl<V> Default for Numbered<V> {
    fn default() -> Self {
        Self { places: Vec::new(), shift: 63, len: 0 }
    }
}

impl<V: Default> Numbered<V> {
    /// Returns the preferred slot of a number.
    #[inline]
    const fn preferred_slot(&self, number: u64) -> usize {
        (number.wrapping_mul(GOLDEN) >> self.shift) as usize
    }

    #[inline]
    const fn next(&self, place: usize) -> usize {
        (place + 1) & (self.places.len() - 1)
    }

    /// Returns the slot of a number.
    #[inline(always)]
    fn place_of(&self, number: u64) -> Option<usize> {
        let home = self.preferred_slot(number);
        if self.places.get(home)?.number == number {
            Some(home)
        } else {
            self.find_slot(home, number)
        }
    }

    /// Returns the slot of `number`, searched from `place` on; `None` if there is none.
    #[inline(never)]
    fn find_slot(&self, mut place: usize, number: u64) -> Option<usize> {
        while self.places[place].number != number {
            if self.places[place].number == FREE {
                return None;
            }
            place = self.next(place);
        }
        Some(place)
    }

    /// Returns the value of a number.
    #[inline(always)]
    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut V> {
        let place = self.place_of(number)?;
        self.places.get_mut(place).map(|place| &mut place.value)
    }

    /// Returns the value of a number, read-only.
    pub(crate) fn get(&self, number: u64) -> Option<&V> {
        self.place_of(number).map(|place| &self.places[place].value)
    }

    /// Sets the value of a number, and replaces an older one.
    pub(crate) fn insert(&mut self, number: u64, value: V) {
        if let Some(known) = self.get_mut(number) {
            *known = value;
            return;
        }
        if self.len * 4 >= self.places.len() * 3 {
            self.grow();
        }
        self.len += 1;
        self.insert_absent(number, value);
    }

    fn insert_absent(&mut self, number: u64, value: V) {
        let mut place = self.preferred_slot(number);
        while self.places[place].number != FREE {
            place = self.next(place);
        }
        self.places[place] = NumberedSlot { number, value };
    }

    /// Doubles the number of slots.
    fn grow(&mut self) {
        let most = (2 * self.places.len()).max(FIRST);
        let fresh = std::iter::repeat_with(NumberedSlot::free).take(most).collect();
        self.shift = 64 - most.ilog2();
        for NumberedSlot { number, value } in std::mem::replace(&mut self.places, fresh) {
            if number != FREE {
                self.insert_absent(number, value);
            }
        }
    }

    /// Removes a value.
    pub(crate) fn remove(&mut self, number: u64) -> Option<V> {
        let mut free = self.place_of(number)?;
        let NumberedSlot { value, .. } =
            std::mem::replace(&mut self.places[free], NumberedSlot::free());
        self.len -= 1;
        // Entries that a search would not find across the free slot are moved there (Knuth 6.4,
        // algorithm R).
        let mut place = self.next(free);
        while self.places[place].number != FREE {
            let home = self.preferred_slot(self.places[place].number);
            let mask = self.places.len() - 1;
            if place.wrapping_sub(home) & mask >= place.wrapping_sub(free) & mask {
                self.places.swap(free, place);
                free = place;
            }
            place = self.next(place);
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// For any sequence of insertions and removals, with colliding numbers, a map of the
        /// standard library has the same contents.
        #[test]
        fn it_holds_what_a_map_holds(
            steps in proptest::collection::vec((any::<bool>(), 0_u64..40, 0_u64..3), 1..400),
        ) {
            let (mut table, mut map) = (Numbered::default(), BTreeMap::new());
            for (step, (keeps, low, high)) in steps.into_iter().enumerate() {
                // Above 2^40 the product's upper bits differ, so preferred slots of these numbers
                // are mixed among those of small ones.
                let number = low | high << 40;
                if keeps {
                    table.insert(number, step);
                    map.insert(number, step);
                } else {
                    prop_assert_eq!(table.remove(number), map.remove(&number));
                }
                prop_assert_eq!(table.len, map.len());
                for low in 0..40 {
                    for number in (0..3).map(|high| low | high << 40) {
                        prop_assert_eq!(table.get(number), map.get(&number));
                        prop_assert_eq!(table.get_mut(number), map.get_mut(&number));
                    }
                }
            }
        }
    }

    /// 7,500 connections follow each other, and each thousandth stays: the table is as large as the
    /// simultaneous ones need.
    #[test]
    fn numbers_that_are_gone_take_no_room() {
        let mut table = Numbered::default();
        for number in 0..7_500 {
            table.insert(number, ());
            if number % 1_000 != 0 {
                table.remove(number);
            }
        }
        // Eight stay, and one is added and removed: more than six eighths, less than twelve
        // sixteenths.
        assert_eq!((table.len, table.places.len()), (8, 16));
    }
}
