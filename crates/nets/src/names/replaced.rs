//! Which declaration holds where several files have one of the same name.

use std::collections::HashMap;

use crate::ast::{Kind, Statement};
use crate::error::{Checked, Fault};

/// A name in one of the name spaces: declarations, measures, sweeps, and what exists once.
fn key(kind: &Kind) -> Option<(u8, &str)> {
    Some(match kind {
        Kind::Parameter(p) => (0, &p.name.text),
        Kind::Constant { name, .. }
        | Kind::Enum { name, .. }
        | Kind::Record { name, .. }
        | Kind::Variable { name, .. }
        | Kind::Stream(name)
        | Kind::Function { name, .. }
        | Kind::Action { name, .. }
        | Kind::Alias { name, .. } => (0, &name.text),
        Kind::Place(place) => (0, &place.name.text),
        Kind::Transition(transition) => (0, &transition.name.text),
        Kind::Measure { name, .. } => (1, &name.text),
        Kind::Order(order) => (1, &order.name.text),
        Kind::Sweep { name, .. } => (2, &name.text),
        Kind::Clock { .. } => (3, "clock"),
        Kind::Run(_) => (3, "run"),
        Kind::Chain(_) => (3, "chain"),
        Kind::Include(_) | Kind::If { .. } => return None,
    })
}

/// Leaves out what is replaced: the declaration of the file that includes holds, at the place of the included one.
pub(super) fn replaced<'p>(all: &[&'p Statement]) -> Checked<Vec<&'p Statement>> {
    let mut kept: Vec<Option<&Statement>> = Vec::new();
    let mut places: HashMap<(u8, &str), usize> = HashMap::new();
    for &statement in all {
        let Some(key) = key(&statement.kind) else {
            kept.push(Some(statement));
            continue;
        };
        let before = places.get(&key).copied();
        let other = before.and_then(|at| kept[at].map(|other| (at, other)));
        match other {
            None => {
                places.insert(key, kept.len());
                kept.push(Some(statement));
            }
            Some((at, other)) if statement.depth < other.depth => kept[at] = Some(statement),
            Some((at, other)) if statement.depth > other.depth => {
                kept[at] = None;
                places.insert(key, kept.len());
                kept.push(Some(other));
            }
            Some((_, other)) => {
                let problem = format!(
                    "{} is declared twice, first in line {}",
                    key.1, other.at.line
                );
                return Err(Fault::new(statement.at, problem));
            }
        }
    }
    Ok(kept.into_iter().flatten().collect())
}
