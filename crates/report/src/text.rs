//! Strings from outside, made safe to show: no terminal escapes, no bidirectional tricks, no
//! endless labels. Escaping for HTML is not done here but by the builders of markup themselves.

use unicode_width::UnicodeWidthChar;

/// Replaces what has no business in a label: control characters by their pictures (U+2400 ff.),
/// bidirectional overrides, line separators and noncharacters by U+FFFD. Letters of every script,
/// right-to-left ones included, stay.
pub(crate) fn clean_text(text: &str) -> String {
    text.chars().map(visible_char).collect()
}

/// [`clean`], with line breaks kept.
pub(crate) fn clean_lines(text: &str) -> String {
    text.split('\n').map(clean_text).collect::<Vec<_>>().join("\n")
}

fn visible_char(c: char) -> char {
    match c {
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        '\x7f' => '\u{2421}',
        '\u{80}'..='\u{9f}' => '\u{fffd}',
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => '\u{fffd}',
        '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fdd0}'..='\u{fdef}' => '\u{fffd}',
        c if u32::from(c) & 0xfffe == 0xfffe => '\u{fffd}',
        c => c,
    }
}

/// [`clean`], and at most `max` characters: the middle is replaced by "…", because the end of a URL
/// shows as much as its beginning.
pub(crate) fn label(text: &str, max: usize) -> String {
    let mut head: Vec<char> = text.chars().take(max + 1).map(visible_char).collect();
    if head.len() <= max {
        return head.into_iter().collect();
    }
    let tail_len = max.saturating_sub(1) / 2;
    head.truncate(max.saturating_sub(1) - tail_len);
    let mut tail: Vec<char> = text.chars().rev().take(tail_len).map(visible_char).collect();
    tail.reverse();
    head.into_iter().chain(['…']).chain(tail).collect()
}

/// [`clean`], and the end of at most `max` columns behind "…" if there is more: for paths, whose
/// end names the file. A column is the width of a Latin letter (Unicode annex 11).
pub(crate) fn columns_end(text: &str, max: usize) -> String {
    let mut width = 0;
    let mut tail: Vec<char> = Vec::new();
    for c in text.chars().rev().map(visible_char) {
        let columns = c.width().unwrap_or(0);
        if width + columns > max || tail.len() > MAX_CHARACTERS_PER_COLUMN * max {
            // The ellipsis replaces the characters at the left end.
            while width + 1 > max
                && let Some(first) = tail.pop()
            {
                width -= first.width().unwrap_or(0);
            }
            tail.push('…');
            break;
        }
        width += columns;
        tail.push(c);
    }
    tail.into_iter().rev().collect()
}

/// Largest number of characters that share a column: letters with their accents.
const MAX_CHARACTERS_PER_COLUMN: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_and_bidirectional_characters_become_visible() {
        // ESC is U+001B, its picture U+241B; U+202E reverses what follows it.
        assert_eq!(
            clean_text("a\x1b[31m\u{202e}b\u{9b}\0"),
            "a\u{241b}[31m\u{fffd}b\u{fffd}\u{2400}"
        );
        assert_eq!(clean_text("שלום <b>&"), "שלום <b>&");
    }

    #[test]
    fn long_labels_keep_both_ends() {
        assert_eq!(label("abcdefghij", 10), "abcdefghij");
        // Seven characters: three of the head, the ellipsis, three of the tail.
        assert_eq!(label("abcdefghij", 7), "abc…hij");
        assert_eq!(label("abcdefghij", 1), "…");
        assert_eq!(columns_end("abcdefghij", 10), "abcdefghij");
        assert_eq!(columns_end("abcdefghij", 4), "…hij");
        // Ideographs take two columns: of five, the ellipsis and two of them.
        assert_eq!(columns_end("速い速い", 8), "速い速い");
        assert_eq!(columns_end("速い速い", 5), "…速い");
        assert_eq!(columns_end("速い", 0), "…");
        // Endless accents take no column and are not endless.
        assert!(columns_end(&"\u{301}".repeat(10_000), 8).chars().count() <= 34);
    }
}
