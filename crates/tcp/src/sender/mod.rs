//! The sending half: what is outstanding, what is lost, how much may be in flight.
//!
//! - `board`: segments outstanding.
//! - `ack`: what an acknowledgement says, taken in.
//! - `recovery`: the states Open, Disorder, CWR, Recovery and Loss, and how one leads to the other.
//! - `ecn`: the network's marks, echoed by the peer.
//! - `reduce`: the window coming down in recovery. `undo`: a reduction taken back.
//! - `timers`: retransmission timeout, F-RTO, tail loss probe, persist.
//! - `transmit`: the next segment to go out. `pace`: not before its time.

mod ack;
mod board;
mod burst;
mod ecn;
mod pace;
mod recovery;
mod reduce;
mod rtt;
mod timers;
mod transmit;
mod undo;

use crate::Nanos;
use crate::config::{Config, LossProbe};
use crate::congestion::{CongestionControl, Event, Window};
use crate::counters::{Counters, Info};
use crate::loss::{Context, LossDetection};
use crate::observe::{Observer, Snapshot};
use crate::segment::SackBlocks;
use crate::seq::{self, Seq};

pub(crate) use ack::AckSegment;
pub use board::{Board, Delivered, Id, Sent};
use ecn::EcnSender;
use pace::Pacer;
use reduce::Reducer;
use rtt::RttEstimator;
pub(crate) use transmit::Outgoing;
use undo::UndoState;

/// State of the sender (Linux `tcp_ca_state`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum CaState {
    /// Nothing unusual.
    #[default]
    Open,
    /// Duplicate acknowledgements or SACKs; not yet taken for loss.
    Disorder,
    /// The window comes down without anything to retransmit (after an ECN echo).
    Cwr,
    /// Fast recovery.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

/// What the one timer of the sender waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TimerKind {
    Retransmission,
    LossProbe,
    Persist,
}

/// The sending half of an endpoint.
#[derive(Debug)]
pub(crate) struct Sender {
    config: Config,
    pub(crate) cc: Box<dyn CongestionControl>,
    /// Always present; taken out only while it is being called.
    pub(crate) loss: Option<Box<dyn LossDetection>>,
    /// What the loss detection said of itself when it was given.
    governs_window: bool,
    governs_sending: bool,
    pub(crate) observer: Option<Box<dyn Observer>>,
    pub(crate) counters: Counters,
    pub(crate) board: Board,
    pub(crate) window: Window,
    pub(crate) rtt: RttEstimator,
    pub(crate) state: CaState,

    /// Initial sequence number; SYN's.
    pub(crate) iss: Seq,
    pub(crate) snd_una: Seq,
    pub(crate) snd_nxt: Seq,
    /// One past the last byte the application has written.
    pub(crate) write_end: Seq,
    /// The application has closed: FIN follows `write_end`.
    pub(crate) fin_queued: bool,
    pub(crate) snd_wnd: u64,
    /// The largest window the peer ever offered, bytes.
    pub(crate) max_wnd: u64,
    wl1: Seq,
    /// Payload of a full segment: the peer's MSS less the options of every segment.
    pub(crate) mss: u32,
    pub(crate) sack: bool,
    pub(crate) timestamps: bool,

    /// `snd_nxt` when the present recovery began (RFC 6582 `recover`).
    high_seq: Seq,
    reducer: Reducer,
    pub(crate) ecn: EcnSender,
    pacer: Pacer,
    undo: UndoState,
    /// One retransmission goes out whatever the window says (the one that starts recovery).
    force_retransmit: bool,
    /// A partial undo is under way: nothing is sent again until it is decided.
    hold_retransmit: bool,

    timer: Option<(TimerKind, Nanos)>,
    persist_backoff: u32,
    /// The persist timer has expired: one probe goes out.
    window_probe: bool,
    /// F-RTO is deciding whether the timeout was needless.
    frto: bool,
    frto_new_data: bool,
    /// `snd_nxt` after a tail loss probe, and whether the probe was a retransmission.
    tlp_high_seq: Option<Seq>,
    tlp_retransmitted: bool,
    tlp_send_new: bool,
    tlp_retransmit: bool,
    /// Expiries in a row without new acknowledgement.
    pub(crate) expiries: u32,

    stopped: bool,
    /// A moment and its timestamp value.
    clock: (Nanos, u32),
    last_sent_at: Nanos,
    syn_sent: bool,
    small_end: Seq,
    burst_left: u32,
    cwnd_limited: bool,
    /// New data has gone out since sending last came to a stop.
    new_in_burst: bool,
    max_packets_out: u32,
    usage_end: Seq,
    dsack_segments: u64,
    delivered: Vec<Delivered>,
    /// The last SACK option: most blocks come again, and say nothing new.
    last_sack: SackBlocks,
}

impl Sender {
    pub(crate) fn new(
        config: &Config,
        cc: Box<dyn CongestionControl>,
        loss: Box<dyn LossDetection>,
    ) -> Self {
        let iss = seq::first(config.isn);
        let mut window = Window::new(config.initial_window.max(1));
        window.ssthresh = config.initial_ssthresh;
        window.clamp = config.cwnd_clamp.max(1);
        Self {
            cc,
            governs_window: loss.governs_window(),
            governs_sending: loss.governs_sending(),
            loss: Some(loss),
            observer: None,
            counters: Counters::default(),
            board: Board::default(),
            window,
            rtt: RttEstimator::new(config.rto),
            state: CaState::Open,
            iss,
            snd_una: iss,
            snd_nxt: iss,
            write_end: iss + 1,
            fin_queued: false,
            snd_wnd: 0,
            max_wnd: 0,
            wl1: 0,
            mss: config.mss.max(1),
            sack: config.sack,
            timestamps: config.timestamps,
            high_seq: iss,
            reducer: Reducer::default(),
            ecn: EcnSender::default(),
            pacer: Pacer::default(),
            undo: UndoState::default(),
            force_retransmit: false,
            hold_retransmit: false,
            timer: None,
            persist_backoff: 0,
            window_probe: false,
            frto: false,
            frto_new_data: false,
            tlp_high_seq: None,
            tlp_retransmitted: false,
            tlp_send_new: false,
            tlp_retransmit: false,
            expiries: 0,
            stopped: false,
            clock: (0, 0),
            last_sent_at: 0,
            syn_sent: false,
            small_end: iss,
            burst_left: 0,
            cwnd_limited: false,
            new_in_burst: false,
            max_packets_out: 0,
            usage_end: iss,
            dsack_segments: 0,
            delivered: Vec::new(),
            last_sack: SackBlocks::EMPTY,
            config: config.clone(),
        }
    }

    /// The connection is established with these options in force.
    pub(crate) fn establish(&mut self, now: Nanos, mss: u32, sack: bool, timestamps: bool) {
        self.mss = mss.max(1);
        self.sack = sack;
        self.timestamps = timestamps;
        self.high_seq = self.snd_una;
        self.small_end = self.snd_una;
        self.expiries = 0;
        self.cc.start(&mut self.window, now);
        self.consult(now, |loss, cx| loss.start(cx));
    }

    pub(crate) fn set_nagle(&mut self, nagle: crate::config::Nagle) {
        self.config.nagle = nagle;
    }

    /// Calls the loss detection with a view of everything else.
    fn consult<R>(
        &mut self,
        now: Nanos,
        call: impl FnOnce(&mut dyn LossDetection, &mut Context<'_>) -> R,
    ) -> Option<R> {
        let mut loss = self.loss.take()?;
        let result = call(loss.as_mut(), &mut self.context(now));
        self.loss = Some(loss);
        Some(result)
    }

    fn context(&mut self, now: Nanos) -> Context<'_> {
        let unsent = self.write_end > self.snd_nxt && self.snd_nxt < self.snd_una + self.snd_wnd;
        Context {
            now,
            board: &mut self.board,
            window: &mut self.window,
            counters: &mut self.counters,
            state: self.state,
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            high_seq: self.high_seq,
            mss: self.mss,
            initial_window: self.config.initial_window,
            srtt: self.rtt.srtt,
            min_rtt: self.rtt.min_rtt,
            rto: self.rtt.rto(),
            sack: self.sack,
            timestamps: self.timestamps,
            unsent,
            frto: self.frto,
            undo_marker: self.undo.marker,
        }
    }

    fn governed(&self) -> bool {
        self.governs_window
    }

    /// The clock of the timestamps option.
    pub(crate) fn tsval(&mut self, now: Nanos) -> u32 {
        // Several segments leave at the same moment; a division each would be dear.
        if self.clock.0 != now {
            self.clock = (now, (now / self.config.timestamp_tick.max(1)) as u32);
        }
        self.clock.1
    }

    fn set_state(&mut self, now: Nanos, to: CaState) {
        let from = std::mem::replace(&mut self.state, to);
        if from != to
            && let Some(observer) = &mut self.observer
        {
            observer.ca_state(now, from, to);
        }
    }

    fn tell(&mut self, now: Nanos, event: Event) {
        self.cc.event(&mut self.window, event, now);
    }

    /// Shows the observer, if there is one, how things stand.
    pub(crate) fn observe(&mut self, now: Nanos) {
        if self.observer.is_none() {
            return;
        }
        let snapshot = Snapshot {
            now,
            state: self.state,
            cwnd: self.window.cwnd,
            ssthresh: self.window.ssthresh,
            dupthresh: self.dupthresh(),
            pipe: self.board.in_flight(),
            unacked: self.board.packets_out(),
            srtt: self.rtt.srtt,
            rto: self.rtt.rto(),
            snd_una: self.snd_una,
        };
        if let Some(observer) = &mut self.observer {
            observer.state(&snapshot);
        }
    }

    pub(crate) fn dupthresh(&self) -> u32 {
        self.loss.as_ref().map_or(0, |loss| loss.dupthresh())
    }

    pub(crate) fn info(&self) -> Info {
        Info {
            ca_state: self.state,
            cwnd: self.window.cwnd,
            ssthresh: self.window.ssthresh,
            rtt: self.rtt.srtt,
            rttvar: self.rtt.rttvar,
            min_rtt: self.rtt.min_rtt,
            rto: self.rtt.rto(),
            backoff: self.rtt.backoff,
            retransmits: self.expiries,
            unacked: self.board.packets_out(),
            sacked: self.board.sacked_out(),
            lost: self.board.lost_out(),
            retrans: self.board.retrans_out(),
            total_retrans: self.counters.retrans_segs,
            reordering: self.dupthresh(),
            pipe: self.board.in_flight(),
            notsent_bytes: self.write_end.saturating_sub(self.snd_nxt),
            bytes_acked: self.counters.bytes_acked,
            snd_mss: self.mss,
            snd_wnd: self.snd_wnd,
        }
    }

    /// Everything sent, FIN included, has been acknowledged.
    pub(crate) fn fin_acknowledged(&self) -> bool {
        self.fin_queued && self.snd_una > self.write_end
    }

    /// Nothing may be sent any more: the connection is over.
    pub(crate) fn stop(&mut self) {
        self.stopped = true;
        self.timer = None;
        self.window_probe = false;
        self.force_retransmit = false;
        self.tlp_send_new = false;
        self.tlp_retransmit = false;
    }

    fn probing_tail(&self) -> bool {
        self.config.loss_probe != LossProbe::Off && self.sack
    }
}
