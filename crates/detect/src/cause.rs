//! One cause for every recovery phase and every retransmission.
//!
//! A pure function over what is known at a flow's end: what the retransmissions of a phase turned out
//! to be, which originals came late, were lost or refused, and the round-trip time when it began. A
//! phase is put down to reordering only if a packet sent again in it was itself late: that nothing
//! was lost does not say why something was sent again.

use crate::packed::{Draft, Packed};
use crate::prompt::Prompt;
use crate::result::{
    Cause, Event, Facts, Kind, Recoveries, Recovery, RecoveryVerdict, Retransmission, Verdict,
};

/// Expected number of lost segments from which on at least one was certainly lost, where each alone may have been discarded by
/// the receiver.
const MIN_LOST_OF_SEVERAL: f64 = 0.999;
/// Minimum share of the possibly discarded segments that must have been lost: the answers to some discarded ones are hidden in
/// other ACKs.
const MIN_SHARE_LOST_OF_SEVERAL: f64 = 0.2;
/// Expected number of losses above which the discarded packets no longer explain the recovery.
const MAX_LOST_BESIDE_REFUSED: f64 = 0.6;

/// Probability from which on a cause is reported.
const MIN_LIKELY: f64 = 0.95;

/// Where an original was late, lost or refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark {
    /// First byte.
    pub(crate) start: i64,
    pub(crate) kind: Kind,
    /// If it was lost, the round trip of the data sent right behind it, nanoseconds; 0 if unknown.
    pub(crate) rtt_ns: i64,
    /// When it was sent, or would have arrived at a receiver, nanoseconds; 0 if unknown.
    pub(crate) sent_ns: i64,
}

impl Mark {
    pub(crate) fn of(event: &Event) -> Mark {
        Mark {
            start: i64::try_from(event.seq_offset).unwrap_or(i64::MAX),
            kind: event.kind,
            rtt_ns: 0,
            sent_ns: 0,
        }
    }
}

/// What is known of the flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow<'a> {
    /// Ascending.
    pub(crate) marks: &'a [Mark],
    pub(crate) rtts: &'a RttTrace,
    /// Payload of a full segment, bytes.
    pub(crate) mss: u32,
    /// Acknowledgements were overtaken on their way back.
    pub(crate) acks_overtaken: bool,
}

/// One of several holes was lost, whichever it was: no answer is left for it.
fn lost_one(facts: &Facts) -> bool {
    let share = facts.lost / f64::from(facts.perhaps_refused.max(1));
    facts.lost >= MIN_LOST_OF_SEVERAL && share >= MIN_SHARE_LOST_OF_SEVERAL
}

/// Something of what was sent again was lost, as likely as a cause must be.
fn lost_some(facts: &Facts) -> bool {
    facts.perhaps_refused > 0 && facts.none_lost.exp() <= 1.0 - MIN_LIKELY
}

/// Of what was sent again and is open, nothing was lost.
fn lost_none(facts: &Facts) -> bool {
    facts.perhaps_refused > 0 && facts.none_lost.exp() >= MIN_LIKELY
}

impl Flow<'_> {
    fn any(&self, kind: Kind, from: i64, to: i64) -> bool {
        let first = self.marks.partition_point(|m| m.start < from);
        let within = self.marks.iter().skip(first).take_while(|m| m.start <= to);
        within.into_iter().any(|m| m.kind == kind)
    }

    /// The losses of a phase.
    fn losses(&self, phase: &Recovery) -> impl Iterator<Item = &Mark> {
        let from = i64::try_from(phase.seq_offset).unwrap_or(i64::MAX);
        let to = phase.facts.last.max(from);
        let first = self.marks.partition_point(|m| m.start < from);
        let within = self
            .marks
            .iter()
            .skip(first)
            .take_while(move |m| m.start <= to);
        within.filter(|m| m.kind == Kind::Lost)
    }

    /// The cause of a phase.
    pub(crate) fn cause(&self, phase: &Recovery) -> Cause {
        let from = i64::try_from(phase.seq_offset).unwrap_or(i64::MAX);
        let to = phase.facts.last.max(from);
        let late = self.any(Kind::Reordered, from, to);
        let one = phase.retransmissions == 1 && phase.facts.to_end <= i64::from(self.mss);
        let probe = one && phase.facts.prompt == Prompt::Probe;
        match phase.verdict {
            _ if phase.facts.unanswered => Cause::Unanswered,
            RecoveryVerdict::Loss if self.any(Kind::Lost, from, to) => Cause::Loss,
            RecoveryVerdict::Loss if lost_one(&phase.facts) => Cause::Loss,
            RecoveryVerdict::Loss if lost_some(&phase.facts) => Cause::Loss,
            RecoveryVerdict::Loss if phase.facts.lost > MAX_LOST_BESIDE_REFUSED => Cause::Unknown,
            RecoveryVerdict::Loss if self.any(Kind::Refused, from, to) => Cause::Refused,
            // Something was needed, and it is not known whether it had been lost or refused.
            RecoveryVerdict::Loss => Cause::Unknown,
            RecoveryVerdict::Ambiguous if lost_some(&phase.facts) => Cause::Loss,
            _ if probe && !late => Cause::TailProbe,
            RecoveryVerdict::Ambiguous if late && lost_none(&phase.facts) => Cause::Reordering,
            RecoveryVerdict::Ambiguous => Cause::Unknown,
            RecoveryVerdict::Spurious if !phase.facts.asked && !late => Cause::InAdvance,
            RecoveryVerdict::Spurious if late => Cause::Reordering,
            RecoveryVerdict::Spurious if phase.timeout => Cause::DelayJump,
            RecoveryVerdict::Spurious if self.acks_overtaken => Cause::AckReordering,
            RecoveryVerdict::Spurious => Cause::Unknown,
        }
    }

    /// The cause of a retransmission sent in a phase of the cause `phase`.
    fn cause_of(&self, retransmission: &Retransmission, phase: Cause) -> Cause {
        let from = i64::try_from(retransmission.seq_offset).unwrap_or(i64::MAX);
        let to = from + i64::from(retransmission.len.max(1)) - 1;
        match retransmission.verdict {
            Verdict::Needed if self.any(Kind::Refused, from, to) => Cause::Refused,
            Verdict::Needed if !self.any(Kind::Lost, from, to) => Cause::Unknown,
            Verdict::Needed if phase.is_loss() || phase == Cause::Unanswered => phase,
            Verdict::Needed => Cause::Loss,
            Verdict::Spurious if self.any(Kind::Reordered, from, to) => Cause::Reordering,
            Verdict::Spurious if !phase.is_loss() && phase != Cause::Refused => phase,
            _ => Cause::Unknown,
        }
    }

    /// Gives every phase and every retransmission its cause, and counts the phases.
    pub(crate) fn assign(&self, recoveries: &mut Recoveries, list: &mut [Retransmission]) {
        for phase in &mut recoveries.list {
            phase.cause = self.cause(phase);
        }
        self.place(&mut recoveries.list);
        recoveries.count_causes();
        let phases = &recoveries.list;
        for retransmission in list {
            let next = phases.partition_point(|p| p.start_ns <= retransmission.at_ns);
            let phase = next.checked_sub(1).and_then(|i| phases.get(i));
            let phase = phase.map_or(Cause::Unknown, |p| p.cause);
            retransmission.cause = self.cause_of(retransmission, phase);
        }
    }

    /// Says where packets were lost, as far as the recoveries of the flow agree.
    fn place(&self, phases: &mut [Recovery]) {
        let of_phase = |phase: &Recovery| -> Vec<i64> {
            let losses = self.losses(phase).filter(|_| phase.cause.is_loss());
            losses.map(|m| m.rtt_ns).filter(|&rtt| rtt > 0).collect()
        };
        let met: Vec<Vec<i64>> = phases.iter().map(of_phase).collect();
        let Some(place) = Place::of(&met, self.rtts) else {
            return;
        };
        let met = met.iter().map(|m| m.first().copied());
        for (phase, rtt_ns) in phases.iter_mut().zip(met) {
            if phase.cause == Cause::Loss {
                phase.cause = rtt_ns.map_or(Cause::Loss, |rtt| place.cause(rtt));
            }
        }
    }
}

/// Waiting that an empty queue leaves room for, nanoseconds, and as a share of the shortest round trip: a packet or two. A
/// queue that many others keep full varies by more.
const MAX_WAIT_IN_EMPTY_QUEUE_NS: i64 = 150_000;
const MAX_SHARE_WAITED_IN_EMPTY_QUEUE: f64 = 0.003;
/// Minimum waiting time in a full queue, nanoseconds, and as a share of the shortest round trip: shorter waits are
/// within the jitter of hosts and links.
const MIN_WAIT_IN_FULL_QUEUE_NS: i64 = 1_000_000;
const MIN_SHARE_WAITED_IN_FULL_QUEUE: f64 = 0.05;
/// Maximum relative deviation of the waiting times in a full queue, which are equal but for this.
const MAX_DEVIATION_OF_FULL_QUEUE: f64 = 0.15;
/// Share of the recoveries that agree, at least.
const MIN_SHARE_AGREEING: f64 = 0.7;
/// Recoveries that agree, at least; of a full queue as many losses at different times of a single one.
const MIN_AGREEING_RECOVERIES: usize = 2;
const MIN_LOSSES_OF_ONE_RECOVERY: usize = 3;
/// Share of the round trips that took longer than those of what was sent right behind losses, at most: a full queue is the
/// longest wait there is.
const MAX_SHARE_LONGER: f64 = 0.1;

/// Round trips measured, at least: with fewer of them nothing shows that the queue was ever less full.
const MIN_SAMPLES_FOR_FULL_QUEUE: usize = 3;
const MIN_SAMPLES_FOR_EMPTY_QUEUE: usize = 8;
/// Share of the round trips that were shorter than those of what followed losses where no queue was full, at most.
const MAX_SHARE_SHORTER: f64 = 0.75;
/// Maximum jitter that hosts add to a round trip, nanoseconds.
const MAX_JITTER_NS: i64 = 50_000;

/// Where a flow loses packets, by the round trips of what was sent right behind them. A drop-tail queue drops when it is
/// full, and what gets in right after waits as long each time, and longer than nearly all others. Where what follows a loss
/// waited nowhere, no queue on the way was full. In between nothing is known: a line that loses at random may do so at any
/// height of a queue.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Place {
    /// At a queue; `wait_ns` is the wait when it is full beyond the shortest round trip `least_ns`, nanoseconds.
    FullQueue { least_ns: i64, wait_ns: i64 },
    /// At a link whose queue is not full; `most_ns` is the longest round trip there, nanoseconds.
    EmptyQueue { most_ns: i64 },
}

impl Place {
    /// `met` has for each recovery the round trips of what was sent right behind losses, in the order of the bytes.
    fn of(met: &[Vec<i64>], rtts: &RttTrace) -> Option<Place> {
        let known = met.iter().flatten().copied();
        let sampled = rtts.samples.all().map(|s| s.1);
        let least_ns = known.clone().chain(sampled).min()?;
        let mut firsts: Vec<i64> = met.iter().filter_map(|m| m.first().copied()).collect();
        firsts.sort_unstable();
        let median = *firsts.get(firsts.len() / 2)?;
        let enough = |agreeing: usize| {
            let share = agreeing as f64 / firsts.len() as f64;
            agreeing >= MIN_AGREEING_RECOVERIES && share >= MIN_SHARE_AGREEING
        };
        let share = |of: f64| (least_ns as f64 * of) as i64;
        let full = Place::FullQueue {
            least_ns,
            wait_ns: median - least_ns,
        };
        let waits = MIN_WAIT_IN_FULL_QUEUE_NS.max(share(MIN_SHARE_WAITED_IN_FULL_QUEUE));
        let agree = firsts.iter().filter(|&&rtt| full.fits(rtt)).count();
        let alike = enough(agree) || full.all_alike(met);
        if median - least_ns >= waits && alike && full.is_the_longest_wait(rtts) {
            return Some(full);
        }
        let room = MAX_WAIT_IN_EMPTY_QUEUE_NS.max(share(MAX_SHARE_WAITED_IN_EMPTY_QUEUE));
        let empty = Place::EmptyQueue {
            most_ns: least_ns + room,
        };
        let agree = firsts.iter().filter(|&&rtt| empty.fits(rtt)).count();
        (enough(agree) && is_usual(median, rtts)).then_some(empty)
    }

    fn fits(self, rtt_ns: i64) -> bool {
        match self {
            Place::EmptyQueue { most_ns } => rtt_ns <= most_ns,
            Place::FullQueue { least_ns, wait_ns } => {
                let off = (rtt_ns - least_ns - wait_ns).abs();
                off as f64 <= wait_ns as f64 * MAX_DEVIATION_OF_FULL_QUEUE
            }
        }
    }

    /// The losses of the only recovery came at different times, and what followed them waited as long.
    fn all_alike(self, met: &[Vec<i64>]) -> bool {
        let mut phases = met.iter().filter(|m| !m.is_empty());
        let (Some(only), None) = (phases.next(), phases.next()) else {
            return false;
        };
        let mut times = only.clone();
        times.sort_unstable();
        times.dedup();
        times.len() >= MIN_LOSSES_OF_ONE_RECOVERY && times.iter().all(|&rtt| self.fits(rtt))
    }

    fn is_the_longest_wait(self, rtts: &RttTrace) -> bool {
        let Place::FullQueue { least_ns, wait_ns } = self else {
            return false;
        };
        if rtts.samples.len < MIN_SAMPLES_FOR_FULL_QUEUE {
            return false;
        }
        let most = least_ns as f64 + wait_ns as f64 * (1.0 + MAX_DEVIATION_OF_FULL_QUEUE);
        let longer = rtts.samples.all().filter(|s| s.1 as f64 > most).count();
        longer as f64 <= rtts.samples.len as f64 * MAX_SHARE_LONGER
    }

    /// The cause of a recovery whose first loss came before what took `rtt_ns`.
    fn cause(self, rtt_ns: i64) -> Cause {
        match self {
            _ if !self.fits(rtt_ns) => Cause::Loss,
            Place::FullQueue { .. } => Cause::QueueLoss,
            Place::EmptyQueue { .. } => Cause::RandomLoss,
        }
    }
}

/// Samples remembered; beyond, every other one is forgotten.
const MAX_RTT_SAMPLES: usize = 1_024;

/// What followed losses took no longer than round trips of this flow take. A queue that others had filled before the flow
/// began makes all of them as long; those behind losses are the longest even so.
fn is_usual(rtt_ns: i64, rtts: &RttTrace) -> bool {
    let shorter = |s: &(i64, i64)| s.1 < rtt_ns - MAX_JITTER_NS;
    let shorter = rtts.samples.all().filter(shorter).count() as f64;
    let all = rtts.samples.len;
    all >= MIN_SAMPLES_FOR_EMPTY_QUEUE && shorter <= all as f64 * MAX_SHARE_SHORTER
}

/// The round-trip time of data seen at its sender, thinned evenly.
#[derive(Clone, Debug)]
#[repr(C)] // First what every acknowledgement needs.
pub(crate) struct RttTrace {
    /// The acknowledgement that ends what is awaited, or what is mended: there is at most one of both. `i64::MAX` if
    /// there is none.
    until: i64,
    /// When a sample was taken and what it was, nanoseconds.
    samples: Samples,
    /// Samples are taken this far apart, nanoseconds.
    apart_ns: i64,
    /// The end of the data whose acknowledgement is awaited, and when it was sent.
    awaited: Option<(i64, i64)>,
    /// The end of the data sent so far.
    highest: i64,
    /// Data sent while a hole is mended is acknowledged when the hole is, however short its way was:
    /// no sample begins before everything below is acknowledged.
    mending_below: Option<i64>,
}

heap!(RttTrace: samples);

impl Default for RttTrace {
    fn default() -> Self {
        RttTrace {
            until: i64::MAX,
            samples: Samples::default(),
            apart_ns: 0,
            awaited: None,
            highest: 0,
            mending_below: None,
        }
    }
}

impl RttTrace {
    /// New data up to `end` was sent.
    #[inline]
    pub(crate) fn sent(&mut self, end: i64, now: i64) {
        self.highest = self.highest.max(end);
        if self.awaited.is_none() && self.mending_below.is_none() {
            self.awaited = Some((end, now));
            self.until = end;
        }
    }

    /// Something was sent again: what is awaited may be the answer to that (Karn's rule, RFC 6298
    /// section 3).
    pub(crate) fn sent_again(&mut self) {
        self.awaited = None;
        self.mending_below = Some(self.highest);
        self.until = self.highest;
    }

    /// Everything below `ack` is acknowledged.
    #[inline]
    pub(crate) fn acknowledged(&mut self, ack: i64, now: i64) {
        if ack >= self.until {
            self.reached(ack, now);
        }
    }

    #[inline(never)]
    fn reached(&mut self, ack: i64, now: i64) {
        // Nothing is awaited while something is mended.
        self.until = i64::MAX;
        if self.mending_below.is_some_and(|end| ack >= end) {
            self.mending_below = None;
        }
        if let Some((end, sent_ns)) = self.awaited
            && ack >= end
        {
            self.awaited = None;
            self.take(now, now.saturating_sub(sent_ns));
        }
    }

    /// When round trips ended and how long they took, nanoseconds, in their order.
    pub(crate) fn samples(&self) -> Vec<(i64, i64)> {
        self.samples.all().collect()
    }

    fn take(&mut self, now: i64, rtt_ns: i64) {
        let last = match self.samples.len {
            0 => i64::MIN,
            _ => self.samples.last_ns,
        };
        if now.saturating_sub(last) < self.apart_ns {
            return;
        }
        if self.samples.len >= MAX_RTT_SAMPLES {
            let mut kept = Samples::default();
            let all = self.samples.all().step_by(2);
            all.for_each(|(at_ns, rtt_ns)| kept.push(at_ns, rtt_ns));
            self.samples = kept;
            let span = self.samples.last_ns - self.samples.first_ns;
            self.apart_ns = span / (MAX_RTT_SAMPLES as i64 / 2);
        }
        self.samples.push(now, rtt_ns);
    }
}

/// Samples in their order, in few bytes.
#[derive(Clone, Debug, Default)]
struct Samples {
    packed: Packed,
    len: usize,
    first_ns: i64,
    last_ns: i64,
    last_rtt_ns: i64,
}

heap!(Samples: packed);

impl Samples {
    fn push(&mut self, at_ns: i64, rtt_ns: i64) {
        let mut draft = Draft::<20>::new();
        draft.push(at_ns.wrapping_sub(self.last_ns));
        draft.push(rtt_ns.wrapping_sub(self.last_rtt_ns));
        self.packed.reserve(20);
        self.packed.push(&draft);
        if self.len == 0 {
            self.first_ns = at_ns;
        }
        (self.last_ns, self.last_rtt_ns) = (at_ns, rtt_ns);
        self.len += 1;
    }

    /// When they were taken, and what they were, nanoseconds.
    fn all(&self) -> impl Iterator<Item = (i64, i64)> {
        let (mut numbers, mut last) = (self.packed.numbers(), (0_i64, 0_i64));
        std::iter::from_fn(move || {
            let (at, rtt) = (numbers.next()?, numbers.next()?);
            last = (last.0.wrapping_add(at), last.1.wrapping_add(rtt));
            Some(last)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: i64 = 1_000;

    /// A phase that sent the segments `first..=last` again, in units of a segment.
    fn phase(verdict: RecoveryVerdict, first: i64, last: i64, end: i64) -> Recovery {
        let mut phase = Recovery::new(1_000, (first * MSS) as u64, verdict);
        phase.retransmissions = (last - first + 1) as u32;
        phase.facts = Facts {
            last: last * MSS,
            to_end: (end - first) * MSS,
            prompt: Prompt::Probe,
            asked: true,
            ..Facts::default()
        };
        phase
    }

    fn mark(segment: i64, kind: Kind) -> Mark {
        Mark {
            start: segment * MSS,
            kind,
            rtt_ns: 0,
            sent_ns: 0,
        }
    }

    fn cause(phase: &Recovery, marks: &[Mark]) -> Cause {
        let flow = Flow {
            marks,
            rtts: &RttTrace::default(),
            mss: MSS as u32,
            acks_overtaken: false,
        };
        flow.cause(phase)
    }

    /// The place of losses by the round trips of what followed them, milliseconds, in each recovery, and by all round trips.
    fn place(met: &[&[i64]], rtts: &[i64]) -> Option<Place> {
        let ms = |all: &&[i64]| -> Vec<i64> { all.iter().map(|ms| ms * 1_000_000).collect() };
        let mut trace = RttTrace::default();
        (0..)
            .zip(ms(&rtts))
            .for_each(|(at, rtt)| trace.take(at, rtt));
        Place::of(&met.iter().map(ms).collect::<Vec<_>>(), &trace)
    }

    #[test]
    fn only_a_late_packet_that_was_sent_again_makes_reordering_the_cause() {
        let spurious = phase(RecoveryVerdict::Spurious, 5, 7, 20);
        let own = [mark(6, Kind::Reordered)];
        assert_eq!(cause(&spurious, &own), Cause::Reordering);
        let elsewhere = [mark(2, Kind::Reordered), mark(9, Kind::Reordered)];
        assert_eq!(cause(&spurious, &elsewhere), Cause::Unknown);
    }

    #[test]
    fn the_last_segment_sent_again_alone_is_a_probe_unless_it_was_needed() {
        let probe = phase(RecoveryVerdict::Spurious, 9, 9, 10);
        assert_eq!(cause(&probe, &[mark(3, Kind::Reordered)]), Cause::TailProbe);
        let needed = phase(RecoveryVerdict::Loss, 9, 9, 10);
        assert_eq!(cause(&needed, &[mark(9, Kind::Lost)]), Cause::Loss);
    }

    #[test]
    fn of_several_holes_of_which_one_was_lost_it_need_not_be_known_which() {
        let mut needed = phase(RecoveryVerdict::Loss, 5, 7, 20);
        let refused = [mark(6, Kind::Refused)];
        let mut cause_if_lost = |lost| {
            needed.facts.lost = lost;
            cause(&needed, &refused)
        };
        assert_eq!(cause_if_lost(1.0), Cause::Loss);
        assert_eq!(cause_if_lost(0.7), Cause::Unknown);
        assert_eq!(cause_if_lost(0.0), Cause::Refused);
    }

    #[test]
    fn a_spurious_time_out_without_a_late_packet_is_a_jump_of_the_delay() {
        let mut timeout = phase(RecoveryVerdict::Spurious, 5, 9, 20);
        timeout.timeout = true;
        assert_eq!(cause(&timeout, &[]), Cause::DelayJump);
    }

    const SAWTOOTH: [i64; 10] = [20, 24, 28, 32, 36, 24, 28, 32, 36, 40];

    #[test]
    fn a_full_queue_makes_what_follows_a_loss_wait_as_long_each_time_and_longest() {
        let told = place(&[&[40], &[39, 25], &[40]], &SAWTOOTH).unwrap();
        assert_eq!(told.cause(40_000_000), Cause::QueueLoss);
        assert_eq!(told.cause(25_000_000), Cause::Loss, "not then");
        assert_eq!(place(&[&[40], &[24], &[31]], &SAWTOOTH), None);
        let longer = [&SAWTOOTH[..], &[60; 5]].concat();
        assert_eq!(place(&[&[40], &[40]], &longer), None, "there was room");
    }

    #[test]
    fn one_recovery_tells_of_a_full_queue_by_losses_at_different_times() {
        assert_eq!(place(&[&[40]], &SAWTOOTH), None);
        assert_eq!(place(&[&[40, 40, 40]], &SAWTOOTH), None, "at one time");
        assert!(place(&[&[40, 39, 41]], &SAWTOOTH).is_some());
    }

    #[test]
    fn where_what_follows_a_loss_waited_nowhere_no_queue_was_full() {
        let told = place(&[&[20], &[20], &[20, 36]], &SAWTOOTH).unwrap();
        assert_eq!(told.cause(20_000_000), Cause::RandomLoss);
        assert_eq!(told.cause(36_000_000), Cause::Loss);
        assert_eq!(place(&[&[20], &[20]], &[20; 3]), None, "too little known");
    }

    #[test]
    fn behind_a_queue_that_others_keep_full_the_round_trip_does_not_tell() {
        let nearly: Vec<i64> = (980..1_000).collect();
        assert_eq!(place(&[&[1_000], &[999]], &nearly), None);
    }

    #[test]
    fn data_sent_while_a_hole_is_mended_gives_no_sample() {
        let mut trace = RttTrace::default();
        trace.sent(1_000, 0);
        trace.sent_again();
        trace.sent(2_000, 10);
        trace.acknowledged(500, 20);
        trace.sent(3_000, 30);
        assert!(trace.awaited.is_none());
        trace.acknowledged(2_000, 40);
        trace.sent(4_000, 50);
        assert_eq!(trace.awaited, Some((4_000, 50)));
    }

    #[test]
    fn what_was_needed_has_no_cause_while_it_may_have_been_lost_or_refused() {
        let needed = phase(RecoveryVerdict::Loss, 5, 6, 20);
        assert_eq!(cause(&needed, &[]), Cause::Unknown);
        assert_eq!(cause(&needed, &[mark(6, Kind::Lost)]), Cause::Loss);
    }

    #[test]
    fn what_the_receiver_refused_is_no_loss_unless_something_was_lost_as_well() {
        let needed = phase(RecoveryVerdict::Loss, 5, 6, 20);
        let refused = [mark(5, Kind::Refused)];
        assert_eq!(cause(&needed, &refused), Cause::Refused);
        let both = [mark(5, Kind::Refused), mark(6, Kind::Lost)];
        assert_eq!(cause(&needed, &both), Cause::Loss);
    }

    #[test]
    fn samples_are_thinned() {
        let mut trace = RttTrace::default();
        for i in 0..100_000i64 {
            trace.sent(i, i * 1_000);
            trace.acknowledged(i, i * 1_000 + 2_000_000 + i * 100);
        }
        assert!(
            trace.samples.len <= MAX_RTT_SAMPLES,
            "{}",
            trace.samples.len
        );
    }
}
