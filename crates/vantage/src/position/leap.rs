//! Whether a silence of the capture passed for the hosts, too.

use inorder_wire::{Dir, Has, Segment};

use super::Position;
use crate::host::reaches;

/// The shortest and the longest tick of a timestamp clock (RFC 7323 section 5.4), nanoseconds.
const TICK_NS: std::ops::RangeInclusive<i64> = 1_000_000..=1_000_000_000;

/// What a host's timestamps say of a silence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// For the host most of that time did not pass, however long its ticks are.
    Stood,
    /// Most of it passed, however short its ticks are.
    Ran,
    /// There are no timestamps, or that depends on how long their ticks are.
    Unknown,
}

impl Position {
    /// What the timestamp of `seg`, which goes `dir`, says of the `silence_ns` nanoseconds before it. The host's data may have had the timestamp
    /// `of_data` last.
    pub fn clock_over(
        &self,
        dir: Dir,
        seg: &Segment,
        silence_ns: i64,
        of_data: Option<u32>,
    ) -> Clock {
        let host = &self.hosts[dir.index()];
        let counts = seg.has(Has::TIMESTAMPS) && host.ticks;
        let known = [host.last_tsval, of_data].into_iter().flatten();
        let before = known.filter(|&last| counts && reaches(seg.tsval, last));
        let Some(ticks) = before.map(|last| seg.tsval.wrapping_sub(last)).min() else {
            return Clock::Unknown;
        };
        let ticks = i64::from(ticks);
        if (ticks + 1) * TICK_NS.end() < silence_ns / 2 {
            Clock::Stood
        } else if ticks * TICK_NS.start() >= silence_ns / 2 {
            Clock::Ran
        } else {
            Clock::Unknown
        }
    }

    /// `seg`, which goes `dir`, acknowledges data that was sent once and waited for that, or is new data while such data waits. Only of what is
    /// looked at this is known.
    pub fn waited_for(&self, dir: Dir, seg: &Segment) -> bool {
        if self.pause > 0 {
            return false;
        }
        let (own, other) = (&self.hosts[dir.index()], &self.hosts[dir.reverse().index()]);
        let answers = own
            .asked
            .sequence
            .is_some_and(|probe| reaches(seg.ack, probe.number));
        let follows = other.asked.sequence.is_some() && own.highest == Some(seg.seq);
        answers || follows && seg.payload_len > 0
    }
}
