//! DCTCP: the window is reduced by half the share of marked data, so that many marks are needed to halve it.
//!
//! Source: RFC 8257; numbers and details as in Linux 6.1 `tcp_dctcp`.
//!
//! 1. F is the share of the segments delivered in the last window that were acknowledged with ECE (RFC 8257 section
//!    3.3). `alpha = (1 - g) alpha + g F` once per window of data, with g = 1/16, in units of 1/1024; it starts with 1.
//! 2. A mark: `cwnd = cwnd (1 - alpha / 2)`, at least 2, once per window.
//! 3. A loss or a timeout: half the window, as Reno (section 3.5). Between reductions the window grows as Reno's.
//!
//! The receiver echoes exactly which data was marked, instead of repeating one mark until the sender answers (section
//! 3.2), so both ends need this algorithm, as in Linux. Without ECN on the path or at the other end it behaves as Reno.

use super::{AckEvent, CongestionControl, Entry, Event, LossEvent, Nanos, Start, Window, reno};

pub(super) const ENTRY: Entry = Entry {
    name: "dctcp",
    about: "reduced in proportion to the marked share; needs marks on the path, and the same at the receiver",
    source: "RFC 8257, Linux 6.1 tcp_dctcp",
    build: || Box::new(Dctcp::default()),
};

/// An alpha of 1.
const ONE: u32 = 1024;
/// g = 2^-4.
const GAIN_SHIFT: u32 = 4;

/// The window of DCTCP.
#[derive(Debug, Clone)]
pub struct Dctcp {
    alpha: u32,
    /// Segments delivered since the last update of alpha, and those of them that were marked.
    delivered: u32,
    marked: u32,
    /// Alpha is updated when data from here on is acknowledged.
    window_end: u64,
}

impl Default for Dctcp {
    fn default() -> Self {
        Dctcp {
            alpha: ONE,
            delivered: 0,
            marked: 0,
            window_end: 0,
        }
    }
}

impl Dctcp {
    /// A window of data has been acknowledged.
    fn update(&mut self) {
        // The last sixteenths of a small alpha vanish at once.
        let faded = match self.alpha >> GAIN_SHIFT {
            0 => self.alpha,
            part => part,
        };
        let share = u64::from(self.marked) * u64::from(ONE >> GAIN_SHIFT)
            / u64::from(self.delivered.max(1));
        self.alpha = (self.alpha - faded + share as u32).min(ONE);
        (self.delivered, self.marked) = (0, 0);
    }
}

impl CongestionControl for Dctcp {
    fn needs_ecn(&self) -> bool {
        true
    }

    fn start(&mut self, _: &mut Window, _: &Start) {
        *self = Dctcp::default();
    }

    fn measure(&mut self, _: &mut Window, ack: &AckEvent) {
        // As in Linux, what the acknowledgement itself delivers belongs to the next window.
        if ack.snd_una >= self.window_end {
            self.update();
            self.window_end = ack.snd_nxt;
        }
        self.delivered = self.delivered.saturating_add(ack.acked);
        self.marked = self.marked.saturating_add(ack.acked_marked);
    }

    fn grow(&mut self, window: &mut Window, ack: &AckEvent) {
        reno::grow(window, ack.acked);
    }

    fn ssthresh(&mut self, window: &Window, loss: &LossEvent) -> u32 {
        if loss.timeout {
            return reno::half(window.cwnd);
        }
        let cut = u64::from(window.cwnd) * u64::from(self.alpha) / u64::from(2 * ONE);
        (window.cwnd - cut as u32).max(2)
    }

    fn event(&mut self, window: &mut Window, event: Event, _: Nanos) {
        if event != Event::RecoveryStart {
            return;
        }
        // The window may be reduced already, or little by little from now on.
        let is_reduced = window.cwnd == window.ssthresh;
        if !is_reduced {
            window.before_loss = window.cwnd;
        }
        window.ssthresh = reno::half(window.before_loss);
        if is_reduced {
            window.cwnd = window.ssthresh;
        }
    }

    fn trace(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("alpha", f64::from(self.alpha) / f64::from(ONE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of `segments`, of which `marked` are acknowledged with ECE, one by one.
    fn window(dctcp: &mut Dctcp, segments: u64, marked: u64) {
        let begin = dctcp.window_end;
        for n in 1..=segments {
            let ack = AckEvent {
                acked: 1,
                acked_marked: u32::from(n <= marked),
                snd_una: begin + n,
                snd_nxt: begin + segments + n,
                ..AckEvent::default()
            };
            dctcp.measure(&mut Window::new(10), &ack);
        }
    }

    /// RFC 8257 section 3.3: `alpha = (1 - g) alpha + g F`, from 1.
    #[test]
    fn alpha_is_the_mean_share_of_marks() {
        let mut dctcp = Dctcp::default();
        window(&mut dctcp, 16, 0);
        window(&mut dctcp, 16, 0);
        // 1024 - 64, then - 60; the first update of all had no data.
        assert_eq!(dctcp.alpha, 900);
        for _ in 0..200 {
            window(&mut dctcp, 16, 4);
        }
        assert!((240..=272).contains(&dctcp.alpha), "{}", dctcp.alpha);
        for _ in 0..200 {
            window(&mut dctcp, 16, 0);
        }
        assert_eq!(dctcp.alpha, 0);
    }

    /// Section 3.3 and 3.5: a quarter of marks costs an eighth of the window, a loss half.
    #[test]
    fn marks_cost_their_share_and_losses_half() {
        let mut dctcp = Dctcp {
            alpha: ONE / 4,
            ..Dctcp::default()
        };
        let loss = LossEvent {
            now: 0,
            in_flight: 100,
            timeout: false,
        };
        let mut window = Window::new(100);
        assert_eq!(window.threshold_after(&mut dctcp, &loss), 88);
        window.ssthresh = 88;
        dctcp.event(&mut window, Event::RecoveryStart, 0);
        assert_eq!(window.ssthresh, 50);
        assert_eq!(dctcp.undo_cwnd(&window), 100);
    }
}
