//! Explicit congestion notification (RFC 3168 section 6.1): negotiation in the SYNs, and the echo of a mark until the
//! peer reports that it has reduced its window, or exactly for the marked data (RFC 8257 section 3.2). The sender's
//! reaction to an echo is in `sender/ecn.rs`.

use super::{Endpoint, State};
use crate::Nanos;
use crate::config::EcnUse;
use crate::segment::{Ecn, Flags, Segment};

const REQUEST: Flags = Flags::ECE.with(Flags::CWR);

impl Endpoint {
    /// Bits of our SYN: a request, which a retransmitted SYN omits, because the request may have been the reason for
    /// the loss (section 6.1.1.1).
    pub(super) fn ecn_request(&self) -> Flags {
        let again = self
            .sender
            .board
            .front()
            .is_some_and(|syn| syn.transmissions > 1);
        match self.ecn_use() {
            EcnUse::Request if !again => REQUEST,
            _ => Flags::NONE,
        }
    }

    /// The configuration, unless the congestion control needs ECN.
    fn ecn_use(&self) -> EcnUse {
        match self.sender.control.needs_ecn {
            true => EcnUse::Request,
            false => self.config.ecn,
        }
    }

    /// The ECN field of segments that can be marked.
    pub(super) fn capable(&self) -> Ecn {
        match self.config.ect1 {
            true => Ecn::Capable1,
            false => Ecn::Capable0,
        }
    }

    /// The ECN field of segments that carry no new data: with a congestion control that lives on marks they can be marked,
    /// too (Linux), if `on`.
    pub(super) fn always_capable(&self, on: bool) -> Ecn {
        match on && self.sender.control.needs_ecn {
            true => self.capable(),
            false => Ecn::NotCapable,
        }
    }

    /// Bits of our SYN-ACK.
    pub(super) fn ecn_answer(&self) -> Flags {
        if self.sender.ecn.on {
            Flags::ECE
        } else {
            Flags::NONE
        }
    }

    /// Processes the peer's SYN or SYN-ACK: decides whether ECN is used.
    pub(super) fn agree_on_ecn(&mut self, syn: &Segment) {
        let asked = syn.flags.has(REQUEST);
        let answered = syn.flags.has(Flags::ECE) && !syn.flags.has(Flags::CWR);
        self.sender.ecn.on = match (self.state, self.ecn_use()) {
            (_, EcnUse::Off) => false,
            (State::Listen, _) => asked,
            (_, EcnUse::Accept) => false,
            // Both opened at once, or the answer to our request.
            _ if syn.flags.has(Flags::ACK) => answered,
            _ => asked,
        };
    }

    /// Data has arrived: CWR ends the echo; a mark starts one and is acknowledged at once.
    pub(super) fn notice_mark(&mut self, now: Nanos, segment: &Segment) {
        if !self.sender.ecn.on {
            return;
        }
        if self.sender.control.needs_ecn {
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
            self.sender.counters.out_segs += 1;
            self.sender.counters.acks_out += 1;
            self.control = Some(self.acknowledgement(now));
        }
        self.echoes = marked;
        self.receiver.ack_now();
    }
}
