//! Samples of the delivery rate.
//!
//! Source: draft-cheng-iccrg-delivery-rate-estimation; Linux `tcp_rate.c`. Each transmission stores how many segments
//! had been delivered before it, when the last of them was, and when the segment acknowledged last had been sent. The
//! acknowledgement of the transmission then gives the number of segments delivered since, and the time over which
//! they were sent and acknowledged. If one acknowledgement delivers several segments, the one sent last is used.

use std::collections::VecDeque;

use crate::Nanos;
use crate::board::{Id, Sent};
use crate::congestion::Measured;
use crate::seq::Seq;

/// The data stored with a transmission.
#[derive(Debug, Clone, Copy, Default)]
struct Note {
    delivered: u64,
    delivered_at: Nanos,
    /// Time at which the segment acknowledged last was sent.
    first_sent_at: Nanos,
    app_limited: bool,
}

/// The transmission used for the sample of the current acknowledgement.
#[derive(Debug, Clone, Copy)]
struct Newest {
    sent_at: Nanos,
    end: Seq,
    note: Note,
}

/// The sampler; runs only for algorithms that need it.
#[derive(Debug)]
pub(super) struct DeliveryRate {
    /// Number of segments delivered, including the SYN, and the time of the last delivery.
    pub(super) delivered: u64,
    pub(super) delivered_at: Nanos,
    first_sent_at: Nanos,
    /// Until this number of segments is delivered, samples are limited by the application.
    limited_until: Option<u64>,
    newest: Option<Newest>,
    /// One entry for each outstanding segment, starting with the one called `first`.
    notes: VecDeque<Note>,
    first: Id,
}

impl DeliveryRate {
    pub(super) fn new() -> Self {
        Self {
            delivered: 1,
            delivered_at: 0,
            first_sent_at: 0,
            limited_until: None,
            newest: None,
            notes: VecDeque::new(),
            first: 0,
        }
    }

    pub(super) fn app_limited(&self) -> bool {
        self.limited_until.is_some()
    }

    /// Less data is sent than the window allows: samples of the data in flight show no more than that.
    pub(super) fn limit(&mut self, in_flight: u32) {
        self.limited_until = Some(self.delivered + u64::from(in_flight));
    }

    /// The segment `id` is sent; `idle` if nothing else is outstanding, so that the time before it does not count.
    pub(super) fn sent(&mut self, now: Nanos, id: Id, idle: bool) {
        if idle {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        let note = Note {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            app_limited: self.app_limited(),
        };
        if self.notes.is_empty() {
            self.first = id;
        }
        let at = id.saturating_sub(self.first) as usize;
        if at >= self.notes.len() {
            self.notes.resize(at + 1, note);
        }
        self.notes[at] = note;
    }

    /// An acknowledgement reports the segment `id`, which was last sent as in `record`.
    pub(super) fn reported(&mut self, id: Id, record: &Sent) {
        let at = id.checked_sub(self.first).map(|at| at as usize);
        let Some(&note) = at.and_then(|at| self.notes.get(at)) else {
            return;
        };
        let order = (record.sent_at, record.end);
        let later = |newest: Newest| order > (newest.sent_at, newest.end);
        if self.newest.is_none_or(later) {
            self.newest = Some(Newest {
                sent_at: record.sent_at,
                end: record.end,
                note,
            });
        }
    }

    /// The acknowledgement is complete: `newly` segments were delivered, and `front` is the oldest outstanding one
    /// now. Rates over less than the smallest round-trip time, `min_rtt`, are discarded: the acknowledgements were
    /// compressed.
    pub(super) fn finish(
        &mut self,
        now: Nanos,
        newly: u32,
        front: Id,
        min_rtt: Nanos,
    ) -> Option<Measured> {
        self.delivered += u64::from(newly);
        if self
            .limited_until
            .is_some_and(|until| self.delivered > until)
        {
            self.limited_until = None;
        }
        if newly > 0 {
            self.delivered_at = now;
        }
        let gone = front.saturating_sub(self.first) as usize;
        self.notes.drain(..gone.min(self.notes.len()));
        self.first = self.first.max(front);
        let newest = self.newest.take()?;
        let note = newest.note;
        let send_time = newest.sent_at - note.first_sent_at;
        self.first_sent_at = newest.sent_at;
        let interval = send_time.max(now - note.delivered_at);
        (interval > 0 && interval >= min_rtt).then_some(Measured {
            delivered: self.delivered - note.delivered,
            interval,
            prior_delivered: note.delivered,
            app_limited: note.app_limited,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::MS;

    fn record(sent_at: Nanos, end: Seq) -> Sent {
        Sent {
            start: end - 1000,
            end,
            sent_at,
            first_sent_at: sent_at,
            cwnd: 10,
            tsval: 0,
            transmissions: 1,
            sacked: false,
            lost: false,
            retrans: false,
            syn: false,
            fin: false,
        }
    }

    /// Segments sent a millisecond apart and acknowledged 10 ms later each: one a millisecond.
    #[test]
    fn a_steady_stream_shows_its_rate() {
        let mut rate = DeliveryRate::new();
        let mut last = None;
        for now in 0..40 {
            let time = now * MS;
            if let Some(id) = (now as u64).checked_sub(10) {
                rate.reported(id, &record(id as Nanos * MS, (id + 1) * 1000));
                last = rate.finish(time, 1, id + 1, 5 * MS);
            }
            rate.sent(time, now as u64, now == 0);
        }
        let measured = last.expect("a sample");
        assert_eq!((measured.delivered, measured.interval), (10, 10 * MS));
    }

    /// Ten acknowledgements that a queue delays and releases together: the times of sending give the rate, not those
    /// of the acknowledgements.
    #[test]
    fn compressed_acknowledgements_do_not_inflate_the_rate() {
        let mut rate = DeliveryRate::new();
        for id in 0..20u64 {
            rate.sent(id as Nanos * MS, id, id == 0);
        }
        let mut fastest = 0.0_f64;
        for id in 0..20u64 {
            let now = if id < 10 {
                (10 + id as Nanos) * MS
            } else {
                40 * MS
            };
            rate.reported(id, &record(id as Nanos * MS, (id + 1) * 1000));
            let measured = rate.finish(now, 1, id + 1, 10 * MS).expect("a sample");
            fastest = fastest.max(measured.delivered as f64 / measured.interval as f64);
        }
        assert!(fastest <= 1.0 / MS as f64, "{fastest}");
    }

    #[test]
    fn samples_shorter_than_a_round_trip_are_discarded() {
        let mut rate = DeliveryRate::new();
        rate.sent(0, 0, true);
        rate.reported(0, &record(0, 1000));
        assert_eq!(rate.finish(3 * MS, 1, 1, 5 * MS), None);
    }

    /// Two segments are in flight when the application has no more data. Only the samples of data sent then are
    /// marked as limited by the application.
    #[test]
    fn samples_are_marked_until_the_application_limited_data_is_delivered() {
        let mut rate = DeliveryRate::new();
        rate.sent(0, 0, true);
        rate.sent(0, 1, false);
        rate.limit(2);
        rate.sent(MS, 2, false);
        let mut limited = Vec::new();
        for id in 0..3u64 {
            let sent_at = if id < 2 { 0 } else { MS };
            rate.reported(id, &record(sent_at, (id + 1) * 1000));
            let now = (10 + id as Nanos) * MS;
            limited.push(
                rate.finish(now, 1, id + 1, MS)
                    .expect("a sample")
                    .app_limited,
            );
        }
        assert_eq!(limited, [false, false, true]);
        assert!(!rate.app_limited());
    }

    /// A retransmission is stored again, and its acknowledgement measures from then on.
    #[test]
    fn a_retransmission_counts_from_its_own_sending() {
        let mut rate = DeliveryRate::new();
        rate.sent(0, 0, true);
        rate.sent(0, 1, false);
        rate.reported(1, &record(0, 2000));
        rate.finish(10 * MS, 1, 0, MS);
        rate.sent(10 * MS, 0, false);
        rate.reported(0, &record(10 * MS, 1000));
        let measured = rate.finish(20 * MS, 1, 2, MS).expect("a sample");
        assert_eq!((measured.delivered, measured.interval), (1, 10 * MS));
        assert_eq!(measured.prior_delivered, 2);
    }
}
