//! What is computed for every flow besides SRPIC: no sorter, and the resequencer, which learns its hold itself.
//!
//! Neither delays data in order, so nothing is simulated with them until the order of a flow breaks for the first time, and again once
//! nothing waits and nothing is missing any more, until it breaks the next time. Meanwhile the packets are counted, and in most flows
//! that is all.

use std::sync::OnceLock;

use inorder_sort::{SorterConfig, none, resequence};

use crate::DataArrival;
use crate::named::NamedReceivers;
use crate::{MAX_TIME_NS, WhatIf};

/// Packets that the resequencer has places for; a flow gets half of them, which is 3 ms at 1 Gbit/s. Every flow that
/// is out of order takes about 60 kB for it.
pub(crate) const WINDOW: u64 = 512;

/// One flow at a receiver without a sorter and at one with the resequencer, both without interrupt coalescing.
#[derive(Debug)]
pub struct UsualReceivers {
    /// Round trip between receiver and sender, if the capture shows one, nanoseconds.
    rtt_ns: Option<i64>,
    /// Packets that were counted, where the first of them began, and where the next begins.
    in_order: u64,
    first: i64,
    next: i64,
    /// What comes in order is counted, if it is later than this, nanoseconds: what comes at one time is one batch.
    after_ns: i64,
    laid: Option<Box<NamedReceivers>>,
    /// The last packet: laid over the sorters only when the next one is, because its batch may not have ended.
    last: Option<DataArrival>,
}

heap!(UsualReceivers: laid);

/// No time is later: nothing is counted.
const NEVER: i64 = i64::MAX;

fn sorters() -> [SorterConfig; 2] {
    let resequencer = SorterConfig::of(&resequence::ENTRY).with(&resequence::WINDOW, WINDOW);
    [SorterConfig::of(&none::ENTRY), resequencer]
}

impl UsualReceivers {
    /// The number of results: one for no sorter and one for the resequencer.
    pub const ROWS: usize = 2;

    /// A receiver whose path has this round trip, nanoseconds, if it is known.
    pub fn new(rtt_ns: Option<i64>) -> Self {
        UsualReceivers {
            rtt_ns,
            in_order: 0,
            first: 0,
            next: 0,
            after_ns: i64::MIN,
            laid: None,
            last: None,
        }
    }

    /// The next arrival continues what has come, and is only counted. False: it must be pushed. `suitable`: it may be sorted.
    #[inline]
    pub fn continues(
        &mut self,
        ts_ns: i64,
        (offset, len): (i64, u32),
        suitable: impl FnOnce() -> bool,
    ) -> bool {
        let is_next = match &self.laid {
            None => offset == self.next || self.in_order == 0,
            Some(_) => self.is_counted(ts_ns, offset, len, suitable),
        };
        if is_next {
            self.in_order += 1;
            self.next = offset + i64::from(len);
        }
        is_next
    }

    /// As [`Usual::continues`], for flows whose order was broken before.
    #[inline]
    fn is_counted(
        &mut self,
        ts_ns: i64,
        offset: i64,
        len: u32,
        suitable: impl FnOnce() -> bool,
    ) -> bool {
        let in_time = self.after_ns < ts_ns && ts_ns <= MAX_TIME_NS;
        let is_next = in_time && offset == self.next && suitable();
        if is_next {
            self.after_ns = ts_ns;
            self.last = Some(DataArrival {
                ts_ns,
                offset,
                len,
                retransmission: false,
                suitable: true,
            });
        }
        is_next
    }

    /// The next arrival; `una` is what the receiver has acknowledged so far, if known.
    #[inline(never)]
    pub fn push(&mut self, arrival: &DataArrival, una: i64) {
        let &DataArrival {
            ts_ns, offset, len, ..
        } = arrival;
        let plain = arrival.suitable && !arrival.retransmission;
        if !arrival.retransmission && self.continues(ts_ns, (offset, len), || arrival.suitable) {
            return;
        }
        if plain && self.begins_to_count(ts_ns, offset) {
            self.continues(ts_ns, (offset, len), || true);
            return;
        }
        self.tell();
        let (in_order, next) = (self.in_order, self.next);
        let laid = self.laid.get_or_insert_with(|| {
            let mut laid = NamedReceivers::new(&sorters(), &[0]);
            laid.continue_after(in_order, (next, next), ts_ns, self.rtt_ns);
            Box::new(laid)
        });
        laid.push(arrival, una);
        self.after_ns = NEVER;
        self.in_order = 0;
        // Behind anything else what follows is laid, too.
        self.next = match plain {
            true => offset.saturating_add(i64::from(len)),
            false => i64::MIN,
        };
    }

    /// The arrival at `offset`, which must be laid so far, follows the last one, and need only be counted.
    fn begins_to_count(&mut self, ts_ns: i64, offset: i64) -> bool {
        let follows = self.after_ns == NEVER && offset == self.next;
        let laid = self.laid.as_mut().filter(|_| follows);
        let calm = laid.is_some_and(|laid| laid.is_calm(ts_ns, offset));
        if calm {
            (self.after_ns, self.first) = (ts_ns.saturating_sub(1), offset);
        }
        calm
    }

    /// Lays what was counted since the last break in the order.
    fn tell(&mut self) {
        let (Some(laid), Some(last)) = (&mut self.laid, self.last.take()) else {
            return;
        };
        let before = self.in_order.saturating_sub(1);
        if before > 0 {
            laid.pass(before, (self.first, last.offset), last.ts_ns);
        }
        laid.push(&last, i64::MIN);
    }

    /// A result for no sorter and one for the resequencer, behind other results.
    pub fn finish_into(mut self, results: &mut Vec<WhatIf>) {
        self.tell();
        match self.laid {
            Some(laid) => results.extend(laid.finish()),
            None => results.extend_from_slice(in_order(self.in_order > 0)),
        }
    }
}

/// The result of every flow that was never out of order, with packets or without any: nothing waits and nothing is saved.
fn in_order(any: bool) -> &'static [WhatIf] {
    static RESULTS: [OnceLock<Vec<WhatIf>>; 2] = [const { OnceLock::new() }; 2];
    let simulate = || {
        let mut receivers = NamedReceivers::new(&sorters(), &[0]);
        receivers.continue_after(u64::from(any), (0, 0), 0, None);
        receivers.finish()
    };
    RESULTS[usize::from(any)].get_or_init(simulate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: i64 = 1_000_000;

    /// Segments of 100 bytes, (milliseconds, number), at a receiver 40 ms from its sender.
    fn rows(arrivals: &[(i64, i64)]) -> Vec<WhatIf> {
        let mut receivers = UsualReceivers::new(Some(40 * MS));
        for &(ms, number) in arrivals {
            receivers.push(&arrival(ms, number), i64::MIN);
        }
        finished(receivers)
    }

    fn finished(receivers: UsualReceivers) -> Vec<WhatIf> {
        let mut rows = Vec::new();
        receivers.finish_into(&mut rows);
        assert_eq!(rows.len(), UsualReceivers::ROWS);
        rows
    }

    fn arrival(ms: i64, number: i64) -> DataArrival {
        DataArrival {
            ts_ns: ms * MS,
            offset: number * 100,
            len: 100,
            retransmission: false,
            suitable: true,
        }
    }

    /// A packet that comes late by up to six places, again, or so that it may not be sorted; and the time since the one before.
    #[derive(Clone, Copy, Debug)]
    struct Step {
        late: i64,
        again: bool,
        unsuitable: bool,
        after_ms: i64,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let seldom = || prop::bool::weighted(0.03);
        let late = prop_oneof![20 => Just(0i64), 1 => 1i64..7];
        let step = (late, seldom(), seldom(), 0i64..4);
        let step = step.prop_map(|(late, again, unsuitable, after_ms)| Step {
            late,
            again,
            unsuitable,
            after_ms,
        });
        prop::collection::vec(step, 0..120)
    }

    proptest! {
        /// Beside receivers over which every packet from the first break in the order on is laid.
        #[test]
        fn what_is_counted_is_as_if_it_were_laid(steps in steps()) {
            let mut order: Vec<usize> = (0..steps.len()).collect();
            order.sort_by_key(|&n| n as i64 + steps[n].late);
            let (mut now, mut before, mut next, mut laid) = (0, 0, 0, None);
            let mut counting = UsualReceivers::new(Some(40 * MS));
            for n in order {
                let step = steps[n];
                now += step.after_ms;
                let plain = DataArrival { suitable: !step.unsuitable, ..arrival(now, n as i64) };
                let again = DataArrival { retransmission: true, ..plain };
                for one in [plain, again].iter().take(1 + usize::from(step.again)) {
                    counting.push(one, i64::MIN);
                    let follows = before == 0 || one.offset == next;
                    if laid.is_none() && !one.retransmission && follows {
                        (before, next) = (before + 1, one.offset + 100);
                        continue;
                    }
                    let laid = laid.get_or_insert_with(|| {
                        let mut laid = NamedReceivers::new(&sorters(), &[0]);
                        laid.continue_after(before, (next, next), one.ts_ns, Some(40 * MS));
                        laid
                    });
                    laid.push(one, i64::MIN);
                }
            }
            let expected = laid.map_or_else(|| in_order(before > 0).to_vec(), NamedReceivers::finish);
            prop_assert_eq!(finished(counting), expected);
        }
    }

    #[test]
    fn behind_a_late_packet_what_comes_in_order_is_counted_again() {
        let mut receivers = UsualReceivers::new(Some(40 * MS));
        for (ms, number) in [(0, 0), (1, 2), (2, 1), (3, 3), (4, 4)] {
            receivers.push(&arrival(ms, number), i64::MIN);
        }
        assert!(receivers.continues(5 * MS, (500, 100), || true));
        assert!(
            !receivers.continues(5 * MS, (600, 100), || true),
            "in one batch with the last"
        );
        assert!(!receivers.continues(6 * MS, (600, 100), || false));
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
        // Packets 0 to 98 arrive in order, one a nanosecond; then 100, and 2 ns later 99.
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
