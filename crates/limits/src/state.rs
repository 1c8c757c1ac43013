//! What the congestion window was doing in each row: growing from its start, on a plateau, after a reduction, over a queue.

use inorder_cost::Series;

use super::held::Held;
use super::reduced::Reduced;
use super::rounds::Row;
use super::{one_rate, steady};

/// A queue stands if the shortest round trip of a row is longer than the shortest of all by more than this share and this
/// time, nanoseconds.
const MIN_QUEUE_OF_RTT: f64 = 0.1;
const MIN_QUEUE_NS: i64 = 1_000_000;
/// The same where timestamps tell the round trip, which tick.
const MIN_QUEUE_BY_STAMPS_NS: i64 = 2_500_000;
/// A sender that a window holds uses the room that acknowledgements make, but for those that offloads wait for: of this number of
/// acknowledgements one at least.
const MIN_UNUSED: u32 = 3;
/// Over a queue that stands at least this number of acknowledgements comes in a round trip: one or two may have been delayed.
const MIN_ACKS_OF_QUEUE: i64 = 3;
/// At a receiver, packets of a busy line are no further apart than this share of a round trip.
const MAX_GAP_OF_RTT: f64 = 0.3;
/// Or than so many times as the segments of the row are on average.
const MAX_GAP_OF_SPACING: i64 = 3;
/// A row is limited by the line if it carries this share of what the line carries at most, and if this share of what the line
/// holds in a round trip is in flight.
const BUSY: f64 = 0.7;
/// At a receiver, where no round trip tells of a queue, this share, and this number of rows that agree, where no trains of packets do.
const BUSY_AT_RECEIVER: f64 = 0.85;
const MIN_BUSY_ROWS: usize = 4;
const FILLED: f64 = 0.9;
/// At this share of its rate no queue has to stand.
pub(super) const AT_RATE: f64 = 0.93;
/// A line that seems slower than this share of the rate at which packets followed each other is none: the round trip varies. Cards that merge
/// packets or interrupt seldom make trains two or three times as fast.
const SLOWER_THAN_TRAINS: f64 = 0.25;
/// Where acknowledgements are too few to tell a queue from their delay, the line may have been busy at this share of its rate.
pub(super) const PERHAPS_BUSY: f64 = 0.5;
/// Of the rates of the rows in which a queue stands, the line's is this quantile: bursts of acknowledgements are faster.
const LINE_QUANTILE: f64 = 0.9;
/// A flight on a plateau stays the same, but for a segment, for this number of round trips; after a reduction of the window, whose
/// growth is slow in between (CUBIC, RFC 9438 section 4.3), for the second number of them, and for this time, nanoseconds.
const PLATEAU_RTTS: i64 = 7;
const PLATEAU_REDUCED_RTTS: i64 = 16;
const PLATEAU_REDUCED_NS: i64 = 4_000_000_000;
/// A flight that stays the same for this number of round trips is not that of a window which doubles.
const LEVEL_RTTS: i64 = 3;

/// What is known of a row beside its parts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    /// The shortest round trip in it, nanoseconds; 0 if there is none.
    pub(super) rtt_ns: i64,
    /// Delivered in it, bytes a second.
    pub(super) rate: f64,
    /// A queue seems to stand.
    pub(super) queue: bool,
    /// It stands before the capture point.
    pub(super) upstream: bool,
    /// The bottleneck is busy.
    pub(super) line: bool,
    pub(super) flight: Flight,
    /// Most of its data was released by no acknowledgement.
    pub(super) paced: bool,
    /// Most acknowledgements made room that it did not use.
    pub(super) unused: bool,
    pub(super) reduced: Reduced,
    /// The application sets the pace of the whole life.
    pub(super) steady: bool,
    /// Its round trips are as long as over a queue, or as acknowledgements are delayed.
    pub(super) delayed: bool,
    /// Its packets come without the gaps that a window makes which is sent at once.
    pub(super) even: bool,
    /// Whether the bottleneck is busy is not known.
    pub(super) perhaps_line: bool,
    /// Data comes faster than in the row before: a line that was full there would have carried as much.
    pub(super) rising: bool,
    /// The congestion window, which is not reduced, allowed more before.
    pub(super) spare: bool,
    /// As much passes as at all other times behind the same reduction, for longer than a reduced window stays as it is.
    pub(super) one_rate: bool,
    /// The sender sends as fast as its packets ever follow each other, without gaps and over no queue that shows: a line before the capture
    /// point, as its own interface, lets no more pass.
    pub(super) own_line: bool,
    /// The line is full under a queue that holds as much as the path, or more.
    pub(super) standing: bool,
}

/// What is in flight in a row, at most.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flight {
    /// Full segments.
    pub(super) segments: i64,
    /// It stays the same, for longer than a congestion window does.
    pub(super) plateau: bool,
    /// It is the same for some round trips around it: less than a window allows that grows from its start.
    pub(super) level: bool,
    /// No row has more, but for a segment.
    pub(super) highest: bool,
    /// It is as much as the receiver's window ever allows, but for two segments.
    pub(super) fills_window: bool,
}

/// What is known of all rows.
pub(super) struct Course<'a> {
    pub(super) rows: &'a [Row],
    /// The end of the last one.
    pub(super) end_ns: i64,
    /// When round trips ended, and how long they took, nanoseconds: those that the capture shows.
    pub(super) rtts: &'a [(i64, i64)],
    /// The shortest of those, and the shortest between sender and receiver.
    pub(super) least_ns: i64,
    pub(super) min_rtt_ns: i64,
    /// The shortest way to the sender and back, if the capture was not made next to it.
    pub(super) way_ns: i64,
    pub(super) mss: i64,
    /// Most bytes in flight in any row.
    pub(super) highest: i64,
    /// The largest window advertised, bytes; 0 if none is known.
    pub(super) largest_window: i64,
    pub(super) reductions: &'a [(i64, Reduced)],
    /// What arrived over time, settled.
    pub(super) series: &'a Series,
    /// The capture was made at the receiver: no round trip is known but the shortest.
    pub(super) at_receiver: bool,
    /// It was made at the sender.
    pub(super) at_sender: bool,
    /// The line's rate by packets that followed each other, bytes a second.
    pub(super) spaced: Option<f64>,
    /// The same, however few the line lets pass in the shortest round trip.
    pub(super) trains: Option<f64>,
}

impl Course<'_> {
    pub(super) fn until(&self, i: usize) -> i64 {
        self.rows
            .get(i + 1)
            .map_or(self.end_ns, |next| next.start_ns)
    }

    /// The states of all rows, and the line's rate where it is busy in any.
    pub(super) fn states(&self) -> (Vec<State>, Option<f64>) {
        let mut states: Vec<State> = Vec::with_capacity(self.rows.len());
        for i in 0..self.rows.len() {
            let last_ns = states.last().map_or(0, |last| last.rtt_ns);
            states.push(self.state(i, last_ns));
        }
        let slow = |most: &f64| {
            self.spaced
                .is_some_and(|spaced| *most < SLOWER_THAN_TRAINS * spaced)
        };
        let most = self.line(&states).filter(|most| !slow(most));
        if let Some(most) = most {
            let held = most * self.min_rtt_ns as f64 / 1e9;
            let busy = if self.at_receiver {
                BUSY_AT_RECEIVER
            } else {
                BUSY
            };
            for (row, state) in self.rows.iter().zip(&mut states) {
                let filled = self.at_receiver || row.peak as f64 >= FILLED * held;
                let fast = state.queue && state.rate >= busy * most;
                state.line = filled && (fast || state.rate >= AT_RATE * most);
                let half = state.rate >= PERHAPS_BUSY * most;
                state.perhaps_line = !state.line && filled && state.delayed && half;
            }
            self.note_standing(&mut states, most);
        }
        self.note_hidden_queues(&mut states, most);
        self.note_growth(&mut states);
        self.past_growth(&mut states);
        self.note_hidden_timers(&mut states);
        one_rate::note(self, &mut states);
        let steady = steady::is_steady(self);
        states.iter_mut().for_each(|state| state.steady = steady);
        let any = states.iter().any(|state| state.line);
        (states, most.filter(|_| any))
    }

    /// Full segments delivered in row `i`.
    fn segments(&self, i: usize) -> i64 {
        let delivered = |i: usize| self.rows.get(i).map_or(0, |row| row.delivered);
        let before = i.checked_sub(1).map_or(0, delivered);
        delivered(i).saturating_sub(before).max(0) / self.mss
    }

    /// Its packets come as those of a busy line do. It lasts `ns` and brings `segments`.
    fn comes_without_gaps(&self, row: &Row, (ns, segments): (i64, i64)) -> bool {
        let spacing_ns = ns / segments.max(1);
        let most_ns = (self.min_rtt_ns as f64 * MAX_GAP_OF_RTT) as i64;
        row.gap_ns <= most_ns.max(spacing_ns.saturating_mul(MAX_GAP_OF_SPACING))
    }

    /// What the line carries: in rows over which a queue stands, and in no other rows more.
    fn line(&self, states: &[State]) -> Option<f64> {
        let long = self.min_rtt_ns.max(1) / 2;
        let rates = |of: &dyn Fn(&State) -> bool| {
            let all = states.iter().enumerate();
            let long = all.filter(|(i, state)| self.long(*i) >= long && of(state));
            let mut rates: Vec<f64> = long.map(|(_, state)| state.rate).collect();
            rates.sort_by(f64::total_cmp);
            rates
        };
        let most = |rates: &[f64]| {
            let at = (rates.len() as f64 * LINE_QUANTILE) as usize;
            rates.get(at.min(rates.len().checked_sub(1)?)).copied()
        };
        if !states.iter().any(|state| state.queue) {
            return None; // As mostly.
        }
        let queued = rates(&|state: &State| state.queue);
        let most_queued = most(&queued)?;
        let any = most(&rates(&|_: &State| true))? * AT_RATE;
        let most = most_queued.max(any);
        let told = states.iter().any(|state| state.rtt_ns > 0);
        if self.at_receiver && !told {
            let agree = queued.len() >= MIN_BUSY_ROWS;
            return match self.spaced {
                Some(spaced) => Some(spaced.max(most)),
                None => agree.then_some(most),
            };
        }
        Some(most)
    }

    /// How long row `i` lasts, nanoseconds.
    fn long(&self, i: usize) -> i64 {
        self.until(i).saturating_sub(self.start(i))
    }

    pub(super) fn start(&self, i: usize) -> i64 {
        self.rows.get(i).map_or(self.end_ns, |row| row.start_ns)
    }

    /// Its round trips are not those of delayed acknowledgements.
    fn is_often_acknowledged(&self, row: &Row, ns: i64, rtt_ns: i64) -> bool {
        let acks = i64::from(row.answered) + i64::from(row.unanswered);
        let rounds = (ns / rtt_ns.max(self.min_rtt_ns).max(1)).max(1);
        acks >= MIN_ACKS_OF_QUEUE.saturating_mul(rounds)
    }

    /// A queue seems to stand. At a receiver without timestamps packets of a busy line come without gaps.
    fn queues(&self, row: &Row, rtt_ns: i64, (ns, segments): (i64, i64)) -> bool {
        if self.at_receiver && rtt_ns == 0 {
            return self.comes_without_gaps(row, (ns, segments));
        }
        let least_ns = match self.at_receiver {
            true => MIN_QUEUE_BY_STAMPS_NS,
            false => MIN_QUEUE_NS,
        };
        let queue_ns = least_ns.max((self.min_rtt_ns as f64 * MIN_QUEUE_OF_RTT) as i64);
        rtt_ns > self.least_ns.saturating_add(queue_ns)
    }

    /// The state of row `i`; the round trip of the last one was `last_ns`.
    fn state(&self, i: usize, last_ns: i64) -> State {
        let (start, until) = (self.start(i), self.until(i));
        let from = self.rtts.partition_point(|s| s.0 <= start);
        let within = self.rtts.iter().skip(from).take_while(|s| s.0 <= until);
        // Where none ended in it, the next one, or the last one before.
        let next = self.rtts.get(from).map_or(last_ns, |s| s.1);
        let row = self.rows.get(i).copied().unwrap_or_default();
        let rtt_ns = match self.at_receiver {
            true if row.way_ns == 0 => last_ns,
            true => row.way_ns,
            // What is upstream of the capture point adds to it.
            false => {
                let upstream_ns = row.way_ns.saturating_sub(self.way_ns).max(0);
                within
                    .map(|s| s.1)
                    .min()
                    .unwrap_or(next)
                    .saturating_add(upstream_ns)
            }
        };
        let delivered = |i: usize| self.rows.get(i).map_or(0, |row| row.delivered);
        let before = i.checked_sub(1).map_or(0, delivered);
        let segments = self.segments(i);
        let ns = self.long(i);
        let seconds = ns.max(1) as f64 / 1e9;
        let middle = start.saturating_add(ns / 2);
        let reduced = self.reductions.partition_point(|r| r.0 <= middle);
        let reduced = reduced
            .checked_sub(1)
            .and_then(|at| self.reductions.get(at));
        let reduced = reduced.map_or(Reduced::Not, |r| r.1);
        let delayed = self.queues(&row, rtt_ns, (ns, segments));
        let even = self.comes_without_gaps(&row, (ns, segments));
        State {
            rtt_ns,
            queue: delayed && self.is_often_acknowledged(&row, ns, rtt_ns),
            upstream: row.way_ns > self.way_ns + MIN_QUEUE_BY_STAMPS_NS,
            rate: delivered(i).saturating_sub(before).max(0) as f64 / seconds,
            flight: self.flight(i, &row, reduced),
            paced: row.part(Held::Paced) > row.part(Held::ByAck),
            unused: row.unanswered >= MIN_UNUSED.saturating_mul(row.answered.max(1)),
            reduced,
            delayed,
            even,
            own_line: self.at_sender && !delayed && even && self.is_sent_at_line_rate(i),
            ..State::default()
        }
    }

    fn flight(&self, i: usize, row: &Row, reduced: Reduced) -> Flight {
        let plateau_ns = self.least_plateau_ns(reduced);
        let same_ns = self.same_flight_ns(i, plateau_ns);
        Flight {
            segments: row.peak / self.mss.max(1),
            plateau: same_ns >= plateau_ns,
            level: same_ns / self.min_rtt_ns.max(1) >= LEVEL_RTTS,
            highest: row.peak >= self.highest.saturating_sub(self.mss),
            fills_window: self.largest_window > 0
                && row.peak >= self.largest_window.saturating_sub(2 * self.mss),
        }
    }

    /// New data is sent in row `i` as fast as packets ever follow each other.
    fn is_sent_at_line_rate(&self, i: usize) -> bool {
        let sent = |i: usize| self.rows.get(i).map_or(0, |row| row.sent);
        let before = i.checked_sub(1).map_or(0, sent);
        let seconds = self.long(i).max(1) as f64 / 1e9;
        let rate = sent(i).saturating_sub(before).max(0) as f64 / seconds;
        self.spaced.is_some_and(|spaced| rate >= AT_RATE * spaced)
    }

    /// How long as much is in flight as in this row, nanoseconds, until a reduction makes the window another one; where it is longer than `enough_ns`, at least that. Rows of one
    /// height would otherwise all be looked at from each of them.
    fn same_flight_ns(&self, i: usize, enough_ns: i64) -> i64 {
        let peak = self.rows.get(i).map_or(0, |row| row.peak);
        let before = |at: usize| self.reductions.partition_point(|r| r.0 <= self.start(at));
        let reduced = before(i);
        let near = |at: usize| {
            let row = self.rows.get(at);
            row.is_some_and(|row| row.peak.saturating_sub(peak).saturating_abs() <= self.mss)
                && before(at) == reduced
        };
        let (mut first, mut last) = (i, i);
        let mut ns = self.busy_ns(i);
        loop {
            let next = match first.checked_sub(1).filter(|&before| near(before)) {
                _ if ns >= enough_ns => return ns,
                Some(before) => {
                    first = before;
                    before
                }
                None if near(last + 1) => {
                    last += 1;
                    last
                }
                None => return ns,
            };
            ns = ns.saturating_add(self.busy_ns(next));
        }
    }

    /// How long row `i` lasts without what its longest wait was longer than a round trip: one acknowledgement that comes late is
    /// one round, however late.
    fn busy_ns(&self, i: usize) -> i64 {
        let gap_ns = self.rows.get(i).map_or(0, |row| row.gap_ns);
        let waited_ns = gap_ns.saturating_sub(self.min_rtt_ns.max(1)).max(0);
        self.long(i).saturating_sub(waited_ns).max(0)
    }

    /// A plateau lasts at least as long, nanoseconds.
    fn least_plateau_ns(&self, reduced: Reduced) -> i64 {
        let rtts = |count: i64| self.min_rtt_ns.max(1).saturating_mul(count);
        match reduced {
            Reduced::Not => rtts(PLATEAU_RTTS),
            _ => rtts(PLATEAU_REDUCED_RTTS).max(PLATEAU_REDUCED_NS),
        }
    }
}
