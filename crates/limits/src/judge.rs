//! The limit of each instant, from the rounds and from what is known at the end: verdicts and causes of recoveries.

use inorder_base::confidence::Confidence;
use inorder_base::vantage::Vantage;
use inorder_cost::{Episodes, Series};

use super::held::{HELD, Held, KINDS};
use super::overlays::Overlay;
use super::pieces::Pieces;
use super::policer;
use super::reduced::{Reduced, reductions};
use super::rounds::{Row, Silence};
use super::state::{Course, State};
use super::unneeded::by_cause;
use super::window::{BUFFERED, MIN_BUFFER, MIN_BUFFER_AT_ALL, window};
use super::{HeldShort, Life, Limit, LimitSet, Limits, Window};

/// Trains of eight segments tell the line's rate if it lets twice as much pass in a round trip, bytes.
const MIN_SPACED: f64 = 2.0 * 8.0 * 1_448.0;
/// A window that is full for this share of a round trip, of the time in which there is data, holds all of it.
const FULL_FOR_PART: f64 = 0.3;

/// Times that seem idle may be a buffer's if they are this many times as long as those that seem to be, at most.
const MAX_IDLE_FOR_BUFFERED: i64 = 3;
/// Receivers delay an acknowledgement by no more, nanoseconds (Linux's `TCP_DELACK_MAX`, Windows's default).
const MAX_ACK_DELAY_NS: i64 = 200_000_000;
/// A sender that knows no round trip takes it for no longer, nanoseconds (its first timer, RFC 6298 section 2): a window waits no longer for the answer to its
/// flight.
pub(crate) const LONGEST_RTT_NS: i64 = 1_000_000_000;
/// Less of the life than this tells nothing of an application's habit.
const MIN_PART_OF_HABIT: f64 = 0.1;

/// What is known at the end.
pub(crate) struct Judge<'a> {
    pub(crate) life: &'a Life<'a>,
    pub(crate) rows: &'a [Row],
    pub(crate) silences: &'a [Silence],
    pub(crate) episodes: &'a Episodes,
    /// What arrived over time, settled.
    pub(crate) series: &'a Series,
    /// When the window was reduced for congestion marks.
    pub(crate) marked: &'a [i64],
    /// Where the capture was made.
    pub(crate) vantage: Vantage,
    /// Rate of the bottleneck as payload, bits per second, as packets that followed each other show it.
    pub(crate) line_bps: Option<u64>,
    /// The last new data.
    pub(crate) last_data_ns: i64,
    /// The last data, new or not.
    pub(crate) last_came_ns: i64,
    /// The time without anything to send that ended after the other end's data had come, nanoseconds.
    pub(crate) awaited_ns: i64,
    pub(crate) held_short: HeldShort,
    /// From the capture point to the sender and back.
    pub(crate) lag_ns: i64,
    pub(crate) largest_window: i64,
    pub(crate) largest_ns: i64,
    pub(crate) closed_ns: i64,
}

impl Judge<'_> {
    pub(crate) fn limits(&self) -> Limits {
        let (begun_ns, ended_ns) = (self.life.first_ns, self.life.last_ns);
        let over_ns = self.life.over_ns.clamp(begun_ns, ended_ns.max(begun_ns));
        let min_rtt_ns = self.life.rtt_ns.unwrap_or(0);
        let mut reductions = reductions(self.life, self.episodes);
        reductions.extend(self.marked.iter().map(|&ns| (ns, Reduced::Needed)));
        reductions.sort_by_key(|reduction| reduction.0);
        let at_receiver = self.at_receiver();
        let sampled = match at_receiver {
            true => self
                .rows
                .iter()
                .map(|row| row.way_ns)
                .filter(|&ns| ns > 0)
                .min(),
            false => self.life.rtts.iter().map(|sample| sample.1).min(),
        };
        let course = Course {
            rows: self.rows,
            end_ns: ended_ns,
            rtts: if at_receiver { &[] } else { self.life.rtts },
            least_ns: sampled.map_or(min_rtt_ns, |ns| ns.min(min_rtt_ns.max(1))),
            min_rtt_ns,
            way_ns: self.lag_ns,
            mss: i64::from(self.life.mss.max(1)),
            highest: self.rows.iter().map(|row| row.peak).max().unwrap_or(0),
            largest_window: self.largest_window,
            reductions: &reductions,
            series: self.series,
            at_receiver,
            at_sender: self.vantage == Vantage::Sender,
            spaced: self.spaced(min_rtt_ns),
            trains: self.line_bps.map(|bps| bps as f64 / 8.0),
        };
        let (mut states, mut line) = course.states();
        let mut overlays = self.overlays();
        if let Some(most) = line {
            course.fill_recoveries(&mut overlays, &states, most);
        }
        let mut pieces = self.pieces(&states, &overlays);
        let policed = self.policed(&pieces);
        if policed.is_some() {
            // What passes at the policer's rate is no busy line.
            let no_line = |state: &mut State| (state.line, state.standing) = (false, false);
            states.iter_mut().for_each(no_line);
            line = None;
            pieces = self.pieces(&states, &self.overlays());
        }
        let pieces = self.of_one_habit(pieces);
        Limits {
            begun_ns,
            ended_ns: over_ns,
            at_end_ns: self.at_end_ns(&pieces),
            awaited_ns: self.awaited_ns,
            held_short: self.held_short,
            shares: pieces.shares(),
            stretches: pieces.stretches(),
            unnecessary: by_cause(pieces.list(), self.life.recoveries),
            queueing_ns: self.queueing(&states, course.least_ns),
            line_bps: line.or(course.spaced).map(|rate| (rate * 8.0) as u64),
            window: self.window(line.or(course.spaced)),
            send_buffer_bytes: self.send_buffer(&states),
            policed_bps: policed.map(|rate| (rate * 8.0) as u64),
        }
    }

    /// Of the time behind the last new data, what no recovery and no timer took.
    fn at_end_ns(&self, pieces: &Pieces) -> i64 {
        let idle = Limit::Application.into();
        pieces.before(i64::MAX, idle) - pieces.before(self.last_data_ns, idle)
    }

    /// One application writes all data of a flow. Where it may as well have been the socket's buffer that held part of it, times in which
    /// it seemed to have nothing to send are no surer, unless it waited for the other end's data.
    fn of_one_habit(&self, pieces: Pieces) -> Pieces {
        let idle = LimitSet::from(Limit::Application);
        let until_ns = self.last_data_ns;
        let idle_ns = pieces.before(until_ns, idle);
        let buffered_ns = pieces.before(until_ns, BUFFERED);
        let life_ns = self.life.last_ns.saturating_sub(self.life.first_ns);
        let counts = |ns: i64| ns as f64 >= MIN_PART_OF_HABIT * life_ns as f64;
        let waits = self.awaited_ns >= idle_ns / 2;
        let often = buffered_ns.saturating_mul(MAX_IDLE_FOR_BUFFERED) >= idle_ns;
        match counts(idle_ns) && counts(buffered_ns) && often && !waits {
            true => pieces.rename(until_ns, idle, BUFFERED),
            false => pieces,
        }
    }

    pub(super) fn at_receiver(&self) -> bool {
        self.vantage == Vantage::Receiver
    }

    /// The line's rate by packets that followed each other, bytes a second. Where the line lets so few pass in a round trip,
    /// a window may have spaced them.
    fn spaced(&self, min_rtt_ns: i64) -> Option<f64> {
        let rate = self.line_bps? as f64 / 8.0;
        (rate * min_rtt_ns as f64 / 1e9 >= MIN_SPACED).then_some(rate)
    }

    /// The usual round trip above the shortest, over the time of the rows in which data is sent.
    fn queueing(&self, states: &[State], least_ns: i64) -> Option<i64> {
        let busy = self.rows.iter().zip(states).filter(|(row, state)| {
            let idle = row
                .part(Held::Idle)
                .saturating_add(row.part(Held::Buffered));
            state.rtt_ns > 0 && idle.saturating_mul(2) <= row.all()
        });
        let mut rtts: Vec<i64> = busy.map(|(_, state)| state.rtt_ns).collect();
        rtts.sort_unstable();
        let usual = *rtts.get(rtts.len() / 2)?;
        Some(usual.saturating_sub(least_ns).max(0))
    }

    fn send_buffer(&self, states: &[State]) -> Option<u64> {
        let held = self.rows.iter().zip(states);
        let held = held.filter(|(row, state)| {
            let by_ack = row.part(Held::ByAck);
            let may_be = window(state, self.vantage).contains(Limit::SendBuffer);
            may_be && state.flight.plateau && by_ack.saturating_mul(2) >= row.all()
        });
        let mut peaks: Vec<i64> = held.map(|(row, _)| row.peak).collect();
        peaks.sort_unstable();
        let usual = *peaks.get(peaks.len() / 2)?;
        u64::try_from(usual).ok()
    }

    /// The rate of a policer, bytes a second. Only the sender's side shows whether what passes next to a loss had waited.
    fn policed(&self, pieces: &Pieces) -> Option<f64> {
        if self.vantage != Vantage::Sender {
            return None;
        }
        let life_ns = self.life.last_ns.saturating_sub(self.life.first_ns);
        let at_end_ns = self.life.last_ns.saturating_sub(self.last_data_ns);
        let course = policer::Course {
            losses: self.life.losses,
            rows: self.rows,
            rtt_ns: self.life.rtt_ns?,
            mss: f64::from(self.life.mss.max(1)),
            line_bps: self.line_bps,
        };
        policer::may_show(&pieces.shares(), life_ns, at_end_ns)
            .then(|| course.policed())
            .flatten()
    }

    fn window(&self, line: Option<f64>) -> Option<Window> {
        let largest_bytes = u64::try_from(self.largest_window).ok().filter(|&b| b > 0)?;
        Some(Window {
            largest_bytes,
            needed_bytes: line
                .zip(self.life.rtt_ns)
                .map(|(rate, rtt_ns)| (rate * rtt_ns as f64 / 1e9) as u64),
            unscaled: self.life.unscaled,
            closed_ns: self.closed_ns,
            largest_ns: self.largest_ns,
        })
    }

    fn pieces(&self, states: &[State], overlays: &[Overlay]) -> Pieces {
        let mut pieces = Pieces::default();
        let begun_ns = self.life.first_ns;
        let ended_ns = self.life.over_ns.max(begun_ns);
        let mut at = begun_ns;
        let first = self.rows.first().map_or(ended_ns, |row| row.start_ns);
        let first = first.clamp(begun_ns, ended_ns);
        if let Some(opened) = self.life.opened_ns {
            let opened = opened.clamp(begun_ns, first);
            pieces.until(opened, Limit::Handshake.into(), Confidence::Certain, at);
            at = opened;
        }
        pieces.until(first, Limit::Application.into(), Confidence::Likely, at);
        at = at.max(first);
        let mut overlays = overlays.iter().peekable();
        let (mut free, mut laid) = (Vec::new(), Vec::new());
        for (i, row) in self.rows.iter().enumerate() {
            let end = self.rows.get(i + 1).map_or(ended_ns, |next| next.start_ns);
            let end = end.clamp(at, ended_ns);
            free.clear();
            laid.clear();
            while at < end {
                match overlays.peek() {
                    Some(over) if over.end_ns <= at => {
                        overlays.next();
                    }
                    Some(over) if over.start_ns <= at => {
                        let until = over.end_ns.min(end);
                        laid.push((at, until, over.limits));
                        at = until;
                    }
                    other => {
                        let until = other.map_or(end, |over| over.start_ns.min(end));
                        free.push((at, until));
                        at = until;
                    }
                }
            }
            self.lay(&mut pieces, (row, states.get(i)), &free, &laid);
        }
        pieces
    }

    /// The pieces of one row: what was laid over it, and its parts in the time that is free.
    fn lay(
        &self,
        pieces: &mut Pieces,
        (row, state): (&Row, Option<&State>),
        free: &[(i64, i64)],
        laid: &[(i64, i64, LimitSet)],
    ) {
        let all: i64 = free
            .iter()
            .map(|(from, to)| to.saturating_sub(*from))
            .fold(0, i64::saturating_add);
        let parts = settled(row.parts);
        let sum = parts.into_iter().fold(0, i64::saturating_add);
        let mut laid = laid.iter().peekable();
        // Up to where each part reaches in the time that is free.
        let mut reach = [0; KINDS];
        let (mut booked, mut reached): (i64, i64) = (0, 0);
        for (reach, part) in reach.iter_mut().zip(parts) {
            // Most are 0, and each division takes long.
            if part != 0 && sum != 0 {
                booked = booked.saturating_add(part);
                reached = share(booked, sum, all);
            }
            *reach = reached;
        }
        let mut passed = 0;
        for &(from, to) in free {
            while let Some(&&(start, end, limits)) = laid.peek().filter(|l| l.0 < from) {
                pieces.until(end, limits, Confidence::Likely, start);
                laid.next();
            }
            let mut at = from;
            // Behind the last data only the receiver's window, which it may not fit into, holds what is left.
            if from >= self.last_data_ns && parts[Held::ByReceiver as usize] == 0 {
                pieces.until(to, Limit::Application.into(), Confidence::Likely, at);
                passed = to.saturating_sub(from).saturating_add(passed);
                continue;
            }
            for ((kind, reach), part) in HELD.into_iter().zip(reach).zip(parts) {
                if part == 0 {
                    continue; // It ends where the one before ends.
                }
                let until = to
                    .min(from.saturating_add(i64::max(reach - passed, 0)))
                    .max(at);
                if until > at {
                    let (limits, confidence) = self.limit_of(kind, (row, state));
                    pieces.until(until, limits, confidence, at);
                    at = until;
                }
            }
            pieces.until(to, Limit::Application.into(), Confidence::Likely, at);
            passed = to.saturating_sub(from).saturating_add(passed);
        }
        for &(start, end, limits) in laid {
            pieces.until(end, limits, Confidence::Likely, start);
        }
    }

    /// Away from the sender, times in which it seems to have nothing to send may be those of a full buffer. An acknowledgement makes room
    /// in it after a round trip, or in one of a few segments as late as receivers delay an acknowledgement.
    fn may_be_buffered(&self, row: &Row, state: &State) -> bool {
        let rtt_ns = state.rtt_ns.max(self.life.rtt_ns.unwrap_or(0));
        let longest_ns = match state.flight.segments {
            ..MIN_BUFFER => rtt_ns.saturating_add(MAX_ACK_DELAY_NS),
            _ => rtt_ns.saturating_add(rtt_ns / 5),
        };
        let near = self.vantage == Vantage::Sender;
        // Behind the last data nothing is left.
        let ends = row.sent >= self.rows.last().map_or(0, |last| last.sent);
        let certain = near || ends || row.gap_ns > longest_ns;
        let perhaps = !certain && state.flight.segments >= MIN_BUFFER_AT_ALL;
        // Most of what seems idle waited for the other end's data.
        perhaps && self.awaited_ns < self.idle_ns() / 2
    }

    fn idle_ns(&self) -> i64 {
        let idle = self.rows.iter().map(|row| row.part(Held::Idle));
        idle.fold(0, i64::saturating_add)
    }

    /// Away from the sender and without a known round trip it does not show whether an acknowledgement released what comes, or how long the sender waited
    /// for one: a window, a buffer and an application look alike. What comes after a segment that was not full had not been there before.
    fn is_blind(&self, held: Held, row: &Row) -> bool {
        let unknown = self.vantage != Vantage::Sender && self.life.rtt_ns.is_none();
        let surely = match held {
            Held::Idle | Held::ByReceiver => true,
            Held::Unseen => row.gap_ns > LONGEST_RTT_NS,
            _ => false,
        };
        unknown && !surely
    }

    fn limit_of(&self, held: Held, (row, state): (&Row, Option<&State>)) -> (LimitSet, Confidence) {
        let limits = match (held, state) {
            // The window is full only because it stands in the queue.
            (Held::ByReceiver, Some(state)) if state.standing => Limit::Line.into(),
            (Held::ByReceiver, _) => Limit::ReceiverWindow.into(),
            _ if self.is_blind(held, row) => Limit::Unknown.into(),
            (Held::Buffered, _) => BUFFERED,
            (Held::Idle, Some(state)) if self.may_be_buffered(row, state) => BUFFERED,
            (Held::Idle, _) => Limit::Application.into(),
            (Held::Unseen, _) => LimitSet::of(&[Limit::Application, Limit::TimerNeeded]),
            (_, None) => Limit::Unknown.into(),
            (Held::Spaced, Some(state)) if !state.line => {
                LimitSet::of(&[Limit::Application, Limit::Line])
            }
            (_, Some(state)) => window(state, self.vantage),
        };
        (limits, Confidence::Likely)
    }
}

/// The part of `all` that `part` is of `sum`, which is not 0.
fn share(part: i64, sum: i64, all: i64) -> i64 {
    match part.checked_mul(all) {
        Some(product) => product / sum,
        // Of hours; this division is no instruction of the processor.
        None => {
            let share = i128::from(part) * i128::from(all) / i128::from(sum);
            i64::try_from(share).unwrap_or(all)
        }
    }
}

/// Packets that no acknowledgement released are of the kind of most of the others of their round trip, and a receiver's window
/// that is full for part of it holds the whole of it.
fn settled(parts: [i64; KINDS]) -> [i64; KINDS] {
    let [receiver, ack, paced, idle, unseen, spaced, buffered] = parts;
    let sending = [receiver, ack, paced, spaced]
        .into_iter()
        .fold(0, i64::saturating_add);
    if receiver as f64 >= FULL_FOR_PART * sending as f64 {
        return [sending, 0, 0, idle, unseen, 0, buffered];
    }
    match idle.saturating_add(buffered) > ack {
        true => [
            receiver,
            ack,
            0,
            idle.saturating_add(paced),
            unseen,
            spaced,
            buffered,
        ],
        false => [
            receiver,
            ack.saturating_add(paced),
            0,
            idle,
            unseen,
            spaced,
            buffered,
        ],
    }
}

#[cfg(test)]
mod tests {
    use crate::{Answer, Life, Limit, Limits, Recorder};
    use inorder_base::vantage::Vantage;

    const MS: i64 = 1_000_000;

    /// Arrivals at a receiver whose round trip of 80 ms nothing tells: each flight has twice as many full segments as the one before, and the last of each
    /// has `last` bytes.
    fn flights(last: i64) -> Limits {
        let mut recorder = Recorder::new(Vantage::Receiver, None, 0);
        let mut end = 0;
        for round in 0..6 {
            let count = 10 << round;
            for nth in 0..count {
                let now = 80 * MS * round + 10_000 * nth;
                let len = if nth + 1 == count { last } else { 1_448 };
                end += len;
                recorder.sent(now, end, len as u32, (0, false));
                recorder.acknowledged_at_receiver(&Answer {
                    now,
                    una: end,
                    delivered: end,
                    ..Answer::default()
                });
            }
        }
        let life = Life {
            last_ns: 410 * MS,
            over_ns: 410 * MS,
            mss: 1_448,
            answered: true,
            ..Life::default()
        };
        recorder.finish(&life).1
    }

    #[test]
    fn without_a_round_trip_it_is_unknown_what_full_segments_waited_for() {
        let limits = flights(1_448);
        let unknown = limits.share_of(Limit::Unknown.into());
        assert!(unknown > 0.95, "{limits:?}");
    }

    #[test]
    fn what_comes_after_the_end_of_a_message_waited_for_the_application_all_the_same() {
        let limits = flights(500);
        let application = limits.share_of(Limit::Application.into());
        assert!(application > 0.8, "{limits:?}");
    }
}
