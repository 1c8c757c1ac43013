//! Pacing: data is sent in small bursts at a rate, not all at once as the window allows.
//!
//! Source: Linux 6 `tcp_update_skb_after_send`, `tcp_pacing_check`, `tcp_tso_autosize`. The rate is that of the
//! algorithm, otherwise [`usual_pacing_rate`], limited by the application. After a burst, the next one waits for the
//! time that its bytes take at that rate. Unused time before it reduces this wait by up to one half, and the first
//! ten segments of a connection are not paced.

use std::sync::Arc;

use super::Sender;
use super::timers::TimerKind;
use crate::Nanos;
use crate::config::{Pacing, SECOND};
use crate::congestion::usual_pacing_rate;
use crate::time::count;

/// Number of segments at the start of a connection that are not paced.
const FREE_SEGMENTS: u64 = 10;
/// Maximum size of a burst, bytes.
const MAX_BURST_BYTES: u64 = 65_535;

/// The state of the pacing clock.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pacer {
    /// When the next burst may be sent (Linux `tcp_wstamp_ns`).
    at: Nanos,
    /// The current burst: its time, and how many more segments may be sent at that time.
    began: Nanos,
    left: u32,
    /// Unused time before it.
    unused: Nanos,
    /// True if data waits for `at`.
    held: bool,
    segments: u64,
}

impl Pacer {
    /// When the next burst may be sent, not before `now`.
    pub(super) fn next_departure(&self, now: Nanos) -> Nanos {
        self.at.max(now)
    }

    /// The current burst is complete, even if more would have been allowed.
    pub(super) fn end_burst(&mut self) {
        self.left = 0;
    }
}

impl Sender {
    /// Changes the rate (`SO_MAX_PACING_RATE`).
    pub(crate) fn set_pacing(&mut self, pacing: Option<Pacing>) {
        Arc::make_mut(&mut self.config).send.pacing = pacing;
        self.congestion.pacer.held &= self.pacing().is_some();
    }

    /// Pacing as configured; an algorithm with its own rate is always paced (Linux `SK_PACING_NEEDED`).
    fn pacing(&self) -> Option<Pacing> {
        let needed = || self.congestion.control.paces.then(Pacing::default);
        self.config.send.pacing.or_else(needed)
    }

    /// True if data has to wait; [`Sender::pace_timer`] returns until when.
    #[inline]
    pub(super) fn pace_holds(&mut self, now: Nanos) -> bool {
        self.is_paced() && self.burst_waits(now)
    }

    #[inline]
    pub(super) fn is_paced(&self) -> bool {
        self.config.send.pacing.is_some() || self.congestion.control.paces
    }

    fn burst_waits(&mut self, now: Nanos) -> bool {
        let Some(pacing) = self.pacing() else {
            return false;
        };
        if self.congestion.pacer.left > 0 && self.congestion.pacer.began == now {
            return false;
        }
        if now < self.congestion.pacer.at {
            self.congestion.pacer.held = true;
            // Waiting for the pacing time is not a closed window.
            if self.time.timers.waits_for(TimerKind::Persist) {
                self.time.timers.timer = None;
            }
            return true;
        }
        let most = MAX_BURST_BYTES / u64::from(self.agreed.mss);
        self.congestion.pacer.left = self.burst_size(most, pacing.burst) as u32;
        self.congestion.pacer.began = now;
        self.congestion.pacer.unused = 0;
        false
    }

    /// A segment of `payload` bytes is sent.
    #[inline]
    pub(super) fn pace(&mut self, now: Nanos, payload: u64) {
        if self.is_paced() {
            self.take_time(now, payload);
        }
    }

    fn take_time(&mut self, now: Nanos, payload: u64) {
        let Some(pacing) = self.pacing() else {
            return;
        };
        let rate = self.rate(pacing);
        let pacer = &mut self.congestion.pacer;
        pacer.left = pacer.left.saturating_sub(1);
        pacer.segments += 1;
        if pacer.at < now {
            pacer.unused = now - pacer.at;
            pacer.at = now;
        }
        if pacer.segments < FREE_SEGMENTS || rate == 0 {
            return;
        }
        let time = u128::from(payload) * u128::from(count(SECOND)) / u128::from(rate);
        let time = Nanos::try_from(time).unwrap_or(Nanos::MAX);
        let saved = pacer.unused.min(time / 2);
        pacer.unused -= saved;
        pacer.at = pacer.at.saturating_add(time - saved);
    }

    /// Bytes per second; 0 for no limit, before the first round trip.
    fn rate(&self, pacing: Pacing) -> u64 {
        match self.unbounded_rate() {
            0 if pacing.max_rate == u64::MAX => 0,
            0 => pacing.max_rate,
            rate => rate.min(pacing.max_rate),
        }
    }

    /// The algorithm's rate, otherwise the usual one for its window; 0 before the first round trip.
    pub(super) fn unbounded_rate(&self) -> u64 {
        self.congestion.control.pacing_rate().unwrap_or_else(|| {
            let flight = self.congestion.window.cwnd.max(self.board.packets_out());
            usual_pacing_rate(
                &self.congestion.window,
                flight,
                self.agreed.mss,
                self.time.rtt.srtt,
            )
        })
    }

    /// When data held back by pacing may be sent.
    pub(super) fn pace_timer(&self) -> Option<Nanos> {
        self.congestion
            .pacer
            .held
            .then_some(self.congestion.pacer.at)
    }

    /// The pacing time has come: data that was held back may be sent.
    pub(super) fn pace_released(&mut self, now: Nanos) {
        self.congestion.pacer.held &= now < self.congestion.pacer.at;
    }
}
