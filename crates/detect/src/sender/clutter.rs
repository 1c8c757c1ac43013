//! How often unexplained ACKs come where nothing unseen can have caused them.

use super::unexplained::Trigger;

/// How often unexplained ACKs come where nothing unseen can have caused them, by trigger.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clutter {
    seen: [f64; Trigger::ALL],
    /// Time with holes open, nanoseconds.
    exposed_ns: f64,
}

impl Clutter {
    /// One such ACK, to so much.
    pub(super) fn note(&mut self, trigger: Trigger, share: f64) {
        self.seen[trigger as usize] += share;
    }

    /// There were holes for so long.
    pub(super) fn expose(&mut self, ns: i64) {
        self.exposed_ns += ns.max(0) as f64;
    }

    /// So many come in a nanosecond; `first` were expected in the first round trip of `rtt_ns`.
    pub(super) fn rate(&self, trigger: Trigger, first: f64, rtt_ns: f64) -> f64 {
        (self.seen[trigger as usize] + first) / (self.exposed_ns + rtt_ns)
    }
}
