//! Round trips as Vegas and its successors measure them: a round ends when all data outstanding at its start is
//! acknowledged, and has the smallest round-trip time measured in it.

use super::{AckEvent, Nanos, micros};

/// Round-trip times of the current round, and the smallest of all.
#[derive(Debug, Clone)]
pub(super) struct Round {
    /// Stream offset at which the round ends.
    end: u64,
    /// Stream offset at which it began.
    begin: u64,
    /// Smallest RTT of the connection, `None` before the first.
    base: Option<Nanos>,
    /// Smallest RTT of the round.
    min: Nanos,
    samples: u32,
    /// Highest sequence number known to be sent, for a restart between acknowledgements.
    sent: u64,
}

/// The result of a finished round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Finished {
    /// Smallest RTT of the connection, at least 1 microsecond.
    pub(super) base_us: u64,
    /// Smallest RTT of the round, at least the smallest of the connection.
    pub(super) min_us: u64,
    /// Bytes sent in the previous round, which this round has acknowledged.
    pub(super) bytes: u64,
}

impl Round {
    pub(super) fn new() -> Self {
        Self {
            end: 0,
            begin: 0,
            base: None,
            min: Nanos::MAX,
            samples: 0,
            sent: 0,
        }
    }

    /// Adds a round-trip time.
    pub(super) fn sample(&mut self, rtt: Nanos) {
        self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
        self.min = self.min.min(rtt);
        self.samples = self.samples.saturating_add(1);
    }

    /// Data has been sent up to here.
    pub(super) fn note_sent(&mut self, nxt: u64) {
        self.sent = nxt;
    }

    /// If `ack` ends the round: starts the next one, and returns the result if the round had more than two samples.
    /// With fewer samples there was one acknowledgement per round trip, which the receiver has probably delayed.
    pub(super) fn finish(&mut self, ack: &AckEvent) -> Option<Finished> {
        self.sent = ack.snd_nxt;
        if ack.snd_una <= self.end {
            return None;
        }
        let base = self.base.filter(|_| self.samples > 2);
        let finished = base.map(|base| Finished {
            // One microsecond is added, as in Linux, so that no value is zero.
            base_us: micros(base) + 1,
            min_us: micros(self.min) + 1,
            bytes: self.end.saturating_sub(self.begin),
        });
        self.begin = self.end;
        self.end = ack.snd_nxt;
        self.forget();
        finished
    }

    /// Starts measuring with the next data sent, because the outstanding data was affected by a loss.
    pub(super) fn restart(&mut self) {
        self.end = self.sent;
        self.begin = self.sent;
        self.forget();
    }

    /// The path may have changed: the smallest RTT is measured again.
    pub(super) fn forget_base(&mut self) {
        self.base = None;
    }

    /// Smallest RTT of the connection.
    pub(super) fn base(&self) -> Option<Nanos> {
        self.base
    }

    fn forget(&mut self) {
        self.min = Nanos::MAX;
        self.samples = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(snd_una: u64, snd_nxt: u64) -> AckEvent {
        AckEvent {
            snd_una,
            snd_nxt,
            ..AckEvent::default()
        }
    }

    #[test]
    fn a_round_lasts_until_what_was_sent_at_its_start_is_acknowledged() {
        let mut round = Round::new();
        (0..3).for_each(|i| round.sample(20_000_000 + i));
        let first = Finished {
            base_us: 20_001,
            min_us: 20_001,
            bytes: 0,
        };
        assert_eq!(round.finish(&ack(1000, 5000)), Some(first));
        (0..3).for_each(|_| round.sample(30_000_000));
        assert_eq!(round.finish(&ack(5000, 9000)), None);
        let second = Finished {
            base_us: 20_001,
            min_us: 30_001,
            bytes: 5000,
        };
        assert_eq!(round.finish(&ack(5001, 9500)), Some(second));
    }

    #[test]
    fn a_round_of_two_samples_has_no_result() {
        let mut round = Round::new();
        (0..2).for_each(|_| round.sample(20_000_000));
        assert_eq!(round.finish(&ack(1000, 5000)), None);
        (0..3).for_each(|_| round.sample(20_000_000));
        assert!(round.finish(&ack(6000, 7000)).is_some());
    }
}
