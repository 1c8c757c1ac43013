//! The next segment to send: retransmissions, then new data, then segments that are missing but not lost.

use super::Sender;
use crate::Nanos;
use crate::board::Sent;
use crate::config::{LimitedTransmit, Nagle};
use crate::congestion::Event;
use crate::loss::Transmission;
use crate::seq::Seq;
use crate::state::CaState;
use crate::time::elapsed;

/// A segment to be sent; the endpoint adds acknowledgement, window and options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Outgoing {
    pub(crate) start: Seq,
    /// Payload, bytes.
    pub(crate) payload: u32,
    pub(crate) syn: bool,
    pub(crate) fin: bool,
    pub(crate) push: bool,
    /// New data: marked as ECN-capable if classic ECN was negotiated (RFC 3168 section 6.1.5: no retransmissions).
    pub(crate) markable: bool,
    /// Informs the peer that the window was reduced (CWR).
    pub(crate) cwr: bool,
}

/// What keeps a sender from sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Held {
    /// The connection is not open.
    Opening,
    /// There is nothing to send, or only a small segment that Nagle's rule delays.
    Data,
    /// The congestion window is full.
    Window,
    /// The peer's window is full or closed.
    Peer,
    /// Its windows have room: it waits for the time that pacing sets, for a larger burst, or for its device.
    Pace,
}

impl Sender {
    /// What keeps it from sending now, by the rules of [`Sender::poll`].
    pub(super) fn held(&self) -> Held {
        if self.stream.opening() {
            return Held::Opening;
        }
        let lost = self.board.lost_out() > self.board.retrans_out();
        if !self.stream.has_new() && !lost {
            return Held::Data;
        }
        if self.flight() >= self.effective_window() {
            return Held::Window;
        }
        let waiting = self.stream.unsent();
        let mss = u64::from(self.agreed.mss);
        if waiting < mss && !lost && self.nagle_holds() {
            return Held::Data;
        }
        if self.room() < waiting.min(mss) {
            return Held::Peer;
        }
        Held::Pace
    }

    /// After a poll that found nothing to send: true if a full segment waits for a window, so that more data behind it
    /// changes nothing. False where how much data waits has a part in the decision, or only a later time has.
    pub(crate) fn waits_for_window(&self) -> bool {
        !self.board.is_empty()
            && self.stream.unsent() >= u64::from(self.agreed.mss)
            && self.config.send.tso_segments < 2
            && !self.is_paced()
            && !self.loss.detection.governs_sending
            && !self.congestion.usage.device_full
    }

    /// Queues the SYN, which is sent with the next poll.
    pub(crate) fn send_syn(&mut self, now: Nanos) {
        if self.stream.nxt == self.stream.iss {
            self.append(now, self.stream.iss, self.stream.iss + 1, true, false);
        }
        self.loss.recovery.force_retransmit = true;
        if self.time.timers.timer.is_none() {
            self.rearm_timeout(now);
        }
    }

    /// The next segment, if one may be sent now.
    pub(crate) fn poll(&mut self, now: Nanos) -> Option<Outgoing> {
        if self.stream.opening() {
            return self.poll_opening(now);
        }
        if self.board.is_empty() && !self.stream.has_new() {
            return None;
        }
        if let Some(outgoing) = self.poll_rest() {
            return Some(outgoing);
        }
        if self.time.timers.probes()
            && let Some(outgoing) = self.poll_probes(now)
        {
            return Some(outgoing);
        }
        if self.board.lost_out() > 0
            && let Some(outgoing) = self.poll_lost(now)
        {
            return Some(outgoing);
        }
        if let Some(outgoing) = self.poll_new(now) {
            return Some(outgoing);
        }
        if self.frto_falls_back()
            && let Some(outgoing) = self.poll_lost(now)
        {
            return Some(outgoing);
        }
        self.poll_forward(now)
    }

    fn poll_opening(&mut self, now: Nanos) -> Option<Outgoing> {
        if let Some(outgoing) = self.poll_syn(now) {
            return Some(outgoing);
        }
        // Before the SYN-ACK is acknowledged nothing is retransmitted but the SYN-ACK (Linux `tcp_retransmit_timer`).
        if self.early.answers {
            self.poll_new(now)
        } else {
            None
        }
    }

    fn poll_syn(&mut self, now: Nanos) -> Option<Outgoing> {
        if !std::mem::take(&mut self.loss.recovery.force_retransmit) {
            return None;
        }
        if self.early.answers {
            return Some(self.early_answer(now));
        }
        let id = self.board.front_id();
        if !std::mem::replace(&mut self.stream.syn_sent, true) {
            // The record was created when the handshake was requested; this is its first transmission.
            self.board.set_sent(id, now);
            let record = *self.board.get(id)?;
            self.counters.sent.out_segs += 1;
            return Some(Outgoing {
                payload: self.early_payload(now),
                ..outgoing(&record, false)
            });
        }
        self.resend(now, id)
    }

    /// Tail loss probes and window probes, which are not limited by windows.
    fn poll_probes(&mut self, now: Nanos) -> Option<Outgoing> {
        if std::mem::take(&mut self.time.timers.tail.send_new) {
            self.time.timers.tail.end = Some(self.stream.nxt);
            if let Some(outgoing) = self.send_new(now, true) {
                self.time.timers.tail.end = Some(self.stream.nxt);
                self.rearm_timeout(now);
                return Some(outgoing);
            }
        }
        if std::mem::take(&mut self.time.timers.tail.retransmit) && !self.board.is_empty() {
            self.time.timers.tail.end = Some(self.stream.nxt);
            return self.probe_tail(now);
        }
        if std::mem::take(&mut self.time.timers.window_probe) && self.board.is_empty() {
            return self.probe_window(now);
        }
        None
    }

    /// If a window stays too small for a segment, sends as much as it allows; for a closed window, sends an empty
    /// segment below it, which the peer must answer.
    fn probe_window(&mut self, now: Nanos) -> Option<Outgoing> {
        let room = self.room();
        let waiting = self.stream.unsent();
        let payload = room.min(waiting).min(u64::from(self.agreed.mss));
        if payload > 0 || (room > 0 && self.stream.fin_due()) {
            return self.send_payload(now, payload);
        }
        self.counters.sent.out_segs += 1;
        Some(Outgoing {
            start: self.stream.una - 1,
            payload: 0,
            syn: false,
            fin: false,
            push: false,
            markable: false,
            cwr: false,
        })
    }

    fn poll_lost(&mut self, now: Nanos) -> Option<Outgoing> {
        // F-RTO retransmits only the segment that starts the detection.
        let forced = self.loss.recovery.force_retransmit;
        if self.loss.recovery.hold_retransmit || (self.frto_holds() && !forced) {
            return None;
        }
        if self.detection_governs() && self.own_verdict(now) == Some(false) {
            return None;
        }
        let allowed =
            self.loss.recovery.force_retransmit || self.flight() < self.effective_window();
        if !allowed {
            self.note_limit(true);
            return None;
        }
        if !self.loss.recovery.force_retransmit && self.pace_holds(now) {
            return None;
        }
        let id = self.board.next_lost()?;
        if self.device_refuses(now) {
            return None;
        }
        self.loss.recovery.force_retransmit = false;
        self.resend(now, id)
    }

    /// RFC 6675 section 4 rule (3) of NextSeg: missing below the highest SACK, not considered lost, and no new data to send.
    fn poll_forward(&mut self, now: Nanos) -> Option<Outgoing> {
        let wanted = self.config.recovery.forward_retransmit
            && self.agreed.sack
            && self.state == CaState::Recovery
            && !self.loss.recovery.hold_retransmit
            && self.stream.write_end <= self.stream.nxt;
        if !wanted || self.flight() >= self.effective_window() || self.pace_holds(now) {
            return None;
        }
        let id = self.board.next_forward()?;
        if self.device_refuses(now) {
            return None;
        }
        self.resend(now, id)
    }

    #[inline]
    pub(super) fn sent(&mut self, now: Nanos, transmission: &Transmission) {
        self.congestion.usage.last_sent_at = now;
        if let Some(rate) = &mut self.congestion.control.rate {
            let idle = !transmission.again && self.board.packets_out() == 1;
            rate.sent(now, transmission.id, idle);
        }
        if !self.loss.detection.governs_sending {
            return;
        }
        self.consult(now, |loss, cx| loss.on_sent(cx, transmission));
    }

    /// New data, if the windows allow it (RFC 6675 section 4 rule (2) of NextSeg).
    fn poll_new(&mut self, now: Nanos) -> Option<Outgoing> {
        if !self.stream.has_new() {
            self.burst_over();
            return None;
        }
        // A closed window does not count as an idle application; idleness counts from its opening.
        if self.board.is_empty() && self.stream.una + self.peer.window > self.stream.nxt {
            self.restart_after_idle(now);
        }
        if self.pace_holds(now) {
            self.burst_over();
            return None;
        }
        if !self.window_allows(now) {
            self.congestion.usage.burst_left = 0;
            self.note_limit(true);
            return None;
        }
        let sent = self.send_new(now, false);
        match sent {
            Some(_) => self.congestion.usage.new_in_burst = true,
            None => self.burst_over(),
        }
        sent
    }

    /// Nothing more can be sent now. What limits the window is determined only after sending, and kept while nothing
    /// is sent (Linux `tcp_write_xmit`).
    fn burst_over(&mut self) {
        self.congestion.usage.burst_left = 0;
        if std::mem::take(&mut self.congestion.usage.new_in_burst) {
            self.note_limit(self.flight() >= self.effective_window());
        }
    }

    /// True if the congestion window allows another new segment.
    fn window_allows(&mut self, now: Nanos) -> bool {
        if self.stream.fin_due() {
            return true;
        }
        if let Some(answer) = self.own_verdict(now) {
            return answer;
        }
        if std::mem::take(&mut self.loss.recovery.one_more) {
            return true;
        }
        let (flight, window) = (self.flight(), self.effective_window());
        if flight >= window {
            return false;
        }
        self.config.send.tso_segments < 2 || self.burst_allows(now, window - flight)
    }

    /// Number of segments that count as in flight.
    fn flight(&self) -> u32 {
        match self.state {
            // A loss detection that controls the window has no recovery state: both the segments it gave up and those
            // that arrived are not in flight.
            _ if self.detection_governs() => self.board.in_flight(),
            CaState::Open | CaState::Disorder
                if self.config.recovery.limited_transmit != LimitedTransmit::Pipe
                    && !self.config.recovery.departures.duplicates_leave_flight =>
            {
                self.board.packets_out()
            }
            // Duplicates inflate the window instead.
            CaState::Recovery if self.counts_outstanding() => self.board.packets_out(),
            _ => self.board.in_flight(),
        }
    }

    /// The window, including the additions by limited transmit or inflation (RFC 5681 section 3.2 steps 1 and 4).
    fn effective_window(&self) -> u32 {
        let extra = match self.state {
            CaState::Open | CaState::Disorder
                if self.config.recovery.limited_transmit == LimitedTransmit::Rfc3042 =>
            {
                self.board.sacked_out().min(2)
            }
            CaState::Recovery => self.loss.recovery.reducer.inflation,
            _ => 0,
        };
        self.congestion.window.cwnd.saturating_add(extra)
    }

    /// The next new segment, if the peer's window and Nagle's rule allow it.
    fn send_new(&mut self, now: Nanos, probe: bool) -> Option<Outgoing> {
        let waiting = self.stream.unsent();
        let room = self.room();
        let full = waiting.min(u64::from(self.agreed.mss));
        let full = self.hold.up_to_end(self.stream.nxt, full);
        let payload = if room >= full {
            full
        } else if self.board.is_empty() && room > 0 && 2 * room >= self.peer.largest {
            // Half of the greatest advertised window is sufficient (silly window avoidance, RFC 9293 section
            // 3.8.6.2.1).
            room
        } else {
            return None;
        };
        let fin = self.stream.fin_queued && self.stream.nxt + payload == self.stream.write_end;
        // Only the last segment can grow.
        let small = payload < u64::from(self.agreed.mss) && payload == waiting;
        if small && !fin && !probe && self.nagle_holds() {
            return None;
        }
        if payload == 0 && !fin {
            return None;
        }
        if !probe && self.device_refuses(now) {
            return None;
        }
        self.send_payload(now, payload)
    }

    fn nagle_holds(&self) -> bool {
        if let Some(holds) = self.hold.decides() {
            return holds;
        }
        match self.config.send.nagle {
            Nagle::Off => false,
            Nagle::Rfc896 => !self.board.is_empty(),
            Nagle::Minshall => self.stream.small_end > self.stream.una,
        }
    }

    fn send_payload(&mut self, now: Nanos, payload: u64) -> Option<Outgoing> {
        let start = self.stream.nxt;
        let last = start + payload == self.stream.write_end;
        let fin = self.stream.fin_queued && last;
        let end = start + payload + u64::from(fin);
        if payload < u64::from(self.agreed.mss) {
            self.stream.small_end = end;
        }
        self.announce(now, payload as u32, false);
        self.note_piece(start);
        let id = self.board.next_id();
        let tsval = self.append(now, start, end, false, fin);
        self.counters.sent.out_segs += 1;
        self.counters.sent.bytes_sent += payload;
        self.congestion.usage.burst_left = self.congestion.usage.burst_left.saturating_sub(1);
        self.count_out();
        self.pace(now, payload);
        if self.config.send.tso_segments > 1 && self.congestion.usage.burst_left == 0 {
            self.congestion.pacer.end_burst();
        }
        self.sent(
            now,
            &Transmission {
                id,
                start,
                end,
                tsval,
                again: false,
            },
        );
        self.arm_after_send(now);
        Some(Outgoing {
            start,
            payload: payload as u32,
            syn: false,
            fin,
            push: last,
            markable: self.ecn.classic() && payload > 0,
            cwr: payload > 0 && self.ecn.take_cwr(),
        })
    }

    /// Adds a new record to the board; returns its timestamp.
    pub(super) fn append(&mut self, now: Nanos, start: Seq, end: Seq, syn: bool, fin: bool) -> u32 {
        let tsval = self.tsval(now);
        self.board.push(Sent {
            start,
            end,
            sent_at: now,
            first_sent_at: now,
            cwnd: self.congestion.window.cwnd,
            tsval,
            transmissions: 1,
            sacked: false,
            lost: false,
            retrans: false,
            syn,
            fin,
        });
        self.stream.nxt = end;
        tsval
    }

    pub(super) fn ends_push(&self, end: Seq) -> bool {
        end >= self.stream.write_end
    }

    /// Sending has stopped, because of the congestion window or for another reason.
    fn note_limit(&mut self, by_cwnd: bool) {
        let packets = self.board.packets_out();
        let stream = &self.stream;
        self.congestion
            .usage
            .note_limit(by_cwnd, packets, stream.una, stream.nxt);
    }

    /// Bytes that the peer's window still allows.
    pub(super) fn room(&self) -> u64 {
        self.peer.room(self.stream.data_una(), self.stream.nxt)
    }

    /// RFC 5681 section 4.1; Linux halves the window once per idle timeout, down to the initial window.
    fn restart_after_idle(&mut self, now: Nanos) {
        let idle = elapsed(now, self.congestion.usage.last_sent_at);
        let rto = self.time.rtt.rto().max(1);
        if self.congestion.usage.last_sent_at == 0 || idle <= rto || !self.shared_rules() {
            return;
        }
        self.congestion.usage.last_sent_at = now;
        if self.config.cwnd.restart_after_idle {
            let floor = self.config.cwnd.initial.min(self.congestion.window.cwnd);
            let keep = self.congestion.window.cwnd - self.congestion.window.cwnd / 4;
            self.congestion.window.ssthresh = self.congestion.window.ssthresh.max(keep);
            let halvings = (idle / rto).min(31) as u32;
            self.congestion.window.cwnd =
                (self.congestion.window.cwnd >> halvings).max(floor).max(1);
            self.congestion.window.count = 0;
        }
        self.tell(now, Event::Restart { ns: idle });
    }
}

pub(super) fn outgoing(record: &Sent, push: bool) -> Outgoing {
    Outgoing {
        start: record.start,
        payload: record.payload(),
        syn: record.syn,
        fin: record.fin,
        push: push && record.payload() > 0,
        markable: false,
        cwr: false,
    }
}
