//! A link whose queue limits the delay: CoDel.
//!
//! Source: RFC 8289; marking as in Linux `codel_impl.h`. A queue that becomes empty from time to time is acceptable
//! at any length. A packet is late if it waited for at least the target while more than one packet remained behind
//! it. When packets have been late for a whole interval without a break, the queue drops the packet that is due to
//! leave, and the n-th following one after `interval / sqrt(n)`, until a packet is on time. If the packet's transport
//! supports ECN, it is marked instead.

use inorder_scenario::config as plain;

use super::fifo::Fifo;
use super::managed_link::{Arrival, Discipline, ManagedLink};
use crate::counters::Reason;
use crate::packet::Packet;
use crate::stage::Outbox;
use inorder_scenario::config::Queue as Limit;

/// If two series of drops are further apart than this many intervals, the second starts slowly again.
const MEMORY_INTERVALS: i64 = 16;

/// When to drop: the control law of RFC 8289 section 5, for any queue.
#[derive(Clone, Debug)]
pub(super) struct Law {
    target_ns: i64,
    interval_ns: i64,
    /// Whether packets that can be marked are marked instead of dropped.
    mark: bool,
    /// Packets that leave from this time on have been late for an interval.
    late_until_ns: Option<i64>,
    /// Packets are being dropped; the next one at `next_ns`.
    dropping: bool,
    next_ns: i64,
    /// A packet has just been dropped; if the next packet is also late, the time of the next drop is set.
    dropped: bool,
    /// Number of drops in this series, and at the start of the previous series. The more drops, the shorter the time
    /// between them.
    pub(super) count: u32,
    last_count: u32,
}

impl Law {
    pub(super) fn new(target_ns: i64, interval_ns: i64, mark: bool) -> Self {
        Law {
            target_ns,
            interval_ns: interval_ns.max(1),
            mark,
            late_until_ns: None,
            dropping: false,
            next_ns: 0,
            dropped: false,
            count: 0,
            last_count: 0,
        }
    }

    /// A packet leaves after waiting `sojourn_ns`; `alone` is true if at most one packet waits behind it. Returns
    /// true if it may be dropped.
    fn late(&mut self, now_ns: i64, sojourn_ns: u64, alone: bool) -> bool {
        if sojourn_ns < self.target_ns.max(0).cast_unsigned() || alone {
            self.late_until_ns = None;
            return false;
        }
        let since = self
            .late_until_ns
            .get_or_insert(now_ns.saturating_add(self.interval_ns));
        // The packet that starts the interval cannot end it.
        now_ns >= *since
    }

    /// A packet is on time, or the queue is empty: dropping ends.
    fn stop(&mut self) {
        self.dropping = false;
        self.dropped = false;
    }

    /// The queue is empty.
    fn empty(&mut self) {
        self.late_until_ns = None;
        self.stop();
    }

    /// A packet was marked instead of dropped, and is sent.
    fn marked(&mut self) {
        if std::mem::take(&mut self.dropped) {
            self.next_ns = self.next(self.next_ns);
        }
    }

    /// `interval / sqrt(count)` after `from_ns`.
    fn next(&self, from_ns: i64) -> i64 {
        let step = self.interval_ns as f64 / libm::sqrt(f64::from(self.count.max(1)));
        from_ns.saturating_add(step as i64)
    }

    /// The decision about a packet that leaves now, `late` or not.
    fn decide(&mut self, now_ns: i64, late: bool) -> Verdict {
        if self.dropping {
            if !late {
                self.stop();
                return Verdict::Send;
            }
            if std::mem::take(&mut self.dropped) {
                self.next_ns = self.next(self.next_ns);
            }
            if now_ns < self.next_ns {
                return Verdict::Send;
            }
            self.count = self.count.saturating_add(1);
            self.dropped = true;
            return Verdict::Drop;
        }
        if !late {
            return Verdict::Send;
        }
        self.begin(now_ns);
        Verdict::DropFirst
    }

    /// Starts dropping. If the last series ended only recently, its rate was about right: continue from there.
    fn begin(&mut self, now_ns: i64) {
        self.dropping = true;
        let grown = self.count.saturating_sub(self.last_count);
        let memory = self.interval_ns.saturating_mul(MEMORY_INTERVALS);
        let recent = now_ns.saturating_sub(self.next_ns) < memory;
        self.count = if grown > 1 && recent { grown } else { 1 };
        self.next_ns = self.next(now_ns);
        self.last_count = self.count;
    }
}

/// The decision about a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Send,
    /// Drop it, and decide about the next one.
    Drop,
    /// Drop it; the next one is sent independent of its delay.
    DropFirst,
}

/// A packet that was at the head of a queue.
pub(super) struct Head<P> {
    pub packet: P,
    /// Its waiting time, nanoseconds.
    pub waited_ns: u64,
    /// At most the bytes of one packet wait behind it.
    pub alone: bool,
}

impl Law {
    /// The next packet to send; packets before it are dropped. `head` takes the first packet from the queue.
    pub(super) fn dequeue<P: Packet>(
        &mut self,
        now_ns: i64,
        mut head: impl FnMut() -> Option<Head<P>>,
        out: &mut Outbox<P>,
    ) -> Option<P> {
        loop {
            let Some(mut first) = head() else {
                self.empty();
                return None;
            };
            let late = self.late(now_ns, first.waited_ns, first.alone);
            let verdict = self.decide(now_ns, late);
            if verdict == Verdict::Send {
                return Some(first.packet);
            }
            if self.mark && out.mark_congestion(&mut first.packet) {
                self.marked();
                return Some(first.packet);
            }
            out.drop(first.packet, Reason::QueueDelay);
            if verdict == Verdict::DropFirst {
                let Some(next) = head() else {
                    self.late_until_ns = None;
                    return None;
                };
                self.late(now_ns, next.waited_ns, next.alone);
                return Some(next.packet);
            }
        }
    }
}

/// A CoDel queue.
pub struct Codel<P> {
    law: Law,
    queue: Fifo<P>,
    /// Length of the largest packet so far, bytes: a queue of one packet is not a standing queue.
    largest: u32,
    limit: Limit,
}

impl<P> Codel<P> {
    /// An empty queue in front of `line`, whose limit is only a bound for bursts.
    pub fn new(line: &plain::Line, codel: &plain::Codel) -> Self {
        Codel {
            law: Law::new(codel.target_ns, codel.interval_ns, codel.mark),
            queue: Fifo::default(),
            largest: 0,
            limit: line.queue(),
        }
    }
}

impl<P: Packet> Discipline<P> for Codel<P> {
    fn enqueue(&mut self, now_ns: i64, arrival: Arrival<P>, out: &mut Outbox<P>) {
        let Arrival {
            packet,
            frame_bytes,
            idle,
        } = arrival;
        self.largest = self.largest.max(frame_bytes);
        if !idle && !self.queue.admits(self.limit, frame_bytes) {
            return out.drop(packet, Reason::QueueFull);
        }
        self.queue.push(now_ns, packet, frame_bytes);
    }

    fn dequeue(&mut self, now_ns: i64, out: &mut Outbox<P>) -> Option<P> {
        let (queue, largest) = (&mut self.queue, u64::from(self.largest));
        let head = || {
            let first = queue.pop()?;
            Some(Head {
                waited_ns: first.waited_ns(now_ns),
                alone: queue.bytes() <= largest,
                packet: first.packet,
            })
        };
        self.law.dequeue(now_ns, head, out)
    }
}

/// A link with a CoDel queue.
pub type CodelLink<P> = ManagedLink<Codel<P>>;

#[cfg(test)]
mod tests;
