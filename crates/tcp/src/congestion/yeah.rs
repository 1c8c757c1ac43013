//! YeAH: scalable growth while the queue is short, Reno's growth while it is long, and early removal of the queue.
//!
//! Source: Baiocchi, Castellani, Vacirca, "YeAH-TCP: Yet Another Highspeed TCP", PFLDnet 2007; constants and
//! order of computation as in Linux 5.7 and later. alpha 80, gamma 1, delta 3, epsilon 1, phy 8, rho 16, zeta 50.
//!
//! Once per round trip with more than two RTT samples:
//!
//! 1. `Q = cwnd (RTT - RTTbase) / RTT`, RTT the smallest of the round: the segments queued.
//! 2. Slow mode if `Q > 80` or `RTT - RTTbase > RTTbase / 8`. If `Q > 80` and `cwnd > reno_count`, early
//!    decongestion: `cwnd = ssthresh = max(cwnd - min(Q, cwnd / 2), reno_count)`. `reno_count`, what a Reno
//!    flow would have, grows by one; from 2 it jumps to `cwnd / 2`.
//! 3. Else fast mode; more than 50 such rounds mean nobody competes, and `reno_count` is 2 again.
//!
//! A round begins anew whenever the state becomes Open (`tcp_vegas_state`), so beside reordering, which leaves Open with each
//! late segment, hardly any ends, and there is no early decongestion. Whenever something is sent while nothing is in flight, the
//! smallest RTT is measured anew (`CA_EVENT_TX_START`, `tcp_vegas_cwnd_event`), so after each timeout, too: behind a long queue the base
//! then contains the queue, which no longer counts.
//!
//! Growth: slow start below `ssthresh`; fast mode one per `min(cwnd, 100)` segments (Scalable TCP); slow mode
//! Reno. Loss: below 16 rounds of slow mode the queue is removed,
//! `max(min(Q, max(cwnd / 2, 2)), cwnd / 8)`, else half, since loss-based flows are about; `reno_count` is
//! halved.
//!
//! Before Linux 5.7, fast mode increased the window above instead of at the threshold, and discarded the remainder.

use super::round::{Finished, Round};
use super::{
    AckEvent, CongestionControl, Entry, Event, LossEvent, Nanos, SentEvent, Start, Window,
};

pub(super) const ENTRY: Entry = Entry {
    name: "yeah",
    about: "scalable while the queue is short, Reno while it is long",
    source: "PFLDnet 2007, Linux 5.7 and later",
    build: || Box::new(Yeah::default()),
};

/// Queue above which early decongestion starts, segments.
const ALPHA: u32 = 80;
/// Shift: minimum part of the window removed at a loss.
const DELTA: u32 = 3;
/// Shift: maximum part of the window that early decongestion removes.
const EPSILON: u32 = 1;
/// Queueing delay tolerated in fast mode, as a divisor of the smallest RTT.
const PHY: u64 = 8;
/// Number of rounds of slow mode after which a loss indicates competing flows.
const RHO: u32 = 16;
/// Number of rounds of fast mode after which competing flows are assumed to be gone.
const ZETA: u32 = 50;
/// Segments per step of Scalable TCP.
const SCALABLE: u32 = 100;
/// For larger windows the products would not fit 32 bits in Linux.
const LARGEST_WINDOW: u32 = u32::MAX / 128;

/// YeAH.
#[derive(Debug, Clone)]
pub struct Yeah {
    round: Round,
    queue: u32,
    /// Consecutive rounds in slow mode; 0 in fast mode.
    slow_rounds: u32,
    fast_rounds: u32,
    reno_count: u32,
}

impl Default for Yeah {
    fn default() -> Self {
        Self {
            round: Round::new(),
            queue: 0,
            slow_rounds: 0,
            fast_rounds: 0,
            reno_count: 2,
        }
    }
}

impl Yeah {
    /// Growth by acknowledgements.
    fn increase(&self, window: &mut Window, acked: u32) {
        let mut left = acked;
        if window.in_slow_start() {
            left = window.slow_start(left);
        }
        if left == 0 {
            return;
        }
        let per = if self.slow_rounds == 0 {
            window.cwnd.min(SCALABLE)
        } else {
            window.cwnd
        };
        window.additive_increase(per, left);
    }

    /// The decision of a round (1 to 3).
    fn end_round(&mut self, window: &mut Window, round: Finished) {
        let delay = round.min_us - round.base_us;
        let queue = u128::from(window.cwnd) * u128::from(delay) / u128::from(round.min_us);
        self.queue = u32::try_from(queue).unwrap_or(u32::MAX);
        if self.queue > ALPHA || delay > round.base_us / PHY {
            self.slow_mode(window);
        } else {
            self.fast_mode();
        }
    }

    fn slow_mode(&mut self, window: &mut Window) {
        if self.queue > ALPHA && window.cwnd > self.reno_count {
            let cut = self.queue.min(window.cwnd >> EPSILON);
            window.cwnd = (window.cwnd - cut).max(self.reno_count);
            window.ssthresh = window.cwnd;
        }
        self.reno_count = match self.reno_count {
            0..=2 => (window.cwnd / 2).max(2),
            count => count.saturating_add(1),
        };
        self.slow_rounds = (self.slow_rounds + 1).min(0xff_ffff);
    }

    fn fast_mode(&mut self) {
        self.slow_rounds = 0;
        self.fast_rounds += 1;
        if self.fast_rounds > ZETA {
            self.reno_count = 2;
            self.fast_rounds = 0;
        }
    }
}

impl CongestionControl for Yeah {
    fn start(&mut self, window: &mut Window, _start: &Start) {
        window.clamp = window.clamp.min(LARGEST_WINDOW);
    }

    fn measure(&mut self, _window: &mut Window, ack: &AckEvent) {
        self.round.note_sent(ack.snd_nxt);
        if let Some(rtt) = ack.rtt {
            self.round.sample(rtt);
        }
    }

    fn grow(&mut self, window: &mut Window, ack: &AckEvent) {
        self.increase(window, ack.acked);
        if let Some(round) = self.round.finish(ack) {
            self.end_round(window, round);
        }
    }

    fn ssthresh(&mut self, window: &Window, _loss: &LossEvent) -> u32 {
        let half = (window.cwnd / 2).max(2);
        let cut = if self.slow_rounds < RHO {
            self.queue.min(half).max(window.cwnd >> DELTA)
        } else {
            half
        };
        self.fast_rounds = 0;
        self.reno_count = (self.reno_count / 2).max(2);
        window.cwnd.saturating_sub(cut).max(2)
    }

    fn event(&mut self, _window: &mut Window, event: Event, _now: Nanos) {
        if event == Event::Open {
            self.round.restart();
        }
    }

    fn watches_sending(&self) -> bool {
        true
    }

    fn on_sent(&mut self, _window: &mut Window, sent: &SentEvent) {
        if sent.in_flight == 0 {
            self.round.note_sent(sent.snd_nxt);
            self.round.forget_base();
            self.round.restart();
        }
    }

    fn trace(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("queue", f64::from(self.queue));
        out("slow_rounds", f64::from(self.slow_rounds));
        out("reno_count", f64::from(self.reno_count));
        out(
            "base_rtt_s",
            self.round.base().map_or(0.0, |base| base as f64 * 1e-9),
        );
    }
}
