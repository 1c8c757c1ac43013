//! What the names of a net stand for: declarations of all files, replaced and chosen by conditions, with the values of
//! parameters and constants.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};

use crate::ast::{Do, Expr, Kind, Name, Parameter, Statement};
use crate::error::{Checked, Fault, Span};
use crate::ir::{Node, Size, Slot, Ty};
use crate::lower::{Lower, Scope};
use crate::units::{Clock, TIME};

/// Expressions of a net may have so many parts after functions were inserted.
pub(crate) const MAX_PARTS: u32 = 500_000;

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
    /// By its number among the places, of records or plain.
    Place(usize),
    Transition(usize),
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
    values: RefCell<HashMap<&'p str, Node>>,
    under_way: RefCell<Vec<&'p str>>,
    pub(crate) parts: Cell<u32>,
    /// How deep the expression is that is checked.
    pub(crate) depth: Cell<u32>,
}

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
        Kind::Include(_) | Kind::If { .. } => return None,
    })
}

/// Leaves out what is replaced: the declaration of the file that includes holds, at the place of the included one.
fn replaced<'p>(all: &[&'p Statement]) -> Checked<Vec<&'p Statement>> {
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

impl<'p> Names<'p> {
    /// Resolves the statements with these values of parameters.
    pub(crate) fn new(
        statements: &'p [Statement],
        settings: &'p BTreeMap<String, Expr>,
    ) -> Checked<Self> {
        let top: Vec<&Statement> = statements.iter().collect();
        // Conditions may use what is declared outside of conditions.
        let mut outer = Self::of(replaced(&top)?, settings, Clock::default())?;
        outer.set_clock()?;
        let mut all = Vec::new();
        outer.expand(&top, &mut all)?;
        let clock = outer.clock.clone();
        let mut names = Self::of(replaced(&all)?, settings, clock)?;
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

    fn declare_records(&mut self) -> Checked<()> {
        let mut number = 0;
        for statement in self.statements.clone() {
            let Kind::Record { fields, .. } = &statement.kind else {
                continue;
            };
            let (mut made, mut words): (Vec<Field>, usize) = (Vec::new(), 0);
            for field in fields {
                if made.iter().any(|other| other.name == field.name.text) {
                    let problem = format!("the record has two fields called {}", field.name.text);
                    return Err(Fault::new(field.name.at, problem));
                }
                let (ty, size) = self.field_type(field)?;
                let slot = Slot { at: words, size };
                words += if size == Size::Wide { 2 } else { 1 };
                made.push(Field {
                    name: field.name.text.clone(),
                    ty,
                    slot,
                });
            }
            let record = &mut self.records[number];
            (record.fields, record.words) = (made, words);
            number += 1;
        }
        Ok(())
    }

    fn field_type(&self, field: &crate::ast::FieldDecl) -> Checked<(Ty, Size)> {
        let narrow = |high| Size::Narrow { low: 0, high };
        let (ty, size) = match field.of.text.as_str() {
            "int" => (Ty::Int, Size::Wide),
            "bool" => (Ty::Bool, narrow(1)),
            "time" => (Ty::Real(TIME), Size::Wide),
            "real" => (Ty::Real(crate::units::NUMBER), Size::Wide),
            name => match self.items.get(name) {
                Some(&Item::Enum(number)) => {
                    let values = self.enums[number].values.len();
                    (Ty::Enum(number), narrow(values as i64 - 1))
                }
                _ => {
                    let known = ["int", "bool", "time", "real"].into_iter();
                    let known = known.chain(self.enums.iter().map(|e| e.name));
                    let expected = "a type: int, bool, time, real or an enumeration";
                    return Err(Fault::unknown(field.of.at, expected, name, known));
                }
            },
        };
        let Some((low, high)) = &field.range else {
            return Ok((ty, size));
        };
        if ty != Ty::Int {
            return Err(Fault::new(low.at, "only fields of type int have a range"));
        }
        let (from, to) = (self.int(low)?, self.int(high)?);
        if from > to || from < 0 || to > i64::from(u32::MAX) {
            let found = format!("{from}..{to}");
            return Err(Fault::expected(
                low.at,
                "a range within 0..4294967295",
                found,
            ));
        }
        Ok((
            ty,
            Size::Narrow {
                low: from,
                high: to,
            },
        ))
    }

    fn declare_places(&mut self) -> Checked<()> {
        let mut number = 0;
        for statement in self.statements.clone() {
            let Kind::Place(place) = &statement.kind else {
                continue;
            };
            let record = match &place.tokens {
                crate::ast::Tokens::Plain { .. } => None,
                crate::ast::Tokens::Typed { record, .. } | crate::ast::Tokens::Sink { record } => {
                    Some(self.record(record)?)
                }
            };
            self.place_records[number] = record;
            number += 1;
        }
        Ok(())
    }

    fn declare_variables(&mut self) -> Checked<()> {
        /// All variables together have at most so many cells.
        const MAX_CELLS: i64 = 1 << 20;
        let (mut number, mut first) = (0, 0usize);
        for statement in self.statements.clone() {
            let Kind::Variable { name, size, value } = &statement.kind else {
                continue;
            };
            let cells = match size {
                Some(size) => self.int(size)?,
                None => 1,
            };
            if !(1..=MAX_CELLS - first as i64).contains(&cells) {
                let expected = format!("a size of at least 1, {MAX_CELLS} in all");
                return Err(Fault::expected(name.at, expected, cells));
            }
            let node = self.constant(value)?;
            let initial = match node.op {
                crate::ir::Op::Real(x) => x.to_bits().cast_signed(),
                _ => node.as_int().unwrap_or(0),
            };
            self.variables[number] = VariableDef {
                first,
                cells: cells as usize,
                is_list: size.is_some(),
                ty: node.ty,
                initial,
            };
            first += cells as usize;
            number += 1;
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

    /// The value of a parameter or constant; computed once.
    pub(crate) fn value_of(&self, name: &'p str, at: Span) -> Checked<Option<Node>> {
        if let Some(node) = self.values.borrow().get(name) {
            return Ok(Some(node.clone()));
        }
        let (expr, parameter) = match self.items.get(name) {
            Some(Item::Constant(expr)) => (*expr, None),
            Some(Item::Parameter(p)) => (self.settings.get(name).unwrap_or(&p.value), Some(*p)),
            _ => return Ok(None),
        };
        if self.under_way.borrow().contains(&name) {
            return Err(Fault::new(
                at,
                format!("the value of {name} depends on itself"),
            ));
        }
        self.under_way.borrow_mut().push(name);
        let node = self.constant(expr);
        self.under_way.borrow_mut().pop();
        let node = match parameter {
            Some(parameter) => self.checked_parameter(parameter, expr, node?)?,
            None => node?,
        };
        self.values.borrow_mut().insert(name, node.clone());
        Ok(Some(node))
    }

    /// The value of a parameter, if it has the type of the default and is in its range.
    fn checked_parameter(&self, parameter: &Parameter, expr: &Expr, node: Node) -> Checked<Node> {
        let default = match std::ptr::eq(expr, &raw const parameter.value) {
            true => node.clone(),
            false => self.constant(&parameter.value)?,
        };
        let node = match default.ty {
            Ty::Real(dim) if dim == crate::units::NUMBER => node.into_real_if_int(),
            _ => node,
        };
        if node.ty != default.ty {
            let expected = format!(
                "{} for {}",
                self.type_words(default.ty),
                parameter.name.text
            );
            return Err(Fault::expected(expr.at, expected, self.value_words(&node)));
        }
        if let Some(of) = &parameter.of {
            let fits = match (self.items.get(of.text.as_str()), of.text.as_str()) {
                (Some(&Item::Enum(number)), _) => node.ty == Ty::Enum(number),
                (_, "int") => node.ty == Ty::Int,
                (_, "bool") => node.ty == Ty::Bool,
                (_, "time") => node.ty == Ty::Real(TIME),
                (_, "real") => matches!(node.ty, Ty::Real(_)),
                _ => {
                    let known = self.enums.iter().map(|e| e.name);
                    return Err(Fault::unknown(of.at, "a type", &of.text, known));
                }
            };
            if !fits {
                let found = self.type_words(node.ty);
                return Err(Fault::expected(
                    expr.at,
                    format!("a value of {}", of.text),
                    found,
                ));
            }
        }
        if let Some((low, high)) = &parameter.range {
            let bounds = [self.constant(low)?, self.constant(high)?];
            let [low, high] = bounds.each_ref().map(Node::as_real);
            let value = node.as_real();
            if value < low || value > high {
                let [low, high] = bounds.each_ref().map(|bound| self.value_words(bound));
                let expected = format!("{low} to {high} for {}", parameter.name.text);
                return Err(Fault::expected(expr.at, expected, self.value_words(&node)));
            }
        }
        Ok(node)
    }

    /// The value of an expression that uses parameters and constants only.
    pub(crate) fn constant(&self, expr: &Expr) -> Checked<Node> {
        let node = Lower::new(self, Scope::constant()).number(expr)?;
        match node.is_constant() {
            true => Ok(node),
            false => Err(Fault::new(
                expr.at,
                "expected a value that is known before the run",
            )),
        }
    }

    pub(crate) fn int(&self, expr: &Expr) -> Checked<i64> {
        let node = self.constant(expr)?;
        match (node.ty, node.as_int()) {
            (Ty::Int, Some(n)) => Ok(n),
            _ => Err(Fault::expected(
                expr.at,
                "a whole number",
                self.value_words(&node),
            )),
        }
    }

    pub(crate) fn real(&self, expr: &Expr, dim: crate::units::Dim) -> Checked<f64> {
        let node = self.constant(expr)?.into_real_if_int();
        match (node.ty == Ty::Real(dim), node.as_real()) {
            (true, Some(x)) => Ok(x),
            _ => Err(Fault::expected(expr.at, dim, self.value_words(&node))),
        }
    }

    pub(crate) fn condition(&self, expr: &Expr) -> Checked<bool> {
        let node = self.constant(expr)?;
        match (node.ty, node.as_int()) {
            (Ty::Bool, Some(b)) => Ok(b != 0),
            _ => Err(Fault::expected(
                expr.at,
                "a condition",
                self.value_words(&node),
            )),
        }
    }

    /// What values of a type are.
    pub(crate) fn type_words(&self, ty: Ty) -> String {
        match ty {
            Ty::Int => "a whole number".to_owned(),
            Ty::Bool => "a condition".to_owned(),
            Ty::Enum(number) => {
                let of = &self.enums[number];
                format!("one of {}", of.values.join(", "))
            }
            Ty::Real(dim) => dim.to_string(),
        }
    }

    /// A value as it could be written.
    pub(crate) fn value_words(&self, node: &Node) -> String {
        match (node.ty, &node.op) {
            (Ty::Bool, crate::ir::Op::Int(b)) => (*b != 0).to_string(),
            (Ty::Enum(number), crate::ir::Op::Int(value)) => {
                let of = self.enums[number].values.get(*value as usize);
                of.copied().unwrap_or_default().to_owned()
            }
            (Ty::Int, crate::ir::Op::Int(n)) => n.to_string(),
            (Ty::Real(TIME), crate::ir::Op::Real(ticks)) => {
                let value = ticks / crate::units::TICKS_PER_UNIT;
                format!("{value} {}", self.clock.unit)
            }
            (Ty::Real(dim), crate::ir::Op::Real(x)) => self.clock.words(*x, dim),
            (ty, _) => self.type_words(ty),
        }
    }
}
