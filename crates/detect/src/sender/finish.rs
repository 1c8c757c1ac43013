//! The end of a flow.

use super::board::{Copies, Sent};
use super::ledger::{Ledger, Telling};
use super::{AckFindings, Sender, SenderEnd};
use crate::collect::{Basis, Place};
use crate::complaints::Complaints;
use crate::engine_end::{EngineEnd, Replaced};
use crate::habits::{AfterTimeout, Habits, TooOld};
use crate::result::{AckPath, Evidence, Retransmissions};

/// Number of retransmissions of SACKed segments after which the sender is taken to retransmit everything after a timeout.
const MIN_REPEATED_NEEDLESSLY: u64 = 3;
/// An acknowledgement that has not come by then does not come, nanoseconds and round trips: receivers delay one by half a
/// second at most (RFC 9293 section 3.8.6.3).
pub(crate) const MIN_PATIENCE_NS: i64 = 1_000_000_000;
pub(crate) const PATIENCE_RTTS: i64 = 3;

impl Sender {
    /// What ICMP says of the data, before the end.
    pub(crate) fn note_complaints(&mut self, complaints: Complaints) {
        self.ledger.complaints = complaints;
    }

    /// ACKs that were lost, as far as the receiver's identifications tell.
    fn acks_missing(&self) -> u64 {
        match self.numbers.are_shared() {
            true => 0,
            false => self.queue.missing,
        }
    }

    /// What the ACKs show of the receiver, and retransmissions of the sender.
    fn habits(&self) -> Habits {
        Habits {
            duplicates: self.receiver.duplicates(),
            too_old: self.receiver.too_old,
            echo: self.receiver.echo(),
            after_timeout: match self.repeats.awaited.ever >= MIN_REPEATED_NEEDLESSLY {
                true => AfterTimeout::Everything,
                false => AfterTimeout::Unknown,
            },
            reneges: self.ledger.collector.reneged() > 0,
            ..Habits::default()
        }
    }

    /// What the ACKs of this flow can tell.
    pub(super) fn telling(&self) -> Telling {
        Telling {
            explanations: self.explanations,
            rough: self.receiver.lacks_sack(self.no_sack.evident()),
            beside: self.news.away_ns == 0,
            hidden: self.receiver.hides_blocks,
            refusals_hidden: self.receiver.guessed && self.timing.late_enough_to_be_refused(),
            timestamps: self.timestamps,
            duplicates: self.receiver.dsack_seen,
            duplicates_placed: self.receiver.duplicates_hidden.into(),
            bare_acks: self.receiver.bare_acks.into(),
            except_too_old: self.receiver.dsack_seen && self.receiver.too_old == TooOld::Unknown,
            acks: self.queue.seen,
            acks_missing: self.acks_missing(),
            numbered: self.queue.by_id(),
            heard_ns: self.news.last_ns(),
            patience_ns: self.timing.patience(),
        }
    }

    /// What was sent again until the end and never acknowledged did not arrive, as far as silence tells: `last_ns` is when
    /// the connection was last seen, nanoseconds. Nothing is known of data sent less than the waiting time for an answer before, nor of data
    /// that the receiver may have and cannot name: it goes on to answer, waits for what lies below, and lists no ranges, or as many as it
    /// has room for (RFC 2018 section 3). Returns the payloads.
    fn close_unanswered(&mut self, last_ns: i64) -> Vec<u32> {
        let rtt = self.timing.min_rtt.unwrap_or(0);
        let patience = rtt.saturating_mul(PATIENCE_RTTS).max(MIN_PATIENCE_NS);
        let silent = |sent: &Sent| last_ns.saturating_sub(sent.sent_ns) >= patience;
        let ranges = self.outstanding.ranges.len();
        let names_all = self.receiver.sack_seen && ranges < self.receiver.room(None);
        let named = |sent: &Sent, copies: &Copies| {
            let answers = self.news.last_ns() > copies.first_ns.saturating_add(rtt);
            names_all || !answers || sent.start <= self.outstanding.una
        };
        let open = self.outstanding.sent_again_in_vain();
        let open: Vec<_> = open
            .filter(|(sent, copies)| silent(sent) && named(sent, copies))
            .collect();
        for (sent, copies) in &open {
            self.ledger.unanswered(sent, copies);
        }
        open.iter().map(|(sent, _)| sent.len).collect()
    }

    /// Counts as lost what is still outstanding and did not arrive, as ICMP says; returns how much that is.
    fn prove_undecided(&mut self) -> u64 {
        let mut proven = 0;
        let open = self.outstanding.board.iter().filter(|s| !s.reported);
        for sent in open {
            if self.ledger.complaints.has_proven(sent.start) {
                continue;
            }
            let copies = self.outstanding.board.copies_of(sent);
            let until_ns = copies.map_or(i64::MAX, |copies| copies.first_ns);
            let bytes = (sent.start, sent.end());
            let complaints = &mut self.ledger.complaints;
            let Some(told) = complaints.prove(bytes, (sent.sent_ns, until_ns)) else {
                continue;
            };
            let place = Place {
                start: sent.start,
                len: sent.len,
                frame: sent.frame,
                proof_frame: told.frame,
                at_ns: sent.sent_ns,
                sent_ns: sent.sent_ns,
            };
            let basis = Basis::certain(Evidence::Icmp);
            self.ledger.collector.lost(place, basis);
            proven += 1;
        }
        proven
    }

    /// The end of the capture or of the connection, whose last packet was captured at `last_ns`. The receiver was heard at
    /// all if `answered`.
    pub(crate) fn finish(mut self: Box<Self>, last_ns: i64, answered: bool) -> SenderEnd {
        let mut rest = std::mem::take(&mut self.ready);
        self.queue.flush(|ack| rest.push(ack));
        for ack in &rest {
            self.process(ack);
        }
        self.settle(i64::MAX);
        let telling = self.telling();
        self.ledger.close_all(&telling);
        let needed = self.ledger.needed;
        let unanswered = match answered {
            true => self.close_unanswered(last_ns),
            false => Vec::new(),
        };
        let in_vain = self.ledger.needed - needed;
        let swallowed = self.sizes.swallowed(unanswered.iter().copied().min());
        let unanswered = unanswered.len() as u64;
        let known = self.prove_undecided() + self.close_discarded();
        let forgot = self.ledger.log.forgot();
        let acks_missing = self.acks_missing();
        let habits = self.habits();
        let Ledger {
            collector,
            recoveries,
            list,
            complaints,
            ..
        } = self.ledger;
        let unfilled = self.outstanding.unfilled();
        let data = EngineEnd {
            collector,
            packets: self.ledger.data_packets,
            bytes: self.ledger.data_bytes,
            retransmissions: Retransmissions::split(
                self.ledger.retransmissions,
                self.ledger.needed,
                self.ledger.spurious,
            ),
            undecided: (self.outstanding.undecided() - unanswered).saturating_sub(known),
            unfilled: unfilled.saturating_sub(unanswered + known),
            missing: self.outstanding.missing(),
            recoveries: recoveries.finish(),
            list: list.into_all(),
            forgot,
            replaced: Replaced::default(),
        };
        let evident = self.no_sack.evident();
        // Of what was never answered, no SACK block would tell more.
        let troubled = self.ledger.retransmissions > in_vain || self.no_sack.duplicates();
        let acks = AckFindings {
            path: AckPath {
                acks: self.queue.seen,
                reordered: self.queue.reordered,
                missing: acks_missing,
            },
            min_rtt_ns: self.timing.min_rtt,
            rough: telling.rough,
            sack: self.receiver.has_sack(),
            sack_unknown: troubled && self.receiver.unknown_sack(evident, self.no_sack.shown()),
            habits,
            shrunk: self.sizes.finish(self.outstanding.una),
            swallowed,
        };
        SenderEnd {
            data,
            proven: complaints.into_proven(),
            acks,
        }
    }
}
