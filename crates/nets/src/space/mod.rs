//! The states of a net, its picture, and the firings of a run: what plain nets have, too.

pub(crate) mod relevant;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;

use inorder_petri::coloured::{Engine, Outside, Space, Stop, Tracer, Unit};
use inorder_petri::net::{Net, TransitionId};
use inorder_petri::reachability::Moves;

use crate::build::{Built, Handle, build, build_states};
use crate::code::Shared;
use crate::error::{Checked, Fault, NetError, Span};
use crate::ir::{Size, Slot, Ty};
use crate::names::Names;
use crate::run::{self, Until, WithSize};
use crate::study::Study;
use crate::token::Token;
use crate::units::{TICKS_PER_UNIT, TIME};
use relevant::Source;

/// A firing of a run: the time in units of the clock, what fired, and the marking after it.
pub type Seen<'s> = dyn FnMut(f64, &Net, TransitionId, &[u32]) -> bool + 's;

impl Study {
    /// The states of the net with the parameters of the first cell: places hold numbers of tokens, and every transition T
    /// that takes time is the immediate T.starts, the place T.busy and T itself, its end. Rates are per unit of the clock.
    /// Fields and variables that decide nothing, as those that are only measured, are left out.
    ///
    /// # Errors
    /// If what happens depends on the time or on continuous random numbers, so that the states are infinitely many.
    pub fn states(&self) -> Result<Box<dyn Moves>, NetError> {
        self.of_net(States(self.name()))
    }

    /// The net as a drawing shows it.
    ///
    /// # Errors
    /// If the net is one of several in a chain.
    pub fn picture(&self) -> Result<Net, NetError> {
        self.of_net(Picture(self.name()))
    }

    /// Runs the net until its own end, or until `time` in units of its clock, and shows every firing until `see` returns
    /// false.
    ///
    /// # Errors
    /// If a run fails.
    pub fn trace(&self, seed: u64, time: Option<f64>, see: &mut Seen<'_>) -> Result<(), NetError> {
        let name = self.name();
        self.of_net(Trace {
            name,
            seed,
            time,
            see,
        })
    }

    /// Does something with the only net of the first cell.
    pub(crate) fn of_net<J: WithSize>(&self, job: J) -> Result<J::Out, NetError> {
        let all = || {
            let chain = self.first_chain()?;
            if let [_, _, ..] = chain.as_slice() {
                let at = chain[0]
                    .chain_of()
                    .map_or(Span::default(), |chain| chain.number.at);
                let problem = "only nets without `chain` are drawn, played, traced and explored";
                return Err(Fault::new(at, problem));
            }
            run::with_size(&chain, job)
        };
        all().map_err(|fault| fault.in_files(self.files()))
    }
}

struct States<'s>(&'s str);

impl WithSize for States<'_> {
    type Out = Box<dyn Moves>;

    fn sized<const N: usize>(self, chain: &[Names<'_>]) -> Checked<Self::Out> {
        let Some(names) = chain.first() else {
            return Err(Fault::new(Span::default(), "there is no net"));
        };
        let (built, relevant) = build_states::<N>(names)?;
        let fields = |handle: &Handle| match *handle {
            Handle::Counter(_) => Vec::new(),
            Handle::Queue(_, record) => {
                let fields = names.records[record].fields.iter();
                let kept =
                    fields.filter(|field| relevant.has(Source::Field(record, field.slot.at)));
                let field =
                    |field: &crate::names::Field| (field.name.clone(), field.ty, field.slot);
                kept.map(field).collect()
            }
        };
        let values = |e: &crate::names::EnumDef<'_>| {
            e.values.iter().map(|&value| value.to_owned()).collect()
        };
        let outside = Kept {
            shared: built.shared,
            fields: built.handles.iter().map(fields).collect(),
            enums: names.enums.iter().map(values).collect(),
        };
        let unit = Unit {
            name: &names.clock.unit,
            ticks: TICKS_PER_UNIT,
        };
        let space = Space::new(self.0, built.model, outside, unit);
        let space = space.map_err(|problem| Fault::new(Span::default(), problem))?;
        Ok(Box::new(space))
    }
}

/// The variables, the choices, and how tokens are written.
struct Kept {
    shared: Shared,
    /// Of every place.
    fields: Vec<Vec<(String, Ty, Slot)>>,
    enums: Vec<Vec<String>>,
}

impl Kept {
    fn value<const N: usize>(&self, token: &Token<N>, ty: Ty, slot: Slot) -> String {
        let number = match slot.size {
            Size::Narrow { .. } => i64::from(token.word(slot.at)),
            Size::Wide => token.wide(slot.at),
        };
        let real = f64::from_bits(number.cast_unsigned());
        match ty {
            Ty::Int => number.to_string(),
            Ty::Bool => (number != 0).to_string(),
            Ty::Enum(of) => {
                let value = self.enums.get(of).and_then(|of| of.get(number as usize));
                value.cloned().unwrap_or_default()
            }
            Ty::Real(TIME) => (real / TICKS_PER_UNIT).to_string(),
            Ty::Real(_) => real.to_string(),
        }
    }
}

impl<const N: usize> Outside<Token<N>> for Kept {
    fn save(&self) -> Vec<i64> {
        self.shared
            .variables
            .iter()
            .map(|cell| cell.load(Relaxed))
            .collect()
    }

    fn load(&self, saved: &[i64]) {
        for (cell, value) in self.shared.variables.iter().zip(saved) {
            cell.store(*value, Relaxed);
        }
    }

    fn first(&self) {
        self.shared
            .choices
            .iter()
            .for_each(|choices| choices.first());
    }

    fn next(&self) -> bool {
        self.shared
            .choices
            .as_ref()
            .is_some_and(|choices| choices.next())
    }

    fn probability(&self) -> f64 {
        let choices = self.shared.choices.as_ref();
        choices.map_or(1.0, |choices| choices.probability())
    }

    fn problem(&self) -> Option<String> {
        let (at, wrong) = self.shared.errors.first()?;
        Some(format!("line {}: {wrong}", at.line))
    }

    fn words(&self, place: usize, token: &Token<N>) -> String {
        let fields = self.fields.get(place).map_or(&[][..], Vec::as_slice);
        let field = |(name, ty, slot): &(String, Ty, Slot)| {
            format!("{name} = {}", self.value(token, *ty, *slot))
        };
        let fields: Vec<String> = fields.iter().map(field).collect();
        format!("{{{}}}", fields.join(", "))
    }
}

struct Picture<'s>(&'s str);

impl WithSize for Picture<'_> {
    type Out = Net;

    fn sized<const N: usize>(self, chain: &[Names<'_>]) -> Checked<Net> {
        Ok(engine::<N>(chain, 0)?.0.picture(self.0, TICKS_PER_UNIT))
    }
}

struct Trace<'s, 'f> {
    name: &'s str,
    seed: u64,
    time: Option<f64>,
    see: &'f mut Seen<'f>,
}

impl WithSize for Trace<'_, '_> {
    type Out = ();

    fn sized<const N: usize>(self, chain: &[Names<'_>]) -> Checked<()> {
        let (mut engine, built) = engine::<N>(chain, self.seed)?;
        let Some(names) = chain.first() else {
            return Ok(());
        };
        let (ends, at) = run::ends(names)?;
        let (end, count) = match (self.time, ends) {
            (Some(time), _) => ((time * TICKS_PER_UNIT) as u64, None),
            (None, Until::Time { end, .. }) => (end, None),
            (None, Until::Tokens { end, .. }) => {
                let place = run::counted(names, &built.places)?;
                (u64::MAX, place.map(|place| (place, end)))
            }
        };
        let see = RefCell::new(self.see);
        let mut tracer = Tracer::new(
            &engine,
            self.name,
            TICKS_PER_UNIT,
            count,
            |now, net, id, marking| (see.borrow_mut())(now, net, id, marking),
        );
        let ran = engine.run_until(end, &mut tracer);
        if let Some((at, wrong)) = built.shared.errors.first() {
            return Err(Fault::new(at, wrong.to_string()));
        }
        let stop = ran.map_err(|error| Fault::new(at, error.to_string()))?;
        match stop {
            Stop::Dead if count.is_some() => Err(Fault::new(
                at,
                format!("the net stands still: {}", run::stands_still(&engine)),
            )),
            _ => Ok(()),
        }
    }
}

type Ready<const N: usize> = (Engine<Token<N>>, Rc<Made>);

/// What a run needs besides its engine.
struct Made {
    shared: Shared,
    places: Vec<inorder_petri::coloured::PlaceId>,
}

fn engine<const N: usize>(chain: &[Names<'_>], seed: u64) -> Checked<Ready<N>> {
    let Some(names) = chain.first() else {
        return Err(Fault::new(Span::default(), "there is no net"));
    };
    let Built {
        model,
        shared,
        places,
        ..
    } = build::<N>(names, seed)?;
    let engine = Engine::new(model, seed);
    let engine = engine.map_err(|error| Fault::new(Span::default(), error.to_string()))?;
    Ok((engine, Rc::new(Made { shared, places })))
}
