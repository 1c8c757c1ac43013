//! A link whose queue gives flows equal shares and limits the delay of each: FQ-CoDel.
//!
//! Source: RFC 8290; details that it leaves open as in Linux `sch_fq_codel.c`, the default of most Linux
//! distributions. Flows are hashed into queues. Each queue may send a quantum of bytes before the next queue's turn.
//! A queue that was empty comes before those that were not, so that sparse flows do not wait for bulk flows. Each
//! queue is controlled by CoDel. If all queues together hold too many packets, the one with the most bytes loses half
//! of them, at most 64 packets, from its head.

use std::collections::VecDeque;

use inorder_base::random::Random;
use inorder_scenario::config as plain;
use inorder_sort::FlowKey;

use super::codel::{Head, Law};
use super::fifo::Fifo;
use super::managed_link::{Arrival, Discipline, ManagedLink};
use crate::counters::Reason;
use crate::packet::Packet;
use crate::queue::admits;
use crate::stage::Outbox;
use inorder_scenario::config::Queue as Limit;

/// Maximum number of packets that a queue loses at once if there is no room (`drop_batch_size` in Linux).
const MAX_DROPPED_AT_ONCE: u32 = 64;

/// The packets of all flows with the same hash.
struct Queue<P> {
    law: Law,
    packets: Fifo<P>,
    /// Bytes it may still send in this turn; if negative, they are subtracted from the next turn.
    deficit: i64,
    /// True if it is in one of the two lists.
    listed: bool,
}

/// An FQ-CoDel queue.
pub struct FqCodel<P> {
    queues: Vec<Queue<P>>,
    /// Queues that have packets again after being empty, and queues that had their turn; by index in `queues`.
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    quantum: i64,
    /// Key of the hash, so that collisions differ from run to run.
    hash_seed: u64,
    limit: Limit,
    packets: usize,
    bytes: u64,
    /// Bytes of the largest packet so far.
    largest: u32,
}

impl<P: Packet> FqCodel<P> {
    /// Empty queues in front of `line`, whose limit is that of all together; flows are hashed with a number from `random`,
    /// the stream of this stage.
    pub fn new(line: &plain::Line, fair: &plain::FqCodel, mut random: Random) -> Self {
        let law = Law::new(fair.target_ns, fair.interval_ns, fair.mark);
        let queue = || Queue {
            law: law.clone(),
            packets: Fifo::default(),
            deficit: 0,
            listed: false,
        };
        FqCodel {
            queues: (0..fair.queues.max(1)).map(|_| queue()).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            quantum: i64::from(fair.quantum_bytes.max(1)),
            hash_seed: random.next_u64(),
            limit: line.queue(),
            packets: 0,
            bytes: 0,
            largest: 0,
        }
    }

    fn queue_of(&self, packet: &P) -> usize {
        let hash = packet.flow().hash64(self.hash_seed);
        (hash % self.queues.len() as u64) as usize
    }

    /// Makes room: the queue with the most bytes loses packets from its head, because the loss of an early packet
    /// informs its flow soonest (RFC 8290 section 4.1).
    fn drop_from_the_longest(&mut self, out: &mut Outbox<P>) {
        let longest = self
            .queues
            .iter_mut()
            .max_by_key(|queue| queue.packets.bytes());
        let Some(queue) = longest else { return };
        let enough = queue.packets.bytes() / 2;
        for _ in 0..MAX_DROPPED_AT_ONCE {
            let Some(first) = queue.packets.pop() else {
                return;
            };
            self.bytes -= u64::from(first.frame_bytes);
            self.packets -= 1;
            // As in Linux: CoDel then also drops faster.
            queue.law.count = queue.law.count.saturating_add(1);
            out.drop(first.packet, Reason::QueueFull);
            if queue.packets.bytes() <= enough {
                return;
            }
        }
    }

    /// The queue whose turn it is, and whether it is a new one.
    fn turn(&self) -> Option<(usize, bool)> {
        let new = self.new.front().map(|&at| (at, true));
        new.or_else(|| self.old.front().map(|&at| (at, false)))
    }

    /// Ends the turn of the queue at the head of its list.
    fn end_turn(&mut self, new: bool) -> Option<usize> {
        match new {
            true => self.new.pop_front(),
            false => self.old.pop_front(),
        }
    }

    /// The packet that CoDel allows the queue to send.
    fn take(&mut self, at: usize, now_ns: i64, out: &mut Outbox<P>) -> Option<P> {
        let queue = self.queues.get_mut(at)?;
        let (waiting, all) = (&mut queue.packets, &mut self.bytes);
        let (packets, deficit) = (&mut self.packets, &mut queue.deficit);
        let mut last = 0;
        let head = || {
            let first = waiting.pop()?;
            last = first.frame_bytes;
            *all -= u64::from(last);
            *packets -= 1;
            Some(Head {
                waited_ns: first.waited_ns(now_ns),
                // As in Linux: the bytes of all queues together.
                alone: *all <= u64::from(self.largest),
                packet: first.packet,
            })
        };
        let packet = queue.law.dequeue(now_ns, head, out)?;
        *deficit -= i64::from(last);
        Some(packet)
    }
}

impl<P: Packet> Discipline<P> for FqCodel<P> {
    fn enqueue(&mut self, now_ns: i64, arrival: Arrival<P>, out: &mut Outbox<P>) {
        let Arrival {
            packet,
            frame_bytes,
            idle,
        } = arrival;
        self.largest = self.largest.max(frame_bytes);
        let full = !idle && !admits(self.limit, self.packets, self.bytes, frame_bytes);
        let at = self.queue_of(&packet);
        let Some(queue) = self.queues.get_mut(at) else {
            return out.drop(packet, Reason::QueueFull);
        };
        queue.packets.push(now_ns, packet, frame_bytes);
        self.bytes += u64::from(frame_bytes);
        self.packets += 1;
        if !std::mem::replace(&mut queue.listed, true) {
            queue.deficit = self.quantum;
            self.new.push_back(at);
        }
        if full {
            self.drop_from_the_longest(out);
        }
    }

    fn dequeue(&mut self, now_ns: i64, out: &mut Outbox<P>) -> Option<P> {
        loop {
            let (at, new) = self.turn()?;
            let queue = self.queues.get_mut(at)?;
            if queue.deficit <= 0 {
                queue.deficit += self.quantum;
                self.end_turn(new);
                self.old.push_back(at);
                continue;
            }
            if let Some(packet) = self.take(at, now_ns, out) {
                return Some(packet);
            }
            self.end_turn(new);
            // A new queue that becomes empty is appended to the old ones once, so that a flow cannot always be first
            // by sending one packet at a time (RFC 8290 section 4.2).
            if new && !self.old.is_empty() {
                self.old.push_back(at);
            } else if let Some(queue) = self.queues.get_mut(at) {
                queue.listed = false;
            }
        }
    }
}

/// A link with an FQ-CoDel queue.
pub type FqCodelLink<P> = ManagedLink<FqCodel<P>>;

#[cfg(test)]
mod tests;
