//! Processes an acknowledgement: SACK blocks and DSACK, cumulative progress, round-trip time; then the states of
//! recovery and the window.

use super::{Feedback, Sender};
use crate::Nanos;
use crate::board::{Delivered, Id};
use crate::config::{GrowthAtEnd, GrowthUnit};
use crate::congestion::{AckEvent, Event};
use crate::loss::{AckNews, Verdict};
use crate::segment::SackBlocks;
use crate::seq::Seq;
use crate::state::CaState;
use crate::time::{count, elapsed};

/// The fields of an acceptable segment with ACK that the sender needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AckSegment<'a> {
    /// Acknowledgement number, not beyond `snd_nxt`.
    pub(crate) ack: Seq,
    /// Sequence number, for window updates.
    pub(crate) seq: Seq,
    /// Window, bytes, scaled.
    pub(crate) window: u64,
    /// SACK option.
    pub(crate) sack: &'a SackBlocks,
    /// Echoed timestamp, if the option is used and the echo is set.
    pub(crate) tsecr: Option<u32>,
    /// It echoes a congestion mark (ECE), and classic ECN is used.
    pub(crate) echo: bool,
    /// Accurate feedback, if that is used.
    pub(crate) feedback: Option<Feedback>,
    /// It carries payload, SYN or FIN, so it cannot be a duplicate acknowledgement.
    pub(crate) carries: bool,
}

/// The state before the acknowledgement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Before {
    /// The oldest segment outstanding.
    pub(super) front: Id,
    pub(super) una: Seq,
    pub(super) fack: Seq,
    pub(super) fackets: u32,
    pub(super) packets: u32,
    pub(super) sacked: u32,
    pub(super) in_flight: u32,
    pub(super) losses: u64,
}

impl Sender {
    /// An acknowledgement has arrived, whatever it says.
    pub(crate) fn hears(&mut self, now: Nanos, ack: Seq) {
        if self.early.answers && self.stream.opening() && ack > self.stream.iss {
            self.early_answer_acknowledged(now);
        }
        self.hold.acknowledged();
    }

    /// The common case at the side that only receives: nothing is outstanding, and nothing is reported.
    pub(crate) fn is_old_news(&self, ack: Seq, sack: &SackBlocks) -> bool {
        ack == self.stream.una && sack.is_empty() && self.board.is_empty()
    }

    /// An acknowledgement that repeats what is known, with sequence number `seq` and this window, bytes.
    pub(crate) fn old_news(
        &mut self,
        feedback: Option<&Feedback>,
        ack: Seq,
        seq: Seq,
        window: u64,
    ) {
        // Our acknowledgements may have been marked; nothing is sent that could be slowed down.
        self.read_marks(feedback, &[], 0, false);
        self.update_window(ack, seq, window);
    }

    /// Processes an acknowledgement that may contain new information.
    pub(crate) fn on_ack(&mut self, now: Nanos, segment: &AckSegment<'_>) {
        let before = self.before();
        let window_before = self.peer.window;
        let window_changed = self.update_window(segment.ack, segment.seq, segment.window);
        let mut delivered = std::mem::take(&mut self.loss.reports.delivered);
        delivered.clear();
        let sack = self.take_sack(segment, &before, &mut delivered);
        let sacked_now = delivered.len() as u32;
        if segment.ack > self.stream.una {
            self.advance(segment.ack, &mut delivered);
        }
        let rtt = self.measure(now, segment, &delivered);
        let advanced = self.stream.una > before.una;
        let repeated =
            !advanced && !segment.carries && segment.ack == before.una && before.packets > 0;
        let duplicate = repeated && !window_changed;
        self.counters.acks.dup_acks_in += u64::from(repeated);
        if before.una == self.stream.iss {
            // The handshake contains no information about congestion.
            self.loss.reports.delivered = delivered;
            self.rearm(now);
            return;
        }
        let news = AckNews {
            delivered: &delivered,
            prior_una: before.una,
            una: self.stream.una,
            prior_fack: before.fack,
            prior_fackets: before.fackets,
            prior_packets: before.packets,
            prior_sacked: before.sacked,
            prior_flight_bytes: self.stream.nxt - before.una,
            has_sack: sack.has_sack,
            dsack: sack.dsack,
            duplicate,
            tsecr: segment.tsecr,
            rtt: rtt.control,
        };
        self.loss.recovery.hold_retransmit = false;
        let segments = self.count_delivered(&news, &before);
        let progress = advanced || sacked_now > 0;
        let feedback = segment.feedback.as_ref();
        let marks = match segment.echo {
            true => segments,
            false => self.read_marks(feedback, &delivered, segments, progress),
        };
        self.note_echo(segment.echo || marks > 0);
        let rtt_heard = match self.config.cwnd.rtt_by_timestamps {
            true => rtt.delivered,
            false => rtt.control,
        };
        let mut event = self.ack_event(now, &before, segments, marks, rtt_heard);
        event.predicted = segment.sack.is_empty() && segment.window == window_before;
        event.echo_age = segment
            .tsecr
            .and_then(|ecr| self.time.clock.since(now, ecr));
        self.measure_congestion(now, &news, &event);
        let verdict = self.process(now, &news);
        self.process_loss_probe(now, &news, sacked_now);
        self.move_window(&news, &before, verdict, &mut event, sack.duplicates);
        let all = segments + sack.duplicates;
        self.sample_rate(now, segment, &news, &before, all, &rtt);
        self.loss.reports.delivered = delivered;
        if (advanced && !self.partial_keeps_timer())
            || self.time.timers.timer.is_none()
            || self.sack_restarts_timer(now, rtt.sacked)
        {
            self.rearm(now);
        }
        self.observe(now);
    }

    /// SACKs restart the timer only if they answer data sent before the oldest segment was last sent (as in Linux):
    /// otherwise a lost retransmission would never time out while new data is sent.
    fn sack_restarts_timer(&self, now: Nanos, rtt: Option<Nanos>) -> bool {
        let head = self.board.front().map(|head| elapsed(now, head.sent_at));
        matches!((rtt, head), (Some(rtt), Some(age)) if rtt > age)
    }

    /// RFC 6582 section 3.2 step 3 ("Impatient" in RFC 3782 section 4): partial acknowledgements after the first one do
    /// not restart the timer.
    fn partial_keeps_timer(&self) -> bool {
        self.config.recovery.departures.timer_at_first_partial
            && !self.agreed.sack
            && self.state == CaState::Recovery
            && self.loss.recovery.partials > 1
    }

    fn before(&self) -> Before {
        Before {
            front: self.board.front_id(),
            una: self.stream.una,
            fack: self
                .board
                .highest_sack_end()
                .unwrap_or(self.stream.una)
                .max(self.stream.una),
            fackets: self.board.fackets_out(),
            packets: self.board.packets_out(),
            sacked: self.board.sacked_out(),
            in_flight: self.board.in_flight(),
            losses: self.board.losses(),
        }
    }

    /// The window of a segment. True if it has changed.
    fn update_window(&mut self, ack: Seq, seq: Seq, window: u64) -> bool {
        let changed = self.peer.update(ack, seq, window, self.stream.una);
        if changed {
            self.time.timers.persist_backoff = 0;
        }
        changed
    }

    fn advance(&mut self, ack: Seq, delivered: &mut Vec<Delivered>) {
        let syn = u64::from(self.stream.opening());
        let fin = u64::from(self.stream.fin_queued && ack > self.stream.write_end);
        self.counters.sent.bytes_acked += (ack - self.stream.una).saturating_sub(syn + fin);
        self.board.acknowledge(ack, delivered);
        self.stream.una = ack;
        if let Some(pieces) = &mut self.pieces {
            pieces.acknowledged(ack, self.stream.nxt);
        }
        self.time.timers.answered();
    }

    /// The acknowledgement as the congestion control receives it.
    fn ack_event(
        &self,
        now: Nanos,
        before: &Before,
        segments: u32,
        marks: u32,
        rtt: Option<Nanos>,
    ) -> AckEvent {
        AckEvent {
            now,
            acked: segments,
            acked_marked: marks,
            in_flight: before.in_flight,
            acked_bytes: self.stream.una - before.una,
            cwnd_limited: self.config.recovery.departures.grow_when_unused
                || self
                    .congestion
                    .usage
                    .is_cwnd_limited(&self.congestion.window),
            dubious: self.state != CaState::Open,
            rtt,
            echo_age: None,
            predicted: false,
            srtt: self.time.rtt.srtt,
            min_rtt: self.time.rtt.min_rtt,
            snd_una: self.stream.una,
            snd_nxt: self.stream.nxt,
            mss: self.agreed.mss,
        }
    }

    /// The congestion control measures before losses are detected, as in Linux (`pkts_acked` before
    /// `tcp_fastretrans_alert`): its decision is not undone by a loss found afterwards.
    fn measure_congestion(&mut self, now: Nanos, news: &AckNews<'_>, event: &AckEvent) {
        if event.acked > 0 {
            self.congestion
                .control
                .algorithm
                .measure(&mut self.congestion.window, event);
        } else if news.duplicate || self.in_reduction() {
            let predicted = event.predicted;
            self.tell(now, Event::DupAck { predicted });
        }
    }

    /// Adapts the window: growth outside reductions, decrease within. `duplicates`: segments reported as duplicates that count
    /// as delivered.
    fn move_window(
        &mut self,
        news: &AckNews<'_>,
        before: &Before,
        verdict: Verdict,
        event: &mut AckEvent,
        duplicates: u32,
    ) {
        if self.congestion.control.governs_window {
            return;
        }
        event.dubious = self.state != CaState::Open;
        if self.in_reduction() {
            self.reduce(news, before, event.acked + duplicates);
        } else if let Some(beyond) = self.loss.recovery.ended_beyond.take()
            && self.config.recovery.departures.growth_at_end != GrowthAtEnd::Acknowledged
        {
            if self.config.recovery.departures.growth_at_end == GrowthAtEnd::Beyond {
                event.acked = beyond;
                self.congestion
                    .control
                    .algorithm
                    .grow(&mut self.congestion.window, event);
            }
        } else if event.acked == 0 {
            return;
        } else if !verdict.hold_window
            && self.may_grow(news)
            && event.cwnd_limited
            && !self.detection_governs()
        {
            match self.config.cwnd.growth {
                GrowthUnit::PerAck => event.acked = 1,
                GrowthUnit::Segments => event.acked += duplicates,
                GrowthUnit::Cumulative => {
                    event.acked = (self.board.front_id() - before.front) as u32;
                }
            }
            self.congestion
                .control
                .algorithm
                .grow(&mut self.congestion.window, event);
        }
        if self.config.cwnd.moderate && self.state == CaState::Disorder {
            self.moderate();
        }
    }

    /// Linux `tcp_may_raise_cwnd`: if reordering is known, any delivery reported by SACK counts as progress;
    /// otherwise the cumulative acknowledgement must advance.
    fn may_grow(&self, news: &AckNews<'_>) -> bool {
        news.advances()
            || (self.agreed.sack && self.config.cwnd.grow_on_sack && self.dupthresh() > 3)
    }

    /// Round-trip times of the segments just acknowledged; only those sent once are unambiguous (Karn's rule, RFC
    /// 6298 section 3). Timestamps are used if all were retransmitted.
    fn measure(&mut self, now: Nanos, segment: &AckSegment<'_>, delivered: &[Delivered]) -> Rtts {
        let mut first = None;
        let mut last = None;
        let mut first_sacked = None;
        let mut last_sacked = None;
        let mut retransmitted = false;
        let mut cumulative = false;
        for item in delivered {
            let sent = item.record.sent_at;
            match (item.record.ever_retransmitted(), item.by_sack) {
                (false, false) => {
                    first = first.or(Some(sent));
                    last = Some(sent);
                    cumulative = true;
                }
                (false, true) => {
                    first_sacked = first_sacked.or(Some(sent));
                    last_sacked = Some(sent);
                }
                (true, by_sack) => {
                    retransmitted |= !by_sack;
                    cumulative |= !by_sack;
                }
            }
        }
        let age = |sent: Option<Nanos>| sent.map(|sent| elapsed(now, sent));
        let whole = if retransmitted { None } else { age(first) };
        let mut sample = whole.or(age(first_sacked));
        let mut by_timestamp = None;
        if sample.is_none() && cumulative {
            by_timestamp = segment
                .tsecr
                .and_then(|ecr| self.time.clock.since(now, ecr));
            sample = by_timestamp;
        }
        if let Some(rtt) = sample {
            let fresh = whole.is_some() && self.state != CaState::Loss;
            if !fresh || !self.adapt_timer(rtt) {
                self.time
                    .rtt
                    .sample(now, rtt, self.stream.una, self.stream.nxt);
            }
            self.counters.acks.count_rtt += 1;
            self.counters.acks.sum_rtt = self.counters.acks.sum_rtt.saturating_add(count(rtt));
            if let Some(observer) = &mut self.observer {
                observer.rtt(now, rtt);
            }
        }
        let cumulative = if retransmitted { None } else { age(last) };
        let control = age(last_sacked).or(cumulative);
        Rtts {
            control,
            delivered: control.or(by_timestamp),
            sacked: age(first_sacked),
        }
    }
}

/// Round-trip times of one acknowledgement.
pub(super) struct Rtts {
    /// For congestion control: of the last segment SACKed, otherwise of the last one acknowledged (Linux
    /// `ca_rtt_us`).
    control: Option<Nanos>,
    /// Round trip of that segment, or by its timestamp if it was sent more than once (Linux `rs->rtt_us`).
    pub(super) delivered: Option<Nanos>,
    /// Of the first segment SACKed.
    sacked: Option<Nanos>,
}
