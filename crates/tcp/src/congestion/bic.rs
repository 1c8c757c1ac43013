//! BIC: binary search for the window at the last loss, then probing beyond it.
//!
//! Source: Xu, Harfoush, Rhee, "Binary Increase Congestion Control for Fast Long-Distance Networks", INFOCOM
//! 2004; constants and order of computation as in Linux 5.7 and later (`tcp_bic.c`).
//!
//! With `B` of 4, `Smax` of 16 and `smooth` of 20, one step per
//!
//! 1. `cwnd` segments up to a window of 14, as Reno;
//! 2. below Wmax, with `d = (Wmax - cwnd) / B`: `cwnd / Smax` where `d > Smax` (additive increase),
//!    `smooth cwnd / B` where `d <= 1`, else `cwnd / d` (binary search);
//! 3. from Wmax on: `smooth cwnd / B` up to `Wmax + B`, `cwnd (B - 1) / (cwnd - Wmax)` up to
//!    `Wmax + Smax (B - 1)` (slow start), then `cwnd / Smax`;
//! 4. at most 20 while no loss has shown a Wmax.
//!
//! These numbers are divided by the measured ratio of delayed acknowledgements, and what is counted are segments
//! ([`Counting`]): with two segments for each acknowledgement the window grows twice as fast as the paper says. Loss:
//! `ssthresh = 819 cwnd / 1024`, half up to a window of 14, at least 2; fast convergence as in the paper.
//!
//! Versions: Linux 4.0 to 5.6 (`bic-4.0`) counted acknowledgements (`tcp_cong_avoid_ai(tp, ca->cnt, 1)`, since 5.7
//! `tcp_cong_avoid_ai(tp, ca->cnt, acked)`); before 4.0 a step also came one acknowledgement late. ns-3 ([`Bic::ns3`])
//! counts segments without the ratio and uses a `smooth` of 5. Its other differences, (1) only below 14 and `0.8 cwnd`
//! stored in fast convergence, are not reproduced.

use super::binary_increase::{AckRatio, Throttle, last_max, reduced};
use super::reno::half;
use super::{AckEvent, CongestionControl, Entry, Event, LossEvent, Nanos, Window, jiffies};

pub(super) const ENTRY: Entry = Entry {
    name: "bic",
    about: "binary search for the window last lost",
    source: "INFOCOM 2004, Linux 5.7 and later",
    build: || Box::new(Bic::default()),
};

pub(super) const ENTRY_4_0: Entry = Entry {
    name: "bic-4.0",
    about: "BIC that counts acknowledgements",
    source: "INFOCOM 2004, Linux 4.0 to 5.6",
    build: || Box::new(Bic::linux_4_0()),
};

pub(super) const ENTRY_NS3: Entry = Entry {
    name: "bic-ns3",
    about: "BIC with the constants of ns-3: smooth part of 5, each segment counted",
    source: "INFOCOM 2004, ns-3 TcpBic",
    build: || Box::new(Bic::ns3()),
};

const BETA: u32 = 819;
const LOW_WINDOW: u32 = 14;
const MAX_INCREMENT: u32 = 16;
const B: u32 = 4;

/// What brings a step of the window closer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counting {
    /// Each segment, though the number for a step is one of acknowledgements: Linux since 5.7.
    SegmentsByRatio,
    /// Each acknowledgement, whatever it covers: Linux 4.0 to 5.6.
    Acknowledgements,
    /// Each segment, and the number for a step is one of segments.
    Segments,
}

/// BIC.
#[derive(Debug, Clone)]
pub struct Bic {
    /// Number of round trips spent near Wmax.
    smooth: u32,
    counting: Counting,
    last_max: u32,
    throttle: Throttle,
    ratio: AckRatio,
    per: u32,
}

impl Default for Bic {
    fn default() -> Self {
        Self {
            smooth: 20,
            counting: Counting::SegmentsByRatio,
            last_max: 0,
            throttle: Throttle::default(),
            ratio: AckRatio::new(),
            per: 0,
        }
    }
}

impl Bic {
    /// Linux's BIC with another smooth part: the number of round trips from `Wmax - B` to `Wmax`, at least 1.
    pub fn with_smooth_part(round_trips: u32) -> Self {
        Self {
            smooth: round_trips.max(1),
            ..Self::default()
        }
    }

    /// Linux 4.0 to 5.6.
    pub fn linux_4_0() -> Self {
        Self {
            counting: Counting::Acknowledgements,
            ..Self::default()
        }
    }

    /// Constants and counting of ns-3.
    pub fn ns3() -> Self {
        Self {
            counting: Counting::Segments,
            ..Self::with_smooth_part(5)
        }
    }

    /// Segments per step (1 to 4).
    fn pace(&self, cwnd: u32) -> u32 {
        let pace = if cwnd < self.last_max {
            self.search(cwnd)
        } else {
            self.probe(cwnd)
        };
        if self.last_max == 0 {
            pace.min(20)
        } else {
            pace
        }
    }

    /// Below Wmax (2).
    fn search(&self, cwnd: u32) -> u32 {
        match (self.last_max - cwnd) / B {
            0 | 1 => self.beside_max(cwnd),
            distance => cwnd / distance.min(MAX_INCREMENT),
        }
    }

    /// From Wmax on (3).
    fn probe(&self, cwnd: u32) -> u32 {
        match cwnd - self.last_max {
            0..B => self.beside_max(cwnd),
            past if past < MAX_INCREMENT * (B - 1) => cwnd.saturating_mul(B - 1) / past,
            _ => cwnd / MAX_INCREMENT,
        }
    }

    fn beside_max(&self, cwnd: u32) -> u32 {
        cwnd.saturating_mul(self.smooth) / B
    }

    fn update(&mut self, cwnd: u32, now: u64) {
        if self.throttle.holds(cwnd, now) {
            return;
        }
        self.throttle.note(cwnd, now);
        self.per = match cwnd {
            0..=LOW_WINDOW => cwnd,
            _ if self.counting == Counting::Segments => self.pace(cwnd).max(1),
            _ => self.ratio.acknowledgements(self.pace(cwnd)),
        };
    }
}

impl CongestionControl for Bic {
    fn measure(&mut self, _window: &mut Window, ack: &AckEvent) {
        if !ack.dubious {
            self.ratio.sample(ack.acked);
        }
    }

    fn grow(&mut self, window: &mut Window, ack: &AckEvent) {
        let mut left = ack.acked;
        if window.in_slow_start() {
            left = window.slow_start(left);
            if left == 0 {
                return;
            }
        }
        self.update(window.cwnd, jiffies(ack.now));
        let counted = match self.counting {
            Counting::Acknowledgements => 1,
            Counting::SegmentsByRatio | Counting::Segments => left,
        };
        window.additive_increase(self.per, counted);
    }

    fn ssthresh(&mut self, window: &Window, _loss: &LossEvent) -> u32 {
        self.last_max = last_max(window.cwnd, self.last_max, BETA);
        if window.cwnd <= LOW_WINDOW {
            half(window.cwnd)
        } else {
            reduced(window.cwnd, BETA)
        }
    }

    fn event(&mut self, _window: &mut Window, event: Event, _now: Nanos) {
        if event == Event::Timeout {
            *self = Self {
                smooth: self.smooth,
                counting: self.counting,
                ..Self::default()
            };
        }
    }

    fn trace(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("last_max", f64::from(self.last_max));
        out("per_step", f64::from(self.per));
        out("segments_per_ack", self.ratio.ratio());
    }
}
