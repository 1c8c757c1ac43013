//! Transmissions that the capture lacks: one that nobody saw may be what an acknowledgement answers.

use super::Sender;
use super::acks::Ack;
use crate::collect::Basis;
use crate::result::Reason;

/// Maximum number of acknowledgements remembered that wait for others and report such packets.
const MAX_WAITING: usize = 64;

/// What is known of packets of the sender that were not captured.
#[derive(Clone, Debug, Default)]
pub(super) struct Unseen {
    /// When the last gap among the sender's identifications showed, nanoseconds.
    gap_ns: Option<i64>,
    /// When the clock was last set back, nanoseconds, and one past what had been sent by then.
    clock_ns: Option<i64>,
    sent_by_then: i64,
    /// Frames of the acknowledgements, not handled yet, that report such packets, and where the highest of these begins.
    reported_by: Vec<(u64, i64)>,
}

heap!(Unseen: reported_by);

impl Unseen {
    /// What was sent at `sent_ns` and is reported at `now` cannot be timed: the clock was set between.
    pub(super) fn clock_set_between(&self, sent_ns: i64, now: i64) -> bool {
        self.clock_ns.is_some_and(|at| sent_ns <= at && at <= now)
    }

    /// Everything up to the byte `number` may have to be timed across a change of the clock.
    #[inline]
    pub(super) fn untimed(&self, number: i64) -> bool {
        number <= self.sent_by_then
    }
}

impl Sender {
    /// Identifications of the sender are missing just before what was captured at `now`.
    pub(crate) fn note_unseen(&mut self, now: i64) {
        self.gaps.unseen.gap_ns = Some(now);
    }

    /// The acknowledgement in this frame, the next to come, reports data whose transmission was not captured, of which the highest
    /// begins at `start`.
    pub(crate) fn note_unseen_arrival(&mut self, frame: u64, start: i64) {
        let reported = &mut self.gaps.unseen.reported_by;
        if reported.len() >= MAX_WAITING {
            reported.remove(0);
        }
        reported.push((frame, start));
    }

    /// What arrived without having been captured has no place among the arrivals: where that was is known when its
    /// acknowledgement is handled, for others may have to be waited for.
    pub(super) fn hide_unseen(&mut self, ack: &Ack) {
        let reported = &mut self.gaps.unseen.reported_by;
        if let Some(at) = reported.iter().position(|r| r.0 == ack.seg.frame) {
            let (_, start) = reported.remove(at);
            self.ledger.hides_arrival_of(start);
        }
    }

    /// The clock was set back just before `now`.
    pub(crate) fn note_clock_set(&mut self, now: i64) {
        self.gaps.unseen.clock_ns = Some(now);
        self.gaps.unseen.sent_by_then = self.outstanding.highest;
    }

    /// May a packet of the sender be missing from the capture that was sent after `since_ns`? Where identifications
    /// do not tell, data that was acknowledged and never captured says that some are.
    pub(super) fn sent_unseen(&self, since_ns: i64) -> bool {
        match self.gaps.unseen.gap_ns {
            Some(gap_ns) => gap_ns > since_ns,
            None => self.outstanding.missing() > 0,
        }
    }

    /// What rests on `basis`, said of a segment sent at `sent_ns` and reported at `now`: ambiguous if a retransmission
    /// that was not captured may have been there by then. That takes two round trips: one to hear of the hole, one to
    /// fill it.
    pub(super) fn unless_sent_unseen(&self, basis: Basis, sent_ns: i64, now: i64) -> Basis {
        let time_for_another = || {
            let rtt = self.timing.min_rtt.unwrap_or(0);
            now.saturating_sub(sent_ns) >= rtt.saturating_add(rtt / 2)
        };
        let untimed = self.gaps.unseen.clock_set_between(sent_ns, now);
        if untimed {
            Basis::ambiguous(basis.evidence, Reason::NotSeen)
        } else if self.sent_unseen(sent_ns) && time_for_another() {
            basis.weaker(Reason::NotSeen)
        } else {
            basis
        }
    }

    /// The original of `start` is as likely to have come as another retransmission.
    pub(super) fn doubt_loss(&mut self, start: i64) {
        if let Some(f) = self.ledger.filled.get_mut(start) {
            f.refused += super::filled::EITHER;
        }
    }
}
