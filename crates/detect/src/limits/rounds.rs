//! What held the sender, round by round, as its packets and their acknowledgements come by.
//!
//! Each packet with new data asks why it was not sent sooner. It answers an acknowledgement: a window held it, the
//! receiver's if that was full when the packet before left. It answers nothing: the application had nothing to send, or the
//! sender paces. The time between two packets is booked so, and summed for each round trip. Time in recoveries and in
//! silences that a retransmission ends is left out here: [`super::judge`] lays them over, once their verdicts are known.

use super::HeldShort;
use super::held::{Held, KINDS};
use super::rows::Rows;

/// Rows kept of one flow.
const MAX_ROWS: usize = 128;
/// Silences kept of one flow.
const MAX_SILENCES: usize = 4_096;
/// Packets closer together than this share of a round trip belong to one burst.
const BURST_OF_RTT: i64 = 64;
const MIN_BURST_NS: i64 = 10_000;
/// Payload of a full segment, at least, bytes (RFC 9293 section 3.7.1).
const MIN_MSS: u32 = 536;
/// Fewer full segments may wait for a delayed acknowledgement.
const MIN_PROBED: i64 = 3;
/// A round where the round trip is not known, nanoseconds.
pub(super) const UNKNOWN_RTT_NS: i64 = 50_000_000;
/// A retransmission after this time without new information and without a known round trip was sent by a timer, nanoseconds.
pub(super) const UNKNOWN_TIMER_NS: i64 = 200_000_000;

/// A round trip, or several in a row.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Row {
    pub(crate) start_ns: i64,
    /// Nanoseconds by [`Held`], without recoveries and silences.
    pub(crate) parts: [i64; KINDS],
    /// Most bytes in flight.
    pub(crate) peak: i64,
    /// Longest time without new data, nanoseconds.
    pub(crate) gap_ns: i64,
    /// The shortest way to the sender and back that echoed timestamps show, nanoseconds; 0 if none do.
    pub(crate) way_ns: i64,
    /// Sent by its end, and delivered, bytes of the whole flow.
    pub(crate) sent: i64,
    pub(crate) delivered: i64,
    /// Acknowledgements that made room and were followed by data before the next one, or were not.
    pub(crate) answered: u32,
    pub(crate) unanswered: u32,
}

impl Row {
    /// Nanoseconds that it was held so.
    pub(crate) fn part(&self, held: Held) -> i64 {
        self.parts.get(held as usize).copied().unwrap_or(0)
    }

    /// Nanoseconds that it was held at all.
    pub(crate) fn all(&self) -> i64 {
        self.parts.into_iter().fold(0, i64::saturating_add)
    }

    fn add(&mut self, later: &Row) {
        for (sum, part) in self.parts.iter_mut().zip(later.parts) {
            *sum = sum.saturating_add(part);
        }
        self.peak = self.peak.max(later.peak);
        self.gap_ns = self.gap_ns.max(later.gap_ns);
        self.way_ns = shortest(self.way_ns, later.way_ns);
        (self.sent, self.delivered) = (later.sent, later.delivered);
        self.answered = self.answered.saturating_add(later.answered);
        self.unanswered = self.unanswered.saturating_add(later.unanswered);
    }

    fn is_empty(&self) -> bool {
        self.parts == [0; KINDS]
    }
}

/// Of two times, of which 0 is none.
fn shortest(a: i64, b: i64) -> i64 {
    match (a, b) {
        (0, ns) | (ns, 0) => ns,
        (a, b) => a.min(b),
    }
}

/// No new information until a timer sent something again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Silence {
    /// The last new information, or the last packet behind it, nanoseconds.
    pub(crate) start_ns: i64,
    /// The retransmission.
    pub(crate) end_ns: i64,
    /// What came next was new information at this time; `None` if it was another retransmission by a timer, or the end.
    pub(crate) answered_ns: Option<i64>,
    /// Bytes that nothing had acknowledged.
    pub(crate) flight: i64,
    /// The last new data ended with a segment that was not full: the application had no more.
    pub(crate) all_sent: bool,
    /// All of this had been sent.
    sent: i64,
    /// Several segments were on their way, of which nothing but the lack of an acknowledgement was known.
    several: bool,
    /// What came next acknowledged all of them at once, although only the first was sent again: they had arrived, and their acknowledgements
    /// were lost. Of a lost first one the others would have made duplicate acknowledgements (RFC 5681 section 3.2).
    pub(crate) cleared: bool,
}

/// How far the flow has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    pub(crate) sent: i64,
    pub(crate) delivered: i64,
    pub(crate) una: i64,
    /// The usual round trip, 0 if it is not known.
    pub(crate) rtt_ns: i64,
    /// Payload of the largest packet, bytes.
    pub(crate) full: i64,
    /// A recovery is under way.
    pub(crate) mending: bool,
    /// The capture was made next to the sender.
    pub(crate) near: bool,
}

/// New data that was sent last.
#[derive(Debug)]
pub(super) struct LastData {
    pub(super) sent_ns: i64,
    /// How much room it left in the receiver's window, bytes.
    pub(super) room: i64,
    /// That window was the largest so far.
    is_largest: bool,
    /// Payload, bytes.
    pub(super) len: u32,
}

/// What the sender heard last, nanoseconds.
#[derive(Debug)]
pub(super) struct Heard {
    /// An acknowledgement made room; it carried data.
    pub(super) released_ns: i64,
    pub(super) carried: bool,
    /// It said that something is missing: it was a duplicate, or had SACK blocks.
    repeated: bool,
    /// Any acknowledgement.
    news_ns: i64,
    /// When the receiver's window first grew after the last new data; `i64::MAX` if it has not.
    pub(super) opened_ns: i64,
    /// The other end's data.
    pub(super) asked_ns: i64,
}

/// Packets that belong together.
#[derive(Debug)]
pub(super) struct Burst {
    /// Packets until then are of one burst with what is booked.
    until_ns: i64,
    /// Bytes of the last burst, and sent by its begin.
    pub(super) bytes: i64,
    begin: i64,
    /// Time between the last two packets that were not of one burst, nanoseconds.
    pub(super) before_ns: i64,
    /// Payload of what is sent now, bytes.
    pub(super) next_len: u32,
}

/// What is recorded of the rounds of one flow.
#[derive(Debug)]
#[repr(C)] // First what every packet needs.
pub(crate) struct Rounds {
    /// Everything before is booked.
    since_ns: i64,
    pub(super) last: LastData,
    pub(super) burst: Burst,
    pub(super) heard: Heard,
    /// The last thing that happened was a retransmission by a timer.
    silent: bool,
    /// When something was sent again last.
    pub(super) again_ns: i64,
    /// The row that is open.
    row: Row,
    pub(crate) held_short: HeldShort,
    /// When an end of an answer was held back last.
    pub(super) held_short_ns: i64,
    /// The idle time that ended after the other end's data had come, nanoseconds.
    pub(crate) awaited_ns: i64,
    /// Payload of a full segment by the handshake, 0 if it is not known.
    pub(super) mss: u32,
    /// Rows are no shorter, nanoseconds.
    width_ns: i64,
    /// Largest window advertised, bytes.
    pub(crate) largest_window: i64,
    /// How long a window held the sender that was the largest so far, nanoseconds.
    pub(crate) largest_ns: i64,
    rows: Rows,
    silences: Vec<Silence>,
}

heap!(Rounds: rows, silences);

impl Rounds {
    /// `mss` is the payload of a full segment, 0 if it is not known.
    pub(crate) fn new(mss: u32) -> Self {
        Rounds {
            since_ns: 0,
            last: LastData {
                sent_ns: 0,
                room: i64::MAX,
                is_largest: false,
                len: 0,
            },
            burst: Burst {
                until_ns: 0,
                bytes: 0,
                begin: 0,
                before_ns: 0,
                next_len: 0,
            },
            heard: Heard {
                released_ns: i64::MIN,
                carried: false,
                repeated: false,
                news_ns: i64::MIN,
                opened_ns: i64::MAX,
                asked_ns: i64::MIN,
            },
            silent: false,
            again_ns: i64::MIN,
            row: Row::default(),
            held_short: HeldShort::default(),
            held_short_ns: i64::MIN,
            awaited_ns: 0,
            mss,
            width_ns: 0,
            largest_window: 0,
            largest_ns: 0,
            rows: Rows::default(),
            silences: Vec::new(),
        }
    }

    /// The first data of all is sent at `now`.
    #[cold]
    pub(crate) fn begin(&mut self, now: i64) {
        (self.since_ns, self.last.sent_ns, self.row.start_ns) = (now, now, now);
        self.burst.until_ns = now;
    }

    /// New data is sent at `now` that ends a burst, or is far behind the last one.
    #[inline(always)]
    pub(crate) fn ends_burst(&self, now: i64) -> bool {
        now > self.burst.until_ns
    }

    /// New data of `len` bytes was sent at `now` that leaves `room` in the receiver's window, with `flight` bytes on their way.
    #[inline(always)]
    pub(crate) fn sent(&mut self, now: i64, len: u32, room: i64, flight: i64) {
        self.last.sent_ns = now;
        self.last.room = room;
        self.last.is_largest = room.saturating_add(flight) >= self.largest_window;
        self.last.len = len;
        self.row.peak = self.row.peak.max(flight);
    }

    /// What was sent last left `room` bytes at most in the receiver's window, of which nothing was known before.
    pub(crate) fn left_at_most(&mut self, room: i64) {
        self.last.room = self.last.room.min(room);
    }

    /// It takes `ns` to the sender and back.
    pub(crate) fn note_way(&mut self, ns: i64) {
        self.row.way_ns = shortest(self.row.way_ns, ns);
    }

    /// When new data was sent last, nanoseconds.
    pub(crate) fn last_sent_ns(&self) -> i64 {
        self.last.sent_ns
    }

    /// When data was sent last, new or again, nanoseconds.
    pub(crate) fn last_came_ns(&self) -> i64 {
        self.last.sent_ns.max(self.again_ns)
    }

    /// Books the time until `now`, when new data is about to be sent, or what may be a copy of data that came `late`.
    #[inline(never)]
    pub(crate) fn next(&mut self, now: i64, (late, len): (bool, u32), progress: &Progress) {
        self.burst.next_len = len;
        self.note_short(now, progress);
        self.burst.bytes = progress.sent.saturating_sub(self.burst.begin);
        let timer = match late {
            true => self.outlasts_patience(now, progress),
            false => self.probes(now, progress),
        };
        self.wait(now, timer, progress);
        let burst = (progress.rtt_ns / BURST_OF_RTT).max(MIN_BURST_NS);
        self.burst.until_ns = now.saturating_add(burst);
        self.burst.before_ns = now.saturating_sub(self.last.sent_ns);
        self.burst.begin = progress.sent;
        self.heard.opened_ns = i64::MAX;
    }

    /// New data at `now` is a probe that a timer sent (RFC 8985 section 7.3): several segments were on their way, and for
    /// longer than a round trip nothing acknowledged them.
    fn probes(&self, now: i64, progress: &Progress) -> bool {
        let full = progress.full;
        let flight = progress.sent.saturating_sub(progress.una);
        let quiet_ns = now.saturating_sub(self.quiet_ns());
        progress.rtt_ns > 0
            && quiet_ns > 2 * progress.rtt_ns
            && self.last.room >= 2 * full
            && flight >= MIN_PROBED * full
            && !self.is_short(progress)
    }

    /// An acknowledgement at `now` made room; it `carried` data. The receiver's window has room for `room` bytes.
    #[inline(always)]
    pub(crate) fn released(&mut self, now: i64, room: i64, carried: bool) {
        let before = self.heard.released_ns > self.last.sent_ns;
        self.row.unanswered += u32::from(before);
        self.row.answered += u32::from(!before);
        self.heard.released_ns = now;
        self.heard.carried = carried;
        self.heard.repeated = false;
        if self.heard.opened_ns == i64::MAX && room >= self.worth_sending() {
            self.heard.opened_ns = now;
        }
    }

    /// The last acknowledgement had SACK blocks: what lies below them is missing.
    pub(crate) fn reported_hole(&mut self) {
        self.heard.repeated = true;
    }

    /// A duplicate acknowledgement at `now`: it makes no room, but may release a segment (limited transmit, RFC 3042).
    pub(crate) fn repeated(&mut self, now: i64) {
        self.heard.released_ns = now;
        self.heard.carried = false;
        self.heard.repeated = true;
    }

    /// A sender waits for room for a full segment, or half of the largest window (RFC 9293 section 3.8.6.2.1).
    #[inline(always)]
    fn worth_sending(&self) -> i64 {
        i64::from(self.mss.max(MIN_MSS)).min(self.largest_window / 2)
    }

    /// The other end's data came at `now`.
    #[inline(always)]
    pub(crate) fn asked(&mut self, now: i64) {
        self.heard.asked_ns = now;
    }

    /// Any acknowledgement at `now`. Only if it `prompts` can it be why something is sent again: the other end's data that acknowledges
    /// nothing new is no duplicate acknowledgement (RFC 5681 section 2).
    #[inline(always)]
    pub(crate) fn news(&mut self, now: i64, prompts: bool, una: i64) {
        if prompts {
            self.heard.news_ns = now;
        }
        if self.silent {
            self.answered(now, una);
        }
    }

    #[cold]
    fn answered(&mut self, now: i64, una: i64) {
        self.silent = false;
        let gave_up = self.gave_up(now);
        let Some(last) = self.silences.last_mut() else {
            return;
        };
        if !gave_up {
            last.answered_ns = Some(now);
            last.cleared = last.several && una >= last.sent && self.again_ns == last.end_ns;
            return;
        }
        let more = Silence {
            start_ns: last.end_ns,
            end_ns: now,
            answered_ns: Some(now),
            ..*last
        };
        self.silences.push(more);
        self.skip(now);
    }

    /// What comes at `now` is no answer: the next timer is twice as long as the last (RFC 6298 section 5), so a sender that has
    /// waited for longer does not repeat anything any more.
    fn gave_up(&self, now: i64) -> bool {
        let [.., before, last] = self.silences.as_slice() else {
            return false;
        };
        let waited = last.end_ns.saturating_sub(last.start_ns);
        let longer = now.saturating_sub(last.end_ns) > waited.saturating_mul(2);
        longer && before.answered_ns.is_none() && !self.is_full_of_silences()
    }

    /// Something is sent again at `now`.
    #[cold]
    pub(crate) fn sent_again(&mut self, now: i64, progress: &Progress) {
        let timer = self.outlasts_patience(now, progress);
        self.wait(now, timer, progress);
        self.again_ns = now;
    }

    /// Nothing but a timer makes a sender repeat anything at `now`: it has been quiet for too long.
    fn outlasts_patience(&self, now: i64, progress: &Progress) -> bool {
        let patience = match progress.rtt_ns {
            0 => UNKNOWN_TIMER_NS,
            rtt => rtt,
        };
        now.saturating_sub(self.quiet_ns()) > patience
    }

    /// The last time that anything was sent, or heard that can make a sender repeat something.
    fn quiet_ns(&self) -> i64 {
        self.last.sent_ns.max(self.heard.news_ns).max(self.again_ns)
    }

    fn is_full_of_silences(&self) -> bool {
        self.silences.len() >= MAX_SILENCES
    }

    /// Books the time until `now`, when something is sent, by a `timer` or not.
    fn wait(&mut self, now: i64, timer: bool, progress: &Progress) {
        let timer = timer && !self.is_full_of_silences();
        let start_ns = self.quiet_ns();
        let until = if timer { start_ns } else { now };
        if progress.mending {
            self.skip(until);
        } else {
            self.explain(until, progress);
        }
        if timer {
            self.skip(now);
            self.silent = true;
            self.silences.push(Silence {
                start_ns,
                end_ns: now,
                answered_ns: None,
                flight: progress.sent.saturating_sub(progress.delivered),
                all_sent: self.is_short(progress),
                sent: progress.sent,
                several: progress.near
                    && !self.heard.repeated
                    && progress.sent.saturating_sub(progress.delivered)
                        > MIN_PROBED * progress.full,
                cleared: false,
            });
        }
    }

    /// What had been sent when a recovery began is acknowledged at `now`.
    #[cold]
    pub(crate) fn mended(&mut self, now: i64) {
        self.skip(now);
    }

    /// The time until `now` is explained elsewhere.
    fn skip(&mut self, now: i64) {
        self.since_ns = self.since_ns.max(now);
    }

    /// Books the time until `now`, when something was sent or is to be sent.
    fn explain(&mut self, now: i64, progress: &Progress) {
        let (mut first, then) = self.held(now, progress);
        if let Some((until, held)) = then {
            self.book(until, first, progress);
            first = held;
        }
        self.book(now, first, progress);
    }

    fn book(&mut self, until: i64, held: Held, progress: &Progress) {
        let ns = until.saturating_sub(self.since_ns);
        if ns <= 0 {
            return;
        }
        let width_ns = self.width_ns.max(match progress.rtt_ns {
            0 => UNKNOWN_RTT_NS,
            rtt => rtt,
        });
        if ns > width_ns.saturating_mul(2) && self.row.parts != [0; KINDS] {
            self.close(self.since_ns, progress);
        }
        let gap_ns = until.saturating_sub(self.since_ns.max(self.last.sent_ns));
        self.row.gap_ns = self.row.gap_ns.max(gap_ns);
        if let Some(part) = self.row.parts.get_mut(held as usize) {
            *part = part.saturating_add(ns);
        }
        if held == Held::ByReceiver && self.last.is_largest {
            self.largest_ns = self.largest_ns.saturating_add(ns);
        }
        if held == Held::Idle && self.heard.asked_ns > self.last.sent_ns {
            self.awaited_ns = self.awaited_ns.saturating_add(ns);
        }
        self.since_ns = until;
        if until.saturating_sub(self.row.start_ns) >= width_ns {
            self.close(until, progress);
        }
    }

    /// Ends the row.
    fn close(&mut self, at: i64, progress: &Progress) {
        if self.rows.len() >= MAX_ROWS {
            self.join();
        }
        let next = Row {
            start_ns: at,
            ..Row::default()
        };
        let ended = std::mem::replace(&mut self.row, next);
        self.rows.push(Row {
            sent: progress.sent,
            delivered: progress.delivered,
            ..ended
        });
    }

    /// Joins pairs of rows; later ones are as wide.
    fn join(&mut self) {
        let first_ns = self.rows.first_ns().unwrap_or(self.row.start_ns);
        let span = self.row.start_ns.saturating_sub(first_ns);
        for pair in self.rows.take().chunks(2) {
            let mut sum = pair[0];
            pair.iter().skip(1).for_each(|row| sum.add(row));
            self.rows.push(sum);
        }
        self.width_ns = (self.width_ns.saturating_mul(2)).max(span / (MAX_ROWS as i64 / 2));
    }

    /// The life ends at `last_ns`: all rows, and all silences. What is sent last is followed by nothing, for want of data.
    pub(crate) fn finish(&mut self, last_ns: i64, progress: &Progress) -> (Vec<Row>, &[Silence]) {
        if self.silent && self.outlasts_patience(last_ns, progress) {
            // Nothing answered the last timer either, until an end gave up.
            self.wait(last_ns, true, progress);
        } else if progress.mending {
            self.skip(last_ns);
        } else {
            if self.is_full(progress) {
                self.book(
                    last_ns.min(self.heard.opened_ns),
                    Held::ByReceiver,
                    progress,
                );
            }
            self.book(last_ns, Held::Idle, progress);
        }
        if !self.row.is_empty() || self.rows.len() == 0 {
            self.close(last_ns, progress);
        }
        (self.rows.take(), &self.silences)
    }
}
