//! One end of a connection.
//!
//! - `handshake`: from CLOSED to ESTABLISHED, and the negotiation of options.
//! - `early`: data before the handshake is over (TCP Fast Open).
//! - `arrive`: a segment arrives (RFC 9293 section 3.10.7).
//! - `emit`: the next segment to send.
//! - `ecn`: negotiation of ECN, and echo of marks; `accurate`: by counters.

mod accurate;
mod arrive;
mod early;
mod ecn;
mod emit;
mod handshake;
#[cfg(test)]
mod shortcuts;

use std::sync::Arc;

use crate::Nanos;
use crate::config::{Config, Numbers};
use crate::congestion::{self, CongestionControl};
use crate::counters::Counters;
use crate::destination::Destination;
use crate::info::Info;
use crate::loss::{self, LossDetection};
use crate::observe::Observer;
use crate::receiver::Receiver;
use crate::segment::Segment;
use crate::sender::{SendBuffer, Sender, Standing};
use crate::seq;
use crate::time::first;

/// State of the connection (RFC 9293 section 3.3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// No connection (not yet, or no longer).
    Closed,
    /// Waiting for a SYN.
    Listen,
    /// SYN sent.
    SynSent,
    /// SYN received and answered.
    SynReceived,
    /// Open.
    Established,
    /// Closed here; FIN not yet acknowledged.
    FinWait1,
    /// Closed here and acknowledged; the peer may still send.
    FinWait2,
    /// Closed by the peer; this side may still send.
    CloseWait,
    /// Closed by both at once; FIN not yet acknowledged.
    Closing,
    /// Closed by the peer, then here; FIN not yet acknowledged.
    LastAck,
    /// Closed; waiting until stray segments have left the network.
    TimeWait,
}

impl State {
    /// The handshake is over and the connection has not ended.
    pub fn is_synchronized(self) -> bool {
        !matches!(
            self,
            Self::Closed | Self::Listen | Self::SynSent | Self::SynReceived
        )
    }
}

/// Why a connection ended before both sides closed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The peer answered SYN with RST: there is no listener.
    #[error("connection refused")]
    Refused,
    /// The peer sent RST.
    #[error("connection reset by the peer")]
    Reset,
    /// Retransmissions were not answered: the path is interrupted, or drops everything.
    #[error("connection timed out")]
    TimedOut,
    /// [`Endpoint::abort`] was called here.
    #[error("connection aborted")]
    Aborted,
}

/// No algorithm has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownAlgorithm {
    /// Not in [`congestion::REGISTRY`].
    #[error("no congestion control is called {0:?}")]
    Congestion(String),
    /// Not in [`loss::REGISTRY`].
    #[error("no loss detection is called {0:?}")]
    Loss(String),
}

/// One end of a TCP connection, without I/O.
///
/// Usage: after every call that may change the state (`connect`, `write`, `read`, `close`, `on_segment`, `on_timer`),
/// call [`Endpoint::poll_transmit`] until it returns `None` and deliver the segments to the other side; then arrange
/// a call of [`Endpoint::on_timer`] at [`Endpoint::next_timer`]. Polling after *each* segment is important: pending
/// acknowledgements are not queued, they are merged. `now` must never decrease.
#[derive(Debug)]
pub struct Endpoint {
    config: Arc<Config>,
    state: State,
    error: Option<Error>,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    /// A segment outside the stream: RST, or an answer to a segment that does not belong to the connection.
    control: Option<Box<Segment>>,
    ts_recent: u32,
    ts_recent_at: Nanos,
    time_wait_at: Option<Nanos>,
    /// Answers to segments without data outside the window have at least this distance in time.
    stray_ack_at: Option<Nanos>,
    peer_mss: u32,
    peer_scale: Option<u8>,
    passive: bool,
    /// The application has done something after which there may be data to send.
    touched: bool,
    /// Data waits for a window: to write more lets nothing out until something arrives or a timer expires.
    stuck: bool,
    /// A congestion mark has arrived; every acknowledgement echoes it until the peer answers with CWR.
    echoes: bool,
    /// Marks that have arrived, for accurate feedback.
    counted: accurate::Counted,
    /// What earlier connections to the peer have left.
    known: Option<Box<Destination>>,
    early: early::Early,
    buffer: SendBuffer,
    /// Since when data can be exchanged, or could be before the connection ended.
    opened: Option<Nanos>,
}

impl Endpoint {
    /// A closed endpoint with these algorithms.
    pub fn new(
        config: &Config,
        congestion: Box<dyn CongestionControl>,
        loss: Box<dyn LossDetection>,
    ) -> Self {
        let numbers = Numbers {
            isn: config.isn,
            seed: config.seed,
        };
        Self::sharing(&Arc::new(config.clone()), numbers, congestion, loss)
    }

    /// A closed endpoint, one of many of a kind, which share their settings; `numbers` take the place of those in `config`.
    pub fn sharing(
        config: &Arc<Config>,
        numbers: Numbers,
        congestion: Box<dyn CongestionControl>,
        loss: Box<dyn LossDetection>,
    ) -> Self {
        Self {
            sender: Sender::new(config, numbers, congestion, loss),
            receiver: Receiver::new(config, numbers.seed),
            config: Arc::clone(config),
            state: State::Closed,
            error: None,
            control: None,
            ts_recent: 0,
            ts_recent_at: 0,
            time_wait_at: None,
            stray_ack_at: None,
            peer_mss: 536,
            peer_scale: None,
            passive: false,
            touched: false,
            stuck: false,
            echoes: false,
            counted: accurate::Counted::default(),
            known: None,
            early: early::Early::default(),
            buffer: SendBuffer::new(&config.send),
            opened: None,
        }
    }

    /// The connection starts with what earlier ones to the peer have left. Call this before it is established.
    pub fn set_destination(&mut self, known: Destination) {
        self.known = Some(Box::new(known));
    }

    /// A closed endpoint with algorithms from the registries.
    ///
    /// # Errors
    /// If a name is in none of the registries.
    pub fn with_names(
        config: &Config,
        congestion: &str,
        loss: &str,
    ) -> Result<Self, UnknownAlgorithm> {
        let control = congestion::find(congestion)
            .ok_or_else(|| UnknownAlgorithm::Congestion(congestion.to_owned()))?;
        let detection = loss::find(loss).ok_or_else(|| UnknownAlgorithm::Loss(loss.to_owned()))?;
        Ok(Self::new(config, (control.build)(), (detection.build)()))
    }

    /// Installs `observer`, which is informed of all events from now on.
    pub fn observe(&mut self, observer: Box<dyn Observer>) {
        self.sender.observer = Some(observer);
    }

    /// State of the connection.
    pub fn state(&self) -> State {
        self.state
    }

    /// Why it ended, unless by closing.
    pub fn error(&self) -> Option<Error> {
        self.error
    }

    /// The configuration it was made with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Event counters of both halves.
    pub fn counters(&self) -> &Counters {
        &self.sender.counters
    }

    /// A snapshot of the sender.
    pub fn info(&self) -> Info {
        self.sender.info(self.counted.ce_packets())
    }

    /// What keeps it from sending more, after all that could be sent has been polled.
    pub fn standing(&self) -> Standing {
        self.sender.standing()
    }

    /// The congestion control.
    pub fn congestion(&self) -> &dyn CongestionControl {
        self.sender.congestion.control.algorithm.as_ref()
    }

    /// The sender's scoreboard.
    pub fn board(&self) -> &crate::board::Board {
        &self.sender.board
    }

    /// Maximum payload of a segment to be sent, bytes: a cheaper way to read [`Info::snd_mss`].
    pub fn snd_mss(&self) -> u32 {
        self.sender.agreed.mss
    }

    /// The options that both sides use, as the bits of Linux's `tcpi_options`: timestamps 1, SACK 2, window scaling 4, ECN 8,
    /// data of a SYN that was acknowledged with it 32. 0 before the handshake.
    pub fn options(&self) -> u8 {
        if !self.has_opened() {
            return 0;
        }
        u8::from(self.sender.agreed.timestamps)
            | u8::from(self.sender.agreed.sack) << 1
            | u8::from(self.scaling().is_some()) << 2
            | u8::from(self.sender.ecn.on()) << 3
            | u8::from(self.syn_data_accepted()) << 5
    }

    /// True once data could be exchanged: the handshake was completed, or data was accepted with the SYN. It stays true
    /// when the connection ends.
    pub fn has_opened(&self) -> bool {
        self.opened.is_some()
    }

    /// When data last arrived, or else when the connection opened (Linux `icsk_ack.lrcvtime`); 0 before.
    pub fn last_data_at(&self) -> Nanos {
        self.opened
            .map_or(0, |at| at.max(self.receiver.last_data()))
    }

    /// Changes which small segments wait from now on (`TCP_NODELAY` on an open connection).
    pub fn set_nagle(&mut self, nagle: crate::config::Nagle) {
        self.stuck = false;
        self.sender.set_nagle(nagle);
    }

    /// Changes the rate of sending from now on (`SO_MAX_PACING_RATE` on an open connection).
    pub fn set_pacing(&mut self, pacing: Option<crate::config::Pacing>) {
        self.stuck = false;
        self.sender.set_pacing(pacing);
    }

    /// Whether the host's own device refuses packets for now. While it does, data stays unsent and counts as not sent;
    /// the first attempt reduces the window, once per window of data, as after a congestion mark (Linux: local
    /// congestion, `tcp_enter_cwr`). Acknowledgements, probes and the handshake are sent all the same.
    #[inline]
    pub fn set_device_full(&mut self, full: bool) {
        self.stuck = false;
        self.sender.set_device_full(full);
    }

    /// Holds small segments back until this ends, or no other data was sent for a timeout (`TCP_CORK`).
    pub fn set_cork(&mut self, on: bool) {
        self.stuck = false;
        self.sender.set_cork(on);
    }

    /// Ends the connection once retransmissions, or probes of a closed window, have gone unanswered for this time
    /// (`TCP_USER_TIMEOUT`; RFC 9293 section 3.10.8).
    pub fn set_user_timeout(&mut self, limit: Option<Nanos>) {
        self.sender.set_user_timeout(limit);
    }

    /// As [`Endpoint::write`]. `more`: another write will follow soon, and a small segment at the end waits for it
    /// (`MSG_MORE`). `end`: no later data goes into a segment with this (`MSG_EOR`).
    pub fn write_with(&mut self, bytes: u64, more: bool, end: bool) -> u64 {
        let taken = self.write(bytes);
        if taken > 0 {
            self.sender.note_write(more, end && taken == bytes);
        }
        taken
    }

    /// Appends `bytes` to the stream; returns how many the send buffer accepted. 0 after closing.
    pub fn write(&mut self, bytes: u64) -> u64 {
        if self.sender.stream.fin_queued || self.error.is_some() {
            return 0;
        }
        let sender = &self.sender;
        let room = self
            .buffer
            .room(self.unacknowledged(), || sender.buffer_demand());
        let taken = bytes
            .min(room)
            .min((1 << 62) - self.sender.stream.write_end.min(1 << 62));
        self.buffer.note(bytes, taken);
        self.sender.check_app_limited();
        self.sender.stream.write_end += taken;
        if taken > 0 {
            self.sender.note_write(false, false);
        }
        self.touched |= taken > 0 && !self.stuck;
        taken
    }

    /// True once after the application has written, closed, or read so much that the peer must be informed: time to
    /// poll. Arriving segments do not set it, nor does data behind other data that waits for a window.
    pub fn take_touched(&mut self) -> bool {
        std::mem::take(&mut self.touched)
    }

    /// True if the send buffer did not take all of the last write, and another write would change nothing.
    #[inline]
    pub fn stays_full(&self) -> bool {
        self.buffer.stays_full(self.unacknowledged()) && !self.sender.notes_writes()
    }

    /// Bytes written and not yet acknowledged.
    #[inline]
    pub fn unacknowledged(&self) -> u64 {
        let stream = &self.sender.stream;
        stream.write_end - stream.una.clamp(stream.iss + 1, stream.write_end)
    }

    /// Bytes that arrived out of order and wait behind a gap.
    pub fn waiting_bytes(&self) -> u64 {
        self.receiver.waiting()
    }

    /// Bytes that can be read.
    pub fn readable(&self) -> u64 {
        if self.receiver.rcv_nxt == 0 {
            return 0;
        }
        self.receiver.readable()
    }

    /// Removes up to `bytes` from the receive buffer; returns how many there were.
    pub fn read(&mut self, bytes: u64) -> u64 {
        if self.receiver.rcv_nxt == 0 {
            return 0;
        }
        let (taken, opened) = self.receiver.read(bytes);
        if opened && self.state.is_synchronized() {
            self.touched = true;
            self.receiver.ack_now();
        }
        taken
    }

    /// True once the peer has closed its direction and everything before has arrived.
    pub fn peer_closed(&self) -> bool {
        self.receiver.fin_taken
    }

    /// No more data from here: FIN follows what has been written.
    pub fn close(&mut self) {
        self.touched = true;
        match self.state {
            State::Closed | State::Listen | State::SynSent => {
                self.state = State::Closed;
                self.sender.stop();
            }
            State::SynReceived | State::Established => {
                self.sender.stream.fin_queued = true;
                if self.state == State::Established || self.is_early() {
                    self.state = State::FinWait1;
                }
            }
            State::CloseWait => {
                self.sender.stream.fin_queued = true;
                self.state = State::LastAck;
            }
            _ => {}
        }
    }

    /// As [`Endpoint::close`], but waits for the handshake if it is in progress: data that was written is sent first
    /// (a socket with `SO_LINGER`).
    pub(crate) fn close_after_open(&mut self) {
        if self.state == State::SynSent {
            self.touched = true;
            self.sender.stream.fin_queued = true;
        } else {
            self.close();
        }
    }

    /// Ends the connection with RST.
    pub fn abort(&mut self) {
        self.touched = true;
        if self.state.is_synchronized() || self.state == State::SynReceived {
            self.control = Some(Box::new(self.reset_segment()));
        }
        self.fail(Error::Aborted);
    }

    /// Offset in the stream of the payload of a segment sent by this endpoint, bytes.
    pub fn stream_offset(&self, segment: &Segment) -> u64 {
        let start = seq::expand(self.sender.stream.nxt, segment.seq);
        let syn = u64::from(segment.flags.has(crate::Flags::SYN));
        (start + syn).saturating_sub(self.sender.stream.iss + 1)
    }

    /// Parts of the peer's stream that the last segment delivered for the first time: (from, to) in bytes from the
    /// start of the stream. A program that transports real bytes stores these.
    pub fn accepted(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let first = self.receiver.irs + 1;
        self.receiver
            .accepted()
            .iter()
            .map(move |&(start, end)| (start - first, end - first))
    }

    /// When [`Endpoint::on_timer`] must be called next.
    #[inline]
    pub fn next_timer(&self) -> Option<Nanos> {
        let at = first(self.sender.next_timer(), self.receiver.next_timer());
        first(at, self.time_wait_at).filter(|at| *at != Nanos::MAX)
    }

    /// Called at the time [`Endpoint::next_timer`] (earlier calls have no effect).
    pub fn on_timer(&mut self, now: Nanos) {
        self.stuck = false;
        if self.time_wait_at.is_some_and(|at| at <= now) {
            self.time_wait_at = None;
            self.state = State::Closed;
            self.sender.stop();
        }
        if matches!(self.state, State::Closed | State::Listen) {
            return;
        }
        self.receiver.on_timer(now, &mut self.sender.counters);
        if !self.sender.on_timer(now) {
            self.fail(Error::TimedOut);
        }
    }

    fn fail(&mut self, error: Error) {
        if self.state != State::Closed {
            self.error = Some(error);
        }
        self.state = State::Closed;
        self.time_wait_at = None;
        self.sender.stop();
        self.receiver.stop();
    }

    fn enter_time_wait(&mut self, now: Nanos) {
        self.state = State::TimeWait;
        self.time_wait_at = Some(now.saturating_add(self.config.time_wait));
        self.sender.stop();
    }
}
