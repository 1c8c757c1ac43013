//! Congestion control: computes the congestion window.
//!
//! Each algorithm is one file that implements [`CongestionControl`]; [`REGISTRY`] lists them all. The window is
//! counted in segments, as in Linux, because every algorithm here is published or deployed in that unit. An algorithm
//! receives acknowledgements and losses and changes a [`Window`]; what is sent, and what counts as lost, is decided
//! elsewhere. An endpoint accepts any `Box<dyn CongestionControl>`, so an algorithm defined outside this crate needs
//! no entry here.
//!
//! Algorithms that Linux computes in integers use integers here, with its jiffies (`jiffies`). All others use
//! additions, multiplications, divisions and square roots of IEEE 754, or `libm`. So a run gives the same windows on
//! every machine.
//!
//! ```
//! use inorder_tcp::congestion::{AckEvent, Event, LossEvent, Start, Window, find};
//!
//! let mut cc = (find("reno").expect("in the registry").build)();
//! let mut window = Window::new(10);
//! cc.start(&mut window, &Start::default());
//! let ack = AckEvent { acked: 10, cwnd_limited: true, ..AckEvent::default() };
//! cc.measure(&mut window, &ack);
//! cc.grow(&mut window, &ack);
//! assert_eq!(window.cwnd, 20); // slow start
//!
//! let loss = LossEvent { now: 0, in_flight: 20, timeout: false };
//! window.ssthresh = window.threshold_after(&mut *cc, &loss);
//! window.cwnd = window.ssthresh;
//! cc.event(&mut window, Event::RecoveryStart, 0);
//! assert_eq!(window.cwnd, 10);
//! ```
//!
//! Contract of the caller: before each reduction it calls [`Window::threshold_after`], sets the window (`cwnd`,
//! `ssthresh`, and `count` to 0), and then calls [`CongestionControl::event`]. For each acknowledgement of new data
//! it calls [`CongestionControl::measure`] and then, outside recovery and if the window limited sending,
//! [`CongestionControl::grow`].
//!
//! These calls are sufficient for algorithms that use losses and windows. An algorithm that uses rates is also
//! informed of each transmission ([`CongestionControl::on_sent`]), receives samples of the delivery rate
//! ([`CongestionControl::rate_sample`]), sets the rate of sending ([`CongestionControl::pacing_rate`]), and may be
//! the only one to change the window ([`CongestionControl::governs_window`]).

use std::fmt::Debug;

use inorder_base::random::Random;

mod bbr;
mod bic;
mod binary_increase;
mod compound;
mod cubic;
mod cubic_2008;
mod cubic_3_19;
mod cubic_curve;
mod cubic_levasseur;
mod cubic_ns3;
mod cubic_rfc9438;
mod cubic_steps;
mod dctcp;
mod fixed;
pub mod highspeed;
mod hystart;
mod rate;
mod reno;
mod reno_ns3;
mod round;
mod westwood;
mod westwood_ns3;
mod yeah;

pub use bbr::Bbr;
pub use bic::Bic;
pub use compound::{Compound, X};
pub use cubic::Cubic;
pub use cubic_2008::Cubic2008;
pub use cubic_levasseur::CubicLevasseur;
pub use cubic_rfc9438::CubicRfc9438;
pub use dctcp::Dctcp;
pub use fixed::Fixed;
pub use highspeed::HighSpeed;
pub use rate::{Measured, RateSample, SentEvent};
pub use reno::Reno;
pub use westwood::Westwood;
pub use westwood_ns3::WestwoodNs3;
pub use yeah::Yeah;

pub use crate::time::Nanos;
use crate::time::count;

/// Ticks per second of Linux's clock for algorithms that count in jiffies. 1000 is the highest rate with which
/// kernels are built, so rounding has the smallest effect.
pub const HZ: u64 = 1000;

/// Whole ticks of [`HZ`] in `time`.
pub(crate) const fn jiffies(time: Nanos) -> u64 {
    count(time) / (1_000_000_000 / HZ)
}

/// Whole microseconds in `time`, the unit of Linux's finer measurements.
pub(crate) const fn micros(time: Nanos) -> u64 {
    count(time) / 1000
}

/// The sender's window, in segments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Congestion window.
    pub cwnd: u32,
    /// Slow-start threshold; `u32::MAX` until the first loss.
    pub ssthresh: u32,
    /// Segments acknowledged since `cwnd` last grew in congestion avoidance (Linux `snd_cwnd_cnt`).
    pub count: u32,
    /// Upper bound of `cwnd`.
    pub clamp: u32,
    /// Congestion window before the last reduction; 0 before the first (Linux `prior_cwnd`).
    pub before_loss: u32,
}

impl Window {
    /// A fresh window of `initial` segments.
    pub fn new(initial: u32) -> Self {
        Self {
            cwnd: initial,
            ssthresh: u32::MAX,
            count: 0,
            clamp: u32::MAX,
            before_loss: 0,
        }
    }

    /// Remembers the window, and asks `algorithm` for the slow-start threshold after `loss`.
    pub fn threshold_after(
        &mut self,
        algorithm: &mut dyn CongestionControl,
        loss: &LossEvent,
    ) -> u32 {
        self.before_loss = self.cwnd;
        algorithm.ssthresh(self, loss)
    }

    /// `cwnd < ssthresh`.
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Slow start (RFC 5681 section 3.1, one segment for each segment acknowledged): grows up to `ssthresh`
    /// and returns how many of `acked` are left for congestion avoidance.
    pub fn slow_start(&mut self, acked: u32) -> u32 {
        let room = self.ssthresh.saturating_sub(self.cwnd).min(acked);
        self.cwnd = self.cwnd.saturating_add(room).min(self.clamp);
        acked - room
    }

    /// Additive increase: one segment per `per` segments acknowledged. `per` of `cwnd` is Reno's (RFC 5681 section 3.1
    /// equation (3)).
    pub fn additive_increase(&mut self, per: u32, acked: u32) {
        let per = per.max(1);
        // Credit collected under a larger `per` must not cause a burst.
        if self.count >= per {
            self.count = 0;
            self.cwnd = self.cwnd.saturating_add(1);
        }
        self.count = self.count.saturating_add(acked);
        if self.count >= per {
            let steps = self.count / per;
            self.count -= steps * per;
            self.cwnd = self.cwnd.saturating_add(steps);
        }
        self.cwnd = self.cwnd.min(self.clamp);
    }
}

/// The rate Linux would pace at (`tcp_update_pacing_rate`), bytes per second: twice `flight` segments of `mss`
/// bytes per smoothed round trip `srtt`, 1.2 times above half the threshold; `flight` is the larger of window
/// and segments outstanding. 0 before the first round trip.
pub(crate) fn usual_pacing_rate(window: &Window, flight: u32, mss: u32, srtt: Nanos) -> u64 {
    if srtt <= 0 {
        return 0;
    }
    let tenths: u128 = if window.cwnd < window.ssthresh / 2 {
        20
    } else {
        12
    };
    let bytes = u128::from(flight) * u128::from(mss) * tenths;
    u64::try_from(bytes * 100_000_000 / u128::from(count(srtt))).unwrap_or(u64::MAX)
}

/// Information available when the connection is established.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Start {
    /// Time.
    pub now: Nanos,
    /// Maximum segment size, bytes of payload.
    pub mss: u32,
    /// Round-trip time of the handshake, smoothed and smallest; 0 if it was not measured.
    pub srtt: Nanos,
    /// See `srtt`.
    pub min_rtt: Nanos,
    /// Segments delivered, the SYN included: the initial value of [`RateSample::delivered`].
    pub delivered: u64,
    /// Seed for random numbers of the algorithm, so that a run can be repeated.
    pub random: Random,
}

impl Default for Start {
    /// At time 0, with segments of 1448 bytes and nothing measured.
    fn default() -> Self {
        Self {
            now: 0,
            mss: 1448,
            srtt: 0,
            min_rtt: 0,
            delivered: 1,
            random: Random::new(0, "congestion"),
        }
    }
}

/// What an acknowledgement of new data reports to the algorithm.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AckEvent {
    /// Time of arrival.
    pub now: Nanos,
    /// Segments newly acknowledged, cumulatively or by SACK.
    pub acked: u32,
    /// Of those, the segments whose acknowledgement echoes a congestion mark (ECE). With accurate ECN the packets that are
    /// reported as marked by now, some of which may have been acknowledged before.
    pub acked_marked: u32,
    /// Segments outstanding before this acknowledgement (sent, neither acknowledged nor considered lost).
    pub in_flight: u32,
    /// Bytes newly acknowledged cumulatively.
    pub acked_bytes: u64,
    /// True if the window, not the application or the receiver, limited sending.
    pub cwnd_limited: bool,
    /// True while losses or reordering are suspected (duplicate acknowledgements, SACKed segments, recovery), that
    /// is, outside Linux's state Open; samples taken then are distorted.
    pub dubious: bool,
    /// Round-trip time measured by this acknowledgement (of a retransmitted segment only if timestamps identify the
    /// transmission).
    pub rtt: Option<Nanos>,
    /// Time since the timestamp that it echoes was created; `None` without the option (RFC 7323 section 4.1).
    pub echo_age: Option<Nanos>,
    /// Its header was as expected: no SACK option, and the window of the acknowledgement before (Linux's header prediction).
    pub predicted: bool,
    /// Smoothed round-trip time, 0 before the first measurement (RFC 6298 section 2).
    pub srtt: Nanos,
    /// Smallest round-trip time of the connection; 0 before the first measurement.
    pub min_rtt: Nanos,
    /// Stream offset of the first unacknowledged byte after this acknowledgement.
    pub snd_una: u64,
    /// Stream offset of the next byte to be sent for the first time.
    pub snd_nxt: u64,
    /// Sender maximum segment size, bytes of payload.
    pub mss: u32,
}

/// A time at which the window must be reduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LossEvent {
    /// Time of the decision.
    pub now: Nanos,
    /// Segments outstanding.
    pub in_flight: u32,
    /// True for an expired retransmission timer, false for fast retransmit.
    pub timeout: bool,
}

/// Other events of the connection (Linux `set_state` and `cwnd_event`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// An acknowledgement that delivers nothing new: a duplicate without new SACK blocks.
    DupAck {
        /// As in [`AckEvent::predicted`].
        predicted: bool,
    },
    /// Fast recovery begins; the window has been reduced.
    RecoveryStart,
    /// Fast recovery ends with everything outstanding at its start acknowledged.
    RecoveryEnd,
    /// Nothing is missing any more, after duplicates as well as after a recovery (Linux `set_state` with `TCP_CA_Open`).
    Open,
    /// The retransmission timer expired, and the threshold was set anew because the last reduction belongs to an earlier loss (Linux
    /// `CA_EVENT_LOSS`). [`Event::Timeout`] follows.
    ThresholdAtTimeout,
    /// The retransmission timer expired; the window has been reduced to one segment.
    Timeout,
    /// The last reduction was unnecessary and was undone.
    Undo,
    /// Sending resumes with nothing in flight after having been idle for `ns`.
    Restart {
        /// Time since the last transmission.
        ns: Nanos,
    },
}

/// A congestion control algorithm.
pub trait CongestionControl: Debug + Send {
    /// True if the algorithm lives on congestion marks (Linux `TCP_CONG_NEEDS_ECN`): ECN is requested and accepted
    /// whatever the configuration says, all segments can be marked, and the receiver with this algorithm echoes
    /// exactly which data was marked (RFC 8257 section 3.2). Called once.
    fn needs_ecn(&self) -> bool {
        false
    }

    /// Called once, when the connection is established.
    fn start(&mut self, _window: &mut Window, _start: &Start) {}

    /// Called for every acknowledgement that delivers data, cumulatively or by SACK, also during recovery, for
    /// algorithms that measure. It is called before losses are detected; `window` may be changed (HyStart does that).
    /// Other acknowledgements are reported as [`Event::DupAck`].
    fn measure(&mut self, _window: &mut Window, _ack: &AckEvent) {}

    /// An acknowledgement of new data outside recovery: grow the window. Not called while the application or
    /// the receiver limits sending.
    fn grow(&mut self, window: &mut Window, ack: &AckEvent);

    /// The new slow-start threshold after a loss. `window` still holds the values before it; the caller sets
    /// the window itself.
    fn ssthresh(&mut self, window: &Window, loss: &LossEvent) -> u32;

    /// The window to restore when a reduction was unnecessary: by default at least the one before the reduction.
    fn undo_cwnd(&mut self, window: &Window) -> u32 {
        window.cwnd.max(window.before_loss)
    }

    /// True if only the algorithm changes the window, as in BBR: [`CongestionControl::grow`] is not called, nothing
    /// reduces or restores the window in recovery (no proportional rate reduction), and nothing reduces it after idle
    /// times. [`CongestionControl::ssthresh`] then only reports that a reduction would begin (Linux `cong_control`).
    /// Called once.
    fn governs_window(&self) -> bool {
        false
    }

    /// How many congestion windows a send buffer that grows by itself has room for (Linux `sndbuf_expand`).
    fn windows_buffered(&self) -> u64 {
        2
    }

    /// True if the algorithm needs [`CongestionControl::rate_sample`]. Called once; without it each segment costs
    /// less.
    fn samples_rate(&self) -> bool {
        self.governs_window()
    }

    /// Called for every acknowledgement after losses have been detected and the state of the sender is updated: the
    /// final decision on the window.
    fn rate_sample(&mut self, _window: &mut Window, _sample: &RateSample) {}

    /// True if the last sample made the algorithm send less than the path carries (BBR's probing for the round-trip
    /// time): samples of the data in flight then count as limited by the application.
    fn holds_back(&self) -> bool {
        false
    }

    /// True if the algorithm needs [`CongestionControl::on_sent`]. Called once; without it each segment costs less.
    fn watches_sending(&self) -> bool {
        self.samples_rate()
    }

    /// A segment with payload is about to be sent.
    fn on_sent(&mut self, _window: &mut Window, _sent: &SentEvent) {}

    /// The pacing rate, bytes per second; 0 if it is unknown so far, which means no pacing. An algorithm with its own
    /// rate returns one from the beginning and is always paced. `None`: data is sent as the window allows, or, if
    /// pacing is configured, at 1.2 to 2 windows per round-trip time.
    fn pacing_rate(&self) -> Option<u64> {
        None
    }

    /// Minimum number of segments in a burst, for an algorithm with its own rate (Linux `min_tso_segs`); `None` for
    /// the configured number.
    fn min_burst(&self) -> Option<u32> {
        None
    }

    /// All other events; `window` may be changed (Westwood+ and Compound do that).
    fn event(&mut self, _window: &mut Window, _event: Event, _now: Nanos) {}

    /// Further values for traces, as (name, value): the delay window of Compound, the origin of CUBIC.
    fn trace(&self, _out: &mut dyn FnMut(&'static str, f64)) {}
}

/// A [`CongestionControl`] that can be selected by name.
pub type Entry = crate::entry::Entry<dyn CongestionControl>;

/// All algorithms of this crate.
pub static REGISTRY: &[Entry] = &[
    reno::ENTRY,
    reno_ns3::ENTRY,
    cubic::ENTRY,
    cubic::ENTRY_5_16,
    cubic_3_19::ENTRY,
    cubic::ENTRY_PLAIN,
    cubic_2008::ENTRY,
    cubic_rfc9438::ENTRY,
    cubic_levasseur::ENTRY,
    cubic_ns3::ENTRY,
    bic::ENTRY,
    bic::ENTRY_4_0,
    bic::ENTRY_NS3,
    highspeed::ENTRY,
    westwood::ENTRY,
    westwood_ns3::ENTRY,
    yeah::ENTRY,
    compound::ENTRY,
    bbr::ENTRY,
    dctcp::ENTRY,
    fixed::ENTRY,
];

/// The entry called `name`.
pub fn find(name: &str) -> Option<&'static Entry> {
    REGISTRY.iter().find(|entry| entry.name == name)
}
