//! Detects token-bucket policers: they let a burst pass and then drop everything beyond their rate, so the greatest
//! measured rate cannot be sustained.
//!
//! The throughput between losses is measured in intervals of 4 to 16 round trips. Two intervals in a row with losses
//! above a fifth and about the same throughput indicate a policer; its rate then replaces the measured maximum for 48
//! round trips.

use super::{Bandwidth, GAIN_UNIT, bandwidth_of, bytes_per_second};
use crate::congestion::{RateSample, micros};

/// Minimum length of an interval in round trips; the maximum is four times as long.
const MIN_ROUNDS: u32 = 4;
/// Minimum share of lost segments in an interval, in 1/256.
const LOSS_SHARE: u64 = 50;
/// The rates of two intervals agree if they differ by at most this share, in units of 1/256, or by at most this
/// number of bytes per second.
const MAX_RATE_DIFFERENCE_SHARE: u64 = GAIN_UNIT / 8;
const MAX_RATE_DIFFERENCE_BYTES: u64 = 4000 / 8;
/// Number of round trips for which the rate is used.
const USED_ROUNDS: u32 = 48;

/// The long-term bandwidth.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Policer {
    /// Of the last interval; 0 if there is none.
    bandwidth: Bandwidth,
    used: bool,
    sampling: bool,
    rounds: u32,
    /// The current interval: its start, and the segments delivered and lost until then.
    since_ms: u64,
    delivered: u64,
    lost: u64,
}

/// The effect of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finding {
    /// Nothing changes.
    Nothing,
    /// The rate of a policer is used from now on.
    Found,
    /// The policer's rate is used no longer: the path is probed again.
    Over,
}

impl Policer {
    /// The rate of a policer, if one was detected.
    pub(super) fn rate(&self) -> Option<Bandwidth> {
        self.used.then_some(self.bandwidth)
    }

    /// Resets the detection.
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

    /// Processes a sample; `probing` is true in the state that probes for bandwidth.
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
        // An interval starts and ends with a loss, because the policer's tokens are used up then.
        if !self.sampling {
            if sample.newly_lost == 0 {
                return Finding::Nothing;
            }
            self.begin(sample);
            self.sampling = true;
        }
        // Without data to send, a sample contains no information.
        if sample.measured.is_some_and(|measured| measured.app_limited) {
            self.reset(sample);
            return Finding::Nothing;
        }
        self.rounds += u32::from(round_started);
        if self.rounds < MIN_ROUNDS {
            return Finding::Nothing;
        }
        if self.rounds > 4 * MIN_ROUNDS {
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

    /// True if `bandwidth` is about that of the previous interval.
    fn agrees(&self, bandwidth: Bandwidth, mss: u32) -> bool {
        if self.bandwidth == 0 {
            return false;
        }
        let apart = bandwidth.abs_diff(self.bandwidth);
        apart.saturating_mul(GAIN_UNIT) <= MAX_RATE_DIFFERENCE_SHARE.saturating_mul(self.bandwidth)
            || bytes_per_second(apart, GAIN_UNIT, mss) <= MAX_RATE_DIFFERENCE_BYTES
    }
}
