//! One cause for every recovery phase and every retransmission.
//!
//! A pure function over what is known at a flow's end: what the retransmissions of a phase turned out
//! to be, which originals came late, were lost or refused, and the round-trip time when it began. A
//! phase is put down to reordering only if a packet sent again in it was itself late: that nothing
//! was lost does not say why something was sent again.

use crate::result::{
    Cause, Event, Kind, Recoveries, Recovery, RecoveryVerdict, Retransmission, Verdict,
};

/// Where an original was late, lost or refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark {
    /// First byte.
    pub(crate) start: i64,
    pub(crate) kind: Kind,
}

impl Mark {
    pub(crate) fn of(event: &Event) -> Mark {
        Mark {
            start: i64::try_from(event.seq_offset).unwrap_or(i64::MAX),
            kind: event.kind,
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

impl Flow<'_> {
    fn any(&self, kind: Kind, from: i64, to: i64) -> bool {
        let first = self.marks.partition_point(|m| m.start < from);
        let within = self.marks.iter().skip(first).take_while(|m| m.start <= to);
        within.into_iter().any(|m| m.kind == kind)
    }

    fn loss(&self, at_ns: i64) -> Cause {
        match self.rtts.stand(at_ns) {
            Some(Stand::Top) => Cause::QueueLoss,
            Some(Stand::Bottom) => Cause::RandomLoss,
            _ => Cause::Loss,
        }
    }

    /// The cause of a phase.
    pub(crate) fn cause(&self, phase: &Recovery) -> Cause {
        let from = i64::try_from(phase.seq_offset).unwrap_or(i64::MAX);
        let to = phase.facts.last.max(from);
        let late = self.any(Kind::Reordered, from, to);
        let probe = phase.retransmissions == 1 && phase.facts.to_end <= i64::from(self.mss);
        match phase.verdict {
            RecoveryVerdict::Loss if self.any(Kind::Lost, from, to) => self.loss(phase.start_ns),
            RecoveryVerdict::Loss if self.any(Kind::Refused, from, to) => Cause::Refused,
            RecoveryVerdict::Loss => self.loss(phase.start_ns),
            _ if probe && !late => Cause::TailProbe,
            RecoveryVerdict::Ambiguous => Cause::Unknown,
            RecoveryVerdict::Spurious if late => Cause::Reordering,
            RecoveryVerdict::Spurious if phase.timeout => Cause::DelayJump,
            RecoveryVerdict::Spurious if self.acks_overtaken => Cause::AckReordering,
            RecoveryVerdict::Spurious => Cause::Unknown,
        }
    }

    /// The cause of a retransmission sent in a phase of the cause `phase`.
    fn cause_of(&self, retransmission: &Retransmission, phase: Cause, places: Places) -> Cause {
        let from = i64::try_from(retransmission.seq_offset).unwrap_or(i64::MAX);
        let to = from + i64::from(retransmission.len.max(1)) - 1;
        match retransmission.verdict {
            Verdict::Needed if self.any(Kind::Refused, from, to) => Cause::Refused,
            Verdict::Needed if phase.is_loss() => phase,
            Verdict::Needed => places.agreed(self.loss(retransmission.at_ns)),
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
        let places = Places::of(&recoveries.list);
        for phase in &mut recoveries.list {
            phase.cause = places.agreed(phase.cause);
        }
        recoveries.count_causes();
        let phases = &recoveries.list;
        for retransmission in list {
            let next = phases.partition_point(|p| p.start_ns <= retransmission.at_ns);
            let phase = next.checked_sub(1).and_then(|i| phases.get(i));
            let phase = phase.map_or(Cause::Unknown, |p| p.cause);
            retransmission.cause = self.cause_of(retransmission, phase, places);
        }
    }
}

/// Where packets are lost, as the recoveries of the flow that tell agree. A round-trip time stands near its top now and
/// then by chance, and a line that loses at random may do so at any height; a queue that drops does so when it is full,
/// each time.
#[derive(Clone, Copy, Debug)]
struct Places {
    queue: bool,
    line: bool,
}

/// Fewest recoveries that agree on where packets are lost.
const MIN_AGREEING_RECOVERIES: usize = 2;
/// Recoveries for losses, of most of which nothing tells the place, to one that agrees, at most.
const MAX_LOSSES_FOR_ONE: usize = 4;

impl Places {
    fn of(phases: &[Recovery]) -> Self {
        let losses = phases.iter().filter(|p| p.cause.is_loss()).count();
        let count = |cause: Cause| phases.iter().filter(|p| p.cause == cause).count();
        let (queue, line) = (count(Cause::QueueLoss), count(Cause::RandomLoss));
        let most = |of: usize, other: usize| {
            of >= MIN_AGREEING_RECOVERIES && of > 2 * other && MAX_LOSSES_FOR_ONE * of >= losses
        };
        Places {
            queue: most(queue, line),
            line: most(line, queue),
        }
    }

    /// The cause, without a place that the others do not agree on.
    fn agreed(self, cause: Cause) -> Cause {
        match cause {
            Cause::QueueLoss if !self.queue => Cause::Loss,
            Cause::RandomLoss if !self.line => Cause::Loss,
            agreed => agreed,
        }
    }
}

/// Where a round-trip time stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stand {
    /// Where a full queue would have it.
    Top,
    /// Where an empty queue would have it.
    Bottom,
}

/// Waiting that an empty queue leaves room for, nanoseconds.
const MAX_WAIT_IN_EMPTY_QUEUE_NS: i64 = 500_000;
/// A span below this says nothing of queues: hosts and links vary as much, nanoseconds.
const MIN_RTT_SPAN_NS: i64 = 1_000_000;
/// Samples remembered; beyond, every other one is forgotten.
const MAX_RTT_SAMPLES: usize = 1_024;

/// The round-trip time of data seen at its sender, thinned evenly.
#[derive(Clone, Debug, Default)]
pub(crate) struct RttTrace {
    /// When a sample was taken and what it was, nanoseconds.
    samples: Vec<(i64, i64)>,
    /// Samples are taken this far apart, nanoseconds.
    apart_ns: i64,
    /// The end of the data whose acknowledgement is awaited, and when it was sent.
    awaited: Option<(i64, i64)>,
    /// The end of the data sent so far.
    highest: i64,
    /// Data sent while a hole is mended is acknowledged when the hole is, however short its way was:
    /// no sample begins before everything below is acknowledged.
    mending_below: Option<i64>,
    least_ns: i64,
    most_ns: i64,
}

impl RttTrace {
    /// New data up to `end` was sent.
    #[inline]
    pub(crate) fn sent(&mut self, end: i64, now: i64) {
        self.highest = self.highest.max(end);
        if self.awaited.is_none() && self.mending_below.is_none() {
            self.awaited = Some((end, now));
        }
    }

    /// Something was sent again: what is awaited may be the answer to that (Karn's rule, RFC 6298
    /// section 3).
    pub(crate) fn sent_again(&mut self) {
        self.awaited = None;
        self.mending_below = Some(self.highest);
    }

    /// Everything below `ack` is acknowledged.
    #[inline]
    pub(crate) fn acknowledged(&mut self, ack: i64, now: i64) {
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

    fn take(&mut self, now: i64, rtt_ns: i64) {
        let first = self.samples.is_empty();
        self.least_ns = if first {
            rtt_ns
        } else {
            self.least_ns.min(rtt_ns)
        };
        self.most_ns = self.most_ns.max(rtt_ns);
        let last = self.samples.last().map_or(i64::MIN, |s| s.0);
        if now.saturating_sub(last) < self.apart_ns {
            return;
        }
        if self.samples.len() >= MAX_RTT_SAMPLES {
            let mut nth = 0;
            self.samples.retain(|_| {
                nth += 1;
                nth % 2 == 1
            });
            let (from, to) = (self.samples.first(), self.samples.last());
            let span = to.map_or(0, |s| s.0) - from.map_or(0, |s| s.0);
            self.apart_ns = span / (MAX_RTT_SAMPLES as i64 / 2);
        }
        self.samples.push((now, rtt_ns));
    }

    /// Where the round-trip time stood shortly before `at_ns`: by the highest of the samples taken
    /// within two round trips. `None` where it hardly varies, if there are no such samples, or in between.
    fn stand(&self, at_ns: i64) -> Option<Stand> {
        let span = self.most_ns - self.least_ns;
        if span < MIN_RTT_SPAN_NS.max(self.least_ns / 10) {
            return None;
        }
        let next = self.samples.partition_point(|s| s.0 <= at_ns);
        let before = self.samples.get(..next)?;
        let recent = before
            .iter()
            .rev()
            .take_while(|&&(at, rtt_ns)| at_ns - at <= (2 * rtt_ns).max(self.apart_ns));
        let waited = recent.map(|s| s.1).max()? - self.least_ns;
        let (top, bottom) = (
            span / 5 * 4,
            (span / 10).min(MAX_WAIT_IN_EMPTY_QUEUE_NS.max(self.least_ns / 20)),
        );
        // A round trip that hardly ever stands elsewhere says nothing: behind a queue that others keep
        // full it is flat, too.
        if waited >= top && self.usual_wait() < top {
            Some(Stand::Top)
        } else if waited <= bottom && self.usual_wait() > bottom {
            Some(Stand::Bottom)
        } else {
            None
        }
    }

    /// The median of the samples, above the least.
    fn usual_wait(&self) -> i64 {
        let mut all: Vec<i64> = self.samples.iter().map(|s| s.1).collect();
        let middle = all.len() / 2;
        match all.len() {
            0 => 0,
            _ => *all.select_nth_unstable(middle).1 - self.least_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Facts;

    const MSS: i64 = 1_000;

    /// A phase that sent the segments `first..=last` again, in units of a segment.
    fn phase(verdict: RecoveryVerdict, first: i64, last: i64, end: i64) -> Recovery {
        let mut phase = Recovery::new(1_000, (first * MSS) as u64, verdict);
        phase.retransmissions = (last - first + 1) as u32;
        phase.facts = Facts {
            last: last * MSS,
            to_end: (end - first) * MSS,
        };
        phase
    }

    fn mark(segment: i64, kind: Kind) -> Mark {
        Mark {
            start: segment * MSS,
            kind,
        }
    }

    fn cause(phase: &Recovery, marks: &[Mark], rtts: &[(i64, i64)]) -> Cause {
        let mut trace = RttTrace::default();
        rtts.iter().for_each(|&(at, rtt)| trace.take(at, rtt));
        let flow = Flow {
            marks,
            rtts: &trace,
            mss: MSS as u32,
            acks_overtaken: false,
        };
        flow.cause(phase)
    }

    #[test]
    fn only_a_late_packet_that_was_sent_again_makes_reordering_the_cause() {
        let spurious = phase(RecoveryVerdict::Spurious, 5, 7, 20);
        let own = [mark(6, Kind::Reordered)];
        assert_eq!(cause(&spurious, &own, &[]), Cause::Reordering);
        let elsewhere = [mark(2, Kind::Reordered), mark(9, Kind::Reordered)];
        assert_eq!(cause(&spurious, &elsewhere, &[]), Cause::Unknown);
    }

    #[test]
    fn the_last_segment_sent_again_alone_is_a_probe_unless_it_was_needed() {
        let probe = phase(RecoveryVerdict::Spurious, 9, 9, 10);
        assert_eq!(
            cause(&probe, &[mark(3, Kind::Reordered)], &[]),
            Cause::TailProbe
        );
        let needed = phase(RecoveryVerdict::Loss, 9, 9, 10);
        assert_eq!(cause(&needed, &[mark(9, Kind::Lost)], &[]), Cause::Loss);
    }

    #[test]
    fn a_spurious_time_out_without_a_late_packet_is_a_jump_of_the_delay() {
        let mut timeout = phase(RecoveryVerdict::Spurious, 5, 9, 20);
        timeout.timeout = true;
        assert_eq!(cause(&timeout, &[], &[]), Cause::DelayJump);
    }

    #[test]
    fn where_the_round_trip_stood_tells_a_full_queue_from_a_noisy_line() {
        let loss = phase(RecoveryVerdict::Loss, 5, 6, 20);
        let lost = [mark(5, Kind::Lost)];
        let ms = 1_000_000;
        let (low, middle, high) = (20 * ms, 40 * ms, 60 * ms);
        let rising = [(100, low), (200, middle), (300, middle), (900, high)];
        assert_eq!(cause(&loss, &lost, &rising), Cause::QueueLoss);
        let falling = [(100, high), (200, middle), (300, middle)];
        let empty = |at| [&falling[..], &[(at, low)]].concat();
        let late_loss = Recovery {
            start_ns: 1_000 * ms,
            ..loss
        };
        assert_eq!(
            cause(&late_loss, &lost, &empty(990 * ms)),
            Cause::RandomLoss
        );
        assert_eq!(cause(&late_loss, &lost, &empty(900 * ms)), Cause::Loss);
    }

    #[test]
    fn behind_a_queue_that_others_keep_full_the_round_trip_is_flat_and_does_not_tell() {
        let loss = phase(RecoveryVerdict::Loss, 5, 6, 20);
        let lost = [mark(5, Kind::Lost)];
        let ms = 1_000_000;
        let flat = [
            (100, 58 * ms),
            (200, 20 * ms),
            (300, 60 * ms),
            (900, 59 * ms),
        ];
        assert_eq!(cause(&loss, &lost, &flat), Cause::Loss);
        assert_eq!(
            cause(&loss, &lost, &[(100, 20 * ms), (900, 20 * ms + 1)]),
            Cause::Loss
        );
    }

    #[test]
    fn a_place_needs_recoveries_that_agree_on_it() {
        let phases = |causes: &[Cause]| -> Vec<Recovery> {
            let phase = |&cause| Recovery {
                cause,
                ..phase(RecoveryVerdict::Loss, 5, 6, 20)
            };
            causes.iter().map(phase).collect()
        };
        let agreed = |causes: &[Cause]| Places::of(&phases(causes)).agreed(QueueLoss);
        use Cause::{Loss, QueueLoss, RandomLoss, Reordering};
        assert_eq!(agreed(&[QueueLoss]), Loss);
        assert_eq!(agreed(&[QueueLoss, QueueLoss, Loss, Reordering]), QueueLoss);
        assert_eq!(agreed(&[QueueLoss, QueueLoss, RandomLoss]), Loss);
        let few = [&[QueueLoss; 2][..], &[Loss; 7]].concat();
        assert_eq!(agreed(&few), Loss);
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
    fn what_the_receiver_refused_is_no_loss_unless_something_was_lost_as_well() {
        let needed = phase(RecoveryVerdict::Loss, 5, 6, 20);
        let refused = [mark(5, Kind::Refused)];
        assert_eq!(cause(&needed, &refused, &[]), Cause::Refused);
        let both = [mark(5, Kind::Refused), mark(6, Kind::Lost)];
        assert_eq!(cause(&needed, &both, &[]), Cause::Loss);
    }

    #[test]
    fn samples_are_thinned_and_still_tell_where_the_round_trip_stood() {
        let mut trace = RttTrace::default();
        for i in 0..100_000i64 {
            trace.sent(i, i * 1_000);
            trace.acknowledged(i, i * 1_000 + 2_000_000 + i * 100);
        }
        assert!(
            trace.samples.len() <= MAX_RTT_SAMPLES,
            "{}",
            trace.samples.len()
        );
        assert_eq!(trace.stand(100_000_000), Some(Stand::Top));
    }
}
