//! NewReno as in ns-3: a window in bytes, half of what is in flight at a loss.
//!
//! Source: `TcpNewReno` of ns-3.37. Slow start adds a segment per acknowledgement, congestion avoidance
//! `max(1, S^2 / W)` bytes per acknowledgement, however much it acknowledges. A loss sets the threshold to half of the
//! bytes in flight, which need not be whole segments, and at least two segments.

use super::{AckEvent, CongestionControl, Entry, LossEvent, Window};

pub(super) const ENTRY: Entry = Entry {
    name: "reno-ns3",
    about: "NewReno with a window in bytes",
    source: "ns-3.37, tcp-congestion-ops.cc",
    build: || Box::new(RenoNs3::default()),
};

/// NewReno with a window in bytes.
#[derive(Debug, Clone, Default)]
pub(super) struct RenoNs3 {
    /// The part of the window beyond its whole segments, bytes, while it has `of` segments.
    part: u64,
    of: u32,
    /// The threshold has half a segment beyond its whole segments.
    half: bool,
}

impl RenoNs3 {
    /// The window, bytes. Recovery and timeouts set it to whole segments, or to the threshold.
    fn bytes(&self, window: &Window, mss: u64) -> u64 {
        let part = if window.cwnd == self.of {
            self.part
        } else if window.cwnd == window.ssthresh {
            self.half_of(mss)
        } else {
            0
        };
        u64::from(window.cwnd) * mss + part
    }

    fn half_of(&self, mss: u64) -> u64 {
        if self.half { mss / 2 } else { 0 }
    }
}

impl CongestionControl for RenoNs3 {
    fn grow(&mut self, window: &mut Window, ack: &AckEvent) {
        let mss = u64::from(ack.mss.max(1));
        let mut bytes = self.bytes(window, mss);
        let threshold = u64::from(window.ssthresh) * mss + self.half_of(mss);
        let mut left = ack.acked;
        if bytes < threshold && left > 0 {
            bytes += mss;
            left -= 1;
        }
        if bytes >= threshold && left > 0 {
            bytes += (mss * mss / bytes.max(1)).max(1);
        }
        window.cwnd = u32::try_from(bytes / mss)
            .unwrap_or(u32::MAX)
            .min(window.clamp)
            .max(1);
        self.part = bytes % mss;
        self.of = window.cwnd;
    }

    fn ssthresh(&mut self, _window: &Window, loss: &LossEvent) -> u32 {
        self.of = 0;
        self.half = loss.in_flight > 4 && !loss.in_flight.is_multiple_of(2);
        (loss.in_flight / 2).max(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(acked: u32) -> AckEvent {
        AckEvent {
            acked,
            mss: 1000,
            ..AckEvent::default()
        }
    }

    #[test]
    fn half_a_segment_of_the_threshold_counts() {
        let mut reno = RenoNs3::default();
        let mut window = Window::new(20);
        let loss = LossEvent {
            now: 0,
            in_flight: 21,
            timeout: false,
        };
        window.ssthresh = reno.ssthresh(&window, &loss);
        window.cwnd = window.ssthresh;
        assert_eq!(window.cwnd, 10);
        // 10,500 bytes grow by 95, 94, 93, 92, 92, 91 bytes: the sixth acknowledgement completes the segment.
        for number in 1..=6 {
            reno.grow(&mut window, &event(3));
            assert_eq!(window.cwnd, 10 + u32::from(number == 6), "after {number}");
        }
    }

    #[test]
    fn slow_start_counts_acknowledgements() {
        let mut reno = RenoNs3::default();
        let mut window = Window::new(1);
        reno.grow(&mut window, &event(1));
        reno.grow(&mut window, &event(8));
        assert_eq!(window.cwnd, 3);
    }
}
