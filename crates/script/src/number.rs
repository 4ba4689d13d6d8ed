//! The numbers of code blocks: exact fractions, so that whole numbers and decimals compare as
//! Python compares them.

use std::cmp::Ordering;

/// A fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExactFraction {
    numerator: i128,
    /// At least 1.
    denominator: i128,
}

impl ExactFraction {
    /// Zero, which is false.
    pub const ZERO: Self = Self { numerator: 0, denominator: 1 };

    /// `numerator / denominator`; `None` if that is no number, or too long a one.
    pub fn new(numerator: i128, denominator: i128) -> Option<Self> {
        let divisor = divisor(numerator, denominator)?;
        let sign = denominator.signum();
        let numerator = (numerator / divisor).checked_mul(sign)?;
        Some(Self { numerator, denominator: denominator.checked_abs()? / divisor })
    }

    /// The number, if it is whole.
    pub const fn whole(self) -> Option<i128> {
        if self.denominator == 1 { Some(self.numerator) } else { None }
    }

    pub(crate) fn add(self, other: Self) -> Option<Self> {
        let left = self.numerator.checked_mul(other.denominator)?;
        let right = other.numerator.checked_mul(self.denominator)?;
        Self::new(left.checked_add(right)?, self.denominator.checked_mul(other.denominator)?)
    }

    pub(crate) fn subtract(self, other: Self) -> Option<Self> {
        self.add(Self { numerator: other.numerator.checked_neg()?, ..other })
    }

    pub(crate) fn multiply(self, other: Self) -> Option<Self> {
        let numerator = self.numerator.checked_mul(other.numerator)?;
        Self::new(numerator, self.denominator.checked_mul(other.denominator)?)
    }

    /// Python's `/`; `None` by zero.
    pub(crate) fn divide(self, other: Self) -> Option<Self> {
        self.multiply(Self::new(other.denominator, other.numerator)?)
    }

    /// Python's `//`: rounded down.
    pub(crate) fn divide_down(self, other: Self) -> Option<Self> {
        let exact = self.divide(other)?;
        Self::new(exact.numerator.div_euclid(exact.denominator), 1)
    }

    /// `None` if the numbers are too long to be compared.
    pub(crate) fn compare(self, other: Self) -> Option<Ordering> {
        Some(self.subtract(other)?.numerator.cmp(&0))
    }
}

impl From<bool> for ExactFraction {
    fn from(holds: bool) -> Self {
        Self { numerator: i128::from(holds), denominator: 1 }
    }
}

impl From<u64> for ExactFraction {
    fn from(number: u64) -> Self {
        Self { numerator: i128::from(number), denominator: 1 }
    }
}

/// The greatest common divisor, at least 1; `None` if the second one is zero.
fn divisor(numerator: i128, denominator: i128) -> Option<i128> {
    let (mut a, mut b) = (numerator.checked_abs()?, denominator.checked_abs()?);
    if b == 0 {
        return None;
    }
    while b != 0 {
        (a, b) = (b, a % b);
    }
    Some(a)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fraction(numerator: i128, denominator: i128) -> ExactFraction {
        ExactFraction::new(numerator, denominator).unwrap()
    }

    /// 7 / 2 is 3.5 and 7 // 2 is 3; -7 // 2 rounds down to -4.
    #[test]
    fn division_is_python_s() {
        let (seven, two) = (fraction(7, 1), fraction(2, 1));
        assert_eq!(seven.divide(two), Some(fraction(35, 10)));
        assert_eq!(seven.divide_down(two), Some(fraction(3, 1)));
        assert_eq!(fraction(-7, 1).divide_down(two), Some(fraction(-4, 1)));
        assert_eq!(seven.divide(ExactFraction::ZERO), None);
        assert_eq!(seven.divide_down(ExactFraction::ZERO), None);
    }

    #[test]
    fn what_is_too_long_has_no_value() {
        let most = fraction(i128::MAX, 1);
        assert_eq!(most.add(fraction(1, 1)), None);
        assert_eq!(most.multiply(most), None);
        assert_eq!(ExactFraction::new(i128::MIN, 1), None);
    }
}
