//! What held the sender in one round trip, or in several.

use crate::held::{Held, KINDS};

/// A round trip, or several in a row.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Row {
    pub(crate) start_ns: i64,
    /// Nanoseconds by [`Held`], without recoveries and silences.
    pub(crate) parts: [i64; KINDS],
    /// Most bytes in flight.
    pub(crate) peak: i64,
    /// Longest time without new data, nanoseconds.
    pub(crate) gap_ns: i64,
    /// The shortest way to the sender and back that echoed timestamps show, nanoseconds; 0 if none do.
    pub(crate) way_ns: i64,
    /// Sent by its end, and delivered, bytes of the whole flow.
    pub(crate) sent: i64,
    pub(crate) delivered: i64,
    /// Acknowledgements that made room and were followed by data before the next one, or were not.
    pub(crate) answered: u32,
    pub(crate) unanswered: u32,
}

impl Row {
    /// Nanoseconds that it was held so.
    pub(crate) fn part(&self, held: Held) -> i64 {
        self.parts.get(held as usize).copied().unwrap_or(0)
    }

    /// Nanoseconds that it was held at all.
    pub(crate) fn all(&self) -> i64 {
        self.parts.into_iter().fold(0, i64::saturating_add)
    }

    pub(super) fn add(&mut self, later: &Row) {
        for (sum, part) in self.parts.iter_mut().zip(later.parts) {
            *sum = sum.saturating_add(part);
        }
        self.peak = self.peak.max(later.peak);
        self.gap_ns = self.gap_ns.max(later.gap_ns);
        self.way_ns = shortest(self.way_ns, later.way_ns);
        (self.sent, self.delivered) = (later.sent, later.delivered);
        self.answered = self.answered.saturating_add(later.answered);
        self.unanswered = self.unanswered.saturating_add(later.unanswered);
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.parts == [0; KINDS]
    }
}

/// Of two times, of which 0 is none.
#[inline]
pub(super) fn shortest(a: i64, b: i64) -> i64 {
    match (a, b) {
        (0, ns) | (ns, 0) => ns,
        (a, b) => a.min(b),
    }
}
