//! Conditions of code blocks against what the host reports.

use super::super::model::{Assertion, Comparator, Condition, Operand, TcpInfoField};
use super::subject::Subject;
use super::{Failure, Held, Run};

/// Values by [`TcpInfoField::ALL`]; those that nobody asks for are zero.
type Values = [u64; TcpInfoField::ALL.len()];

impl<S: Subject> Run<'_, S> {
    /// All of `assertions` must hold; what the subject cannot say is counted and not judged.
    pub(super) fn assert(&mut self, assertions: &[Assertion]) -> Held {
        if !self.subject.has_connection() {
            let expected = assertions.first().map_or_else(String::new, |first| first.text.clone());
            let actual = "there is no connection".to_owned();
            return Err(Failure::new("nothing to ask", expected, actual));
        }
        for assertion in assertions {
            let Some(values) = self.values(&assertion.condition) else {
                self.not_asked += 1;
                continue;
            };
            if !holds(&assertion.condition, &values) {
                let failure = Failure::new(
                    "the assertion does not hold",
                    assertion.text.clone(),
                    named(&assertion.condition, &values),
                );
                return Err(Failure { line: Some(assertion.position.line), ..failure });
            }
        }
        Ok(())
    }

    /// What the condition asks for.
    fn values(&mut self, condition: &Condition) -> Option<Values> {
        let mut asked = Vec::new();
        collect(condition, &mut asked);
        let mut values = Values::default();
        for (value, (_, info)) in values.iter_mut().zip(TcpInfoField::ALL) {
            if asked.contains(&info) {
                *value = self.subject.info(info)?;
            }
        }
        Some(values)
    }
}

fn of(values: &Values, info: TcpInfoField) -> u64 {
    TcpInfoField::ALL
        .iter()
        .zip(values)
        .find(|((_, known), _)| *known == info)
        .map_or(0, |(_, value)| *value)
}

fn holds(condition: &Condition, values: &Values) -> bool {
    match condition {
        Condition::And(parts) => parts.iter().all(|part| holds(part, values)),
        Condition::Or(parts) => parts.iter().any(|part| holds(part, values)),
        Condition::Not(inner) => !holds(inner, values),
        Condition::Compare(first, rest) => chain_holds(*first, rest, values),
    }
}

/// As in Python, each operand is compared with the one before it.
fn chain_holds(first: Operand, rest: &[(Comparator, Operand)], values: &Values) -> bool {
    let mut left = value(first, values);
    rest.iter().all(|(comparison, operand)| {
        let right = value(*operand, values);
        let holds = compare(left, *comparison, right);
        left = right;
        holds
    })
}

fn value(operand: Operand, values: &Values) -> u64 {
    match operand {
        Operand::Number(n) => n,
        Operand::Info(info) => of(values, info),
    }
}

fn compare(left: u64, comparison: Comparator, right: u64) -> bool {
    match comparison {
        Comparator::Equal => left == right,
        Comparator::NotEqual => left != right,
        Comparator::Less => left < right,
        Comparator::LessOrEqual => left <= right,
        Comparator::Greater => left > right,
        Comparator::GreaterOrEqual => left >= right,
    }
}

/// `name = value` of everything that the condition asks, once each.
fn named(condition: &Condition, values: &Values) -> String {
    let mut asked = Vec::new();
    collect(condition, &mut asked);
    let names = TcpInfoField::ALL.iter().filter(|(_, info)| asked.contains(info));
    let list: Vec<_> =
        names.map(|(name, info)| format!("{name} = {}", of(values, *info))).collect();
    list.join(", ")
}

fn collect(condition: &Condition, asked: &mut Vec<TcpInfoField>) {
    match condition {
        Condition::And(parts) | Condition::Or(parts) => {
            parts.iter().for_each(|part| collect(part, asked));
        }
        Condition::Not(inner) => collect(inner, asked),
        Condition::Compare(first, rest) => {
            let operands = std::iter::once(first).chain(rest.iter().map(|(_, operand)| operand));
            asked.extend(operands.filter_map(|operand| match operand {
                Operand::Info(info) => Some(*info),
                Operand::Number(_) => None,
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number_chain(list: &[(u64, Comparator)], last: u64) -> bool {
        let first = Operand::Number(list[0].0);
        let mut rest = Vec::new();
        for (i, (_, comparison)) in list.iter().enumerate() {
            let right = list.get(i + 1).map_or(last, |(n, _)| *n);
            rest.push((*comparison, Operand::Number(right)));
        }
        holds(&Condition::Compare(first, rest), &Values::default())
    }

    #[test]
    fn a_chain_compares_neighbours() {
        use Comparator::{Less, LessOrEqual};
        assert!(number_chain(&[(1, LessOrEqual), (2, Less)], 3));
        // 2 < 2 is false although 1 <= 2 and 1 < 2 are true.
        assert!(!number_chain(&[(1, LessOrEqual), (2, Less)], 2));
    }
}
