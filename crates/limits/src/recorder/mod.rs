//! Goes along with one direction of a connection, packet by packet.

mod end;
mod heard;

pub use heard::Answer;

use inorder_base::vantage::Vantage;
use inorder_cost::{Closures, Dispersion, Episodes, Flights, Series};

use crate::lag::{Lag, Told};
use crate::rounds::{Progress, Rounds};

/// Minimum time without sending, nanoseconds, and at least a round trip, after which a sender without data in flight is idle.
const MIN_IDLE_NS: i64 = 10_000_000;
/// The same where the capture does not show the round trip, nanoseconds.
const MIN_IDLE_UNKNOWN_NS: i64 = 200_000_000;

/// Segments from this size on may be full ones, whatever the offloads make of them, bytes.
const MIN_FULL: u32 = 1_200;

/// Minimum number of packets of a flow from which its congestion control is recognised.
const MIN_PACKETS_OF_FLIGHTS: u64 = 50;
/// Reductions for congestion marks that are remembered, at most: as many as episodes are.
const MAX_MARKED: usize = 4_096;

/// How many segments came, and how large they are.
#[derive(Clone, Copy, Default, Debug)]
struct Segments {
    all: u64,
    /// Shorter than the largest before them.
    short: u64,
    /// Payload of the largest, bytes.
    largest: u32,
}

/// What is recorded of one direction of a connection for its throughput and its limits: what [`inorder_cost`] keeps of bytes, rates and
/// windows, signs of an idle application and of a full receive window, and what held the sender.
///
/// It takes data and acknowledgements as they pass the capture point, in offsets from the first byte, and times in nanoseconds.
///
/// In this order, what every packet needs comes first.
#[derive(Debug)]
#[repr(C)]
pub struct Recorder {
    /// One past the highest byte sent.
    highest: i64,
    una: i64,
    /// Bytes of the flow that have arrived, as far as is known.
    delivered: i64,
    last_news_ns: i64,
    segments: Segments,
    /// At a receiver the data itself tells what arrived, elsewhere acknowledgements do.
    vantage: Vantage,
    series: Series,
    dispersion: Dispersion,
    /// One past what the receiver's window allows to be sent; the greatest number if it is not known.
    edge: i64,
    window_full: u64,
    episodes: Episodes,
    /// At the sender's side, once there are enough packets to tell anything.
    flights: Option<Box<Flights>>,
    /// The usual round trip, 0 if it is not known.
    rtt_ns: i64,
    idle_ns: i64,
    closures: Closures,
    /// What held the sender, round by round.
    rounds: Rounds,
    /// What the sender knows of acknowledgements; `None` where the capture was made next to it.
    lag: Option<Box<Lag>>,
    /// What the last acknowledgement that the sender knows said, bytes.
    told: Told,
    /// When the sender said that it had reduced its window for a congestion mark (CWR, RFC 3168 section 6.1.2), nanoseconds.
    marked: Vec<i64>,
}

heap!(Recorder: series, dispersion, episodes, flights, rounds, lag, marked);

impl Recorder {
    /// A capture that was made at `vantage`. `lag_ns`: from the capture point to the sender and back, unless it is next to it; `mss`:
    /// payload of a full segment, 0 if it is not known.
    #[inline(always)] // Made where it stays, instead of copied there.
    pub fn new(vantage: Vantage, lag_ns: Option<i64>, mss: u32) -> Self {
        Recorder {
            highest: 0,
            una: 0,
            delivered: 0,
            last_news_ns: 0,
            segments: Segments::default(),
            vantage,
            series: Series::default(),
            dispersion: Dispersion::default(),
            edge: i64::MAX,
            window_full: 0,
            episodes: Episodes::default(),
            flights: None,
            rtt_ns: 0,
            idle_ns: 0,
            closures: Closures::default(),
            rounds: Rounds::new(mss),
            lag: lag_ns.map(|ns| Box::new(Lag::new(ns))),
            told: Told::default(),
            marked: Vec::new(),
        }
    }

    /// The sender said at `now` that it had reduced its window for a congestion mark.
    #[cold]
    pub fn note_marked(&mut self, now: i64) {
        if self.marked.len() < MAX_MARKED {
            self.marked.push(now);
        }
    }

    /// Reductions for congestion marks that are remembered.
    pub fn marked(&self) -> u64 {
        self.marked.len() as u64
    }

    /// New data of `len` bytes up to `end` came by at `now`, with the timestamp `echo` of an acknowledgement, or 0. If it is `in_turn`, its
    /// identification follows on that of the last packet: the sender sent nothing in between that was lost. Inlined where every packet passes.
    #[inline(always)]
    pub fn sent(&mut self, now: i64, end: i64, len: u32, (echo, in_turn): (u32, bool)) {
        // `note_idle` waits at least `MIN_IDLE_NS`, so shorter silences need not call it.
        let silent = now.wrapping_sub(self.last_news_ns) as u64 > MIN_IDLE_NS as u64;
        if self.una == self.highest && silent {
            self.note_idle(now);
        }
        if self.series.ends_before(now) {
            return self.sent_later(now, end, len, (echo, in_turn));
        }
        self.book(now, end, len, (echo, in_turn));
    }

    /// As [`Recorder::sent`], in another interval of the series, or as the first data of all.
    #[cold]
    #[inline(never)]
    fn sent_later(&mut self, now: i64, end: i64, len: u32, shown: (u32, bool)) {
        if self.segments.all == 0 {
            self.last_news_ns = now;
            self.rounds.begin(now);
        }
        self.series.turn_to(now);
        self.book(now, end, len, shown);
    }

    #[inline(always)]
    fn book(&mut self, now: i64, end: i64, len: u32, shown: (u32, bool)) {
        self.segments.all += 1;
        if len != self.segments.largest {
            self.segments.short += u64::from(len < self.segments.largest.min(MIN_FULL));
            self.segments.largest = self.segments.largest.max(len);
        }
        if self.rounds.ends_burst(now) {
            self.explain(now, shown, (end <= self.highest, len));
        }
        self.highest = self.highest.max(end);
        let (room, flight) = (self.told.edge - self.highest, self.highest - self.told.una);
        self.rounds.sent(now, len, room, flight);
        let bytes = u64::from(len);
        let bin = self.series.present();
        bin.fresh += bytes;
        if self.vantage != Vantage::Receiver {
            self.episodes.sent(now, self.highest - self.delivered);
            if let Some(flights) = &mut self.flights {
                flights.sent(self.highest - self.delivered);
            }
            // Room for less than two segments: the sender may not use up the last one.
            let room = self.edge - self.highest;
            self.window_full += u64::from(room < 2 * i64::from(self.segments.largest));
        } else {
            bin.delivered += bytes;
            self.delivered += i64::from(len);
            self.last_news_ns = now;
            self.dispersion.arrived(now, self.delivered);
        }
    }

    /// Data of `len` bytes that is no part of a burst is about to be sent at `now`, new or `late`: why not sooner?
    #[inline(never)]
    fn explain(&mut self, now: i64, (echo, in_turn): (u32, bool), (late, len): (bool, u32)) {
        self.catch_up(now);
        let way = self.lag.as_mut().and_then(|lag| lag.sample(echo, now));
        way.into_iter().for_each(|ns| self.rounds.note_way(ns));
        let progress = Progress {
            in_turn,
            ..self.progress()
        };
        self.rounds.next(now, (late, len), &progress);
    }

    fn progress(&self) -> Progress {
        let near = self.vantage == Vantage::Sender;
        Progress {
            sent: self.highest,
            delivered: self.delivered,
            una: self.told.una,
            rtt_ns: self.rtt_ns + self.lag.as_ref().map_or(0, |lag| lag.ns()),
            full: self.rounds.full(self.segments.largest, near),
            mending: self.episodes.is_open(),
            in_turn: false,
            near,
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
    pub fn window_told(&mut self, now: i64, closed: bool) {
        self.closures.told(now, closed);
    }

    /// Time since the last report of an arrival, nanoseconds; 0 before the first.
    fn silence_ns(&self, now: i64) -> i64 {
        match self.last_news_ns {
            0 => 0,
            last => now.saturating_sub(last),
        }
    }

    /// Data of `len` bytes came by again at `now`.
    pub fn sent_again(&mut self, now: i64, len: u32) {
        self.series.at(now).again += u64::from(len);
        let silence = self.silence_ns(now);
        self.catch_up(now);
        let progress = self.progress();
        self.rounds.sent_again(now, &progress);
        self.episodes
            .sent_again(now, self.delivered, self.highest, silence);
        if self.vantage == Vantage::Receiver {
            self.series.at(now).repeated += u64::from(len);
        }
    }

    /// When new data was sent last, nanoseconds.
    pub fn last_data_ns(&self) -> i64 {
        self.rounds.last_sent_ns()
    }
}
