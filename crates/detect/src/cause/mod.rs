//! One cause for every recovery phase and every retransmission.
//!
//! A pure function over what is known at a flow's end: what the retransmissions of a phase turned out
//! to be, which originals came late, were lost or refused, and the round-trip time when it began. A
//! phase is put down to reordering only if a packet sent again in it was itself late: that nothing
//! was lost does not say why something was sent again.

mod place;
mod rtt_trace;

use inorder_limits::Loss;
use place::Place;
pub(crate) use rtt_trace::RttTrace;

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
    /// What the limits of the transfer are found by, if it was lost.
    pub(crate) fn loss(&self) -> Option<Loss> {
        let Mark {
            start,
            rtt_ns,
            sent_ns,
            kind,
        } = *self;
        (kind == Kind::Lost).then_some(Loss {
            start,
            rtt_ns,
            sent_ns,
        })
    }

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
    /// What happened so to what begins in `from..=to`.
    fn of(&self, kind: Kind, (from, to): (i64, i64)) -> impl Iterator<Item = &Mark> {
        let first = self.marks.partition_point(|m| m.start < from);
        let behind = self.marks.iter().skip(first);
        let within = behind.take_while(move |m| m.start <= to);
        within.filter(move |m| m.kind == kind)
    }

    /// Some packet was lost for all that is known. Where none was, doubts about single ones do not add up to a loss: a receiver that
    /// reports no duplicates may be silent of each late original.
    fn loses(&self) -> bool {
        self.marks.iter().any(|m| m.kind == Kind::Lost)
    }

    fn any(&self, kind: Kind, bytes: (i64, i64)) -> bool {
        self.of(kind, bytes).next().is_some()
    }

    /// The cause of a phase of a flow that [loses](Self::loses) packets, or does not.
    fn cause(&self, phase: &Recovery, loses: bool) -> Cause {
        let sent_again = phase.sent_again();
        let late = self.any(Kind::Reordered, sent_again);
        let one = phase.retransmissions == 1 && phase.facts.to_end <= i64::from(self.mss);
        let probe = one && phase.facts.prompt == Prompt::Probe;
        match phase.verdict {
            _ if phase.facts.unanswered => Cause::Unanswered,
            RecoveryVerdict::Loss if self.any(Kind::Lost, sent_again) => Cause::Loss,
            RecoveryVerdict::Loss if lost_one(&phase.facts) => Cause::Loss,
            RecoveryVerdict::Loss if lost_some(&phase.facts) => Cause::Loss,
            RecoveryVerdict::Loss if phase.facts.lost > MAX_LOST_BESIDE_REFUSED => Cause::Unknown,
            RecoveryVerdict::Loss if self.any(Kind::Refused, sent_again) => Cause::Refused,
            // Something was needed, and it is not known whether it had been lost or refused.
            RecoveryVerdict::Loss => Cause::Unknown,
            RecoveryVerdict::Ambiguous if loses && lost_some(&phase.facts) => Cause::Loss,
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
        let bytes = (from, from + i64::from(retransmission.len.max(1)) - 1);
        match retransmission.verdict {
            Verdict::Needed if self.any(Kind::Refused, bytes) => Cause::Refused,
            Verdict::Needed if !self.any(Kind::Lost, bytes) => Cause::Unknown,
            Verdict::Needed if phase.is_loss() || phase == Cause::Unanswered => phase,
            Verdict::Needed => Cause::Loss,
            Verdict::Spurious if self.any(Kind::Reordered, bytes) => Cause::Reordering,
            Verdict::Spurious if !phase.is_loss() && phase != Cause::Refused => phase,
            _ => Cause::Unknown,
        }
    }

    /// Gives every phase and every retransmission its cause, and counts the phases.
    pub(crate) fn assign(&self, recoveries: &mut Recoveries, list: &mut [Retransmission]) {
        let loses = self.loses();
        for phase in &mut recoveries.list {
            phase.cause = self.cause(phase, loses);
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
        if phases.is_empty() {
            return;
        }
        let of_phase = |phase: &Recovery| -> Vec<i64> {
            let losses = self.of(Kind::Lost, phase.sent_again_first());
            let losses = losses.filter(|_| phase.cause.is_loss());
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

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: i64 = 1_000;

    /// A phase that sent the segments `first..=last` again, in units of a segment.
    fn phase(verdict: RecoveryVerdict, first: i64, last: i64, end: i64) -> Recovery {
        let mut phase = Recovery::new(1_000, (first * MSS) as u64, verdict);
        phase.retransmissions = (last - first + 1) as u32;
        phase.facts = Facts {
            first: first * MSS,
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
        flow.cause(phase, flow.loses())
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

    /// The probe of the last segment shows the sender two holes below.
    #[test]
    fn what_a_probe_brings_to_light_below_itself_was_lost() {
        let mut begun = phase(RecoveryVerdict::Loss, 9, 9, 10);
        begun.retransmissions = 3;
        begun.facts.first = 4 * MSS;
        assert_eq!(cause(&begun, &[mark(4, Kind::Lost)]), Cause::Loss);
        assert_eq!(cause(&begun, &[mark(3, Kind::Lost)]), Cause::Unknown);
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
    fn doubts_add_up_to_a_loss_only_where_some_packet_was_lost() {
        let mut open = phase(RecoveryVerdict::Ambiguous, 5, 9, 20);
        open.facts.perhaps_refused = 5;
        open.facts.none_lost = libm::log(0.01);
        assert_eq!(cause(&open, &[mark(6, Kind::Reordered)]), Cause::Unknown);
        assert_eq!(cause(&open, &[mark(30, Kind::Lost)]), Cause::Loss);
    }

    #[test]
    fn a_spurious_time_out_without_a_late_packet_is_a_jump_of_the_delay() {
        let mut timeout = phase(RecoveryVerdict::Spurious, 5, 9, 20);
        timeout.timeout = true;
        assert_eq!(cause(&timeout, &[]), Cause::DelayJump);
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
}
