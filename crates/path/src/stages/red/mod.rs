//! A link whose queue drops arrivals at random while its mean length is between two thresholds: RED.
//!
//! Source: S. Floyd, V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM Transactions on
//! Networking 1(4), 1993, in bytes as Linux `sch_red`. The mean is exponential, and decays while the link is idle as if
//! packets of the usual size had passed. Between the thresholds the probability rises to its maximum; drops are spread
//! by comparing the packets since the last one with one random number (section VII, "uniform random variables"). At or
//! above the upper threshold every packet is dropped, unless `gentle` (S. Floyd, "Recommendation on using the gentle_
//! variant of RED", 2000) lets the probability rise to 1 at twice that length. Packets that support ECN are marked
//! instead. `adaptive` changes the maximum twice a second (S. Floyd, R. Gummadi, S. Shenker, "Adaptive RED", 2001,
//! with Linux's constants).

pub mod weight;

use inorder_base::random::Random;
use inorder_scenario::config as plain;

use super::fifo::Fifo;
use super::managed_link::{Arrival, Discipline, ManagedLink};
use super::ticks::Ticks;
use crate::counters::Reason;
use crate::packet::Packet;
use crate::rate::Rate;
use crate::stage::Outbox;
use crate::time::elapsed;
use inorder_scenario::config::Queue as Limit;

/// Time between two adaptations of the maximum probability, nanoseconds (Linux).
const ADAPT_NS: i64 = 500_000_000;
/// Bounds of an adapted maximum probability (Linux `MAX_P_MIN`, `MAX_P_MAX`).
const ADAPTED: (f64, f64) = (0.01, 0.5);

/// The decision about a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Pass,
    /// Chosen between the thresholds.
    Early,
    /// Above the upper threshold.
    Forced,
}

/// The mean length and the decision.
#[derive(Clone, Debug)]
struct Detector {
    min: f64,
    max: f64,
    max_probability: f64,
    weight: f64,
    gentle: bool,
    mean: f64,
    /// Packets since the last one that was chosen; none before the first above the lower threshold.
    count: Option<u32>,
    /// What their number times the probability is compared with.
    draw: f64,
    random: Random,
}

impl Detector {
    /// Another length of the queue, bytes.
    fn see(&mut self, bytes: u64) {
        self.mean += self.weight * (bytes as f64 - self.mean);
    }

    /// The mean after a time in which `packets` would have passed an empty queue (equation 2 of the paper).
    fn decayed(&self, packets: f64) -> f64 {
        self.mean * libm::pow(1.0 - self.weight, packets)
    }

    /// The probability at the present mean; none above the upper threshold.
    fn probability(&self) -> Option<f64> {
        if self.mean < self.max {
            let share = (self.mean - self.min) / (self.max - self.min).max(1.0);
            return Some(self.max_probability * share);
        }
        let above = (self.mean - self.max) / self.max.max(1.0);
        let rising = self.max_probability + (1.0 - self.max_probability) * above;
        (self.gentle && above < 1.0).then_some(rising)
    }

    fn judge(&mut self) -> Verdict {
        if self.mean < self.min {
            self.count = None;
            return Verdict::Pass;
        }
        let Some(probability) = self.probability() else {
            self.count = None;
            return Verdict::Forced;
        };
        let Some(count) = &mut self.count else {
            self.count = Some(0);
            self.draw = self.random.unit();
            return Verdict::Pass;
        };
        *count = count.saturating_add(1);
        if f64::from(*count) * probability < self.draw {
            return Verdict::Pass;
        }
        *count = 0;
        self.draw = self.random.unit();
        Verdict::Early
    }

    /// Changes the maximum probability if the mean is not in the middle fifth between the thresholds.
    fn adapt(&mut self, mean: f64) {
        let (least, most) = ADAPTED;
        let fifth = (self.max - self.min) / 5.0;
        if mean > self.min + 3.0 * fifth && self.max_probability <= most {
            self.max_probability += (self.max_probability / 4.0).min(0.01);
        } else if mean < self.min + 2.0 * fifth && self.max_probability >= least {
            self.max_probability *= 0.9;
        }
    }
}

/// A RED queue.
pub struct Red<P> {
    detector: Detector,
    /// If the maximum probability is adapted.
    ticks: Option<Ticks>,
    /// Since when the link has been idle.
    idle_ns: Option<i64>,
    rate: Rate,
    packet_bytes: u32,
    mark: bool,
    hard_drop: bool,
    queue: Fifo<P>,
    limit: Limit,
}

impl<P: Packet> Red<P> {
    /// An empty queue in front of `line`; `random` decides which packets are dropped.
    pub fn new(line: &plain::Line, red: &plain::Red, random: Random) -> Self {
        let usual = || weight::usual(red.min_bytes, red.max_bytes, red.packet_bytes);
        Red {
            detector: Detector {
                min: red.min_bytes as f64,
                max: red.max_bytes as f64,
                max_probability: red.max_probability,
                weight: red.weight.unwrap_or_else(usual).clamp(0.0, 1.0),
                gentle: red.gentle,
                mean: 0.0,
                count: None,
                draw: 0.0,
                random,
            },
            ticks: red.adaptive.then(|| Ticks::every(ADAPT_NS)),
            idle_ns: None,
            rate: Rate::from(line),
            packet_bytes: red.packet_bytes.max(1),
            mark: red.mark,
            hard_drop: red.hard_drop,
            queue: Fifo::default(),
            limit: line.queue(),
        }
    }

    /// The mean length at `now_ns`, bytes.
    fn mean(&self, now_ns: i64) -> f64 {
        let Some(since_ns) = self.idle_ns else {
            return self.detector.mean;
        };
        let bits = elapsed(now_ns, since_ns) as f64 / 1e9 * self.rate.at(since_ns) as f64;
        self.detector
            .decayed(bits / (8.0 * f64::from(self.packet_bytes)))
    }

    /// Makes the adaptations that are due.
    fn catch_up(&mut self, now_ns: i64) {
        while let Some(at_ns) = self.ticks.as_mut().and_then(|ticks| ticks.due(now_ns)) {
            let (mean, earlier) = (self.mean(at_ns), self.detector.max_probability);
            self.detector.adapt(mean);
            // While the link is idle the mean falls: once it is too low to change anything, it stays so.
            let settled = self.detector.max_probability == earlier && mean < self.detector.min;
            if let Some(ticks) = self.ticks.as_mut().filter(|_| settled) {
                ticks.skip(now_ns);
            }
        }
    }
}

impl<P: Packet> Discipline<P> for Red<P> {
    fn enqueue(&mut self, now_ns: i64, arrival: Arrival<P>, out: &mut Outbox<P>) {
        let Arrival {
            mut packet,
            frame_bytes,
            idle,
        } = arrival;
        self.catch_up(now_ns);
        match self.idle_ns {
            Some(_) => self.detector.mean = self.mean(now_ns),
            None => self.detector.see(self.queue.bytes()),
        }
        self.idle_ns = None;
        let verdict = self.detector.judge();
        let marks = self.mark && !(verdict == Verdict::Forced && self.hard_drop);
        if verdict != Verdict::Pass && !(marks && out.mark_congestion(&mut packet)) {
            return out.drop(packet, Reason::Early);
        }
        if !idle && !self.queue.admits(self.limit, frame_bytes) {
            return out.drop(packet, Reason::QueueFull);
        }
        self.queue.push(now_ns, packet, frame_bytes);
    }

    fn dequeue(&mut self, now_ns: i64, _: &mut Outbox<P>) -> Option<P> {
        let first = self.queue.pop();
        if first.is_none() {
            self.catch_up(now_ns);
            self.idle_ns = Some(now_ns);
        }
        Some(first?.packet)
    }
}

/// A link with a RED queue.
pub type RedLink<P> = ManagedLink<Red<P>>;

#[cfg(test)]
mod tests;
