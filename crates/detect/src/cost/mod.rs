//! Throughput, and what unnecessary reductions of the window cost.
//!
//! [`Recorder`] goes along with a flow: bytes over time ([`series`]), the rate of the bottleneck ([`trains`]), the
//! window before and after reductions ([`episodes`]), and signs of pacing, of an idle application and of a full
//! receive window. At the flow's end [`estimate`] recognises the congestion control ([`control`]) and lets the rest of
//! the flow go by once more ([`replay`]) with the window that the control would have had ([`evolution`]) without the
//! reductions that nothing lost had caused.

mod control;
mod episodes;
mod estimate;
mod evolution;
mod replay;
mod series;
mod trains;

use crate::result::{Cost, Recovery, Vantage};
use control::Pacing;
use episodes::Episodes;
use estimate::Estimator;
use series::Series;
use trains::Dispersion;

/// A sender with nothing on its way is idle if it sends nothing for this long, or for a round trip, nanoseconds.
const MIN_IDLE_NS: i64 = 10_000_000;
/// The same where the capture does not show the round trip.
const MIN_IDLE_UNKNOWN_NS: i64 = 200_000_000;

/// Segments from this size on may be full ones, whatever the offloads make of them, bytes.
const MIN_FULL: u32 = 1_200;

/// What is recorded of a flow.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// Acknowledgements tell what arrived; at a receiver the data itself does.
    by_acks: bool,
    series: Series,
    dispersion: Dispersion,
    episodes: Episodes,
    pacing: Pacing,
    /// Bytes of the flow that have arrived, as far as is known.
    delivered: i64,
    /// One past what the receiver's window allows to be sent.
    edge: Option<i64>,
    /// One past the highest byte sent.
    highest: i64,
    una: i64,
    rtt_ns: Option<i64>,
    last_news_ns: i64,
    idle_ns: i64,
    packets: u64,
    short: u64,
    largest: u32,
    window_full: u64,
}

/// What one ACK says, in offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    pub(crate) now: i64,
    /// Everything below is acknowledged.
    pub(crate) una: i64,
    /// Bytes acknowledged or SACKed so far.
    pub(crate) delivered: i64,
    /// Bytes that it reports to have arrived once more (DSACK, RFC 2883).
    pub(crate) repeated: i64,
    /// The receiver's window in bytes, if its scale is known.
    pub(crate) window: Option<i64>,
    /// The usual round trip, if known.
    pub(crate) rtt_ns: Option<i64>,
}

/// What is known of the flow at its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) vantage: Vantage,
    pub(crate) mss: u32,
    /// Shortest round trip between sender and receiver.
    pub(crate) rtt_ns: Option<i64>,
    pub(crate) spurious: u64,
}

impl Recorder {
    /// `by_acks`: the capture was made at the sender's side of the path.
    pub(crate) fn new(by_acks: bool) -> Self {
        Recorder {
            by_acks,
            series: Series::default(),
            dispersion: Dispersion::default(),
            episodes: Episodes::default(),
            pacing: Pacing::default(),
            delivered: 0,
            edge: None,
            highest: 0,
            una: 0,
            rtt_ns: None,
            last_news_ns: 0,
            idle_ns: 0,
            packets: 0,
            short: 0,
            largest: 0,
            window_full: 0,
        }
    }

    /// New data of `len` bytes up to `end` came by at `now`.
    #[inline]
    pub(crate) fn sent(&mut self, now: i64, end: i64, len: u32) {
        if self.una == self.highest && self.packets > 0 {
            self.note_idle(now);
        }
        if self.packets == 0 {
            self.last_news_ns = now;
        }
        self.packets += 1;
        self.short += u64::from(len < self.largest.min(MIN_FULL));
        self.largest = self.largest.max(len);
        self.highest = self.highest.max(end);
        let bin = self.series.at(now);
        bin.fresh += u64::from(len);
        if self.by_acks {
            self.pacing.sent(now);
            self.episodes.sent(now, self.highest - self.delivered);
            // Room for less than two segments: the sender may not use up the last one.
            let room = self.edge.map(|edge| edge - self.highest);
            let full = room.is_some_and(|room| room < 2 * i64::from(self.largest));
            self.window_full += u64::from(full);
        } else {
            bin.delivered += u64::from(len);
            self.delivered += i64::from(len);
            self.last_news_ns = now;
            self.dispersion.arrived(now, self.delivered);
        }
    }

    #[cold]
    fn note_idle(&mut self, now: i64) {
        let patience = self
            .rtt_ns
            .map_or(MIN_IDLE_UNKNOWN_NS, |rtt| rtt.max(MIN_IDLE_NS));
        let gap = self.silence_ns(now);
        if gap > patience {
            self.idle_ns = self.idle_ns.saturating_add(gap);
        }
    }

    /// Time since the last news of an arrival; 0 before the first.
    fn silence_ns(&self, now: i64) -> i64 {
        match self.last_news_ns {
            0 => 0,
            last => now.saturating_sub(last),
        }
    }

    /// Data of `len` bytes came by again at `now`.
    pub(crate) fn sent_again(&mut self, now: i64, len: u32) {
        self.series.at(now).again += u64::from(len);
        let silence = self.silence_ns(now);
        self.episodes
            .sent_again(now, self.delivered, self.highest, silence);
        if !self.by_acks {
            self.series.at(now).repeated += u64::from(len);
        }
    }

    /// An ACK came by.
    #[inline]
    pub(crate) fn acknowledged(&mut self, answer: &Answer) {
        let now = answer.now;
        self.una = answer.una.min(self.highest);
        if answer.rtt_ns.is_some() {
            self.rtt_ns = answer.rtt_ns;
        }
        if self.by_acks {
            self.pacing.acknowledged(now);
            self.edge = answer
                .window
                .map(|window| answer.una.saturating_add(window));
            self.arrived(answer);
        }
        let flight = self.highest - self.delivered;
        let rtt_ns = self.rtt_ns.unwrap_or(0);
        self.episodes.acknowledged(now, self.una, flight, rtt_ns);
    }

    /// What an ACK says of arrivals.
    #[inline]
    fn arrived(&mut self, answer: &Answer) {
        let delivered = answer.delivered.min(self.highest);
        let fresh = (delivered - self.delivered).max(0);
        if fresh + answer.repeated == 0 {
            return;
        }
        let bin = self.series.at(answer.now);
        bin.delivered += fresh as u64;
        bin.repeated += answer.repeated as u64;
        self.delivered += fresh;
        self.last_news_ns = answer.now;

        self.dispersion.arrived(answer.now, self.delivered);
    }

    /// What the flow's throughput was, and what its unnecessary `recoveries` cost.
    pub(crate) fn finish(&self, recoveries: &[Recovery], ends: &Ends) -> Cost {
        Estimator {
            recorder: self,
            recoveries,
            ends,
        }
        .cost()
    }
}
