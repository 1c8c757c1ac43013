//! The times of a capture: directions that change places, and a clock that steps.

use inorder_base::random::Random;
use inorder_scenario::config::Capture;

use super::Captured;
use crate::packet::End;

/// Time for which the delay of a direction stays what it is, nanoseconds: about that of a batch.
const BATCH_NS: i64 = 2_000_000;

pub(super) fn apply(
    mut frames: Vec<Captured>,
    plan: &Capture,
    random: &mut Random,
) -> Vec<Captured> {
    if plan.swap_ns > 0 {
        swap(&mut frames, plan.swap_ns, random);
    }
    let step_ns = if plan.step_back {
        -plan.step_ns
    } else {
        plan.step_ns
    };
    for frame in frames.iter_mut().filter(|_| step_ns != 0) {
        if frame.ts_ns >= plan.step_at_ns {
            frame.ts_ns += step_ns;
        }
    }
    frames
}

/// One direction is recorded late, by another time in each batch; its own order stays.
fn swap(frames: &mut [Captured], most_ns: i64, random: &mut Random) {
    let late = if random.chance(0.5) { End::A } else { End::B };
    let (mut until_ns, mut delay_ns, mut last_ns) = (i64::MIN, 0, i64::MIN);
    for frame in frames.iter_mut().filter(|frame| frame.from == late) {
        if frame.ts_ns >= until_ns {
            until_ns = frame.ts_ns + BATCH_NS;
            delay_ns = (random.unit() * most_ns as f64) as i64;
        }
        frame.ts_ns = (frame.ts_ns + delay_ns).max(last_ns);
        last_ns = frame.ts_ns;
    }
    frames.sort_by_key(|frame| frame.ts_ns);
}
