//! Arguments of calls, read whatever they mean: `[1]`, `O_RDWR|O_NONBLOCK`, `{onoff=1}`, `...`.

use super::super::model::Position;
use super::lexer::Token;
use super::{Parsed, Parser};

/// Arguments nest no deeper; more is no call that anybody writes.
const DEEPEST: u32 = 8;

/// An argument and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Argument<'a> {
    pub(super) position: Position,
    pub(super) value: Value<'a>,
}

/// Value of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    /// `...`: whatever fits.
    Any,
    /// A whole number.
    Number(u64),
    /// A whole number below zero, without its sign.
    Negative(u64),
    /// Names joined by `|`; one alone is a list of one.
    Words(Vec<&'a str>),
    /// `[...]`
    List(Vec<Argument<'a>>),
    /// `{a=1, b(...)=2}`
    Members(Vec<(&'a str, Argument<'a>)>),
    /// The inside of a string.
    Text(&'a str),
    /// Several strings, a nested call: of no interest to any call here.
    Other,
}

impl<'a> Parser<'a> {
    /// `(a, b, ...)` with the parentheses.
    pub(super) fn parse_arguments(&mut self) -> Parsed<Vec<Argument<'a>>> {
        self.expect_mark("(", "before the arguments")?;
        self.argument_list(")", 0)
    }

    /// Arguments up to and with the mark `close`.
    fn argument_list(&mut self, close: &str, depth: u32) -> Parsed<Vec<Argument<'a>>> {
        let mut list = Vec::new();
        if self.accept_mark(close)? {
            return Ok(list);
        }
        loop {
            list.push(self.parse_argument(depth)?);
            if !self.accept_mark(",")? {
                break;
            }
        }
        self.expect_mark(close, "or \",\" after an argument")?;
        Ok(list)
    }

    fn parse_argument(&mut self, depth: u32) -> Parsed<Argument<'a>> {
        let position = self.position;
        if depth > DEEPEST {
            return Err((position, "these arguments nest too deeply".into()));
        }
        let value = match self.token {
            Token::Ellipsis => self.advance().map(|_| Value::Any)?,
            Token::Text(_) => self.strings()?,
            Token::Int(n) => self.advance().map(|_| Value::Number(n))?,
            Token::Word(_) => self.parse_words(depth)?,
            Token::Mark("-") => {
                self.advance()?;
                Value::Negative(self.parse_number("a number behind the minus", u64::MAX)?)
            }
            Token::Mark("[") => {
                self.advance()?;
                Value::List(self.argument_list("]", depth + 1)?)
            }
            Token::Mark("{") => self.members(depth)?,
            _ => return self.unexpected("an argument, like 3, \"...\", SHUT_WR or [1]"),
        };
        Ok(Argument { position, value })
    }

    /// A string, or several in a row, perhaps with `...` behind.
    fn strings(&mut self) -> Parsed<Value<'a>> {
        let mut count = 0;
        let mut last = "";
        while matches!(self.token, Token::Text(_) | Token::Ellipsis) {
            if let Token::Text(text) = self.token {
                last = text;
            }
            count += 1;
            self.advance()?;
        }
        Ok(if count == 1 { Value::Text(last) } else { Value::Other })
    }

    /// `A`, `A|B` or `f(...)`.
    fn parse_words(&mut self, depth: u32) -> Parsed<Value<'a>> {
        let mut words = Vec::new();
        loop {
            let Token::Word(word) = self.token else {
                return self.unexpected("a name after \"|\"");
            };
            words.push(word);
            self.advance()?;
            if self.accept_mark("(")? {
                self.argument_list(")", depth + 1)?;
                return Ok(Value::Other);
            }
            if !self.accept_mark("|")? {
                return Ok(Value::Words(words));
            }
        }
    }

    /// `{name=value, ...}`, or `{value, ...}`
    fn members(&mut self, depth: u32) -> Parsed<Value<'a>> {
        self.advance()?;
        if !matches!(self.token, Token::Word(_)) {
            return self.argument_list("}", depth + 1).map(Value::List);
        }
        let mut members = Vec::new();
        loop {
            let Token::Word(name) = self.token else {
                return self.unexpected("a member, like onoff=1");
            };
            self.advance()?;
            if self.accept_mark("(")? {
                self.argument_list(")", depth + 1)?;
            }
            self.expect_mark("=", "after the member's name")?;
            members.push((name, self.parse_argument(depth + 1)?));
            if !self.accept_mark(",")? {
                break;
            }
        }
        self.expect_mark("}", "or \",\" after a member")?;
        Ok(Value::Members(members))
    }
}
