//! Probabilities and correlated random numbers as in netem: 32-bit integers.

use inorder_base::random::Random;

/// A probability, or a correlation, on netem's scale: 0 is never, 2^32 - 1 always.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Probability(u32);

impl Probability {
    /// Never.
    pub const NEVER: Probability = Probability(0);

    /// From a ratio; NaN and values below 0 count as 0, values above 1 as 1.
    pub fn ratio(p: f64) -> Self {
        // A cast from float to integer saturates, and takes NaN to 0.
        Probability(libm::rint(p * f64::from(u32::MAX)) as u32)
    }

    /// True if the probability is 0.
    #[inline]
    pub fn is_never(self) -> bool {
        self.0 == 0
    }

    /// True if the event happens for `random`, a uniform 32-bit number.
    #[inline]
    pub fn hits(self, random: u32) -> bool {
        self.0 != 0 && random <= self.0
    }

    /// The probability of one of two events that exclude each other.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Probability(self.0.saturating_add(other.0))
    }
}

/// Uniform 32-bit random numbers with netem's first-order correlation: each is the weighted mean of a new number and
/// the previous one, `u = (1 - rho) fresh + rho last`. The result is no longer uniform: it is concentrated around the
/// middle, so rare events become even rarer.
#[derive(Clone, Debug)]
pub struct Correlated {
    random: Random,
    /// rho, in units of 2^-32.
    rho: u64,
    last: u64,
}

impl Correlated {
    /// Draws from `random`.
    pub fn new(correlation: Probability, mut random: Random) -> Self {
        let last = random.next_u32().into();
        Correlated {
            random,
            rho: match correlation.0 {
                0 => 0,
                rho => u64::from(rho) + 1,
            },
            last,
        }
    }

    /// The next random number.
    #[inline]
    pub fn draw(&mut self) -> u32 {
        let fresh = self.random.next_u32();
        if self.rho == 0 {
            return fresh;
        }
        // Both products and their sum are below 2^64, because the weights add up to 2^32.
        let mixed = u64::from(fresh) * ((1 << 32) - self.rho) + self.last * self.rho;
        self.last = mixed >> 32;
        self.last as u32
    }
}

/// An event that happens to a packet with a probability, correlated from packet to packet.
#[derive(Clone, Debug)]
pub struct Dice {
    probability: Probability,
    draws: Correlated,
}

impl Dice {
    /// `random` is the stream of this event.
    pub fn new(probability: Probability, correlation: Probability, random: Random) -> Self {
        Dice {
            probability,
            draws: Correlated::new(correlation, random),
        }
    }

    /// As a scenario has it: both as shares between 0 and 1.
    pub(crate) fn of_shares(probability: f64, correlation: f64, random: Random) -> Self {
        let share = Probability::ratio;
        Dice::new(share(probability), share(correlation), random)
    }

    /// True if the event can happen at all.
    #[inline]
    pub fn is_never(&self) -> bool {
        self.probability.is_never()
    }

    /// True if the event happens to this packet. An impossible event uses no random number.
    #[inline]
    pub(crate) fn roll(&mut self) -> bool {
        !self.is_never() && self.probability.hits(self.draws.draw())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: u32 = 200_000;

    fn moments(rho: f64) -> (f64, f64, f64) {
        let mut draws = Correlated::new(Probability::ratio(rho), Random::new(1, "moments"));
        let u: Vec<f64> = (0..N)
            .map(|_| f64::from(draws.draw()) / 4_294_967_296.0)
            .collect();
        let n = f64::from(N);
        let mean = u.iter().sum::<f64>() / n;
        let variance = u.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
        let lag = u
            .windows(2)
            .map(|w| (w[0] - mean) * (w[1] - mean))
            .sum::<f64>()
            / n;
        (mean, variance, lag / variance)
    }

    #[test]
    fn correlation_is_first_order_and_narrows() {
        for rho in [0.0, 0.25, 0.5, 0.9] {
            let (mean, variance, lag) = moments(rho);
            // Variance of an AR(1) sequence: (1 - rho)^2 / (1 - rho^2) of the fresh draws'.
            let expected = (1.0 - rho) / (1.0 + rho) / 12.0;
            assert!((mean - 0.5).abs() < 0.01, "{rho}: mean {mean}");
            assert!(
                (variance / expected - 1.0).abs() < 0.05,
                "{rho}: {variance}"
            );
            assert!((lag - rho).abs() < 0.01, "{rho}: lag {lag}");
        }
    }

    #[test]
    fn probabilities_hit_as_often_as_they_say() {
        let mut random = Random::new(2, "hits");
        for p in [0.001, 0.02, 0.5] {
            let probability = Probability::ratio(p);
            let hits = (0..N)
                .filter(|_| probability.hits(random.next_u32()))
                .count();
            let sd = (p * (1.0 - p) / f64::from(N)).sqrt();
            assert!(
                (hits as f64 / f64::from(N) - p).abs() < 4.0 * sd,
                "{p}: {hits}"
            );
        }
    }

    #[test]
    fn never_and_always_are_certain() {
        assert!(!Probability::ratio(0.0).hits(0) && !Probability::ratio(-0.03).hits(0));
        assert!(!Probability::ratio(f64::NAN).hits(0));
        assert!(Probability::ratio(1.0).hits(u32::MAX));
        assert!(Probability::ratio(1e300).hits(u32::MAX));
    }

    #[test]
    fn full_correlation_repeats_the_first_draw() {
        let mut draws = Correlated::new(Probability::ratio(1.0), Random::new(3, "stuck"));
        let first = draws.draw();
        assert!((0..100).all(|_| draws.draw() == first));
    }
}
