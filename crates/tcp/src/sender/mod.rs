//! The sending half: which segments are outstanding or lost, and how much may be in flight.
//!
//! - `stream`: its position in the sequence numbers. `agreed`: the negotiated options. `peer`: the peer's window.
//! - `buffer`: how much may be written ahead. `pieces`: the memory that sent data takes.
//! - `ack`: processing of an acknowledgement. `sack`: its SACK blocks.
//! - `recovery`: the states Open, Disorder, CWR, Recovery and Loss, and their transitions.
//! - `control`: the congestion control and its calls. `delivery`: samples of the delivery rate.
//! - `detection`: the loss detection and its calls.
//! - `ecn`: congestion marks echoed by the peer; `accurate`: how many. `device`: the host's own device is full.
//! - `reduce`: the reduction of the window in recovery. `undo`: undoing a reduction.
//! - `early`: data before the handshake is over (TCP Fast Open).
//! - `rtt`: round-trip time and timeout. `timers`: retransmission timeout, persist;
//!   in it `frto`, was the timeout spurious, and `tail_probe`, the last segments of a flight.
//! - `transmit`: the next segment to go out. `standing`: why there is none. `repeat`: again, and how it is cut. `usage`: what limits sending. `burst`: how many go together. `pace`: not
//!   before its time. `hold`: small segments that wait for more.

mod accurate;
mod ack;
mod agreed;
mod buffer;
mod burst;
mod control;
mod delivery;
mod detection;
mod device;
mod early;
mod ecn;
mod hold;
mod pace;
mod peer;
mod pieces;
mod recovery;
mod reduce;
mod repeat;
mod rtt;
mod sack;
mod standing;
mod stream;
mod timers;
mod transmit;
mod undo;
mod usage;

use std::sync::Arc;

use crate::Nanos;
use crate::board::Board;
use crate::config::{Config, Numbers};
use crate::congestion::{CongestionControl, Event, LossEvent, Window};
use crate::counters::Counters;
use crate::destination::Destination;
use crate::info::{FlightInfo, Info, MarksInfo, TimingInfo};
use crate::loss::LossDetection;
use crate::observe::{Observer, Snapshot};
use crate::segment::Ecn;
use crate::seq;
use crate::state::CaState;

pub(crate) use accurate::Feedback;
pub(crate) use ack::AckSegment;
use agreed::{Agreed, TimestampClock};
pub(crate) use buffer::SendBuffer;
use control::Control;
use detection::Detection;
use early::Early;
pub(crate) use ecn::Agreement;
use ecn::EcnSender;
use hold::Hold;
use pace::Pacer;
use peer::PeerWindow;
use pieces::Pieces;
use recovery::Recovery;
use rtt::RttEstimator;
use sack::Reports;
pub use standing::Standing;
use stream::Stream;
use timers::Timers;
pub use transmit::Held;
pub(crate) use transmit::Outgoing;
use undo::UndoState;
use usage::Usage;

/// The sending half of an endpoint.
#[derive(Debug)]
pub(crate) struct Sender {
    config: Arc<Config>,
    pub(crate) observer: Option<Box<dyn Observer>>,
    pub(crate) counters: Counters,
    /// What is outstanding, segment by segment.
    pub(crate) board: Board,
    pub(crate) state: CaState,
    pub(crate) stream: Stream,
    pub(crate) peer: PeerWindow,
    pub(crate) agreed: Agreed,
    pub(crate) congestion: Congestion,
    pub(crate) time: Time,
    loss: Loss,
    pub(crate) ecn: EcnSender,
    pub(crate) early: Early,
    hold: Hold,
    /// Counted only for a send buffer that grows.
    pieces: Option<Pieces>,
}

/// How much may be in flight, and how fast it goes out.
#[derive(Debug)]
pub(crate) struct Congestion {
    pub(crate) control: Control,
    pub(crate) window: Window,
    /// Whether the window is what limits sending.
    usage: Usage,
    pacer: Pacer,
}

impl Congestion {
    /// The slow-start threshold after `loss`; the window before it is kept to be restored.
    fn threshold_after(&mut self, loss: &LossEvent) -> u32 {
        let algorithm = &mut *self.control.algorithm;
        self.window.threshold_after(algorithm, loss).max(1)
    }
}

/// What is known of losses, and what is done about them.
#[derive(Debug)]
struct Loss {
    detection: Detection,
    /// What SACK blocks have reported.
    reports: Reports,
    recovery: Recovery,
    undo: UndoState,
}

/// Clocks and timers.
#[derive(Debug)]
pub(crate) struct Time {
    pub(crate) rtt: RttEstimator,
    timers: Timers,
    /// The clock of the timestamps option.
    clock: TimestampClock,
}

impl Sender {
    pub(crate) fn new(
        config: &Arc<Config>,
        numbers: Numbers,
        control: Box<dyn CongestionControl>,
        loss: Box<dyn LossDetection>,
    ) -> Self {
        let iss = seq::first(numbers.isn);
        let mut window = Window::new(config.cwnd.initial.max(1));
        window.ssthresh = config.cwnd.ssthresh;
        window.clamp = config.cwnd.clamp.max(1);
        Self {
            observer: None,
            counters: Counters::default(),
            board: Board::default(),
            state: CaState::Open,
            stream: Stream::new(iss),
            peer: PeerWindow::default(),
            agreed: Agreed::wanted(config),
            congestion: Congestion {
                control: Control::new(control, numbers.seed),
                window,
                usage: Usage::default(),
                pacer: Pacer::default(),
            },
            time: Time {
                rtt: RttEstimator::new(config),
                timers: Timers::default(),
                clock: TimestampClock::new(config, numbers.seed),
            },
            loss: Loss {
                detection: Detection::new(loss),
                reports: Reports::default(),
                recovery: Recovery::new(iss),
                undo: UndoState::default(),
            },
            ecn: EcnSender::default(),
            early: Early::default(),
            hold: Hold::default(),
            pieces: config.send.autotuning.map(|_| Pieces::default()),
            config: Arc::clone(config),
        }
    }

    /// Starts with what earlier connections to the peer have left (Linux `tcp_init_metrics`).
    pub(crate) fn start_from(&mut self, known: &Destination) {
        if known.ssthresh > 0 {
            self.congestion.window.ssthresh = known.ssthresh.min(self.congestion.window.clamp);
        }
        if known.reordering > 0 {
            self.loss.detection.remember(known.reordering);
        }
        self.time.rtt.expect(known.rtt);
    }

    /// The connection is established with these options in force.
    pub(crate) fn establish(&mut self, now: Nanos, mss: u32, sack: bool, timestamps: bool) {
        self.agreed = Agreed {
            mss: mss.max(1),
            sack,
            timestamps,
        };
        self.loss.recovery.high_seq = self.stream.una;
        self.stream.small_end = self.stream.una;
        self.time.timers.expiries = 0;
        self.heed_repeated_syns();
        self.start_control(now);
        self.consult(now, |loss, cx| loss.start(cx));
    }

    /// A SYN that had to be sent again may have been lost to congestion, and tells no round trip unless timestamps do.
    fn heed_repeated_syns(&mut self) {
        let repeats = self.early.repeats;
        let least = self.config.cwnd.one_after_syns;
        if least.is_some_and(|least| repeats >= least.max(1)) {
            self.congestion.window.cwnd = 1;
        }
        if repeats > 0 {
            self.time.rtt.begin_unmeasured();
        }
    }

    /// Time since this end created a timestamp that is echoed now; `None` if it did not.
    pub(crate) fn age_of(&mut self, now: Nanos, echo: u32) -> Option<Nanos> {
        self.time.clock.since(now, echo)
    }

    /// The clock of the timestamps option.
    pub(crate) fn tsval(&mut self, now: Nanos) -> u32 {
        self.time.clock.read(now)
    }

    fn set_state(&mut self, now: Nanos, to: CaState) {
        let from = std::mem::replace(&mut self.state, to);
        if from != to && to == CaState::Open {
            self.tell(now, Event::Open);
        }
        if from != to
            && let Some(observer) = &mut self.observer
        {
            observer.ca_state(now, from, to);
        }
    }

    /// Passes the current state to the observer, if there is one.
    pub(crate) fn observe(&mut self, now: Nanos) {
        if self.observer.is_none() {
            return;
        }
        let snapshot = Snapshot {
            now,
            state: self.state,
            cwnd: self.congestion.window.cwnd,
            ssthresh: self.congestion.window.ssthresh,
            dupthresh: self.dupthresh(),
            pipe: self.board.in_flight(),
            unacked: self.board.packets_out(),
            srtt: self.time.rtt.srtt,
            rto: self.time.rtt.rto(),
            snd_una: self.stream.una,
        };
        if let Some(observer) = &mut self.observer {
            observer.state(&snapshot);
        }
    }

    pub(crate) fn dupthresh(&self) -> u32 {
        self.loss.detection.dupthresh()
    }

    /// `received_ce`: packets that arrived with a congestion mark.
    pub(crate) fn info(&self, received_ce: u32) -> Info {
        Info {
            ca_state: self.state,
            cwnd: self.congestion.window.cwnd,
            ssthresh: self.congestion.window.ssthresh,
            timing: TimingInfo {
                rtt: self.time.rtt.srtt,
                rttvar: self.time.rtt.rttvar,
                min_rtt: self.time.rtt.min_rtt,
                rto: self.time.rtt.rto(),
                backoff: self.time.rtt.backoff,
                retransmits: self.time.timers.expiries,
            },
            flight: FlightInfo {
                unacked: self.board.packets_out(),
                sacked: self.board.sacked_out(),
                lost: self.board.lost_out(),
                retrans: self.board.retrans_out(),
                pipe: self.board.in_flight(),
            },
            total_retrans: self.counters.sent.retrans_segs,
            reordering: self.dupthresh(),
            notsent_bytes: self.stream.unsent(),
            bytes_acked: self.counters.sent.bytes_acked,
            snd_mss: self.agreed.mss,
            snd_wnd: self.peer.window,
            marks: MarksInfo {
                delivered_ce: self.ecn.reported.ce_packets,
                delivered_ce_bytes: self.ecn.reported.bytes.get(Ecn::Congestion),
                delivered_e0_bytes: self.ecn.reported.bytes.get(Ecn::Capable0),
                delivered_e1_bytes: self.ecn.reported.bytes.get(Ecn::Capable1),
                received_ce,
            },
        }
    }

    /// Everything sent, FIN included, has been acknowledged.
    pub(crate) fn fin_acknowledged(&self) -> bool {
        self.stream.fin_acknowledged()
    }

    /// Nothing may be sent any more: the connection has ended.
    pub(crate) fn stop(&mut self) {
        self.time.timers.stop();
        self.loss.recovery.force_retransmit = false;
    }
}
