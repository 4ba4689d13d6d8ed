//! Errors in files that people write (TOML): file, line, what is wrong, what was probably meant.
//! Plans of experiments and the agent's configuration use them. No I/O: the reader of the file
//! names it.

use std::fmt;
use std::ops::Range;

/// One error of a file, as `file:line: what; way out`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    file: String,
    line: usize,
    key: Option<String>,
    text: String,
}

impl FileError {
    /// Returns the name of the file.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the whole error, as it is displayed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the key of the line, if the fault lies in that line alone and the line sets a key.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Returns the line of the file, from 1.
    pub const fn line(&self) -> usize {
        self.line
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for FileError {}

/// A fault in a part of the text.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Bytes of the text.
    pub span: Range<usize>,
    /// Message: what is wrong, and the way out.
    pub why: String,
}

impl Fault {
    /// Creates the fault `why` of the part `span`.
    pub fn new(span: Range<usize>, why: impl fmt::Display) -> Self {
        Self { span, why: why.to_string() }
    }

    /// Returns the fault as an error of `file`, whose text is `text`.
    pub fn of_file(self, file: &str, text: &str) -> FileError {
        let start = self.span.start.min(text.len());
        let before = &text.as_bytes()[..start];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        // One error is one line, whatever the file's own text holds.
        let why = self.why.replace(['\n', '\r'], " ");
        // A fault without a span, or of a whole table, concerns no single key.
        let is_in_line =
            text.get(self.span).is_some_and(|part| !part.is_empty() && !part.contains('\n'));
        let key = text.lines().nth(line - 1).filter(|_| is_in_line).and_then(key_of);
        let key = key.map(str::to_owned);
        FileError { file: file.to_owned(), line, key, text: format!("{file}:{line}: {why}") }
    }
}

/// Returns the key that a line of TOML sets.
fn key_of(line: &str) -> Option<&str> {
    let key = line.split_once('=')?.0.trim();
    let is_key = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    (!key.is_empty() && key.chars().all(is_key)).then_some(key)
}

impl From<toml::de::Error> for Fault {
    fn from(error: toml::de::Error) -> Self {
        Self::new(error.span().unwrap_or(0..0), plain_message(error.message()))
    }
}

/// Returns the reader's message in plain terms, with what was probably meant.
fn plain_message(message: &str) -> String {
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

/// Largest number of suggestions in an error.
const SUGGESTIONS: usize = 3;

/// Returns the names among `candidates` that `found` probably stands for: the nearest first, at
/// most three.
///
/// A candidate is near if one letter differs, or two that are fewer than half of either name, or if
/// one of the two names begins with the other. Case does not count.
pub fn nearest<S: AsRef<str>>(found: &str, candidates: impl IntoIterator<Item = S>) -> Vec<S> {
    let found = found.to_lowercase();
    let mut near: Vec<(usize, S)> = candidates
        .into_iter()
        .filter_map(|name| distance(&found, &name.as_ref().to_lowercase()).map(|far| (far, name)))
        .collect();
    // Names that are equally far come in the order of the alphabet, so errors do not depend on the
    // order of lists.
    near.sort_by(|a, b| (a.0, a.1.as_ref()).cmp(&(b.0, b.1.as_ref())));
    near.dedup_by(|a, b| a.1.as_ref() == b.1.as_ref());
    near.into_iter().take(SUGGESTIONS).map(|(_, name)| name).collect()
}

/// Returns the edit distance of `found` and `name`; `None` if they are too different to be a slip.
fn distance(found: &str, name: &str) -> Option<usize> {
    /// Shorter beginnings are shared by names that have nothing in common.
    const MIN_PREFIX: usize = 2;
    /// Largest number of letters that a slip changes.
    const MAX_EDITS: usize = 2;
    let edits = strsim::damerau_levenshtein(found, name);
    let shorter = found.chars().count().min(name.chars().count());
    if edits < shorter && (edits <= 1 || edits <= MAX_EDITS && 2 * edits < shorter) {
        return Some(edits);
    }
    let begins = name.starts_with(found) || found.starts_with(name);
    // A name that only begins alike comes after every misspelling.
    (begins && shorter >= MIN_PREFIX).then_some(edits + 100)
}

/// Returns ` (did you mean "x"?)`, with up to three names, if any of `known` is near enough to
/// `found`.
pub fn meant<S: AsRef<str>>(found: &str, known: &[S]) -> String {
    let near: Vec<&str> = nearest(found, known.iter().map(AsRef::as_ref));
    match near.is_empty() {
        true => String::new(),
        false => format!(" (did you mean {}?)", quoted_choice(&near)),
    }
}

/// Returns a choice such as `"a"`, `"a" or "b"`, `"a", "b" or "c"`.
fn quoted_choice(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// Returns the message for an unknown name of `what` with the way out: `no page "nwes" (did you
/// mean "news"?); …`.
///
/// `list_by` is the command or document that lists all of them, like "`headstart pages` lists
/// them". Short lists stand in the message itself.
pub fn unknown<S: AsRef<str>>(what: &str, found: &str, known: &[S], list_by: &str) -> String {
    /// A reader takes in this many names at a glance.
    const SHORT: usize = 8;
    let near = meant(found, known);
    let all: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    match all.len() <= SHORT || list_by.is_empty() {
        true => format!("no {what} {found:?}{near}; there are {}", all.join(", ")),
        false => format!("no {what} {found:?}{near}; {list_by}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_way_out() {
        let unknown =
            plain_message("unknown field `ratte`, expected one of `rate`, `delay`, `queue`");
        assert_eq!(
            unknown,
            "unknown key \"ratte\" (did you mean \"rate\"?); known here: rate, delay, queue"
        );
        let missing = plain_message("unknown variant ``, expected `bulk` or `cbr`");
        assert_eq!(missing, "kind is missing; it is one of bulk, cbr");
        assert_eq!(plain_message("invalid type: boolean"), "invalid type: boolean");
        let whole = plain_message("invalid value: integer `-1`, expected u32");
        assert_eq!(whole, "invalid value: integer `-1`, expected a whole number, 0 or more");
        let table = plain_message("invalid type: map, expected a sequence");
        assert_eq!(table, "expected tables in a list, each under [[ ]]");
    }

    #[test]
    fn nothing_far_off_is_suggested() {
        assert_eq!(meant("bottleneck", &["rate", "delay"]), "");
        // One letter of three is right: no misspelling.
        assert_eq!(meant("fs", &["tcp", "red"]), "");
        // One letter of two.
        assert_eq!(meant("l0", &["lo", "any"]), " (did you mean \"lo\"?)");
        assert_eq!(meant("x", &["y"]), "");
        // Two of four letters are right, half of the name.
        assert_eq!(meant("spec", &["pair", "spud", "none"]), "");
        // Three letters differ, of ten: another name.
        assert_eq!(meant("cwnd_limit", &["cwnd_lxyzt"]), "");
        // Two letters differ, of five: a misspelling still.
        assert_eq!(meant("rutus", &["rates"]), " (did you mean \"rates\"?)");
    }

    #[test]
    fn three_at_most_are_suggested_and_the_nearest_comes_first() {
        // Letters that differ: reno 1, newreno 4 (too many), linux-reno 6; renoir 1 (one letter is
        // missing).
        let known = ["newreno", "linux-reno", "reno", "renoir"];
        assert_eq!(nearest("renoi", known), ["reno", "renoir"]);
        // Four begin with it; the shortest are nearest.
        let known = ["linux", "linux-bbr", "linux-reno", "linux-abcde"];
        assert_eq!(nearest("linu", known), ["linux", "linux-bbr", "linux-reno"]);
        assert_eq!(meant("linu", &known[..2]), " (did you mean \"linux\" or \"linux-bbr\"?)");
        assert_eq!(nearest("LINUX", known)[0], "linux");
    }

    #[test]
    fn long_lists_are_named_and_short_ones_shown() {
        let many: Vec<String> = (0..9).map(|n| format!("page{n}")).collect();
        let by = "`headstart pages` lists them";
        assert_eq!(
            unknown("page", "xyzxyz", &many, by),
            "no page \"xyzxyz\"; `headstart pages` lists them"
        );
        assert_eq!(unknown("page", "b", &["aa", "c"], by), "no page \"b\"; there are aa, c");
    }

    #[test]
    fn lines_count_from_one_and_errors_are_one_line() {
        let fault = Fault::new(4..5, "two\nlines");
        assert_eq!(fault.of_file("p.toml", "a\nb\nc").to_string(), "p.toml:3: two lines");
    }

    /// The fault is in the second line, which sets `queue.size`. A table's head sets no key.
    #[test]
    fn the_key_of_the_line_is_known() {
        let at = |text: &str| Fault::new(4..5, "no").of_file("p.toml", text);
        assert_eq!(at("[a]\nqueue.size = 3").key(), Some("queue.size"));
        assert_eq!(at("[a]\n[queue]").key(), None);
        assert_eq!(at("[a]\n\"a=b\"").key(), None, "a text that has the sign");
    }

    /// The first line sets `repeats`, but something else is wrong: a key that is missing has no
    /// span, and the span of a table has several lines.
    #[test]
    fn a_fault_beyond_a_line_has_no_key() {
        let text = "repeats = 0\n[topology]\nkind = 1\n";
        let key_of = |span: Range<usize>| {
            let error = Fault::new(span, "no").of_file("p.toml", text);
            assert_eq!(error.line(), 1);
            error.key().map(str::to_owned)
        };
        assert_eq!(key_of(0..0), None);
        assert_eq!(key_of(0..23), None);
        assert_eq!(key_of(0..text.len() + 1), None, "a span beyond the text");
        assert_eq!(key_of(0..11).as_deref(), Some("repeats"));
    }
}
