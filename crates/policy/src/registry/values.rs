//! Reads the values of parameters; every error has the valid values in its message.

use units::Duration;

/// A whole number of at least 1.
///
/// # Errors
/// Unless it is one.
pub fn positive(value: &str) -> Result<u32, String> {
    match value.parse() {
        Ok(0) => Err("must be at least 1".into()),
        Ok(n) => Ok(n),
        Err(_) => Err("is not a whole number".into()),
    }
}

/// A whole number.
///
/// # Errors
/// Unless it is one.
pub fn whole(value: &str) -> Result<u32, String> {
    value.parse().map_err(|_| "is not a whole number".to_owned())
}

/// A decimal fraction of at least `least` thousandths, at most 1, in thousandths.
///
/// # Errors
/// Unless it is one within these bounds.
pub fn per_mille(value: &str, least: u32) -> Result<u32, String> {
    let from = if least == 0 { "from 0" } else { "above 0 and" };
    let wrong = || format!("must lie {from} up to 1, with at most three decimals");
    let (whole, decimals) = value.split_once('.').unwrap_or((value, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.len() + decimals.len() == 0
        || whole.len() > 1
        || decimals.len() > 3
        || !digits(whole)
        || !digits(decimals)
    {
        return Err(wrong());
    }
    let number: u32 = format!("0{whole}{decimals:0<3}").parse().map_err(|_| wrong())?;
    if (least..=1000).contains(&number) { Ok(number) } else { Err(wrong()) }
}

/// A duration with its unit.
///
/// # Errors
/// Without a unit, or unless it is a duration.
pub fn duration(value: &str) -> Result<Duration, String> {
    value.parse().map_err(|e: units::ParseUnitError| e.to_string())
}

/// A duration within bounds.
///
/// # Errors
/// Outside of them, or unless it is a duration.
pub fn between(value: &str, least: Duration, most: Duration) -> Result<Duration, String> {
    let duration = duration(value)?;
    match (least..=most).contains(&duration) {
        true => Ok(duration),
        false => Err(format!("must lie between {least} and {most}")),
    }
}

/// A switch.
///
/// # Errors
/// Unless it is `on` or `off`.
pub fn on_off(value: &str) -> Result<bool, String> {
    choose(value, &[("on", true), ("off", false)])
}

/// Returns the value of one of the names.
///
/// # Errors
/// Unless it is one of them.
pub fn choose<T: Copy>(value: &str, choices: &[(&str, T)]) -> Result<T, String> {
    let found = choices.iter().find(|(name, _)| *name == value);
    found.map(|(_, choice)| *choice).ok_or_else(|| "is not one of its values".into())
}

/// A number of segments, or none that is given.
///
/// # Errors
/// Unless the value is valid for [`positive`].
pub fn some_segments(value: &str) -> Result<Option<u32>, String> {
    positive(value).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fraction_has_a_digit() {
        assert_eq!(
            [".5", "0.5", "1", "1."].map(|text| per_mille(text, 0).unwrap()),
            [500, 500, 1000, 1000]
        );
        assert!(["", ".", "-", "1.001", "0.0001"].iter().all(|text| per_mille(text, 0).is_err()));
    }
}
