//! What a flow lost: the time it took beside the time it would have taken once more.

use super::control::Recognised;
use super::evolution::Path;
use super::replay::{Assumed, Rest};
use super::trains::LineRate;
use crate::result::{Control, Lost};

/// Difference between two equal runs of a flow over the same path: round trips at the start and the end, and a share of
/// the goodput.
const CHANCE_ROUNDS: f64 = 2.0;
const CHANCE_SHARE: f64 = 0.02;
/// Maximum relative error of the time that the rest would have taken, which is assumed to be off by the share that is lost: nine
/// of ten pairs of simulated transfers stay within it (`testdata/lab/cost-drawn DIR --numbers 0-120`). The model follows windows, not packets.
const MAX_MODEL_ERROR: f64 = 0.25;
/// Share of the reductions that must agree on a congestion control; below it, the interval covers all of them.
pub(crate) const SURE: f64 = 0.75;

/// A flow, and what it still had to do when its first unnecessary reduction came.
#[derive(Clone, PartialEq, Debug)]
pub struct OnceMore {
    /// What was still to be done.
    pub rest: Rest,
    /// Rate of the bottleneck, segments a second.
    pub rate: LineRate,
    /// Round trip without queueing, seconds.
    pub rtt_s: f64,
    /// The congestion control.
    pub recognised: Recognised,
    /// Time before the reduction, and after it without anything to send: it passes unchanged. Seconds.
    pub unchanged_s: f64,
    /// How long the flow took, seconds.
    pub whole_s: f64,
}

impl OnceMore {
    /// The share of its goodput that the flow lost.
    pub fn lost(&self) -> Lost {
        let (rate, recognised) = (self.rate, self.recognised);
        let mut all = Vec::new();
        for control in [Control::Cubic, Control::Reno, Control::Bbr] {
            if recognised.control == control || recognised.confidence < SURE {
                all.extend(
                    [rate.low, rate.likely, rate.high].map(|rate| self.share(control, rate)),
                );
            }
        }
        let low = all.iter().copied().fold(1.0, f64::min);
        let high = all.iter().copied().fold(0.0, f64::max);
        let share = match recognised.control {
            // The bounds are those of all controls; between them, what most systems run by default.
            Control::Unknown => self.share(Control::Cubic, rate.likely),
            control => self.share(control, rate.likely),
        };
        let chance = self.chance(share);
        let error = 1.0 + share.min(MAX_MODEL_ERROR);
        Lost {
            share,
            low: 1.0 - (1.0 - low) * error - chance,
            high: 1.0 - (1.0 - high) / error + chance,
        }
    }

    /// What two runs differ by although nothing else differs, if this share of the goodput was lost.
    pub(crate) fn chance(&self, share: f64) -> f64 {
        CHANCE_ROUNDS * self.rtt_s / self.whole_s + CHANCE_SHARE * (1.0 - share)
    }

    fn share(&self, control: Control, rate: f64) -> f64 {
        let rtt_s = self.rtt_s;
        let path = Path { rate, rtt_s };
        let seconds = self.rest.seconds(&Assumed { control, path });
        (1.0 - (self.unchanged_s + seconds) / self.whole_s).max(0.0)
    }
}
