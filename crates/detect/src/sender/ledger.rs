//! Verdicts: what arrived when, which retransmissions were needed, and how sure that is.
//!
//! Segments that were sent again and have been reported stay in `filled` until nothing more can be learnt of
//! them; the arrivals stand in `log`, in the receiver's order. Nothing here decides: others do, and book it here.

use inorder_wire::Segment;

use super::acks::Ack;
use super::beyond::Beyond;
use super::board::{Copies, Sent};
use super::copied::NetworkCopies;
use super::filled::{By, EITHER, Filled, FilledMap};
use super::list::List;
use super::log::{ArrivalLog, Entry, Status};
use super::unexplained::{Trigger, UnexplainedAck};
use crate::collect::{Basis, Collector, Place};
use crate::complaints::Complaints;
use crate::explanation::{Explanation, Explanations};
use crate::recovery::RecoveryTracker;
use crate::result::{Cause, Confidence, Evidence, Half, Reason, Retransmission, Verdict};

/// Posterior from which on a reading is taken for certain, where no logic makes it so.
pub(super) const MIN_CERTAIN: f64 = 0.999;
/// Posterior from which on a reading is taken for likely.
pub(super) const MIN_LIKELY: f64 = 0.95;
/// What became of retransmitted segments so far: the prior odds for those still open.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Segments of which only retransmissions have arrived.
    pub(super) only_copies: u64,
    /// Originals that came late and had been sent again by then.
    pub(super) late_copied: u64,
    /// Those of them that came after a retransmission: only an ACK of their own reported them.
    pub(super) came_after: u64,
    /// Those of them reported only by a plain ACK without new information.
    pub(super) answered_alone: u64,
    /// Duplicates of retransmitted segments that may be of copies which the network made.
    pub(super) perhaps_copied: u64,
}

/// An original came, as well as its retransmissions or instead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Came {
    /// That it came where it is said to have come.
    pub(super) basis: Basis,
    /// How sure it is that its retransmissions were needless: more than that, where both came and only times tell which came first.
    pub(super) needless: Confidence,
}

impl From<Basis> for Came {
    fn from(basis: Basis) -> Self {
        Came {
            basis,
            needless: basis.confidence,
        }
    }
}

/// What the ACKs of a flow can tell, for how sure their silence is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Telling {
    pub(super) explanations: Explanations,
    /// No SACK at all.
    pub(super) rough: bool,
    /// The capture was made beside the sender, which has heard what was captured.
    pub(super) beside: bool,
    /// There was SACK, and nothing of it shows.
    pub(super) hidden: bool,
    /// Discarded originals cannot be recognised: without SACK, the ACK for a discarded packet looks like one for a packet that was taken, and
    /// originals of this flow come late enough to be discarded.
    pub(super) refusals_hidden: bool,
    pub(super) timestamps: bool,
    /// Duplicates are reported (RFC 2883 section 4).
    pub(super) duplicates: bool,
    /// Duplicates that were not reported and whose answers have been found.
    pub(super) duplicates_placed: u64,
    /// ACKs without new information, whatever they answer.
    pub(super) bare_acks: u64,
    pub(super) acks: u64,
    pub(super) acks_missing: u64,
    /// It may be that of what is too old they are not (RFC 7323 section 5.3 asks for an ACK alone).
    pub(super) except_too_old: bool,
    /// The identifications of the receiver's packets count, so that a missing ACK shows.
    pub(super) numbered: bool,
    /// When the last ACK came, nanoseconds.
    pub(super) heard_ns: i64,
    /// How long after its retransmission an original may still come, nanoseconds.
    pub(super) patience_ns: i64,
}

/// The verdicts on one direction.
#[derive(Debug)]
pub(super) struct Ledger {
    pub(super) log: ArrivalLog,
    pub(super) filled: FilledMap,
    pub(super) tally: Tally,
    /// Expected number of ACKs without new information that answer an unknown original which came: more segments were missing than are
    /// looked at, or none that is looked at fits and the receiver reports no duplicates.
    pub(super) unplaced: f64,
    pub(super) copies: NetworkCopies,
    pub(super) collector: Box<Collector>,
    pub(super) recoveries: RecoveryTracker,
    pub(super) list: List,
    pub(super) data_packets: u64,
    pub(super) data_bytes: u64,
    pub(super) retransmissions: u64,
    /// When something was sent again first and last, nanoseconds.
    pub(super) again_ns: Option<(i64, i64)>,
    pub(super) needed: u64,
    pub(super) spurious: u64,
    pub(super) complaints: Complaints,
    pub(super) beyond: Beyond,
}

heap!(Ledger: log, filled, collector, recoveries, list, complaints, beyond);

impl Ledger {
    /// `keep`: events and retransmissions are listed, not only counted.
    #[inline(always)] // Made where it stays, instead of copied there.
    pub(super) fn new(keep: bool) -> Self {
        Ledger {
            log: ArrivalLog::new(),
            filled: FilledMap::default(),
            tally: Tally::default(),
            unplaced: 0.0,
            copies: NetworkCopies::default(),
            collector: Box::new(Collector::new(Half::EndToEnd, keep)),
            recoveries: RecoveryTracker::new(keep),
            list: List::new(keep),
            data_packets: 0,
            data_bytes: 0,
            retransmissions: 0,
            again_ns: None,
            needed: 0,
            spurious: 0,
            complaints: Complaints::default(),
            beyond: Beyond::default(),
        }
    }

    /// The share of what was sent that is lost, as far as is known.
    pub(super) fn lost_share(&self) -> f64 {
        (self.tally.only_copies as f64 + 0.25) / (self.data_packets as f64 + 1.0)
    }

    /// A first transmission of `len` bytes at `now`.
    #[inline]
    pub(super) fn sent(&mut self, now: i64, len: u32) {
        self.data_packets += 1;
        self.data_bytes += u64::from(len);
        self.collector.sent(now, len);
    }

    /// A retransmission, with its verdict as far as there is one; `None` if it repeats nothing that was
    /// captured.
    pub(super) fn sent_again(
        &mut self,
        seg: &Segment,
        (start, len): (i64, u32),
        phase: u32,
        told: Option<(Verdict, Confidence)>,
    ) {
        self.retransmissions += 1;
        self.again_ns.get_or_insert((seg.ts_ns, seg.ts_ns)).1 = seg.ts_ns;
        let (verdict, confidence) = told.unwrap_or((Verdict::Ambiguous, Confidence::Ambiguous));
        if verdict == Verdict::Spurious {
            self.spurious += 1;
            self.recoveries.resolve(phase, Verdict::Spurious, 1);
        }
        let line = Retransmission {
            frame: seg.frame,
            at_ns: seg.ts_ns,
            seq_offset: start.max(0) as u64,
            len,
            verdict,
            confidence,
            cause: Cause::Unknown,
        };
        let open = told.is_some() && verdict == Verdict::Ambiguous;
        self.list.push(line, open.then_some(start));
    }

    /// Something arrived here that the log lacks.
    pub(super) fn hides_arrival(&mut self) {
        self.hides_arrival_of(i64::MIN);
    }

    /// The same, and it is known to begin at `start`.
    pub(super) fn hides_arrival_of(&mut self, start: i64) {
        self.log.hide(start);
    }

    /// The end of the data, which is at `start`, has come before what lies below, as `ack` shows.
    pub(super) fn end_came(&mut self, start: i64, ack: &Segment) {
        self.log.end(Place {
            start,
            at_ns: ack.ts_ns,
            proof_frame: ack.frame,
            ..Place::default()
        });
    }

    /// Appends an arrival to the log.
    #[inline]
    pub(super) fn arrives(&mut self, entry: Entry) -> u64 {
        self.log.push(entry, &mut self.collector)
    }

    /// The original of `sent` came first: none of its copies so far was needed, as sure as said.
    pub(super) fn original_first(
        &mut self,
        sent: &Sent,
        copies: &Copies,
        ack: &Segment,
        sure: Confidence,
    ) {
        self.all_spurious(sent, copies, sure);
        self.filled.insert(Filled::known(sent, *copies, ack));
    }

    /// A retransmission came first.
    pub(super) fn copy_first(&mut self, filled: Filled) {
        self.tally.only_copies += 1;
        self.filled.insert(filled);
    }

    /// The original of `sent` came: none of its copies so far was needed.
    pub(super) fn all_spurious(&mut self, sent: &Sent, copies: &Copies, sure: Confidence) {
        self.tally.late_copied += 1;
        self.spurious += u64::from(copies.count);
        self.recoveries
            .resolve(copies.phase, Verdict::Spurious, copies.count);
        let end = sent.start + i64::from(sent.len);
        self.list
            .close(sent.start, end, (0, sure), (copies.count, sure));
    }

    /// The original of `start` arrived after its retransmission, where `ack` stands, as sure as `basis` is.
    pub(super) fn late_original(&mut self, start: i64, ack: &Ack, came: impl Into<Came>) {
        let Came { basis, needless } = came.into();
        let Some(f) = self.filled.get(start) else {
            return;
        };
        let mut place = f.place;
        place.at_ns = ack.seg.ts_ns;
        place.proof_frame = ack.seg.frame;
        let unsure = (ack.missing > 0).then_some(Reason::AcksMissing);
        self.arrives(Entry {
            unsure,
            ..Entry::new(place, Status::Original(basis))
        });
        self.original_came(start, By::Copy, needless);
    }

    /// The doubtful arrival `id` of `start` was the original.
    pub(super) fn original_was(&mut self, start: i64, id: u64, came: impl Into<Came>) {
        let Came { basis, needless } = came.into();
        self.log.decide(id, Status::Original(basis));
        self.original_came(start, By::Original, needless);
    }

    /// The doubtful arrival `id` of `start` was a retransmission.
    pub(super) fn copy_was(&mut self, start: i64, id: u64) {
        self.log.decide(id, Status::Nothing);
        self.copy_came(start);
    }

    fn copy_came(&mut self, start: i64) {
        self.tally.only_copies += 1;
        if let Some(f) = self.filled.get_mut(start) {
            f.first = By::Copy;
        }
    }

    /// Books that the original of `start` arrived: its retransmissions were spurious, as sure as said.
    fn original_came(&mut self, start: i64, first: By, sure: Confidence) {
        let Some(f) = self.filled.get_mut(start) else {
            return;
        };
        let tally = &mut self.tally;
        tally.only_copies -= u64::from(f.first == By::Copy).min(tally.only_copies);
        tally.late_copied += 1;
        tally.came_after += u64::from(first == By::Copy);
        f.first = first;
        f.original_in = true;
        let (phase, end) = (f.copies.phase, f.end());
        let open = f.copies.count.saturating_sub(f.after);
        self.spurious += u64::from(open);
        self.recoveries.resolve(phase, Verdict::Spurious, open);
        self.list.close(start, end, (0, sure), (open, sure));
    }

    /// The unexplained ACK answered the original of `start`: taken, if that came after its retransmission,
    /// or refused.
    pub(super) fn adopt(&mut self, start: i64, ack: &UnexplainedAck) {
        let Some(f) = self.filled.get(start).copied() else {
            return;
        };
        if let By::Doubtful(id) = f.first {
            self.copy_was(start, id);
        }
        let basis = Basis::certain(Evidence::Paws).weaker(Reason::WhichCopy);
        if ack.at_ns > f.reported_ns {
            self.tally.answered_alone += u64::from(ack.trigger == Trigger::Nothing);
            self.log.adopt(ack.id, f.place, Status::Original(basis));
            return self.original_came(start, By::Copy, basis.confidence);
        }
        self.log.adopt(ack.id, f.place, Status::Refused(basis));
        self.tally.only_copies = self.tally.only_copies.saturating_sub(1);
        self.tally.late_copied += 1;
        self.tally.came_after += 1;
        if let Some(f) = self.filled.get_mut(start) {
            f.refused_in = true;
        }
    }

    /// Passes on what is decided at `now`. Of what still was doubtful when its time ran out, no DSACK came: it
    /// was the retransmission that had arrived, unless the round trips known by then show that it `was_original`.
    pub(super) fn settle(
        &mut self,
        now: i64,
        mut was_original: impl FnMut(&Self, &Filled) -> Option<Basis>,
    ) {
        while let Some((id, start)) = self.log.settle(now, &mut self.collector) {
            let filled = self.filled.get(start);
            let doubtful = filled.filter(|f| f.first == By::Doubtful(id));
            match doubtful.map(|f| was_original(self, f)) {
                Some(Some(basis)) => self.original_was(start, id, basis),
                Some(None) => self.copy_was(start, id),
                None => _ = self.log.decide(id, Status::Nothing),
            }
        }
    }

    /// Closes what is too much to remember.
    pub(super) fn trim(&mut self, telling: &Telling) {
        while let Some(f) = self.filled.pop_excess() {
            self.close(&f, telling);
        }
    }

    /// The receiver has discarded the segment at `start`, which it had reported: what is known of it until then is all that will be.
    pub(super) fn discarded(&mut self, start: i64, telling: &Telling) {
        let Some(f) = self.filled.take(start) else {
            return;
        };
        if let By::Doubtful(id) = f.first {
            self.log.decide(id, Status::Nothing);
            self.tally.only_copies += 1;
        }
        self.close(&f, telling);
    }

    /// Nothing ever acknowledged `sent`, nor any of its retransmissions.
    pub(super) fn unanswered(&mut self, sent: &Sent, copies: &Copies) {
        let (needed, sure) = (copies.count, Confidence::Likely);
        self.needed += u64::from(needed);
        self.recoveries
            .resolve(copies.phase, Verdict::Needed, needed);
        self.recoveries.unanswered(copies.phase);
        let end = sent.start + i64::from(sent.len);
        self.list.close(sent.start, end, (needed, sure), (0, sure));
        let place = Place {
            start: sent.start,
            len: sent.len,
            frame: sent.frame,
            proof_frame: 0,
            at_ns: copies.last_ns,
            sent_ns: sent.sent_ns,
        };
        let times = (sent.sent_ns, copies.first_ns);
        let basis = match self.complaints.prove((sent.start, end), times) {
            Some(_) => Basis::certain(Evidence::Icmp),
            None => Basis::certain(Evidence::Silence).weaker(Reason::Unanswered),
        };
        self.collector.lost(place, basis);
    }

    /// Closes everything.
    pub(super) fn close_all(&mut self, telling: &Telling) {
        while let Some(f) = self.filled.pop() {
            self.close(&f, telling);
        }
    }

    /// Final verdict on a segment that a retransmission filled: no original came.
    fn close(&mut self, f: &Filled, telling: &Telling) {
        if f.original_in {
            return;
        }
        let (bytes, first_ns) = ((f.place.start, f.end()), f.copies.first_ns);
        let proven = self.complaints.prove(bytes, (f.place.sent_ns, first_ns));
        let spurious = f.spurious_before();
        // What came after all makes the copy before it spurious: not asserted either way.
        let unplaced = self.share_unplaced(telling);
        let came = f.doubled + unplaced;
        let either = came > 1.0 - MIN_LIKELY || self.silent(f, telling) >= EITHER;
        let either = either && proven.is_none();
        let needed = match either {
            // If it came, each of them was spurious.
            true => 0,
            false => f.copies.count.saturating_sub(f.after + spurious),
        };
        self.needed += u64::from(needed);
        self.spurious += u64::from(spurious);
        let phase = f.copies.phase;
        self.recoveries.resolve(phase, Verdict::Needed, needed);
        self.recoveries.resolve(phase, Verdict::Spurious, spurious);
        let basis = match proven {
            Some(_) => Basis::certain(Evidence::Icmp),
            None => self.how_sure_lost(f, telling),
        };
        let outside = proven.is_none() && self.beyond.has(f.place.start);
        let refused = f.refused_in || outside;
        let sure = if refused {
            Confidence::Likely
        } else {
            basis.confidence
        };
        // That one came too many is known, and not which of them it was.
        let spurious = (spurious, Confidence::Likely);
        self.list
            .close(f.place.start, f.end(), (needed, sure), spurious);
        if refused {
            self.recoveries.lost(phase, 0.0, 0.0);
        } else if telling.explanations.has(Explanation::MoreHoles) {
            let share = (1.0 - f.refused).max(0.0) * (1.0 - f.silent) * (1.0 - f.doubled).max(0.0);
            self.recoveries.lost(phase, share, unplaced);
        }
        if outside {
            // It may have been lost on its way, as well.
            let basis = Basis::certain(Evidence::Window).weaker(Reason::NotSeen);
            self.collector.refused(f.place, None, basis);
        } else if !refused {
            self.collector.lost_before(f.place, basis, f.rtt_behind_ns);
        }
    }

    /// A segment that was reported as soon as it came, or never sent again.
    #[inline]
    pub(super) fn log_sent(&mut self, sent: &Sent, ack: &Ack, basis: Basis) {
        self.beyond.taken(sent.start);
        let entry = Entry::new(sent.place(&ack.seg), Status::Original(basis));
        self.arrives(entry);
    }
}

#[cfg(test)]
mod tests {
    use super::super::board::Board;
    use super::*;
    use crate::prompt::Prompt;
    use crate::result::{Confidence, Kind};

    const TELLING: Telling = Telling {
        explanations: Explanations::ALL,
        rough: false,
        beside: true,
        hidden: false,
        refusals_hidden: false,
        timestamps: true,
        duplicates: true,
        duplicates_placed: 0,
        bare_acks: 0,
        except_too_old: true,
        acks: 100,
        acks_missing: 0,
        numbered: true,
        heard_ns: 1_000,
        patience_ns: 500,
    };

    /// A ledger with a segment sent at 0 and again at 5, whose retransmission came first.
    fn filled() -> Ledger {
        let mut board = Board::default();
        board.insert(0, 100, 0, 1, 0);
        let mut ledger = Ledger::new(true);
        ledger.sent(0, 100);
        let again = segment!(ts_ns: 5, frame: 2);
        let phase = ledger.recoveries.retransmitted(5, 0, 100, 0, Prompt::News);
        ledger.sent_again(
            &again,
            (0, 100),
            phase,
            Some((Verdict::Ambiguous, Confidence::Ambiguous)),
        );
        board.retransmitted(0, 5, 0, phase, true);
        let (sent, copies) = board.pop_acked(100).unwrap();
        let report = segment!(ts_ns: 15);
        ledger.copy_first(Filled {
            named: true,
            ..Filled::by_copy(&sent, copies.unwrap(), &report, 10)
        });
        ledger
    }

    fn end(mut ledger: Ledger, telling: &Telling) -> (u64, u64, Vec<(Kind, Confidence)>) {
        ledger.settle(i64::MAX, |_, _| None);
        ledger.close_all(telling);
        let events = ledger.collector.finish().events;
        let events = events.iter().map(|e| (e.kind, e.confidence)).collect();
        (ledger.needed, ledger.spurious, events)
    }

    #[test]
    fn silence_of_a_receiver_that_reports_duplicates_means_a_loss() {
        let lost = |confidence| (1, 0, vec![(Kind::Lost, confidence)]);
        assert_eq!(end(filled(), &TELLING), lost(Confidence::Certain));
        let silent = Telling {
            duplicates: false,
            ..TELLING
        };
        assert_eq!(end(filled(), &silent), lost(Confidence::Likely));
        let gone = Telling {
            heard_ns: 400,
            ..TELLING
        };
        assert_eq!(end(filled(), &gone), lost(Confidence::Likely));
        let mut came_after_often = filled();
        came_after_often.tally.came_after = 100;
        assert_eq!(end(came_after_often, &TELLING), lost(Confidence::Ambiguous));
    }

    /// What is said of the last of `lost` losses beside `late` late originals, as sure as `telling` is; ten ACKs had no place.
    fn beside_late(late: u64, lost: u64, telling: Telling) -> Confidence {
        let mut ledger = filled();
        let basis = Basis::certain(Evidence::Sack);
        (0..late).for_each(|_| ledger.collector.late_unmeasured(Place::default(), basis));
        (ledger.tally.late_copied, ledger.tally.only_copies) = (late, lost);
        ledger.unplaced = if telling.rough { 10.0 } else { 0.0 };
        end(ledger, &telling).2.last().expect("a loss").1
    }

    #[test]
    fn without_sack_hardly_more_originals_come_after_their_retransmissions_than_are_late() {
        let telling = Telling {
            rough: true,
            duplicates: false,
            ..TELLING
        };
        assert_eq!(beside_late(0, 50, telling), Confidence::Likely);
        assert_eq!(beside_late(9, 50, telling), Confidence::Ambiguous);
        assert_eq!(beside_late(0, 20, telling), Confidence::Ambiguous, "a few");
    }

    #[test]
    fn a_receiver_that_answers_no_duplicates_does_not_tell_that_an_original_came_late() {
        let answered = |bare_acks| Telling {
            duplicates: false,
            bare_acks,
            ..TELLING
        };
        assert_eq!(beside_late(9, 50, answered(0)), Confidence::Ambiguous);
        assert_eq!(beside_late(9, 50, answered(9)), Confidence::Likely);
        assert_eq!(beside_late(2, 50, answered(0)), Confidence::Likely, "few");
    }

    #[test]
    fn many_duplicates_of_what_was_sent_again_are_not_all_copies_of_the_network() {
        let mut ledger = filled();
        ledger.data_packets = 1_000;
        ledger.copies.reported = 1;
        ledger.tally.only_copies = 100;
        assert!(ledger.maybe_copied_by_network());
        ledger.tally.perhaps_copied = 50;
        assert!(!ledger.maybe_copied_by_network());
    }

    #[test]
    fn silence_says_little_where_originals_that_are_too_old_are_answered_by_plain_acks() {
        let answered = |times, except_too_old| {
            let mut ledger = filled();
            ledger.tally.answered_alone = times;
            let again = ledger.filled.get_mut(0).unwrap();
            (again.tsval, again.copies.first_tsval) = (10, 20);
            let telling = Telling {
                except_too_old,
                ..TELLING
            };
            end(ledger, &telling).2[0].1
        };
        assert_eq!(answered(0, true), Confidence::Certain);
        assert_eq!(answered(9, true), Confidence::Ambiguous);
        assert_eq!(answered(9, false), Confidence::Certain, "reported, too");
    }

    #[test]
    fn an_original_that_comes_after_its_retransmission_makes_that_spurious() {
        let mut ledger = filled();
        let duplicate = Ack::of(&segment!(ts_ns: 30));
        ledger.late_original(0, &duplicate, Basis::certain(Evidence::Dsack));
        assert_eq!(ledger.tally.came_after, 1);
        assert_eq!(
            end(ledger, &TELLING),
            (0, 1, vec![]),
            "in order, for it was alone"
        );
    }
}
