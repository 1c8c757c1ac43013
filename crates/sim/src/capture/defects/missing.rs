//! Which frames a capture holds at all.

use inorder_base::random::Random;
use inorder_scenario::config::{Capture, CapturedDirection};

use super::Captured;
use crate::packet::End;

pub(super) fn apply(frames: Vec<Captured>, plan: &Capture, random: &mut Random) -> Vec<Captured> {
    let mut holes = Holes {
        plan,
        inside: false,
    };
    let seen = |frame: &Captured| {
        let time = frame.ts_ns >= plan.begin_ns && plan.end_ns.is_none_or(|end| frame.ts_ns < end);
        let direction = match plan.direction {
            CapturedDirection::Both => true,
            CapturedDirection::Forward => frame.from == End::A,
            CapturedDirection::Reverse => frame.from == End::B,
        };
        time && direction && plan.only.is_none_or(|flow| flow == frame.flow)
    };
    let frames = frames.into_iter().filter(seen);
    frames
        .filter(|frame| !holes.swallows(frame, random))
        .collect()
}

/// Frames that are missing one after another: a chain of two states whose share and mean length are given.
struct Holes<'a> {
    plan: &'a Capture,
    inside: bool,
}

impl Holes<'_> {
    fn swallows(&mut self, frame: &Captured, random: &mut Random) -> bool {
        let share = self.plan.missing;
        if share <= 0.0 || frame.length <= self.plan.missing_above {
            return false;
        }
        let leave = 1.0 / f64::from(self.plan.missing_run.max(1));
        let enter = (leave * share / (1.0 - share)).min(1.0);
        self.inside = match self.inside {
            true => !random.chance(leave),
            false => random.chance(enter),
        };
        self.inside
    }
}
