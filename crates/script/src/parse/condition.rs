//! Code blocks: `assert tcpi_snd_cwnd == 10 and tcpi_lost < 3, "message"`, `cwnd = 58`,
//! `cwnd += 1`, `print(cwnd)`.
//!
//! packetdrill hands the block to Python; here it is this small language only ([`crate::code`]).

use super::super::code::{Expression, Operator, Statement};
use super::super::model::{CONSTANTS, CodeLine, Comparator, TcpInfoField};
use super::super::number::ExactFraction;
use super::lexer::Token;
use super::{Parsed, Parser};

/// Expressions nest no deeper.
const DEEPEST: u32 = 16;

/// Operators of one statement: each makes its expression deeper by one.
const MAX_OPERATORS: u32 = 256;

impl<'a> Parser<'a> {
    /// All statements of a block; this parser's text is its inside.
    pub(super) fn statements(&mut self) -> Parsed<Vec<CodeLine>> {
        let mut all = Vec::new();
        let mut printed = false;
        while self.token != Token::End {
            if self.is_word("print") {
                self.print()?;
                printed = true;
            } else {
                all.push(self.parse_statement()?);
            }
            while self.accept_mark(";")? {}
        }
        if all.is_empty() && !printed {
            return self.unexpected("assert and a condition, like assert tcpi_snd_cwnd == 10");
        }
        Ok(all)
    }

    /// `print(x)`: a failure shows the values anyway.
    fn print(&mut self) -> Parsed<()> {
        self.advance()?;
        self.expect_mark("(", "after print")?;
        while !self.is_mark(")") && self.token != Token::End {
            self.advance()?;
        }
        self.expect_mark(")", "after what is printed")
    }

    fn parse_statement(&mut self) -> Parsed<CodeLine> {
        self.operators = 0;
        let position = self.position;
        if let Token::Word(name) = self.token
            && name != "assert"
        {
            return self.assignment(name);
        }
        if !self.accept_word("assert")? {
            return self
                .unexpected("assert, print or an assignment: nothing else of Python runs here");
        }
        let start = self.start;
        let condition_at = self.position;
        let condition = self.parse_or(0)?;
        if !is_condition(&condition) {
            return Err((
                condition_at,
                "expected a comparison: == != < <= > >=; a number alone is no condition".into(),
            ));
        }
        let text = self.text[start..self.last_end].to_owned();
        if self.accept_mark(",")? {
            self.message()?;
        }
        Ok(CodeLine { position, statement: Statement::Assert(condition), text })
    }

    fn assignment(&mut self, name: &'a str) -> Parsed<CodeLine> {
        let (position, start) = (self.position, self.start);
        self.advance()?;
        let mark = ["=", "+=", "-="].into_iter().find(|mark| self.is_mark(mark));
        let Some(mark) = mark else {
            return Err((
                position,
                format!(
                    "expected assert or an assignment, found {name:?}: nothing else of Python runs here"
                )
                .into(),
            ));
        };
        self.advance()?;
        let right = self.parse_or(0)?;
        let value = match mark {
            "+=" => binary(Operator::Add, Expression::Name(name.to_owned()), right),
            "-=" => binary(Operator::Subtract, Expression::Name(name.to_owned()), right),
            _ => right,
        };
        let text = self.text[start..self.last_end].to_owned();
        Ok(CodeLine { position, statement: Statement::Assign(name.to_owned(), value), text })
    }

    /// Text that Python would print: an expression, or a string with some. Here the operands'
    /// values are printed anyway.
    fn message(&mut self) -> Parsed<()> {
        if !matches!(self.token, Token::Text(_)) {
            return self.parse_or(0).map(drop);
        }
        self.advance()?;
        if !self.accept_mark("%")? {
            return Ok(());
        }
        if !self.accept_mark("(")? {
            return self.parse_or(0).map(drop);
        }
        loop {
            self.parse_or(0)?;
            if !self.accept_mark(",")? {
                return self.expect_mark(")", "after what is printed");
            }
        }
    }

    fn parse_or(&mut self, depth: u32) -> Parsed<Expression> {
        let mut parts = vec![self.parse_and(depth)?];
        while self.accept_word("or")? {
            parts.push(self.parse_and(depth)?);
        }
        Ok(one_or(parts, Expression::Or))
    }

    fn parse_and(&mut self, depth: u32) -> Parsed<Expression> {
        let mut parts = vec![self.parse_not(depth)?];
        while self.accept_word("and")? {
            parts.push(self.parse_not(depth)?);
        }
        Ok(one_or(parts, Expression::And))
    }

    fn parse_not(&mut self, depth: u32) -> Parsed<Expression> {
        if depth > DEEPEST {
            return Err((self.position, "these conditions nest too deeply".into()));
        }
        if self.accept_word("not")? {
            return self.parse_not(depth + 1).map(|inner| Expression::Not(Box::new(inner)));
        }
        self.parse_comparison(depth)
    }

    fn parse_comparison(&mut self, depth: u32) -> Parsed<Expression> {
        let first = self.parse_arithmetic(depth, 0)?;
        let mut rest = Vec::new();
        while let Some(comparison) = self.comparison_mark() {
            self.advance()?;
            rest.push((comparison, self.parse_arithmetic(depth, 0)?));
        }
        if rest.is_empty() {
            return Ok(first);
        }
        Ok(Expression::Compare(Box::new(first), rest))
    }

    /// Operators that bind as tightly as `level` or more, as in Python.
    fn parse_arithmetic(&mut self, depth: u32, level: usize) -> Parsed<Expression> {
        const LEVELS: [&[(&str, Operator)]; 4] = [
            &[("|", Operator::BitOr)],
            &[("&", Operator::BitAnd)],
            &[("+", Operator::Add), ("-", Operator::Subtract)],
            &[("*", Operator::Multiply), ("/", Operator::Divide), ("//", Operator::DivideDown)],
        ];
        let Some(operators) = LEVELS.get(level) else {
            return self.parse_operand(depth);
        };
        let mut left = self.parse_arithmetic(depth, level + 1)?;
        while let Some((_, operator)) = operators.iter().find(|(mark, _)| self.is_mark(mark)) {
            self.operators += 1;
            if self.operators > MAX_OPERATORS {
                return self.unexpected(&format!("at most {MAX_OPERATORS} operators"));
            }
            self.advance()?;
            left = binary(*operator, left, self.parse_arithmetic(depth, level + 1)?);
        }
        Ok(left)
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

    fn parse_operand(&mut self, depth: u32) -> Parsed<Expression> {
        if self.accept_mark("(")? {
            let inner = self.parse_or(depth + 1)?;
            self.expect_mark(")", "after the condition")?;
            return Ok(inner);
        }
        if self.is_word("abs") {
            self.advance()?;
            self.expect_mark("(", "after abs")?;
            let inner = self.parse_or(depth + 1)?;
            self.expect_mark(")", "after what abs is of")?;
            return Ok(Expression::Absolute(Box::new(inner)));
        }
        let operand = match self.token {
            Token::Int(n) => Some(Expression::Number(n.into())),
            Token::Seconds(decimal) => {
                let number = ExactFraction::new(decimal.as_nanos().into(), 1_000_000_000);
                number.map(Expression::Number)
            }
            Token::Word(name) => expression_of_name(name),
            _ => None,
        };
        match operand {
            Some(operand) => self.advance().map(|_| operand),
            None => self.unexpected(&operands()),
        }
    }
}

fn binary(operator: Operator, left: Expression, right: Expression) -> Expression {
    Expression::Binary(operator, Box::new(left), Box::new(right))
}

fn one_or(mut parts: Vec<Expression>, join: fn(Vec<Expression>) -> Expression) -> Expression {
    if parts.len() == 1 { parts.remove(0) } else { join(parts) }
}

fn is_condition(expression: &Expression) -> bool {
    !matches!(expression, Expression::Number(_) | Expression::Info(_) | Expression::Name(_))
}

/// Names that look like the connection's or the kernel's have to be known; others are variables.
fn expression_of_name(name: &str) -> Option<Expression> {
    let info = TcpInfoField::ALL.iter().find(|(known, _)| *known == name);
    let constant = CONSTANTS.iter().any(|(known, _)| *known == name);
    let looks_known =
        name.starts_with("tcpi_") || name.starts_with("TCP_CA_") || name.starts_with("TCPI_");
    match info {
        Some((_, info)) => Some(Expression::Info(*info)),
        None if constant || !looks_known => Some(Expression::Name(name.to_owned())),
        None => None,
    }
}

fn operands() -> String {
    let names: Vec<_> = TcpInfoField::ALL.iter().map(|(name, _)| *name).collect();
    format!("a number, a TCP_ constant, a variable, or one of {}", names.join(", "))
}
