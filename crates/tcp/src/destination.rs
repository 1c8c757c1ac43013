//! What Linux remembers of connections to a destination, for the next ones (`tcp_metrics.c`).
//!
//! A connection that ends well adds to it: the smoothed round-trip time, its variation, the slow-start threshold, the
//! window and the tolerance of reordering, each by a rule of its own. The next connection starts with the threshold and
//! the tolerance, and with the round-trip time for its first timeout. Since Linux 5.6 the threshold is not kept, unless
//! `tcp_no_ssthresh_metrics_save` is 0. Window and variation are kept, but no connection starts from them.
//!
//! Source: `tcp_update_metrics` and `tcp_init_metrics` of Linux 6.1.

use crate::Nanos;
use crate::info::Info;
use crate::state::CaState;

/// `tcp_reordering`: a tolerance that needs no memory.
const USUAL_REORDERING: u32 = 3;

/// What is known of a destination; 0 is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Destination {
    /// Round-trip time, nanoseconds: rises at once, and falls by an eighth of the difference.
    pub rtt: Nanos,
    /// Its variation, nanoseconds.
    pub rttvar: Nanos,
    /// Slow-start threshold, segments.
    pub ssthresh: u32,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Tolerance of reordering, segments.
    pub reordering: u32,
    /// Whether the slow-start threshold is kept.
    pub keeps_ssthresh: bool,
}

impl Destination {
    /// Nothing known; `keeps_ssthresh` as in Linux until 5.5.
    pub fn new(keeps_ssthresh: bool) -> Self {
        Self {
            keeps_ssthresh,
            ..Self::default()
        }
    }

    /// A connection to it has ended well with these last values.
    pub fn learn(&mut self, last: &Info) {
        if last.timing.backoff > 0 || last.timing.rtt == 0 {
            self.rtt = 0;
            return;
        }
        self.learn_rtt(last);
        if last.ssthresh == u32::MAX {
            self.learn_of_slow_start(last);
        } else if last.cwnd >= last.ssthresh && last.ca_state == CaState::Open {
            if self.keeps_ssthresh {
                self.ssthresh = (last.cwnd / 2).max(last.ssthresh);
            }
            self.cwnd = mean(self.cwnd, last.cwnd);
        } else {
            self.learn_of_recovery(last);
        }
    }

    fn learn_rtt(&mut self, last: &Info) {
        let fell = self.rtt - last.timing.rtt;
        self.rtt = if fell <= 0 {
            last.timing.rtt
        } else {
            self.rtt - fell / 8
        };
        let deviation = (4 * fell.abs()).max(last.timing.rttvar);
        self.rttvar = if deviation >= self.rttvar {
            deviation
        } else {
            self.rttvar - (self.rttvar - deviation) / 4
        };
    }

    /// The first slow start has not ended.
    fn learn_of_slow_start(&mut self, last: &Info) {
        let half = last.cwnd / 2;
        if self.keeps_ssthresh && self.ssthresh > 0 && half > self.ssthresh {
            self.ssthresh = half;
        }
        self.cwnd = self.cwnd.max(last.cwnd);
    }

    /// A later slow start, or a recovery, has not ended: the window says little.
    fn learn_of_recovery(&mut self, last: &Info) {
        self.cwnd = mean(self.cwnd, last.ssthresh);
        if self.keeps_ssthresh && self.ssthresh > 0 && last.ssthresh > self.ssthresh {
            self.ssthresh = last.ssthresh;
        }
        if self.reordering < last.reordering && last.reordering != USUAL_REORDERING {
            self.reordering = last.reordering;
        }
    }
}

fn mean(one: u32, other: u32) -> u32 {
    ((u64::from(one) + u64::from(other)) / 2) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::MS;
    use crate::{Endpoint, Pair, Side, profiles};

    fn last(cwnd: u32, ssthresh: u32, ca_state: CaState) -> Info {
        let end = Endpoint::with_names(&profiles::linux_6(), "reno", "linux").unwrap();
        let mut info = end.info();
        info.timing.rtt = 50 * MS;
        info.timing.rttvar = 10 * MS;
        Info {
            cwnd,
            ssthresh,
            ca_state,
            reordering: 20,
            ..info
        }
    }

    #[test]
    fn the_round_trip_time_rises_at_once_and_falls_slowly() {
        let mut kept = Destination::new(false);
        kept.learn(&last(40, u32::MAX, CaState::Open));
        assert_eq!((kept.rtt, kept.cwnd), (50 * MS, 40));
        let mut slower = last(40, u32::MAX, CaState::Open);
        slower.timing.rtt = 90 * MS;
        kept.learn(&slower);
        assert_eq!(kept.rtt, 90 * MS);
        kept.learn(&last(30, u32::MAX, CaState::Open));
        assert_eq!((kept.rtt, kept.cwnd), (85 * MS, 40));
        // One that ended while its timeout was doubled knows nothing.
        let mut silent = last(30, u32::MAX, CaState::Open);
        silent.timing.backoff = 1;
        kept.learn(&silent);
        assert_eq!(kept.rtt, 0);
    }

    #[test]
    fn the_threshold_is_kept_from_congestion_avoidance() {
        let mut kept = Destination::new(true);
        // The first slow start only raises a threshold that is there.
        kept.learn(&last(40, u32::MAX, CaState::Open));
        assert_eq!(kept.ssthresh, 0);
        kept.learn(&last(60, 20, CaState::Open));
        assert_eq!((kept.ssthresh, kept.cwnd), (30, 50));
        kept.learn(&last(60, u32::MAX, CaState::Open));
        assert_eq!(kept.ssthresh, 30);
        kept.learn(&last(70, u32::MAX, CaState::Open));
        assert_eq!(kept.ssthresh, 35);
        // The tolerance of reordering is kept only of connections that ended in recovery or slow start.
        assert_eq!(kept.reordering, 0);
        kept.learn(&last(10, 40, CaState::Recovery));
        assert_eq!((kept.ssthresh, kept.reordering), (40, 20));
        let mut newer = Destination::new(false);
        newer.learn(&last(60, 20, CaState::Open));
        assert_eq!(newer.ssthresh, 0);
    }

    /// A connection starts with the threshold and the tolerance, and its first timeout is that of the known path.
    #[test]
    fn a_connection_starts_from_what_is_known() {
        let end = || Endpoint::with_names(&profiles::linux_6(), "reno", "linux").unwrap();
        let mut pair = Pair::new(end(), end(), 5 * MS);
        pair.client.set_destination(Destination {
            rtt: 300 * MS,
            ssthresh: 12,
            reordering: 9,
            ..Destination::new(true)
        });
        pair.open();
        pair.run_until(12 * MS);
        let info = pair.client.info();
        assert_eq!((info.ssthresh, info.reordering), (12, 9));
        assert_eq!(info.timing.rto, 900 * MS);
        pair.client.write(100_000);
        pair.flush(Side::Client);
        pair.run_until(100 * MS);
        assert!(pair.client.info().timing.rto < 300 * MS);
    }
}
