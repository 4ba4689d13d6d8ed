//! Cuts text into tokens, each with its position; comments and white space are dropped.

use super::super::error::Refusal;
use super::super::model::Position;
use units::Duration;

/// A token of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// `--flag` or `--flag=value`; the value runs to the next white space.
    Setting(&'a str, Option<&'a str>),
    /// A whole number, decimal or `0x`.
    Int(u64),
    /// A decimal fraction, which is always a number of seconds.
    Seconds(Duration),
    /// A name.
    Word(&'a str),
    /// The inside of a quoted string.
    Text(&'a str),
    /// The inside of `%{ ... }%`, and where it begins.
    Code(&'a str, Position),
    /// The inside of backquotes, and where it begins.
    Shell(&'a str, Position),
    /// `...`
    Ellipsis,
    /// An operator or a mark, of one or two characters.
    Mark(&'a str),
    /// The end of the text.
    End,
}

impl Token<'_> {
    /// Name of the token in messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Setting(flag, _) => format!("the option --{flag}"),
            Self::Int(n) => format!("the number {n}"),
            Self::Seconds(t) => format!("the time {}", t.as_secs_f64()),
            Self::Word(word) => format!("{word:?}"),
            Self::Text(text) => format!("the string {text:?}"),
            Self::Code(..) => "a code block".to_owned(),
            Self::Shell(..) => "a shell command".to_owned(),
            Self::Ellipsis => "\"...\"".to_owned(),
            Self::Mark(mark) => format!("{mark:?}"),
            Self::End => "the end of the script".to_owned(),
        }
    }
}

/// Position and reason of an error.
pub(super) type LexError = (Position, Refusal);

/// Cuts text into tokens.
#[derive(Clone, Debug)]
pub(super) struct Lexer<'a> {
    rest: &'a str,
    /// `rest` as it was before the last token.
    before: &'a str,
    position: Position,
    /// It is Python: `'` begins a string, and only `#` a comment.
    code: bool,
}

impl<'a> Lexer<'a> {
    /// A lexer of `text`, which stands at `position` of the script.
    pub(super) fn new(text: &'a str, position: Position) -> Self {
        Self { rest: text, before: text, position, code: false }
    }

    /// A lexer of the inside of a code block.
    pub(super) fn of_code(text: &'a str, position: Position) -> Self {
        Self { code: true, ..Self::new(text, position) }
    }

    /// The next token and where it begins.
    pub(super) fn next(&mut self) -> Result<(Position, Token<'a>), LexError> {
        self.skip_blank()?;
        let start = self.position;
        self.before = self.rest;
        let token = match self.rest.chars().next() {
            None => Token::End,
            Some('-') if !self.code && self.rest.starts_with("--") => self.setting(),
            Some('%') if self.rest.starts_with("%{") => self.code()?,
            Some(c) if c.is_ascii_digit() || self.begins_with_fraction() => self.read_number()?,
            Some(c) if c.is_ascii_alphabetic() || c == '_' => Token::Word(self.take_name()),
            Some(quote @ '\'') if self.code => Token::Text(self.read_quoted(quote, "string")?),
            Some(quote @ '"') => Token::Text(self.read_quoted(quote, "string")?),
            Some('`') => self.shell()?,
            Some(_) if self.rest.starts_with("...") => {
                self.take(3);
                Token::Ellipsis
            }
            Some(_) => self.read_mark()?,
        };
        Ok((start, token))
    }

    /// Hexadecimal digits that come next, without the white space before them.
    pub(super) fn hexadecimal(&mut self) -> &'a str {
        self.take_while(|c| c == ' ');
        self.take_while(|c| c.is_ascii_hexdigit())
    }

    /// The rest of a note in parentheses, up to the one that closes it. It ends on the line on
    /// which it begins.
    pub(super) fn skip_note(&mut self) -> Result<(), LexError> {
        self.take_while(|c| !matches!(c, ')' | '\n'));
        match self.rest.starts_with(')') {
            true => {
                self.take(1);
                Ok(())
            }
            false => {
                Err((self.position, "expected \")\" after the words about the outcome".into()))
            }
        }
    }

    /// The rest of the text.
    pub(super) fn rest_of_text(&self) -> &'a str {
        self.rest
    }

    /// The last token and all behind it.
    pub(super) fn text_from_last_token(&self) -> &'a str {
        self.before
    }

    /// Moves over `n` bytes, which end at a character, and returns them.
    fn take(&mut self, n: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(n);
        self.rest = rest;
        for c in taken.chars() {
            if c == '\n' {
                self.position = Position { line: self.position.line + 1, column: 1 };
            } else {
                self.position.column += 1;
            }
        }
        taken
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'a str {
        let n = self.rest.find(|c| !accept(c)).unwrap_or(self.rest.len());
        self.take(n)
    }

    fn take_name(&mut self) -> &'a str {
        self.take_while(|c| c.is_ascii_alphanumeric() || c == '_')
    }

    fn skip_blank(&mut self) -> Result<(), LexError> {
        loop {
            // A backslash at the end of a line means nothing: whole code blocks are read at once.
            self.take_while(|c| c.is_whitespace() || c == '\\');
            if self.rest.starts_with('#') || (!self.code && self.rest.starts_with("//")) {
                self.take_while(|c| c != '\n');
            } else if !self.code && self.rest.starts_with("/*") {
                let end =
                    self.rest.find("*/").ok_or_else(|| self.unclosed_error("comment", "*/"))?;
                self.take(end + 2);
            } else {
                return Ok(());
            }
        }
    }

    fn unclosed_error(&self, what: &str, end: &str) -> LexError {
        (self.position, format!("this {what} has no end: expected {end} after it").into())
    }

    fn setting(&mut self) -> Token<'a> {
        self.take(2);
        let flag = self.take_name();
        if !self.rest.starts_with('=') {
            return Token::Setting(flag, None);
        }
        self.take(1);
        Token::Setting(flag, Some(self.take_while(|c| !c.is_whitespace())))
    }

    fn code(&mut self) -> Result<Token<'a>, LexError> {
        let end = self.rest.find("}%").ok_or_else(|| self.unclosed_error("code block", "}%"))?;
        self.take(2);
        let inside = self.position;
        let code = self.take(end - 2);
        self.take(2);
        Ok(Token::Code(code, inside))
    }

    fn shell(&mut self) -> Result<Token<'a>, LexError> {
        let Position { line, column } = self.position;
        let inside = Position { line, column: column + 1 };
        self.read_quoted('`', "shell command").map(|text| Token::Shell(text, inside))
    }

    fn read_quoted(&mut self, quote: char, what: &str) -> Result<&'a str, LexError> {
        let mut escaped = false;
        let end = self.rest[1..].find(|c| {
            let ends = c == quote && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        let end = end.ok_or_else(|| self.unclosed_error(what, &quote.to_string()))?;
        self.take(1);
        let inside = self.take(end);
        self.take(1);
        Ok(inside)
    }

    /// True at `.` with a digit after it: a fraction without its zero.
    fn begins_with_fraction(&self) -> bool {
        let mut chars = self.rest.chars();
        chars.next() == Some('.') && chars.next().is_some_and(|c| c.is_ascii_digit())
    }

    fn read_number(&mut self) -> Result<Token<'a>, LexError> {
        let start = self.position;
        if self.rest.starts_with("0x") {
            self.take(2);
            let digits = self.take_while(|c| c.is_ascii_hexdigit());
            let value = u64::from_str_radix(digits, 16).ok();
            return value.map(Token::Int).ok_or_else(|| (start, bad_number().into()));
        }
        let whole = self.take_while(|c| c.is_ascii_digit());
        if !self.begins_with_fraction() {
            return whole.parse().map(Token::Int).map_err(|_| (start, bad_number().into()));
        }
        self.take(1);
        let fraction = self.take_while(|c| c.is_ascii_digit());
        seconds(whole, fraction).map(Token::Seconds).ok_or_else(|| {
            (start, "expected at most nine digits on either side of the point".into())
        })
    }

    fn read_mark(&mut self) -> Result<Token<'a>, LexError> {
        const PAIRS: [&str; 7] = ["==", "!=", "<=", ">=", "+=", "-=", "//"];
        const SINGLES: &str = "+-*~<>.:(),=[]{}|;&%/";
        if PAIRS.iter().any(|pair| self.rest.starts_with(pair)) {
            return Ok(Token::Mark(self.take(2)));
        }
        match self.rest.chars().next() {
            Some(c) if SINGLES.contains(c) => Ok(Token::Mark(self.take(1))),
            other => {
                let c = other.unwrap_or_default();
                Err((self.position, format!("the character {c:?} means nothing here").into()))
            }
        }
    }
}

fn bad_number() -> String {
    "expected a number below 2^64".to_owned()
}

/// `whole.fraction` seconds, exactly.
fn seconds(whole: &str, fraction: &str) -> Option<Duration> {
    if whole.len() > 9 || fraction.len() > 9 {
        return None;
    }
    let seconds: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let nanos: u64 = format!("{fraction:0<9}").parse().ok()?;
    Some(Duration::from_secs(seconds) + Duration::from_nanos(nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token<'_>> {
        let mut lexer = Lexer::new(text, Position { line: 1, column: 1 });
        let mut all = Vec::new();
        loop {
            match lexer.next().expect("tokens").1 {
                Token::End => return all,
                token => all.push(token),
            }
        }
    }

    #[test]
    fn a_blocking_call_s_times_are_two_fractions_and_an_ellipsis() {
        let ms = Duration::from_millis;
        assert_eq!(
            tokens("+.01...0.011"),
            [Token::Mark("+"), Token::Seconds(ms(10)), Token::Ellipsis, Token::Seconds(ms(11)),]
        );
        assert_eq!(tokens("0...1"), [Token::Int(0), Token::Ellipsis, Token::Int(1)]);
    }

    #[test]
    fn fractions_are_exact() {
        // 0.100000001 s = 100,000,001 ns; a float of it would be 100,000,000.99...
        assert_eq!(tokens("0.100000001"), [Token::Seconds(Duration::from_nanos(100_000_001))]);
    }

    #[test]
    fn comments_fall_away_and_lines_are_counted_through_them() {
        let mut lexer = Lexer::new("// a\n/* b\n b */ # c\n  ack", Position { line: 1, column: 1 });
        assert_eq!(lexer.next(), Ok((Position { line: 4, column: 3 }, Token::Word("ack"))));
    }

    #[test]
    fn settings_end_at_white_space() {
        assert_eq!(
            tokens("--scheme=linux+iw=4 --strict_segments"),
            [Token::Setting("scheme", Some("linux+iw=4")), Token::Setting("strict_segments", None)]
        );
    }

    #[test]
    fn what_never_ends_is_an_error_at_its_beginning() {
        for text in ["  /* a", "  %{ a", "  \"a\\\"", "  `a"] {
            let mut lexer = Lexer::new(text, Position { line: 1, column: 1 });
            let (position, why) = lexer.next().unwrap_err();
            assert_eq!(position, Position { line: 1, column: 3 }, "{text}");
            assert!(why.message.contains("has no end"), "{why:?}");
        }
    }
}
