//! Data before the handshake is over (RFC 7413, TCP Fast Open): in a SYN, and behind a SYN-ACK that is not acknowledged.
//!
//! The SYN-ACK of an early connection is not on the scoreboard, so that it counts neither as outstanding nor as lost
//! (as in Linux, where it belongs to the request and not to the connection). The data in a SYN is a record of its own
//! behind that of the SYN: a repeated SYN carries none.

use super::{Outgoing, Sender};
use crate::Nanos;
use crate::state::CaState;
use crate::time::elapsed;

/// What is special about a connection with early data.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Early {
    /// A SYN-ACK was sent, and data may follow it before it is acknowledged.
    pub(crate) answers: bool,
    /// When the SYN-ACK was last sent.
    answered_at: Nanos,
    /// How often the SYN or SYN-ACK was sent again.
    pub(crate) repeats: u32,
    /// Bytes in the SYN.
    pub(crate) in_syn: u64,
    /// The SYN-ACK acknowledged all of them.
    pub(crate) syn_data_acked: bool,
}

impl Sender {
    /// The SYN carries up to `bytes` of what was written.
    pub(crate) fn send_syn_with(&mut self, now: Nanos, bytes: u64) {
        self.send_syn(now);
        if bytes > 0 {
            self.early.in_syn = bytes;
            self.stream.write_end = self.stream.write_end.max(self.stream.nxt + bytes);
            let start = self.stream.nxt;
            self.append(now, start, start + bytes, false, false);
            self.counters.sent.bytes_sent += bytes;
        }
    }

    /// Payload of the SYN that is sent for the first time now.
    pub(super) fn early_payload(&mut self, now: Nanos) -> u32 {
        if self.early.in_syn == 0 {
            return 0;
        }
        let data = self.board.front_id() + 1;
        self.board.set_sent(data, now);
        self.early.in_syn as u32
    }

    /// What the SYN-ACK left unacknowledged of the SYN's data is sent again at once. That is no sign of congestion:
    /// neither window nor threshold change (Linux `tcp_non_congestion_loss_retransmit`).
    pub(crate) fn settle_syn_data(&mut self, now: Nanos) {
        if self.early.in_syn == 0 {
            return;
        }
        let (from, to) = (self.stream.una, self.stream.iss + 1 + self.early.in_syn);
        if from >= to {
            self.early.syn_data_acked = true;
            return;
        }
        // The peer's segments may be smaller than the SYN could be, so the record is cut anew.
        let mut known = Vec::new();
        self.board.acknowledge(to, &mut known);
        let mss = u64::from(self.agreed.mss);
        let mut start = from;
        while start < to {
            let id = self.board.next_id();
            let end = to.min(start + mss);
            self.append(now, start, end, false, false);
            self.board.mark_lost(id);
            start = end;
        }
        self.loss.recovery.high_seq = self.stream.nxt;
        self.loss.undo.marker = None;
        self.set_state(now, CaState::Loss);
    }

    /// A SYN with acceptable data has arrived: its SYN-ACK is sent next, and the connection is usable.
    pub(crate) fn open_early(&mut self, now: Nanos, mss: u32, window: u64) {
        self.early.answers = true;
        self.stream.nxt = self.stream.iss + 1;
        self.peer.window = window;
        self.peer.largest = window;
        let (sack, timestamps) = (self.agreed.sack, self.agreed.timestamps);
        self.establish(now, mss, sack, timestamps);
        self.loss.recovery.force_retransmit = true;
        self.rearm_timeout(now);
    }

    /// The SYN-ACK, also if it is repeated.
    pub(super) fn early_answer(&mut self, now: Nanos) -> Outgoing {
        self.early.answered_at = now;
        self.counters.sent.out_segs += 1;
        self.counters.sent.retrans_segs += u64::from(self.early.repeats > 0);
        Outgoing {
            start: self.stream.iss,
            payload: 0,
            syn: true,
            fin: false,
            push: false,
            markable: false,
            cwr: false,
        }
    }

    /// The peer has acknowledged the SYN-ACK; its round trip is a measurement unless it was repeated.
    pub(super) fn early_answer_acknowledged(&mut self, now: Nanos) {
        self.stream.una = self.stream.iss + 1;
        self.time.timers.expiries = 0;
        if self.early.repeats == 0 {
            let rtt = elapsed(now, self.early.answered_at);
            self.time
                .rtt
                .sample(now, rtt, self.stream.una, self.stream.nxt);
        }
        self.time.timers.timer = None;
        self.rearm(now);
    }
}
