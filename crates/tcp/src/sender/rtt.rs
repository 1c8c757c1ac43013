//! Round-trip time, and the retransmission timeout computed from it.

use std::sync::Arc;

use crate::Nanos;
use crate::config::{Config, RtoStyle};
use crate::seq::Seq;

/// A minimum older than this is replaced by the next sample (RFC 8985 section 6.2 step 1; Linux `tcp_min_rtt_wlen`, 300 s).
const MIN_RTT_WINDOW: Nanos = 300 * crate::config::SECOND;

/// Estimator of RFC 6298 section 2, or Linux's variant of it.
#[derive(Debug, Clone)]
pub(crate) struct RttEstimator {
    config: Arc<Config>,
    pub(crate) srtt: Nanos,
    pub(crate) rttvar: Nanos,
    pub(crate) min_rtt: Nanos,
    min_rtt_at: Nanos,
    /// Linux: smoothed deviation, its maximum in the current window, and the end of the window.
    mdev: Nanos,
    mdev_max: Nanos,
    window_end: Seq,
    /// Number of doublings since the last new acknowledgement.
    pub(crate) backoff: u32,
    base: Nanos,
    /// The timeout including its back-off.
    rto: Nanos,
}

impl RttEstimator {
    pub(crate) fn new(config: &Arc<Config>) -> Self {
        let rto = config.rto;
        Self {
            config: Arc::clone(config),
            srtt: 0,
            rttvar: 0,
            min_rtt: 0,
            min_rtt_at: 0,
            mdev: 0,
            mdev_max: 0,
            window_end: 0,
            backoff: 0,
            base: rto.initial,
            rto: rto.initial.clamp(rto.min, rto.max.max(rto.min)),
        }
    }

    /// Processes a measurement. `una` and `nxt` delimit the window, for Linux's decay once per window.
    pub(crate) fn sample(&mut self, now: Nanos, rtt: Nanos, una: Seq, nxt: Seq) {
        let rtt = rtt.max(1);
        if self.min_rtt == 0 || rtt <= self.min_rtt || now > self.min_rtt_at + MIN_RTT_WINDOW {
            self.min_rtt = rtt;
            self.min_rtt_at = now;
        }
        match self.config.rto.style {
            RtoStyle::Rfc => self.sample_rfc(rtt),
            RtoStyle::Linux => self.sample_linux(rtt, una, nxt),
        }
        self.update();
    }

    /// RFC 6298 section 2 steps (2.2) and (2.3).
    fn sample_rfc(&mut self, rtt: Nanos) {
        if self.srtt == 0 {
            self.srtt = rtt;
            self.rttvar = rtt / 2;
        } else {
            self.rttvar = (3 * self.rttvar + (self.srtt - rtt).abs()) / 4;
            self.srtt = (7 * self.srtt + rtt) / 8;
        }
    }

    /// Linux: the variation is four times the mean deviation and at least the minimum timeout. It rises at once and
    /// falls by a quarter of the difference once per window; a sharp decrease of the round-trip time has a weight of
    /// one eighth.
    fn sample_linux(&mut self, rtt: Nanos, una: Seq, nxt: Seq) {
        let floor = self.config.rto.min;
        if self.srtt == 0 {
            self.srtt = rtt;
            self.mdev = rtt * 2;
            self.rttvar = self.mdev.max(floor);
            self.mdev_max = self.rttvar;
            self.window_end = nxt;
            return;
        }
        let deviation = (self.srtt - rtt).abs();
        // `mdev` contains four mean deviations, so a step of a quarter adds the deviation itself.
        let old = self.mdev / 4;
        if rtt < self.srtt && deviation > old {
            self.mdev += (deviation - old) / 8;
        } else {
            self.mdev = self.mdev - old + deviation;
        }
        self.srtt = (7 * self.srtt + rtt) / 8;
        if self.mdev > self.mdev_max {
            self.mdev_max = self.mdev;
            self.rttvar = self.rttvar.max(self.mdev_max);
        }
        if una > self.window_end {
            if self.mdev_max < self.rttvar {
                self.rttvar -= (self.rttvar - self.mdev_max) / 4;
            }
            self.window_end = nxt;
            self.mdev_max = floor;
        }
    }

    fn update(&mut self) {
        self.base = match self.config.rto.style {
            RtoStyle::Rfc => self.srtt + (4 * self.rttvar).max(self.config.rto.granularity),
            RtoStyle::Linux => self.srtt + self.rttvar,
        };
        self.set_backoff(0);
    }

    /// Doubles the timeout `backoff` times (RFC 6298 section 5 step (5.5)).
    pub(crate) fn set_backoff(&mut self, backoff: u32) {
        self.backoff = backoff;
        let longest = self.config.rto.max.max(self.config.rto.min);
        let base = self.base.clamp(self.config.rto.min, longest);
        self.rto = base.saturating_mul(1 << backoff.min(32)).min(longest);
    }

    /// Replaces the estimate: RFC 4015 section 3.1 step (11), or a path known from before.
    pub(crate) fn set(&mut self, srtt: Nanos, rttvar: Nanos) {
        self.srtt = srtt;
        self.rttvar = rttvar;
        self.mdev = rttvar;
        self.mdev_max = rttvar;
        self.update();
    }

    /// Until the first measurement of data, the timeout is that of a path with this round-trip time, if it is longer than
    /// the one measured in the handshake (Linux `tcp_init_metrics`).
    pub(crate) fn expect(&mut self, rtt: Nanos) {
        if rtt > self.srtt {
            self.base = rtt + (2 * rtt).max(self.config.rto.min);
            self.set_backoff(0);
        }
    }

    /// Data begins after a handshake that took several tries: without a measurement the time-out is longer than the first one (RFC 6298
    /// section 5 step (5.7)).
    pub(crate) fn begin_unmeasured(&mut self) {
        if self.srtt == 0 {
            self.base = self
                .config
                .rto
                .initial
                .max(self.config.rto.initial_after_syns);
            self.set_backoff(0);
        }
    }

    /// The timeout with its back-off.
    pub(crate) fn rto(&self) -> Nanos {
        self.rto
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{MS, SECOND};
    use crate::profiles;

    #[test]
    fn rfc_6298_first_measurements() {
        let mut rtt = RttEstimator::new(&Arc::new(profiles::rfc()));
        assert_eq!(rtt.rto(), SECOND);
        rtt.sample(0, 800 * MS, 0, 1);
        assert_eq!(rtt.rto(), 2400 * MS); // R + 4 R/2
        rtt.sample(0, 800 * MS, 1, 2);
        assert_eq!(rtt.rto(), 2000 * MS); // variation falls to 3/4
    }

    #[test]
    fn linux_never_waits_less_than_srtt_and_200_ms() {
        let mut rtt = RttEstimator::new(&Arc::new(profiles::linux_6()));
        for i in 0..1000 {
            rtt.sample(0, 50 * MS, i, i + 1);
        }
        let over = rtt.rto() - 50 * MS;
        assert!((200 * MS..202 * MS).contains(&over), "{over}");
    }

    #[test]
    fn back_off_doubles_up_to_the_bound() {
        let mut rtt = RttEstimator::new(&Arc::new(profiles::rfc()));
        rtt.set_backoff(3);
        assert_eq!(rtt.rto(), 8 * SECOND);
        rtt.set_backoff(60);
        assert_eq!(rtt.rto(), 60 * SECOND);
    }
}
