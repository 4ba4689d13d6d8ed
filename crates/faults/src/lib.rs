//! Why a file that people write (TOML) was refused: file, line, what is wrong, what was probably meant. Plans of
//! experiments and the agent's configuration say it by this. No I/O: who has read the file names it.

use std::fmt;
use std::ops::Range;

/// One error of a file, as `file:line: what; way out`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    file: String,
    line: usize,
    why: String,
}

impl FileError {
    /// Line of the file, from 1.
    pub const fn line(&self) -> usize {
        self.line
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.why)
    }
}

impl std::error::Error for FileError {}

/// What is wrong with which part of the text.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Bytes of the text.
    pub span: Range<usize>,
    /// What is wrong, and the way out.
    pub why: String,
}

impl Fault {
    /// `why`, of the part `span`.
    pub fn new(span: Range<usize>, why: impl fmt::Display) -> Self {
        Self { span, why: why.to_string() }
    }

    /// The fault as an error of `file`, whose text is `text`.
    pub fn of_file(self, file: &str, text: &str) -> FileError {
        let start = self.span.start.min(text.len());
        let before = &text.as_bytes()[..start];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        // One error is one line, whatever the file's own text holds.
        let why = self.why.replace(['\n', '\r'], " ");
        FileError { file: file.to_owned(), line, why }
    }
}

impl From<toml::de::Error> for Fault {
    fn from(error: toml::de::Error) -> Self {
        Self::new(error.span().unwrap_or(0..0), explained(error.message()))
    }
}

/// The reader's message in plain terms, with what was probably meant.
fn explained(message: &str) -> String {
    let message = message.trim_end();
    let words: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let (found, known) = match words.split_first() {
        Some((found, known)) => (*found, known),
        None => return in_plain_terms(message),
    };
    let listed = known.join(", ");
    if message.starts_with("unknown field") {
        return format!("unknown key {found:?}{}; known here: {listed}", meant(found, known));
    }
    if message.starts_with("unknown variant") && found.is_empty() {
        return format!("kind is missing; it is one of {listed}");
    }
    if message.starts_with("unknown variant") {
        return format!("{found:?} is not known here{}; use one of {listed}", meant(found, known));
    }
    if message.starts_with("missing field") {
        return format!("{found} is missing");
    }
    in_plain_terms(message)
}

fn in_plain_terms(message: &str) -> String {
    TYPES.iter().fold(message.to_owned(), |message, (from, to)| message.replace(from, to))
}

/// The reader's names of types in plain terms.
const TYPES: [(&str, &str); 5] = [
    ("expected u32", "expected a whole number, 0 or more"),
    ("expected u64", "expected a whole number, 0 or more"),
    ("expected f64", "expected a number"),
    ("expected a sequence", "expected a list, in [ ]"),
    ("invalid type: map, expected a list, in [ ]", "expected tables in a list, each under [[ ]]"),
];

/// ` (did you mean "x"?)` if one of `known` is near enough to `found`.
pub fn meant<S: AsRef<str>>(found: &str, known: &[S]) -> String {
    let near = known
        .iter()
        .map(|word| (strsim::damerau_levenshtein(found, word.as_ref()), word.as_ref()))
        .filter(|(distance, word)| *distance <= 2.max(word.len() / 3))
        .min();
    near.map_or(String::new(), |(_, word)| format!(" (did you mean {word:?}?)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_way_out() {
        let unknown = explained("unknown field `ratte`, expected one of `rate`, `delay`, `queue`");
        assert_eq!(
            unknown,
            "unknown key \"ratte\" (did you mean \"rate\"?); known here: rate, delay, queue"
        );
        let missing = explained("unknown variant ``, expected `bulk` or `cbr`");
        assert_eq!(missing, "kind is missing; it is one of bulk, cbr");
        assert_eq!(explained("invalid type: boolean"), "invalid type: boolean");
        let whole = explained("invalid value: integer `-1`, expected u32");
        assert_eq!(whole, "invalid value: integer `-1`, expected a whole number, 0 or more");
        let table = explained("invalid type: map, expected a sequence");
        assert_eq!(table, "expected tables in a list, each under [[ ]]");
    }

    #[test]
    fn nothing_far_off_is_suggested() {
        assert_eq!(meant("bottleneck", &["rate", "delay"]), "");
    }

    #[test]
    fn lines_count_from_one_and_errors_are_one_line() {
        let fault = Fault::new(4..5, "two\nlines");
        assert_eq!(fault.of_file("p.toml", "a\nb\nc").to_string(), "p.toml:3: two lines");
    }
}
