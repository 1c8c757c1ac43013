//! Loss detection: which segments count as lost, when, and how much reordering is tolerated before that.
//!
//! Each algorithm is one file that implements [`LossDetection`]; [`REGISTRY`] lists them all. The sender passes every
//! acknowledgement to it after the scoreboard has been updated; the algorithm marks segments as lost on the [`Board`]
//! and may request fast recovery. It can also control how much new data is sent during disorder, restore the window
//! after reordering, and use a timer of its own. An endpoint accepts any `Box<dyn LossDetection>`, so an algorithm
//! defined outside this crate needs no entry here.

use std::fmt::Debug;

use crate::Nanos;
use crate::congestion::Window;
use crate::counters::Counters;
use crate::seq::Seq;

pub use crate::board::{Board, Delivered, Id, Sent};
pub use crate::state::CaState;

mod ancr;
mod ancr_linux;
mod ancr_threshold;
mod detection;
mod extended_limited_transmit;
mod fixed;
mod linux_fack;
mod linux_rack;
mod linux_sequence;
mod ncr;
mod newreno;
mod ns3;
mod ns3_old;
mod pr;
mod rack;
mod rack_window;
mod rfc9002;

pub use ancr::Ancr;
pub use ancr_linux::AncrLinux;
pub use ancr_threshold::AncrThreshold;
pub use detection::{Detector, Extent};
pub use fixed::Static;
pub use linux_fack::{LinuxFack, Version};
pub use linux_rack::LinuxRack;
pub use linux_sequence::{LinuxSequence, SequenceMetric};
pub use ncr::{Ncr, Variant};
pub use ns3::Ns3;
pub use ns3_old::Ns3Old;
pub use pr::TcpPr;
pub use rack::Rack;
pub use rfc9002::Rfc9002;

/// The content of an acknowledgement, in addition to its effect on the board.
#[derive(Debug)]
pub struct AckNews<'a> {
    /// Segments reported as received for the first time, SACKed ones first.
    pub delivered: &'a [Delivered],
    /// First unacknowledged sequence number before.
    pub prior_una: Seq,
    /// First unacknowledged sequence number after.
    pub una: Seq,
    /// One past the highest sequence number known received before (SACK or cumulative).
    pub prior_fack: Seq,
    /// `fackets_out` before.
    pub prior_fackets: u32,
    /// Segments outstanding before.
    pub prior_packets: u32,
    /// Segments SACKed before (without SACK: duplicates counted).
    pub prior_sacked: u32,
    /// Bytes outstanding before (FlightSize of RFC 5681 section 2).
    pub prior_flight_bytes: u64,
    /// The segment carried SACK blocks, DSACK not counted.
    pub has_sack: bool,
    /// A duplicate segment that the receiver reported (RFC 2883 section 4).
    pub dsack: Option<(Seq, Seq)>,
    /// It is a duplicate acknowledgement in the sense of RFC 5681 section 2.
    pub duplicate: bool,
    /// Echoed timestamp, if the option is in use.
    pub tsecr: Option<u32>,
    /// Round-trip time measured by it, ns.
    pub rtt: Option<Nanos>,
}

impl AckNews<'_> {
    /// True if `snd_una` moved.
    pub fn advances(&self) -> bool {
        self.una > self.prior_una
    }
}

/// The part of the sender that a loss detection can see and change.
#[derive(Debug)]
pub struct Context<'a> {
    /// Time.
    pub now: Nanos,
    /// Segments outstanding; the algorithm marks them.
    pub board: &'a mut Board,
    /// The window; only algorithms whose specification requires it may change it.
    pub window: &'a mut Window,
    /// Event counters.
    pub counters: &'a mut Counters,
    /// State of the sender.
    pub state: CaState,
    /// First unacknowledged sequence number.
    pub snd_una: Seq,
    /// Next sequence number to be sent for the first time.
    pub snd_nxt: Seq,
    /// End of the recovery in progress (`recover` of RFC 6582 section 3.2).
    pub high_seq: Seq,
    /// Maximum segment size, bytes.
    pub mss: u32,
    /// Initial window, segments.
    pub initial_window: u32,
    /// Smoothed round-trip time, ns; 0 before the first measurement.
    pub srtt: Nanos,
    /// Smallest round-trip time, ns; 0 before the first measurement.
    pub min_rtt: Nanos,
    /// Retransmission timeout, ns.
    pub rto: Nanos,
    /// SACK is in use.
    pub sack: bool,
    /// Timestamps are in use.
    pub timestamps: bool,
    /// Without SACK each duplicate in recovery marks the oldest segment
    /// ([`LossRecovery::duplicates_mark`](crate::config::LossRecovery::duplicates_mark)).
    pub duplicates_mark: bool,
    /// Data is waiting that the peer's window would allow.
    pub unsent: bool,
    /// The retransmission timer has expired and F-RTO has not decided yet.
    pub frto: bool,
    /// Sequence number at which recovery began, if it can still be undone (Linux `undo_marker`).
    pub undo_marker: Option<Seq>,
}

impl Context<'_> {
    /// Bytes outstanding (FlightSize of RFC 5681 section 2).
    pub(crate) fn flight_bytes(&self) -> u64 {
        self.snd_nxt - self.snd_una
    }

    /// True in fast recovery or after a timeout.
    pub fn recovering(&self) -> bool {
        matches!(self.state, CaState::Recovery | CaState::Loss)
    }
}

/// What an algorithm requests after an acknowledgement or a timer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Begin fast recovery (ignored while in one).
    pub recover: bool,
    /// Prevent the window from growing on this acknowledgement.
    pub hold_window: bool,
}

impl Verdict {
    /// Begins fast recovery if `lost`.
    pub(crate) fn recover_if(lost: bool) -> Self {
        Verdict {
            recover: lost,
            ..Verdict::default()
        }
    }
}

/// A transmission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmission {
    /// Identity on the board.
    pub id: Id,
    /// First sequence number.
    pub start: Seq,
    /// One past the last.
    pub end: Seq,
    /// Timestamp value it carries.
    pub tsval: u32,
    /// True for a retransmission.
    pub again: bool,
}

/// An algorithm that decides which segments are lost.
pub trait LossDetection: Debug + Send {
    /// The duplicate-ACK threshold in force, segments, for traces. Algorithms without one return the equivalent of
    /// their time in segments, or 0.
    fn dupthresh(&self) -> u32;

    /// Earlier connections to the peer needed a tolerance of this many segments. Called before
    /// [`LossDetection::start`], if at all; only Linux's algorithms use it.
    fn remember(&mut self, _reordering: u32) {}

    /// Called once, when the connection is established.
    fn start(&mut self, _cx: &mut Context<'_>) {}

    /// Processes an acknowledgement, in every state except after a timeout before new data is acknowledged. The board
    /// is already updated.
    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &AckNews<'_>) -> Verdict;

    /// True if the algorithm needs calls of [`LossDetection::on_sent`] and [`LossDetection::may_send`]. Called once;
    /// most algorithms do not need them, which makes each segment cheaper.
    fn governs_sending(&self) -> bool {
        false
    }

    /// A segment is about to be sent.
    fn on_sent(&mut self, _cx: &mut Context<'_>, _sent: &Transmission) {}

    /// Whether new data may be sent now. `None` leaves the decision to the sender: while less is in flight than the
    /// window.
    fn may_send(&self, _cx: &Context<'_>) -> Option<bool> {
        None
    }

    /// Number of segments (of `mss` bytes) on which the reduction for a loss is based; `None` for those outstanding.
    fn flight_at_loss(&self, _mss: u32) -> Option<u32> {
        None
    }

    /// Disorder has begun: something was SACKed, or counts as lost, and nothing is recovered.
    fn on_disorder(&mut self, _cx: &mut Context<'_>) {}

    /// Fast recovery has begun.
    fn on_recovery(&mut self, _cx: &mut Context<'_>) {}

    /// Fast recovery has ended; `undone` if it was unnecessary.
    fn on_recovery_end(&mut self, _cx: &mut Context<'_>, _undone: bool) {}

    /// A partial acknowledgement of the original transmission: the segment was late, not lost.
    fn on_partial_undo(&mut self, _cx: &mut Context<'_>, _ack: &AckNews<'_>) {}

    /// The retransmission timer expired; the board is not marked yet.
    fn on_timeout(&mut self, _cx: &mut Context<'_>) {}

    /// When [`LossDetection::on_timer`] must be called.
    fn next_timer(&self) -> Option<Nanos> {
        None
    }

    /// The timer has expired.
    fn on_timer(&mut self, _cx: &mut Context<'_>) -> Verdict {
        Verdict::default()
    }

    /// True if the algorithm also controls the window and replaces fast recovery and the retransmission timer
    /// (TCP-PR). The congestion control then receives only acknowledgements.
    fn governs_window(&self) -> bool {
        false
    }
}

/// A [`LossDetection`] that can be selected by name.
pub type Entry = crate::entry::Entry<dyn LossDetection>;

/// All algorithms of this crate.
pub static REGISTRY: &[Entry] = &[
    fixed::ENTRY,
    linux_fack::ENTRY_2_6_24,
    linux_fack::ENTRY_3_19,
    linux_sequence::ENTRY,
    linux_rack::ENTRY,
    rack::ENTRY,
    rfc9002::ENTRY,
    rfc9002::ENTRY_ADAPTIVE,
    ns3::ENTRY,
    ns3_old::ENTRY_3_26,
    ns3_old::ENTRY_3_27,
    ncr::ENTRY_CAREFUL,
    ncr::ENTRY_AGGRESSIVE,
    ancr::ENTRY_CAREFUL,
    ancr::ENTRY_AGGRESSIVE,
    ancr_linux::ENTRY_CAREFUL,
    ancr_linux::ENTRY_AGGRESSIVE,
    ancr_threshold::ENTRY,
    pr::ENTRY,
];

/// The entry called `name`.
pub fn find(name: &str) -> Option<&'static Entry> {
    REGISTRY.iter().find(|entry| entry.name == name)
}
