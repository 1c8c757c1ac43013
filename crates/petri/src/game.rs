//! The token game: a net fired step by step, by hand or by chance, and back again.
//!
//! Only the transitions that the stochastic net could fire next are offered: the enabled immediate ones of the highest
//! priority, or, if there are none, the enabled timed ones. By chance, immediate transitions are chosen by weight;
//! timed ones race with delays that are drawn anew for every step, which for exponential delays is the stochastic net
//! itself.
//!
//! ```
//! use inorder_petri::game::Game;
//!
//! let net = inorder_petri::text::read("one.net", "place p 1\ntransition t exponential rate 2\n in p\n")?;
//! let mut game = Game::new(&net, 1);
//! let t = game.enabled()[0];
//! assert!(game.fire(t));
//! assert!(game.enabled().is_empty(), "a deadlock");
//! assert_eq!(game.back(), Some(t));
//! assert_eq!(game.marking(), [1]);
//! # Ok::<(), inorder_petri::text::TextError>(())
//! ```

use inorder_base::random::Random;

use crate::lower;
use crate::net::{Marking, Net, Servers, Timing, TransitionId};

/// Maximum number of steps that can be taken back; earlier ones are forgotten.
pub const MAX_STEPS_BACK: usize = 100_000;

/// A net with its marking and the way there.
pub struct Game<'a> {
    net: &'a Net,
    marking: Marking,
    past: std::collections::VecDeque<(TransitionId, Marking)>,
    steps: u64,
    random: Random,
    ticks_per_unit: f64,
}

impl<'a> Game<'a> {
    /// The net in its initial marking; chance follows from the seed.
    pub fn new(net: &'a Net, seed: u64) -> Self {
        Self {
            net,
            marking: net.initial_marking(),
            past: std::collections::VecDeque::new(),
            steps: 0,
            random: Random::new(seed, "game"),
            ticks_per_unit: lower::ticks_per_unit(net),
        }
    }

    /// The tokens of every place.
    pub fn marking(&self) -> &[u32] {
        &self.marking
    }

    /// Firings from the initial marking to this one.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The transitions that may fire, in the order of the net.
    pub fn enabled(&self) -> Vec<TransitionId> {
        let level = |t: TransitionId| match self.net.transitions[t.0].timing {
            Timing::Immediate { priority, .. } => u64::from(priority) + 1,
            _ => 0,
        };
        let all = (0..self.net.transitions.len()).map(TransitionId);
        let enabled = all.filter(|&t| self.net.is_enabled(t, &self.marking));
        let mut enabled: Vec<TransitionId> = enabled.collect();
        let highest = enabled.iter().map(|&t| level(t)).max();
        enabled.retain(|&t| Some(level(t)) == highest);
        enabled
    }

    /// Fires `transition`; false, without a change, if it may not fire now.
    pub fn fire(&mut self, transition: TransitionId) -> bool {
        if !self.enabled().contains(&transition) {
            return false;
        }
        if self.past.len() == MAX_STEPS_BACK {
            self.past.pop_front();
        }
        self.past.push_back((transition, self.marking.clone()));
        self.steps += 1;
        self.net.fire(transition, &mut self.marking)
    }

    /// Fires a transition that chance chooses; `None` in a deadlock.
    pub fn fire_by_chance(&mut self) -> Option<TransitionId> {
        let enabled = self.enabled();
        let first = *enabled.first()?;
        let chosen = match self.net.transitions[first.0].timing {
            Timing::Immediate { .. } => self.by_weight(&enabled),
            _ => self.by_race(&enabled),
        };
        let chosen = chosen.unwrap_or(first);
        self.fire(chosen).then_some(chosen)
    }

    fn by_weight(&mut self, enabled: &[TransitionId]) -> Option<TransitionId> {
        let weight = |t: &TransitionId| match self.net.transitions[t.0].timing {
            Timing::Immediate { weight, .. } => weight,
            _ => 0.0,
        };
        let total: f64 = enabled.iter().map(weight).sum();
        let mut left = self.random.unit() * total;
        let passes = |t: &&TransitionId| {
            left -= weight(t);
            left < 0.0
        };
        enabled.iter().find(passes).or(enabled.last()).copied()
    }

    fn by_race(&mut self, enabled: &[TransitionId]) -> Option<TransitionId> {
        let mut fastest: Option<(u64, TransitionId)> = None;
        for &id in enabled {
            let transition = &self.net.transitions[id.0];
            let Some(delay) = lower::delay(&transition.timing, self.ticks_per_unit) else {
                continue;
            };
            let degree = self.net.enabling_degree(id, &self.marking);
            // A source without inputs has an unlimited degree and works with one server.
            let clocks = match transition.servers {
                Servers::Infinite if degree == u32::MAX => 1,
                servers => servers.limit(degree),
            };
            for _ in 0..clocks {
                let ticks = delay.sample(&mut self.random);
                if fastest.is_none_or(|(least, _)| ticks < least) {
                    fastest = Some((ticks, id));
                }
            }
        }
        fastest.map(|(_, id)| id)
    }

    /// Takes the last firing back; `None` if there is none to take back.
    pub fn back(&mut self) -> Option<TransitionId> {
        let (transition, marking) = self.past.pop_back()?;
        self.marking = marking;
        self.steps -= 1;
        Some(transition)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn net(text: &str) -> Net {
        crate::text::read("game.net", text).unwrap()
    }

    #[test]
    fn immediate_transitions_of_the_highest_priority_come_first() {
        let net = net("place p 3\nplace a\nplace b\n\
            transition slow exponential rate 1\n in p\n\
            transition low immediate priority 1\n in p\n out a\n\
            transition high immediate priority 2\n in p 3\n out b\n");
        let mut game = Game::new(&net, 1);
        assert_eq!(game.enabled(), [TransitionId(2)]);
        assert!(!game.fire(TransitionId(0)) && !game.fire(TransitionId(1)));
        assert!(game.fire(TransitionId(2)));
        assert_eq!((game.marking(), game.steps()), (&[0, 0, 1][..], 1));
        assert_eq!(game.fire_by_chance(), None);
        assert_eq!(game.back(), Some(TransitionId(2)));
        assert_eq!(game.back(), None);
    }

    #[test]
    fn chance_follows_rates_servers_and_weights() {
        // Four servers of rate 1 race against one of rate 2: two thirds.
        let race = net("place p 4\nplace q 1\n\
            transition many exponential rate 1 servers infinite\n in p\n out p\n\
            transition one exponential rate 2\n in q\n out q\n");
        assert!((share(&race, 0) - 2.0 / 3.0).abs() < 0.03);
        // Every other step is the immediate choice.
        let weights = net("place p 1\nplace q\n\
            transition rare immediate weight 1\n in p\n out q\n\
            transition often immediate weight 3\n in p\n out q\n\
            transition again exponential rate 1\n in q\n out p\n");
        assert!((2.0 * share(&weights, 1) - 0.75).abs() < 0.03);
    }

    /// The share of a transition among 4,000 steps by chance.
    fn share(net: &Net, transition: usize) -> f64 {
        let mut game = Game::new(net, 7);
        let fired = (0..4_000).filter(|_| game.fire_by_chance() == Some(TransitionId(transition)));
        fired.count() as f64 / 4_000.0
    }
}
