//! Packets whose times go back or leap: the capture's clock was set, its host slept, or several queues feed the capture.

use inorder_vantage::{Clock, MAX_ANSWER_NS};
use inorder_wire::{Dir, Segment};

use super::{Connection, Head};
use crate::config::Config;

/// Latest timestamp whose differences cannot overflow `i64`, nanoseconds: 73 years after 1970.
const MAX_TIME_NS: i64 = 1 << 61;
/// Where several queues or processors feed a capture, packets of one host are out of order by less than this,
/// nanoseconds; by more the clock was set back.
const MIN_SET_BACK_NS: i64 = 5_000_000;
/// Packets of two hosts that are out of order by less than this change no verdict, nanoseconds.
const MAX_TOLERATED_DISORDER_NS: i64 = 250_000;
/// After a silence up to this the clock is not asked whether it was set forward, nanoseconds.
pub(super) const MAX_UNDOUBTED_SILENCE_NS: u64 = 10_000_000_000;

impl Head {
    /// By how much the times of its packets contradict their order, nanoseconds; 0 if they do not. Behind one step back of the clock packets are in
    /// order by themselves. `None` if times go back more than once, as in captures that were merged, or if the clock was set back by much more.
    pub(super) fn contradicted_ns(&self) -> Option<i64> {
        let once = self.step_ns < i64::MAX && self.set_back_ns == 0;
        once.then_some(self.step_ns)
    }
}

impl Connection {
    /// A packet whose time goes back or leaps, or comes after the clock was set.
    #[cold]
    #[inline(never)]
    pub(super) fn push_adjusted(&mut self, dir: Dir, seg: &Segment, config: &Config) {
        if self.is_replayed(dir, seg) {
            return;
        }
        self.end_replay();
        let mut seg = Segment {
            ts_ns: seg
                .ts_ns
                .saturating_add(self.head.set_back_ns)
                .min(MAX_TIME_NS),
            ..*seg
        };
        if self.leaps(dir, &seg) {
            let forward_ns = seg.ts_ns.saturating_sub(self.head.last_ns);
            self.head.leaps[dir.index()] += 1;
            self.head.set_back_ns = self.head.set_back_ns.saturating_sub(forward_ns);
            self.set_after_last(&mut seg);
        }
        let back_ns = self.head.last_ns.saturating_sub(seg.ts_ns);
        if back_ns > 0 {
            // What comes behind a packet that was older is in order with that.
            let before_ns = self.head.last_of[self.head.last_dir.index()];
            let step_ns = before_ns.saturating_sub(seg.ts_ns);
            if step_ns > 0 {
                let first = self.head.step_ns == 0 && back_ns <= MIN_SET_BACK_NS;
                self.head.step_ns = if first { step_ns } else { i64::MAX };
                self.head.reversals[dir.index()] += 1;
            }
            let own_ns = self.head.last_of[dir.index()].saturating_sub(seg.ts_ns);
            if back_ns > MIN_SET_BACK_NS
                && self.sides.is_none()
                && self.head.common.position.settled()
            {
                self.release(config); // What waits was sent by the clock as it was.
            }
            if own_ns > MIN_SET_BACK_NS {
                // One host's packets are in their order: it is the clock that was set back.
                self.head.set_back_ns = self.head.set_back_ns.saturating_add(back_ns);
                self.set_after_last(&mut seg);
            } else if back_ns > MAX_TOLERATED_DISORDER_NS {
                self.head.disordered += 1;
                if back_ns > MIN_SET_BACK_NS {
                    self.set_after_last(&mut seg); // Perhaps the first packet after it was set back.
                }
            }
        }
        self.head.last_ns = self.head.last_ns.max(seg.ts_ns);
        self.head.last_of[dir.index()] = seg.ts_ns;
        self.head.last_dir = dir;
        self.push_timed(dir, &seg, config);
    }

    /// The time before `seg` did not pass for the hosts: the clock of one did not run meanwhile, or data waited for its acknowledgement and was
    /// not sent again, for longer than any segment and any timer lives.
    fn leaps(&self, dir: Dir, seg: &Segment) -> bool {
        let silence_ns = seg.ts_ns.saturating_sub(self.head.last_ns);
        if silence_ns <= MAX_UNDOUBTED_SILENCE_NS as i64 {
            return false;
        }
        let sides = self.sides.as_ref();
        let of_data = sides.and_then(|sides| sides[dir.index()].last_stamp());
        let position = &self.head.common.position;
        match position.clock_over(dir, seg, silence_ns, of_data) {
            Clock::Stood => true,
            Clock::Ran => false,
            Clock::Unknown => silence_ns > MAX_ANSWER_NS && self.waited_for(dir, seg),
        }
    }

    /// `seg` acknowledges data that waited for it, or is new data while other data waits; acknowledgements of both hosts were captured before.
    fn waited_for(&self, dir: Dir, seg: &Segment) -> bool {
        if self.sides.is_some() && self.head.common.acks != [true; 2] {
            return false;
        }
        match &self.sides {
            None => self.head.common.position.waited_for(dir, seg),
            Some(sides) => {
                let (own, other) = (&sides[dir.index()], &sides[dir.reverse().index()]);
                other.waits_for(seg.ack) || own.waits() && !own.is_below(seg)
            }
        }
    }

    /// Its time says nothing, but that it comes behind the packet before; and nothing that was sent before can be timed
    /// by what comes now.
    fn set_after_last(&mut self, seg: &mut Segment) {
        seg.ts_ns = self.head.last_ns.saturating_add(1).min(MAX_TIME_NS);
        self.head.common.position.forget();
        for side in self.sides.iter_mut().flat_map(|sides| &mut **sides) {
            side.note_clock_set(seg.ts_ns);
        }
    }
}
