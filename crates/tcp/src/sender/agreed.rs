//! The negotiated options, and the clock of the timestamps option.

use inorder_base::random::Random;

use crate::Nanos;
use crate::config::Config;
use crate::time::count;

/// The negotiated options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Agreed {
    /// Payload of a full segment: the peer's MSS minus the options of every segment.
    pub(crate) mss: u32,
    /// Selective acknowledgements.
    pub(crate) sack: bool,
    /// The timestamps option.
    pub(crate) timestamps: bool,
}

impl Agreed {
    /// The options that this side requests, until the peer has answered.
    pub(super) fn wanted(config: &Config) -> Self {
        Self {
            mss: config.mss.max(1),
            sack: config.options.sack,
            timestamps: config.options.timestamps,
        }
    }
}

/// The clock of the timestamps option. The value of the current time is cached, because several segments are sent at
/// the same time and each division is expensive.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimestampClock {
    tick: Nanos,
    /// The timestamp of time 0.
    start: u32,
    moment: Nanos,
    value: u32,
}

impl TimestampClock {
    pub(super) fn new(config: &Config, seed: u64) -> Self {
        let start = if config.habits.random_timestamps {
            Random::new(seed, "timestamps").next_u32()
        } else {
            0
        };
        Self {
            tick: config.options.timestamp_tick.max(1),
            start,
            moment: 0,
            value: start,
        }
    }

    /// The timestamp of a segment sent now.
    pub(super) fn read(&mut self, now: Nanos) -> u32 {
        if self.moment != now {
            self.moment = now;
            self.value = self
                .start
                .wrapping_add((count(now) / count(self.tick)) as u32);
        }
        self.value
    }

    /// Time since the timestamp `echo` was created, at least one tick; `None` for a timestamp from the future, or
    /// older than any round trip, which is not ours.
    pub(super) fn since(&mut self, now: Nanos, echo: u32) -> Option<Nanos> {
        let ticks = self.read(now).wrapping_sub(echo);
        (ticks < 1 << 24).then(|| Nanos::from(ticks).max(1) * self.tick)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::MS;

    #[test]
    fn times_within_a_tick_have_the_same_timestamp() {
        let mut clock = TimestampClock::new(&Config::default(), 0);
        let sent = clock.read(7 * MS + 900_000);
        assert_eq!(sent, 7);
        assert_eq!(clock.since(7 * MS + 950_000, sent), Some(MS));
        assert_eq!(clock.since(12 * MS, sent), Some(5 * MS));
        assert_eq!(clock.since(12 * MS, 13), None);
    }
}
