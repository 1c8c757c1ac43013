//! Token-bucket policers: they let a burst pass and then drop everything beyond their rate, so that the greatest
//! rate ever seen is not one that can be kept.
//!
//! Between losses, intervals of 4 to 16 round trips are measured. Two intervals in a row with losses above a fifth and about
//! the same throughput show a policer; its rate is then used for 48 round trips in place of the measured maximum.

use super::{Bandwidth, GAIN_UNIT, bandwidth_of, bytes_per_second};
use crate::congestion::{RateSample, micros};

/// Round trips of the shortest interval; four times as many of the longest.
const SHORTEST_ROUNDS: u32 = 4;
/// Share of an interval's segments that must be lost, 1/256.
const LOSS_SHARE: u64 = 50;
/// The rates of two intervals agree if they differ by at most this share, in units of 1/256, or by at most so many
/// bytes per second.
const MAX_RATE_DIFFERENCE_SHARE: u64 = GAIN_UNIT / 8;
const MAX_RATE_DIFFERENCE_BYTES: u64 = 4000 / 8;
/// Round trips for which the rate is used.
const USED_ROUNDS: u32 = 48;

/// The long-term bandwidth.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Policer {
    /// Of the last interval; 0: none.
    bandwidth: Bandwidth,
    used: bool,
    sampling: bool,
    rounds: u32,
    /// The interval under way: when it began, what had been delivered and lost then.
    since_ms: u64,
    delivered: u64,
    lost: u64,
}

/// What a sample changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finding {
    Nothing,
    /// The rate of a policer is in use from now on.
    Found,
    /// It is no longer: the path is to be probed again.
    Over,
}

impl Policer {
    /// The rate of a policer, if one has been found.
    pub(super) fn rate(&self) -> Option<Bandwidth> {
        self.used.then_some(self.bandwidth)
    }

    /// Forgets everything.
    pub(super) fn reset(&mut self, sample: &RateSample) {
        *self = Self::default();
        self.begin(sample);
    }

    fn begin(&mut self, sample: &RateSample) {
        self.since_ms = micros(sample.delivered_at) / 1000;
        self.delivered = sample.delivered;
        self.lost = sample.lost;
        self.rounds = 0;
    }

    /// Takes in a sample; `probing` in the state that probes for bandwidth.
    pub(super) fn update(
        &mut self,
        sample: &RateSample,
        round_started: bool,
        probing: bool,
    ) -> Finding {
        if self.used {
            self.rounds += u32::from(probing && round_started);
            if self.rounds < USED_ROUNDS {
                return Finding::Nothing;
            }
            self.reset(sample);
            return Finding::Over;
        }
        // An interval begins and ends with a loss: the policer's tokens are used up then.
        if !self.sampling {
            if sample.newly_lost == 0 {
                return Finding::Nothing;
            }
            self.begin(sample);
            self.sampling = true;
        }
        // Without data to send nothing is learnt.
        if sample.measured.is_some_and(|measured| measured.app_limited) {
            self.reset(sample);
            return Finding::Nothing;
        }
        self.rounds += u32::from(round_started);
        if self.rounds < SHORTEST_ROUNDS {
            return Finding::Nothing;
        }
        if self.rounds > 4 * SHORTEST_ROUNDS {
            self.reset(sample);
            return Finding::Nothing;
        }
        if sample.newly_lost == 0 {
            return Finding::Nothing;
        }
        self.end_interval(sample)
    }

    fn end_interval(&mut self, sample: &RateSample) -> Finding {
        let lost = sample.lost.saturating_sub(self.lost);
        let delivered = sample.delivered.saturating_sub(self.delivered);
        if delivered == 0 || lost.saturating_mul(256) < LOSS_SHARE.saturating_mul(delivered) {
            return Finding::Nothing;
        }
        let time_ms = (micros(sample.delivered_at) / 1000).saturating_sub(self.since_ms);
        if time_ms == 0 {
            return Finding::Nothing;
        }
        let bandwidth = bandwidth_of(delivered, time_ms.saturating_mul(1000));
        if self.agrees(bandwidth, sample.mss) {
            self.bandwidth = bandwidth.midpoint(self.bandwidth);
            self.used = true;
            self.rounds = 0;
            return Finding::Found;
        }
        self.bandwidth = bandwidth;
        self.begin(sample);
        Finding::Nothing
    }

    /// Is `bandwidth` about that of the interval before?
    fn agrees(&self, bandwidth: Bandwidth, mss: u32) -> bool {
        if self.bandwidth == 0 {
            return false;
        }
        let apart = bandwidth.abs_diff(self.bandwidth);
        apart.saturating_mul(GAIN_UNIT) <= MAX_RATE_DIFFERENCE_SHARE.saturating_mul(self.bandwidth)
            || bytes_per_second(apart, GAIN_UNIT, mss) <= MAX_RATE_DIFFERENCE_BYTES
    }
}
