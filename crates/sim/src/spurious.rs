//! The truth about retransmissions: which ones are spurious.

use std::collections::BTreeMap;

use crate::ranges::Ranges;

/// Decides which retransmissions of one direction are spurious and which are needed.
///
/// A retransmission is spurious if earlier transmissions of all its bytes arrive, at any time, and the receiver does
/// not refuse them. Most are decided when they are sent, because the receiver already has the bytes; others when the
/// late original arrives. Retransmissions that remain undecided were needed.
#[derive(Clone, Default, Debug)]
pub(crate) struct Spurious {
    arrived: Ranges,
    /// Undecided retransmissions, by first byte and transmission number.
    open: BTreeMap<(u64, u32), Open>,
    /// No undecided retransmission reaches beyond this byte.
    reach: u64,
    count: u64,
    /// The spurious ones, if somebody wants to know.
    known: Option<Vec<u32>>,
}

#[derive(Clone, Debug)]
struct Open {
    sent_ns: i64,
    end: u64,
    /// Bytes for which an earlier transmission has arrived.
    arrived: Ranges,
}

/// An earlier transmission that has not arrived after this time never will, nanoseconds.
const GIVE_UP_NS: i64 = 30_000_000_000;
/// With more undecided retransmissions than this, old ones are given up.
const MAX_UNDECIDED: usize = 4096;
/// Maximum length of a segment, bytes.
const MAX_SEGMENT_BYTES: u64 = 1 << 16;

impl Spurious {
    /// The bytes `start..end` are retransmitted as transmission `id`.
    pub(crate) fn sent_again(&mut self, now_ns: i64, id: u32, start: u64, end: u64) {
        if self.arrived.holds(start, end) {
            self.found(id);
            return;
        }
        if self.open.len() >= MAX_UNDECIDED && self.open.len().is_power_of_two() {
            self.open
                .retain(|_, open| open.sent_ns.saturating_add(GIVE_UP_NS) >= now_ns);
        }
        let open = Open {
            sent_ns: now_ns,
            end,
            arrived: self.arrived.within(start, end),
        };
        self.reach = self.reach.max(end);
        self.open.insert((start, id), open);
    }

    /// Transmission `id` of `start..end` arrives and is not refused.
    #[inline]
    pub(crate) fn arrives(&mut self, id: u32, start: u64, end: u64) {
        self.arrived.add(start, end);
        if start < self.reach && !self.open.is_empty() {
            self.decide(id, start, end);
        }
    }

    #[inline(never)]
    fn decide(&mut self, id: u32, start: u64, end: u64) {
        let nearby = (start.saturating_sub(MAX_SEGMENT_BYTES), 0)..(end, 0);
        let mut spurious = Vec::new();
        for (key, open) in self.open.range_mut(nearby) {
            if id < key.1 && start < open.end {
                open.arrived.add(start, end);
                if open.arrived.holds(key.0, open.end) {
                    spurious.push(*key);
                }
            }
        }
        for key in spurious {
            self.open.remove(&key);
            self.found(key.1);
        }
    }

    fn found(&mut self, id: u32) {
        self.count += 1;
        self.known.iter_mut().for_each(|known| known.push(id));
    }

    /// The same, and remembers which transmissions are spurious.
    pub(crate) fn remembering() -> Self {
        Spurious {
            known: Some(Vec::new()),
            ..Spurious::default()
        }
    }

    /// The spurious transmissions, in no order.
    pub(crate) fn known(&self) -> &[u32] {
        self.known.as_deref().unwrap_or_default()
    }

    /// Number of spurious retransmissions so far.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spurious_if_an_earlier_transmission_arrives_at_any_time() {
        let mut truth = Spurious::default();
        truth.arrives(0, 0, 10);
        truth.sent_again(1, 5, 0, 10); // The receiver already has it.
        assert_eq!(truth.count(), 1);
        truth.sent_again(2, 6, 10, 20); // Its original is late,
        truth.arrives(2, 20, 30);
        assert_eq!(truth.count(), 1);
        truth.arrives(1, 10, 20); // and arrives here.
        assert_eq!(truth.count(), 2);
        truth.sent_again(3, 7, 30, 40); // Its original is lost: only the retransmission arrives.
        truth.arrives(7, 30, 40);
        assert_eq!(truth.count(), 2);
        truth.sent_again(4, 8, 30, 40); // This one is spurious again.
        assert_eq!(truth.count(), 3);
    }

    #[test]
    fn a_retransmission_is_spurious_only_if_all_its_bytes_arrived() {
        let mut truth = Spurious::default();
        truth.sent_again(0, 9, 0, 20);
        truth.arrives(1, 10, 20);
        assert_eq!(truth.count(), 0);
        truth.arrives(0, 0, 10);
        assert_eq!(truth.count(), 1);
    }
}
