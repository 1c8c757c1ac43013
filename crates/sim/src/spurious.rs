//! The truth about retransmissions: which were spurious.

use std::collections::BTreeMap;

use crate::ranges::Ranges;

/// Tells spurious retransmissions of one direction from needed ones.
///
/// A retransmission is spurious if earlier transmissions of all its bytes arrive, at any time, and the receiver
/// does not refuse them.
/// Most are decided when they are sent, because the receiver already has the bytes; others when the
/// late original arrives. What is not decided by then was needed.
#[derive(Clone, Default, Debug)]
pub struct Spurious {
    arrived: Ranges,
    /// Not known to be spurious yet, by first byte and transmission.
    open: BTreeMap<(u64, u32), Open>,
    /// No open one reaches beyond.
    reach: u64,
    count: u64,
}

#[derive(Clone, Debug)]
struct Open {
    sent_ns: i64,
    end: u64,
    /// Bytes that earlier transmissions have brought.
    arrived: Ranges,
}

/// What has not arrived by then never will.
const GIVE_UP_NS: i64 = 30_000_000_000;
/// With so many open, old ones are given up.
const CROWDED: usize = 4096;
/// No segment is longer.
const LONGEST: u64 = 1 << 16;

impl Spurious {
    /// Bytes `start..end` are sent again, as transmission `id`.
    pub fn sent_again(&mut self, now_ns: i64, id: u32, start: u64, end: u64) {
        if self.arrived.holds(start, end) {
            self.count += 1;
            return;
        }
        if self.open.len() >= CROWDED && self.open.len().is_power_of_two() {
            self.open
                .retain(|_, open| open.sent_ns.saturating_add(GIVE_UP_NS) >= now_ns);
        }
        let open = Open {
            sent_ns: now_ns,
            end,
            arrived: self.arrived.clone(),
        };
        self.reach = self.reach.max(end);
        self.open.insert((start, id), open);
    }

    /// Transmission `id` of `start..end` arrives and is not refused.
    #[inline]
    pub fn arrives(&mut self, id: u32, start: u64, end: u64) {
        self.arrived.add(start, end);
        if start < self.reach && !self.open.is_empty() {
            self.decide(id, start, end);
        }
    }

    #[inline(never)]
    fn decide(&mut self, id: u32, start: u64, end: u64) {
        let nearby = (start.saturating_sub(LONGEST), 0)..(end, 0);
        let mut needless = Vec::new();
        for (key, open) in self.open.range_mut(nearby) {
            if id < key.1 && start < open.end {
                open.arrived.add(start, end);
                if open.arrived.holds(key.0, open.end) {
                    needless.push(*key);
                }
            }
        }
        for key in needless {
            self.open.remove(&key);
            self.count += 1;
        }
    }

    /// Needless ones so far.
    pub fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needless_if_earlier_copies_arrive_whenever() {
        let mut truth = Spurious::default();
        truth.arrives(0, 0, 10);
        truth.sent_again(1, 5, 0, 10); // the receiver has it
        assert_eq!(truth.count(), 1);
        truth.sent_again(2, 6, 10, 20); // its original is late ...
        truth.arrives(2, 20, 30);
        assert_eq!(truth.count(), 1);
        truth.arrives(1, 10, 20); // ... and arrives
        assert_eq!(truth.count(), 2);
        truth.sent_again(3, 7, 30, 40); // its original is lost: only the copy arrives
        truth.arrives(7, 30, 40);
        assert_eq!(truth.count(), 2);
        truth.sent_again(4, 8, 30, 40); // but this one is needless again
        assert_eq!(truth.count(), 3);
    }

    #[test]
    fn all_its_bytes_count() {
        let mut truth = Spurious::default();
        truth.sent_again(0, 9, 0, 20);
        truth.arrives(1, 10, 20);
        assert_eq!(truth.count(), 0);
        truth.arrives(0, 0, 10);
        assert_eq!(truth.count(), 1);
    }
}
