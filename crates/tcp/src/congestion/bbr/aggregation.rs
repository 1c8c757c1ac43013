//! How many acknowledged segments come in bursts beyond what the bandwidth explains.
//!
//! Links that collect packets (wireless, cable) and receivers that delay acknowledgements deliver them in bursts.
//! Between bursts nothing is acknowledged, and a window of exactly one bandwidth-delay product would leave the path
//! idle. The greatest excess of the last 5 to 10 round trips is added to the window.

use super::{Bandwidth, segments_over};
use crate::Nanos;
use crate::congestion::{RateSample, micros};
use crate::time::elapsed;

/// Round trips that one of the two halves of the filter covers.
const WINDOW_ROUNDS: u32 = 5;
/// An epoch ends at the latest after so many segments.
const LONGEST_EPOCH: u64 = 1 << 20;
/// The window allows for at most so much excess: what the bandwidth carries in this time, microseconds.
const MAX_EXTRA_ACKED_US: u64 = 100_000;

/// The excess of the present epoch and the greatest ones of late.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Aggregation {
    /// The epoch: since when acknowledgements have come faster than the bandwidth, and how many segments.
    since: Nanos,
    acked: u64,
    /// Greatest excess of the present and of the last [`WINDOW_ROUNDS`], segments; `at` is the present one.
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

    /// Takes in a valid sample; `round_started` if it begins a round trip.
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
