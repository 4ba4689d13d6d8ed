//! One event: its time, and what happens.

use super::super::error::RefusalKind;
use super::super::machine;
use super::super::model::{Position, ScriptAction, ScriptEvent, When};
use super::lexer::Token;
use super::{Parsed, Parser};
use units::Duration;

/// Longest time in a script: a day.
const LONGEST: Duration = Duration::from_secs(86_400);

const ACTIONS: &str = "\"<\" and a segment that arrives, \">\" and a segment that leaves, a call \
                       like write(4, ..., 1000) = 1000, %{ assert ... }%, or commands in \
                       backquotes";

impl<'a> Parser<'a> {
    /// An event: its time and its action. Commands have no time, and only a segment that leaves may
    /// have a range of times, or any time.
    pub(super) fn event(&mut self) -> Parsed<ScriptEvent> {
        let position = self.position;
        if let Token::Shell(..) = self.token {
            // The commands before and behind all events have no time.
            let when = When::After(Duration::ZERO);
            return Ok(ScriptEvent { position, when, action: self.shell()? });
        }
        let when = self.parse_when()?;
        let action = self.action(when)?;
        if !matches!(action, ScriptAction::Outbound(_)) && !is_exact(when) {
            let message = "a range or * can only time a segment that leaves (\">\")";
            return Err((position, message.into()));
        }
        Ok(ScriptEvent { position, when, action })
    }

    fn parse_when(&mut self) -> Parsed<When> {
        if self.accept_mark("*")? {
            return Ok(When::Any);
        }
        let position = self.position;
        let relative = self.accept_mark("+")?;
        if relative && self.accept_mark("*")? {
            return Ok(When::Any);
        }
        let from = self.time()?;
        if !self.accept_mark("~")? {
            return Ok(if relative { When::After(from) } else { When::At(from) });
        }
        if relative {
            self.expect_mark("+", "before the end of a relative range, as in +0.1~+0.2")?;
        }
        let to = self.time()?;
        if to < from {
            return Err((position, "this range of times ends before it begins".into()));
        }
        Ok(if relative { When::AfterRange(from, to) } else { When::AtRange(from, to) })
    }

    /// A number of seconds.
    pub(super) fn time(&mut self) -> Parsed<Duration> {
        let time = match self.token {
            Token::Seconds(time) => time,
            Token::Int(seconds) => Duration::from_secs(seconds),
            Token::Setting(flag, _) => {
                let message = format!("--{flag} stands too late: options go before all events");
                return Err((self.position, message.into()));
            }
            _ => return self.unexpected("a time in seconds, like 0.1, +0.1 or *"),
        };
        if time > LONGEST {
            return self.unexpected("a time of at most a day");
        }
        self.advance()?;
        Ok(time)
    }

    /// The action at `when`. A call that blocks must not return before it begins.
    fn action(&mut self, when: When) -> Parsed<ScriptAction> {
        match self.token {
            Token::Mark("<") => self.parse_inbound(),
            Token::Mark(">") => self.outbound().map(ScriptAction::Outbound),
            Token::Word(_) | Token::Ellipsis => self.call(when).map(ScriptAction::Call),
            Token::Code(code, inside) => {
                self.advance()?;
                Parser::of_code(code, inside)?.statements().map(ScriptAction::Code)
            }
            Token::Shell(..) => self.shell(),
            _ => self.unexpected(ACTIONS),
        }
    }

    /// Commands in backquotes, which set up the machine; others are refused.
    fn shell(&mut self) -> Parsed<ScriptAction> {
        let Token::Shell(text, inside) = self.token else {
            return self.unexpected("commands in backquotes");
        };
        let settings = machine::read(text).map_err(|error| {
            let mut error = error;
            // Only what a file goes to makes the commands that prepare it other than TCP's.
            if error.refusal.kind == RefusalKind::NotOfTcp
                && !["sendfile(", "splice("].iter().any(|call| self.text.contains(call))
            {
                error.refusal.kind = RefusalKind::Wrong;
            }
            let column = if error.line == 0 { inside.column } else { 1 };
            (Position { line: inside.line + error.line, column }, error.refusal)
        })?;
        self.advance()?;
        Ok(ScriptAction::Shell(settings))
    }
}

fn is_exact(when: When) -> bool {
    matches!(when, When::At(_) | When::After(_))
}
