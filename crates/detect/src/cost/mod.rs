//! Throughput, and what unnecessary reductions of the window cost.
//!
//! [`Recorder`] goes along with a flow: bytes over time ([`series`]), the rate of the bottleneck ([`trains`]), the
//! window before and after reductions ([`episodes`]) and in each round trip ([`rounds`]), and signs of an idle application
//! and of a full receive window. At the flow's end [`estimate`] recognises the congestion control ([`control`]) and lets the rest of
//! the flow go by once more ([`replay`]) with the window that the control would have had ([`evolution`]) without the
//! reductions that nothing lost had caused ([`once_more`]).

mod closure;
mod control;
mod episodes;
mod estimate;
mod evolution;
mod growth;
mod once_more;
mod probing;
mod replay;
mod rounds;
mod series;
mod trains;

use crate::result::{Cost, Recovery, Vantage};
use closure::Closures;
use episodes::Episodes;
use estimate::Estimator;
use rounds::Rounds;
use series::Series;

pub use control::{Recognised, by_factors};
pub use once_more::OnceMore;
pub use replay::Rest;
pub use trains::{Dispersion, LineRate};

/// A sender with nothing on its way is idle if it sends nothing for this long, or for a round trip, nanoseconds.
const MIN_IDLE_NS: i64 = 10_000_000;
/// The same where the capture does not show the round trip.
const MIN_IDLE_UNKNOWN_NS: i64 = 200_000_000;

/// Segments from this size on may be full ones, whatever the offloads make of them, bytes.
const MIN_FULL: u32 = 1_200;

/// Fewer packets of a flow tell nothing of its congestion control.
const MIN_PACKETS_OF_ROUNDS: u64 = 50;

/// What is recorded of a flow.
///
/// In this order, what every packet needs comes first.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Recorder {
    /// One past the highest byte sent.
    highest: i64,
    una: i64,
    /// Bytes of the flow that have arrived, as far as is known.
    delivered: i64,
    last_news_ns: i64,
    packets: u64,
    short: u64,
    largest: u32,
    /// Acknowledgements tell what arrived; at a receiver the data itself does.
    by_acks: bool,
    series: Series,
    dispersion: Dispersion,
    /// One past what the receiver's window allows to be sent; the greatest number if it is not known.
    edge: i64,
    window_full: u64,
    episodes: Episodes,
    /// At the sender's side, once there are enough packets to tell anything.
    rounds: Option<Box<Rounds>>,
    /// The usual round trip, 0 if it is not known.
    rtt_ns: i64,
    idle_ns: i64,
    closures: Closures,
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
    /// One past what the receiver's window allows to be sent; the greatest number if its scale is not known.
    pub(crate) edge: i64,
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
            highest: 0,
            una: 0,
            delivered: 0,
            last_news_ns: 0,
            packets: 0,
            short: 0,
            largest: 0,
            by_acks,
            series: Series::default(),
            dispersion: Dispersion::default(),
            edge: i64::MAX,
            window_full: 0,
            episodes: Episodes::default(),
            rounds: None,
            rtt_ns: 0,
            idle_ns: 0,
            closures: Closures::default(),
        }
    }

    /// New data of `len` bytes up to `end` came by at `now`. Inlined where every packet passes.
    #[inline(always)]
    pub(crate) fn sent(&mut self, now: i64, end: i64, len: u32) {
        // No patience is shorter, and before the first news there is none to lose.
        let silent = now.wrapping_sub(self.last_news_ns) as u64 > MIN_IDLE_NS as u64;
        if self.una == self.highest && silent {
            self.note_idle(now);
        }
        if self.series.ends_before(now) {
            return self.sent_later(now, end, len);
        }
        self.book(now, end, len);
    }

    /// As [`Recorder::sent`], in another interval of the series, or as the first data of all.
    #[cold]
    #[inline(never)]
    fn sent_later(&mut self, now: i64, end: i64, len: u32) {
        if self.packets == 0 {
            self.last_news_ns = now;
        }
        self.series.turn_to(now);
        self.book(now, end, len);
    }

    #[inline(always)]
    fn book(&mut self, now: i64, end: i64, len: u32) {
        self.packets += 1;
        if len != self.largest {
            self.short += u64::from(len < self.largest.min(MIN_FULL));
            self.largest = self.largest.max(len);
        }
        self.highest = self.highest.max(end);
        let bytes = u64::from(len);
        let bin = self.series.present();
        bin.fresh += bytes;
        if self.by_acks {
            self.episodes.sent(now, self.highest - self.delivered);
            if let Some(rounds) = &mut self.rounds {
                rounds.sent(self.highest - self.delivered);
            }
            // Room for less than two segments: the sender may not use up the last one.
            let room = self.edge - self.highest;
            self.window_full += u64::from(room < 2 * i64::from(self.largest));
        } else {
            bin.delivered += bytes;
            self.delivered += i64::from(len);
            self.last_news_ns = now;
            self.dispersion.arrived(now, self.delivered);
        }
    }

    /// All that was sent is acknowledged, and more comes at `now`.
    #[cold]
    #[inline(never)]
    fn note_idle(&mut self, now: i64) {
        let patience = match self.rtt_ns {
            0 => MIN_IDLE_UNKNOWN_NS,
            rtt => rtt.max(MIN_IDLE_NS),
        };
        // What the receiver has no room for does not tell whether the application had more to send.
        let closed = self.closures.since(self.last_news_ns);
        let gap = self.silence_ns(now) - closed;
        if gap > patience {
            self.idle_ns = self.idle_ns.saturating_add(gap);
        }
    }

    /// The receiver's window is `closed`, or was until now.
    #[cold]
    pub(crate) fn window_told(&mut self, now: i64, closed: bool) {
        self.closures.told(now, closed);
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

    /// An ACK came by at the receiver, of everything below `una`.
    #[inline]
    pub(crate) fn acknowledged_at_receiver(&mut self, now: i64, una: i64) {
        self.una = una.min(self.highest);
        self.episodes.acknowledged(now, self.una, self.rtt_ns);
    }

    /// An ACK came by, elsewhere.
    #[inline(always)]
    pub(crate) fn acknowledged(&mut self, answer: &Answer) {
        let now = answer.now;
        self.una = answer.una.min(self.highest);
        if let Some(rtt_ns) = answer.rtt_ns {
            self.rtt_ns = rtt_ns;
        }
        self.edge = answer.edge;
        self.arrived(answer);
        if let Some(rounds) = &mut self.rounds {
            let flight = self.highest - self.delivered;
            rounds.acknowledged(now, self.una, flight, self.highest);
        } else if self.by_acks && self.packets >= MIN_PACKETS_OF_ROUNDS {
            self.rounds = Some(Box::default());
        }
        self.episodes.note_flight(self.highest - self.delivered);
        self.episodes.acknowledged(now, self.una, self.rtt_ns);
    }

    /// What an ACK says of arrivals.
    #[inline(always)]
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
    pub(crate) fn finish(&mut self, recoveries: &[Recovery], ends: &Ends) -> Cost {
        self.series.settle();
        Estimator {
            recorder: self,
            recoveries,
            ends,
        }
        .cost()
    }
}
