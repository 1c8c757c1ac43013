//! Recovery phases as packets at the sender show them, with the truth about what was retransmitted in them.

/// What became of a retransmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    /// Without it bytes would be missing.
    Needed,
    /// Earlier transmissions of all its bytes arrived and were not refused.
    Spurious,
    /// The run ended before it was decided.
    Undecided,
}

/// Counts phases: each begins with a retransmission and ends when everything that had been sent by then is
/// acknowledged (`recover` in RFC 6582 section 3.2). A sender whose reduction is undone leaves its recovery earlier than
/// that and may enter the next one within the same phase.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Phases {
    /// Phases so far.
    pub(super) total: u64,
    /// Of those that have ended, the ones in which every retransmission was spurious.
    spurious: u64,
    recover: u64,
    is_open: bool,
    is_spurious: bool,
}

impl Phases {
    /// A retransmission, sent when all bytes before `acked` were acknowledged and all before `top` had been sent.
    pub(super) fn retransmitted(&mut self, acked: u64, top: u64, fate: Fate) {
        if !self.is_open || acked >= self.recover {
            self.close();
            self.total += 1;
            (self.is_open, self.is_spurious, self.recover) = (true, true, top);
        }
        self.is_spurious &= fate == Fate::Spurious;
    }

    fn close(&mut self) {
        self.spurious += u64::from(self.is_open && self.is_spurious);
        self.is_open = false;
    }

    /// Phases in which every retransmission was spurious.
    pub(super) fn spurious(mut self) -> u64 {
        self.close();
        self.spurious
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_lasts_until_what_had_been_sent_is_acknowledged() {
        let mut phases = Phases::default();
        phases.retransmitted(1_000, 9_000, Fate::Spurious);
        phases.retransmitted(8_000, 12_000, Fate::Spurious); // Still the first.
        phases.retransmitted(9_000, 15_000, Fate::Spurious);
        phases.retransmitted(10_000, 16_000, Fate::Needed); // One loss decides the second.
        phases.retransmitted(15_000, 20_000, Fate::Undecided);
        assert_eq!((phases.total, phases.spurious()), (3, 1));
    }
}
