//! Transitions: inputs, guard, timing.

use inorder_base::random::Random;
use inorder_petri::coloured::{Bound, Delay, Queue, TransitionBuilder};

use super::cancels::Cancels;
use super::outputs::{self, Output};
use super::{Builder, Handle};
use crate::ast::{
    ArcKind, ArcLine, CancelLine, Do, Expr, ExprKind, Name, PlaceDecl, TransitionDecl,
};
use crate::code::{DELAYS, Int, Wrong};
use crate::error::{Checked, Fault, Span};
use crate::ir::{DrawKind, Node, Op};
use crate::lower::{Lower, May, Scope};
use crate::token::Token;
use crate::units::{NUMBER, TIME};

/// An arc of an input, checked.
enum Input {
    Take {
        from: Queue,
        many: u32,
        key: Option<(Node, Span)>,
        keep: bool,
    },
    Spend {
        from: inorder_petri::coloured::Counter,
        count: (Node, Span),
        key: Option<(Node, Span)>,
        keep: bool,
    },
}

/// An arc that forbids starting.
struct Inhibitor {
    place: Handle,
    /// From this number of tokens on.
    count: u32,
    /// Only those of the colour count.
    of_colour: bool,
}

/// What the lines of a transition say; the last line of a kind that may stand once holds.
#[derive(Default)]
pub(super) struct Parts<'l> {
    pub(super) tokens: Vec<(String, usize)>,
    /// An arc determines the colour.
    has_colour: bool,
    inputs: Vec<Input>,
    inhibitors: Vec<Inhibitor>,
    resets: Vec<Handle>,
    guard: Option<&'l Expr>,
    delay: Option<&'l Expr>,
    priority: Option<u32>,
    weight: Option<f64>,
    servers: Option<u32>,
    pub(super) acts: Vec<&'l Do>,
    cancels: Vec<&'l CancelLine>,
    pub(super) outputs: Vec<Output<'l>>,
}

impl Parts<'_> {
    /// What an expression of the transition may name.
    fn may(&self, may: May) -> May {
        May {
            colour: self.has_colour,
            ..may
        }
    }
}

/// Whether a key is that which arcs without one have.
fn is_colour(key: &Expr) -> bool {
    key.kind == ExprKind::Name("colour".to_owned())
}

impl<'p, const N: usize> Builder<'_, 'p, N> {
    pub(super) fn transition(
        &mut self,
        transition: &'p TransitionDecl,
        cancels: &mut Vec<Cancels<'p>>,
    ) -> Checked<()> {
        let mut lines = Vec::new();
        self.expand(&transition.lines, &mut lines)?;
        let mut parts = Parts {
            has_colour: self.has_colour(&lines)?,
            ..Parts::default()
        };
        for line in lines {
            self.line(line, &mut parts)?;
        }
        let scope = Scope {
            tokens: parts.tokens.clone(),
            ..Scope::default()
        };
        let guard = self.guard(&parts, &scope)?;
        let end = Scope {
            may: parts.may(May::EVERYTHING),
            ..scope
        };
        let delay = match parts.delay {
            Some(delay) => Some((self.lower(end.clone()).real(delay, TIME)?, delay.at)),
            None => None,
        };
        let name = format!("{}{}", self.names.hop.prefix(), transition.name.text);
        let stream = Random::new(self.seed, &format!("arcs/{name}"));
        let acts = outputs::acts(self, &parts.acts, &end, &stream)?;
        let finished = outputs::check(self, &parts.outputs, &end)?;
        self.note(&parts, guard.as_ref(), delay.as_ref());
        let records = parts.tokens.iter().map(|(_, record)| *record);
        self.bound.push(records.collect());
        let shared = self.shared.clone();
        let mut t = self.model.transition(name);
        for input in std::mem::take(&mut parts.inputs) {
            t = input_arc(t, input, &shared);
        }
        t = parts.inhibitors.iter().fold(t, inhibitor_arc);
        for handle in parts.resets {
            t = match handle {
                Handle::Queue(queue, _) => t.reset(queue),
                Handle::Counter(counter) => t.reset(counter),
            };
        }
        t = parts
            .priority
            .into_iter()
            .fold(t, TransitionBuilder::priority);
        t = parts.weight.into_iter().fold(t, TransitionBuilder::weight);
        t = parts
            .servers
            .into_iter()
            .fold(t, TransitionBuilder::servers);
        if let Some(guard) = guard {
            let holds: Int<N> = shared.int(&guard);
            let mut none = Random::new(0, "");
            t = t.guard(move |b| holds(b, &mut none) != 0);
        }
        t = match delay {
            Some((node, at)) => timed(t, &node, at, &shared),
            None => t,
        };
        if let Some(act) = acts {
            t = t.act(act);
        }
        for (number, output) in (0..).zip(finished) {
            t = outputs::arc(t, output, &shared, stream.fork(number));
        }
        let by = t.id();
        let (lines, tokens) = (parts.cancels, parts.tokens);
        cancels.extend(lines.into_iter().map(|line| Cancels {
            line,
            by,
            tokens: tokens.clone(),
        }));
        Ok(())
    }

    /// Notes what decides whether the transition starts and how long it takes.
    fn note(&self, parts: &Parts<'_>, guard: Option<&Node>, delay: Option<&(Node, Span)>) {
        let records: Vec<usize> = parts.tokens.iter().map(|(_, record)| *record).collect();
        let mut uses = self.uses.borrow_mut();
        let mut decides = |node: &Node, at: Span| uses.decides(node, &records, at);
        for input in &parts.inputs {
            let (key, count) = match input {
                Input::Take { key, .. } => (key, None),
                Input::Spend { key, count, .. } => (key, Some(count)),
            };
            key.iter()
                .chain(count)
                .for_each(|(node, at)| decides(node, *at));
        }
        if let (Some(node), Some(expr)) = (guard, parts.guard) {
            decides(node, expr.at);
        }
        // Only exponential delays are looked at: for others the rates of states are not known.
        if let Some((
            Node {
                op: Op::Draw(draw), ..
            },
            at,
        )) = delay
        {
            match &draw.kind {
                DrawKind::Exponential(mean) => decides(mean, *at),
                DrawKind::Erlang(stages, mean) => {
                    decides(stages, *at);
                    decides(mean, *at);
                }
                _ => {}
            }
        }
    }

    /// The lines that exist with the present parameters.
    fn expand(&self, from: &'p [ArcLine], to: &mut Vec<&'p ArcLine>) -> Checked<()> {
        for line in from {
            let ArcKind::If {
                on,
                then,
                otherwise,
            } = &line.kind
            else {
                to.push(line);
                continue;
            };
            let chosen = if self.names.condition(on)? {
                then
            } else {
                otherwise
            };
            self.expand(chosen, to)?;
        }
        Ok(())
    }

    fn line<'l>(&self, line: &'l ArcLine, parts: &mut Parts<'l>) -> Checked<()> {
        match &line.kind {
            ArcKind::Priority(expr) => parts.priority = Some(self.natural(expr)?),
            ArcKind::Weight(expr) => parts.weight = Some(self.names.real(expr, NUMBER)?),
            ArcKind::Servers(expr) => parts.servers = Some(self.natural(expr)?),
            ArcKind::Delay(expr) => parts.delay = Some(expr),
            ArcKind::Guard(expr) => parts.guard = Some(expr),
            ArcKind::Inhibit { place, key, count } => {
                if let Some(key) = key
                    && !is_colour(key)
                {
                    return Err(Fault::expected(key.at, "colour", "another key"));
                }
                let count = count.as_ref().map_or(Ok(1), |count| self.natural(count))?;
                parts.inhibitors.push(Inhibitor {
                    place: self.handle(place)?,
                    count,
                    of_colour: key.is_some(),
                });
            }
            ArcKind::Reset(place) => parts.resets.push(self.handle(place)?),
            ArcKind::Cancel(line) => parts.cancels.push(line),
            ArcKind::Do(action) => parts.acts.push(action),
            ArcKind::Out(out) => outputs::add(self, out, parts)?,
            ArcKind::In { .. } => self.input(line, parts)?,
            ArcKind::If { .. } => {}
        }
        Ok(())
    }

    fn input(&self, line: &ArcLine, parts: &mut Parts<'_>) -> Checked<()> {
        let ArcKind::In {
            bind,
            place,
            key,
            count,
            keep,
        } = &line.kind
        else {
            return Ok(());
        };
        let scope = Scope {
            tokens: parts.tokens.clone(),
            may: parts.may(May::TOKENS),
            ..Scope::default()
        };
        let lower = self.lower(scope);
        let own = key.as_ref().filter(|key| !is_colour(key));
        let key = self.key(&lower, own)?;
        let input = match self.handle(place)? {
            Handle::Queue(from, record) => {
                if let Some(count) = count {
                    return Err(Fault::expected(
                        count.at,
                        "the end of the line: names say how many tokens are taken, as in `in a, b: queue`",
                        "a number",
                    ));
                }
                let (many, keep) = (bind.len().max(1), *keep);
                if many > 1 && (key.is_some() || keep) {
                    return Err(Fault::new(
                        line.at,
                        "an arc with a key, or one that reads, binds one token",
                    ));
                }
                name(parts, bind, many, record)?;
                let many = many as u32;
                Input::Take {
                    from,
                    many,
                    key,
                    keep,
                }
            }
            Handle::Counter(from) => {
                if let Some(name) = bind.first() {
                    let problem = format!("{} holds plain tokens, which have no name", place.text);
                    return Err(Fault::new(name.at, problem));
                }
                let (count, keep) = (count_of(&lower, count.as_ref(), line.at)?, *keep);
                if count.0.as_int().is_none() && (key.is_some() || keep) {
                    return Err(Fault::new(
                        count.1,
                        "an arc with a key, or one that reads, has a constant number",
                    ));
                }
                Input::Spend {
                    from,
                    count,
                    key,
                    keep,
                }
            }
        };
        parts.inputs.push(input);
        Ok(())
    }

    /// The key of an arc.
    pub(super) fn key(
        &self,
        lower: &Lower<'_, '_>,
        key: Option<&Expr>,
    ) -> Checked<Option<(Node, Span)>> {
        let Some(key) = key else {
            return Ok(None);
        };
        let node = lower.number(key)?;
        if node.is_real() {
            return Err(self.names.mistyped(key.at, "a whole number", node.ty));
        }
        Ok(Some((node, key.at)))
    }

    pub(super) fn handle(&self, place: &Name) -> Checked<Handle> {
        Ok(self.places[self.names.place(place)?])
    }

    /// Whether an arc takes or reads tokens of the colour.
    fn has_colour(&self, lines: &[&ArcLine]) -> Checked<bool> {
        for line in lines {
            if let ArcKind::In { place, key, .. } = &line.kind
                && key.as_ref().is_none_or(is_colour)
            {
                let place = self.names.declared(self.names.place(place)?);
                if place.is_some_and(PlaceDecl::has_keys) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn guard(&self, parts: &Parts<'_>, scope: &Scope) -> Checked<Option<Node>> {
        let Some(guard) = parts.guard else {
            return Ok(None);
        };
        let scope = Scope {
            may: parts.may(May::TOKENS),
            ..scope.clone()
        };
        let node = self.lower(scope).condition(guard)?;
        // A guard that always holds is none.
        Ok(Some(node).filter(|node| node.as_int() != Some(1)))
    }
}

/// The number of plain tokens of an arc, by default 1.
pub(super) fn count_of(
    lower: &Lower<'_, '_>,
    count: Option<&Expr>,
    default_at: Span,
) -> Checked<(Node, Span)> {
    let (node, at) = match count {
        Some(count) => (lower.int(count)?, count.at),
        None => (Node::int(1), default_at),
    };
    if node.as_int().is_some_and(|n| u32::try_from(n).is_err()) {
        let expected = "a number from 0 to 4294967295";
        return Err(Fault::expected(at, expected, "another one"));
    }
    Ok((node, at))
}

/// Names the tokens that an arc takes; those without a name are there, too.
fn name(parts: &mut Parts<'_>, names: &[Name], many: usize, record: usize) -> Checked<()> {
    for name in names {
        if parts.tokens.iter().any(|(other, _)| *other == name.text) {
            let problem = format!("two tokens are called {}", name.text);
            return Err(Fault::new(name.at, problem));
        }
        parts.tokens.push((name.text.clone(), record));
    }
    let unnamed = (names.len()..many).map(|_| (String::new(), record));
    parts.tokens.extend(unnamed);
    Ok(())
}

fn inhibitor_arc<'b, const N: usize>(
    t: TransitionBuilder<'b, Token<N>>,
    arc: &Inhibitor,
) -> TransitionBuilder<'b, Token<N>> {
    match (arc.place, arc.of_colour) {
        (Handle::Queue(queue, _), false) => t.inhibit(queue, arc.count),
        (Handle::Queue(queue, _), true) => t.inhibit_colour(queue, arc.count),
        (Handle::Counter(counter), false) => t.inhibit(counter, arc.count),
        (Handle::Counter(counter), true) => t.inhibit_colour(counter, arc.count),
    }
}

fn input_arc<'b, const N: usize>(
    t: TransitionBuilder<'b, Token<N>>,
    input: Input,
    shared: &crate::code::Shared,
) -> TransitionBuilder<'b, Token<N>> {
    let mut none = Random::new(0, "");
    match input {
        Input::Take {
            from,
            many: 1,
            key: None,
            keep: true,
        } => t.read(from),
        Input::Take {
            from,
            many,
            key: None,
            ..
        } => t.take_many(from, many),
        Input::Take {
            from,
            key: Some((key, at)),
            keep,
            ..
        } => {
            let key = shared.count(&key, at);
            let key = move |b: &Bound<'_, Token<N>>| key(b, &mut none);
            match keep {
                true => t.read_at(from, key),
                false => t.take_at(from, key),
            }
        }
        Input::Spend {
            from,
            count: (count, at),
            key,
            keep,
        } => {
            let Some(fixed) = count.as_int() else {
                let count = shared.count(&count, at);
                return t.spend_with(from, move |b| count(b, &mut none));
            };
            let fixed = fixed as u32;
            match (key, keep) {
                (None, false) => t.spend(from, fixed),
                (None, true) => t.test(from, fixed),
                (Some((key, at)), keep) => {
                    let key = shared.count(&key, at);
                    let key = move |b: &Bound<'_, Token<N>>| key(b, &mut none);
                    match keep {
                        true => t.test_at(from, fixed, key),
                        false => t.spend_at(from, fixed, key),
                    }
                }
            }
        }
    }
}

/// The delay: one of the engine's own where the expression is one, otherwise a function.
fn timed<'b, const N: usize>(
    t: TransitionBuilder<'b, Token<N>>,
    node: &Node,
    at: Span,
    shared: &crate::code::Shared,
) -> TransitionBuilder<'b, Token<N>> {
    let fixed = node.as_real().filter(|ticks| DELAYS.contains(ticks));
    let mean = match &node.op {
        Op::Draw(draw) => match &draw.kind {
            DrawKind::Exponential(mean) if draw.stream.is_none() => mean.as_real(),
            _ => None,
        },
        _ => None,
    };
    if fixed
        .or(mean)
        .is_some_and(|ticks| 0.0 < ticks && ticks < 1.0)
    {
        shared.errors.tell(at, Wrong::Short);
    }
    if let Some(ticks) = fixed {
        return t.delay(Delay::Deterministic((ticks + 0.5) as u64));
    }
    // Samples are some ten times as long at the most.
    if let Some(mean) = mean.filter(|mean| *mean < DELAYS.end / 100.0) {
        return t.delay(Delay::exponential(mean));
    }
    if shared.choices.is_some()
        && let Op::Draw(draw) = &node.op
        && let Some(stages) = shared.stages(&draw.kind, at)
    {
        let mut none = Random::new(0, "");
        return t.stages(move |b| stages(b, &mut none));
    }
    let delay = shared.ticks(node, at);
    t.delay_by(move |b, random| delay(b, random))
}
