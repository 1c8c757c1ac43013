//! Random choices made in every possible way instead of by chance, to list the states of a net.

use std::sync::Mutex;

use super::random::locked;

/// Values of one choice, at most.
pub(super) const MAX_VALUES: u64 = 65_536;

/// The choices of the firing that is looked at.
#[derive(Default)]
pub(crate) struct Choices(Mutex<Way>);

#[derive(Default)]
struct Way {
    trail: Vec<Choice>,
    /// Position of the next choice of this way.
    at: usize,
    /// Where the conditions of several outputs were looked at first.
    mark: usize,
    /// Behind the last choice that one of these outputs made.
    reached: usize,
}

struct Choice {
    taken: u64,
    among: Among,
}

enum Among {
    /// This number of values of equal probability.
    Equal(u64),
    Of(Vec<f64>),
}

impl Choice {
    fn count(&self) -> u64 {
        match &self.among {
            Among::Equal(count) => *count,
            Among::Of(all) => all.len() as u64,
        }
    }

    fn probability(&self) -> f64 {
        match &self.among {
            Among::Equal(count) => 1.0 / *count as f64,
            Among::Of(all) => all.get(self.taken as usize).copied().unwrap_or(0.0),
        }
    }
}

impl Choices {
    /// The first way of another firing.
    pub(crate) fn first(&self) {
        let way = &mut *locked(&self.0);
        way.trail.clear();
        way.at = 0;
    }

    /// The next way of the same firing, if there is one.
    pub(crate) fn next(&self) -> bool {
        let way = &mut *locked(&self.0);
        way.at = 0;
        while let Some(last) = way.trail.last_mut() {
            last.taken += 1;
            if last.taken < last.count() {
                return true;
            }
            way.trail.pop();
        }
        false
    }

    pub(crate) fn probability(&self) -> f64 {
        let way = locked(&self.0);
        way.trail.iter().map(Choice::probability).product()
    }

    pub(super) fn chance(&self, p: f64) -> bool {
        let p = p.clamp(0.0, 1.0);
        self.choose(|| Among::Of(vec![p, 1.0 - p])) == 0
    }

    /// A number below `count`, which is not above [`MAX_VALUES`].
    pub(super) fn below(&self, count: u64) -> u64 {
        match count {
            0..=1 => 0,
            count => self.choose(|| Among::Equal(count.min(MAX_VALUES))),
        }
    }

    /// An index of values with the sums of their probabilities up to them.
    pub(super) fn one_of(&self, sums: impl Iterator<Item = f64>) -> usize {
        let mut before = 0.0;
        let shares = sums.map(|sum| {
            let share = sum - before;
            before = sum;
            share
        });
        self.choose(|| Among::Of(shares.collect())) as usize
    }

    fn choose(&self, among: impl FnOnce() -> Among) -> u64 {
        let way = &mut *locked(&self.0);
        let at = way.at;
        way.at += 1;
        if let Some(choice) = way.trail.get(at) {
            return choice.taken;
        }
        way.trail.push(Choice {
            taken: 0,
            among: among(),
        });
        0
    }

    /// The first of several outputs that look at the same conditions.
    pub(crate) fn mark(&self) {
        let way = &mut *locked(&self.0);
        way.mark = way.at;
        way.reached = way.at;
    }

    /// A further one: its conditions are decided as before.
    pub(crate) fn again(&self) {
        let way = &mut *locked(&self.0);
        way.at = way.mark;
    }

    /// Behind one of these outputs. What follows it in the firing has its own choices, which a way that is gone again has, too.
    pub(crate) fn go_on(&self) {
        let way = &mut *locked(&self.0);
        way.reached = way.reached.max(way.at);
        way.at = way.reached;
    }
}
