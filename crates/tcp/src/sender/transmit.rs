//! What goes out next: retransmissions, then new data, then what is merely missing.

use super::{CaState, Sender, Sent, TimerKind};
use crate::Nanos;
use crate::config::{LimitedTransmit, Nagle, Reduction, RtoStyle};
use crate::congestion::Event;
use crate::loss::Transmission;
use crate::observe::Retransmission;
use crate::seq::Seq;
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
    /// New data: routers may mark it, where ECN was agreed on (RFC 3168 section 6.1.5: nothing sent again).
    pub(crate) markable: bool,
    /// It says that the window has come down (CWR).
    pub(crate) cwr: bool,
}

impl Sender {
    /// Queues SYN; it goes out with the next poll.
    pub(crate) fn send_syn(&mut self, now: Nanos) {
        if self.snd_nxt == self.iss {
            self.append(now, self.iss, self.iss + 1, true, false);
        }
        self.force_retransmit = true;
        if self.timer.is_none() {
            self.timer = Some((
                TimerKind::Retransmission,
                now.saturating_add(self.rtt.rto()),
            ));
        }
    }

    /// The next segment, if any may go out now.
    pub(crate) fn poll(&mut self, now: Nanos) -> Option<Outgoing> {
        if self.snd_una == self.iss {
            return self.poll_syn(now);
        }
        if self.board.is_empty() && !self.has_new() {
            return None;
        }
        if let Some(outgoing) = self.poll_probes(now) {
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
        self.poll_forward(now)
    }

    fn poll_syn(&mut self, now: Nanos) -> Option<Outgoing> {
        if !std::mem::take(&mut self.force_retransmit) {
            return None;
        }
        let id = self.board.front_id();
        if !std::mem::replace(&mut self.syn_sent, true) {
            // The record was made when the handshake was asked for; this is its first transmission.
            self.board.set_sent(id, now);
            let record = *self.board.get(id)?;
            self.counters.out_segs += 1;
            return Some(outgoing(&record, false));
        }
        self.resend(now, id)
    }

    /// Probes of the tail and of a closed window, which no window limits.
    fn poll_probes(&mut self, now: Nanos) -> Option<Outgoing> {
        if std::mem::take(&mut self.tlp_send_new) {
            self.tlp_high_seq = Some(self.snd_nxt);
            if let Some(outgoing) = self.send_new(now, true) {
                self.tlp_high_seq = Some(self.snd_nxt);
                self.rearm_timeout(now);
                return Some(outgoing);
            }
        }
        if std::mem::take(&mut self.tlp_retransmit) && !self.board.is_empty() {
            self.tlp_high_seq = Some(self.snd_nxt);
            let last = self.board.next_id() - 1;
            return self.resend(now, last);
        }
        if std::mem::take(&mut self.window_probe) && self.board.is_empty() {
            return self.probe_window(now);
        }
        None
    }

    fn rearm_timeout(&mut self, now: Nanos) {
        self.timer = Some((
            TimerKind::Retransmission,
            now.saturating_add(self.rtt.rto()),
        ));
    }

    /// A window that stays too small for a segment gets as much as it takes; a closed one an empty segment
    /// below it, which the peer must answer.
    fn probe_window(&mut self, now: Nanos) -> Option<Outgoing> {
        let room = (self.snd_una + self.snd_wnd).saturating_sub(self.snd_nxt);
        let waiting = self.write_end.saturating_sub(self.snd_nxt);
        let payload = room.min(waiting).min(u64::from(self.mss));
        if payload > 0 || (room > 0 && self.fin_due()) {
            return self.send_payload(now, payload);
        }
        self.counters.out_segs += 1;
        Some(Outgoing {
            start: self.snd_una - 1,
            payload: 0,
            syn: false,
            fin: false,
            push: false,
            markable: false,
            cwr: false,
        })
    }

    fn poll_lost(&mut self, now: Nanos) -> Option<Outgoing> {
        // F-RTO sends nothing again but the segment that asks the question.
        if self.hold_retransmit || (self.frto && !self.force_retransmit) {
            return None;
        }
        if self.governed() && self.own_verdict(now) == Some(false) {
            return None;
        }
        let allowed = self.force_retransmit || self.flight() < self.effective_window();
        if !allowed {
            self.note_limit(true);
            return None;
        }
        if !self.force_retransmit && self.pace_holds(now) {
            return None;
        }
        let id = self.board.next_lost()?;
        self.force_retransmit = false;
        self.resend(now, id)
    }

    /// RFC 6675 NextSeg rule 3: missing below the highest SACK, not deemed lost, nothing new to send.
    fn poll_forward(&mut self, now: Nanos) -> Option<Outgoing> {
        let wanted = self.config.forward_retransmit
            && self.sack
            && self.state == CaState::Recovery
            && !self.hold_retransmit
            && self.write_end <= self.snd_nxt;
        if !wanted || self.flight() >= self.effective_window() || self.pace_holds(now) {
            return None;
        }
        let id = self.board.next_forward()?;
        self.resend(now, id)
    }

    fn resend(&mut self, now: Nanos, id: super::Id) -> Option<Outgoing> {
        let tsval = self.tsval(now);
        let cwnd = self.window.cwnd;
        let record = self.board.retransmit(id, now, tsval, cwnd)?;
        self.undo_count(tsval);
        self.count_resent(now, &record);
        self.count_out();
        self.pace(now, u64::from(record.payload()));
        if id == self.board.front_id() {
            self.head_resent(now);
        }
        self.sent(
            now,
            &Transmission {
                id,
                start: record.start,
                end: record.end,
                tsval,
                again: true,
            },
        );
        Some(outgoing(&record, self.ends_push(record.end)))
    }

    /// The first segment outstanding goes out again: a probe of the tail that still waits has lost its sense
    /// (RFC 8985 section 7.2), and Linux gives the retransmission the whole timeout (`tcp_xmit_retransmit_queue`).
    fn head_resent(&mut self, now: Nanos) {
        let whole = self.config.rto.style == RtoStyle::Linux && self.timer.is_some();
        if whole || matches!(self.timer, Some((TimerKind::LossProbe, _))) {
            self.rearm_timeout(now);
        }
    }

    fn count_resent(&mut self, now: Nanos, record: &Sent) {
        let counters = &mut self.counters;
        counters.out_segs += 1;
        counters.retrans_segs += 1;
        counters.bytes_retrans += u64::from(record.payload());
        match self.state {
            CaState::Loss => counters.tcp_slow_start_retrans += 1,
            CaState::Recovery => counters.tcp_fast_retrans += 1,
            _ => {}
        }
        if let Some(observer) = &mut self.observer {
            observer.retransmitted(&Retransmission {
                now,
                start: record.start,
                end: record.end,
                delay: elapsed(now, record.first_sent_at),
                transmissions: record.transmissions,
                state: self.state,
            });
        }
    }

    fn sent(&mut self, now: Nanos, transmission: &Transmission) {
        self.last_sent_at = now;
        if !self.governs_sending {
            return;
        }
        self.consult(now, |loss, cx| loss.on_sent(cx, transmission));
    }

    fn poll_new(&mut self, now: Nanos) -> Option<Outgoing> {
        if !self.has_new() {
            self.burst_over();
            return None;
        }
        // A closed window is no idleness of the application; it counts once it opens.
        if self.board.is_empty() && self.snd_una + self.snd_wnd > self.snd_nxt {
            self.restart_after_idle(now);
        }
        if self.pace_holds(now) {
            self.burst_over();
            return None;
        }
        if !self.window_allows(now) {
            self.burst_left = 0;
            self.note_limit(true);
            return None;
        }
        let sent = self.send_new(now, false);
        match sent {
            Some(_) => self.new_in_burst = true,
            None => self.burst_over(),
        }
        sent
    }

    /// Nothing more can be sent now. What limited the window is looked at only after sending, and remembered
    /// while nothing is sent (Linux `tcp_write_xmit`).
    fn burst_over(&mut self) {
        self.burst_left = 0;
        if std::mem::take(&mut self.new_in_burst) {
            self.note_limit(self.flight() >= self.effective_window());
        }
    }

    fn has_new(&self) -> bool {
        self.write_end > self.snd_nxt || self.fin_due()
    }

    fn fin_due(&self) -> bool {
        self.fin_queued && self.snd_nxt == self.write_end
    }

    /// May the congestion window take another new segment?
    fn window_allows(&mut self, now: Nanos) -> bool {
        if self.fin_due() {
            return true;
        }
        if let Some(answer) = self.own_verdict(now) {
            return answer;
        }
        let (flight, window) = (self.flight(), self.effective_window());
        if flight >= window {
            return false;
        }
        self.config.tso_segments < 2 || self.burst_allows(now, window - flight)
    }

    /// What the loss detection says about sending, if anything.
    fn own_verdict(&mut self, now: Nanos) -> Option<bool> {
        if !self.governs_sending {
            return None;
        }
        let loss = self.loss.take()?;
        let verdict = loss.may_send(&self.context(now));
        self.loss = Some(loss);
        verdict
    }

    /// What counts as in flight against the window, in segments.
    fn flight(&self) -> u32 {
        let without_sack = !self.sack && self.config.reduction == Reduction::Immediate;
        match self.state {
            // A detection that governs the window has no recovery to tell the two apart: what it gave up and
            // what has arrived is not in flight.
            _ if self.governed() => self.board.in_flight(),
            CaState::Open | CaState::Disorder
                if self.config.limited_transmit != LimitedTransmit::Pipe =>
            {
                self.board.packets_out()
            }
            // RFC 6582 works on FlightSize; duplicates inflate the window instead.
            CaState::Recovery if without_sack => self.board.packets_out(),
            _ => self.board.in_flight(),
        }
    }

    /// The window, with what limited transmit or inflation add to it.
    fn effective_window(&self) -> u32 {
        let extra = match self.state {
            CaState::Open | CaState::Disorder
                if self.config.limited_transmit == LimitedTransmit::Rfc3042 =>
            {
                self.board.sacked_out().min(2)
            }
            CaState::Recovery => self.reducer.inflation,
            _ => 0,
        };
        self.window.cwnd.saturating_add(extra)
    }

    /// The next new segment, if the peer's window and Nagle's rule let it go.
    fn send_new(&mut self, now: Nanos, probe: bool) -> Option<Outgoing> {
        let waiting = self.write_end.saturating_sub(self.snd_nxt);
        let room = (self.snd_una + self.snd_wnd).saturating_sub(self.snd_nxt);
        let full = waiting.min(u64::from(self.mss));
        let payload = if room >= full {
            full
        } else if self.board.is_empty() && room > 0 && 2 * room >= self.max_wnd {
            // Half of the greatest window ever offered is no silly window (RFC 9293 section 3.8.6.2.1).
            room
        } else {
            return None;
        };
        let fin = self.fin_queued && self.snd_nxt + payload == self.write_end;
        let small = payload < u64::from(self.mss);
        if small && !fin && !probe && self.nagle_holds() {
            return None;
        }
        if payload == 0 && !fin {
            return None;
        }
        self.send_payload(now, payload)
    }

    fn nagle_holds(&self) -> bool {
        match self.config.nagle {
            Nagle::Off => false,
            Nagle::Rfc896 => !self.board.is_empty(),
            Nagle::Minshall => self.small_end > self.snd_una,
        }
    }

    fn send_payload(&mut self, now: Nanos, payload: u64) -> Option<Outgoing> {
        let start = self.snd_nxt;
        let last = start + payload == self.write_end;
        let fin = self.fin_queued && last;
        let end = start + payload + u64::from(fin);
        if payload < u64::from(self.mss) {
            self.small_end = end;
        }
        let id = self.board.next_id();
        let tsval = self.append(now, start, end, false, fin);
        self.counters.out_segs += 1;
        self.counters.bytes_sent += payload;
        self.burst_left = self.burst_left.saturating_sub(1);
        self.count_out();
        self.pace(now, payload);
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
            markable: self.ecn.on && payload > 0,
            cwr: payload > 0 && self.ecn.take_cwr(),
        })
    }

    /// A new record on the board; returns its timestamp.
    fn append(&mut self, now: Nanos, start: Seq, end: Seq, syn: bool, fin: bool) -> u32 {
        let tsval = self.tsval(now);
        self.board.push(Sent {
            start,
            end,
            sent_at: now,
            first_sent_at: now,
            cwnd: self.window.cwnd,
            tsval,
            transmissions: 1,
            sacked: false,
            lost: false,
            retrans: false,
            syn,
            fin,
        });
        self.snd_nxt = end;
        tsval
    }

    fn ends_push(&self, end: Seq) -> bool {
        end >= self.write_end
    }

    /// Remembers what stopped sending: only a window that was filled may grow (Linux `tcp_cwnd_validate`).
    fn note_limit(&mut self, by_cwnd: bool) {
        let packets = self.board.packets_out();
        if self.snd_una >= self.usage_end || by_cwnd || packets > self.max_packets_out {
            self.cwnd_limited = by_cwnd;
            self.max_packets_out = packets;
            self.usage_end = self.snd_nxt;
        }
    }

    pub(super) fn is_cwnd_limited(&self) -> bool {
        if self.cwnd_limited {
            return true;
        }
        // In slow start the window may run ahead to twice what was used.
        self.window.in_slow_start() && self.window.cwnd < self.max_packets_out.saturating_mul(2)
    }

    /// RFC 5681 section 4.1; Linux halves once per timeout idle, down to the initial window.
    fn restart_after_idle(&mut self, now: Nanos) {
        let idle = elapsed(now, self.last_sent_at);
        let rto = self.rtt.rto().max(1);
        if self.last_sent_at == 0 || idle <= rto || self.governed() {
            return;
        }
        self.last_sent_at = now;
        if self.config.restart_after_idle {
            let floor = self.config.initial_window.min(self.window.cwnd);
            let keep = self.window.cwnd - self.window.cwnd / 4;
            self.window.ssthresh = self.window.ssthresh.max(keep);
            let halvings = (idle / rto).min(31) as u32;
            self.window.cwnd = (self.window.cwnd >> halvings).max(floor).max(1);
            self.window.count = 0;
        }
        self.tell(now, Event::Restart { ns: idle });
    }
}

fn outgoing(record: &Sent, push: bool) -> Outgoing {
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
