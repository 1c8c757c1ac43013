//! What is recorded of a flow for its throughput and for its limits.
//!
//! [`Recorder`] goes along with a flow: what [`inorder_cost`] records of bytes, rates and windows, signs of an idle application and of a full
//! receive window, and what held the sender ([`Rounds`]).

mod bound;

use inorder_cost::{Closures, Dispersion, Episodes, Flights, Flow, Reduction, Series};

use crate::limits::{Ends, Judge, Lag, Life, Limits, Progress, Rounds, Told};
use crate::result::{Cost, Recovery, Vantage};

pub(crate) use bound::bound;

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
    segments: Segments,
    /// Acknowledgements tell what arrived; at a receiver the data itself does.
    by_acks: bool,
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

/// What one ACK says, in offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    pub(crate) now: i64,
    /// Everything below is acknowledged.
    pub(crate) una: i64,
    /// Bytes acknowledged or SACKed so far.
    pub(crate) delivered: i64,
    /// Bytes that it reports to have arrived once more (DSACK, RFC 2883 section 4).
    pub(crate) repeated: i64,
    /// One past what the receiver's window allows to be sent; the greatest number if its scale is not known.
    pub(crate) edge: i64,
    /// The usual round trip, if known.
    pub(crate) rtt_ns: Option<i64>,
    /// It came with data.
    pub(crate) carries: bool,
    /// It has SACK blocks.
    pub(crate) sacks: bool,
    /// Its timestamp, 0 if it has none.
    pub(crate) stamp: u32,
}

impl Recorder {
    /// `by_acks`: the capture was made at the sender's side of the path; `lag_ns`: from the capture point to the sender and
    /// back, unless it is next to it; `mss`: payload of a full segment, 0 if it is not known.
    #[inline(always)] // Made where it stays, instead of copied there.
    pub(crate) fn new(by_acks: bool, lag_ns: Option<i64>, mss: u32) -> Self {
        Recorder {
            highest: 0,
            una: 0,
            delivered: 0,
            last_news_ns: 0,
            segments: Segments::default(),
            by_acks,
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
    pub(crate) fn note_marked(&mut self, now: i64) {
        if self.marked.len() < MAX_MARKED {
            self.marked.push(now);
        }
    }

    /// Reductions for congestion marks that are remembered.
    pub(crate) fn marked(&self) -> u64 {
        self.marked.len() as u64
    }

    /// New data of `len` bytes up to `end` came by at `now`, with the timestamp `echo` of an acknowledgement, or 0. Inlined where every packet passes.
    #[inline(always)]
    pub(crate) fn sent(&mut self, now: i64, end: i64, len: u32, echo: u32) {
        // `note_idle` waits at least `MIN_IDLE_NS`, so shorter silences need not call it.
        let silent = now.wrapping_sub(self.last_news_ns) as u64 > MIN_IDLE_NS as u64;
        if self.una == self.highest && silent {
            self.note_idle(now);
        }
        if self.series.ends_before(now) {
            return self.sent_later(now, end, len, echo);
        }
        self.book(now, end, len, echo);
    }

    /// As [`Recorder::sent`], in another interval of the series, or as the first data of all.
    #[cold]
    #[inline(never)]
    fn sent_later(&mut self, now: i64, end: i64, len: u32, echo: u32) {
        if self.segments.all == 0 {
            self.last_news_ns = now;
            self.rounds.begin(now);
        }
        self.series.turn_to(now);
        self.book(now, end, len, echo);
    }

    #[inline(always)]
    fn book(&mut self, now: i64, end: i64, len: u32, echo: u32) {
        self.segments.all += 1;
        if len != self.segments.largest {
            self.segments.short += u64::from(len < self.segments.largest.min(MIN_FULL));
            self.segments.largest = self.segments.largest.max(len);
        }
        if self.rounds.ends_burst(now) {
            self.explain(now, echo, (end <= self.highest, len));
        }
        self.highest = self.highest.max(end);
        let (room, flight) = (self.told.edge - self.highest, self.highest - self.told.una);
        self.rounds.sent(now, len, room, flight);
        let bytes = u64::from(len);
        let bin = self.series.present();
        bin.fresh += bytes;
        if self.by_acks {
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
    fn explain(&mut self, now: i64, echo: u32, (late, len): (bool, u32)) {
        self.catch_up(now);
        let way = self.lag.as_mut().and_then(|lag| lag.sample(echo, now));
        way.into_iter().for_each(|ns| self.rounds.note_way(ns));
        let progress = self.progress();
        self.rounds.next(now, (late, len), &progress);
    }

    /// The sender has heard by `now` what came by soon enough before.
    fn catch_up(&mut self, now: i64) {
        let Some(mut lag) = self.lag.take() else {
            return;
        };
        while let Some(told) = lag.next(now) {
            self.hear(&told);
        }
        self.lag = Some(lag);
    }

    /// The sender hears of an acknowledgement.
    #[inline(always)]
    fn hear(&mut self, told: &Told) {
        let opened = told.edge > self.told.edge;
        let window = told.edge.saturating_sub(told.una);
        if told.edge < i64::MAX && window > self.rounds.largest_window {
            self.rounds.largest_window = window;
        }
        let advances = opened || told.una > self.told.una || told.sacks;
        if advances {
            let room = told.edge.saturating_sub(self.highest);
            self.rounds.released(told.now, room, told.carries);
            if told.sacks {
                self.rounds.reported_hole();
            }
        } else if !told.carries && (told.una, told.edge) == (self.told.una, self.told.edge) {
            self.rounds.repeated(told.now);
        }
        if told.carries {
            self.rounds.asked(told.now);
        }
        self.rounds
            .news(told.now, advances || !told.carries, told.una);
        let edge = match self.told.edge {
            i64::MAX => {
                // No window moves back (RFC 9293 section 3.8.6): the last data left no more room than this. What tells that it did is no
                // packet of the receiver.
                let room = told.edge.saturating_sub(self.highest);
                if room >= 0 {
                    self.rounds.left_at_most(room);
                }
                told.edge
            }
            before => before.max(told.edge),
        };
        let una = self.told.una.max(told.una);
        self.told = Told { una, edge, ..*told };
    }

    fn progress(&self) -> Progress {
        Progress {
            sent: self.highest,
            delivered: self.delivered,
            una: self.told.una,
            rtt_ns: self.rtt_ns + self.lag.as_ref().map_or(0, |lag| lag.ns()),
            full: self.rounds.full(self.segments.largest),
            mending: self.episodes.is_open(),
            near: self.lag.is_none(),
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

    /// Time since the last report of an arrival, nanoseconds; 0 before the first.
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
        self.catch_up(now);
        let progress = self.progress();
        self.rounds.sent_again(now, &progress);
        self.episodes
            .sent_again(now, self.delivered, self.highest, silence);
        if !self.by_acks {
            self.series.at(now).repeated += u64::from(len);
        }
    }

    /// An ACK came by at the receiver.
    #[inline]
    pub(crate) fn acknowledged_at_receiver(&mut self, answer: &Answer) {
        self.una = answer.una.min(self.highest);
        self.note_answer(answer);
        self.mend(answer.now);
    }

    /// What the sender hears by an ACK, at once or later.
    #[inline(always)]
    fn note_answer(&mut self, answer: &Answer) {
        let told = Told {
            now: answer.now,
            una: answer.una.min(self.highest),
            edge: answer.edge,
            carries: answer.carries,
            sacks: answer.sacks,
            stamp: answer.stamp,
        };
        match &mut self.lag {
            None => self.hear(&told),
            Some(lag) => lag.push(&told),
        }
    }

    /// A recovery may have ended.
    #[inline(always)]
    fn mend(&mut self, now: i64) {
        if self.episodes.is_open() && self.episodes.acknowledged(now, self.una, self.rtt_ns) {
            self.rounds.mended(now);
        }
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
        self.note_answer(answer);
        self.arrived(answer);
        if let Some(flights) = &mut self.flights {
            let flight = self.highest - self.delivered;
            flights.acknowledged(now, self.una, flight, self.highest);
        } else if self.by_acks && self.segments.all >= MIN_PACKETS_OF_FLIGHTS {
            self.flights = Some(Box::default());
        }
        self.episodes.note_flight(self.highest - self.delivered);
        self.mend(now);
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

    /// When new data was sent last, nanoseconds.
    pub(crate) fn last_data_ns(&self) -> i64 {
        self.rounds.last_sent_ns()
    }

    /// What limited the flow over its `life`.
    pub(crate) fn limits(
        &mut self,
        life: &Life<'_>,
        recoveries: &[Recovery],
        ends: &Ends,
    ) -> Limits {
        self.catch_up(i64::MAX);
        let progress = self.progress();
        let last_data_ns = self.rounds.last_sent_ns();
        let last_came_ns = self.rounds.last_came_ns();
        let (largest_window, awaited_ns) = (self.rounds.largest_window, self.rounds.awaited_ns);
        let largest_ns = self.rounds.largest_ns;
        let held_short = self.rounds.held_short;
        let (rows, silences) = self.rounds.finish(life.last_ns, &progress);
        Judge {
            life,
            rows: &rows,
            silences,
            episodes: &self.episodes,
            recoveries,
            marked: &self.marked,
            ends,
            lag_ns: self.lag.as_ref().map_or(0, |lag| lag.ns()),
            last_data_ns,
            last_came_ns,
            awaited_ns,
            held_short,
            largest_window,
            largest_ns,
            closed_ns: self.closures.total_ns(),
        }
        .limits()
    }

    /// What the flow's throughput was, and what its unnecessary `recoveries` cost.
    pub(crate) fn finish(&mut self, recoveries: &[Recovery], ends: &Ends) -> Cost {
        self.series.settle();
        let reductions: Vec<Reduction> = recoveries.iter().map(Recovery::reduction).collect();
        Flow {
            series: &self.series,
            dispersion: &self.dispersion,
            episodes: &self.episodes,
            flights: self.flights.as_deref(),
            closures: &self.closures,
            reductions: &reductions,
            delivered: self.delivered.max(self.una),
            last_news_ns: self.last_news_ns,
            idle_ns: self.idle_ns,
            packets: self.segments.all,
            short: self.segments.short,
            window_full: self.window_full,
            at_sender: ends.vantage == Vantage::Sender,
            mss: ends.mss,
            rtt_ns: ends.rtt_ns,
            spurious: ends.spurious,
        }
        .cost()
    }
}

impl Recovery {
    /// What the cost knows of it.
    fn reduction(&self) -> Reduction {
        Reduction {
            start_ns: self.start_ns,
            seq_offset: self.seq_offset,
            timeout: self.timeout,
            verdict: self.verdict,
            cause: self.cause,
        }
    }
}
