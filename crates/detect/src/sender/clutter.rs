//! How often unexplained ACKs come where nothing unseen can have caused them.

use super::unexplained::Trigger;

/// How often unexplained ACKs come where nothing unseen can have caused them, by trigger.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clutter {
    seen: [f64; Trigger::ALL],
    /// Time with holes open, nanoseconds.
    exposed_ns: f64,
    /// When the first and the latest ACK of one segment came that was owed, nanoseconds.
    owed_ns: Option<(i64, i64)>,
}

impl Clutter {
    /// Counts one such ACK with weight `share`.
    pub(super) fn note(&mut self, trigger: Trigger, share: f64) {
        self.seen[trigger as usize] += share;
    }

    /// Holes were open for `ns` nanoseconds.
    pub(super) fn expose(&mut self, ns: i64) {
        self.exposed_ns += ns.max(0) as f64;
    }

    /// An ACK of one segment was captured at `now`: such ACKs come while nothing is missing.
    pub(super) fn expose_owed(&mut self, now: i64) {
        let first = self.owed_ns.map_or(now, |o| o.0);
        self.owed_ns = Some((first, now));
    }

    /// Rate of such ACKs per nanosecond; `first` is the prior count for one round trip of `rtt_ns`.
    pub(super) fn rate(&self, trigger: Trigger, first: f64, rtt_ns: f64) -> f64 {
        let exposed_ns = match (trigger, self.owed_ns) {
            (Trigger::Owed, Some((first, last))) => last.saturating_sub(first) as f64,
            _ => self.exposed_ns,
        };
        (self.seen[trigger as usize] + first) / (exposed_ns + rtt_ns)
    }
}
