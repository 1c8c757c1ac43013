//! From CLOSED to ESTABLISHED (RFC 9293 sections 3.5, 3.10.7.2 and 3.10.7.3), and the negotiation of options.

use super::{Endpoint, Error, State};
use crate::Nanos;
use crate::segment::{Flags, Segment};
use crate::seq;

impl Endpoint {
    /// Active open: the next poll returns a SYN. Only from CLOSED, before any connection.
    pub fn connect(&mut self, now: Nanos) {
        if self.state != State::Closed
            || self.error.is_some()
            || self.sender.stream.una > self.sender.stream.iss
        {
            return;
        }
        self.state = State::SynSent;
        self.sender.send_syn(now);
    }

    /// Passive open: waits for a SYN. Only from CLOSED, before any connection.
    pub fn listen(&mut self) {
        if self.state == State::Closed && self.error.is_none() && self.receiver.rcv_nxt == 0 {
            self.state = State::Listen;
            self.passive = true;
            self.sender.open_passively();
        }
    }

    pub(super) fn in_listen(&mut self, now: Nanos, segment: &Segment) {
        let flags = segment.flags;
        if flags.has(Flags::RST) {
            return;
        }
        if flags.has(Flags::ACK) {
            self.refuse(segment);
            return;
        }
        if !flags.has(Flags::SYN) {
            return;
        }
        self.take_syn(now, segment);
        self.state = State::SynReceived;
        if self.early.accepts {
            self.open_early(now, segment);
        } else {
            self.sender.send_syn(now);
        }
    }

    pub(super) fn in_syn_sent(&mut self, now: Nanos, segment: &Segment) {
        let flags = segment.flags;
        let ack = seq::expand(self.sender.stream.una, segment.ack);
        let acks_syn =
            flags.has(Flags::ACK) && ack > self.sender.stream.iss && ack <= self.sender.stream.nxt;
        if flags.has(Flags::ACK) && !acks_syn {
            if !flags.has(Flags::RST) {
                self.refuse(segment);
            }
            return;
        }
        if flags.has(Flags::RST) {
            if acks_syn {
                self.fail(Error::Refused);
            }
            return;
        }
        if !flags.has(Flags::SYN) {
            return;
        }
        self.take_syn(now, segment);
        if acks_syn {
            self.established(now, segment);
            self.receiver.ack_now();
            self.take_early_answer(now, segment);
        } else {
            // Both sides opened at once: answer with SYN-ACK, the same SYN as before.
            self.state = State::SynReceived;
            self.sender.send_syn(now);
        }
    }

    /// Stores the peer's initial sequence number and options.
    fn take_syn(&mut self, now: Nanos, segment: &Segment) {
        self.receiver.start(segment.seq);
        self.peer_mss = segment.mss.map_or(536, u32::from).max(1);
        self.peer_scale = segment.window_scale.map(|scale| scale.min(14));
        self.sender.agreed.sack = self.config.options.sack && segment.sack_permitted;
        self.sender.agreed.timestamps =
            self.config.options.timestamps && segment.timestamps.is_some();
        self.receiver.set_sack(self.sender.agreed.sack);
        if self.passive {
            let options = if self.sender.agreed.timestamps { 12 } else { 0 };
            self.receiver
                .round_offer(self.config.mss.saturating_sub(options));
        }
        self.agree_on_ecn(segment);
        if let Some(ts) = segment.timestamps {
            self.ts_recent = ts.val;
            self.ts_recent_at = now;
        }
    }

    /// Window scaling is used only if both sides offered it (RFC 7323 section 2.2).
    pub(super) fn scaling(&self) -> Option<u8> {
        self.config.options.window_scale.and(self.peer_scale)
    }

    /// The payload of a full segment by what both sides announced, which the receiver learns with the other options.
    pub(super) fn agree_on_segments(&mut self) -> u32 {
        let options = if self.sender.agreed.timestamps { 12 } else { 0 };
        let mss = self
            .config
            .mss
            .min(self.peer_mss)
            .saturating_sub(options)
            .max(1);
        let own = self
            .scaling()
            .and(self.config.options.window_scale)
            .unwrap_or(0);
        self.receiver
            .establish(own.min(14), self.sender.agreed.sack, mss);
        mss
    }

    /// The handshake is complete; `segment` acknowledges our SYN.
    pub(super) fn established(&mut self, now: Nanos, segment: &Segment) {
        let (sack, timestamps) = (self.sender.agreed.sack, self.sender.agreed.timestamps);
        let mss = self.agree_on_segments();
        self.receiver.opens(now);
        if self.state == State::SynReceived {
            self.take_third(segment);
        }
        self.take_ack(
            now,
            segment,
            seq::expand(self.receiver.rcv_nxt, segment.seq),
        );
        if let Some(known) = self.known.take() {
            self.sender.start_from(&known);
        }
        if !self.sender.early.answers {
            self.sender.establish(now, mss, sack, timestamps);
        }
        self.opened.get_or_insert(now);
        self.state = if self.sender.stream.fin_queued {
            State::FinWait1
        } else {
            State::Established
        };
        self.set_full_mss(mss);
        self.fit_segments();
    }
}
