//! How many firings at one time are too many.

/// Firings at one time after which a zero-time loop is assumed, beyond what the initial tokens may cause.
const MAX_FIRINGS: u64 = 1_000_000;

/// Maximum number of firings at one time, however many tokens there are: about ten seconds of a processor, in which a run neither ends nor
/// can be stopped.
const MAX_FIRINGS_OF_TOKENS: u64 = 100_000_000;

/// Number of further firings from which the transitions of the loop are determined.
const TRAIL: u64 = 64;

/// Counts the firings at one time.
#[derive(Debug, Clone)]
pub(crate) struct Patience {
    limit: u64,
    firings: u64,
    /// What fired beyond the limit.
    trail: Vec<u32>,
}

impl Patience {
    /// With a net that has this many tokens at the start. No net without a zero-time loop is expected to fire each transition more than
    /// once with each of them.
    pub(crate) fn new(tokens: u64, transitions: usize) -> Self {
        let caused = tokens.saturating_mul(transitions as u64);
        Self::of(
            MAX_FIRINGS
                .saturating_add(caused)
                .min(MAX_FIRINGS_OF_TOKENS),
        )
    }

    /// With this many firings at one time.
    pub(crate) fn of(limit: u64) -> Self {
        Self {
            limit,
            firings: 0,
            trail: Vec::new(),
        }
    }

    /// Time goes by.
    #[inline]
    pub(crate) fn renew(&mut self) {
        self.firings = 0;
    }

    /// A transition fires; false if there were too many firings.
    #[inline]
    pub(crate) fn lasts(&mut self, transition: usize) -> bool {
        self.firings += 1;
        self.firings <= self.limit || self.goes_on(transition)
    }

    #[cold]
    fn goes_on(&mut self, transition: usize) -> bool {
        self.trail.push(transition as u32);
        self.firings < self.limit.saturating_add(TRAIL)
    }

    /// Firings since time went by.
    pub(crate) fn firings(&self) -> u64 {
        self.firings
    }

    /// The transitions that fired last, each once.
    pub(crate) fn last(&self) -> Vec<usize> {
        let mut last: Vec<usize> = self.trail.iter().map(|&t| t as usize).collect();
        last.sort_unstable();
        last.dedup();
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_soon_even_with_billions_of_tokens() {
        let limit = |tokens| Patience::new(tokens, 10).limit;
        assert_eq!(limit(1), 1_000_010);
        assert_eq!(limit(u64::from(u32::MAX)), MAX_FIRINGS_OF_TOKENS);
    }
}
