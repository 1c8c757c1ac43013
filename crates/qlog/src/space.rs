//! Packets of one packet number space: sent, declared lost, acknowledged.

use std::collections::{BTreeMap, BTreeSet};

use crate::result::Trigger;

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) at_ns: i64,
    pub(crate) bytes: u64,
    pub(crate) lost: Option<Lost>,
    pub(crate) acked: Option<Acked>,
}

/// The first time it was declared lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lost {
    pub(crate) at_ns: i64,
    pub(crate) trigger: Trigger,
}

/// The acknowledgement that first contained it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acked {
    pub(crate) at_ns: i64,
    /// Highest number acknowledged before, `None` if this was the first acknowledgement.
    pub(crate) largest_before: Option<u64>,
    /// The greater of the smoothed and the latest round trip at that time, nanoseconds; 0 if the log has not said.
    pub(crate) rtt_ns: i64,
}

/// One space.
#[derive(Clone, Default, Debug)]
pub(crate) struct Space {
    pub(crate) sent: BTreeMap<u64, Sent>,
    /// Numbers that were sent and not acknowledged yet.
    open: BTreeSet<u64>,
    /// Of these, numbers in flight that were not declared lost either.
    waiting: BTreeSet<u64>,
    pub(crate) largest_acked: Option<u64>,
    /// Numbers received from the other end, with their times and sizes, in the order of arrival.
    pub(crate) received: Vec<(u64, i64, u64)>,
    /// Losses declared of packets whose sending the log lacks.
    pub(crate) unknown: u64,
}

impl Space {
    /// A packet goes out; in flight unless it only acknowledges, because such packets are never declared lost (RFC 9002
    /// section 2).
    pub(crate) fn sent(&mut self, number: u64, at_ns: i64, bytes: u64, in_flight: bool) {
        let packet = Sent {
            at_ns,
            bytes,
            lost: None,
            acked: None,
        };
        if self.sent.insert(number, packet).is_none() {
            self.open.insert(number);
            if in_flight {
                self.waiting.insert(number);
            }
        }
    }

    /// The packets that loss detection takes for lost next: the oldest in flight below the highest acknowledged one. Both
    /// thresholds of RFC 9002 section 6.1 take the oldest first.
    pub(crate) fn next_lost(&self) -> impl Iterator<Item = (u64, i64)> {
        let below = self.largest_acked.unwrap_or(0);
        let waiting = self.waiting.range(..below);
        waiting.filter_map(|number| Some((*number, self.sent.get(number)?.at_ns)))
    }

    /// A packet is declared lost; the packet, if it had been sent and was not declared before.
    pub(crate) fn lost(&mut self, number: u64, at_ns: i64, trigger: Trigger) -> Option<Sent> {
        let Some(packet) = self.sent.get_mut(&number) else {
            self.unknown += 1;
            return None;
        };
        if packet.lost.is_some() {
            return None;
        }
        packet.lost = Some(Lost { at_ns, trigger });
        self.waiting.remove(&number);
        Some(*packet)
    }

    /// An acknowledgement of these ranges arrives.
    pub(crate) fn acked(&mut self, ranges: &[(u64, u64)], at_ns: i64, rtt_ns: i64) {
        let acked = Acked {
            at_ns,
            largest_before: self.largest_acked,
            rtt_ns,
        };
        for &(first, last) in ranges {
            let covered: Vec<u64> = self.open.range(first..=last).copied().collect();
            for number in covered {
                self.open.remove(&number);
                self.waiting.remove(&number);
                if let Some(packet) = self.sent.get_mut(&number) {
                    packet.acked = Some(acked);
                    // An acknowledgement of what was never sent says nothing.
                    self.largest_acked = self.largest_acked.max(Some(number));
                }
            }
        }
    }
}
