//! A link whose queue keeps the delay down: CoDel.
//!
//! Source: RFC 8289; marking as in Linux `codel_impl.h`. A queue that empties now and then is a good queue, whatever its
//! length. A packet is late if it has waited for the target or longer while more than a packet stayed behind it. Once
//! packets have been late for an interval without a break, the queue drops the one that is due to leave, and the next
//! after `interval / sqrt(n)` for the n-th, until one is on time. A packet whose transport hears marks is marked instead.

use std::collections::VecDeque;

use super::link::LinkConfig;
use super::managed_link::{Discipline, ManagedLink};
use crate::counters::Reason;
use crate::packet::Packet;
use crate::queue::Limit;
use crate::stage::Outbox;
use crate::time::elapsed;

/// Settings of a [`CodelLink`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CodelConfig {
    /// The link; what its queue holds at most is a bound for bursts, not the control.
    pub link: LinkConfig,
    /// The delay that is acceptable, nanoseconds; 5 ms in RFC 8289.
    pub target_ns: i64,
    /// The longest usual round-trip time, nanoseconds; 100 ms in RFC 8289.
    pub interval_ns: i64,
    /// Packets that can be marked are not dropped.
    pub mark: bool,
}

impl CodelConfig {
    /// The defaults of RFC 8289 section 4.3.
    pub fn new(link: LinkConfig) -> Self {
        CodelConfig {
            link,
            target_ns: 5_000_000,
            interval_ns: 100_000_000,
            mark: true,
        }
    }
}

/// Drops in a row are further apart than this many intervals: the next ones begin slowly again.
const MEMORY_INTERVALS: i64 = 16;

/// When to drop: the control law of RFC 8289 section 5, for whatever queue.
#[derive(Clone, Debug)]
pub(super) struct Law {
    target_ns: i64,
    interval_ns: i64,
    /// Packets that can be marked are not dropped.
    mark: bool,
    /// Packets that leave from then on have been late for an interval.
    late_until_ns: Option<i64>,
    /// Packets are being dropped; the next at `next_ns`.
    dropping: bool,
    next_ns: i64,
    /// One has just been dropped; if the packet after it is late as well, the next time is set.
    dropped: bool,
    /// Drops since that began, and how many there were when the last one began. The more, the closer drops follow
    /// each other.
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

    /// A packet leaves that has waited `sojourn_ns`; `alone` if at most one more packet's worth waits behind it. True
    /// if it may be dropped.
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

    /// A packet is on time, or none is left: no more is dropped.
    fn stop(&mut self) {
        self.dropping = false;
        self.dropped = false;
    }

    /// The queue is empty.
    fn empty(&mut self) {
        self.late_until_ns = None;
        self.stop();
    }

    /// A packet was marked in place of being dropped, and is sent.
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

    /// What becomes of a packet that leaves now, `late` or not.
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

    /// Dropping begins. If it ended only just now, its rate was about right: begin where it stood.
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

/// What becomes of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Send,
    /// Drop it, and ask about the next one.
    Drop,
    /// Drop it; the next one is sent whatever its delay.
    DropFirst,
}

/// A packet that was at the head of a queue.
pub(super) struct Head<P> {
    pub packet: P,
    /// How long it waited, nanoseconds.
    pub waited_ns: u64,
    /// At most one more packet's worth of bytes waits behind it.
    pub alone: bool,
}

impl Law {
    /// The packet that leaves next, after those that are dropped. `head` takes the first packet out of the queue.
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
            if self.mark && first.packet.mark_congestion() {
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

/// A packet that waits.
pub(super) struct Waiting<P> {
    pub came_ns: i64,
    pub frame_bytes: u32,
    pub packet: P,
}

/// A CoDel queue.
pub struct Codel<P> {
    law: Law,
    queue: VecDeque<Waiting<P>>,
    bytes: u64,
    /// Bytes of the largest packet so far: a queue of one packet is no standing queue.
    largest: u32,
    limit: Limit,
}

impl<P: Packet> Discipline<P> for Codel<P> {
    fn enqueue(
        &mut self,
        now_ns: i64,
        packet: P,
        frame_bytes: u32,
        idle: bool,
        out: &mut Outbox<P>,
    ) {
        self.largest = self.largest.max(frame_bytes);
        if !idle && !self.limit.admits(self.queue.len(), self.bytes, frame_bytes) {
            return out.drop(packet, Reason::QueueFull);
        }
        self.bytes += u64::from(frame_bytes);
        self.queue.push_back(Waiting {
            came_ns: now_ns,
            frame_bytes,
            packet,
        });
    }

    fn dequeue(&mut self, now_ns: i64, out: &mut Outbox<P>) -> Option<P> {
        let (queue, bytes) = (&mut self.queue, &mut self.bytes);
        let head = || {
            let first = queue.pop_front()?;
            *bytes -= u64::from(first.frame_bytes);
            Some(Head {
                waited_ns: elapsed(now_ns, first.came_ns),
                alone: *bytes <= u64::from(self.largest),
                packet: first.packet,
            })
        };
        self.law.dequeue(now_ns, head, out)
    }
}

/// A link with a CoDel queue.
pub type CodelLink<P> = ManagedLink<Codel<P>>;

impl<P: Packet> CodelLink<P> {
    /// An idle link.
    pub fn new(config: &CodelConfig) -> Self {
        let link = &config.link;
        let queue = Codel {
            law: Law::new(config.target_ns, config.interval_ns, config.mark),
            queue: VecDeque::new(),
            bytes: 0,
            largest: 0,
            limit: link.queue.resolve(link.rate.at(0)),
        };
        ManagedLink::with_queue(queue, &link.rate, link.propagation_ns, link.framing)
    }
}

#[cfg(test)]
mod tests;
