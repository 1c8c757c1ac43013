//! The window in flight before and after each reduction.

/// Episodes remembered.
const MAX_EPISODES: usize = 4_096;

/// From the first retransmission until what had been sent by then is acknowledged (`recover` of RFC 6582 section 3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Episode {
    /// Its first retransmission, nanoseconds.
    pub start_ns: i64,
    /// When it ended; `None` if it had not by the end of the capture.
    pub end_ns: Option<i64>,
    /// Bytes that had arrived by its start, as far as was known.
    pub delivered: i64,
    /// Bytes in flight when it began.
    pub before: i64,
    /// Most bytes in flight within a round trip of its end.
    pub after: i64,
    /// How long nothing had arrived before it, nanoseconds.
    pub silence_ns: i64,
}

/// The episodes of one flow.
#[derive(Debug, Default)]
pub struct Episodes {
    recover: Option<i64>,
    /// What comes until then tells the window after the last episode.
    watch_until_ns: Option<i64>,
    list: Vec<Episode>,
    /// Most that were in flight at once, bytes.
    pub most_in_flight: i64,
}

heap!(Episodes: list);

impl Episodes {
    /// A retransmission was sent at `now`, when `delivered` of `highest` bytes had arrived and nothing had for
    /// `silence_ns`.
    pub fn sent_again(&mut self, now: i64, delivered: i64, highest: i64, silence_ns: i64) {
        if self.recover.is_some() || self.list.len() >= MAX_EPISODES {
            return;
        }
        self.recover = Some(highest);
        self.watch_until_ns = None;
        self.list.push(Episode {
            start_ns: now,
            end_ns: None,
            delivered,
            before: highest.saturating_sub(delivered),
            after: 0,
            silence_ns,
        });
    }

    /// `flight` bytes are on their way.
    #[inline]
    pub fn note_flight(&mut self, flight: i64) {
        self.most_in_flight = self.most_in_flight.max(flight);
    }

    /// One has not ended yet.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.recover.is_some()
    }

    /// Everything below `una` is acknowledged; a round trip takes `rtt_ns`. True if that ends an episode.
    #[inline]
    pub fn acknowledged(&mut self, now: i64, una: i64, rtt_ns: i64) -> bool {
        let ends = self.recover.is_some_and(|recover| una >= recover);
        if ends {
            self.recover = None;
            self.watch_until_ns = Some(now.saturating_add(rtt_ns));
            if let Some(last) = self.list.last_mut() {
                last.end_ns = Some(now);
            }
        }
        ends
    }

    /// `flight` bytes are on their way at `now`.
    #[inline]
    pub fn sent(&mut self, now: i64, flight: i64) {
        if let Some(until) = self.watch_until_ns {
            match self.list.last_mut() {
                Some(last) if now <= until => last.after = last.after.max(flight),
                _ => self.watch_until_ns = None,
            }
        }
    }

    /// All of them, the first ones first.
    pub fn all(&self) -> &[Episode] {
        &self.list
    }

    /// The episode in which the recovery that began at `start_ns` lies.
    pub fn of(&self, start_ns: i64) -> Option<&Episode> {
        let next = self.list.partition_point(|e| e.start_ns <= start_ns);
        self.list.get(next.checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_episode_knows_the_window_before_and_after() {
        let mut episodes = Episodes::default();
        episodes.sent_again(100, 10_000, 30_000, 5);
        episodes.sent_again(110, 12_000, 31_000, 5);
        episodes.acknowledged(150, 29_000, 50);
        episodes.acknowledged(160, 30_000, 50);
        episodes.sent(165, 10_000);
        episodes.sent(205, 14_000);
        episodes.sent(300, 90_000);
        let one = episodes.of(105).unwrap();
        assert_eq!(
            (one.before, one.after, one.end_ns),
            (20_000, 14_000, Some(160))
        );
        assert_eq!(episodes.all().len(), 1);
        assert_eq!(episodes.of(99), None);
    }
}
