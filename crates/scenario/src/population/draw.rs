//! Distributions of settings.

use inorder_base::random::Random;
use serde::{Deserialize, Serialize};

/// A distribution of a setting. Exactly one of `constant`, `uniform` and `lognormal` is given.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields, default)]
pub struct Draw {
    /// Always this.
    pub constant: Option<f64>,
    /// Uniform from the first to the second.
    pub uniform: Option<[f64; 2]>,
    /// Lognormal with this median.
    pub lognormal: Option<f64>,
    /// Standard deviation of the logarithm (base e) of a lognormal distribution.
    pub sigma: f64,
    /// The unit behind the number, such as `Mbit/s`; none for pure numbers.
    pub unit: String,
    /// Smaller values become this.
    pub at_least: Option<f64>,
    /// Larger values become this.
    pub at_most: Option<f64>,
    /// Probability that a connection draws at all; the others have `otherwise`.
    pub chance: Option<f64>,
    /// The value without a draw.
    pub otherwise: f64,
}

impl Draw {
    /// Says what is wrong, if anything.
    pub(super) fn check(&self) -> Result<(), String> {
        let given = [
            self.constant.is_some(),
            self.uniform.is_some(),
            self.lognormal.is_some(),
        ];
        if given.into_iter().filter(|given| *given).count() != 1 {
            return Err("expected one of constant, uniform and lognormal".to_owned());
        }
        if self.lognormal.is_some_and(|median| median <= 0.0) || self.sigma < 0.0 {
            return Err("lognormal: expected a median above 0 and a sigma of 0 or more".to_owned());
        }
        match self.chance {
            Some(chance) if !(0.0..=1.0).contains(&chance) => {
                Err(format!("chance: expected 0 to 1, found {chance}"))
            }
            _ => Ok(()),
        }
    }

    /// A value from this stream of random numbers, rounded to six digits, so that it is the number that is written.
    pub(super) fn value(&self, random: &mut Random) -> f64 {
        let chance = self.chance.unwrap_or(1.0);
        // Drawn always, so that a change of the chance leaves the values of the others.
        let (draws, unit, normal) = (random.unit() < chance, random.unit(), random.normal());
        if !draws {
            return self.otherwise;
        }
        let value = match (self.constant, self.uniform, self.lognormal) {
            (_, Some([from, to]), _) => from + (to - from) * unit,
            (_, _, Some(median)) => median * exp(self.sigma * normal),
            (constant, _, _) => constant.unwrap_or(self.otherwise),
        };
        let value = self.at_least.map_or(value, |least| value.max(least));
        let value = self.at_most.map_or(value, |most| value.min(most));
        // The text is what the scenario gets.
        format!("{value:.5e}").parse().unwrap_or(value)
    }

    /// The value as scenarios have it.
    pub(super) fn written(&self, value: f64) -> String {
        match self.unit.as_str() {
            "" => format!("{value}"),
            unit => format!("{value} {unit}"),
        }
    }
}

/// The exponential function, the same on every machine.
fn exp(x: f64) -> f64 {
    libm::exp(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(draw: &Draw) -> Vec<f64> {
        let stream = Random::new(7, "draw");
        let mut values: Vec<f64> = (0..20_001)
            .map(|n| draw.value(&mut stream.fork(n)))
            .collect();
        values.sort_by(f64::total_cmp);
        values
    }

    #[test]
    fn half_of_a_lognormal_lies_below_its_median() {
        let draw = Draw {
            lognormal: Some(3.0),
            sigma: 0.5,
            at_most: Some(6.0),
            ..Draw::default()
        };
        let values = values(&draw);
        let at = |share: f64| values[(20_000.0 * share) as usize];
        assert!((at(0.5) / 3.0 - 1.0).abs() < 0.03, "{}", at(0.5));
        // One standard deviation below: 15.87 % of a normal distribution.
        assert!((at(0.1587) / (3.0 * (-0.5_f64).exp()) - 1.0).abs() < 0.03);
        assert_eq!(at(1.0), 6.0);
    }

    #[test]
    fn a_chance_leaves_the_others_as_they_are() {
        let draw = Draw {
            uniform: Some([10.0, 20.0]),
            chance: Some(0.25),
            otherwise: 0.0,
            ..Draw::default()
        };
        let values = values(&draw);
        let without = values.iter().filter(|value| **value == 0.0).count();
        assert!((14_600..15_400).contains(&without), "{without}");
        assert!(
            values
                .iter()
                .all(|value| *value == 0.0 || (10.0..20.0).contains(value))
        );
    }

    #[test]
    fn one_distribution_is_wanted() {
        assert!(Draw::default().check().is_err());
        let two = Draw {
            constant: Some(1.0),
            lognormal: Some(1.0),
            ..Draw::default()
        };
        assert!(two.check().is_err());
    }
}
