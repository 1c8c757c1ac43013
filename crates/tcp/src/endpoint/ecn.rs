//! Explicit congestion notification (RFC 3168 section 6.1): negotiation in the SYNs, and the echo of a mark until the
//! peer reports that it has reduced its window, or exactly for the marked data (RFC 8257 section 3.2). The sender's
//! reaction to an echo is in `sender/ecn.rs`. Feedback by counters is `accurate`.

use super::Endpoint;
use crate::Nanos;
use crate::accurate_ecn::EcnOption;
use crate::config::EcnUse;
use crate::segment::{Ecn, Flags, Segment};
use crate::sender::Agreement;

const REQUEST: Flags = Flags::ECE.with(Flags::CWR);

impl Endpoint {
    /// Bits of our SYN: a request, which a retransmitted SYN omits, because the request may have been the reason for
    /// the loss (section 6.1.1.1; an accurate one is repeated once).
    pub(super) fn ecn_request(&self) -> Flags {
        let sent = self.sender.board.front().map_or(1, |syn| syn.transmissions);
        match self.ecn_use() {
            EcnUse::Accurate => self.accurate_request(sent),
            how if how.requests() && (sent == 1 || !self.config.ecn.fallback) => REQUEST,
            _ => Flags::NONE,
        }
    }

    /// The configuration, unless the congestion control needs ECN.
    fn ecn_use(&self) -> EcnUse {
        match (
            self.sender.congestion.control.needs_ecn,
            self.config.ecn.usage,
        ) {
            (false, how) | (true, how @ EcnUse::Accurate) => how,
            (true, _) => EcnUse::Request,
        }
    }

    /// The ECN field of segments that can be marked.
    pub(super) fn capable(&self) -> Ecn {
        match self.config.ecn.ect1 {
            true => Ecn::Capable1,
            false => Ecn::Capable0,
        }
    }

    /// The ECN field of segments that carry no new data: with a congestion control that lives on marks they can be marked,
    /// too (Linux), if `on`.
    pub(super) fn always_capable(&self, on: bool) -> Ecn {
        match on && self.sender.congestion.control.needs_ecn {
            true => self.capable(),
            false => Ecn::NotCapable,
        }
    }

    /// Bits of our SYN-ACK, and the option of accurate ECN.
    pub(super) fn ecn_answer(&self) -> (Flags, Option<EcnOption>) {
        match self.sender.ecn.agreed {
            Agreement::None => (Flags::NONE, None),
            Agreement::Classic => (Flags::ECE, None),
            Agreement::Accurate => self.accurate_answer(),
        }
    }

    /// Processes the peer's SYN or SYN-ACK: decides whether ECN is used, and with which feedback.
    pub(super) fn agree_on_ecn(&mut self, syn: &Segment) {
        self.sender.ecn.agreed = self.negotiate(syn, self.ecn_use());
    }

    /// What a segment that is not a SYN says of marks that have arrived. `pure`: it has no payload.
    pub(super) fn echo(&mut self, pure: bool) -> Flags {
        match (self.sender.ecn.accurate(), self.echoes) {
            (true, _) => self.ace(pure),
            (false, true) => Flags::ECE,
            (false, false) => Flags::NONE,
        }
    }

    /// The ECN field of an acknowledgement.
    pub(super) fn acknowledgement_field(&self) -> Ecn {
        match self.sender.ecn.accurate() {
            true => self.accurate_field(),
            false => self.always_capable(self.sender.ecn.on()),
        }
    }

    /// Data has arrived: CWR ends the echo; a mark starts one and is acknowledged at once.
    pub(super) fn notice_mark(&mut self, now: Nanos, segment: &Segment) {
        if !self.sender.ecn.classic() {
            return;
        }
        if self.sender.congestion.control.needs_ecn {
            return self.echo_exactly(now, segment.ecn == Ecn::Congestion);
        }
        if segment.flags.has(Flags::CWR) {
            self.echoes = false;
            self.receiver.ack_now();
        }
        if segment.ecn == Ecn::Congestion {
            if !self.echoes {
                self.receiver.ack_now();
            }
            self.echoes = true;
        }
    }

    /// RFC 8257 section 3.2: every acknowledgement says whether the data before it was marked. When that changes, what
    /// waits to be acknowledged is acknowledged first, with the old echo, and the new data at once.
    fn echo_exactly(&mut self, now: Nanos, marked: bool) {
        if self.echoes == marked {
            return;
        }
        if self.receiver.waits_to_acknowledge() && self.control.is_none() {
            self.sender.counters.sent.out_segs += 1;
            self.sender.counters.acks.acks_out += 1;
            self.control = Some(Box::new(self.acknowledgement(now, true)));
        }
        self.echoes = marked;
        self.receiver.ack_now();
    }
}
