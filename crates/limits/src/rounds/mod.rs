//! What held the sender, round by round, as its packets and their acknowledgements come by.
//!
//! Each packet with new data asks why it was not sent sooner. It answers an acknowledgement: a window held it, the
//! receiver's if that was full when the packet before left. It answers nothing: the application had nothing to send, or the
//! sender paces. The time between two packets is booked so, and summed for each round trip. Time in recoveries and in
//! silences that a retransmission ends is left out here: [`crate::judge`] lays them over, once their verdicts are known.

mod book;
mod row;
mod silence;

pub(crate) use row::Row;
use row::shortest;
pub(crate) use silence::Silence;

use crate::HeldShort;
use crate::rows::Rows;

/// Packets closer together than this share of a round trip belong to one burst.
const BURST_OF_RTT: i64 = 64;
const MIN_BURST_NS: i64 = 10_000;
/// Payload of a full segment, at least, bytes (RFC 9293 section 3.7.1).
const MIN_MSS: u32 = 536;
/// Fewer full segments may wait for a delayed acknowledgement.
const MIN_PROBED: i64 = 3;
/// A round where the round trip is not known, nanoseconds.
pub(crate) const UNKNOWN_RTT_NS: i64 = 50_000_000;
/// A retransmission after this time without new information and without a known round trip was sent by a timer, nanoseconds.
pub(crate) const UNKNOWN_TIMER_NS: i64 = 200_000_000;

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
    /// The sender sent nothing between the last packet and the next.
    pub(crate) in_turn: bool,
    /// The capture was made next to the sender.
    pub(crate) near: bool,
}

/// New data that was sent last.
#[derive(Debug)]
pub(crate) struct LastData {
    pub(crate) sent_ns: i64,
    /// How much room it left in the receiver's window, bytes.
    pub(crate) room: i64,
    /// That window was the largest so far.
    is_largest: bool,
    /// Payload, bytes.
    pub(crate) len: u32,
}

/// What the sender heard last, nanoseconds.
#[derive(Debug)]
pub(crate) struct Heard {
    /// An acknowledgement made room; it carried data.
    pub(crate) released_ns: i64,
    pub(crate) carried: bool,
    /// It said that something is missing: it was a duplicate, or had SACK blocks.
    repeated: bool,
    /// Any acknowledgement.
    news_ns: i64,
    /// When the receiver's window first grew after the last new data; `i64::MAX` if it has not.
    pub(crate) opened_ns: i64,
    /// The other end's data.
    pub(crate) asked_ns: i64,
}

/// Packets that belong together.
#[derive(Debug)]
pub(crate) struct Burst {
    /// Packets until then are of one burst with what is booked.
    until_ns: i64,
    /// Bytes of the last burst, and sent by its begin.
    pub(crate) bytes: i64,
    begin: i64,
    /// Time between the last two packets that were not of one burst, nanoseconds.
    pub(crate) before_ns: i64,
    /// Payload of what is sent now, bytes.
    pub(crate) next_len: u32,
    /// No acknowledgement had released the last burst.
    pub(crate) unreleased: bool,
}

/// What is recorded of the rounds of one flow.
#[derive(Debug)]
#[repr(C)] // First what every packet needs.
pub(crate) struct Rounds {
    /// Everything before is booked.
    since_ns: i64,
    pub(crate) last: LastData,
    pub(crate) burst: Burst,
    pub(crate) heard: Heard,
    /// The last thing that happened was a retransmission by a timer.
    silent: bool,
    /// When something was sent again last.
    pub(crate) again_ns: i64,
    /// The row that is open.
    row: Row,
    pub(crate) held_short: HeldShort,
    /// When an end of an answer was held back last.
    pub(crate) held_short_ns: i64,
    /// The idle time that ended after the other end's data had come, nanoseconds.
    pub(crate) awaited_ns: i64,
    /// Payload of a full segment by the handshake, 0 if it is not known.
    pub(crate) mss: u32,
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
                unreleased: false,
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
        let full = i64::from(self.mss.max(MIN_MSS));
        match self.largest_window {
            0 => full, // Without the handshake no window is known but a closed one.
            largest => full.min(largest / 2),
        }
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
}
