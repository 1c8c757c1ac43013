//! Initial tokens.

use inorder_base::random::Random;
use inorder_petri::coloured::Bound;

use super::Builder;
use crate::ast::TokenLine;
use crate::error::{Checked, Fault};
use crate::ir::Node;
use crate::lower::{Scope, Value};
use crate::token::Token;

/// Initial tokens of a place, at most.
const MAX_TOKENS: usize = 1_000_000;

pub(super) fn tokens<const N: usize>(
    builder: &Builder<'_, '_, N>,
    lines: &[TokenLine],
    record: usize,
) -> Checked<Vec<Token<N>>> {
    let mut all = Vec::new();
    for line in lines {
        let mut values = Vec::new();
        add(builder, line, record, &mut values, &mut all)?;
    }
    Ok(all)
}

/// Adds the tokens of a line for all values of the variables that have none yet.
fn add<const N: usize>(
    builder: &Builder<'_, '_, N>,
    line: &TokenLine,
    record: usize,
    values: &mut Vec<(String, Value)>,
    all: &mut Vec<Token<N>>,
) -> Checked<()> {
    let scope = Scope {
        values: values.clone(),
        ..Scope::constant()
    };
    let lower = builder.lower(scope);
    if let Some((name, low, high)) = line.each.get(values.len()) {
        let known = |expr| {
            let node = lower.int(expr)?;
            let unknown = || Fault::new(expr.at, "expected a number that is known before the run");
            node.as_int().ok_or_else(unknown)
        };
        let (from, to) = (known(low)?, known(high)?);
        if to.saturating_sub(from) > MAX_TOKENS as i64 {
            return Err(Fault::expected(
                high.at,
                format!("at most {MAX_TOKENS} values"),
                to,
            ));
        }
        for value in from..to {
            values.push((name.text.clone(), Value::Number(Node::int(value))));
            add(builder, line, record, values, all)?;
            values.pop();
        }
        return Ok(());
    }
    if let Some(condition) = &line.only_if {
        let node = lower.condition(condition)?;
        match node.as_int() {
            Some(0) => return Ok(()),
            Some(_) => {}
            None => {
                return Err(Fault::new(
                    condition.at,
                    "expected a condition that is known before the run",
                ));
            }
        }
    }
    if all.len() >= MAX_TOKENS {
        let problem = format!("more than {MAX_TOKENS} tokens at the start");
        return Err(Fault::new(line.value.at, problem));
    }
    let node = lower.token(&line.value, record)?;
    let nothing = Bound {
        tokens: &[],
        colour: 0,
        now: 0,
        started: 0,
    };
    let make = builder.shared.token(&builder.kept(node));
    all.push(make(&nothing, &mut Random::new(0, "")));
    Ok(())
}
