//! Estimates how many acknowledged segments arrive in bursts above the bandwidth.
//!
//! Links that aggregate packets (wireless, cable) and receivers that delay acknowledgements cause bursts. Between
//! bursts no acknowledgement arrives, so a window of exactly one bandwidth-delay product would leave the path idle.
//! The greatest excess of the last 5 to 10 round trips is added to the window.

use super::{Bandwidth, segments_over};
use crate::Nanos;
use crate::congestion::{RateSample, micros};
use crate::time::elapsed;

/// Number of round trips covered by each of the two halves of the filter.
const WINDOW_ROUNDS: u32 = 5;
/// Maximum number of segments in an epoch.
const LONGEST_EPOCH: u64 = 1 << 20;
/// Maximum excess added to the window: what the bandwidth carries in this time, microseconds.
const MAX_EXTRA_ACKED_US: u64 = 100_000;

/// The excess of the current epoch and the greatest recent ones.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Aggregation {
    /// The epoch: since when acknowledgements have arrived faster than the bandwidth, and for how many segments.
    since: Nanos,
    acked: u64,
    /// Greatest excess of the current and of the last [`WINDOW_ROUNDS`], segments; `at` is the index of the current
    /// one.
    most: [u64; 2],
    at: usize,
    rounds: u32,
}

impl Aggregation {
    /// Begins an epoch.
    pub(super) fn restart(&mut self, now: Nanos) {
        self.since = now;
        self.acked = 0;
    }

    /// Processes a valid sample; `round_started` if it starts a round trip.
    pub(super) fn update(
        &mut self,
        sample: &RateSample,
        bandwidth: Bandwidth,
        cwnd: u32,
        round_started: bool,
    ) {
        let acked = u64::from(sample.newly_delivered);
        if acked == 0 {
            return;
        }
        if round_started {
            self.next_round();
        }
        let mut expected =
            segments_over(bandwidth, micros(elapsed(sample.delivered_at, self.since)));
        if self.acked <= expected || self.acked + acked >= LONGEST_EPOCH {
            self.restart(sample.delivered_at);
            expected = 0;
        }
        self.acked = (self.acked + acked).min(LONGEST_EPOCH - 1);
        let extra = self.acked.saturating_sub(expected).min(u64::from(cwnd));
        self.most[self.at] = self.most[self.at].max(extra);
    }

    fn next_round(&mut self) {
        self.rounds += 1;
        if self.rounds > WINDOW_ROUNDS {
            self.rounds = 0;
            self.at = 1 - self.at;
            self.most[self.at] = 0;
        }
    }

    /// Segments to add to the window.
    pub(super) fn allowance(&self, bandwidth: Bandwidth) -> u64 {
        let most = self.most[0].max(self.most[1]);
        most.min(segments_over(bandwidth, MAX_EXTRA_ACKED_US))
    }
}
