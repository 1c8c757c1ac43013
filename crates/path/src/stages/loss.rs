//! Loss: independent or correlated, with four states, or with the two states of Gilbert and Elliott.

use crate::declared::Declared;
use inorder_base::random::Random;
use inorder_scenario::config as plain;

use crate::chance::{Dice, Probability};
use crate::counters::Reason;
use crate::packet::Packet;
use crate::stage::{Outbox, Pass, Stage};

/// The loss model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossConfig {
    /// None.
    None,
    /// Each packet with the same probability, with correlated random numbers (netem `loss random`).
    Uniform {
        /// Probability of loss.
        probability: Probability,
        /// Correlation of each random number with the previous one.
        correlation: Probability,
    },
    /// Four states: Salsano, Ludovici, Ordine, Giannuzzi, "Definition of a general and intuitive
    /// loss model for packet networks and its implementation in the Netem module", 2012.
    Markov(Markov),
    /// Two states, each with its own probability of loss: E. N. Gilbert 1960, E. O. Elliott 1963.
    GilbertElliott(GilbertElliott),
}

/// Transitions of the four-state model (netem `loss state P13 P31 P32 P23 P14`). States: 1 good in
/// a gap, 2 good in a burst, 3 lost in a burst, 4 lost alone in a gap (always back to 1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Markov {
    /// p13: a burst begins.
    pub p13: Probability,
    /// p31: a burst ends.
    pub p31: Probability,
    /// p32: a good packet within a burst.
    pub p32: Probability,
    /// p23: a loss after a good packet within a burst.
    pub p23: Probability,
    /// p14: an isolated loss.
    pub p14: Probability,
}

impl Markov {
    /// With netem's defaults for the other parameters: bursts of mean length 1 / (1 - p13), no good packets in
    /// bursts, no isolated losses.
    pub fn new(p13: Probability) -> Self {
        Markov {
            p13,
            p31: p13.complement(),
            p32: Probability::NEVER,
            p23: Probability::ALWAYS,
            p14: Probability::NEVER,
        }
    }
}

/// The Gilbert-Elliott model (netem `loss gemodel p r 1-h 1-k`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GilbertElliott {
    /// p: from good to bad.
    pub to_bad: Probability,
    /// r: from bad to good.
    pub to_good: Probability,
    /// 1 - h: loss in the bad state.
    pub loss_in_bad: Probability,
    /// 1 - k: loss in the good state.
    pub loss_in_good: Probability,
}

impl GilbertElliott {
    /// With netem's defaults for the other parameters (Bernoulli): r = 1 - p, all packets lost in the bad state, none
    /// in the good state.
    pub fn new(to_bad: Probability) -> Self {
        GilbertElliott {
            to_bad,
            to_good: to_bad.complement(),
            loss_in_bad: Probability::ALWAYS,
            loss_in_good: Probability::NEVER,
        }
    }
}

/// Drops packets.
#[derive(Clone, Debug)]
pub struct Loss {
    model: Model,
}

#[derive(Clone, Debug)]
enum Model {
    None,
    Uniform(Dice),
    Markov(Markov, State, Random),
    GilbertElliott(GilbertElliott, bool, Random),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    GoodInGap,
    GoodInBurst,
    LostInBurst,
    LostInGap,
}

impl Loss {
    /// `random` is the stream of this stage.
    pub fn new(config: &LossConfig, random: Random) -> Self {
        let model = match *config {
            LossConfig::None => Model::None,
            LossConfig::Uniform {
                probability,
                correlation,
            } => Model::Uniform(Dice::new(probability, correlation, random)),
            LossConfig::Markov(markov) => Model::Markov(markov, State::GoodInGap, random),
            LossConfig::GilbertElliott(model) => Model::GilbertElliott(model, false, random),
        };
        Loss { model }
    }

    /// True if the next packet is lost.
    #[inline]
    pub(crate) fn roll(&mut self) -> bool {
        match &mut self.model {
            Model::None => false,
            Model::Uniform(dice) => dice.roll(),
            Model::Markov(markov, state, random) => {
                *state = next_state(markov, *state, random.next_u32());
                matches!(state, State::LostInBurst | State::LostInGap)
            }
            Model::GilbertElliott(model, bad, random) => {
                // netem's order: the state changes first, and the loss is that of the previous state.
                let (leave, loss) = if *bad {
                    (model.to_good, model.loss_in_bad)
                } else {
                    (model.to_bad, model.loss_in_good)
                };
                *bad ^= leave.hits(random.next_u32());
                loss.hits(random.next_u32())
            }
        }
    }
}

/// A single random number decides: its range is divided among the transitions of the state; the rest means no change.
fn next_state(markov: &Markov, state: State, random: u32) -> State {
    let either = |a: Probability, first, b: Probability, second, otherwise| {
        if a.hits(random) {
            first
        } else if a.or(b).hits(random) {
            second
        } else {
            otherwise
        }
    };
    let never = Probability::NEVER;
    match state {
        State::GoodInGap => either(
            markov.p14,
            State::LostInGap,
            markov.p13,
            State::LostInBurst,
            State::GoodInGap,
        ),
        State::GoodInBurst => either(
            markov.p23,
            State::LostInBurst,
            never,
            State::GoodInBurst,
            State::GoodInBurst,
        ),
        State::LostInBurst => either(
            markov.p32,
            State::GoodInBurst,
            markov.p31,
            State::GoodInGap,
            State::LostInBurst,
        ),
        State::LostInGap => State::GoodInGap,
    }
}

impl<P: Packet> Stage<P> for Loss {
    #[inline]
    fn pass(&mut self, now_ns: i64, _: &mut P, _: &mut Outbox<P>) -> Pass {
        match self.roll() {
            true => Pass::Dropped(Reason::Loss),
            false => Pass::Leaves(now_ns),
        }
    }

    fn keeps_order(&self) -> bool {
        true
    }
}

impl<P: Packet> Declared<P> for plain::Loss {
    type Stage = Loss;

    fn build(&self, random: Random) -> Loss {
        Loss::new(&LossConfig::from(self), random)
    }
}

impl From<&plain::Loss> for LossConfig {
    fn from(loss: &plain::Loss) -> Self {
        let p = Probability::ratio;
        let or_rest = |given: Option<f64>, of: f64| p(given.unwrap_or(1.0 - of));
        match *loss {
            plain::Loss::Uniform {
                probability,
                correlation,
            } => LossConfig::Uniform {
                probability: p(probability),
                correlation: p(correlation),
            },
            plain::Loss::GilbertElliott {
                to_bad,
                to_good,
                loss_in_bad,
                loss_in_good,
            } => LossConfig::GilbertElliott(GilbertElliott {
                to_bad: p(to_bad),
                to_good: or_rest(to_good, to_bad),
                loss_in_bad: p(loss_in_bad),
                loss_in_good: p(loss_in_good),
            }),
            plain::Loss::Markov {
                p13,
                p31,
                p32,
                p23,
                p14,
            } => LossConfig::Markov(Markov {
                p13: p(p13),
                p31: or_rest(p31, p13),
                p32: p(p32),
                p23: p(p23),
                p14: p(p14),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: u32 = 400_000;

    /// Share of lost packets, and mean length of runs of losses.
    fn measure(config: &LossConfig) -> (f64, f64) {
        let mut loss = Loss::new(config, Random::new(1, "loss"));
        let (mut lost, mut runs, mut before) = (0u32, 0u32, false);
        for _ in 0..N {
            let now = loss.roll();
            lost += u32::from(now);
            runs += u32::from(now && !before);
            before = now;
        }
        (
            f64::from(lost) / f64::from(N),
            f64::from(lost) / f64::from(runs.max(1)),
        )
    }

    #[track_caller]
    fn near(value: f64, expected: f64, tolerance: f64) {
        assert!(
            (value / expected - 1.0).abs() < tolerance,
            "{value}, expected {expected}"
        );
    }

    #[test]
    fn uniform_loss_is_independent() {
        let (share, run) = measure(&LossConfig::Uniform {
            probability: Probability::percent(2.0),
            correlation: Probability::NEVER,
        });
        near(share, 0.02, 0.05);
        near(run, 1.0 / 0.98, 0.02);
    }

    #[test]
    fn correlation_makes_small_losses_smaller() {
        // The mixed random number is rarely near 0: a known defect of netem, which is reproduced.
        let (share, _) = measure(&LossConfig::Uniform {
            probability: Probability::percent(2.0),
            correlation: Probability::percent(25.0),
        });
        assert!(share < 0.005, "{share}");
    }

    #[test]
    fn gilbert_elliott_loses_in_runs() {
        // The lab's `loss gemodel 0.3% 20% 100% 0%`: runs of mean length 5.
        let model = GilbertElliott {
            to_good: Probability::percent(20.0),
            ..GilbertElliott::new(Probability::percent(0.3))
        };
        let (share, run) = measure(&LossConfig::GilbertElliott(model));
        near(share, 0.003 / 0.203, 0.1);
        near(run, 5.0, 0.05);
    }

    #[test]
    fn gilbert_elliott_by_default_is_bernoulli() {
        let model = GilbertElliott::new(Probability::percent(3.0));
        let (share, run) = measure(&LossConfig::GilbertElliott(model));
        near(share, 0.03, 0.05);
        near(run, 1.0 / 0.97, 0.02);
    }

    #[test]
    fn losses_of_four_states_follow_the_balance_equations() {
        let model = Markov {
            p13: Probability::percent(1.0),
            p31: Probability::percent(30.0),
            p32: Probability::percent(20.0),
            p23: Probability::percent(60.0),
            p14: Probability::percent(0.5),
        };
        // Balance: pi3 p31 = pi1 p13, pi2 p23 = pi3 p32, pi4 = pi1 p14.
        let (pi3, pi4) = (0.01 / 0.30, 0.005);
        let sum = 1.0 + pi3 + pi3 * 0.20 / 0.60 + pi4;
        let (share, _) = measure(&LossConfig::Markov(model));
        near(share, (pi3 + pi4) / sum, 0.05);
    }

    #[test]
    fn four_states_by_default_are_bernoulli() {
        let (share, run) = measure(&LossConfig::Markov(Markov::new(Probability::percent(3.0))));
        near(share, 0.03, 0.05);
        near(run, 1.0 / 0.97, 0.02);
    }

    #[test]
    fn none_and_all() {
        assert_eq!(measure(&LossConfig::None).0, 0.0);
        let all = LossConfig::Uniform {
            probability: Probability::ALWAYS,
            correlation: Probability::NEVER,
        };
        assert_eq!(measure(&all).0, 1.0);
    }
}
