//! Parameters that a file's name gives: the clock's tick, and whether queues mark by RED.

use units::Duration;

/// The tick of most measurements.
const USUAL_TICK: Duration = Duration::from_millis(100);

/// Returns the tick that the name gives, as in `…-tick500ms.csv`; 100 ms if it gives none.
///
/// # Errors
/// If it gives one that cannot be read: a row would be compared with the wrong simulation.
pub(super) fn tick_of(file: &str) -> Result<Duration, String> {
    Ok(named_tick(file)?.unwrap_or(USUAL_TICK))
}

/// Returns the same; `None` if the name gives none.
///
/// # Errors
/// Fails like [`tick_of`].
pub(super) fn named_tick(file: &str) -> Result<Option<Duration>, String> {
    let name = file_stem(file);
    let mut words = name.split(['-', '_']);
    let word =
        words.find_map(|word| word.strip_prefix("tick").filter(|rest| starts_with_digit(rest)));
    let Some(word) = word else { return Ok(None) };
    // The part after a dot may be another extension.
    let shorter = word.rsplit_once('.').map_or(word, |(before, _)| before);
    let read = |text: &str| {
        // A number alone is of seconds, as ns-2 writes them.
        text.parse().or_else(|_| format!("{text}s").parse()).ok()
    };
    let tick: Option<Duration> = read(word).or_else(|| read(shorter));
    match tick.filter(|tick| !tick.is_zero()) {
        Some(tick) => Ok(Some(tick)),
        None => Err(format!("the file's name has tick{word}, which is no time like tick500ms")),
    }
}

/// Returns true if a word of the name is `red`. Before or behind that may be a number, an
/// abbreviation without vowels, or a name of ns-2's: `fs7red`, `fsred`, `RED2`, `ecnred`. English
/// words that end so have a vowel before `red`: `shared`, `measured`.
pub(super) fn is_red(file: &str) -> bool {
    let name = file_stem(file);
    let mut words = name.split(['-', '.', '_']);
    words.any(|word| {
        let word = word.trim_matches(|c: char| c.is_ascii_digit());
        let before = word.strip_suffix("red");
        let behind = word.strip_prefix("red");
        before.is_some_and(|before| {
            before == "ecn"
                || is_abbreviation(before)
                || before.ends_with(|c: char| c.is_ascii_digit())
        }) || behind.is_some_and(|behind| {
            ["ecn", "mark", "marks", "queue"].contains(&behind) || starts_with_digit(behind)
        })
    })
}

/// Returns true for a word without a vowel, as `fs` and `drr`, or empty; `b` and `sh` make English
/// words with `red`.
fn is_abbreviation(text: &str) -> bool {
    let consonants = text.chars().all(|c| c.is_ascii_lowercase() && !"aeiouy".contains(c));
    consonants && !["b", "sh"].contains(&text)
}

/// Returns the name without folders and the last extension, in lower case.
fn file_stem(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file).to_ascii_lowercase();
    name.strip_suffix(".csv").map_or_else(|| name.clone(), str::to_owned)
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_is_read_wherever_it_stands_in_the_name() {
        let ms = |file: &str| tick_of(file).ok().map(|tick| tick.as_nanos() / 1_000_000);
        for file in [
            "ns2-bs1-tick500ms.csv",
            "ns2-fs4_tick500ms.csv",
            "tick0.5s.csv",
            "a-tick500ms-v2.csv",
            "a-tick500ms.v2.csv",
            "a-TICK500ms-50ms.csv",
            "a-tick0.5.csv",
        ] {
            assert_eq!(ms(file), Some(500), "{file}");
        }
        for file in ["ns2-bs1.csv", "/tmp/my-tickets/stall.csv", "x-tickety.csv", "tick/stalls.csv"]
        {
            assert_eq!(ms(file), Some(100), "{file}");
        }
        for file in ["a-tick5x.csv", "a-tick0ms.csv"] {
            assert_eq!(ms(file), None, "{file}");
        }
    }

    #[test]
    fn red_is_told_from_words_that_end_so() {
        for file in [
            "ns2-fs7-changed-load-50ms-red.csv",
            "ns2-fs7red.csv",
            "ns2-fs7-RED.csv",
            "fs-red2-50ms.csv",
            "fs-ecnred.csv",
            "fs_red_50ms.csv",
            "fsred-changed-load-50ms.csv",
            "bsRED.csv",
        ] {
            assert!(is_red(file), "{file}");
        }
        for file in [
            "red/ns2-fs4.csv",
            "shared.csv",
            "a-measured-50ms.csv",
            "a-reduced.csv",
            "a-redo.csv",
            "a-required.csv",
            "a-nored.csv",
            "a-restored.csv",
            "a-shred.csv",
            "a-sacred.csv",
        ] {
            assert!(!is_red(file), "{file}");
        }
    }
}
