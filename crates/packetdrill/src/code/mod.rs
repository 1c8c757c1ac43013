//! The assertions between `%{` and `}%`: a small, safe part of Python over names of `tcp_info`.
//!
//! Statements: `assert EXPRESSION[, MESSAGE]`, `print(EXPRESSION, ...)`, `NAME = EXPRESSION`, and assignments with
//! `+=`, `-=`, `*=`, separated by line ends or `;`. Assigned names are valid until the end of the script.
//! Expressions: integers, decimal fractions, strings, names, `+ - * / // %`, `&` and `|`, comparisons (chained as in
//! Python), `and`, `or`, `not`, parentheses. Any other code is unsupported, which is not the same as false.

mod expression;

use std::collections::BTreeMap;

use thiserror::Error;

pub use expression::Value;
use expression::{Expression, Reader, is_name};

/// A statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// The condition must be true.
    Assert {
        /// The condition.
        condition: Expression,
        /// The condition as written, for the report.
        text: String,
        /// Values to print if the condition is false.
        message: Vec<Expression>,
    },
    /// Values to print in the trace.
    Print(Vec<Expression>),
    /// Assigns a name of the script.
    Assign(String, Expression),
}

/// Names assigned by the script, with their values.
pub type Variables = BTreeMap<String, Value>;

/// Why code cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CodeError {
    /// Not in the supported part of Python.
    #[error("unsupported code at `{0}`")]
    Unsupported(String),
    /// A name that the endpoint does not provide.
    #[error("unknown name {0}")]
    UnknownName(String),
    /// An operation without a result: division by zero, or a string minus a number.
    #[error("no result: {0}")]
    NoResult(&'static str),
}

/// Reads the code of one event. As in Python, a backslash at the end of a line joins it with the next.
pub fn read(code: &str) -> Result<Vec<Statement>, CodeError> {
    code.replace("\\\n", " ")
        .split(['\n', ';'])
        .map(|line| line.split('#').next().unwrap_or_default().trim())
        .filter(|line| !line.is_empty())
        .map(statement)
        .collect()
}

fn statement(text: &str) -> Result<Statement, CodeError> {
    let unsupported = || CodeError::Unsupported(text.to_owned());
    if let Some((name, expression)) = assignment(text)? {
        return Ok(Statement::Assign(name, expression));
    }
    if let Some(rest) = text.strip_prefix("assert") {
        let mut reader = Reader::new(rest);
        let condition = reader.expression()?;
        let written = reader.taken().trim().to_owned();
        let message = if reader.take(",") {
            reader.list()?
        } else {
            Vec::new()
        };
        reader.end()?;
        return Ok(Statement::Assert {
            condition,
            text: written,
            message,
        });
    }
    let rest = text.strip_prefix("print").ok_or_else(unsupported)?;
    let mut reader = Reader::new(rest);
    let values = reader.list()?;
    reader.end()?;
    Ok(Statement::Print(values))
}

/// `name = x`, or `name += x`, which is read as `name = name + x`.
fn assignment(text: &str) -> Result<Option<(String, Expression)>, CodeError> {
    let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let rest = rest.trim_start();
    let begins_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let operator = ["+=", "-=", "*=", "="]
        .into_iter()
        .find(|operator| rest.starts_with(operator) && !rest.starts_with("=="));
    let (true, Some(operator)) = (begins_well, operator) else {
        return Ok(None);
    };
    let mut reader = Reader::new(&rest[operator.len()..]);
    let value = reader.expression()?;
    reader.end()?;
    let value = match operator {
        "+=" => Expression::arithmetic("+", name, value),
        "-=" => Expression::arithmetic("-", name, value),
        "*=" => Expression::arithmetic("*", name, value),
        _ => value,
    };
    Ok(Some((name.to_owned(), value)))
}

/// The result of running the code of one event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ran {
    /// One line for each assertion that is false: the condition and its message.
    pub failed: Vec<String>,
    /// One line for each `print`.
    pub printed: Vec<String>,
}

/// Runs the statements; `known` returns the value of a name that the script has not assigned.
pub fn run(
    statements: &[Statement],
    variables: &mut Variables,
    known: &dyn Fn(&str) -> Option<Value>,
) -> Result<Ran, CodeError> {
    let mut ran = Ran::default();
    for statement in statements {
        if let Statement::Assign(name, value) = statement {
            let value = value.value(&|name| lookup(variables, known, name))?;
            variables.insert(name.clone(), value);
            continue;
        }
        let name: &dyn Fn(&str) -> Option<Value> = &|name| lookup(variables, known, name);
        match statement {
            Statement::Assign(..) => {}
            Statement::Print(values) => ran.printed.push(show(values, name)?),
            Statement::Assert {
                condition,
                text,
                message,
            } => {
                if !condition.value(name)?.is_true() {
                    let message = show(message, name)?;
                    let sep = if message.is_empty() { "" } else { ": " };
                    ran.failed.push(format!("{text}{sep}{message}"));
                }
            }
        }
    }
    Ok(ran)
}

fn lookup(
    variables: &Variables,
    known: &dyn Fn(&str) -> Option<Value>,
    name: &str,
) -> Option<Value> {
    variables.get(name).cloned().or_else(|| known(name))
}

fn show(values: &[Expression], name: &dyn Fn(&str) -> Option<Value>) -> Result<String, CodeError> {
    let shown: Result<Vec<_>, _> = values
        .iter()
        .map(|e| e.value(name).map(|v| v.to_string()))
        .collect();
    Ok(shown?.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(name: &str) -> Option<Value> {
        match name {
            "tcpi_snd_cwnd" => Some(Value::Integer(10)),
            "tcpi_ca_state" | "TCP_CA_Recovery" => Some(Value::Integer(3)),
            _ => None,
        }
    }

    fn outcome(code: &str) -> Result<Ran, CodeError> {
        run(&read(code)?, &mut Variables::new(), &told)
    }

    #[test]
    fn false_assertions_report_their_values() {
        assert_eq!(
            outcome("assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd"),
            Ok(Ran::default())
        );
        let ran = outcome("\nassert tcpi_snd_cwnd == 7, tcpi_snd_cwnd\n").expect("runs");
        assert_eq!(ran.failed, ["tcpi_snd_cwnd == 7: 10"]);
        assert_eq!(
            outcome("print(tcpi_snd_cwnd, 'x'); assert 1")
                .expect("runs")
                .printed,
            ["10 x"]
        );
    }

    #[test]
    fn operators_bind_as_in_python() {
        for code in [
            "assert 1 + 2 * 3 == 7",
            "assert (1 + 2) * 3 == 9 and not 0",
            "assert 7 // 2 == 3 and 7 % 4 == 3 and 7 / 2 == 3.5",
            "assert -7 // 2 == -4 and -7 % 4 == 1",
            "assert 9 <= tcpi_snd_cwnd <= 11",
            "assert 0 or tcpi_ca_state == TCP_CA_Recovery",
            "assert not 1 == 2",
            "assert 2 < 3 != 4",
            "assert 0x1f == 31 and 'w=%d of %d' % (3, 4) == 'w=3 of 4'",
            "w = tcpi_snd_cwnd; w += 2; w *= 3; w -= 1\nassert w == 35 and tcpi_snd_cwnd == 10",
            "assert 'a' == \"a\" and 'a' != 1",
        ] {
            assert_eq!(outcome(code), Ok(Ran::default()), "{code}");
        }
        assert_eq!(outcome("assert 1 < 3 < 2").expect("runs").failed.len(), 1);
    }

    #[test]
    fn a_backslash_joins_lines() {
        let ran = outcome("assert tcpi_snd_cwnd == \\\n 9, \\\n tcpi_snd_cwnd").expect("runs");
        assert_eq!(ran.failed.len(), 1);
        assert!(ran.failed[0].ends_with(": 10"), "{:?}", ran.failed);
    }

    #[test]
    fn unknown_code_is_reported() {
        assert!(matches!(
            outcome("import os"),
            Err(CodeError::Unsupported(_))
        ));
        assert!(matches!(
            outcome("assert abs(-1) == 1"),
            Err(CodeError::Unsupported(_))
        ));
        assert_eq!(
            outcome("assert tcpi_colour == 1"),
            Err(CodeError::UnknownName("tcpi_colour".to_owned()))
        );
        assert!(matches!(
            outcome("assert 1 / 0"),
            Err(CodeError::NoResult(_))
        ));
        assert!(matches!(
            outcome(&format!("assert {}", "(".repeat(10_000))),
            Err(CodeError::Unsupported(_))
        ));
    }
}
