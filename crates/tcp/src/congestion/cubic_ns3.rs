//! CUBIC as in ns-3: without Reno's window beside it, with the round-trip time smoothed.
//!
//! Source: `TcpCubic` of ns-3.37, by Patriciello (2019; RFC 8312 for fast convergence). Before it ns-3 had none of its
//! own, and papers used that of Levasseur and others (`cubic_levasseur.rs`). Times are seconds of a double, as there. In
//! comparison with Linux:
//!
//! 1. A step per `cwnd / (target - cwnd)` segments, `100 cwnd` at or above the target, at least 2, at most 20 while no loss
//!    has shown a maximum. One step per acknowledgement at most; no window of Reno bounds it from below.
//! 2. `K = cbrt((Wmax - cwnd) / C)`, C = 0.4; the distance from the origin is truncated to whole segments.
//! 3. Loss: `max(0.7 cwnd, 2)`, fast convergence with 0.85.
//! 4. HyStart: the train ends slow start when it is longer than the smallest RTT (not half of it), the delay when it
//!    exceeds twice that, between 4 ms and 1 s more. RTTs are the smoothed ones.
//! 5. A timeout forgets the maximum, the origin and the smallest RTT.

use super::{AckEvent, CongestionControl, Entry, Event, LossEvent, Nanos, Window};

pub(super) const ENTRY: Entry = Entry {
    name: "cubic-ns3",
    about: "CUBIC of ns-3 since 3.30, without Reno's window beside it",
    source: "ns-3.37, tcp-cubic.cc (Patriciello, 2019)",
    build: || Box::new(CubicNs3::default()),
};

const C: f64 = 0.4;
const BETA: f64 = 0.7;
/// `HyStartLowWindow`, segments.
const LOW_WINDOW: u32 = 16;
/// `HyStartAckDelta`, ns.
const TRAIN_GAP: Nanos = 2_000_000;
/// `HyStartMinSamples`.
const SAMPLES: u32 = 8;
/// `HyStartDelayMin` and `HyStartDelayMax`, ns.
const DELAY: (Nanos, Nanos) = (4_000_000, 1_000_000_000);
/// `CubicDelta`: time after the start of an epoch in which RTTs are ignored, ns.
const SETTLING: Nanos = 10_000_000;
/// `CntClamp`: segments per step while no loss has shown a maximum.
const UNKNOWN_MAXIMUM: u32 = 20;

/// CUBIC of ns-3.
#[derive(Debug, Clone, Default)]
pub(super) struct CubicNs3 {
    count: u32,
    last_max: u32,
    origin: u32,
    k_s: f64,
    srtt: Nanos,
    delay_min: Option<Nanos>,
    epoch: Option<Nanos>,
    hystart: HyStart,
}

#[derive(Debug, Clone, Default)]
struct HyStart {
    found: bool,
    round_start: Nanos,
    round_end: u64,
    last_ack: Nanos,
    least: Option<Nanos>,
    samples: u32,
}

impl HyStart {
    fn begin_round(&mut self, now: Nanos, snd_nxt: u64) {
        *self = Self {
            found: self.found,
            round_start: now,
            last_ack: now,
            round_end: snd_nxt,
            ..Self::default()
        };
    }

    fn update(&mut self, now: Nanos, rtt: Nanos, delay_min: Nanos) {
        if now.saturating_sub(self.last_ack) <= TRAIN_GAP {
            self.last_ack = now;
            self.found |= now.saturating_sub(self.round_start) > delay_min;
        }
        if self.samples < SAMPLES {
            self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
            self.samples += 1;
        } else {
            let tolerated = delay_min.clamp(DELAY.0, DELAY.1);
            self.found |= self
                .least
                .is_some_and(|least| least > delay_min.saturating_add(tolerated));
        }
    }
}

impl CubicNs3 {
    fn segments_per_step(&mut self, cwnd: u32, now: Nanos) -> u32 {
        let epoch = *self.epoch.get_or_insert_with(|| {
            if self.last_max <= cwnd {
                (self.k_s, self.origin) = (0.0, cwnd);
            } else {
                self.k_s = libm::cbrt(f64::from(self.last_max - cwnd) / C);
                self.origin = self.last_max;
            }
            now
        });
        let t = now
            .saturating_add(self.delay_min.unwrap_or(0))
            .saturating_sub(epoch) as f64
            / 1e9;
        let off = (t - self.k_s).abs();
        let delta = (C * off * off * off) as u32;
        let target = if t < self.k_s {
            self.origin.saturating_sub(delta)
        } else {
            self.origin.saturating_add(delta)
        };
        let mut per = if target > cwnd {
            cwnd / (target - cwnd)
        } else {
            cwnd.saturating_mul(100)
        };
        if self.last_max == 0 {
            per = per.min(UNKNOWN_MAXIMUM);
        }
        per.max(2)
    }
}

impl CubicNs3 {
    /// An acknowledgement or a duplicate, with the last smoothed RTT.
    fn observe(&mut self, window: &mut Window, now: Nanos) {
        let settling = self
            .epoch
            .is_some_and(|epoch| now.saturating_sub(epoch) < SETTLING);
        if self.srtt == 0 || settling {
            return;
        }
        let delay_min = self
            .delay_min
            .map_or(self.srtt, |least| least.min(self.srtt));
        self.delay_min = Some(delay_min);
        if window.cwnd <= window.ssthresh && window.cwnd >= LOW_WINDOW && !self.hystart.found {
            self.hystart.update(now, self.srtt, delay_min);
            if self.hystart.found {
                window.ssthresh = window.cwnd;
            }
        }
    }
}

impl CongestionControl for CubicNs3 {
    fn measure(&mut self, window: &mut Window, ack: &AckEvent) {
        self.srtt = ack.srtt;
        self.observe(window, ack.now);
    }

    fn grow(&mut self, window: &mut Window, ack: &AckEvent) {
        if window.in_slow_start() {
            if ack.snd_una > self.hystart.round_end {
                self.hystart.begin_round(ack.now, ack.snd_nxt);
            }
            window.cwnd = window.cwnd.saturating_add(ack.acked).min(window.clamp);
            return;
        }
        if ack.acked == 0 {
            return;
        }
        self.count = self.count.saturating_add(ack.acked);
        let per = self.segments_per_step(window.cwnd, ack.now);
        if self.count >= per {
            window.cwnd = window.cwnd.saturating_add(1).min(window.clamp);
            self.count -= per;
        }
    }

    fn ssthresh(&mut self, window: &Window, _loss: &LossEvent) -> u32 {
        self.last_max = if window.cwnd < self.last_max {
            (f64::from(window.cwnd) * (1.0 + BETA) / 2.0) as u32
        } else {
            window.cwnd
        };
        self.epoch = None;
        ((f64::from(window.cwnd) * BETA) as u32).max(2)
    }

    fn event(&mut self, window: &mut Window, event: Event, now: Nanos) {
        match event {
            Event::DupAck { .. } => self.observe(window, now),
            Event::Timeout => {
                self.last_max = 0;
                self.origin = 0;
                self.k_s = 0.0;
                self.delay_min = None;
                self.hystart = HyStart::default();
            }
            _ => {}
        }
    }

    fn trace(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("last_max", f64::from(self.last_max));
        out("origin", f64::from(self.origin));
        out("k_s", self.k_s);
    }
}
