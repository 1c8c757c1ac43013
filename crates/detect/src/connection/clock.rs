//! Packets whose times go back: the capture's clock was set, or several queues feed the capture.

use inorder_wire::{Dir, Segment};

use super::Connection;
use crate::config::Config;

/// Latest timestamp whose differences cannot overflow `i64`, nanoseconds: 73 years after 1970.
const MAX_TIME_NS: i64 = 1 << 61;
/// Where several queues or processors feed a capture, packets of one host are out of order by less than this,
/// nanoseconds; by more the clock was set back.
const MIN_SET_BACK_NS: i64 = 5_000_000;
/// Packets of two hosts that are out of order by less than this change no verdict, nanoseconds.
const MAX_TOLERATED_DISORDER_NS: i64 = 250_000;

impl Connection {
    /// A packet whose time goes back, or comes after the clock was set back.
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
        let back_ns = self.head.last_ns.saturating_sub(seg.ts_ns);
        if back_ns > 0 {
            self.head.reversals[dir.index()] += 1;
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
        self.push_timed(dir, &seg, config);
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
