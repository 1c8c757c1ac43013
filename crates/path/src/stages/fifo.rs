//! A queue that gives packets back in the order in which they came, and knows its bytes and their waiting times.

use std::collections::VecDeque;

use crate::queue::admits;
use crate::time::elapsed;
use inorder_scenario::config::Queue as Limit;

/// A waiting packet.
pub(super) struct Waiting<P> {
    /// Time of arrival, nanoseconds.
    pub came_ns: i64,
    /// Its bytes on the wire.
    pub frame_bytes: u32,
    pub packet: P,
}

impl<P> Waiting<P> {
    /// How long it has been waiting, nanoseconds.
    pub(super) fn waited_ns(&self, now_ns: i64) -> u64 {
        elapsed(now_ns, self.came_ns)
    }
}

/// Packets in the order of their arrival.
pub(super) struct Fifo<P> {
    packets: VecDeque<Waiting<P>>,
    bytes: u64,
}

impl<P> Default for Fifo<P> {
    fn default() -> Self {
        Fifo {
            packets: VecDeque::new(),
            bytes: 0,
        }
    }
}

impl<P> Fifo<P> {
    /// Number of packets.
    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    /// Bytes of all packets on the wire.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// True if `limit` lets a packet of `frame_bytes` in.
    pub(super) fn admits(&self, limit: Limit, frame_bytes: u32) -> bool {
        admits(limit, self.packets.len(), self.bytes, frame_bytes)
    }

    /// Adds a packet at the end.
    pub(super) fn push(&mut self, now_ns: i64, packet: P, frame_bytes: u32) {
        self.bytes += u64::from(frame_bytes);
        self.packets.push_back(Waiting {
            came_ns: now_ns,
            frame_bytes,
            packet,
        });
    }

    /// Takes out the first packet.
    pub(super) fn pop(&mut self) -> Option<Waiting<P>> {
        let first = self.packets.pop_front()?;
        self.bytes -= u64::from(first.frame_bytes);
        Some(first)
    }

    /// How long the first packet has been waiting, nanoseconds; 0 without a packet.
    pub(super) fn wait_ns(&self, now_ns: i64) -> u64 {
        let first = self.packets.front();
        first.map_or(0, |first| first.waited_ns(now_ns))
    }
}
