//! Data before the handshake is over (RFC 7413, TCP Fast Open).
//!
//! Cookies belong to the host, which knows addresses and keys: it decides whether a SYN may carry data
//! ([`Endpoint::connect_with`]) and whether the data of one is accepted ([`Endpoint::accept_early`]). It also adds the
//! option to the SYN or SYN-ACK that it sends.

use super::{Endpoint, State};
use crate::Nanos;
use crate::segment::{Flags, Segment};
use crate::seq::Seq;

/// The largest window that a SYN can announce, bytes: its field is never scaled.
const UNSCALED: u64 = 65_535;

/// What the host allows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Early {
    /// The next SYN opens the connection with its data, before the handshake is over.
    pub(super) accepts: bool,
    /// Our SYN asked for Fast Open: the SYN-ACK may carry data.
    asks: bool,
}

impl Endpoint {
    /// Active open with TCP Fast Open: the SYN carries `bytes` of data. With 0 bytes the SYN only asks for a cookie, or shows
    /// one. Nothing happens where [`Endpoint::connect`] does nothing.
    pub fn connect_with(&mut self, now: Nanos, bytes: u64) {
        if self.state != State::Closed
            || self.error.is_some()
            || self.sender.stream.una > self.sender.stream.iss
        {
            return;
        }
        self.early.asks = true;
        self.state = State::SynSent;
        self.sender
            .send_syn_with(now, bytes.min(u64::from(self.config.mss)));
    }

    /// The next SYN that arrives opens the connection at once, and its data is accepted: call this if the host takes the SYN's
    /// cookie for valid.
    pub fn accept_early(&mut self) {
        self.early.accepts = true;
    }

    /// The SYN-ACK is not acknowledged yet, but data may be exchanged.
    pub fn is_early(&self) -> bool {
        self.state == State::SynReceived && self.sender.early.answers
    }

    /// Data was acknowledged with the SYN that carried it, here or by the peer.
    pub(super) fn syn_data_accepted(&self) -> bool {
        self.sender.early.syn_data_acked
    }

    /// The SYN just taken opens the connection; the SYN-ACK acknowledges its data.
    pub(super) fn open_early(&mut self, now: Nanos, segment: &Segment) {
        let mss = self.agree_on_segments();
        self.sender.open_early(now, mss, u64::from(segment.window));
        self.opened = Some(now);
        // The data may fill the window that the SYN-ACK will offer, which nobody has seen yet.
        self.receiver.advertise(false);
        self.take_syn_payload(now, segment);
        self.sender.early.syn_data_acked = segment.payload > 0;
        self.set_full_mss(mss);
        self.fit_segments();
    }

    /// The SYN-ACK has opened the connection: what it left of our SYN's data is sent again, and its own data is taken.
    pub(super) fn take_early_answer(&mut self, now: Nanos, segment: &Segment) {
        if !self.early.asks {
            return;
        }
        self.sender.settle_syn_data(now);
        self.receiver.advertise(false);
        self.take_syn_payload(now, segment);
        self.progress(now);
    }

    fn take_syn_payload(&mut self, now: Nanos, segment: &Segment) {
        let start: Seq = self.receiver.rcv_nxt;
        let end = start + u64::from(segment.payload).min(UNSCALED);
        if segment.payload > 0 {
            let rtt = self.sender.time.rtt.srtt;
            self.receiver
                .on_data(now, start, end, rtt, &mut self.sender.counters);
            self.receiver.was_in_syn();
        }
        if segment.flags.has(Flags::FIN) && self.receiver.fin.is_none() {
            self.receiver.fin = Some(end);
        }
    }
}
