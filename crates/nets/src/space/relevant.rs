//! Which fields and variables decide what happens. What a net only measures, such as the time at which a job came, is
//! no part of its states.

use std::collections::BTreeSet;

use crate::error::{Checked, Fault, Span};
use crate::ir::{DrawKind, Node, Op, Store, TokenNode, TokenOp};

/// What a value depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// A field: its record and its word.
    Field(usize, usize),
    /// A variable, by its first cell.
    Variable(usize),
    /// `now` or `started`.
    Time,
    /// A random number of a continuous distribution.
    Continuous,
}

/// What decides, and what flows into what.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    decide: Vec<(Source, Span)>,
    flows: Vec<(Source, Source, Span)>,
}

/// The fields and variables that decide what happens.
#[derive(Debug, Default, Clone)]
pub(crate) struct Relevant(BTreeSet<Source>);

impl Uses {
    /// A value that decides something; `records` are those of the tokens to which it refers.
    pub(crate) fn decides(&mut self, node: &Node, records: &[usize], at: Span) {
        let sources = sources(node, records);
        self.decide
            .extend(sources.into_iter().map(|source| (source, at)));
    }

    /// A value that is stored.
    pub(crate) fn flows(&mut self, to: Source, node: &Node, records: &[usize], at: Span) {
        let sources = sources(node, records);
        self.flows
            .extend(sources.into_iter().map(|source| (to, source, at)));
    }

    /// A token that is made.
    pub(crate) fn token(&mut self, token: &TokenNode, records: &[usize], at: Span) {
        match &token.op {
            TokenOp::Bound(_) => {}
            TokenOp::New(stores) => self.stores(token.record, stores, records),
            TokenOp::With(base, stores) => {
                self.token(base, records, at);
                self.stores(token.record, stores, records);
            }
            TokenOp::If(on, then, otherwise) => {
                self.decides(on, records, at);
                self.token(then, records, at);
                self.token(otherwise, records, at);
            }
        }
    }

    fn stores(&mut self, record: usize, stores: &[Store], records: &[usize]) {
        for store in stores {
            let to = Source::Field(record, store.slot.at);
            self.flows(to, &store.value, records, store.at);
        }
    }

    /// All that decides, directly or through fields and variables.
    pub(crate) fn relevant(&self) -> Checked<Relevant> {
        let mut open = self.decide.clone();
        let mut found = BTreeSet::new();
        while let Some((source, at)) = open.pop() {
            let why = match source {
                Source::Time => "`now` or `started`: the states are infinitely many, as times are",
                Source::Continuous => {
                    "a random number of a continuous distribution: the states are infinitely many (`chance(p)`, `below(n)` \
                     and `empirical` have finitely many values)"
                }
                Source::Field(..) | Source::Variable(_) => {
                    if found.insert(source) {
                        let into = self.flows.iter().filter(|(to, ..)| *to == source);
                        open.extend(into.map(|(_, from, at)| (*from, *at)));
                    }
                    continue;
                }
            };
            let problem = format!("what happens depends on {why}; --simulate goes without them");
            return Err(Fault::new(
                at,
                problem.replace("--simulate goes", "a simulation does"),
            ));
        }
        Ok(Relevant(found))
    }
}

impl Relevant {
    pub(crate) fn has(&self, source: Source) -> bool {
        self.0.contains(&source)
    }

    /// The token without fields that decide nothing.
    pub(crate) fn token(&self, mut token: TokenNode) -> TokenNode {
        let record = token.record;
        let keep = |store: &Store| self.has(Source::Field(record, store.slot.at));
        match &mut token.op {
            TokenOp::Bound(_) => {}
            TokenOp::New(stores) => stores.retain(keep),
            TokenOp::With(base, stores) => {
                stores.retain(keep);
                **base = self.token((**base).clone());
            }
            TokenOp::If(_, then, otherwise) => {
                **then = self.token((**then).clone());
                **otherwise = self.token((**otherwise).clone());
            }
        }
        token
    }
}

fn sources(node: &Node, records: &[usize]) -> BTreeSet<Source> {
    let mut found = BTreeSet::new();
    node.walk(&mut |op| {
        let source = match op {
            Op::Field(token, slot) => records.get(*token).map(|&r| Source::Field(r, slot.at)),
            Op::Variable(first, ..) => Some(Source::Variable(*first)),
            Op::Now | Op::Started => Some(Source::Time),
            Op::Draw(draw) => match &draw.kind {
                DrawKind::Chance(_) | DrawKind::Below(_) | DrawKind::Empirical(_) => None,
                _ => Some(Source::Continuous),
            },
            _ => None,
        };
        found.extend(source);
    });
    found
}
