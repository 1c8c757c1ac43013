//! Frames that a capture holds twice, as from two mirrored ports: taken for transmissions, every second one would be a needless
//! retransmission.

use std::borrow::Cow;
use std::collections::HashMap;

use inorder_twice::{MAX_APART_NS, MIN_PAIRS, are_too_many};

use super::recorder::{DataFrame, Way};

/// The way with each frame once, if nearly all were captured several times.
pub(crate) fn once(way: Cow<'_, Way>) -> Cow<'_, Way> {
    let times = times(&way.frames);
    let count = |is: fn(u32) -> bool| times.iter().filter(|(_, last)| is(*last)).count();
    let (again, lone) = (count(|last| last == 2), count(|last| last == 1));
    // Of each packet that was captured again the first frame is among those that look alone until then.
    if again < MIN_PAIRS || are_too_many(lone.saturating_sub(again), again) {
        return way;
    }
    let copies = if 2 * count(|last| last == 3) > again {
        3
    } else {
        2
    };
    let frames = way.frames.iter().zip(&times);
    // What is sent again soon was captured as often as what was sent first.
    let first = frames.filter(|(_, (_, time))| (time - 1) % copies == 0);
    let frames = first.map(|(frame, _)| *frame).collect();
    Cow::Owned(Way {
        frames,
        ..way.into_owned()
    })
}

/// What the captures of one packet have in common.
type Key = (u32, u32, u32, u16);

/// For each frame its key, and for the how manieth time within [`MAX_APART_NS`] it was captured.
fn times(frames: &[DataFrame]) -> Vec<(Key, u32)> {
    let mut known: HashMap<Key, (i64, u32)> = HashMap::default();
    let time = |frame: &DataFrame| {
        let key = (frame.seq, frame.len, frame.tsval, frame.ip_id);
        let (since_ns, time) = known.entry(key).or_insert((frame.ts_ns, 0));
        if frame.ts_ns.saturating_sub(*since_ns) > MAX_APART_NS {
            (*since_ns, *time) = (frame.ts_ns, 0);
        }
        *time += 1;
        (key, *time)
    };
    frames.iter().map(time).collect()
}
