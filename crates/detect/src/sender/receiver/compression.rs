//! When a receiver holds SACKs back, and for how long.

use crate::sender::ring::Ring;
use crate::sender::unexplained::Trigger;

/// An ACK reports as many arrivals at the latest, its timer or not (Linux `tcp_comp_sack_nr`, 44; some of them may
/// have been discarded or known).
const MAX_ARRIVALS_HELD_BACK: usize = 36;

/// How a receiver holds SACKs back.
#[derive(Debug, Default)]
pub(in crate::sender) struct Compression {
    /// How long the first of several segments waited for its ACK, nanoseconds.
    waits: Ring,
    /// It has reported several segments at once since the last advance.
    pub(in crate::sender) under_way: bool,
    /// The last ACK that did nothing but report segments reported one, as soon as it came.
    pub(in crate::sender) reported_at_once: bool,
    /// The ACK before, in the log, flushed held-back SACKs before their time; a new block may have made the
    /// receiver do so.
    pub(in crate::sender) flushed: Option<u64>,
}

heap!(Compression: waits);

impl Compression {
    /// It holds SACKs back at times, and has shown how long.
    #[inline]
    pub(in crate::sender) fn is_known(&self) -> bool {
        !self.waits.is_empty()
    }

    /// The first of several segments waited `ns` nanoseconds for its ACK.
    #[inline]
    pub(in crate::sender) fn learn(&mut self, ns: i64) {
        self.waits.push(ns);
    }

    /// What sent an ACK that reports `reported` segments, the first of which had waited `waited` nanoseconds: the timer
    /// of SACK compression (or their number), or something before it? `jitter` is what hosts add to a
    /// delay, nanoseconds. `None` for a segment alone that may just have been acknowledged at once, and
    /// while too few are known.
    pub(in crate::sender) fn trigger(
        &self,
        waited: i64,
        reported: usize,
        jitter: i64,
    ) -> Option<Trigger> {
        let (soonest, latest) = self.waits.densest_half()?;
        // After duplicates Linux holds nothing back for a while (quick acknowledgement).
        let holds_back = self.under_way && !self.reported_at_once;
        if reported == 1 && !holds_back && waited <= jitter {
            return None;
        }
        // A timer does not ring early; how sharply that is seen here, its usual times tell.
        let blur = (latest - soonest).saturating_add(jitter);
        let sharp = soonest.saturating_sub(blur);
        let usual = self.waits.quartiles()?.1;
        let early = waited < sharp.max(usual - usual / 8) && reported < MAX_ARRIVALS_HELD_BACK;
        Some(if early {
            Trigger::EarlyFlush
        } else {
            Trigger::Timer
        })
    }

    /// While SACKs are held back, their timer sends an ACK each time it runs out, and one in ten of those that
    /// leave before do so for a reason not seen: per nanosecond.
    pub(in crate::sender) fn held_back_rate(&self, trigger: Trigger) -> f64 {
        let hold = self.waits.middle(5).map_or(0, |m| m.0).max(0) as f64;
        let early = match trigger {
            Trigger::Timer => 1.0,
            Trigger::EarlyFlush => 0.1,
            Trigger::Nothing
            | Trigger::Again
            | Trigger::Owed
            | Trigger::Window
            | Trigger::Reader
            | Trigger::Lost => 0.0,
        };
        if hold > 0.0 { early / hold } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: i64 = 1_000;

    #[test]
    fn an_ack_much_before_the_usual_wait_was_not_sent_by_the_timer() {
        let mut compression = Compression::default();
        assert_eq!(
            compression.trigger(500 * US, 3, 30 * US),
            None,
            "nothing known"
        );
        (0..9).for_each(|i| compression.waits.push((1_000 + i) * US));
        let trigger = |waited, reported| compression.trigger(waited * US, reported, 30 * US);
        assert_eq!(trigger(1_000, 3), Some(Trigger::Timer));
        assert_eq!(trigger(500, 3), Some(Trigger::EarlyFlush));
        assert_eq!(trigger(500, 40), Some(Trigger::Timer), "many");
        assert_eq!(trigger(20, 1), None, "perhaps acknowledged at once");
    }
}
