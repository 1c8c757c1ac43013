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
//! # Ok::<(), inorder_petri::text::ReadError>(())
//! ```

use inorder_base::random::Random;

use crate::lower;
use crate::net::{Net, Servers, TransitionId};
use crate::reachability::{Move, Moves, Plain};

/// Maximum number of steps that can be taken back; earlier ones are forgotten.
pub(crate) const MAX_STEPS_BACK: usize = 100_000;

/// A net with its state and the way there.
pub struct Game<'a> {
    moves: Box<dyn Moves + 'a>,
    state: Vec<u32>,
    past: std::collections::VecDeque<(TransitionId, Vec<u32>)>,
    steps: u64,
    random: Random,
    ticks_per_unit: f64,
}

/// Something that can happen next.
#[derive(Debug, Clone, PartialEq)]
pub struct Way {
    made: Move,
    /// The state after it.
    to: Vec<u32>,
}

impl Way {
    /// What would fire.
    pub fn transition(&self) -> TransitionId {
        TransitionId(self.made.transition as usize)
    }
}

impl<'a> Game<'a> {
    /// The net in its initial marking; chance follows from the seed.
    pub fn new(net: &'a Net, seed: u64) -> Self {
        // A plain net has a first state and no move that fails.
        let game = Self::of_moves(Box::new(Plain::of(net)), seed);
        game.unwrap_or_else(|_| Self::in_state(Box::new(Plain::of(net)), Vec::new(), seed))
    }

    /// Anything with states and moves, in its first state; chance follows from the seed.
    ///
    /// # Errors
    /// If its first state has a fault.
    pub fn of_moves(mut moves: Box<dyn Moves + 'a>, seed: u64) -> Result<Self, String> {
        let state = moves.initial()?;
        Ok(Self::in_state(moves, state, seed))
    }

    fn in_state(moves: Box<dyn Moves + 'a>, state: Vec<u32>, seed: u64) -> Self {
        Self {
            ticks_per_unit: lower::ticks_per_unit(moves.net()),
            moves,
            state,
            past: std::collections::VecDeque::new(),
            steps: 0,
            random: Random::new(seed, "game"),
        }
    }

    /// The net to which transitions and markings refer.
    pub fn net(&self) -> &Net {
        self.moves.net()
    }

    /// The tokens of every place.
    pub fn marking(&self) -> &[u32] {
        self.state
            .get(..self.net().places.len())
            .unwrap_or(&self.state)
    }

    /// The marking in words, with the content of coloured tokens.
    pub fn words(&self) -> String {
        self.moves.words(&self.state)
    }

    /// The marking after a step, in words.
    pub fn words_after(&self, way: &Way) -> String {
        self.moves.words(&way.to)
    }

    /// Firings from the initial marking to this one.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// What can happen next, in the order of the net.
    ///
    /// # Errors
    /// If a function of a coloured net has a fault here.
    pub fn ways(&mut self) -> Result<Vec<Way>, String> {
        let mut ways = Vec::new();
        self.moves.each(&self.state, &mut |made, to| {
            let to = to.to_vec();
            ways.push(Way { made, to });
        })?;
        ways.sort_by_key(Way::transition);
        Ok(ways)
    }

    /// The transitions that may fire, in the order of the net.
    pub fn enabled(&mut self) -> Vec<TransitionId> {
        let ways = self.ways().unwrap_or_default();
        let mut all: Vec<TransitionId> = ways.iter().map(Way::transition).collect();
        all.dedup();
        all
    }

    /// Goes one of the [`ways`](Self::ways) there are.
    pub fn go(&mut self, way: Way) -> TransitionId {
        if self.past.len() == MAX_STEPS_BACK {
            self.past.pop_front();
        }
        let transition = way.transition();
        let before = std::mem::replace(&mut self.state, way.to);
        self.past.push_back((transition, before));
        self.steps += 1;
        transition
    }

    /// Fires `transition`; false, without a change, if it may not fire now.
    pub fn fire(&mut self, transition: TransitionId) -> bool {
        let ways = self.ways().unwrap_or_default();
        let way = ways.into_iter().find(|way| way.transition() == transition);
        way.map(|way| self.go(way)).is_some()
    }

    /// Fires a transition that chance chooses; `None` in a deadlock.
    pub fn fire_by_chance(&mut self) -> Option<TransitionId> {
        let mut ways = self.ways().unwrap_or_default();
        let chosen = match ways.first()?.made.is_immediate {
            true => self.by_weight(&ways),
            false => self.by_race(&ways),
        };
        Some(self.go(ways.swap_remove(chosen.unwrap_or(0))))
    }

    fn by_weight(&mut self, ways: &[Way]) -> Option<usize> {
        let total: f64 = ways.iter().map(|way| way.made.speed).sum();
        let mut left = self.random.unit() * total;
        let passes = |way: &Way| {
            left -= way.made.speed;
            left < 0.0
        };
        ways.iter().position(passes)
    }

    fn by_race(&mut self, ways: &[Way]) -> Option<usize> {
        let mut fastest: Option<(f64, usize)> = None;
        for (index, way) in ways.iter().enumerate() {
            let least = match self.moves.deposits() {
                Some(_) => self.of_rate(way),
                None => self.of_clocks(way.transition()),
            };
            if let Some(time) = least
                && fastest.is_none_or(|(first, _)| time < first)
            {
                fastest = Some((time, index));
            }
        }
        fastest.map(|(_, index)| index)
    }

    /// A delay of a move that knows its rate; one of which no rate is known counts as a rate of 1.
    fn of_rate(&mut self, way: &Way) -> Option<f64> {
        let rate = if way.made.speed > 0.0 {
            way.made.speed
        } else {
            1.0
        };
        Some(self.random.exponential() / rate)
    }

    /// The shortest delay of the busy servers of a transition.
    fn of_clocks(&mut self, id: TransitionId) -> Option<f64> {
        let transition = &self.moves.net().transitions[id.0];
        let delay = lower::delay(&transition.timing, self.ticks_per_unit)?;
        let degree = self.moves.net().enabling_degree(id, self.marking());
        // A source without inputs has an unlimited degree and works with one server.
        let clocks = match transition.servers {
            Servers::Infinite if degree == u32::MAX => 1,
            servers => servers.limit(degree),
        };
        let draws = (0..clocks).map(|_| delay.sample(&mut self.random));
        draws.min().map(|ticks| ticks as f64)
    }

    /// Takes the last firing back; `None` if there is none to take back.
    pub fn back(&mut self) -> Option<TransitionId> {
        let (transition, state) = self.past.pop_back()?;
        self.state = state;
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
