//! The window of BBR: the target of the model, and its limits in recovery.

use super::{Bandwidth, Bbr, CYCLE, GAIN_UNIT, Mode, segments_over};
use crate::congestion::{RateSample, Window, micros};
use crate::state::CaState;
use crate::time::elapsed;

/// Minimum number of segments in flight: enough for a receiver that delays acknowledgements.
pub(super) const LEAST_WINDOW: u32 = 4;
/// Window before the first round-trip time, and segments delivered before the window may stop growing.
const INITIAL_WINDOW: u64 = 10;

/// Recovery: in its first round trip no more is sent than is delivered, and afterwards the window is restored.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Conservation {
    /// The last window before a reduction.
    pub(super) saved: u32,
    /// State of the sender at the previous acknowledgement.
    state: CaState,
    active: bool,
}

impl Conservation {
    /// A round trip has ended.
    pub(super) fn round_over(&mut self) {
        self.active = false;
    }

    /// The retransmission timer has expired.
    pub(super) fn timed_out(&mut self) {
        self.state = CaState::Loss;
    }
}

impl Bbr {
    /// Bandwidth times round-trip time times `gain`, segments.
    fn product(&self, bandwidth: Bandwidth, gain: u64) -> u64 {
        let Some(rtt) = self.min_rtt.known() else {
            return INITIAL_WINDOW;
        };
        let product = u128::from(bandwidth) * u128::from(micros(rtt));
        let exact = product.saturating_mul(gain.into());
        u64::try_from((exact >> 8).div_ceil(1 << 24)).unwrap_or(u64::MAX)
    }

    /// Adds three bursts (one here, one in transit, one being acknowledged by a network card), rounds up to an even
    /// number of segments, and adds two where rounding would remove the gain of a small window.
    fn with_bursts(&self, segments: u64) -> u64 {
        let mut segments = segments.saturating_add(3 * self.burst());
        segments = segments.saturating_add(1) & !1;
        if self.mode == Mode::ProbeBandwidth && CYCLE[self.phase] > GAIN_UNIT {
            segments = segments.saturating_add(2);
        }
        segments
    }

    /// Number of segments in flight that fill the path `gain` times.
    pub(super) fn inflight(&self, bandwidth: Bandwidth, gain: u64) -> u64 {
        self.with_bursts(self.product(bandwidth, gain))
    }

    /// Number of segments that will be in the network when the next one leaves, because others arrive until then.
    pub(super) fn in_net_at_departure(&self, sample: &RateSample, in_flight: u32) -> u64 {
        let wait = micros(elapsed(sample.next_departure, sample.now));
        let mut then = u64::from(in_flight);
        if self.pacing_gain > GAIN_UNIT {
            then += self.burst();
        }
        then.saturating_sub(segments_over(self.bandwidth(), wait))
    }

    /// Stores the window before a reduction.
    pub(super) fn save_window(&mut self, cwnd: u32) {
        let kept = &mut self.conservation;
        if kept.state < CaState::Recovery && self.mode != Mode::ProbeRtt {
            kept.saved = cwnd;
        } else {
            kept.saved = kept.saved.max(cwnd);
        }
    }

    /// The window in recovery; `Err` if it must not be changed further. An acknowledgement of P segments releases at
    /// most 2P.
    fn recover(&mut self, cwnd: u32, sample: &RateSample) -> Result<u32, u32> {
        let acked = sample.newly_delivered;
        let conserved = sample.in_flight.saturating_add(acked);
        let mut cwnd = cwnd;
        if sample.newly_lost > 0 {
            cwnd = cwnd.saturating_sub(sample.newly_lost).max(1);
        }
        let before = std::mem::replace(&mut self.conservation.state, sample.state);
        if sample.state == CaState::Recovery && before != CaState::Recovery {
            self.conservation.active = true;
            self.rounds.end = sample.delivered;
            cwnd = conserved;
        } else if before >= CaState::Recovery && sample.state < CaState::Recovery {
            cwnd = cwnd.max(self.conservation.saved);
            self.conservation.active = false;
        }
        if self.conservation.active {
            return Err(cwnd.max(conserved));
        }
        Ok(cwnd)
    }

    /// Grows towards the target by the delivered segments, and falls to it at once if the path is known.
    fn follow_model(&self, cwnd: u32, sample: &RateSample) -> u32 {
        let bandwidth = self.bandwidth();
        let mut target = self.product(bandwidth, self.window_gain);
        if self.full.reached {
            target = target.saturating_add(self.aggregation.allowance(bandwidth));
        }
        let target = u32::try_from(self.with_bursts(target)).unwrap_or(u32::MAX);
        let grown = cwnd.saturating_add(sample.newly_delivered);
        let cwnd = if self.full.reached {
            grown.min(target)
        } else if cwnd < target || sample.delivered < INITIAL_WINDOW {
            grown
        } else {
            cwnd
        };
        cwnd.max(LEAST_WINDOW)
    }

    pub(super) fn set_window(&mut self, window: &mut Window, sample: &RateSample) {
        if sample.newly_delivered > 0 {
            window.cwnd = match self.recover(window.cwnd, sample) {
                Err(conserved) => conserved,
                Ok(cwnd) => self.follow_model(cwnd, sample),
            };
        }
        window.cwnd = window.cwnd.min(window.clamp).max(1);
        if self.mode == Mode::ProbeRtt {
            window.cwnd = window.cwnd.min(LEAST_WINDOW);
        }
    }
}
