//! A link with two coupled queues, one for low latency and one for all other traffic: DualPI2.
//!
//! Source: RFC 9332, appendix A. Packets with ECT(1) or CE go to the L queue, all others to the C queue (RFC 9331
//! section 5.1). A proportional-integral controller computes a base probability p' from the longer of the two delays.
//! Classic packets are dropped, or marked if they support ECN, with p'^2, because the rate of their congestion controls
//! goes with the square root of that; packets of the L queue are marked with the larger of k p' (the coupling) and what
//! the L queue's own ramp says of its delay. When k p' reaches 1, the queues are overloaded: packets of both are dropped
//! with p'^2. Packets are chosen by adding up the probabilities (`recur` in the RFC), without random numbers.
//!
//! The RFC leaves the scheduler open. Here it is Linux's (`sch_dualpi2`): the L queue goes first, but the C queue gets
//! its share of the bytes while both have packets. Also as there, p' does not exceed 1 / k, which bounds both
//! probabilities (p_Cmax and p_Lmax of the RFC), and a queue with no more than one packet is not marked by its own ramp
//! (Th_len of the RFC).

use inorder_scenario::config as plain;

use super::fifo::Fifo;
use super::managed_link::{Arrival, Discipline, ManagedLink};
use super::ticks::Ticks;
use crate::counters::Reason;
use crate::packet::Packet;
use crate::queue::admits;
use crate::stage::Outbox;
use inorder_scenario::config::Queue as Limit;

/// Computes the base probability.
#[derive(Clone, PartialEq, Debug)]
struct Controller {
    target_s: f64,
    alpha: f64,
    beta: f64,
    coupling: f64,
    /// p'.
    base: f64,
    before_s: f64,
}

impl Controller {
    /// One change, for a delay of `delay_s` now (RFC 9332 appendix A.1, `dualpi2_update`).
    fn update(&mut self, delay_s: f64) {
        let step = self.alpha * (delay_s - self.target_s) + self.beta * (delay_s - self.before_s);
        let most = (1.0 / self.coupling).min(1.0);
        self.base = (self.base + step).clamp(0.0, most);
        self.before_s = delay_s;
    }

    /// p_C.
    fn classic(&self) -> f64 {
        self.base * self.base
    }

    /// p_CL.
    fn coupled(&self) -> f64 {
        self.coupling * self.base
    }

    /// No larger mark is possible, so that packets must be dropped.
    fn is_overloaded(&self) -> bool {
        self.coupled() >= 1.0 || self.base >= 1.0
    }
}

/// One of the two queues.
struct Half<P> {
    queue: Fifo<P>,
    /// Probabilities added up since the last packet that was chosen.
    chosen: f64,
    /// Probabilities of a drop from an overloaded L queue, added up since the last one.
    dropped: f64,
}

impl<P> Half<P> {
    fn new() -> Self {
        Half {
            queue: Fifo::default(),
            chosen: 0.0,
            dropped: 0.0,
        }
    }
}

/// True as often as `likelihood` says, at regular distances (RFC 9332 appendix A.1, `recur`).
fn recur(sum: &mut f64, likelihood: f64) -> bool {
    *sum += likelihood;
    let recurs = *sum > 1.0;
    if recurs {
        *sum -= 1.0;
    }
    recurs
}

/// A DualPI2 queue.
pub struct DualPi2<P> {
    controller: Controller,
    ticks: Ticks,
    low: Half<P>,
    classic: Half<P>,
    ramp_from_ns: i64,
    ramp_range_ns: i64,
    classic_share: f64,
    /// Bytes that the C queue is owed, weighted; it goes first while this is above 0.
    credit: f64,
    limit: Limit,
}

impl<P: Packet> DualPi2<P> {
    /// Empty queues in front of `line`, whose limit holds for both together.
    pub fn new(line: &plain::Line, dual: &plain::DualPi2) -> Self {
        DualPi2 {
            controller: Controller {
                target_s: dual.target_ns as f64 / 1e9,
                alpha: dual.alpha,
                beta: dual.beta,
                coupling: dual.coupling,
                base: 0.0,
                before_s: 0.0,
            },
            ticks: Ticks::every(dual.update_ns),
            low: Half::new(),
            classic: Half::new(),
            ramp_from_ns: dual.ramp_from_ns,
            ramp_range_ns: dual.ramp_range_ns,
            classic_share: dual.classic_share,
            credit: 0.0,
            limit: line.queue(),
        }
    }

    /// Makes the changes of the base probability that are due. The delay is that of the first packet, so it grows from
    /// one change to the next.
    fn catch_up(&mut self, now_ns: i64) {
        while let Some(at_ns) = self.ticks.due(now_ns) {
            let longest_ns = self
                .low
                .queue
                .wait_ns(at_ns)
                .max(self.classic.queue.wait_ns(at_ns));
            let earlier = self.controller.clone();
            self.controller.update(longest_ns as f64 / 1e9);
            if longest_ns == 0 && earlier == self.controller {
                self.ticks.skip(now_ns);
            }
        }
    }

    /// True if the L queue is next.
    fn low_is_next(&self) -> bool {
        self.low.queue.len() > 0 && (self.classic.queue.len() == 0 || self.credit <= 0.0)
    }

    /// A packet of `bytes` leaves the L queue, or the C queue, while the other one has packets.
    fn charge(&mut self, low: bool, bytes: u32) {
        let bytes = f64::from(bytes);
        if low {
            if self.classic.queue.len() > 0 {
                self.credit += self.classic_share * bytes;
            }
        } else if self.low.queue.len() > 0 {
            self.credit -= (1.0 - self.classic_share) * bytes;
        }
    }

    /// What the L queue's own ramp says (RFC 9332 appendix A.1, `laqm`).
    fn ramp(&self, waited_ns: u64) -> f64 {
        let above_ns = i64::try_from(waited_ns).unwrap_or(i64::MAX) - self.ramp_from_ns;
        if above_ns <= 0 || self.low.queue.len() == 0 {
            return 0.0;
        }
        if above_ns >= self.ramp_range_ns {
            return 1.0;
        }
        above_ns as f64 / self.ramp_range_ns as f64
    }

    /// The next packet of the L queue, unless it is dropped.
    fn take_low(&mut self, now_ns: i64, out: &mut Outbox<P>) -> Option<P> {
        let mut first = self.low.queue.pop()?;
        let coupled = self.controller.coupled().min(1.0);
        let mut probability = coupled;
        if self.controller.is_overloaded() {
            if recur(&mut self.low.dropped, self.controller.classic()) {
                out.drop(first.packet, Reason::Early);
                return None;
            }
        } else {
            probability = coupled.max(self.ramp(first.waited_ns(now_ns)));
        }
        if recur(&mut self.low.chosen, probability) {
            out.mark_congestion(&mut first.packet);
        }
        self.charge(true, first.frame_bytes);
        Some(first.packet)
    }

    /// The next packet of the C queue, unless it is dropped.
    fn take_classic(&mut self, out: &mut Outbox<P>) -> Option<P> {
        let mut first = self.classic.queue.pop()?;
        if recur(&mut self.classic.chosen, self.controller.classic()) {
            let marks = !self.controller.is_overloaded();
            if !(marks && out.mark_congestion(&mut first.packet)) {
                out.drop(first.packet, Reason::Early);
                return None;
            }
        }
        self.charge(false, first.frame_bytes);
        Some(first.packet)
    }
}

impl<P: Packet> Discipline<P> for DualPi2<P> {
    fn enqueue(&mut self, now_ns: i64, arrival: Arrival<P>, out: &mut Outbox<P>) {
        let Arrival {
            packet,
            frame_bytes,
            idle,
        } = arrival;
        self.catch_up(now_ns);
        let (low, classic) = (&self.low.queue, &self.classic.queue);
        let packets = low.len() + classic.len();
        let bytes = low.bytes() + classic.bytes();
        if !idle && !admits(self.limit, packets, bytes, frame_bytes) {
            return out.drop(packet, Reason::QueueFull);
        }
        let half = match packet.wants_low_latency() {
            true => &mut self.low,
            false => &mut self.classic,
        };
        half.queue.push(now_ns, packet, frame_bytes);
    }

    fn dequeue(&mut self, now_ns: i64, out: &mut Outbox<P>) -> Option<P> {
        self.catch_up(now_ns);
        while self.low.queue.len() + self.classic.queue.len() > 0 {
            let taken = match self.low_is_next() {
                true => self.take_low(now_ns, out),
                false => self.take_classic(out),
            };
            if taken.is_some() {
                return taken;
            }
        }
        self.credit = 0.0;
        None
    }
}

/// A link with a DualPI2 queue.
pub type DualPi2Link<P> = ManagedLink<DualPi2<P>>;

#[cfg(test)]
mod tests;
