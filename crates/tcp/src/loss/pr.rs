//! TCP-PR (S. Bohacek, J. Hespanha, J. Lee, C. Lim, K. Obraczka, "A new TCP for persistent packet reordering",
//! IEEE/ACM Transactions on Networking 14(2), 2006): duplicates are ignored; a segment is lost when it has
//! waited longer than a bound on the round-trip time. The algorithm governs the window itself.
//!
//! On an acknowledgement of n: `ewrtt = max(alpha^(1/cwnd) ewrtt, now - sent(n))`, `mxrtt = beta ewrtt`. When n
//! has waited `mxrtt`: if it was in flight at the last reduction it belongs to that event, otherwise
//! `cwnd = cwnd(n) / 2`. More losses in one event than half the window ask for a fresh start: `cwnd = 1`,
//! and nothing is sent for `mxrtt >= 1 s`, doubled while it repeats.

use super::{AckNews, Context, Entry, LossDetection, Sent, Transmission, Verdict};
use crate::Nanos;
use crate::config::SECOND;
use crate::seq::Seq;
use crate::time::elapsed;

pub(super) const ENTRY: Entry = Entry {
    name: "tcp-pr",
    about: "TCP-PR: a timer for every segment, no duplicate acknowledgements; governs the window",
    source: "Bohacek et al., ToN 14(2), 2006",
    build: || Box::new(TcpPr::new()),
};

const ALPHA: f64 = 0.995;
const BETA: Nanos = 3;
/// Bound before the first measurement: as initial timeout RFC 6298 section 2 step (2.1) still allows it.
const INITIAL_BOUND: Nanos = 3 * SECOND;
const MAX_BOUND: Nanos = 64 * SECOND;

/// See the module's description.
#[derive(Debug, Clone)]
pub struct TcpPr {
    /// Estimate of the greatest round-trip time, ns; 0 before the first measurement.
    ewrtt: f64,
    /// `mxrtt`.
    bound: Nanos,
    /// `memorize`: everything up to this number that was outstanding at the last reduction.
    memorized_to: Seq,
    /// Losses that belong to the last reduction.
    burst: u32,
    slow_start: bool,
    growth: f64,
    /// Consecutive extreme losses.
    restarts: u32,
    /// Transmissions before this time were given up at the last restart.
    restarted_at: Nanos,
    paused_until: Nanos,
    timer: Option<Nanos>,
}

impl Default for TcpPr {
    fn default() -> Self {
        Self::new()
    }
}

impl TcpPr {
    /// Nothing measured yet; alpha 0.995, beta 3.
    pub fn new() -> Self {
        Self {
            ewrtt: 0.0,
            bound: INITIAL_BOUND,
            memorized_to: 0,
            burst: 0,
            slow_start: true,
            growth: 0.0,
            restarts: 0,
            restarted_at: 0,
            paused_until: 0,
            timer: None,
        }
    }

    /// `mxrtt`, ns: how long a segment may remain unanswered.
    pub fn bound(&self) -> Nanos {
        self.bound
    }

    fn measure(&mut self, cx: &Context<'_>, ack: &AckNews<'_>) {
        let cwnd = f64::from(cx.window.cwnd.max(1));
        for item in ack.delivered {
            // For a retransmitted segment it is unknown which transmission was answered.
            if item.record.ever_retransmitted() {
                continue;
            }
            let rtt = elapsed(cx.now, item.record.sent_at) as f64;
            let faded = libm::pow(ALPHA, 1.0 / cwnd) * self.ewrtt;
            self.ewrtt = faded.max(rtt);
            self.restarts = 0;
        }
        if self.ewrtt > 0.0 && self.restarts == 0 {
            self.bound = (self.ewrtt as Nanos).saturating_mul(BETA).min(MAX_BOUND);
        }
    }

    fn grow(&mut self, cx: &mut Context<'_>, delivered: usize) {
        for _ in 0..delivered {
            let window = &mut *cx.window;
            if self.slow_start && window.cwnd < window.ssthresh {
                window.cwnd = window.cwnd.saturating_add(1).min(window.clamp);
                continue;
            }
            self.slow_start = false;
            self.growth += 1.0 / f64::from(window.cwnd.max(1));
            if self.growth >= 1.0 {
                self.growth -= 1.0;
                window.cwnd = window.cwnd.saturating_add(1).min(window.clamp);
            }
        }
    }

    /// The segment that has waited longest, and the end of its permitted waiting time.
    fn schedule(&mut self, cx: &mut Context<'_>) {
        let oldest = cx.board.oldest_outstanding();
        let due = oldest.map(|(_, record)| record.sent_at.saturating_add(self.bound));
        let resume = (self.paused_until > cx.now).then_some(self.paused_until);
        // While paused, the lost segments wait for the end of the pause.
        self.timer = match (due, resume) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        };
    }

    /// One segment has waited too long. True if the losses require a restart.
    fn drop_one(&mut self, cx: &mut Context<'_>, record: &Sent) -> bool {
        if self.restarts > 0 && record.sent_at <= self.restarted_at {
            return false;
        }
        if record.end > self.memorized_to {
            // A new event: the segments outstanding now belong to it.
            self.memorized_to = cx.snd_nxt;
            self.burst = 0;
            self.slow_start = false;
            self.growth = 0.0;
            let half = (record.cwnd / 2).max(1);
            cx.window.cwnd = half;
            cx.window.ssthresh = half;
            cx.counters.recoveries.fast_recoveries += 1;
            return false;
        }
        self.burst += 1;
        self.burst > cx.window.cwnd / 2 + 1
    }

    fn start_over(&mut self, cx: &mut Context<'_>) {
        cx.window.ssthresh = cx.window.cwnd.max(2);
        cx.window.cwnd = 1;
        self.slow_start = true;
        self.growth = 0.0;
        self.burst = 0;
        self.memorized_to = cx.snd_nxt;
        let base = if self.restarts == 0 {
            self.bound.max(SECOND)
        } else {
            self.bound.saturating_mul(2)
        };
        self.bound = base.min(MAX_BOUND);
        self.restarts += 1;
        self.restarted_at = cx.now;
        self.paused_until = cx.now.saturating_add(self.bound);
    }
}

impl LossDetection for TcpPr {
    fn dupthresh(&self) -> u32 {
        0
    }

    fn start(&mut self, cx: &mut Context<'_>) {
        if cx.srtt > 0 {
            self.ewrtt = cx.srtt as f64;
            self.bound = cx.srtt.saturating_mul(BETA);
        }
        self.memorized_to = cx.snd_una;
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &AckNews<'_>) -> Verdict {
        self.measure(cx, ack);
        self.grow(cx, ack.delivered.len());
        self.schedule(cx);
        Verdict::default()
    }

    fn governs_sending(&self) -> bool {
        true
    }

    fn on_sent(&mut self, cx: &mut Context<'_>, _sent: &Transmission) {
        if self.timer.is_none() {
            self.timer = Some(cx.now.saturating_add(self.bound));
        }
    }

    fn may_send(&self, cx: &Context<'_>) -> Option<bool> {
        (self.paused_until > cx.now).then_some(false)
    }

    fn next_timer(&self) -> Option<Nanos> {
        self.timer
    }

    fn on_timer(&mut self, cx: &mut Context<'_>) -> Verdict {
        let mut extreme = false;
        while let Some((id, record)) = cx.board.oldest_outstanding() {
            if record.sent_at.saturating_add(self.bound) > cx.now || !cx.board.mark_lost(id) {
                break;
            }
            if self.drop_one(cx, &record) && !extreme {
                self.start_over(cx);
                extreme = true;
            }
        }
        self.schedule(cx);
        Verdict::recover_if(extreme)
    }

    fn governs_window(&self) -> bool {
        true
    }
}
