//! Text to model. One file per part of the grammar; each function reads one production.
//!
//! The grammar needs one token of look-ahead. Text outside of it is one error with its line and
//! column, and with what was expected; no input makes the parser panic.

mod argument;
mod call;
mod check;
mod condition;
mod event;
mod lexer;
mod options;
mod packet;
mod settings;
mod socket_option;

use super::error::{Refusal, RefusalKind, ScriptError};
use super::foreign;
use super::machine::{MachineSetting, SYSCTLS};
use super::model::{CallKind, Position, Script, ScriptAction, ScriptEvent};
use lexer::{LexError, Lexer, Token};
pub(crate) use packet::FLAG_LETTERS;

/// Reads a script; `name` is the file as messages shall name it.
///
/// # Errors
/// At the first thing that is not of the grammar, or that makes no sense: its line, its column
/// and what was expected.
pub fn parse(name: &str, text: impl AsRef<[u8]>) -> Result<Script, ScriptError> {
    let text = text.as_ref();
    read(name, text).map_err(|(position, refusal)| {
        let is_unknown = refusal.kind == RefusalKind::Wrong;
        let known = is_unknown.then(|| foreign::of(text)).flatten();
        let (position, Refusal { kind, message }) = known.unwrap_or((position, refusal));
        let Position { line, column } = position;
        ScriptError { name: name.to_owned(), line, column, kind, message }
    })
}

type Parsed<T> = Result<T, LexError>;

fn read(name: &str, text: &[u8]) -> Parsed<Script> {
    let text = utf8(text)?;
    let mut parser = Parser::new(text)?;
    let (mut settings, mut notes) = parser.settings()?;
    if name.ends_with("v6.pkt") && !settings.names_version {
        // By their names packetdrill's `run_all.py` knows scripts for IPv6 alone.
        settings.remote = settings::DOCUMENTATION_V6;
    }
    let least = settings::MSS.0;
    if settings.mtu.is_some() && settings.mss().is_none_or(|mss| mss < least) {
        let message = format!("expected --mtu=N that leaves {least} bytes behind the headers");
        return Err((Position { line: 1, column: 1 }, message.into()));
    }
    let mut events = Vec::new();
    while parser.token != Token::End {
        events.push(parser.event()?);
    }
    events.iter().for_each(|event| without_effect(event, &mut notes));
    let script = Script { name: name.to_owned(), settings, notes, events };
    check::check(&script, parser.position)?;
    Ok(script)
}

/// Notes what an event sets that means something in the kernel and nothing here.
fn without_effect(event: &ScriptEvent, notes: &mut Vec<String>) {
    let mut note = |what: &str| {
        notes.push(format!("line {}: {what} has no effect here", event.position.line));
    };
    match &event.action {
        ScriptAction::Shell(settings) => {
            for setting in settings {
                match setting {
                    MachineSetting::Sysctl(index, _) if !SYSCTLS[*index].has_effect => {
                        note(SYSCTLS[*index].name);
                    }
                    _ => {}
                }
            }
        }
        ScriptAction::Call(call) => match call.kind {
            CallKind::WithoutEffect(name) => note(name),
            CallKind::SendBuffer(_) => note("SO_SNDBUF"),
            CallKind::NotSentLowWater(_) => note("TCP_NOTSENT_LOWAT"),
            _ => {}
        },
        _ => {}
    }
}

fn utf8(text: &[u8]) -> Parsed<&str> {
    std::str::from_utf8(text).map_err(|error| {
        let good = &text[..error.valid_up_to()];
        let line = 1 + good.iter().filter(|byte| **byte == b'\n').count() as u32;
        let column = 1 + good.iter().rev().take_while(|byte| **byte != b'\n').count() as u32;
        (Position { line, column }, "expected UTF-8 text".into())
    })
}

/// The text, the token under the eye, and where it stands.
struct Parser<'a> {
    text: &'a str,
    lexer: Lexer<'a>,
    token: Token<'a>,
    position: Position,
    /// Where in `text` the token begins, bytes.
    start: usize,
    /// Where in `text` the token before it ended, bytes.
    last_end: usize,
    /// Operators of the statement so far.
    operators: u32,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Parsed<Self> {
        let position = Position { line: 1, column: 1 };
        Self::with(text, Lexer::new(text, position), position)
    }

    /// A parser of the inside of a code block.
    fn of_code(text: &'a str, position: Position) -> Parsed<Self> {
        Self::with(text, Lexer::of_code(text, position), position)
    }

    fn with(text: &'a str, lexer: Lexer<'a>, position: Position) -> Parsed<Self> {
        let mut parser =
            Self { text, lexer, token: Token::End, position, start: 0, last_end: 0, operators: 0 };
        parser.advance()?;
        Ok(parser)
    }

    /// Moves to the next token and returns the one left behind.
    fn advance(&mut self) -> Parsed<Token<'a>> {
        let behind = self.token;
        self.last_end = self.text.len() - self.lexer.rest_of_text().len();
        let (position, token) = self.lexer.next()?;
        self.start = self.text.len() - self.lexer.text_from_last_token().len();
        self.token = token;
        self.position = position;
        Ok(behind)
    }

    /// The error that something else than `expected` is here.
    fn unexpected<T>(&self, expected: &str) -> Parsed<T> {
        let found = self.token.describe();
        Err((self.position, format!("expected {expected}, found {found}").into()))
    }

    fn is_mark(&self, mark: &str) -> bool {
        self.token == Token::Mark(mark)
    }

    fn is_word(&self, word: &str) -> bool {
        self.token == Token::Word(word)
    }

    /// Moves over `mark` if it is here.
    fn accept_mark(&mut self, mark: &str) -> Parsed<bool> {
        let here = self.is_mark(mark);
        if here {
            self.advance()?;
        }
        Ok(here)
    }

    /// Moves over `word` if it is here.
    fn accept_word(&mut self, word: &str) -> Parsed<bool> {
        let here = self.is_word(word);
        if here {
            self.advance()?;
        }
        Ok(here)
    }

    fn expect_mark(&mut self, mark: &str, place: &str) -> Parsed<()> {
        if self.accept_mark(mark)? {
            return Ok(());
        }
        self.unexpected(&format!("{mark:?} {place}"))
    }

    /// A whole number up to `max`.
    fn parse_number(&mut self, what: &str, max: u64) -> Parsed<u64> {
        match self.token {
            Token::Int(n) if n <= max => self.advance().map(|_| n),
            Token::Int(_) => self.unexpected(&format!("{what} of at most {max}")),
            _ => self.unexpected(what),
        }
    }

    fn number32(&mut self, what: &str) -> Parsed<u32> {
        self.parse_number(what, u64::from(u32::MAX)).map(|n| n as u32)
    }

    fn number16(&mut self, what: &str) -> Parsed<u16> {
        self.parse_number(what, u64::from(u16::MAX)).map(|n| n as u16)
    }
}
