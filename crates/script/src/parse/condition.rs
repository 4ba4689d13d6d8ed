//! Conditions of code blocks: `assert tcpi_snd_cwnd == 10 and tcpi_lost < 3, "message"`.
//!
//! packetdrill hands the block to Python; here it is this small language only.

use super::super::model::{Assertion, CONSTANTS, Comparator, Condition, Operand, TcpInfoField};
use super::lexer::Token;
use super::{Parsed, Parser};

/// Conditions nest no deeper.
const DEEPEST: u32 = 16;

impl<'a> Parser<'a> {
    /// All assertions of a block; this parser's text is its inside.
    pub(super) fn assertions(&mut self) -> Parsed<Vec<Assertion>> {
        let mut all = Vec::new();
        while self.token != Token::End {
            all.push(self.assertion()?);
            while self.accept_mark(";")? {}
        }
        if all.is_empty() {
            return self.unexpected("assert and a condition, like assert tcpi_snd_cwnd == 10");
        }
        Ok(all)
    }

    fn assertion(&mut self) -> Parsed<Assertion> {
        let position = self.position;
        if !self.accept_word("assert")? {
            return self.unexpected("assert: nothing else of Python runs here");
        }
        let start = self.start;
        let condition = self.either(0)?;
        let text = self.text[start..self.last_end].to_owned();
        if self.accept_mark(",")? {
            self.message()?;
        }
        Ok(Assertion { position, condition, text })
    }

    /// What Python would print: a name or a string. Here the operands' values are printed anyway.
    fn message(&mut self) -> Parsed<()> {
        match self.token {
            Token::Word(_) | Token::Text(_) | Token::Int(_) => self.advance().map(drop),
            _ => self.unexpected("a name or a string after the condition"),
        }
    }

    fn either(&mut self, depth: u32) -> Parsed<Condition> {
        let mut parts = vec![self.both(depth)?];
        while self.accept_word("or")? {
            parts.push(self.both(depth)?);
        }
        Ok(one_or(parts, Condition::Or))
    }

    fn both(&mut self, depth: u32) -> Parsed<Condition> {
        let mut parts = vec![self.term(depth)?];
        while self.accept_word("and")? {
            parts.push(self.term(depth)?);
        }
        Ok(one_or(parts, Condition::And))
    }

    fn term(&mut self, depth: u32) -> Parsed<Condition> {
        if depth > DEEPEST {
            return Err((self.position, "these conditions nest too deeply".to_owned()));
        }
        if self.accept_word("not")? {
            return self.term(depth + 1).map(|inner| Condition::Not(Box::new(inner)));
        }
        if self.accept_mark("(")? {
            let inner = self.either(depth + 1)?;
            self.expect_mark(")", "after the condition")?;
            return Ok(inner);
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Parsed<Condition> {
        let first = self.operand()?;
        let mut rest = Vec::new();
        while let Some(comparison) = self.comparison_mark() {
            self.advance()?;
            rest.push((comparison, self.operand()?));
        }
        if rest.is_empty() {
            return self.unexpected("a comparison: == != < <= > >=");
        }
        Ok(Condition::Compare(first, rest))
    }

    fn comparison_mark(&self) -> Option<Comparator> {
        match self.token {
            Token::Mark("==") => Some(Comparator::Equal),
            Token::Mark("!=") => Some(Comparator::NotEqual),
            Token::Mark("<") => Some(Comparator::Less),
            Token::Mark("<=") => Some(Comparator::LessOrEqual),
            Token::Mark(">") => Some(Comparator::Greater),
            Token::Mark(">=") => Some(Comparator::GreaterOrEqual),
            _ => None,
        }
    }

    fn operand(&mut self) -> Parsed<Operand> {
        let operand = match self.token {
            Token::Int(n) => Some(Operand::Number(n)),
            Token::Word(name) => named(name),
            _ => None,
        };
        match operand {
            Some(operand) => self.advance().map(|_| operand),
            None => self.unexpected(&operands()),
        }
    }
}

fn one_or(mut parts: Vec<Condition>, join: fn(Vec<Condition>) -> Condition) -> Condition {
    if parts.len() == 1 { parts.remove(0) } else { join(parts) }
}

fn named(name: &str) -> Option<Operand> {
    let info = TcpInfoField::ALL.iter().find(|(known, _)| *known == name);
    let constant = CONSTANTS.iter().find(|(known, _)| *known == name);
    info.map(|(_, info)| Operand::Info(*info))
        .or_else(|| constant.map(|(_, value)| Operand::Number(*value)))
}

fn operands() -> String {
    let names: Vec<_> = TcpInfoField::ALL.iter().map(|(name, _)| *name).collect();
    format!("a number, a TCP_ constant, or one of {}", names.join(", "))
}
