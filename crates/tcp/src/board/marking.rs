//! Marks segments as lost, and unmarks them.

use super::{Board, Id};

impl Board {
    /// Marks the segment as lost, or its outstanding retransmission. False if it is not outstanding, is SACKed, or
    /// already waits for its retransmission.
    pub fn mark_lost(&mut self, id: Id) -> bool {
        let Some(at) = id.checked_sub(self.base).filter(|_| !self.marks_held) else {
            return false;
        };
        let Some(record) = self.records.get_mut(at as usize) else {
            return false;
        };
        if record.sacked || record.awaits_retransmission() {
            return false;
        }
        if record.retrans {
            record.retrans = false;
            self.retrans_out -= 1;
        }
        self.lost_out += u32::from(!record.lost);
        self.waiting_out += 1;
        self.losses += 1;
        record.lost = true;
        self.lost_hint = self.lost_hint.min(id);
        true
    }

    /// Marks every segment with at least `threshold` SACKed segments above it (RFC 6675 section 4, IsLost, in segments),
    /// except those with an outstanding retransmission. Returns how many were marked.
    pub fn mark_by_threshold(&mut self, threshold: u32) -> u32 {
        let mut marked = 0;
        while let Some(record) = self.get(self.mark_hint).copied() {
            if self.marks_held {
                break;
            }
            let above = self.sacked_out - self.mark_sacked - u32::from(record.sacked);
            if above < threshold.max(1) {
                break;
            }
            let id = self.mark_hint;
            if !record.sacked && !record.lost {
                marked += u32::from(self.add_lost(id));
            }
            self.mark_sacked += u32::from(record.sacked);
            self.mark_hint += 1;
        }
        marked
    }

    /// Marks those of the first `count` segments without SACK that are among the first `count` positions (FACK).
    /// Returns how many were marked.
    pub(crate) fn mark_first(&mut self, count: u32) -> u32 {
        let mut marked = 0;
        let end = self.base + u64::from(count);
        let mut id = self.first_hint.max(self.base);
        while id < end && !self.marks_held {
            let Some(record) = self.get(id).copied() else {
                break;
            };
            if !record.sacked && !record.lost {
                marked += u32::from(self.add_lost(id));
            }
            id += 1;
        }
        self.first_hint = id;
        marked
    }

    /// Marks a segment as lost, but not its outstanding retransmission.
    fn add_lost(&mut self, id: Id) -> bool {
        let at = (id - self.base) as usize;
        let Some(record) = self.records.get_mut(at) else {
            return false;
        };
        record.lost = true;
        self.lost_out += 1;
        self.losses += 1;
        if !record.retrans {
            self.waiting_out += 1;
            self.lost_hint = self.lost_hint.min(id);
        }
        true
    }

    /// After a timeout: all segments that are not SACKed are lost and wait for retransmission. `renege` clears the
    /// SACKs (RFC 2018 section 5; RFC 6675 section 5.1 allows to keep them).
    pub(crate) fn mark_all_lost(&mut self, renege: bool) {
        if renege {
            self.forget_sacks();
        }
        self.lost_out = 0;
        for record in &mut self.records {
            record.retrans = false;
            record.lost = !record.sacked;
            self.lost_out += u32::from(record.lost);
        }
        self.waiting_out = self.lost_out;
        self.losses += u64::from(self.lost_out);
        self.retrans_out = 0;
        self.retransmissions.clear();
        self.lost_hint = self.base;
    }

    /// Clears the SACK information (RFC 2018 section 8: the receiver may have discarded the data).
    fn forget_sacks(&mut self) {
        for record in &mut self.records {
            record.sacked = false;
        }
        self.sacked.clear();
        self.sacked_out = 0;
        self.mark_sacked = 0;
        self.mark_hint = self.base;
        self.first_hint = self.base;
        self.forward_hint = self.base;
        self.highest_sacked = self.base;
        self.oldest_hint = self.base;
    }

    /// Unmarks all lost segments; outstanding retransmissions stay outstanding.
    pub(crate) fn clear_lost(&mut self) {
        if self.lost_out > 0 {
            let forgotten = self.retransmissions.len();
            for (at, record) in self.records.iter_mut().enumerate() {
                // The transmission that counted as lost is expected again.
                if record.lost && !record.retrans && record.ever_retransmitted() {
                    let id = self.base + at as u64;
                    self.retransmissions.push_back((id, record.sent_at));
                }
                record.lost = false;
            }
            self.lost_out = 0;
            self.waiting_out = 0;
            if self.retransmissions.len() > forgotten {
                let list = self.retransmissions.make_contiguous();
                list.sort_unstable_by_key(|&(id, at)| (at, id));
            }
        }
        self.mark_hint = self.base;
        self.mark_sacked = 0;
        self.first_hint = self.base;
        self.oldest_hint = self.base;
    }
}
