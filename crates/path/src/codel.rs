//! A link whose queue keeps the delay down: CoDel.
//!
//! Source: RFC 8289; marking as in Linux `codel_impl.h`. A queue that empties now and then is a good queue, whatever its
//! length. A packet is late if it has waited for the target or longer while more than a packet stayed behind it. Once
//! packets have been late for an interval without a break, the queue drops the one that is due to leave, and the next
//! after `interval / sqrt(n)` for the n-th, until one is on time. A packet whose transport hears marks is marked instead.

use std::collections::VecDeque;

use crate::counters::Reason;
use crate::link::{Framing, LinkConfig};
use crate::packet::Packet;
use crate::queue::Limit;
use crate::rate::Server;
use crate::stage::{Outbox, Stage};
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

/// When to drop: the control law of RFC 8289 section 5, without the queue.
#[derive(Clone, Debug)]
struct Law {
    target_ns: i64,
    interval_ns: i64,
    /// Packets that leave from then on have been late for an interval.
    late_until_ns: Option<i64>,
    /// Packets are being dropped; the next at `next_ns`.
    dropping: bool,
    next_ns: i64,
    /// One has just been dropped; if the packet after it is late as well, the next time is set.
    dropped: bool,
    /// Drops since that began, and how many there were when the last one began.
    count: u32,
    last_count: u32,
}

impl Law {
    fn new(config: &CodelConfig) -> Self {
        Law {
            target_ns: config.target_ns,
            interval_ns: config.interval_ns.max(1),
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

/// A link with a CoDel queue.
pub struct CodelLink<P> {
    law: Law,
    mark: bool,
    /// Packets that wait, with the time they came.
    queue: VecDeque<(i64, P)>,
    bytes: u64,
    /// The largest packet so far: a queue of one packet is no queue.
    largest: u32,
    limit: Limit,
    server: Server,
    propagation_ns: i64,
    framing: Framing,
    /// The packet being sent is out.
    free_ns: Option<i64>,
}

impl<P: Packet> CodelLink<P> {
    /// An idle link.
    pub fn new(config: &CodelConfig) -> Self {
        let link = &config.link;
        CodelLink {
            law: Law::new(config),
            mark: config.mark,
            queue: VecDeque::new(),
            bytes: 0,
            largest: 0,
            limit: link.queue.resolve(link.rate.at(0)),
            server: Server::new(&link.rate),
            propagation_ns: link.propagation_ns,
            framing: link.framing,
            free_ns: None,
        }
    }

    fn frame_bytes(&self, packet: &P) -> u32 {
        self.framing.frame_bytes(packet.wire_bytes())
    }

    fn admits(&self, frame: u32) -> bool {
        self.limit.admits(self.queue.len(), self.bytes, frame)
    }

    /// The packet at the head, and whether it is late.
    fn take(&mut self, now_ns: i64) -> Option<(P, bool)> {
        let (came_ns, packet) = self.queue.pop_front()?;
        self.bytes -= u64::from(self.frame_bytes(&packet));
        let alone = self.bytes <= u64::from(self.largest);
        let late = self.law.late(now_ns, elapsed(now_ns, came_ns), alone);
        Some((packet, late))
    }

    /// The packet that leaves next, after those that are dropped.
    fn dequeue(&mut self, now_ns: i64, out: &mut Outbox<P>) -> Option<P> {
        loop {
            let Some((mut packet, late)) = self.take(now_ns) else {
                self.law.empty();
                return None;
            };
            let verdict = self.law.decide(now_ns, late);
            if verdict == Verdict::Send {
                return Some(packet);
            }
            if self.mark && packet.mark_congestion() {
                self.law.marked();
                return Some(packet);
            }
            out.drop(packet, Reason::QueueDelay);
            if verdict == Verdict::DropFirst {
                let Some((packet, _)) = self.take(now_ns) else {
                    self.law.late_until_ns = None;
                    return None;
                };
                return Some(packet);
            }
        }
    }

    /// The link is free: sends the next packet, if any.
    fn serve(&mut self, now_ns: i64, out: &mut Outbox<P>) {
        self.free_ns = None;
        while let Some(packet) = self.dequeue(now_ns, out) {
            if self.send(now_ns, packet, out) {
                return;
            }
        }
    }

    fn send(&mut self, now_ns: i64, packet: P, out: &mut Outbox<P>) -> bool {
        let service = self.server.serve(now_ns, self.frame_bytes(&packet));
        let arrives = service.and_then(|s| s.end_ns.checked_add(self.propagation_ns));
        let (Some(service), Some(at_ns)) = (service, arrives) else {
            out.drop(packet, Reason::NoService);
            return false;
        };
        out.send(at_ns, packet);
        self.free_ns = Some(service.end_ns);
        true
    }
}

impl<P: Packet> Stage<P> for CodelLink<P> {
    fn push(&mut self, now_ns: i64, packet: P, out: &mut Outbox<P>) {
        // At this very moment the link may have become free.
        self.wake(now_ns, out);
        let frame = self.frame_bytes(&packet);
        self.largest = self.largest.max(frame);
        if self.free_ns.is_none() {
            // It does not wait: the queue is empty, and was so when it came.
            self.law.empty();
            self.send(now_ns, packet, out);
        } else if self.admits(frame) {
            self.bytes += u64::from(frame);
            self.queue.push_back((now_ns, packet));
        } else {
            out.drop(packet, Reason::QueueFull);
        }
    }

    fn next_wake_ns(&self) -> Option<i64> {
        self.free_ns
    }

    fn wake(&mut self, now_ns: i64, out: &mut Outbox<P>) {
        if self.free_ns.is_some_and(|free_ns| free_ns <= now_ns) {
            self.serve(now_ns, out);
        }
    }

    fn keeps_order(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
