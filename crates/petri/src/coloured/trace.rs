//! Every change of the marking of a run.

use super::engine::Engine;
use super::handle::{PlaceId, Token, TransitionId};
use super::observer::{Change, Marking, Observer};
use super::picture::Split;
use crate::net::{Net, TransitionId as Plain};

/// Shows every start and end of a firing as a firing of the net of [`super::Space`]: its time in units, its transition,
/// and the marking after it.
pub struct Tracer<F> {
    split: Split,
    unit: f64,
    places: usize,
    marking: Vec<u32>,
    /// The place of which this number of tokens ends the run.
    until: Option<(PlaceId, u64)>,
    see: F,
    goes_on: bool,
}

impl<F: FnMut(f64, &Net, Plain, &[u32]) -> bool> Tracer<F> {
    /// `unit` is the number of ticks in a unit of time; the run ends when a number of tokens has come to a place, or when `see`
    /// returns false.
    pub fn new<T: Token>(
        engine: &Engine<T>,
        name: &str,
        unit: f64,
        until: Option<(PlaceId, u64)>,
        see: F,
    ) -> Self {
        let split = engine.split(name, unit);
        Self {
            marking: split.net.initial_marking().into_vec(),
            split,
            unit,
            places: engine.places().count(),
            until,
            see,
            goes_on: true,
        }
    }
}

impl<T, F: FnMut(f64, &Net, Plain, &[u32]) -> bool> Observer<T> for Tracer<F> {
    fn deposited(&mut self, _: u64, place: PlaceId, _: &T) {
        if let Some((at, left)) = &mut self.until
            && *at == place
        {
            *left = left.saturating_sub(1);
        }
    }

    fn changed(&mut self, now: u64, transition: TransitionId, how: Change, tokens: &dyn Marking) {
        for (index, held) in self.marking.iter_mut().take(self.places).enumerate() {
            *held = tokens.tokens(PlaceId(index as u32));
        }
        let id = transition.index();
        let timed = self.split.timed.get(id).copied().flatten();
        if let Some((busy, _)) = timed
            && let Some(busy) = self.marking.get_mut(busy.0)
        {
            *busy = match how {
                Change::Started => *busy + 1,
                Change::Ended | Change::Cancelled => busy.saturating_sub(1),
            };
        }
        let seen = match (how, timed) {
            (Change::Cancelled, _) => return,
            (Change::Started, Some((_, starts))) => starts as usize,
            _ => id,
        };
        let time = now as f64 / self.unit;
        self.goes_on &= (self.see)(time, &self.split.net, Plain(seen), &self.marking);
    }

    fn is_done(&self) -> bool {
        !self.goes_on || self.until.is_some_and(|(_, left)| left == 0)
    }
}
