//! The flight of a sender, a round trip at a time: what its congestion control shows of itself.

/// Rounds kept of one flow: the first ones.
const MAX_ROUNDS: usize = 512;

/// One round trip: from when a byte is the next to be sent until it is acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Round {
    /// When it began, nanoseconds.
    pub start_ns: i64,
    /// Most bytes in flight.
    pub most: u32,
    /// Fewest bytes in flight.
    pub least: u32,
}

/// The rounds of one flow, the first ones first.
#[derive(Debug, Default)]
pub struct Flights {
    /// The present round ends once all below is acknowledged.
    ends: i64,
    present: Round,
    list: Vec<Round>,
}

heap!(Flights: list);

impl Flights {
    /// Data was sent, with which `flight` bytes are on their way.
    #[inline]
    pub fn sent(&mut self, flight: i64) {
        let flight = u32::try_from(flight).unwrap_or(0);
        self.present.most = self.present.most.max(flight);
    }

    /// Everything below `una` is acknowledged; `flight` of the bytes below `highest` are on their way.
    #[inline]
    pub fn acknowledged(&mut self, now: i64, una: i64, flight: i64, highest: i64) {
        let flight = u32::try_from(flight).unwrap_or(0);
        self.present.least = self.present.least.min(flight);
        if una >= self.ends {
            self.end(now, highest);
        }
    }

    #[cold]
    fn end(&mut self, now: i64, highest: i64) {
        if self.present.most > 0 && self.list.len() < MAX_ROUNDS {
            self.list.push(self.present);
        }
        self.ends = highest.saturating_add(1);
        self.present = Round {
            start_ns: now,
            most: 0,
            least: u32::MAX,
        };
    }

    /// The round trips that have ended, in order of time.
    pub fn all(&self) -> &[Round] {
        &self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_ends_when_what_it_began_with_is_acknowledged() {
        let mut rounds = Flights::default();
        // Two flights of 2,000 and 3,000 bytes; the first ACK begins the first round.
        rounds.acknowledged(10, 0, 0, 0);
        rounds.sent(1_000);
        rounds.sent(2_000);
        rounds.acknowledged(20, 1_000, 1_000, 2_000);
        rounds.sent(3_000);
        rounds.acknowledged(30, 4_000, 0, 4_000);
        let seen: Vec<_> = rounds
            .all()
            .iter()
            .map(|r| (r.start_ns, r.most, r.least))
            .collect();
        assert_eq!(seen, [(10, 2_000, 1_000), (20, 3_000, 0)]);
    }
}
