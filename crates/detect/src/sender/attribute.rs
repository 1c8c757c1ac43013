//! Which copy arrived: the original or a retransmission.

use super::acks::Ack;
use super::board::Copies;
use super::filled::{Bare, By, Filled};
use super::log::{Entry, Status};
use super::{Report, Sender};
use crate::collect::{Basis, Place};
use crate::result::{Evidence, Reason, Verdict};

/// What the first report of a retransmitted segment was about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum First {
    Original(Basis),
    Retransmission,
    Unknown,
}

/// TSvals one tick apart pass PAWS in Linux (`TCP_PAWS_WINDOW`).
const PAWS_WINDOW: i32 = 1;
/// How long a bare duplicate ACK may wait for the hole it belongs to.
const BARE_PATIENCE_NS: i64 = 200_000_000;
/// Latenesses this close are taken as equal: queues on the way differ by as much.
const MIN_TOLERANCE_NS: i64 = 1_200_000;
/// Holes looked at for one bare duplicate ACK.
const MAX_CANDIDATES: usize = 512;

fn after(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

/// An original with `tsval` would be discarded by a receiver whose TS.Recent is `recent`.
fn discarded(tsval: u32, recent: u32) -> bool {
    (recent.wrapping_sub(tsval) as i32) > PAWS_WINDOW
}

impl Sender {
    /// Decides for a segment that was retransmitted before `ack` came.
    pub(super) fn attribute(&self, report: &Report, copies: &Copies, ack: &Ack) -> First {
        let now = ack.seg.ts_ns;
        // What the blocks had no room for arrived at some earlier time: TSecr is not about it.
        let prompt = report.unsure != Some(Reason::BlockLimit);
        if prompt && self.stamped(&ack.seg) {
            let before = self.last.map(|l| l.tsecr);
            if before.is_some_and(|recent| discarded(report.sent.tsval, recent)) {
                return First::Retransmission;
            }
            if report.left_edge {
                // TS.Recent is taken from what filled the left edge (RFC 7323 section 4.3).
                if after(copies.first_tsval, ack.seg.tsecr) {
                    return First::Original(Basis::certain(Evidence::Timestamps));
                }
                if before.is_none_or(|recent| after(copies.first_tsval, recent)) {
                    return First::Retransmission;
                }
            }
        }
        // Sooner than any retransmission can have got there and back.
        if self
            .min_rtt
            .is_some_and(|rtt| now < copies.first_ns + rtt - rtt / 16)
        {
            return First::Original(Basis::certain(Evidence::Timing));
        }
        First::Unknown
    }

    /// A DSACK for `[left, right)`: both copies have arrived, the second just now.
    pub(super) fn duplicate(&mut self, left: i64, right: i64, ack: &Ack) {
        self.dsack_seen = true;
        for start in self.filled.starts_in(left, right) {
            let Some(f) = self.filled.get_mut(start) else {
                continue;
            };
            f.duplicates += 1;
            let f = *f;
            if f.original_in {
                continue;
            }
            match f.first {
                By::Original => {}
                By::Doubtful(id) => {
                    if let Some(basis) = self.original_was_first(&f, ack) {
                        self.log.decide(id, Status::Original(basis));
                        self.original_came(start, By::Original);
                    } else {
                        self.log.decide(id, Status::Nothing);
                        self.late_original(start, ack, Evidence::Dsack);
                    }
                }
                By::Copy => {
                    if !self.another_copy(&f, ack) {
                        self.late_original(start, ack, Evidence::TimestampsDsack);
                    }
                }
            }
        }
    }

    /// Of a doubtful pair, was the duplicate the retransmission?
    fn original_was_first(&self, f: &Filled, ack: &Ack) -> Option<Basis> {
        let before = self.last.map(|l| l.tsecr);
        if self.stamped(&ack.seg) {
            let jumped = before.is_some_and(|recent| after(f.copies.first_tsval, recent))
                && !after(f.copies.first_tsval, ack.seg.tsecr);
            if jumped {
                return Some(Basis::certain(Evidence::Dsack));
            }
        }
        let expected = f.copies.first_ns + self.rtt.or(self.min_rtt).unwrap_or(0);
        let (first, second) = (
            (f.reported_ns - expected).abs(),
            (ack.seg.ts_ns - expected).abs(),
        );
        if second > first {
            return None;
        }
        let basis = Basis::certain(Evidence::Dsack);
        let close = self.min_rtt.is_some_and(|rtt| first - second < rtt / 8);
        Some(if close {
            basis.weaker(Reason::WhichCopy)
        } else {
            basis
        })
    }

    /// A further retransmission, not the original, may be what the DSACK is about: when there are
    /// more copies than duplicates, and it comes when that copy's answer is due.
    fn another_copy(&self, f: &Filled, ack: &Ack) -> bool {
        if f.copies.count < 2 || f.duplicates >= f.copies.count {
            return false;
        }
        let Some(rtt) = self.min_rtt else { return true };
        let due = f.copies.last_ns + rtt - rtt / 64;
        let usual = self.rtt.map_or(rtt, |r| r.max(rtt));
        (due..=due + usual + 5_000_000).contains(&ack.seg.ts_ns)
    }

    /// The original arrived after its retransmission, where `ack` stands.
    fn late_original(&mut self, start: i64, ack: &Ack, evidence: Evidence) {
        let Some(f) = self.filled.get_mut(start).copied() else {
            return;
        };
        let mut place = f.place;
        place.at_ns = ack.seg.ts_ns;
        place.proof_frame = ack.seg.frame;
        let unsure = (ack.missing > 0).then_some(Reason::AcksMissing);
        let status = Status::Original(Basis::certain(evidence));
        self.log.push(
            Entry {
                place,
                status,
                unsure,
            },
            &mut self.collector,
        );
        self.original_came(start, By::Copy);
    }

    /// Books that the original of `start` arrived: its retransmissions were needless.
    fn original_came(&mut self, start: i64, first: By) {
        let Some(f) = self.filled.get_mut(start) else {
            return;
        };
        f.first = first;
        f.original_in = true;
        let copies = f.copies;
        self.spurious += u64::from(copies.count);
        self.recoveries
            .resolve(copies.phase, Verdict::Spurious, copies.count);
    }

    /// An ACK without visible cause: perhaps an old original that PAWS discarded, if there is one
    /// that it can be.
    ///
    /// Either it brings nothing new, or it flushes compressed SACKs before their timer was due
    /// (Linux delays them by 5 % of the RTT, at most 1 ms), so something else triggered it.
    pub(super) fn bare(&mut self, ack: &Ack, reported: usize) {
        let seg = &ack.seg;
        let Some(last) = self.last else { return };
        if ack.stale || ack.missing > 0 || seg.payload_len > 0 || !self.stamped(seg) {
            return;
        }
        let suspicious = match reported {
            0 => last.ack == seg.ack && last.window == seg.window && last.tsecr == seg.tsecr,
            1 if !self.compressing => false,
            _ => self.early(seg.ts_ns - last.ts_ns),
        };
        if !suspicious {
            return;
        }
        if self.open_candidate(seg.tsecr) {
            self.log_bare(seg, reported == 0);
        } else if let Some(start) = self.filled_candidate(seg.tsecr).filter(|_| reported == 0) {
            self.late_original(start, ack, Evidence::Paws);
        }
    }

    /// Is `gap` between two ACKs clearly shorter than the timer of SACK compression?
    fn early(&self, gap: i64) -> bool {
        self.compression
            .middle()
            .is_some_and(|(usual, _)| gap < usual * 3 / 4)
    }

    /// Is an original outstanding in a hole that the receiver would discard?
    fn open_candidate(&self, recent: u32) -> bool {
        let top = self.ranges.top().unwrap_or(self.una);
        let below = self
            .board
            .iter()
            .take(MAX_CANDIDATES)
            .take_while(|s| s.start < top);
        below
            .into_iter()
            .any(|s| !s.reported && discarded(s.tsval, recent))
    }

    /// A hole above the left edge that a retransmission has filled and whose original would be
    /// discarded.
    fn filled_candidate(&self, recent: u32) -> Option<i64> {
        let open =
            |f: &&Filled| f.first == By::Copy && !f.original_in && discarded(f.tsval, recent);
        self.filled
            .from(self.una)
            .take(MAX_CANDIDATES)
            .find(open)
            .map(|f| f.place.start)
    }

    fn log_bare(&mut self, seg: &inorder_wire::Segment, empty: bool) {
        let place = Place {
            at_ns: seg.ts_ns,
            proof_frame: seg.frame,
            ..Place::default()
        };
        let status = Status::Bare {
            deadline: seg.ts_ns + BARE_PATIENCE_NS,
        };
        let id = self.log.push(
            Entry {
                place,
                status,
                unsure: None,
            },
            &mut self.collector,
        );
        self.filled.bares.push_back(Bare {
            id,
            at_ns: seg.ts_ns,
            recent: seg.tsecr,
            empty,
        });
    }

    /// The hole at `start` was filled by a retransmission: if an ACK without cause came while it
    /// was open, that was its original. Of several, the one that makes it as late as the others
    /// of this flow are.
    pub(super) fn adopt_bare(&mut self, start: i64, filled_ns: i64) {
        let oldest = filled_ns - BARE_PATIENCE_NS;
        self.filled.bares.retain(|b| b.at_ns >= oldest);
        let Some(f) = self.filled.get_mut(start).copied() else {
            return;
        };
        let due = f.place.sent_ns + self.min_rtt.unwrap_or(0);
        let usual = self.lateness.middle();
        let fits = self.filled.bares.iter().enumerate().filter(|(_, b)| {
            b.at_ns <= filled_ns && b.at_ns >= due && discarded(f.tsval, b.recent)
        });
        let best = match usual {
            Some((late, spread)) => fits
                .map(|(i, b)| ((b.at_ns - due - late).abs(), i))
                .min()
                .filter(|&(off, _)| off <= 2 * spread + MIN_TOLERANCE_NS)
                .map(|(_, i)| i),
            // Too young to know how late is usual. A receiver that counts its packets leaves no
            // doubt that this was one more ACK and not a copy of the one before.
            None if self.queue.by_id() => fits.filter(|(_, b)| b.empty).map(|(i, _)| i).next(),
            None => None,
        };
        let Some(bare) = best.and_then(|i| self.filled.bares.remove(i)) else {
            return;
        };
        let basis = Basis::certain(Evidence::Paws).weaker(Reason::WhichCopy);
        self.log.adopt(bare.id, f.place, basis);
        self.original_came(start, By::Copy);
    }
}
