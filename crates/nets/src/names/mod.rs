//! What the names of a net stand for: declarations of all files, replaced and chosen by conditions, with the values of
//! parameters and constants.

mod replaced;
mod types;
mod value;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};

use crate::ast::{ChainDecl, Do, Expr, Kind, Name, Parameter, PlaceDecl, Statement, Tokens};
use crate::error::{Checked, Fault, Span};
use crate::ir::{Node, Slot, Ty};
use crate::units::Clock;
use replaced::replaced;

/// Most parts that expressions of a net may have after functions were inserted.
pub(crate) const MAX_PARTS: u32 = 500_000;

/// Nets of a chain, at most.
const MAX_HOPS: i64 = 1_000;

/// Which net of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hop {
    /// From 0.
    pub(crate) number: u32,
    /// Nets of the chain.
    pub(crate) of: u32,
}

impl Default for Hop {
    fn default() -> Self {
        Self { number: 0, of: 1 }
    }
}

impl Hop {
    pub(crate) fn is_last(self) -> bool {
        self.number + 1 == self.of
    }

    /// In front of the names of transitions, so that each net of a chain has random numbers of its own.
    pub(crate) fn prefix(self) -> String {
        match self.of {
            1 => String::new(),
            _ => format!("hop{}/", self.number + 1),
        }
    }
}

pub(crate) enum Item<'p> {
    Parameter(&'p Parameter),
    Constant(&'p Expr),
    EnumValue(usize, i64),
    Enum(usize),
    Record(usize),
    Variable(usize),
    Stream(usize),
    Function(&'p [Name], &'p Expr),
    Action(&'p [Do]),
    Alias(&'p Name),
    /// The number of the net in its chain.
    Hop,
    /// By its number among the places, of records or plain.
    Place(usize),
    Transition(usize),
}

impl Item<'_> {
    /// What it is, in words.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Parameter(_) => "a parameter",
            Self::Constant(_) => "a constant",
            Self::EnumValue(..) => "a value of an enumeration",
            Self::Enum(_) => "an enumeration",
            Self::Record(_) => "a record",
            Self::Variable(_) => "a variable",
            Self::Stream(_) => "a stream of random numbers",
            Self::Function(..) => "a function",
            Self::Action(_) => "an action",
            Self::Alias(_) | Self::Place(_) => "a place",
            Self::Hop => "the number of a net in its chain",
            Self::Transition(_) => "a transition",
        }
    }
}

pub(crate) struct EnumDef<'p> {
    pub(crate) name: &'p str,
    pub(crate) values: Vec<&'p str>,
}

/// A field of a record.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) ty: Ty,
    pub(crate) slot: Slot,
}

pub(crate) struct RecordDef<'p> {
    pub(crate) name: &'p str,
    pub(crate) fields: Vec<Field>,
    /// Words of a token.
    pub(crate) words: usize,
}

/// A variable: its first cell, the number of its cells, its type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VariableDef {
    pub(crate) first: usize,
    pub(crate) cells: usize,
    pub(crate) is_list: bool,
    pub(crate) ty: Ty,
    /// The initial bits of each cell.
    pub(crate) initial: i64,
}

/// The declarations of a net with one set of parameters.
pub(crate) struct Names<'p> {
    pub(crate) clock: Clock,
    pub(crate) enums: Vec<EnumDef<'p>>,
    pub(crate) records: Vec<RecordDef<'p>>,
    pub(crate) variables: Vec<VariableDef>,
    pub(crate) streams: Vec<&'p str>,
    /// The record of every place; `None` for plain tokens.
    pub(crate) place_records: Vec<Option<usize>>,
    pub(crate) statements: Vec<&'p Statement>,
    items: HashMap<&'p str, Item<'p>>,
    settings: &'p BTreeMap<String, Expr>,
    /// Which net of its chain it is.
    pub(crate) hop: Hop,
    values: RefCell<HashMap<&'p str, Node>>,
    under_way: RefCell<Vec<&'p str>>,
    pub(crate) parts: Cell<u32>,
    /// How deep the expression is that is checked.
    pub(crate) depth: Cell<u32>,
}

impl<'p> Names<'p> {
    /// Resolves the statements with these values of parameters, for the first net of a chain.
    pub(crate) fn new(
        statements: &'p [Statement],
        settings: &'p BTreeMap<String, Expr>,
    ) -> Checked<Self> {
        Self::of_hop(statements, settings, Hop::default())
    }

    /// The nets of the chain, or the only net.
    pub(crate) fn chain(
        statements: &'p [Statement],
        settings: &'p BTreeMap<String, Expr>,
    ) -> Checked<Vec<Self>> {
        let first = Self::new(statements, settings)?;
        let count = match first.chain_of() {
            None => 1,
            Some(chain) => match first.int(&chain.count)? {
                count @ 1..=MAX_HOPS => count as u32,
                other => {
                    let expected = format!("1 to {MAX_HOPS} nets");
                    return Err(Fault::expected(chain.count.at, expected, other));
                }
            },
        };
        if count == 1 {
            return Ok(vec![first]);
        }
        let of_hop = |number| Self::of_hop(statements, settings, Hop { number, of: count });
        (0..count).map(of_hop).collect()
    }

    /// What `chain` says.
    pub(crate) fn chain_of(&self) -> Option<&'p ChainDecl> {
        self.statements
            .iter()
            .find_map(|statement| match &statement.kind {
                Kind::Chain(chain) => Some(chain),
                _ => None,
            })
    }

    fn of_hop(
        statements: &'p [Statement],
        settings: &'p BTreeMap<String, Expr>,
        hop: Hop,
    ) -> Checked<Self> {
        let top: Vec<&Statement> = statements.iter().collect();
        // Conditions may use what is declared outside of conditions.
        let mut outer = Self::of(replaced(&top)?, settings, hop, Clock::default())?;
        outer.set_clock()?;
        let mut all = Vec::new();
        outer.expand(&top, &mut all)?;
        let clock = outer.clock.clone();
        let mut names = Self::of(replaced(&all)?, settings, hop, clock)?;
        names.set_clock()?;
        names.check_settings()?;
        names.declare_records()?;
        names.declare_places()?;
        names.declare_variables()?;
        Ok(names)
    }

    fn of(
        statements: Vec<&'p Statement>,
        settings: &'p BTreeMap<String, Expr>,
        hop: Hop,
        clock: Clock,
    ) -> Checked<Self> {
        let mut names = Self {
            clock,
            enums: Vec::new(),
            records: Vec::new(),
            variables: Vec::new(),
            streams: Vec::new(),
            place_records: Vec::new(),
            statements,
            items: HashMap::new(),
            settings,
            hop,
            values: RefCell::default(),
            under_way: RefCell::default(),
            parts: Cell::new(0),
            depth: Cell::new(0),
        };
        for statement in names.statements.clone() {
            names.declare(statement)?;
        }
        Ok(names)
    }

    fn declare(&mut self, statement: &'p Statement) -> Checked<()> {
        let (name, item) = match &statement.kind {
            Kind::Parameter(parameter) => (&parameter.name, Item::Parameter(parameter)),
            Kind::Constant { name, value } => (name, Item::Constant(value)),
            Kind::Enum { name, values } => {
                let number = self.enums.len();
                self.enums.push(EnumDef {
                    name: &name.text,
                    values: values.iter().map(|value| value.text.as_str()).collect(),
                });
                for (index, value) in (0..).zip(values) {
                    self.insert(value, Item::EnumValue(number, index))?;
                }
                (name, Item::Enum(number))
            }
            Kind::Record { name, .. } => {
                self.records.push(RecordDef {
                    name: &name.text,
                    fields: Vec::new(),
                    words: 0,
                });
                (name, Item::Record(self.records.len() - 1))
            }
            Kind::Variable { name, .. } => {
                self.variables.push(VariableDef {
                    first: 0,
                    cells: 0,
                    is_list: false,
                    ty: Ty::Int,
                    initial: 0,
                });
                (name, Item::Variable(self.variables.len() - 1))
            }
            Kind::Stream(name) => {
                self.streams.push(&name.text);
                (name, Item::Stream(self.streams.len() - 1))
            }
            Kind::Function {
                name,
                parameters,
                body,
            } => (name, Item::Function(parameters, body)),
            Kind::Action { name, lines } => (name, Item::Action(lines)),
            Kind::Alias { name, place } => (name, Item::Alias(place)),
            Kind::Place(place) => {
                self.place_records.push(None);
                (&place.name, Item::Place(self.place_records.len() - 1))
            }
            Kind::Transition(transition) => {
                let before = self.items.values();
                let number = before.filter(|i| matches!(i, Item::Transition(_))).count();
                (&transition.name, Item::Transition(number))
            }
            Kind::Chain(chain) => (&chain.number, Item::Hop),
            _ => return Ok(()),
        };
        self.insert(name, item)
    }

    fn insert(&mut self, name: &'p Name, item: Item<'p>) -> Checked<()> {
        match self.items.insert(&name.text, item) {
            None => Ok(()),
            Some(_) => {
                let problem = format!("{} is declared twice, here as something else", name.text);
                Err(Fault::new(name.at, problem))
            }
        }
    }

    /// The statements that exist with the present parameters.
    fn expand(&self, from: &[&'p Statement], to: &mut Vec<&'p Statement>) -> Checked<()> {
        for &statement in from {
            let Kind::If {
                on,
                then,
                otherwise,
            } = &statement.kind
            else {
                to.push(statement);
                continue;
            };
            let chosen = if self.condition(on)? { then } else { otherwise };
            let chosen: Vec<&Statement> = chosen.iter().collect();
            self.expand(&chosen, to)?;
        }
        Ok(())
    }

    fn set_clock(&mut self) -> Checked<()> {
        let clock = self
            .statements
            .iter()
            .find_map(|statement| match &statement.kind {
                Kind::Clock { unit, at } => Some((unit, at.as_ref())),
                _ => None,
            });
        let Some((unit, at)) = clock else {
            return Ok(());
        };
        let hertz = match at {
            None => None,
            Some(frequency) => {
                // One tick a second: frequencies are then in hertz.
                self.clock.ticks_per_second = Some(1.0);
                self.clock.unit.clear();
                let dim = crate::units::Dim { time: -1, data: 0 };
                let hertz = self.real(frequency, dim)?;
                if hertz.is_nan() || hertz <= 0.0 {
                    return Err(Fault::expected(frequency.at, "a frequency above 0", hertz));
                }
                Some(hertz)
            }
        };
        self.clock = Clock::new(&unit.text, hertz);
        self.values.borrow_mut().clear();
        Ok(())
    }

    fn check_settings(&self) -> Checked<()> {
        for (name, value) in self.settings {
            if !matches!(self.items.get(name.as_str()), Some(Item::Parameter(_))) {
                let known = self.items.iter();
                let known = known.filter(|(_, item)| matches!(item, Item::Parameter(_)));
                let known: Vec<&str> = known.map(|(name, _)| *name).collect();
                return Err(Fault::unknown(
                    value.at,
                    "the name of a parameter",
                    name,
                    known,
                ));
            }
        }
        for (name, item) in &self.items {
            if matches!(item, Item::Parameter(_) | Item::Constant(_)) {
                self.value_of(name, Span::default())?;
            }
        }
        Ok(())
    }

    pub(crate) fn item(&self, name: &str) -> Option<&Item<'p>> {
        self.items.get(name)
    }

    /// All names that are declared.
    pub(crate) fn known(&self) -> impl Iterator<Item = &'p str> {
        self.items.keys().copied()
    }

    /// The place with this number.
    pub(crate) fn declared(&self, number: usize) -> Option<&PlaceDecl> {
        let places = self.statements.iter().filter_map(|s| match &s.kind {
            Kind::Place(place) => Some(place),
            _ => None,
        });
        places.into_iter().nth(number)
    }

    /// Whether a place, by its number, is a sink.
    pub(crate) fn is_sink(&self, number: usize) -> bool {
        let place = self.declared(number);
        place.is_some_and(|place| matches!(place.tokens, Tokens::Sink { .. }))
    }

    pub(crate) fn record(&self, name: &Name) -> Checked<usize> {
        match self.items.get(name.text.as_str()) {
            Some(&Item::Record(number)) => Ok(number),
            _ => {
                let known = self.records.iter().map(|record| record.name);
                Err(Fault::unknown(
                    name.at,
                    "the name of a record",
                    &name.text,
                    known,
                ))
            }
        }
    }

    /// The place of this name, also under a further name.
    pub(crate) fn place(&self, name: &Name) -> Checked<usize> {
        let mut found = self.items.get(name.text.as_str());
        let mut steps = 0;
        while let Some(Item::Alias(next)) = found {
            found = self.items.get(next.text.as_str());
            steps += 1;
            if steps > self.items.len() {
                return Err(Fault::new(
                    next.at,
                    "the names of places refer to each other",
                ));
            }
        }
        match found {
            Some(&Item::Place(number)) => Ok(number),
            _ => {
                let known = self.items.iter();
                let known = known.filter(|(_, i)| matches!(i, Item::Place(_) | Item::Alias(_)));
                let known = known.map(|(name, _)| *name);
                Err(Fault::unknown(
                    name.at,
                    "the name of a place",
                    &name.text,
                    known,
                ))
            }
        }
    }
}
