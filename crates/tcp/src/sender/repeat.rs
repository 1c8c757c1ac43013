//! What is sent again, and how it is cut: segment by segment as in Linux, or as stacks do that keep bytes and not segments
//! ([`Habits`](crate::habits::Habits)).

use super::Sender;
use super::timers::TimerKind;
use super::transmit::{Outgoing, outgoing};
use crate::Nanos;
use crate::board::{Id, Sent};
use crate::config::RtoStyle;
use crate::habits::{ProbePart, Repeats};
use crate::loss::Transmission;
use crate::observe::Retransmission;
use crate::seq::Seq;
use crate::state::CaState;
use crate::time::elapsed;

/// The end of a segment of which only the beginning was sent again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rest {
    start: Seq,
    end: Seq,
    fin: bool,
    push: bool,
}

impl Sender {
    /// Sends an outstanding segment again, cut as this stack does.
    pub(super) fn resend(&mut self, now: Nanos, id: Id) -> Option<Outgoing> {
        let record = self.resend_record(now, id)?;
        let mut again = outgoing(&record, self.ends_push(record.end));
        match self.config.habits.repeats {
            Repeats::AsCut => {}
            Repeats::Joined => self.join(now, id, &mut again),
            Repeats::Cut(bytes) => self.cut(bytes.max(1), &mut again),
        }
        Some(again)
    }

    fn resend_record(&mut self, now: Nanos, id: Id) -> Option<Sent> {
        let payload = self.board.get(id)?.payload();
        self.announce(now, payload, true);
        let tsval = self.tsval(now);
        let cwnd = self.congestion.window.cwnd;
        let record = self.board.retransmit(id, now, tsval, cwnd)?;
        self.undo_count(tsval);
        if let Some(pieces) = &mut self.pieces {
            pieces.cut(record.start, record.end, self.stream.nxt);
        }
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
        Some(record)
    }

    /// Adds the segments behind `id` as long as they fit whole; what has arrived, or is under way again, is not repeated.
    fn join(&mut self, now: Nanos, id: Id, again: &mut Outgoing) {
        let mut next = id + 1;
        while let Some(record) = self.board.get(next).copied() {
            let fits = again.payload + record.payload() <= self.agreed.mss;
            if again.syn || again.fin || record.sacked || record.retrans || !fits {
                return;
            }
            if self.resend_record(now, next).is_none() {
                return;
            }
            // One segment carries both.
            self.counters.sent.out_segs -= 1;
            again.payload += record.payload();
            again.fin = record.fin;
            again.push = self.ends_push(record.end) && again.payload > 0;
            next += 1;
        }
    }

    /// Only the first `bytes` are sent now; the rest follows at once.
    fn cut(&mut self, bytes: u32, again: &mut Outgoing) {
        if again.payload <= bytes || again.syn {
            return;
        }
        let start = again.start + u64::from(bytes);
        self.loss.recovery.rest = Some(Rest {
            start,
            end: again.start + u64::from(again.payload),
            fin: again.fin,
            push: again.push,
        });
        again.payload = bytes;
        again.fin = false;
        again.push = false;
    }

    /// The next piece of a segment that was cut.
    pub(super) fn poll_rest(&mut self) -> Option<Outgoing> {
        let rest = self.loss.recovery.rest.take()?;
        let start = rest.start.max(self.stream.una);
        if start >= rest.end {
            return None;
        }
        let mut again = Outgoing {
            start,
            payload: (rest.end - start) as u32,
            syn: false,
            fin: rest.fin,
            push: rest.push,
            markable: false,
            cwr: false,
        };
        if let Repeats::Cut(bytes) = self.config.habits.repeats {
            self.cut(bytes.max(1), &mut again);
        }
        self.counters.sent.out_segs += 1;
        Some(again)
    }

    /// The probe of a tail: the last segment again, or the last bytes that fill one.
    pub(super) fn probe_tail(&mut self, now: Nanos) -> Option<Outgoing> {
        let last = self.board.next_id() - 1;
        let mut probe = self.resend(now, last)?;
        let whole = self.config.habits.probe_part == ProbePart::LastBytes && !probe.syn;
        if whole && self.loss.recovery.rest.is_none() && probe.payload < self.agreed.mss {
            let end = probe.start + u64::from(probe.payload);
            let start = end.saturating_sub(self.agreed.mss.into());
            probe.start = start.max(self.stream.data_una());
            probe.payload = (end - probe.start) as u32;
        }
        Some(probe)
    }

    /// The first outstanding segment is retransmitted: a pending tail loss probe is cancelled (RFC 8985 section 7.2),
    /// and Linux restarts the timeout (`tcp_xmit_retransmit_queue`; RFC 6675 section 6 allows it).
    fn head_resent(&mut self, now: Nanos) {
        let whole = self.config.rto.style == RtoStyle::Linux && self.time.timers.timer.is_some();
        if whole || self.time.timers.waits_for(TimerKind::LossProbe) {
            self.rearm_timeout(now);
        }
    }

    fn count_resent(&mut self, now: Nanos, record: &Sent) {
        let counters = &mut self.counters;
        counters.sent.out_segs += 1;
        counters.sent.retrans_segs += 1;
        counters.sent.bytes_retrans += u64::from(record.payload());
        match self.state {
            CaState::Loss => counters.sent.tcp_slow_start_retrans += 1,
            CaState::Recovery => counters.sent.tcp_fast_retrans += 1,
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
}
