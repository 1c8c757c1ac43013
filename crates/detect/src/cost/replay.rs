//! The rest of a flow once more, without its unnecessary reductions.

use super::evolution::{Path, Window};
use crate::result::Control;

/// Rounds after which the rest is taken to go on at the rate reached.
const MAX_ROUNDS: u32 = 50_000;

/// A model of the flow as it was that is faster than the flow itself by more than this share has the rate of the path wrong.
const MODEL_ERROR: f64 = 0.25;
/// Halvings of the interval in which the path's rate is looked for: to a thousandth.
const HALVINGS: u32 = 10;

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

    /// The rate of the path, segments a second, with which this rest takes the `took_s` seconds that it really took, where it
    /// takes much less at the rate of `path`; otherwise that rate.
    ///
    /// Short trains show a rate that is far too high where something behind the bottleneck delivers packets in bundles: a busy
    /// host, interrupts that are coalesced, frames of a radio link. At that rate, the reductions that were seen do not explain how
    /// slow the flow was, and what slowed it down otherwise is not their cost. Reductions of BBR follow no model here.
    pub(crate) fn slowest_rate(&self, control: Control, path: Path, took_s: f64) -> f64 {
        let seconds = |rate| {
            let path = Path { rate, ..path };
            self.seconds(&Assumed { control, path })
        };
        if control == Control::Bbr || seconds(path.rate) >= took_s * (1.0 - MODEL_ERROR) {
            return path.rate;
        }
        // The flow itself was as fast as this.
        let (mut slow, mut fast) = ((self.segments / took_s).min(path.rate), path.rate);
        for _ in 0..HALVINGS {
            let middle = libm::sqrt(slow * fast);
            if seconds(middle) > took_s {
                slow = middle;
            } else {
                fast = middle;
            }
        }
        fast
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
    fn one_reduction_does_not_explain_a_flow_that_is_slow_to_its_end() {
        let once = Rest {
            losses: vec![40.0],
            ..rest(5_000.0, 40.0, false)
        };
        let fast = Path {
            rate: 20_000.0,
            ..PATH
        };
        for control in [Control::Cubic, Control::Reno] {
            let rate = once.slowest_rate(control, fast, 50.0);
            // 5,000 segments took 50 s.
            assert!((100.0..105.0).contains(&rate), "{control:?}: {rate}");
        }
    }

    #[test]
    fn what_the_reductions_explain_leaves_the_rate_of_the_path_as_it_is() {
        let often = Rest {
            losses: (0..50).map(|i| f64::from(i) * 100.0).collect(),
            ..rest(5_000.0, 40.0, false)
        };
        for control in [Control::Cubic, Control::Reno] {
            let path = PATH;
            let took_s = often.seconds(&Assumed { control, path });
            assert!(took_s > 6.0, "{control:?}: {took_s}");
            assert_eq!(often.slowest_rate(control, path, took_s), path.rate);
        }
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
