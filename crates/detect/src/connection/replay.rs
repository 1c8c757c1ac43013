//! Packets that the file holds again behind all others, each with the time that it had: files that were appended to each other, or captures
//! merged without their times.

use inorder_wire::{Dir, Segment};

use super::Connection;

/// The queues of a card may hand on packets of one host out of order, by less than this, nanoseconds: then each packet has to be one that is
/// remembered. If the time goes back by more, the file begins again, and all that follows up to the last time before is a copy.
const MIN_REPLAYED_NS: i64 = 5_000_000;

/// What of a connection came again.
#[derive(Debug, Default)]
pub(super) struct Replay {
    /// As long as this is the connection's last time, what came before comes again; nanoseconds.
    until_ns: i64,
    /// Frames of each direction.
    frames: [u64; 2],
}

impl Connection {
    /// True if `seg`, whose time goes back, is one of the packets before with the time that it had. It is counted, and is no event.
    ///
    /// All packets of a short connection wait and can be compared. Of a longer one the first and the latest are remembered, and one of these is what
    /// a file begins or continues with when it begins again.
    #[cold]
    #[inline(never)]
    pub(crate) fn is_replayed(&mut self, dir: Dir, seg: &Segment) -> bool {
        let head = &self.head;
        if head.set_back_ns != 0 || seg.ts_ns >= head.last_ns {
            return false;
        }
        let under_way = self.replays();
        let (known, follows) = match &self.sides {
            None => (head.waiting.holds(dir, seg), false),
            Some(sides) => {
                let side = &sides[dir.index()];
                (side.came_at_this_time(seg), under_way && side.is_below(seg))
            }
        };
        if !known && !follows {
            return false;
        }
        let own_ns = head.last_of[dir.index()].saturating_sub(seg.ts_ns);
        let replay = self.head.replay.get_or_insert_default();
        replay.frames[dir.index()] += 1;
        if !under_way && own_ns > MIN_REPLAYED_NS {
            // Only packets whose time goes back are looked at here. With a nanosecond more, so does that of the last one's copy;
            // `end_replay` takes it away.
            self.head.last_ns = self.head.last_ns.saturating_add(1);
            replay.until_ns = self.head.last_ns;
        }
        true
    }

    fn replays(&self) -> bool {
        let replay = self.head.replay.as_ref();
        replay.is_some_and(|replay| replay.until_ns == self.head.last_ns)
    }

    /// What comes now was not in the file before, or nothing comes.
    pub(super) fn end_replay(&mut self) {
        if self.replays() {
            self.head.last_ns -= 1;
        }
    }

    /// Tells both directions, at the end, how many of their frames came again.
    pub(super) fn pass_replayed(&mut self) {
        if let (Some(replay), Some(sides)) = (&self.head.replay, &mut self.sides) {
            for (side, frames) in sides.iter_mut().zip(replay.frames) {
                side.note_captured_again(frames);
            }
        }
    }
}
