//! Nets that run inside another program, which puts tokens in at times of its own and looks at those that reach a place.

use std::sync::Arc;

use inorder_petri::coloured::{Engine, Observer, PlaceId, Queue, Stop, TransitionId};

use crate::ast::Name;
use crate::build::{Built, Handle, build};
use crate::code::Errors;
use crate::error::{Checked, Fault, NetError, Span};
use crate::ir::{Size, Slot, Ty};
use crate::names::{Field, Names};
use crate::run::WithSize;
use crate::study::Study;
use crate::token::Token;

/// A place through which a program and a net exchange tokens of a record, and the fields of which values are given. A value
/// of type time counts ticks, thousandths of the unit of the net's clock; of other real numbers it is the whole part.
#[derive(Debug, Clone, Copy)]
pub struct Port<'p> {
    /// The place.
    pub place: &'p str,
    /// The fields, in the order of their values.
    pub fields: &'p [&'p str],
}

/// Gets the time in ticks of a token that reached a place, the number of the exit, and the values of its fields; returns
/// whether the run goes on. The run ends when nothing more happens at that time.
pub type Arrived<'a> = dyn FnMut(u64, usize, &[i64]) -> bool + 'a;

/// A token of a record within a net.
pub struct Held<'h> {
    /// The place, or the transition of which a firing under way holds it.
    pub at: &'h str,
    /// Its number among the tokens of a firing, from 0; `None` in a place.
    pub of_firing: Option<usize>,
    field: &'h dyn Fn(&str) -> Option<i64>,
}

impl Held<'_> {
    /// The value of a field, as of a [`Port`]; `None` if its record has none of that name.
    pub fn field(&self, name: &str) -> Option<i64> {
        (self.field)(name)
    }
}

/// A running net of which another program is a part.
pub struct Live {
    net: Box<dyn Open>,
    files: Vec<String>,
}

impl Study {
    /// The net with the parameters of the first cell, for running it within another program: tokens come in at the entries
    /// and are seen at the exits. What the net says of the length of a run and of measures does not count.
    ///
    /// # Errors
    /// If a place or a field of a port does not exist, an entry is a sink, or the net is one of several in a chain.
    pub fn live(
        &self,
        seed: u64,
        entries: &[Port<'_>],
        exits: &[Port<'_>],
    ) -> Result<Live, NetError> {
        let net = self.of_net(Opened {
            seed,
            entries,
            exits,
        })?;
        let files = self.files().to_vec();
        Ok(Live { net, files })
    }
}

impl Live {
    /// The time in ticks.
    pub fn now(&self) -> u64 {
        self.net.now()
    }

    /// Puts a token into an entry, by its number, at the present time. Fields without a value are 0.
    ///
    /// # Errors
    /// If a value is out of the range of its field, or the place is full.
    pub fn put(&mut self, entry: usize, values: &[i64]) -> Result<(), NetError> {
        let put = self.net.put(entry, values);
        put.map_err(|fault| fault.in_files(&self.files))
    }

    /// Lets everything happen until `ticks`, inclusive, or until `arrived` wants no more. If nothing can happen any more, the
    /// clock is at `ticks` nevertheless, unless that is `u64::MAX`.
    ///
    /// # Errors
    /// If a firing fails, or firings without delay do not end.
    pub fn run_until(&mut self, ticks: u64, arrived: &mut Arrived<'_>) -> Result<Stop, NetError> {
        let ran = self.net.run_until(ticks, arrived);
        ran.map_err(|fault| fault.in_files(&self.files))
    }

    /// When the next firing under way ends, in ticks.
    pub fn next_time(&mut self) -> Option<u64> {
        self.net.next_time()
    }

    /// The number of tokens in an entry.
    pub fn waiting(&self, entry: usize) -> u32 {
        self.net.waiting(entry)
    }

    /// Plain tokens with a key in a place, key 0 in one without keys; `None` if there is no such place of plain tokens.
    pub fn plain(&self, place: &str, key: u32) -> Option<u32> {
        self.net.plain(place, key)
    }

    /// Shows every token of a record, in places and held by firings under way.
    pub fn each_token(&self, see: &mut dyn FnMut(&Held<'_>)) {
        self.net.each_token(see);
    }
}

/// A net with tokens of any size.
trait Open: Send {
    fn now(&self) -> u64;
    fn put(&mut self, entry: usize, values: &[i64]) -> Checked<()>;
    fn run_until(&mut self, ticks: u64, arrived: &mut Arrived<'_>) -> Checked<Stop>;
    fn next_time(&mut self) -> Option<u64>;
    fn waiting(&self, entry: usize) -> u32;
    fn plain(&self, place: &str, key: u32) -> Option<u32>;
    fn each_token(&self, see: &mut dyn FnMut(&Held<'_>));
}

struct Opened<'p> {
    seed: u64,
    entries: &'p [Port<'p>],
    exits: &'p [Port<'p>],
}

impl WithSize for Opened<'_> {
    type Out = Box<dyn Open>;

    fn sized<const N: usize>(self, chain: &[Names<'_>]) -> Checked<Self::Out> {
        let Some(names) = chain.first() else {
            return Err(Fault::new(Span::default(), "there is no net"));
        };
        let Built {
            model,
            shared,
            places,
            handles,
            bound,
            ..
        } = build::<N>(names, self.seed)?;
        let place_names: Vec<String> = model.place_names().map(str::to_owned).collect();
        let transition_names = model.transition_names();
        let of_transition = |name: &str| model.find_transition(name);
        let transitions: Vec<(String, Option<TransitionId>, Vec<usize>)> = transition_names
            .zip(bound)
            .map(|(name, records)| (name.to_owned(), of_transition(name), records))
            .collect();
        let entries = self.entries.iter();
        let entries = entries.map(|port| {
            let (number, fields) = ported(names, port)?;
            match handles[number] {
                Handle::Queue(queue, _) if !names.is_sink(number) => Ok((queue, fields)),
                _ => Err(refused(port.place, "a place that is no sink")),
            }
        });
        let entries = entries.collect::<Checked<Vec<_>>>()?;
        let mut exits = Exits {
            of_place: vec![None; places.len()],
            fields: Vec::new(),
        };
        for (exit, port) in self.exits.iter().enumerate() {
            let (number, fields) = ported(names, port)?;
            exits.of_place[places[number].index()] = Some(exit);
            exits.fields.push(fields);
        }
        let engine = Engine::new(model, self.seed);
        let engine = engine.map_err(|error| Fault::new(Span::default(), error.to_string()))?;
        let records = names.records.iter();
        Ok(Box::new(Inside {
            engine,
            errors: shared.errors,
            entries,
            exits,
            values: Vec::new(),
            places: place_names.into_iter().zip(handles).collect(),
            transitions,
            records: records.map(|record| record.fields.clone()).collect(),
        }))
    }
}

/// The number of the place of a port, and its fields.
fn ported(names: &Names<'_>, port: &Port<'_>) -> Checked<(usize, Vec<Part>)> {
    let number = names.place(&Name {
        text: port.place.to_owned(),
        at: Span::default(),
    })?;
    let Some(record) = names.place_records[number] else {
        return Err(refused(port.place, "a place of tokens of a record"));
    };
    let all = &names.records[record].fields;
    let part = |name: &&str| {
        let found = all.iter().find(|field| field.name == **name);
        let known = all.iter().map(|field| field.name.as_str());
        let unknown = || Fault::unknown(Span::default(), "the name of a field", name, known);
        found.map(Part::of).ok_or_else(unknown)
    };
    let parts = port.fields.iter().map(part).collect::<Checked<_>>()?;
    Ok((number, parts))
}

fn refused(place: &str, expected: &str) -> Fault {
    Fault::expected(Span::default(), expected, place)
}

/// A field of a token, read and written as a whole number.
#[derive(Debug, Clone, Copy)]
struct Part {
    slot: Slot,
    is_real: bool,
}

impl Part {
    fn of(field: &Field) -> Self {
        Self {
            slot: field.slot,
            is_real: matches!(field.ty, Ty::Real(_)),
        }
    }

    fn get<const N: usize>(self, token: &Token<N>) -> i64 {
        match self.slot.size {
            Size::Narrow { .. } => token.word(self.slot.at).into(),
            Size::Wide if self.is_real => {
                f64::from_bits(token.wide(self.slot.at).cast_unsigned()) as i64
            }
            Size::Wide => token.wide(self.slot.at),
        }
    }

    fn set<const N: usize>(self, token: &mut Token<N>, value: i64) -> Checked<()> {
        match self.slot.size {
            Size::Narrow { low, high } => {
                let fits = (low..=high).contains(&value);
                let word = u32::try_from(value).ok().filter(|_| fits);
                let expected = || format!("a value from {low} to {high}");
                let wrong = || Fault::expected(Span::default(), expected(), value);
                token.set_word(self.slot.at, word.ok_or_else(wrong)?);
            }
            Size::Wide if self.is_real => {
                let bits = (value as f64).to_bits();
                token.set_wide(self.slot.at, bits.cast_signed());
            }
            Size::Wide => token.set_wide(self.slot.at, value),
        }
        Ok(())
    }
}

/// The places that are looked at.
struct Exits {
    /// By place: the number of the exit.
    of_place: Vec<Option<usize>>,
    /// By exit.
    fields: Vec<Vec<Part>>,
}

struct Inside<const N: usize> {
    engine: Engine<Token<N>>,
    errors: Arc<Errors>,
    entries: Vec<(Queue, Vec<Part>)>,
    exits: Exits,
    /// The values of the last token seen.
    values: Vec<i64>,
    places: Vec<(String, Handle)>,
    /// With the record of each token that a firing holds.
    transitions: Vec<(String, Option<TransitionId>, Vec<usize>)>,
    records: Vec<Vec<Field>>,
}

/// Looks at the exits during a run.
struct Watch<'w, 'a> {
    exits: &'w Exits,
    values: &'w mut Vec<i64>,
    arrived: &'w mut Arrived<'a>,
    goes_on: bool,
}

impl<const N: usize> Observer<Token<N>> for Watch<'_, '_> {
    #[inline]
    fn deposited(&mut self, now: u64, place: PlaceId, token: &Token<N>) {
        let Some(exit) = self.exits.of_place[place.index()] else {
            return;
        };
        let fields = self.exits.fields[exit].iter();
        self.values.clear();
        self.values.extend(fields.map(|part| part.get(token)));
        self.goes_on &= (self.arrived)(now, exit, self.values);
    }

    fn is_done(&self) -> bool {
        !self.goes_on
    }
}

impl<const N: usize> Open for Inside<N> {
    fn now(&self) -> u64 {
        self.engine.now()
    }

    fn put(&mut self, entry: usize, values: &[i64]) -> Checked<()> {
        let Some((queue, fields)) = self.entries.get(entry) else {
            return Err(refused(&entry.to_string(), "the number of an entry"));
        };
        let mut token = Token::default();
        for (part, &value) in fields.iter().zip(values) {
            part.set(&mut token, value)?;
        }
        let put = self.engine.put(*queue, token);
        put.map_err(|error| Fault::new(Span::default(), error.to_string()))
    }

    fn run_until(&mut self, ticks: u64, arrived: &mut Arrived<'_>) -> Checked<Stop> {
        let mut watch = Watch {
            exits: &self.exits,
            values: &mut self.values,
            arrived,
            goes_on: true,
        };
        let stop = self.engine.run_until(ticks, &mut watch);
        if let Some((at, wrong)) = self.errors.first() {
            return Err(Fault::new(at, wrong.to_string()));
        }
        stop.map_err(|error| Fault::new(Span::default(), error.to_string()))
    }

    fn next_time(&mut self) -> Option<u64> {
        self.engine.next_time()
    }

    fn waiting(&self, entry: usize) -> u32 {
        let entry = self.entries.get(entry);
        entry.map_or(0, |(queue, _)| self.engine.len(*queue))
    }

    fn plain(&self, place: &str, key: u32) -> Option<u32> {
        let (_, handle) = self.places.iter().find(|(name, _)| name == place)?;
        match *handle {
            Handle::Counter(counter) => Some(self.engine.count(counter, key)),
            Handle::Queue(..) => None,
        }
    }

    fn each_token(&self, see: &mut dyn FnMut(&Held<'_>)) {
        for (at, handle) in &self.places {
            if let Handle::Queue(queue, record) = *handle {
                for token in self.engine.tokens(queue) {
                    self.shown(at, None, record, token, see);
                }
            }
        }
        for (at, id, records) in &self.transitions {
            for bound in id.iter().flat_map(|id| self.engine.under_way(*id)) {
                for (number, (&record, token)) in records.iter().zip(bound.tokens).enumerate() {
                    self.shown(at, Some(number), record, token, see);
                }
            }
        }
    }
}

impl<const N: usize> Inside<N> {
    fn shown(
        &self,
        at: &str,
        of_firing: Option<usize>,
        record: usize,
        token: &Token<N>,
        see: &mut dyn FnMut(&Held<'_>),
    ) {
        let field = |name: &str| {
            let fields = self.records.get(record)?;
            let field = fields.iter().find(|field| field.name == name)?;
            Some(Part::of(field).get(token))
        };
        see(&Held {
            at,
            of_firing,
            field: &field,
        });
    }
}
