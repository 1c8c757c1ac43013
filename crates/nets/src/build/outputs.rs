//! Outputs of transitions, and what they change outside of the places.

use std::sync;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use inorder_base::random::Random;
use inorder_petri::coloured::{Bound, Counter, Queue, TransitionBuilder};

use super::transition::{Parts, count_of};
use super::{Builder, Handle};
use crate::ast::{Assign, Do, Expr, Name, OutLine};
use crate::code::{Int, Make, Real, Shared, Wrong};
use crate::error::{Checked, Fault, Span};
use crate::ir::{Node, TokenNode, TokenOp, Ty};
use crate::lower::Scope;
use crate::names::Item;
use crate::space::relevant::Source;
use crate::token::Token;

/// Actions may call each other this deep.
const MAX_CALLS: u32 = 16;

/// An output as written: plain tokens, or a token for the first place whose condition holds.
pub(super) enum Output<'l> {
    Plain {
        to: Counter,
        key: Option<&'l Expr>,
        count: Option<&'l Expr>,
        at: Span,
    },
    Token(Vec<Branch<'l>>),
}

pub(super) struct Branch<'l> {
    to: Queue,
    record: usize,
    value: &'l Expr,
    only_if: Option<&'l Expr>,
}

/// An output, checked.
pub(super) enum Arc {
    Plain {
        to: Counter,
        key: Option<(Node, Span)>,
        count: (Node, Span),
    },
    Token(Vec<Case>),
}

/// A token for a place, and the condition on which it comes there.
pub(super) struct Case {
    to: Queue,
    token: TokenNode,
    only_if: Option<Node>,
}

/// Adds a line to the outputs; one that begins with `else` belongs to the one before.
pub(super) fn add<'l, const N: usize>(
    builder: &Builder<'_, '_, N>,
    line: &'l OutLine,
    parts: &mut Parts<'l>,
) -> Checked<()> {
    let at = line.place.at;
    match builder.handle(&line.place)? {
        Handle::Counter(to) => {
            if line.is_else || line.only_if.is_some() {
                let problem =
                    "only tokens of records are added on a condition: use a number that may be 0";
                return Err(Fault::new(at, problem));
            }
            let (key, count) = (line.key.as_ref(), line.value.as_ref());
            parts.outputs.push(Output::Plain { to, key, count, at });
        }
        Handle::Queue(to, record) => {
            if let Some(key) = &line.key {
                return Err(Fault::new(key.at, "a token has its key itself"));
            }
            let Some(value) = &line.value else {
                let expected = format!("`{}: TOKEN`", line.place.text);
                return Err(Fault::expected(at, expected, "no token"));
            };
            let only_if = line.only_if.as_ref();
            let branch = Branch {
                to,
                record,
                value,
                only_if,
            };
            match (line.is_else, parts.outputs.last_mut()) {
                (false, _) => parts.outputs.push(Output::Token(vec![branch])),
                (true, Some(Output::Token(branches)))
                    if branches.last().is_some_and(|last| last.only_if.is_some()) =>
                {
                    branches.push(branch);
                }
                (true, _) => {
                    let problem = "expected `out PLACE: TOKEN if CONDITION` before else";
                    return Err(Fault::new(at, problem));
                }
            }
        }
    }
    Ok(())
}

pub(super) fn check<const N: usize>(
    builder: &Builder<'_, '_, N>,
    outputs: &[Output<'_>],
    scope: &Scope,
) -> Checked<Vec<Arc>> {
    let lower = builder.lower(scope.clone());
    let records: Vec<usize> = scope.tokens.iter().map(|(_, record)| *record).collect();
    let decides = |node: &Node, at: Span| builder.uses.borrow_mut().decides(node, &records, at);
    let checked = |output: &Output<'_>| match output {
        Output::Plain { to, key, count, at } => {
            let key = builder.key(&lower, *key)?;
            let count = count_of(&lower, *count, *at)?;
            if count.0.as_int().is_none() && key.is_some() {
                return Err(Fault::new(
                    count.1,
                    "an arc with a key has a constant number",
                ));
            }
            key.iter()
                .chain([&count])
                .for_each(|(node, at)| decides(node, *at));
            Ok(Arc::Plain {
                to: *to,
                key,
                count,
            })
        }
        Output::Token(branches) => {
            let branch = |branch: &Branch<'_>| {
                let token = lower.token(branch.value, branch.record)?;
                builder
                    .uses
                    .borrow_mut()
                    .token(&token, &records, branch.value.at);
                let only_if = branch.only_if.map(|on| lower.condition(on)).transpose()?;
                if let (Some(node), Some(on)) = (&only_if, branch.only_if) {
                    decides(node, on.at);
                }
                Ok(Case {
                    to: branch.to,
                    token: builder.kept(token),
                    only_if,
                })
            };
            Ok(Arc::Token(reachable(
                branches.iter().map(branch).collect::<Checked<_>>()?,
            )))
        }
    };
    outputs.iter().map(checked).collect()
}

/// Leaves out branches that are never taken because of a constant condition.
fn reachable(branches: Vec<Case>) -> Vec<Case> {
    let mut kept = Vec::new();
    for mut case in branches {
        match case.only_if.as_ref().map(Node::as_int) {
            Some(Some(0)) => {}
            None | Some(Some(_)) => {
                case.only_if = None;
                kept.push(case);
                return kept;
            }
            Some(None) => kept.push(case),
        }
    }
    kept
}

pub(super) fn arc<'b, const N: usize>(
    t: TransitionBuilder<'b, Token<N>>,
    output: Arc,
    shared: &Shared,
    mut random: Random,
) -> TransitionBuilder<'b, Token<N>> {
    match output {
        Arc::Plain {
            to,
            key,
            count: (count, at),
        } => match (key, count.as_int()) {
            (None, Some(fixed)) => t.give(to, fixed as u32),
            (Some((key, at)), fixed) => {
                let key = shared.count(&key, at);
                t.give_at(to, fixed.unwrap_or(1) as u32, move |b| key(b, &mut random))
            }
            (None, None) => {
                let count = shared.count(&count, at);
                t.give_with(to, move |b| count(b, &mut random))
            }
        },
        Arc::Token(branches) => tokens(t, &branches, shared, random),
    }
}

/// A [`Case`] as functions.
struct MadeCase<const N: usize> {
    on: Option<Int<N>>,
    make: Make<N>,
}

impl<const N: usize> MadeCase<N> {
    fn holds(&self, b: &Bound<'_, Token<N>>, random: &mut Random) -> bool {
        self.on.as_ref().is_none_or(|on| on(b, random) != 0)
    }
}

fn tokens<'b, const N: usize>(
    t: TransitionBuilder<'b, Token<N>>,
    branches: &[Case],
    shared: &Shared,
    mut random: Random,
) -> TransitionBuilder<'b, Token<N>> {
    let is_total = branches.last().is_some_and(|case| case.only_if.is_none());
    if let ([Case { to, token, .. }], true) = (branches, is_total) {
        if let TokenOp::Bound(index) = token.op {
            return t.pass(*to, index);
        }
        let make: Make<N> = shared.token(token);
        return t.put(*to, move |b| make(b, &mut random));
    }
    let made: Vec<MadeCase<N>> = branches
        .iter()
        .map(|case| MadeCase {
            on: case.only_if.as_ref().map(|on| shared.int(on)),
            make: shared.token(&case.token),
        })
        .collect();
    let places: Vec<Queue> = branches.iter().map(|case| case.to).collect();
    if is_total {
        return t.route_among(&places, move |b| {
            let first = made.iter().position(|case| case.holds(b, &mut random));
            let first = first.unwrap_or(made.len() - 1);
            (first, (made[first].make)(b, &mut random))
        });
    }
    // Without a place for all other cases there may be no token: each place asks which branch is taken.
    let made = sync::Arc::new(made);
    (0..places.len()).fold(t, |t, number| {
        let (made, mut random) = (sync::Arc::clone(&made), random.clone());
        let choices = shared.choices.clone();
        t.put_if(places[number], move |b| {
            match (&choices, number) {
                (None, _) => {}
                (Some(choices), 0) => choices.mark(),
                (Some(choices), _) => choices.again(),
            }
            let first = made.iter().position(|case| case.holds(b, &mut random));
            let token = (first == Some(number)).then(|| (made[number].make)(b, &mut random));
            choices.iter().for_each(|choices| choices.go_on());
            token
        })
    })
}

type Act<const N: usize> = Box<dyn Fn(&Bound<'_, Token<N>>, &mut Random) + Send + Sync>;

/// All changes of variables as one function, in their order.
pub(super) fn acts<const N: usize>(
    builder: &Builder<'_, '_, N>,
    lines: &[&Do],
    scope: &Scope,
    stream: &Random,
) -> Checked<Option<impl FnMut(&Bound<'_, Token<N>>) + use<N>>> {
    let mut all: Vec<Act<N>> = Vec::new();
    for line in lines {
        collect(builder, line, scope, 0, &mut all)?;
    }
    let mut random = stream.clone();
    Ok((!all.is_empty()).then_some(move |b: &Bound<'_, Token<N>>| {
        for act in &all {
            act(b, &mut random);
        }
    }))
}

fn collect<const N: usize>(
    builder: &Builder<'_, '_, N>,
    line: &Do,
    scope: &Scope,
    depth: u32,
    all: &mut Vec<Act<N>>,
) -> Checked<()> {
    match line {
        Do::Action(name) => {
            let Some(Item::Action(lines)) = builder.names.item(&name.text) else {
                let known = builder.names.known();
                return Err(Fault::unknown(
                    name.at,
                    "the name of an action",
                    &name.text,
                    known,
                ));
            };
            if depth >= MAX_CALLS {
                let problem = format!("actions call each other more than {MAX_CALLS} deep");
                return Err(Fault::new(name.at, problem));
            }
            lines
                .iter()
                .try_for_each(|line| collect(builder, line, scope, depth + 1, all))
        }
        Do::Assign {
            name,
            index,
            how,
            value,
        } => {
            let assigned = assignment(builder, name, index.as_ref(), *how, value, scope)?;
            all.extend(assigned);
            Ok(())
        }
    }
}

/// The change of a variable; `None` if nothing reads it.
fn assignment<const N: usize>(
    builder: &Builder<'_, '_, N>,
    name: &Name,
    index: Option<&Expr>,
    how: Assign,
    value: &Expr,
    scope: &Scope,
) -> Checked<Option<Act<N>>> {
    let Some(&Item::Variable(number)) = builder.names.item(&name.text) else {
        let (known, expected) = (builder.names.known(), "the name of a variable");
        return Err(Fault::unknown(name.at, expected, &name.text, known));
    };
    let variable = builder.names.variables[number];
    let lower = builder.lower(scope.clone());
    let index = match (variable.is_list, index) {
        (true, Some(index)) => Some((lower.int(index)?, index.at)),
        (false, None) => None,
        (true, None) => {
            let expected = format!("{}[INDEX]", name.text);
            return Err(Fault::expected(name.at, expected, "no index"));
        }
        (false, Some(index)) => {
            return Err(Fault::new(index.at, format!("{} is not a list", name.text)));
        }
    };
    let node = lower.of_type(value, variable.ty)?;
    if how != Assign::Set && !matches!(node.ty, Ty::Int | Ty::Real(_)) {
        return Err(builder.names.mistyped(value.at, "a number", node.ty));
    }
    let records: Vec<usize> = scope.tokens.iter().map(|(_, record)| *record).collect();
    let to = Source::Variable(variable.first);
    if builder.keep.as_ref().is_some_and(|keep| !keep.has(to)) {
        return Ok(None);
    }
    let mut uses = builder.uses.borrow_mut();
    uses.flows(to, &node, &records, value.at);
    if let Some((index, at)) = &index {
        uses.flows(to, index, &records, *at);
    }
    let (first, cells) = (variable.first, variable.cells);
    Ok(Some(assign(
        &builder.shared,
        first,
        cells,
        index,
        how,
        name.at,
        &node,
    )))
}

fn assign<const N: usize>(
    shared: &Shared,
    first: usize,
    cells: usize,
    index: Option<(Node, Span)>,
    how: Assign,
    name_at: Span,
    node: &Node,
) -> Act<N> {
    let variables = sync::Arc::clone(&shared.variables);
    type At<const N: usize> = Box<dyn Fn(&Bound<'_, Token<N>>, &mut Random) -> usize + Send + Sync>;
    let at: At<N> = match index {
        None => Box::new(move |_, _| first),
        Some((index, span)) => {
            let cell = shared.cell(cells, &index, span);
            Box::new(move |b, r| first + cell(b, r))
        }
    };
    if node.is_real() {
        let value: Real<N> = shared.real(node);
        return Box::new(move |b, r| {
            let value = value(b, r);
            let cell: &AtomicI64 = &variables[at(b, r)];
            let before = f64::from_bits(cell.load(Relaxed).cast_unsigned());
            let after = match how {
                Assign::Set => value,
                Assign::Add => before + value,
                Assign::Subtract => before - value,
            };
            cell.store(after.to_bits().cast_signed(), Relaxed);
        });
    }
    let (value, errors): (Int<N>, _) = (shared.int(node), sync::Arc::clone(&shared.errors));
    Box::new(move |b, r| {
        let value = value(b, r);
        let cell = &variables[at(b, r)];
        // One thread at a time writes, so reading and writing need not be one step.
        let before = cell.load(Relaxed);
        let after = match how {
            Assign::Set => Some(value),
            Assign::Add => before.checked_add(value),
            Assign::Subtract => before.checked_sub(value),
        };
        match after {
            Some(after) => cell.store(after, Relaxed),
            None => errors.tell(name_at, Wrong::Overflow),
        }
    })
}
