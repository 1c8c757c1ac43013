//! Whether holes are filled sooner than by a retransmission, as late packets do, or never.

/// Number of holes that were filled too early, from which on it is no accident of the round trip that is known.
const MIN_EARLY: u32 = 3;
/// Number of holes in a row that were filled no sooner than by a retransmission, from which on the path is taken to make no packets late: late packets
/// come at any time, and some of them sooner than that.
const MIN_OF_NONE_LATE: u32 = 16;
/// A sender that loses more than one packet in this number hardly goes on: it is the path that makes these late.
const MIN_PACKETS_PER_LOSS: u64 = 5;

/// Holes that were filled sooner than by a retransmission.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EarlyFills {
    pub(super) holes: u32,
    /// One was filled hardly sooner than that.
    pub(super) just_before: bool,
    /// How many in a row were filled no sooner, while nothing came twice.
    none_of: u32,
    /// How many originals had arrived when that began.
    since: u64,
}

impl EarlyFills {
    /// The path is known to make packets late.
    pub(super) fn often(&self) -> bool {
        self.holes >= MIN_EARLY
    }

    /// A hole is filled when `arrivals` originals have arrived, perhaps `no_sooner` than by a retransmission.
    pub(super) fn note(&mut self, no_sooner: bool, arrivals: u64) {
        match no_sooner {
            true => self.none_of = self.none_of.saturating_add(1),
            false => (self.none_of, self.since) = (0, arrivals),
        }
    }

    /// Whatever was missing before `arrivals` originals had arrived has been lost.
    pub(super) fn only_losses(&self, arrivals: u64) -> bool {
        let since = arrivals.saturating_sub(self.since);
        let least = u64::from(self.none_of) * MIN_PACKETS_PER_LOSS;
        self.none_of >= MIN_OF_NONE_LATE && since >= least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One packet in `part` is missing and comes no sooner than a retransmission, but the `early`th: what is said after `fills` of them.
    fn after(fills: u64, part: u64, early: u64) -> bool {
        let mut seen = EarlyFills::default();
        for nth in 1..=fills {
            seen.note(nth != early, nth * part);
        }
        seen.only_losses(fills * part)
    }

    #[test]
    fn what_is_seldom_missing_and_never_comes_early_is_lost() {
        assert!(!after(15, 20, 0), "too few");
        assert!(after(16, 20, 0));
        assert!(!after(100, 4, 0), "too many to be losses");
        assert!(!after(24, 20, 9), "one came early");
        assert!(after(25, 20, 9));
    }
}
