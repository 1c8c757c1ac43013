//! What is computed for every flow besides SRPIC: no sorter, and the resequencer, which learns its hold itself.
//!
//! Neither delays data in order, so nothing is simulated with them until the order of a flow breaks for the first time. Until
//! then the packets are counted, and in most flows that is all.

use std::sync::OnceLock;

use inorder_sort::{SorterConfig, none, resequence};

use crate::DataArrival;
use crate::WhatIf;
use crate::named::NamedReceivers;

/// Packets that the resequencer has places for; a flow gets half of them, which is 3 ms at 1 Gbit/s. Every flow that
/// is out of order takes about 60 kB for it.
pub(crate) const WINDOW: u64 = 512;

/// One flow at a receiver without a sorter and at one with the resequencer, both without interrupt coalescing.
#[derive(Debug)]
pub struct UsualReceivers {
    /// Round trip between receiver and sender, if the capture shows one, nanoseconds.
    rtt_ns: Option<i64>,
    /// Packets before the first break in the order, and where the next begins.
    in_order: u64,
    next: i64,
    laid: Option<Box<NamedReceivers>>,
}

heap!(UsualReceivers: laid);

fn sorters() -> [SorterConfig; 2] {
    let resequencer = SorterConfig::of(&resequence::ENTRY).with(&resequence::WINDOW, WINDOW);
    [SorterConfig::of(&none::ENTRY), resequencer]
}

impl UsualReceivers {
    /// A receiver whose path has this round trip, nanoseconds, if it is known.
    pub fn new(rtt_ns: Option<i64>) -> Self {
        UsualReceivers {
            rtt_ns,
            in_order: 0,
            next: 0,
            laid: None,
        }
    }

    /// The next arrival continues what has come. False: it must be pushed.
    #[inline]
    pub fn continues(&mut self, offset: i64, len: u32) -> bool {
        let is_next = self.laid.is_none() && (offset == self.next || self.in_order == 0);
        if is_next {
            self.in_order += 1;
            self.next = offset + i64::from(len);
        }
        is_next
    }

    /// The next arrival; `una` is what the receiver has acknowledged so far, if known.
    #[inline(never)]
    pub fn push(&mut self, arrival: &DataArrival, una: i64) {
        if !arrival.retransmission && self.continues(arrival.offset, arrival.len) {
            return;
        }
        let (in_order, next) = (self.in_order, self.next);
        let laid = self.laid.get_or_insert_with(|| {
            let mut laid = NamedReceivers::new(&sorters(), &[0]);
            laid.continue_after(in_order, (next, next), arrival.ts_ns, self.rtt_ns);
            Box::new(laid)
        });
        laid.push(arrival, una);
    }

    /// A result for no sorter and one for the resequencer.
    pub fn finish(self) -> Vec<WhatIf> {
        match self.laid {
            Some(laid) => laid.finish(),
            None => in_order(self.in_order > 0),
        }
    }
}

/// The result of every flow that was never out of order, with packets or without any: nothing waits and nothing is saved.
fn in_order(any: bool) -> Vec<WhatIf> {
    static RESULTS: [OnceLock<Vec<WhatIf>>; 2] = [const { OnceLock::new() }; 2];
    let simulate = || {
        let mut receivers = NamedReceivers::new(&sorters(), &[0]);
        receivers.continue_after(u64::from(any), (0, 0), 0, None);
        receivers.finish()
    };
    RESULTS[usize::from(any)].get_or_init(simulate).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// Segments of 100 bytes, (milliseconds, number), at a receiver 40 ms from its sender.
    fn rows(arrivals: &[(i64, i64)]) -> Vec<WhatIf> {
        let mut receivers = UsualReceivers::new(Some(40 * MS));
        for &(ms, number) in arrivals {
            let arrival = DataArrival {
                ts_ns: ms * MS,
                offset: number * 100,
                len: 100,
                retransmission: false,
                suitable: true,
            };
            receivers.push(&arrival, i64::MIN);
        }
        receivers.finish()
    }

    #[test]
    fn a_flow_in_order_has_no_delay_and_nothing_to_save() {
        for row in rows(&[(0, 0), (1, 1), (2, 2)]) {
            assert_eq!((row.reordered, row.max_added_delay_ns), (0, 0));
            assert_eq!(row.p99_added_delay_ns, Some(0));
        }
    }

    #[test]
    fn a_late_packet_is_waited_for_and_the_others_are_not_delayed() {
        // 98 in order, then 99 comes 2 ms after 98's successor's successor.
        let mut arrivals: Vec<(i64, i64)> = (0..99).map(|n| (n, n)).collect();
        arrivals.extend([(100, 100), (102, 99)]);
        let rows = rows(&arrivals);
        let [none, resequencer] = rows.as_slice() else {
            panic!("{rows:?}");
        };
        assert_eq!((none.name().as_str(), none.reordered), ("none", 1));
        assert_eq!((resequencer.reordered, resequencer.dupacks_saved), (0, 1));
        assert_eq!(resequencer.p50_added_delay_ns, Some(0));
        assert_eq!(resequencer.max_added_delay_ns, 2 * MS as u64);
        assert_eq!(resequencer.mean_added_delay_ns, 2 * MS as u64 / 101);
        // Half of the round trip, as long as little is known.
        assert_eq!(resequencer.bound_ns, Some(20 * MS as u64));
    }

    #[test]
    fn a_flow_that_begins_anywhere_is_laid_from_there() {
        let rows = rows(&[(0, 50), (1, 51), (2, 53), (3, 52)]);
        assert_eq!(
            rows.iter().map(|row| row.reordered).collect::<Vec<_>>(),
            [1, 0]
        );
    }
}
