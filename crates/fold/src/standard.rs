//! Numbers, options, boxes, tuples, arrays and lists.

use crate::{Foldable, Folding};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

macro_rules! small {
    ($($type:ty),+) => {
        $(impl Foldable for $type {
            #[inline]
            fn fold(&mut self, folding: &mut Folding<'_>) {
                let mut word = u64::from(*self);
                folding.word(&mut word);
                // It was one.
                *self = word as Self;
            }
        })+
    };
}

small!(u8, u16, u32);

impl Foldable for u64 {
    #[inline]
    fn fold(&mut self, folding: &mut Folding<'_>) {
        folding.number(self);
    }
}

impl Foldable for usize {
    #[inline]
    fn fold(&mut self, folding: &mut Folding<'_>) {
        let mut word = *self as u64;
        folding.number(&mut word);
        *self = word as Self;
    }
}

impl Foldable for bool {
    #[inline]
    fn fold(&mut self, folding: &mut Folding<'_>) {
        let mut word = u64::from(*self);
        folding.word(&mut word);
        *self = word == 1;
    }
}

impl<T: Foldable + Default> Foldable for Option<T> {
    fn fold(&mut self, folding: &mut Folding<'_>) {
        folding.option(self, T::default);
    }
}

impl<T: Foldable + ?Sized> Foldable for Box<T> {
    fn fold(&mut self, folding: &mut Folding<'_>) {
        (**self).fold(folding);
    }
}

impl<A: Foldable, B: Foldable> Foldable for (A, B) {
    fn fold(&mut self, folding: &mut Folding<'_>) {
        folding.each(&mut self.0).each(&mut self.1);
    }
}

impl<T: Foldable, const N: usize> Foldable for [T; N] {
    fn fold(&mut self, folding: &mut Folding<'_>) {
        for item in self {
            item.fold(folding);
        }
    }
}

macro_rules! lists {
    ($($list:ident),+) => {
        $(impl<T: Foldable + Default> Foldable for $list<T> {
            fn fold(&mut self, folding: &mut Folding<'_>) {
                let mut len = self.len();
                len.fold(folding);
                self.resize_with(len, T::default);
                for item in self {
                    item.fold(folding);
                }
            }
        })+
    };
}

lists!(Vec, VecDeque);
