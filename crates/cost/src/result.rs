//! What unnecessary reductions of the window cost a flow.

use inorder_base::named;

named! {
    /// The congestion control of a sender, as its behaviour tells.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
    #[non_exhaustive]
    pub enum Control {
        /// CUBIC (RFC 9438 section 4.6): a loss leaves 0.7 of the window.
        Cubic = "cubic",
        /// Reno (RFC 5681 section 3.1): a loss leaves half of the window.
        Reno = "reno",
        /// BBR: paces, and does not react to single losses.
        Bbr = "bbr",
        /// None of these could be recognised.
        #[default]
        Unknown = "unknown",
    }
}

named! {
    /// What keeps a flow from being faster, apart from unnecessary reductions.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
    #[non_exhaustive]
    pub enum Limit {
        /// The application had nothing to send.
        Application = "application",
        /// The receiver's window was full.
        Receiver = "receiver",
        /// Losses, which the sender rightly answered.
        Loss = "loss",
        /// The bottleneck of the path was busy.
        Path = "path",
        /// The congestion window, which late packets or other misleading signs kept small.
        Misled = "misled",
        /// None of these, or the capture does not show it: short flows are limited by their start.
        #[default]
        Unknown = "unknown",
    }
}

/// A share of the goodput with the interval in which it lies.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Lost {
    /// The estimate: of what the flow would have reached, the share that it missed.
    pub share: f64,
    /// No less than this.
    pub low: f64,
    /// No more than this.
    pub high: f64,
}

/// What the flow carried in one interval.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct GoodputBin {
    /// Start of the interval, nanoseconds since the epoch.
    pub start_ns: i64,
    /// Payload that arrived for the first time, bits per second.
    pub goodput_bps: u64,
    /// Payload that was sent again, bits per second.
    pub again_bps: u64,
}

/// The throughput of a flow, and what unnecessary reductions of its window cost.
#[derive(Clone, PartialEq, Default, Debug)]
#[non_exhaustive]
pub struct Cost {
    /// Payload that arrived over the time from the first data to the last report of an arrival, bits per second.
    pub goodput_bps: Option<u64>,
    /// Rate of the bottleneck as payload, bits per second, from packets that followed each other.
    pub bottleneck_bps: Option<u64>,
    /// What limits the flow.
    pub limit: Limit,
    /// The congestion control.
    pub control: Control,
    /// How sure that is, 0 to 1: the share of the reductions that agree, with two more that disagree by half.
    pub control_confidence: f64,
    /// Recoveries and time-outs that nothing lost had caused.
    pub unnecessary: u64,
    /// Those after which the window was as large as before: the reduction was undone, or not made.
    pub restored: u64,
    /// Goodput lost by the unnecessary ones; `None` where the capture does not tell.
    pub lost: Option<Lost>,
    /// Time without any arrival before unnecessary time-outs, nanoseconds.
    pub timeout_ns: i64,
    /// Time spent in unnecessary recoveries, nanoseconds.
    pub recovery_ns: i64,
    /// Time during which the receiver's window was closed (it advertised no room), nanoseconds.
    pub closed_ns: i64,
    /// Payload sent again without need, bytes.
    pub wasted_bytes: u64,
    /// Goodput over time.
    pub goodput: Vec<GoodputBin>,
}

impl Cost {
    /// Something was lost for sure: the least that may have been is more than nothing, or most of the windows that were
    /// reduced without need stayed reduced.
    pub fn surely_lost(&self) -> bool {
        self.lost.is_some_and(|lost| lost.low > 0.0) || 2 * self.restored < self.unnecessary
    }

    /// What the flow would have reached without the unnecessary reductions, bits per second.
    pub fn without_bps(&self) -> Option<u64> {
        let (goodput, lost) = (self.goodput_bps?, self.lost?);
        let without = goodput as f64 / (1.0 - lost.share).max(f64::EPSILON);
        (without < 1e18).then_some(without as u64)
    }
}

named! {
    /// Whether a recovery was needed.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    pub enum RecoveryVerdict {
        /// At least one segment retransmitted in it had been lost.
        Loss = "loss",
        /// Nothing retransmitted in it had been lost; the sender took something else for a loss.
        Spurious = "spurious",
        /// Undecided.
        Ambiguous = "ambiguous",
    }
}
