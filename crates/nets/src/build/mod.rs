//! Makes a model that the engine runs from the declarations of a net.

mod cancels;
mod initial;
mod outputs;
mod transition;

use std::cell::RefCell;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex};

use inorder_base::random::Random;
use inorder_petri::coloured::{
    Bound, Counter, CounterSpec, Model, ModelError, PlaceId, Queue, QueueSpec,
};

use crate::ast::{Expr, Kind, Name, Order, PlaceDecl, Tokens};
use crate::code::{Errors, Int, Real, Shared};
use crate::error::{Checked, Fault, Span};
use crate::ir::{Node, Op, Size};
use crate::lower::{Lower, May, Scope};
use crate::names::Names;
use crate::space::relevant::{Relevant, Uses};
use crate::token::Token;
use crate::units::TIME;

pub(crate) use cancels::which;

/// Keys of a place, at most.
const MAX_KEYS: i64 = 1 << 20;

/// A place of the model.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Handle {
    /// Its record.
    Queue(Queue, usize),
    Counter(Counter),
}

/// A net that is ready to run.
pub(crate) struct Built<const N: usize> {
    pub(crate) model: Model<Token<N>>,
    pub(crate) shared: Shared,
    /// The places, by their number.
    pub(crate) places: Vec<PlaceId>,
    /// The places by their number, each as one of plain tokens or of a record.
    pub(crate) handles: Vec<Handle>,
    /// For every transition the records of the tokens that its firings hold.
    pub(crate) bound: Vec<Vec<usize>>,
    /// Where tokens of the net before it in the chain arrive.
    pub(crate) line: Option<Queue>,
}

/// Makes the model.
pub(crate) struct Builder<'n, 'p, const N: usize> {
    pub(crate) names: &'n Names<'p>,
    pub(crate) shared: Shared,
    pub(crate) places: Vec<Handle>,
    model: Model<Token<N>>,
    seed: u64,
    bound: Vec<Vec<usize>>,
    /// What decides what happens, as far as it was read.
    uses: RefCell<Uses>,
    /// What is no part of states is left out.
    keep: Option<Relevant>,
}

pub(crate) fn build<const N: usize>(names: &Names<'_>, seed: u64) -> Checked<Built<N>> {
    Ok(made(names, seed, None)?.0)
}

/// Builds the model for listing its states: random choices are made in every way, and what decides nothing is left out. Returns
/// also what is left.
pub(crate) fn build_states<const N: usize>(names: &Names<'_>) -> Checked<(Built<N>, Relevant)> {
    let relevant = made::<N>(names, 0, None)?.1.relevant()?;
    let (built, _) = made(names, 0, Some(relevant.clone()))?;
    Ok((built, relevant))
}

fn made<const N: usize>(
    names: &Names<'_>,
    seed: u64,
    keep: Option<Relevant>,
) -> Checked<(Built<N>, Uses)> {
    let variables = names.variables.iter();
    let variables = variables.flat_map(|v| std::iter::repeat_n(v.initial, v.cells));
    let streams = names.streams.iter();
    let streams = streams.map(|name| Mutex::new(Random::new(seed, name)));
    let shared = Shared {
        variables: variables.map(AtomicI64::new).collect(),
        streams: streams.collect(),
        errors: Arc::new(Errors::default()),
        choices: keep.is_some().then(Arc::default),
    };
    let mut builder = Builder {
        names,
        shared,
        places: Vec::new(),
        model: Model::new(),
        seed,
        bound: Vec::new(),
        uses: RefCell::default(),
        keep,
    };
    for statement in &names.statements {
        if let Kind::Place(place) = &statement.kind {
            let handle = builder.place(place)?;
            builder.places.push(handle);
        }
    }
    let mut cancels = Vec::new();
    for statement in &names.statements {
        if let Kind::Transition(transition) = &statement.kind {
            builder.transition(transition, &mut cancels)?;
        }
    }
    builder.cancels(&cancels)?;
    let line = builder.chained()?;
    let Builder {
        model,
        shared,
        places: handles,
        bound,
        uses,
        ..
    } = builder;
    model
        .check()
        .map_err(|error| Fault::new(place_of(&error, names), error.to_string()))?;
    let place = |handle: &Handle| match *handle {
        Handle::Queue(queue, _) => queue.into(),
        Handle::Counter(counter) => counter.into(),
    };
    let places = handles.iter().map(place).collect();
    let built = Built {
        model,
        shared,
        places,
        handles,
        bound,
        line,
    };
    Ok((built, uses.into_inner()))
}

/// Where the place or transition that an error names is declared.
fn place_of(error: &ModelError, names: &Names<'_>) -> Span {
    let name = match error {
        ModelError::DuplicateName(name) | ModelError::NoKeys(name) => name,
        ModelError::Key { place, .. } | ModelError::OverCapacity { place, .. } => place,
        ModelError::UnknownPlace { transition }
        | ModelError::KeysDiffer { transition, .. }
        | ModelError::NoColour { transition, .. }
        | ModelError::TwoArcs { transition, .. }
        | ModelError::TakesFromSink { transition, .. }
        | ModelError::ManyUnordered { transition, .. }
        | ModelError::NotBound { transition, .. }
        | ModelError::Parameter { transition, .. }
        | ModelError::ZeroTimeLoop { transition, .. } => transition,
        _ => return Span::default(),
    };
    let name = name
        .strip_prefix(&names.hop.prefix())
        .unwrap_or(name.as_str());
    let declared = names
        .statements
        .iter()
        .find_map(|statement| match &statement.kind {
            Kind::Place(place) if place.name.text == name => Some(place.name.at),
            Kind::Transition(transition) if transition.name.text == name => {
                Some(transition.name.at)
            }
            _ => None,
        });
    declared.unwrap_or_default()
}

impl<'n, 'p, const N: usize> Builder<'n, 'p, N> {
    pub(crate) fn lower(&self, scope: Scope) -> Lower<'n, 'p> {
        Lower::new(self.names, scope)
    }

    /// A token as far as it is part of states.
    pub(crate) fn kept(&self, token: crate::ir::TokenNode) -> crate::ir::TokenNode {
        match &self.keep {
            Some(keep) => keep.token(token),
            None => token,
        }
    }

    /// The queue that a chain of nets fills with the tokens that reach the sink; `None` without a chain.
    fn chained(&self) -> Checked<Option<Queue>> {
        let Some(chain) = self.names.chain_of() else {
            return Ok(None);
        };
        let queue = |name: &Name, expected: &str, is_sink: bool| {
            let number = self.names.place(name)?;
            match self.places[number] {
                Handle::Queue(queue, record) if self.names.is_sink(number) == is_sink => {
                    Ok((queue, record))
                }
                _ => Err(Fault::expected(name.at, expected, &name.text)),
            }
        };
        let (_, passed) = queue(&chain.from, "a sink", true)?;
        let (to, taken) = queue(&chain.to, "a place of tokens of a record", false)?;
        if passed != taken {
            let of = |record: usize| self.names.records[record].name;
            return Err(Fault::expected(
                chain.to.at,
                format!("a place of tokens of {}", of(passed)),
                of(taken),
            ));
        }
        Ok(Some(to))
    }

    fn place(&mut self, place: &PlaceDecl) -> Checked<Handle> {
        let capacity = place
            .capacity
            .as_ref()
            .map(|c| self.natural(c))
            .transpose()?;
        let name = &place.name.text;
        match &place.tokens {
            Tokens::Plain { keys, count } => {
                let mut spec = self.counter(keys.as_ref(), count.as_ref())?;
                if let Some(most) = capacity {
                    spec = spec.capacity(most);
                }
                Ok(Handle::Counter(self.model.counter(name, spec)))
            }
            Tokens::Sink { record } => {
                let record = self.names.record(record)?;
                Ok(Handle::Queue(self.model.sink(name), record))
            }
            Tokens::Typed {
                record,
                order,
                by,
                initial,
            } => {
                let record = self.names.record(record)?;
                let mut spec = match order {
                    Order::Fifo => QueueSpec::fifo(),
                    Order::Random => QueueSpec::random(),
                    Order::Least(rank) => self.ranked(rank, record)?,
                };
                if let Some((key, keys)) = by {
                    let below = self.keys(keys)?;
                    spec = self.keyed(spec, key, below, record)?;
                }
                if let Some(most) = capacity {
                    spec = spec.capacity(most);
                }
                let tokens = initial::tokens(self, initial, record)?;
                let queue = self.model.queue(name, spec.tokens(tokens));
                Ok(Handle::Queue(queue, record))
            }
        }
    }

    fn counter(&self, keys: Option<&Expr>, count: Option<&Expr>) -> Checked<CounterSpec> {
        let Some(keys) = keys else {
            let count = count.map(|count| self.natural(count)).transpose()?;
            return Ok(CounterSpec::new(count.unwrap_or(0)));
        };
        let keys = self.keys(keys)?;
        let count_of = |key: u32| match count {
            None => Ok(0),
            Some(count) => {
                let key = crate::lower::Value::Number(Node::int(key.into()));
                let scope = Scope {
                    values: vec![("key".to_owned(), key)],
                    ..Scope::constant()
                };
                natural_of(&self.lower(scope).int(count)?, count)
            }
        };
        let counts = (0..keys).map(count_of).collect::<Checked<Vec<u32>>>()?;
        Ok(CounterSpec::counts(counts))
    }

    fn keys(&self, keys: &Expr) -> Checked<u32> {
        let number = self.names.int(keys)?;
        match (1..=MAX_KEYS).contains(&number) {
            true => Ok(number as u32),
            false => Err(Fault::expected(
                keys.at,
                format!("1 to {MAX_KEYS} keys"),
                number,
            )),
        }
    }

    /// A constant in 0..2^32.
    pub(crate) fn natural(&self, expr: &Expr) -> Checked<u32> {
        natural_of(&self.lower(Scope::constant()).int(expr)?, expr)
    }

    /// The scope in which the fields of a record are names.
    pub(crate) fn fields(record: usize) -> Scope {
        Scope {
            fields_of: Some(record),
            may: May {
                colour: false,
                ..May::TOKENS
            },
            ..Scope::default()
        }
    }

    fn ranked(&self, rank: &Expr, record: usize) -> Checked<QueueSpec<Token<N>>> {
        let node = self.lower(Self::fields(record)).number(rank)?;
        self.uses.borrow_mut().decides(&node, &[record], rank.at);
        if let Op::Field(_, slot) = node.op
            && matches!(slot.size, Size::Narrow { .. })
        {
            return Ok(QueueSpec::least(move |token: &Token<N>| {
                token.word(slot.at).into()
            }));
        }
        let random = RefCell::new(Random::new(0, ""));
        if node.ty == crate::ir::Ty::Real(TIME) {
            let of: Real<N> = self.shared.real(&node);
            return Ok(QueueSpec::least(move |token| {
                of(&alone(token), &mut random.borrow_mut()).max(0.0) as u64
            }));
        }
        if node.ty != crate::ir::Ty::Int {
            return Err(self
                .names
                .mistyped(rank.at, "a whole number or a time", node.ty));
        }
        let of: Int<N> = self.shared.int(&node);
        // Shifted, so that negative ranks come before positive ones.
        Ok(QueueSpec::least(move |token| {
            of(&alone(token), &mut random.borrow_mut()).cast_unsigned() ^ 1 << 63
        }))
    }

    fn keyed(
        &self,
        spec: QueueSpec<Token<N>>,
        key: &Expr,
        keys: u32,
        record: usize,
    ) -> Checked<QueueSpec<Token<N>>> {
        let node = self.lower(Self::fields(record)).number(key)?;
        self.uses.borrow_mut().decides(&node, &[record], key.at);
        if node.is_real() {
            return Err(self.names.mistyped(key.at, "a whole number", node.ty));
        }
        if let Op::Field(_, slot) = node.op
            && matches!(slot.size, Size::Narrow { .. })
        {
            return Ok(spec.keyed(keys, move |token| token.word(slot.at)));
        }
        let random = RefCell::new(Random::new(0, ""));
        let of: Int<N> = self.shared.int(&node);
        Ok(spec.keyed(keys, move |token| {
            let key = of(&alone(token), &mut random.borrow_mut());
            // A key out of range is reported by the engine.
            u32::try_from(key).unwrap_or(u32::MAX)
        }))
    }
}

fn natural_of(node: &Node, expr: &Expr) -> Checked<u32> {
    let number = node.as_int();
    let Some(number) = number else {
        return Err(Fault::new(
            expr.at,
            "expected a number that is known before the run",
        ));
    };
    u32::try_from(number)
        .map_err(|_| Fault::expected(expr.at, "a number from 0 to 4294967295", number))
}

/// A single token, as functions of several see it.
fn alone<const N: usize>(token: &Token<N>) -> Bound<'_, Token<N>> {
    Bound {
        tokens: std::slice::from_ref(token),
        colour: 0,
        now: 0,
        started: 0,
    }
}
