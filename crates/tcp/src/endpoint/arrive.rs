//! A segment arrives (RFC 9293 section 3.10.7.4; RFC 7323 section 5 for PAWS; RFC 5961 against blind attacks).

use super::{Endpoint, Error, State};
use crate::Nanos;
use crate::config::MS;
use crate::habits::{Echo, PawsAnswer};
use crate::segment::{Flags, Segment};
use crate::sender::AckSegment;
use crate::seq::{self, Seq, ts_before};

/// Minimum time between answers to stray segments without data, as in Linux (`tcp_invalid_ratelimit`).
const STRAY_ACK_INTERVAL: Nanos = 500 * MS;
/// RFC 7323 section 5.5: a timestamp older than this no longer protects.
const TS_RECENT_LIFETIME: Nanos = 24 * 24 * 3600 * 1_000 * MS;

impl Endpoint {
    /// Processes a segment from the other side. Call [`Endpoint::poll_transmit`] afterwards.
    pub fn on_segment(&mut self, now: Nanos, segment: &Segment) {
        self.stuck = false;
        self.receiver.clear_accepted();
        self.sender.counters.received.in_segs += 1;
        match self.state {
            State::Closed => self.refuse(segment),
            State::Listen => self.in_listen(now, segment),
            State::SynSent => self.in_syn_sent(now, segment),
            _ => self.in_connection(now, segment),
        }
    }

    fn in_connection(&mut self, now: Nanos, segment: &Segment) {
        let start = seq::expand(self.receiver.rcv_nxt, segment.seq);
        let end = start + u64::from(segment.sequence_length());
        if self.state == State::SynReceived && self.passive && self.is_repeated_syn(segment, start)
        {
            self.answer_repeated_syn(now, segment);
            return;
        }
        if self.paws_rejects(now, segment, start, end) {
            self.sender.counters.received.paws_estab += 1;
            self.count_refused(segment, start);
            match self.config.habits.paws_answer {
                PawsAnswer::Ack if segment.payload > 0 => self.receiver.ack_now(),
                _ => self.answer_stray(now, segment, start),
            }
            return;
        }
        if !self.receiver.acceptable(start, end) {
            if !segment.flags.has(Flags::RST) {
                self.count_refused(segment, start);
                self.answer_stray(now, segment, start);
            }
            return;
        }
        if segment.flags.has(Flags::RST) {
            self.on_reset(segment, start);
            return;
        }
        if segment.flags.has(Flags::SYN) {
            self.on_unexpected_syn(segment);
            return;
        }
        if !segment.flags.has(Flags::ACK) {
            return;
        }
        if self.state == State::SynReceived && !self.completes_handshake(now, segment) {
            return;
        }
        if self.sender.ecn.accurate() {
            self.count_mark(segment, start);
        }
        if !self.take_ack(now, segment, start) {
            return;
        }
        self.take_payload(now, segment, start);
        self.progress(now);
    }

    fn is_repeated_syn(&self, segment: &Segment, start: Seq) -> bool {
        let others = Flags::ACK.with(Flags::RST).with(Flags::FIN);
        let alone = segment.flags.without(others) == segment.flags;
        segment.flags.has(Flags::SYN) && alone && start == self.receiver.irs
    }

    /// The peer repeats its SYN because our SYN-ACK was lost or is late: the SYN-ACK is repeated, as Linux and BSD do, but not
    /// more often than other answers to stray segments.
    fn answer_repeated_syn(&mut self, now: Nanos, segment: &Segment) {
        self.take_repeated_syn(segment);
        if self.stray_is_due(now) {
            self.sender.send_syn(now);
        }
    }

    /// True if a segment without data outside the window may be answered now; the next one then has to wait.
    fn stray_is_due(&mut self, now: Nanos) -> bool {
        let due = self
            .stray_ack_at
            .is_none_or(|at| now >= at.saturating_add(STRAY_ACK_INTERVAL));
        if due {
            self.stray_ack_at = Some(now);
        }
        due
    }

    /// The segment is about to be discarded; records whether any of its payload was missing.
    fn count_refused(&mut self, segment: &Segment, start: Seq) {
        let end = start + u64::from(segment.payload);
        let missing = segment.payload > 0 && self.receiver.lacks(start, end);
        self.sender.counters.received.refused_segs_in += u64::from(missing);
    }

    /// RFC 7323 section 5.3 R1. Acknowledgements that were overtaken are accepted, as in Linux: they are harmless and
    /// may contain new information.
    fn paws_rejects(&self, now: Nanos, segment: &Segment, start: Seq, end: Seq) -> bool {
        let Some(ts) = segment.timestamps else {
            return false;
        };
        if !self.sender.agreed.timestamps
            || !self.config.options.paws
            || segment.flags.has(Flags::RST)
            || !ts_before(
                ts.val.wrapping_add(self.config.options.paws_window),
                self.ts_recent,
            )
            || now > self.ts_recent_at.saturating_add(TS_RECENT_LIFETIME)
        {
            return false;
        }
        let pure = start == end && segment.flags.has(Flags::ACK);
        !(pure && start == self.receiver.rcv_nxt)
    }

    /// RFC 7323 section 4.3: the timestamp to echo is that of the segment for which the last acknowledgement waited.
    /// This is done after the acknowledgement was found acceptable, as in Linux: a forged segment in the window must
    /// not change the timestamp with which PAWS compares.
    fn update_ts_recent(&mut self, now: Nanos, segment: &Segment, start: Seq) {
        let Some(ts) = segment.timestamps else {
            return;
        };
        let newer = !ts_before(ts.val, self.ts_recent);
        let echoed = match self.config.habits.echo {
            Echo::Rfc7323 => {
                start <= self.receiver.last_ack_sent && (!self.config.options.paws || newer)
            }
            Echo::Newest => newer,
            Echo::Last => true,
        };
        if echoed {
            self.ts_recent = ts.val;
            self.ts_recent_at = now;
        }
    }

    /// A segment outside the window, or too old: acknowledges the current position. Data is always answered, with
    /// DSACK (RFC 2883 section 4.3); other segments rarely, so that two inconsistent ends do not answer each other without end.
    fn answer_stray(&mut self, now: Nanos, segment: &Segment, start: Seq) {
        if segment.flags.has(Flags::SYN) {
            self.take_repeated_syn(segment);
        }
        if segment.payload > 0 && !segment.flags.has(Flags::SYN) {
            let end = (start + u64::from(segment.payload)).min(self.receiver.rcv_nxt);
            if start < end {
                let rtt = self.sender.time.rtt.srtt;
                self.receiver
                    .on_data(now, start, end, rtt, &mut self.sender.counters);
            }
            if start >= end || self.config.habits.answers_at_once() {
                self.receiver.ack_now();
            }
        } else if self.stray_is_due(now) {
            self.receiver.ack_now();
        }
        if self.state == State::TimeWait && segment.flags.has(Flags::FIN) {
            self.enter_time_wait(now);
        }
    }

    /// RFC 5961 section 3: only the exact sequence number resets; others in the window are challenged.
    fn on_reset(&mut self, _segment: &Segment, start: Seq) {
        if self.config.acks.challenge && start != self.receiver.rcv_nxt {
            self.challenge();
            return;
        }
        if self.state == State::SynReceived && self.passive && !self.is_early() {
            self.fail(Error::Refused);
        } else if matches!(
            self.state,
            State::Closing | State::LastAck | State::TimeWait
        ) {
            self.state = State::Closed;
            self.time_wait_at = None;
            self.sender.stop();
            self.receiver.stop();
        } else {
            self.fail(Error::Reset);
        }
    }

    fn challenge(&mut self) {
        self.sender.counters.acks.tcp_challenge_ack += 1;
        self.receiver.ack_now();
    }

    /// RFC 5961 section 4: never reset, always challenge; the peer's RST then is exact. RFC 793 resets.
    fn on_unexpected_syn(&mut self, segment: &Segment) {
        if self.state == State::SynReceived {
            // The SYN again, or the answer to a simultaneous open.
            if segment.flags.has(Flags::ACK) {
                self.receiver.ack_now();
            }
            return;
        }
        self.take_repeated_syn(segment);
        if self.config.acks.challenge {
            self.challenge();
        } else {
            self.control = Some(Box::new(self.reset_segment()));
            self.fail(Error::Reset);
        }
    }

    fn completes_handshake(&mut self, now: Nanos, segment: &Segment) -> bool {
        let ack = seq::expand(self.sender.stream.una, segment.ack);
        if ack <= self.sender.stream.una || ack > self.sender.stream.nxt {
            self.refuse(segment);
            return false;
        }
        self.established(now, segment);
        true
    }

    /// Passes the acknowledgement to the sender. False if the segment must not be processed further.
    pub(super) fn take_ack(&mut self, now: Nanos, segment: &Segment, start: Seq) -> bool {
        let ack = seq::expand(self.sender.stream.una, segment.ack);
        if ack > self.sender.stream.nxt {
            if self.config.acks.answer_unsent {
                self.receiver.ack_now();
            }
            return false;
        }
        // RFC 5961 section 5.2: an acknowledgement older than the largest window ever offered is forged. None can be
        // older than the initial sequence number.
        let reach = if self.config.acks.challenge {
            self.sender.peer.largest
        } else {
            1 << 30
        };
        let oldest = self.sender.stream.una.saturating_sub(reach);
        if ack < oldest.max(self.sender.stream.iss) {
            if self.config.acks.challenge {
                self.challenge();
            }
            return false;
        }
        let feedback = self.feedback(segment, start);
        self.update_ts_recent(now, segment, start);
        let syn = segment.flags.has(Flags::SYN);
        let shift = match self.scaling() {
            Some(_) if !syn => self.peer_scale.unwrap_or(0),
            _ => 0,
        };
        let window = u64::from(segment.window) << shift;
        let option_seen = self.sender.ecn.reported.option_seen;
        self.sender.hears(now, ack);
        if self.sender.is_old_news(ack, &segment.sack) {
            self.sender.old_news(feedback.as_ref(), ack, start, window);
        } else {
            let echo = segment.timestamps.filter(|ts| ts.ecr != 0);
            self.sender.on_ack(
                now,
                &AckSegment {
                    ack,
                    seq: start,
                    window,
                    sack: &segment.sack,
                    tsecr: echo
                        .filter(|_| self.sender.agreed.timestamps)
                        .map(|ts| ts.ecr),
                    echo: self.sender.ecn.classic() && !syn && segment.flags.has(Flags::ECE),
                    feedback,
                    carries: segment.sequence_length() > 0,
                },
            );
        }
        if self.sender.ecn.reported.option_seen != option_seen {
            self.fit_segments();
        }
        true
    }

    /// Payload and FIN, in the states that take them.
    fn take_payload(&mut self, now: Nanos, segment: &Segment, start: Seq) {
        let fin = segment.flags.has(Flags::FIN);
        let end = start + u64::from(segment.payload);
        let open = matches!(
            self.state,
            State::Established | State::FinWait1 | State::FinWait2
        );
        if open && segment.payload > 0 {
            self.notice_mark(now, segment);
            if let Some(ts) = segment.timestamps.filter(|_| self.receiver.is_tuned()) {
                let age = self.sender.age_of(now, ts.ecr);
                self.receiver.echoed(ts.ecr, age, segment.payload);
            }
            let rtt = self.sender.time.rtt.srtt;
            self.receiver
                .on_data(now, start, end, rtt, &mut self.sender.counters);
        } else if segment.payload > 0 || (fin && !open) {
            self.receiver.ack_now();
        }
        // A FIN beyond the window is ignored; the peer retransmits it. So is one below data that has arrived: the two
        // contradict each other.
        let inside = end >= self.receiver.highest() && end <= self.receiver.window_end();
        let contradicts = self.receiver.fin.is_some_and(|known| known != end);
        if fin && open && inside && !contradicts {
            let rtt = self.sender.time.rtt.srtt;
            self.receiver
                .fin_arrives(now, end, segment.payload == 0, rtt);
        }
        if fin && self.state == State::TimeWait {
            self.enter_time_wait(now);
        }
    }

    /// State changes after an acknowledgement of our FIN or the arrival of the peer's.
    pub(super) fn progress(&mut self, now: Nanos) {
        if self.sender.fin_acknowledged() {
            match self.state {
                State::FinWait1 => self.state = State::FinWait2,
                State::Closing => self.enter_time_wait(now),
                State::LastAck => {
                    self.state = State::Closed;
                    self.sender.stop();
                    self.receiver.stop();
                }
                _ => {}
            }
        }
        let replies = self.state == State::Established;
        if self.receiver.fin.is_some() && self.receiver.take_fin(now, replies) {
            match self.state {
                State::Established => self.state = State::CloseWait,
                State::FinWait1 => self.state = State::Closing,
                State::FinWait2 => self.enter_time_wait(now),
                _ => {}
            }
        }
    }
}
