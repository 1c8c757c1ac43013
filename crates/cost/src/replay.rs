//! The rest of a flow once more, without its unnecessary reductions.

use super::evolution::{Path, Window};
use crate::result::Control;

/// Rounds after which the rest is taken to go on at the rate reached.
const MAX_ROUNDS: u32 = 50_000;

/// What the flow still had to do when the first unnecessary reduction came.
#[derive(Clone, PartialEq, Debug)]
pub struct Rest {
    /// Segments to be delivered.
    pub segments: f64,
    /// The window at that time, segments.
    pub window: f64,
    /// The window had not been reduced before: it was in slow start.
    pub slow_start: bool,
    /// Reductions for losses, which come all the same: after how many segments, ascending.
    pub losses: Vec<f64>,
    /// The window at which the queue overflows, segments, if it was seen to.
    pub overflow: Option<f64>,
    /// The receiver's window, segments, if it was seen to limit.
    pub receiver: Option<f64>,
}

/// What is assumed in one run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Assumed {
    pub(crate) control: Control,
    pub(crate) path: Path,
}

impl Rest {
    /// How long the rest takes, seconds.
    pub(crate) fn seconds(&self, assumed: &Assumed) -> f64 {
        let path = &assumed.path;
        let mut window = self.start(assumed);
        let mut losses = self.losses.iter().peekable();
        let (mut done, mut spent) = (0.0, 0.0);
        for _ in 0..MAX_ROUNDS {
            let size = self
                .receiver
                .map_or(window.size, |most| window.size.min(most));
            let left = self.segments - done;
            let full = size >= path.product();
            let limited = self.receiver.is_some_and(|most| window.size >= most);
            if full && losses.peek().is_none() && self.overflow.is_none() {
                return spent + left / path.rate;
            }
            let round_s = path.round_s(size);
            if size >= left || limited && losses.peek().is_none() {
                return spent + round_s * left / size;
            }
            done += size;
            spent += round_s;
            if losses.next_if(|&&at| at <= done).is_some() {
                // One reduction a round, however many segments were lost in it.
                while losses.next_if(|&&at| at <= done).is_some() {}
                window.reduce();
            } else if self.overflow.is_some_and(|most| window.size >= most) {
                window.reduce();
            } else if !limited {
                window.round(round_s);
            }
        }
        let rate = (window.size / path.rtt_s).min(path.rate);
        spent + (self.segments - done).max(0.0) / rate
    }

    fn start(&self, assumed: &Assumed) -> Window {
        let path = &assumed.path;
        let threshold = if self.slow_start { path.product() } else { 0.0 };
        Window::new(assumed.control, self.window.max(2.0), threshold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 12 Mbit/s of 1,500 bytes, 50 ms: 50 segments fill the path.
    const PATH: Path = Path {
        rate: 1_000.0,
        rtt_s: 0.05,
    };

    fn rest(segments: f64, window: f64, slow_start: bool) -> Rest {
        Rest {
            segments,
            window,
            slow_start,
            losses: vec![],
            overflow: None,
            receiver: None,
        }
    }

    fn assume(control: Control) -> Assumed {
        Assumed {
            control,
            path: PATH,
        }
    }

    #[test]
    fn a_full_path_takes_what_its_rate_says() {
        assert_eq!(
            rest(5_000.0, 60.0, false).seconds(&assume(Control::Cubic)),
            5.0
        );
    }

    #[test]
    fn slow_start_adds_its_rounds() {
        // 10, 20, 40, then full: three rounds for 70 segments.
        let seconds = rest(5_000.0, 10.0, true).seconds(&assume(Control::Reno));
        assert!((seconds - (0.15 + 4.93)).abs() < 1e-9, "{seconds}");
    }

    #[test]
    fn losses_come_all_the_same() {
        let clean = rest(5_000.0, 60.0, false);
        let lossy = Rest {
            losses: vec![1_000.0, 1_010.0, 3_000.0],
            ..clean.clone()
        };
        let more = |control| lossy.seconds(&assume(control)) - clean.seconds(&assume(control));
        assert!(more(Control::Reno) > 0.3);
        assert!(more(Control::Bbr).abs() < 0.1);
    }

    #[test]
    fn a_receiver_limits() {
        let limited = Rest {
            receiver: Some(25.0),
            ..rest(5_000.0, 25.0, false)
        };
        assert!((limited.seconds(&assume(Control::Cubic)) - 10.0).abs() < 1e-9);
    }
}
