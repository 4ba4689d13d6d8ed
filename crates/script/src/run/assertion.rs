//! Code blocks against what the host reports.

use super::super::code::{Expression, Statement, Unknown};
use super::super::model::{CodeLine, TcpInfoField};
use super::super::number::ExactFraction;
use super::subject::Subject;
use super::{CheckResult, Failure, Run};

impl<S: Subject> Run<'_, S> {
    /// All assertions among `lines` must hold; unanswered ones are noted and not judged.
    pub(super) fn code(&mut self, lines: &[CodeLine]) -> CheckResult {
        for line in lines {
            self.line(line)
                .map_err(|failure| Failure { line: Some(line.position.line), ..failure })?;
        }
        Ok(())
    }

    fn line(&mut self, line: &CodeLine) -> CheckResult {
        let expression = match &line.statement {
            Statement::Assert(expression) | Statement::Assign(_, expression) => expression,
        };
        let fails =
            |message: &str, actual: String| Err(Failure::new(message, line.text.clone(), actual));
        if !expression.tcp_info_fields().is_empty() && !self.can_ask() {
            return fails("nothing to ask", "there is no connection".to_owned());
        }
        match (self.value(expression), &line.statement) {
            (Err(Unknown::Unanswered), Statement::Assert(_)) => self.not_asked += 1,
            (Err(Unknown::Unanswered), Statement::Assign(..)) => {
                return fails("this has no value here", "it cannot be asked for".to_owned());
            }
            (Err(Unknown::Name(name)), _) => {
                return fails("this has no value", format!("{name} was never given one"));
            }
            (Err(Unknown::NoNumber), _) => {
                return fails("this has no value", "no number comes of it".to_owned());
            }
            (Ok(ExactFraction::ZERO), Statement::Assert(_)) => {
                return fails("the assertion does not hold", self.values_text(expression));
            }
            (Ok(_), Statement::Assert(_)) => {}
            (Ok(value), Statement::Assign(name, _)) => {
                self.variables.insert(name.clone(), value);
            }
        }
        Ok(())
    }

    fn can_ask(&mut self) -> bool {
        self.under_test().is_some_and(|connection| self.subject.has_connection(connection))
    }

    fn value(&mut self, expression: &Expression) -> Result<ExactFraction, Unknown> {
        let under_test = self.under_test();
        let subject = &mut self.subject;
        expression.value(&self.variables, &mut |info| subject.info(under_test?, info))
    }

    /// `name = value` of everything that the condition asks.
    fn values_text(&mut self, expression: &Expression) -> String {
        let under_test = self.under_test();
        let name = |info: TcpInfoField| {
            TcpInfoField::ALL.iter().find(|(_, known)| *known == info).map_or("", |(name, _)| name)
        };
        let value =
            |subject: &mut S, info| under_test.and_then(|number| subject.info(number, info));
        let asked = expression.tcp_info_fields().into_iter();
        let list: Vec<_> = asked
            .map(|info| (name(info), value(&mut self.subject, info)))
            .map(|(name, value)| match value {
                Some(value) => format!("{name} = {value}"),
                None => format!("{name} cannot be asked for"),
            })
            .collect();
        list.join(", ")
    }
}
