//! A link whose queue drops arrivals with a probability that keeps the delay near a target: PIE.
//!
//! Source: RFC 8033; where Linux `sch_pie` (6.1) differs, as there. At regular times a proportional-integral controller
//! changes the probability by `alpha (delay - target) + beta (delay - delay before)`, in steps that are smaller the
//! smaller it is (RFC 8033 section 4.2). A packet is dropped when it arrives, or marked if its transport supports ECN
//! and the probability is at most 10 % (section 5.1). Drops are spread: none until the probabilities of the packets
//! since the last one add up to 0.85, certainly one at 8.5 (section 5.4). Nothing is dropped during the first 150 ms
//! after a calm (section 4.4), or while the queue is short (section 4.1).
//!
//! As in Linux and unlike the text of the RFC: above 250 ms the probability rises by additional 2 percentage points, it
//! falls by 1/64 instead of 2 % while there is no delay, and the allowance for bursts runs only from departure to
//! departure.

use inorder_base::random::Random;
use inorder_scenario::config::{self as plain, DelayEstimate};

use super::fifo::{Fifo, Waiting};
use super::managed_link::{Arrival, Discipline, ManagedLink};
use super::ticks::Ticks;
use crate::counters::Reason;
use crate::packet::Packet;
use crate::stage::Outbox;
use crate::time::elapsed;
use inorder_scenario::config::Queue as Limit;

/// A queue shorter than this many bytes drops nothing: two full Ethernet frames (RFC 8033 section 4.1).
const SHORT_QUEUE_BYTES: u64 = 2 * FULL_FRAME_BYTES;
/// Bytes of a full Ethernet frame as Linux counts them.
const FULL_FRAME_BYTES: u64 = 1514;
/// Up to this probability packets are marked instead of dropped (RFC 8033 section 5.1).
const MAX_MARKED: f64 = 0.1;
/// Sums of probabilities since the last drop between which chance decides (RFC 8033 section 5.4).
const SPREAD: (f64, f64) = (0.85, 8.5);
/// Above this probability it rises by no more than [`MAX_RISE`] at once (RFC 8033 section 5.5).
const CAPPED_ABOVE: f64 = 0.1;
const MAX_RISE: f64 = 0.02;
/// Above this delay the probability rises by another [`MAX_RISE`], seconds (Linux).
const LONG_DELAY_S: f64 = 0.25;
/// The departure rate is measured over at least this many bytes (DQ_THRESHOLD of RFC 8033 section 4.3).
const MEASURED_BYTES: u64 = 16_384;

/// RFC 8033 section 4.2: by how much steps are divided while the probability is smaller than a bound.
const DIVISORS: [(f64, f64); 6] = [
    (0.000_001, 2048.0),
    (0.000_01, 512.0),
    (0.000_1, 128.0),
    (0.001, 32.0),
    (0.01, 8.0),
    (0.1, 2.0),
];

/// The probability and what it is computed from.
#[derive(Clone, PartialEq, Debug)]
struct Controller {
    target_s: f64,
    alpha: f64,
    beta: f64,
    probability: f64,
    /// Delay at the last change, seconds.
    before_s: f64,
}

impl Controller {
    /// One change, for a delay of `delay_s` now; `holds` if packets wait although the delay is 0.
    fn update(&mut self, delay_s: f64, holds: bool) {
        let smaller = DIVISORS.iter().find(|(bound, _)| self.probability < *bound);
        let divisor = smaller.map_or(1.0, |(_, divisor)| *divisor);
        let distance = delay_s - self.target_s;
        let growth = delay_s - self.before_s;
        let mut step = (self.alpha * distance + self.beta * growth) / divisor;
        if self.probability >= CAPPED_ABOVE {
            step = step.min(MAX_RISE);
        }
        if delay_s > LONG_DELAY_S {
            step += MAX_RISE;
        }
        self.probability = (self.probability + step).clamp(0.0, 1.0);
        if delay_s == 0.0 && self.before_s == 0.0 && !holds {
            self.probability -= self.probability / 64.0;
        }
    }
}

/// How fast packets leave: RFC 8033 section 4.3.
#[derive(Clone, PartialEq, Default, Debug)]
struct Departures {
    /// Bytes that left since `since_ns`, while a measurement runs.
    bytes: Option<u64>,
    since_ns: i64,
    /// Mean, bytes per second; 0 before the first measurement.
    bytes_per_s: f64,
}

impl Departures {
    /// A packet leaves and `waiting` bytes remain. True if that completes a measurement.
    fn count(&mut self, now_ns: i64, frame_bytes: u32, waiting: u64) -> bool {
        if waiting >= MEASURED_BYTES && self.bytes.is_none() {
            (self.bytes, self.since_ns) = (Some(0), now_ns);
        }
        let Some(bytes) = &mut self.bytes else {
            return false;
        };
        *bytes += u64::from(frame_bytes);
        let passed_ns = elapsed(now_ns, self.since_ns);
        if *bytes < MEASURED_BYTES || passed_ns == 0 {
            return false;
        }
        let rate = *bytes as f64 * 1e9 / passed_ns as f64;
        self.bytes_per_s = match self.bytes_per_s {
            0.0 => rate,
            mean => mean - mean / 8.0 + rate / 8.0,
        };
        self.bytes = (waiting >= MEASURED_BYTES).then_some(0);
        self.since_ns = now_ns;
        true
    }
}

/// A PIE queue.
pub struct Pie<P> {
    controller: Controller,
    ticks: Ticks,
    departures: Departures,
    estimate: DelayEstimate,
    /// How long the packet that left last waited, seconds; 0 if it left none behind.
    waited_s: f64,
    burst_ns: i64,
    /// What is left of the allowance for bursts, nanoseconds, and the departure up to which it was used.
    allowance_ns: i64,
    left_ns: Option<i64>,
    /// Sum of the probabilities of the packets since the last drop.
    spread: f64,
    by_bytes: bool,
    mark: bool,
    queue: Fifo<P>,
    limit: Limit,
    random: Random,
}

impl<P: Packet> Pie<P> {
    /// An empty queue in front of `line`; `random` decides which packets are dropped.
    pub fn new(line: &plain::Line, pie: &plain::Pie, random: Random) -> Self {
        Pie {
            controller: Controller {
                target_s: pie.target_ns as f64 / 1e9,
                alpha: pie.alpha,
                beta: pie.beta,
                probability: 0.0,
                before_s: 0.0,
            },
            ticks: Ticks::every(pie.update_ns),
            departures: Departures::default(),
            estimate: pie.estimate,
            waited_s: 0.0,
            burst_ns: pie.burst_ns,
            allowance_ns: pie.burst_ns,
            left_ns: None,
            spread: 0.0,
            by_bytes: pie.by_bytes,
            mark: pie.mark,
            queue: Fifo::default(),
            limit: line.queue(),
            random,
        }
    }

    /// The delay now, seconds.
    fn delay_s(&self) -> f64 {
        match self.estimate {
            DelayEstimate::LastPacket => self.waited_s,
            DelayEstimate::DepartureRate if self.departures.bytes_per_s > 0.0 => {
                self.queue.bytes() as f64 / self.departures.bytes_per_s
            }
            DelayEstimate::DepartureRate => 0.0,
        }
    }

    /// Makes the changes of the probability that are due.
    fn catch_up(&mut self, now_ns: i64) {
        while self.ticks.due(now_ns).is_some() {
            let earlier = (self.controller.clone(), self.allowance_ns, self.spread);
            self.update();
            if earlier == (self.controller.clone(), self.allowance_ns, self.spread) {
                self.ticks.skip(now_ns);
            }
        }
    }

    fn update(&mut self) {
        let delay_s = self.delay_s();
        self.controller.update(delay_s, self.queue.bytes() > 0);
        let half_s = self.controller.target_s / 2.0;
        let measured = match self.estimate {
            DelayEstimate::LastPacket => true,
            DelayEstimate::DepartureRate => self.departures.bytes_per_s > 0.0,
        };
        let calm = delay_s < half_s && self.controller.before_s < half_s;
        if calm && self.controller.probability == 0.0 && measured {
            self.allowance_ns = self.burst_ns;
            self.left_ns = None;
            self.spread = 0.0;
            self.departures = Departures::default();
        }
        self.controller.before_s = delay_s;
    }

    /// True if a packet of `frame_bytes` that arrives now is dropped or marked.
    fn strikes(&mut self, frame_bytes: u32) -> bool {
        let probability = self.controller.probability;
        let is_short = self.delay_s() < self.controller.target_s / 2.0 && probability < 0.2;
        if self.allowance_ns > 0 || is_short || self.queue.bytes() < SHORT_QUEUE_BYTES {
            return false;
        }
        let share = match u64::from(frame_bytes) {
            bytes if self.by_bytes && bytes <= FULL_FRAME_BYTES => {
                bytes as f64 / FULL_FRAME_BYTES as f64
            }
            _ => 1.0,
        };
        let own = probability * share;
        if own == 0.0 {
            self.spread = 0.0;
        }
        self.spread += own;
        let (least, most) = SPREAD;
        let strikes = self.spread >= most || (self.spread >= least && self.random.chance(own));
        if strikes {
            self.spread = 0.0;
        }
        strikes
    }

    /// A packet has left: updates the delay, and what is left of the allowance for bursts.
    fn note_departure(&mut self, now_ns: i64, packet: &Waiting<P>) {
        let waiting = self.queue.bytes();
        match self.estimate {
            DelayEstimate::LastPacket => {
                self.waited_s = match waiting {
                    0 => 0.0,
                    _ => packet.waited_ns(now_ns) as f64 / 1e9,
                };
                let since_ns = self.left_ns.replace(now_ns).unwrap_or(now_ns);
                self.spend(elapsed(now_ns, since_ns));
            }
            DelayEstimate::DepartureRate => {
                let since_ns = self.departures.since_ns;
                if self.departures.count(now_ns, packet.frame_bytes, waiting) {
                    self.spend(elapsed(now_ns, since_ns));
                }
            }
        }
    }

    fn spend(&mut self, passed_ns: u64) {
        let passed_ns = i64::try_from(passed_ns).unwrap_or(i64::MAX);
        self.allowance_ns = self.allowance_ns.saturating_sub(passed_ns).max(0);
    }
}

impl<P: Packet> Discipline<P> for Pie<P> {
    fn enqueue(&mut self, now_ns: i64, arrival: Arrival<P>, out: &mut Outbox<P>) {
        let Arrival {
            mut packet,
            frame_bytes,
            idle,
        } = arrival;
        self.catch_up(now_ns);
        if !idle && !self.queue.admits(self.limit, frame_bytes) {
            self.spread = 0.0;
            return out.drop(packet, Reason::QueueFull);
        }
        if self.strikes(frame_bytes) {
            let marks = self.mark && self.controller.probability <= MAX_MARKED;
            if !(marks && out.mark_congestion(&mut packet)) {
                return out.drop(packet, Reason::Early);
            }
        }
        self.queue.push(now_ns, packet, frame_bytes);
    }

    fn dequeue(&mut self, now_ns: i64, _: &mut Outbox<P>) -> Option<P> {
        self.catch_up(now_ns);
        let first = self.queue.pop()?;
        self.note_departure(now_ns, &first);
        Some(first.packet)
    }
}

/// A link with a PIE queue.
pub type PieLink<P> = ManagedLink<Pie<P>>;

#[cfg(test)]
mod tests;
