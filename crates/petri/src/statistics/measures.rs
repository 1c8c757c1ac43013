//! The measures of a net, computed from observations.

use super::series;
use super::simulation::{Layout, Reward, Totals};
use inorder_base::stats::Estimate;

/// The measures of a net: rates per unit of time, times in units.
#[derive(Debug, Clone, PartialEq)]
pub struct Measures {
    /// Measures of the places, in the order of the net.
    pub places: Vec<PlaceMeasures>,
    /// Measures of the transitions, in the order of the net.
    pub transitions: Vec<TransitionMeasures>,
    /// What the further numbers that were observed are.
    pub(crate) kinds: Vec<Reward>,
    /// Their means over time, in their order.
    pub rewards: Vec<Estimate>,
    /// Their means at the ends of the observations.
    pub rewards_at_end: Vec<Estimate>,
}

/// The measures of a place.
#[derive(Debug, Clone, PartialEq)]
pub struct PlaceMeasures {
    /// Its name.
    pub name: String,
    /// Mean number of tokens over time.
    pub tokens: Estimate,
    /// Mean number of tokens at the ends of the observations.
    pub tokens_at_end: Estimate,
    /// Tokens that arrive per unit of time; tokens that a transition takes and returns count.
    pub arrivals: Estimate,
    /// Mean time a token stays, by Little's law; `None` if none arrived.
    pub sojourn: Option<Estimate>,
    /// Largest number of tokens at one time, since the start.
    pub peak: u32,
}

/// The measures of a transition.
#[derive(Debug, Clone, PartialEq)]
pub struct TransitionMeasures {
    /// Its name.
    pub name: String,
    /// Firings per unit of time.
    pub throughput: Estimate,
    /// Mean number of firings in progress (of running clocks); `None` for an immediate transition.
    pub busy: Option<Estimate>,
    /// Share of its servers that are busy; without a limit, the probability that at least one is. `None` for an
    /// immediate transition.
    pub utilisation: Option<Estimate>,
}

/// The observation of a place in a time interval: means and rates.
#[derive(Debug, Clone, Copy, Default)]
struct PlaceSeen {
    tokens: f64,
    at_end: f64,
    arrivals: f64,
}

#[derive(Debug, Clone, Copy, Default)]
struct TransitionSeen {
    throughput: f64,
    busy: f64,
    active: f64,
}

/// The observation of a time interval.
#[derive(Debug, Clone, Default)]
pub(crate) struct Observation {
    places: Vec<PlaceSeen>,
    transitions: Vec<TransitionSeen>,
    rewards: Vec<f64>,
    rewards_at_end: Vec<f64>,
    peaks: Vec<u32>,
}

impl Observation {
    /// The differences between two totals that are `ticks` apart; rates are per `ticks_per_unit` ticks.
    pub(crate) fn between(from: &Totals, to: &Totals, ticks: u64, ticks_per_unit: f64) -> Self {
        let ticks = ticks.max(1) as f64;
        let units = ticks / ticks_per_unit;
        let places = from
            .places
            .iter()
            .zip(&to.places)
            .map(|(from, to)| PlaceSeen {
                tokens: (to.integral - from.integral) as f64 / ticks,
                at_end: f64::from(to.tokens),
                arrivals: (to.arrivals - from.arrivals) as f64 / units,
            });
        let transitions = from
            .transitions
            .iter()
            .zip(&to.transitions)
            .map(|(from, to)| TransitionSeen {
                throughput: (to.firings - from.firings) as f64 / units,
                busy: (to.busy - from.busy) as f64 / ticks,
                active: (to.active - from.active) as f64 / ticks,
            });
        let rewards = from.rewards.iter().zip(&to.rewards);
        Self {
            places: places.collect(),
            transitions: transitions.collect(),
            rewards: rewards.map(|(from, to)| (to - from) / ticks).collect(),
            rewards_at_end: to.rewards_now.clone(),
            peaks: to.places.iter().map(|place| place.peak).collect(),
        }
    }

    /// The observation of intervals of equal length that follow each other, together.
    pub(crate) fn together(parts: &[Self]) -> Self {
        let Some(last) = parts.last() else {
            return Self::default();
        };
        let share = 1.0 / parts.len() as f64;
        let mean = |of: &dyn Fn(&Self) -> f64| share * parts.iter().map(of).sum::<f64>();
        let mut all = last.clone();
        for (index, place) in all.places.iter_mut().enumerate() {
            place.tokens = mean(&|part| part.places[index].tokens);
            place.arrivals = mean(&|part| part.places[index].arrivals);
        }
        for (index, transition) in all.transitions.iter_mut().enumerate() {
            transition.throughput = mean(&|part| part.transitions[index].throughput);
            transition.busy = mean(&|part| part.transitions[index].busy);
            transition.active = mean(&|part| part.transitions[index].active);
        }
        for (index, reward) in all.rewards.iter_mut().enumerate() {
            *reward = mean(&|part| part.rewards[index]);
        }
        all
    }

    /// How many numbers [`Observation::number`] has: tokens, throughputs, further numbers.
    pub(crate) fn numbers(&self) -> usize {
        self.places.len() + self.transitions.len() + self.rewards.len()
    }

    /// A number for the judgement of the run.
    pub(crate) fn number(&self, index: usize) -> f64 {
        let places = self.places.iter().map(|place| place.tokens);
        let transitions = self
            .transitions
            .iter()
            .map(|transition| transition.throughput);
        let mut all = places
            .chain(transitions)
            .chain(self.rewards.iter().copied());
        all.nth(index).unwrap_or_default()
    }

    /// Tokens of the place at the end.
    pub(crate) fn at_end(&self, place: usize) -> f64 {
        self.places[place].at_end
    }

    /// Mean number of tokens of the place.
    pub(crate) fn tokens(&self, place: usize) -> f64 {
        self.places[place].tokens
    }

    /// Tokens that arrived in the place per unit of time.
    pub(crate) fn arrivals(&self, place: usize) -> f64 {
        self.places[place].arrivals
    }

    /// Largest number of tokens of the place since the start.
    pub(crate) fn peak(&self, place: usize) -> u32 {
        self.peaks[place]
    }
}

/// Runs from which on numbers of firings that are equal in all of them are taken as fixed. Of random numbers with a standard
/// deviation of 1 two are equal with 0.28, and as many as these with 0.0001.
pub const MIN_EQUAL_RUNS: usize = 8;

/// How the observations hang together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Independent runs.
    Runs,
    /// Batches of one run, in their order.
    Batches,
}

impl Kind {
    fn mean(self, values: impl Iterator<Item = f64>, confidence: f64) -> Estimate {
        let values: Vec<f64> = values.collect();
        let spread = match self {
            Self::Runs => series::of_independent(&values, confidence),
            Self::Batches => series::of_series(&values, confidence),
        };
        spread.estimate
    }

    /// The mean of numbers that are counted. In a few runs they may be equal by chance, which says nothing of their spread.
    fn mean_of_counts(
        self,
        values: impl Iterator<Item = f64> + Clone,
        confidence: f64,
    ) -> Estimate {
        let is_chance = self == Self::Runs && values.clone().count() < MIN_EQUAL_RUNS;
        let found = self.mean(values, confidence);
        match is_chance && found.half_width == 0.0 && found.mean != 0.0 {
            true => Estimate {
                half_width: f64::INFINITY,
                ..found
            },
            false => found,
        }
    }

    fn ratio(
        self,
        pairs: impl Iterator<Item = (f64, f64)> + Clone,
        confidence: f64,
    ) -> Option<Estimate> {
        let ratio = Estimate::of_ratio(pairs.clone(), confidence)?;
        let n = pairs.clone().count() as f64;
        let below = pairs.clone().map(|pair| pair.1).sum::<f64>() / n;
        let residuals = pairs.map(|(a, b)| (a - ratio.mean * b) / below);
        Some(Estimate {
            half_width: self.mean(residuals, confidence).half_width,
            ..ratio
        })
    }
}

impl Measures {
    /// Computed from observations.
    pub(crate) fn new(layout: &Layout, kind: Kind, seen: &[Observation], confidence: f64) -> Self {
        let all = Seen {
            kind,
            seen,
            confidence,
        };
        let place = |(index, name): (usize, &String)| all.place(name, index);
        let transition = |(index, (name, servers)): (usize, &(String, Option<Option<u32>>))| {
            all.transition(name, *servers, index)
        };
        let rewards = (0..layout.rewards.len())
            .map(|index| kind.mean(seen.iter().map(|o| o.rewards[index]), confidence));
        // A condition that held in all runs has a bound.
        let at_end = layout.rewards.iter().enumerate().map(|(index, reward)| {
            let values = seen.iter().map(|o| o.rewards_at_end[index]);
            match reward {
                Reward::Condition => kind.mean(values, confidence),
                Reward::Number => kind.mean_of_counts(values, confidence),
            }
        });
        Self {
            places: layout.places.iter().enumerate().map(place).collect(),
            transitions: layout
                .transitions
                .iter()
                .enumerate()
                .map(transition)
                .collect(),
            kinds: layout.rewards.clone(),
            rewards: rewards.collect(),
            rewards_at_end: at_end.collect(),
        }
    }

    /// The widest relative interval of a throughput, mean number of tokens or further number.
    pub(crate) fn worst_relative_error(&self) -> f64 {
        let tokens = self.places.iter().map(|place| place.tokens);
        let rates = self
            .transitions
            .iter()
            .map(|transition| transition.throughput);
        tokens
            .chain(rates)
            .filter(|e| e.mean != 0.0)
            // What was never seen, or always, has a bound instead of a precision.
            .chain(
                self.rewards()
                    .filter_map(|(kind, e)| (!is_bound(kind, e)).then_some(*e)),
            )
            .map(|e| e.relative_error())
            .fold(0.0, f64::max)
    }

    /// Gives what was never seen a bound instead of an interval of width 0. In `independent` observations, and in `units`
    /// of time, something that never occurred is rarer than the logarithm of one minus the confidence says: 3 divided by
    /// their number for 95 % (J. Hanley and A. Lippman-Hand, "If nothing goes wrong, is everything all right?", JAMA
    /// 249(13), 1983). Bounds have a mean of 0 and a half width above 0. A condition that always held has never been seen not
    /// to hold: its mean is 1 with the same half width.
    pub(crate) fn bound_the_unseen(&mut self, independent: f64, units: f64, confidence: f64) {
        let occurrences = -libm::log1p(-confidence);
        let (share, rate) = ((occurrences / independent).min(1.0), occurrences / units);
        let bound = |estimate: &mut Estimate, bound: f64| {
            if estimate.mean == 0.0 && estimate.half_width == 0.0 {
                estimate.half_width = bound;
            }
        };
        for place in &mut self.places {
            // A place that tokens only pass has none at any time for certain.
            if place.tokens.mean != 0.0 || place.arrivals.mean == 0.0 {
                bound(&mut place.tokens, share);
                bound(&mut place.tokens_at_end, share);
            }
            bound(&mut place.arrivals, rate);
        }
        for transition in self
            .transitions
            .iter_mut()
            .filter(|t| t.throughput.mean == 0.0)
        {
            bound(&mut transition.throughput, rate);
            for estimate in [&mut transition.busy, &mut transition.utilisation]
                .into_iter()
                .flatten()
            {
                bound(estimate, share);
            }
        }
        let kinds = self.kinds.iter();
        let rewards = self.rewards.iter_mut().zip(kinds.clone());
        for (reward, kind) in rewards.chain(self.rewards_at_end.iter_mut().zip(kinds)) {
            bound(reward, share);
            if is_always(*kind, reward) && reward.half_width == 0.0 {
                reward.half_width = share;
            }
        }
    }

    /// Whether something has a bound instead of an estimate.
    pub(crate) fn has_unseen(&self) -> bool {
        let tokens = self.places.iter().map(|place| place.tokens);
        let throughputs = self.transitions.iter().map(|t| t.throughput);
        let mut all = tokens
            .chain(throughputs)
            .chain(self.rewards.iter().copied());
        all.any(|e| e.mean == 0.0 && e.half_width > 0.0)
    }

    /// Takes the intervals of the tokens of a place away: its mean depends on nothing but the length of the run.
    pub(crate) fn without_mean_of(&mut self, name: &str) {
        for place in self.places.iter_mut().filter(|place| place.name == name) {
            place.tokens.half_width = f64::INFINITY;
            if let Some(sojourn) = &mut place.sojourn {
                sojourn.half_width = f64::INFINITY;
            }
        }
    }

    /// Takes the intervals away: one run does not tell what the numbers of another would be.
    pub(crate) fn without_intervals(&mut self) {
        self.each(|estimate| estimate.half_width = f64::INFINITY);
    }

    /// Takes the bounds on what was never seen away: in a net that stands still for good it never occurs.
    pub(crate) fn without_bounds(&mut self) {
        self.each(|estimate| {
            if estimate.mean == 0.0 {
                estimate.half_width = 0.0;
            }
        });
        let rewards = self.rewards.iter_mut().chain(&mut self.rewards_at_end);
        for (reward, kind) in rewards.zip(self.kinds.iter().cycle()) {
            if is_always(*kind, reward) {
                reward.half_width = 0.0;
            }
        }
    }

    /// The means of the further numbers, with what they are.
    fn rewards(&self) -> impl Iterator<Item = (Reward, &Estimate)> {
        self.kinds.iter().copied().zip(&self.rewards)
    }

    fn each(&mut self, mut change: impl FnMut(&mut Estimate)) {
        for place in &mut self.places {
            change(&mut place.tokens);
            change(&mut place.tokens_at_end);
            change(&mut place.arrivals);
            place.sojourn.iter_mut().for_each(&mut change);
        }
        for transition in &mut self.transitions {
            change(&mut transition.throughput);
            transition.busy.iter_mut().for_each(&mut change);
            transition.utilisation.iter_mut().for_each(&mut change);
        }
        self.rewards.iter_mut().for_each(&mut change);
        self.rewards_at_end.iter_mut().for_each(&mut change);
    }

    /// The measures of the place of that name.
    pub fn place(&self, name: &str) -> Option<&PlaceMeasures> {
        self.places.iter().find(|place| place.name == name)
    }

    /// The measures of the transition of that name.
    pub fn transition(&self, name: &str) -> Option<&TransitionMeasures> {
        self.transitions
            .iter()
            .find(|transition| transition.name == name)
    }
}

/// Whether a condition held all the time that was seen.
pub(crate) fn is_always(kind: Reward, estimate: &Estimate) -> bool {
    kind == Reward::Condition && estimate.mean == 1.0
}

/// Whether the half width of a further number bounds what was never seen.
fn is_bound(kind: Reward, estimate: &Estimate) -> bool {
    estimate.mean == 0.0 || is_always(kind, estimate)
}

/// Observations of one kind.
#[derive(Clone, Copy)]
struct Seen<'s> {
    kind: Kind,
    seen: &'s [Observation],
    confidence: f64,
}

impl Seen<'_> {
    fn place(self, name: &str, index: usize) -> PlaceMeasures {
        let all = || self.seen.iter().map(move |o| &o.places[index]);
        let of = |what: fn(&PlaceSeen) -> f64| self.kind.mean(all().map(what), self.confidence);
        PlaceMeasures {
            name: name.to_owned(),
            tokens: of(|p| p.tokens),
            tokens_at_end: self
                .kind
                .mean_of_counts(all().map(|p| p.at_end), self.confidence),
            arrivals: self
                .kind
                .mean_of_counts(all().map(|p| p.arrivals), self.confidence),
            sojourn: self
                .kind
                .ratio(all().map(|p| (p.tokens, p.arrivals)), self.confidence),
            peak: self
                .seen
                .iter()
                .map(|o| o.peaks[index])
                .max()
                .unwrap_or_default(),
        }
    }

    fn transition(
        self,
        name: &str,
        servers: Option<Option<u32>>,
        index: usize,
    ) -> TransitionMeasures {
        let all = self.seen.iter().map(|o| &o.transitions[index]);
        let of = |what: fn(&TransitionSeen) -> f64| {
            self.kind.mean(all.clone().map(what), self.confidence)
        };
        TransitionMeasures {
            name: name.to_owned(),
            throughput: self
                .kind
                .mean_of_counts(all.clone().map(|t| t.throughput), self.confidence),
            busy: servers.map(|_| of(|t| t.busy)),
            utilisation: servers.map(|limit| match limit {
                Some(servers) => of(|t| t.busy).scaled(1.0 / f64::from(servers.max(1))),
                None => of(|t| t.active),
            }),
        }
    }
}
