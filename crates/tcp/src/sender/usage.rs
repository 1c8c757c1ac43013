//! How much of the congestion window is used, and the current burst.

use crate::Nanos;
use crate::congestion::Window;
use crate::seq::Seq;

/// The reasons why sending stopped recently.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Usage {
    /// Time of the last transmission; 0 if there was none.
    pub(super) last_sent_at: Nanos,
    /// Remaining segments of the current burst of segmentation offload.
    pub(super) burst_left: u32,
    /// The next segment begins a burst.
    pub(super) burst_begins: bool,
    /// New data was sent since sending last stopped.
    pub(super) new_in_burst: bool,
    /// The host's own device takes no packets for now.
    pub(super) device_full: bool,
    /// The window, not the application or the receiver, stopped sending.
    cwnd_limited: bool,
    /// Maximum number of outstanding segments in this window of data, which ends at `until`.
    most_out: u32,
    until: Seq,
}

impl Usage {
    /// Stores what stopped sending: only a window that was filled may grow (Linux `tcp_cwnd_validate`). The value is
    /// kept for a window of data unless more segments become outstanding.
    pub(super) fn note_limit(&mut self, by_cwnd: bool, packets_out: u32, una: Seq, nxt: Seq) {
        if una >= self.until || by_cwnd || packets_out > self.most_out {
            self.cwnd_limited = by_cwnd;
            self.most_out = packets_out;
            self.until = nxt;
        }
    }

    /// True if the window may grow. In slow start it may grow to twice what was used.
    pub(super) fn is_cwnd_limited(&self, window: &Window) -> bool {
        self.cwnd_limited
            || (window.in_slow_start() && window.cwnd < self.most_out.saturating_mul(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_that_was_not_filled_does_not_grow() {
        let mut usage = Usage::default();
        let mut window = Window::new(10);
        window.ssthresh = 10;
        usage.note_limit(true, 10, 0, 10_000);
        assert!(usage.is_cwnd_limited(&window));
        // The application pauses: within the same window of data the result does not change.
        usage.note_limit(false, 4, 5_000, 10_000);
        assert!(usage.is_cwnd_limited(&window));
        usage.note_limit(false, 4, 10_000, 14_000);
        assert!(!usage.is_cwnd_limited(&window));
        // Slow start: four segments were used, so eight are allowed.
        window.ssthresh = u32::MAX;
        window.cwnd = 7;
        assert!(usage.is_cwnd_limited(&window));
        window.cwnd = 8;
        assert!(!usage.is_cwnd_limited(&window));
    }
}
