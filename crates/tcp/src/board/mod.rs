//! The scoreboard (RFC 6675 section 3): the state of every outstanding segment, and counts that need no scan.
//!
//! Segments have identities that only increase; `id - base` is the index in the queue, so a stored identity stays
//! valid after cumulative acknowledgements. Three cursors avoid scans: how far marking by threshold has got, where
//! the next lost segment may be, and which original transmission is the oldest unanswered one. The cost of a SACK
//! block depends on what is new in it, not on its length.

mod marking;
mod sent;

use std::collections::VecDeque;

use crate::Nanos;
use crate::ranges::RangeSet;
use crate::seq::Seq;

pub use sent::{Delivered, Id, Sent};

/// Segments outstanding in sequence order.
#[derive(Debug, Default)]
pub struct Board {
    records: VecDeque<Sent>,
    base: Id,
    sacked: RangeSet,
    sacked_out: u32,
    lost_out: u32,
    /// Segments considered lost that wait for their retransmission.
    waiting_out: u32,
    losses: u64,
    retrans_out: u32,
    /// Identity after the highest segment ever SACKed.
    highest_sacked: Id,
    /// Retransmissions in order of time; entries may be outdated.
    retransmissions: VecDeque<(Id, Nanos)>,
    /// No segment below is lost and waiting for its retransmission.
    lost_hint: Id,
    /// No segment below is a candidate for forward retransmission.
    forward_hint: Id,
    /// Below this, threshold marking is complete; `mark_sacked` of these segments are SACKed.
    mark_hint: Id,
    mark_sacked: u32,
    /// No segment below still needs marking by position.
    first_hint: Id,
    /// No segment below is an original transmission that still waits for an answer.
    oldest_hint: Id,
    fresh: Vec<(Seq, Seq)>,
    /// Nothing is marked as lost for now.
    pub(crate) marks_held: bool,
}

impl Board {
    /// Segments outstanding (Linux `packets_out`).
    pub fn packets_out(&self) -> u32 {
        self.records.len() as u32
    }

    /// Segments ever considered lost, retransmissions included (Linux `lost`).
    pub(crate) fn losses(&self) -> u64 {
        self.losses
    }

    /// Segments outstanding that were reported as received. Without SACK the sender counts duplicate acknowledgements here.
    pub fn sacked_out(&self) -> u32 {
        self.sacked_out
    }

    /// Segments outstanding that are considered lost (retransmitted or not).
    pub fn lost_out(&self) -> u32 {
        self.lost_out
    }

    /// Retransmissions outstanding.
    pub(crate) fn retrans_out(&self) -> u32 {
        self.retrans_out
    }

    /// Segments in the network according to this sender: the pipe of RFC 6675 section 4 (SetPipe) in segments.
    pub fn in_flight(&self) -> u32 {
        (self.packets_out() + self.retrans_out).saturating_sub(self.sacked_out + self.lost_out)
    }

    /// Identity after the highest segment ever SACKed.
    pub(crate) fn highest_sacked_id(&self) -> Id {
        self.highest_sacked
    }

    /// Segments from the oldest outstanding to the highest SACKed one, holes included (Linux `fackets_out`).
    pub fn fackets_out(&self) -> u32 {
        self.highest_sacked.saturating_sub(self.base) as u32
    }

    /// One past the highest SACKed sequence number; `None` if nothing is SACKed.
    pub(crate) fn highest_sack_end(&self) -> Option<Seq> {
        let last = self.highest_sacked.checked_sub(1)?;
        self.get(last).filter(|r| r.sacked).map(|record| record.end)
    }

    /// True if nothing is outstanding.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The oldest segment outstanding.
    pub fn front(&self) -> Option<&Sent> {
        self.records.front()
    }

    /// The newest segment outstanding.
    pub fn back(&self) -> Option<&Sent> {
        self.records.back()
    }

    /// Identity of the oldest segment outstanding, or of the next one sent.
    pub(crate) fn front_id(&self) -> Id {
        self.base
    }

    /// Identity of the next new segment.
    pub fn next_id(&self) -> Id {
        self.base + self.records.len() as u64
    }

    /// The segment with this identity, if it is outstanding.
    pub fn get(&self, id: Id) -> Option<&Sent> {
        self.records.get(id.checked_sub(self.base)? as usize)
    }

    /// All segments outstanding, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Sent> + '_ {
        self.records.iter()
    }

    /// Index in the queue of the segment that contains `seq`; for segments of equal size it is found by division.
    pub fn index_of(&self, seq: Seq) -> Option<usize> {
        let front = self.records.front()?;
        let distance = seq.checked_sub(front.start)?;
        let guess = (distance / (front.end - front.start).max(1)) as usize;
        if let Some(record) = self.records.get(guess)
            && record.start <= seq
            && seq < record.end
        {
            return Some(guess);
        }
        let at = self.records.partition_point(|record| record.end <= seq);
        (at < self.records.len()).then_some(at)
    }

    pub(crate) fn push(&mut self, record: Sent) {
        self.records.push_back(record);
    }

    /// The segment is sent only now.
    pub(crate) fn set_sent(&mut self, id: Id, now: Nanos) {
        let Some(at) = id.checked_sub(self.base) else {
            return;
        };
        if let Some(record) = self.records.get_mut(at as usize) {
            record.sent_at = now;
            record.first_sent_at = now;
        }
    }

    /// Removes everything below `una` and reports the segments that had not been SACKed.
    pub(crate) fn acknowledge(&mut self, una: Seq, delivered: &mut Vec<Delivered>) {
        let first = self.base;
        while let Some(record) = self.records.front().copied() {
            if record.end > una {
                break;
            }
            self.records.pop_front();
            self.retire(&record);
            if !record.sacked {
                delivered.push(Delivered {
                    index: (self.base - first) as u32,
                    by_sack: false,
                    record,
                });
            }
            self.base += 1;
        }
        if let Some(front) = self.records.front_mut()
            && front.start < una
        {
            front.start = una;
            front.syn = false;
        }
        if self.base != first {
            self.forget_below(una);
        }
    }

    /// Removes a segment that leaves the queue from the counts.
    fn retire(&mut self, record: &Sent) {
        self.sacked_out -= u32::from(record.sacked);
        self.lost_out -= u32::from(record.lost);
        self.waiting_out -= u32::from(record.awaits_retransmission());
        self.retrans_out -= u32::from(record.retrans);
        if self.base < self.mark_hint {
            self.mark_sacked -= u32::from(record.sacked);
        }
    }

    fn forget_below(&mut self, una: Seq) {
        if !self.sacked.is_empty() {
            self.sacked.remove_below(una);
        }
        if self.mark_hint < self.base {
            self.mark_hint = self.base;
        }
        while let Some(&(id, _)) = self.retransmissions.front() {
            if id >= self.base {
                break;
            }
            self.retransmissions.pop_front();
        }
    }

    /// Processes a SACK block and reports the segments it covers for the first time. A segment counts when it is
    /// covered completely (RFC 2018 section 5; RFC 6675 section 4, Update).
    pub(crate) fn sack(&mut self, start: Seq, end: Seq, delivered: &mut Vec<Delivered>) {
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.clear();
        let whole = self.sacked.insert(start, end, &mut fresh);
        for &(low, high) in &fresh {
            self.sack_records(low, high, whole, delivered);
        }
        self.fresh = fresh;
    }

    fn sack_records(
        &mut self,
        low: Seq,
        high: Seq,
        whole: (Seq, Seq),
        delivered: &mut Vec<Delivered>,
    ) {
        let Some(mut at) = self.index_of(low) else {
            return;
        };
        while let Some(record) = self.records.get_mut(at) {
            if record.start >= high {
                break;
            }
            if !record.sacked && record.start >= whole.0 && record.end <= whole.1 {
                delivered.push(Delivered {
                    index: at as u32,
                    by_sack: true,
                    record: *record,
                });
                self.sacked_out += 1;
                self.lost_out -= u32::from(record.lost);
                self.waiting_out -= u32::from(record.awaits_retransmission());
                self.retrans_out -= u32::from(record.retrans);
                record.sacked = true;
                record.lost = false;
                record.retrans = false;
                let id = self.base + at as u64;
                self.mark_sacked += u32::from(id < self.mark_hint);
                self.highest_sacked = self.highest_sacked.max(id + 1);
            }
            at += 1;
        }
    }

    /// The oldest lost segment that waits for its retransmission (RFC 6675 section 4 rule (1) of NextSeg).
    pub(crate) fn next_lost(&mut self) -> Option<Id> {
        if self.waiting_out == 0 {
            return None;
        }
        let mut id = self.lost_hint.max(self.base);
        while let Some(record) = self.get(id) {
            if record.awaits_retransmission() {
                break;
            }
            id += 1;
        }
        self.lost_hint = id;
        (id < self.next_id()).then_some(id)
    }

    /// The oldest segment below the highest SACK that is neither SACKed, lost nor retransmitted (RFC 6675 section 4
    /// rule (3) of NextSeg).
    pub(crate) fn next_forward(&mut self) -> Option<Id> {
        let mut id = self.forward_hint.max(self.base);
        while id < self.highest_sacked {
            match self.get(id) {
                Some(record) if !record.sacked && !record.ever_retransmitted() => break,
                Some(_) => id += 1,
                None => return None,
            }
        }
        self.forward_hint = id;
        (id < self.highest_sacked).then_some(id)
    }

    /// The segment is transmitted again (RFC 8985 section 6.1); returns the updated record.
    pub(crate) fn retransmit(&mut self, id: Id, now: Nanos, tsval: u32, cwnd: u32) -> Option<Sent> {
        let at = id.checked_sub(self.base)? as usize;
        let record = self.records.get_mut(at)?;
        self.waiting_out -= u32::from(record.awaits_retransmission());
        self.retrans_out += u32::from(!record.retrans);
        record.retrans = true;
        record.transmissions = record.transmissions.saturating_add(1);
        record.sent_at = now;
        record.tsval = tsval;
        record.cwnd = cwnd;
        let copy = *record;
        self.retransmissions.push_back((id, now));
        Some(copy)
    }

    /// The transmission that has waited longest for an answer: neither SACKed, nor lost without a retransmission.
    /// Among transmissions at the same time, the one with the lowest sequence number.
    pub(crate) fn oldest_outstanding(&mut self) -> Option<(Id, Sent)> {
        let original = self.oldest_original();
        let again = self.oldest_retransmission();
        match (original, again) {
            (Some(a), Some(b)) if (b.1.sent_at, b.1.end) < (a.1.sent_at, a.1.end) => Some(b),
            (Some(a), _) => Some(a),
            (None, b) => b,
        }
    }

    fn oldest_original(&mut self) -> Option<(Id, Sent)> {
        let mut id = self.oldest_hint.max(self.base);
        let found = loop {
            match self.get(id) {
                Some(r) if r.sacked || r.lost || r.ever_retransmitted() => id += 1,
                other => break other.copied(),
            }
        };
        self.oldest_hint = id;
        found.map(|record| (id, record))
    }

    fn oldest_retransmission(&mut self) -> Option<(Id, Sent)> {
        while let Some(&(id, at)) = self.retransmissions.front() {
            match self.get(id) {
                Some(record) if record.waits() && record.sent_at == at => {
                    return Some((id, *record));
                }
                _ => self.retransmissions.pop_front(),
            };
        }
        None
    }

    /// Without SACK, duplicate acknowledgements stand for segments received.
    pub(crate) fn set_emulated_sacked(&mut self, count: u32) {
        self.sacked_out = count;
    }
}

#[cfg(test)]
mod tests;
