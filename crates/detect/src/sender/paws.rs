//! Originals that PAWS discarded (RFC 7323 section 5.3).
//!
//! Once a retransmission has brought TS.Recent forward, the late original of another hole is
//! discarded on arrival. It is answered at once all the same, by an ACK that reports nothing of
//! it: one that repeats the ACK before, or, when SACKs are held back (compression), one that
//! flushes them before their time. The hole stays and its retransmission fills it, as if the
//! original were lost. Such an ACK comes as much after the hole's turn as late originals of this
//! flow usually come, and that tells whose it was.

use super::acks::Ack;
use super::filled::{Bare, By, Filled, Trigger};
use super::log::{Entry, Status};
use super::vote::{Hole, Unexplained, common_lateness};
use super::{PATH_JITTER_NS, Sender};
use crate::collect::{Basis, Place};
use crate::result::{Evidence, Reason};

/// TSvals one tick apart pass PAWS in Linux (`TCP_PAWS_WINDOW`).
const PAWS_WINDOW: i32 = 1;
/// How long an ACK without cause waits for the hole it belongs to, at least, and in round trips:
/// the retransmission has to be caused, sent and acknowledged.
const BARE_PATIENCE_NS: i64 = 200_000_000;
const BARE_PATIENCE_RTTS: i64 = 3;
/// An ACK that must have had some unseen cause may be this much off the usual lateness.
const LOOSE_NS: i64 = 1_200_000;
/// So many arrivals are reported at the latest, timer or not (`tcp_comp_sack_nr`, 44; some of them
/// may have been discarded or known).
const COMPRESSED: usize = 36;
/// With so many SACK blocks a segment that opens another makes Linux send what it holds back
/// first, without that segment (`TCP_SACK_BLOCKS_EXPECTED`); with more, one that extends the third.
const BLOCKS_EXPECTED: usize = 2;
/// Holes looked at for one ACK without cause.
const MAX_CANDIDATES: usize = 512;

/// An original with `tsval` would be discarded by a receiver whose TS.Recent is `recent`.
pub(super) fn discarded(tsval: u32, recent: u32) -> bool {
    (recent.wrapping_sub(tsval) as i32) > PAWS_WINDOW
}

/// How far `at_ns` is from `late` after `due`.
pub(super) fn apart(at_ns: i64, due: i64, late: i64) -> i64 {
    at_ns
        .saturating_sub(due)
        .saturating_sub(late)
        .saturating_abs()
}

impl Sender {
    /// An ACK that does not advance and reports no duplicate: perhaps an original that PAWS
    /// discarded caused it, if there is one that it can be.
    pub(super) fn bare(&mut self, ack: &Ack, reported: usize) {
        let seg = &ack.seg;
        let Some(last) = self.last else { return };
        if ack.stale || seg.payload_len > 0 || !self.stamped(seg) {
            return;
        }
        let trigger = match reported {
            0 if last.ack != seg.ack => None,
            0 if last.window == seg.window => Some(Trigger::Nothing),
            0 => Some(Trigger::Little),
            _ if ack.missing > 0 => None,
            _ => self.trigger(seg.ts_ns, reported),
        };
        let Some(trigger) = trigger else { return };
        let blocks = seg.sack_blocks().len();
        let early = reported > 0 && trigger == Trigger::Little;
        if self.open_candidate(seg.tsecr) {
            self.log_bare(ack, trigger);
        } else if trigger == Trigger::Nothing
            && let Some(start) = self.filled_candidate(seg.tsecr)
        {
            self.late_original(start, ack, Evidence::Paws);
        } else {
            self.new_block_came = early && blocks == BLOCKS_EXPECTED;
            if reported == 0 {
                self.came_again(ack, trigger);
            }
        }
    }

    /// Was it the timer of SACK compression (or their number) that sent an ACK at `now`, or
    /// something before it?
    /// `None` for a segment alone that may just have been acknowledged at once.
    fn trigger(&self, now: i64, reported: usize) -> Option<Trigger> {
        let timer = self.compression.quartiles()?.1;
        let waited = self.held_back(now);
        if reported == 1 && !self.compressing && waited <= self.jitter() {
            return None;
        }
        let early = waited < timer - timer / 8 && reported < COMPRESSED;
        Some(if early {
            Trigger::Little
        } else {
            Trigger::Timer
        })
    }

    /// How long the first of what the ACK at `now` reports has waited for it: since the ACK
    /// before at most.
    pub(super) fn held_back(&self, now: i64) -> i64 {
        let before = self.last.map_or(now, |l| l.ts_ns);
        let first = self.reports.iter().map(|r| self.arrival_of(&r.sent)).min();
        first.map_or(0, |first| {
            now.saturating_sub(first.clamp(before.min(now), now))
        })
    }

    /// Is an original outstanding in a hole that the receiver would discard?
    fn open_candidate(&self, recent: u32) -> bool {
        self.open_holes().any(|s| discarded(s.tsval, recent))
    }

    fn open_holes(&self) -> impl Iterator<Item = &super::Sent> {
        let top = self.ranges.top().unwrap_or(self.una);
        let below = self.board.iter().take_while(move |s| s.start < top);
        below.take(MAX_CANDIDATES).filter(|s| !s.reported)
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

    fn log_bare(&mut self, ack: &Ack, trigger: Trigger) {
        let seg = &ack.seg;
        let place = Place {
            at_ns: seg.ts_ns,
            proof_frame: seg.frame,
            ..Place::default()
        };
        let deadline = seg.ts_ns.saturating_add(self.bare_patience());
        let status = Status::Bare { deadline };
        let unsure = (ack.missing > 0).then_some(Reason::AcksMissing);
        let entry = Entry {
            place,
            status,
            unsure,
        };
        let id = self.log.push(entry, &mut self.collector);
        self.filled.bares.push_back(Bare {
            id,
            at_ns: seg.ts_ns,
            deadline_ns: deadline,
            recent: seg.tsecr,
            trigger,
        });
    }

    pub(super) fn bare_patience(&self) -> i64 {
        let rtt = self.rtt.or(self.min_rtt).unwrap_or(0);
        BARE_PATIENCE_NS.max(rtt.saturating_mul(BARE_PATIENCE_RTTS))
    }

    /// The hole at `start` was filled by a retransmission: if an ACK without cause came while it
    /// was open, that was its original. Of several, the one that makes it as late as the others
    /// of this flow are.
    pub(super) fn adopt_bare(&mut self, start: i64, filled_ns: i64) {
        let Some(f) = self.filled.get_mut(start).copied() else {
            return;
        };
        let due = self.due(f.due_ns, f.place.sent_ns);
        let fits =
            |b: &Bare| b.at_ns <= filled_ns && b.at_ns >= due && discarded(f.tsval, b.recent);
        let bares = self
            .filled
            .bares
            .iter()
            .enumerate()
            .filter(|(_, b)| fits(b));
        // Too young to know how late is usual: that is found out when the first ACK must go.
        let Some((late, spread)) = self.usual_lateness() else {
            return;
        };
        let best = bares
            .map(|(i, b)| (apart(b.at_ns, due, late), i, b))
            .filter(|(off, _, b)| *off <= self.tolerance(b.trigger, spread))
            .filter(|(off, _, b)| !self.nearer(b, *off, late, start))
            .min_by_key(|&(off, i, b)| (b.trigger == Trigger::Timer, off, i))
            .map(|(_, i, _)| i);
        let Some(bare) = best.and_then(|i| self.filled.bares.remove(i)) else {
            return;
        };
        self.adopt(&f, &bare);
    }

    fn adopt(&mut self, f: &Filled, bare: &Bare) {
        let basis = match bare.trigger {
            Trigger::Timer if !self.mostly_late(2) => {
                Basis::ambiguous(Evidence::Paws, Reason::AckCompression)
            }
            _ => Basis::certain(Evidence::Paws).weaker(Reason::WhichCopy),
        };
        self.log.adopt(bare.id, f.place, basis);
        self.original_came(f.place.start, By::Copy);
    }

    /// Looks again at the holes filled so far: when lateness has become known, or when the first
    /// ACK without cause must go undecided at `now`.
    pub(super) fn reconsider_bares(&mut self, now: i64) {
        let Some(oldest) = self.filled.bares.front().copied() else {
            return;
        };
        let learnt = std::mem::take(&mut self.lateness_learnt);
        let late = oldest.deadline_ns <= now;
        if !learnt && !late {
            return;
        }
        let known = self.usual_lateness().is_some();
        if !known && !self.agree_on_lateness() {
            self.adopt_alone();
        } else if learnt || !known {
            for f in self.unadopted() {
                self.adopt_bare(f.place.start, f.reported_ns);
            }
        }
        self.filled.bares.retain(|b| b.deadline_ns > now);
    }

    /// Segments filled by a retransmission since the first ACK without cause that waits.
    fn unadopted(&self) -> Vec<Filled> {
        let since = self.filled.bares.front().map_or(i64::MAX, |b| b.at_ns);
        let open = |f: &&Filled| f.first == By::Copy && !f.original_in && f.reported_ns >= since;
        self.filled.from(i64::MIN).filter(open).copied().collect()
    }

    fn agree_on_lateness(&mut self) -> bool {
        let holes: Vec<Hole> = self
            .unadopted()
            .iter()
            .map(|f| Hole {
                due_ns: self.due(f.due_ns, f.place.sent_ns),
                filled_ns: f.reported_ns,
                tsval: f.tsval,
            })
            .collect();
        let acks: Vec<Unexplained> = self
            .filled
            .bares
            .iter()
            .filter(|b| b.trigger != Trigger::Timer)
            .map(|b| Unexplained {
                at_ns: b.at_ns,
                recent: b.recent,
            })
            .collect();
        let possible = |h: &Hole, a: &Unexplained| {
            (h.due_ns..=h.filled_ns).contains(&a.at_ns) && discarded(h.tsval, a.recent)
        };
        let Some(late) = common_lateness(&holes, &acks, possible, self.jitter()) else {
            return false;
        };
        self.lateness.push(late);
        self.lateness.push(late);
        true
    }

    /// Where no lateness is known, an ACK without cause and a hole find each other only if there
    /// is one of each. A receiver that counts its packets leaves no doubt that it was one more
    /// ACK and not a copy of the one before.
    fn adopt_alone(&mut self) {
        let mut empty = self
            .filled
            .bares
            .iter()
            .filter(|b| b.trigger == Trigger::Nothing);
        let (Some(bare), None, true) = (empty.next().copied(), empty.next(), self.queue.by_id())
        else {
            return;
        };
        let fits = |f: &Filled| {
            let due = self.due(f.due_ns, f.place.sent_ns);
            (due..=f.reported_ns).contains(&bare.at_ns) && discarded(f.tsval, bare.recent)
        };
        let mut holes = self.unadopted();
        holes.retain(fits);
        if let [f] = holes[..] {
            self.adopt(&f, &bare);
            self.filled.bares.retain(|b| b.id != bare.id);
        }
    }

    /// How far off the usual lateness an ACK may come and still be a hole's; negative for never.
    /// One that nothing visible triggered something unseen did. The timer sends about one in
    /// eight at the very moment by chance, and PAWS makes one in eight look like the timer's: what
    /// is more frequent in the flow, late or lost, must decide.
    pub(super) fn tolerance(&self, trigger: Trigger, spread: i64) -> i64 {
        let timer = self.compression.quartiles().map_or(0, |q| q.1);
        let sharp = spread.saturating_mul(2).saturating_add(PATH_JITTER_NS);
        if self.mostly_lost() {
            return -1;
        }
        match trigger {
            Trigger::Nothing => sharp.saturating_add(self.jitter().saturating_add(LOOSE_NS)),
            Trigger::Little => sharp.saturating_add(self.jitter() - PATH_JITTER_NS),
            Trigger::Timer if self.mostly_late(1) && sharp < timer / 16 => sharp,
            Trigger::Timer => -1,
        }
    }

    /// Have `times` as many originals come late so far as only retransmissions have come?
    fn mostly_late(&self, times: u64) -> bool {
        self.collector.reordered() >= times * self.only_copies
    }

    /// Where so much more is lost than late, what looks like a discarded original is more likely
    /// chance. A young flow may have its late ones still to come.
    fn mostly_lost(&self) -> bool {
        self.only_copies > 32 + 4 * self.collector.reordered()
    }

    /// Is there another hole that the ACK suits better?
    fn nearer(&self, bare: &Bare, off: i64, late: i64, start: i64) -> bool {
        let mut others = self.open_holes().filter(|s| s.start != start);
        others.any(|s| {
            let due = self.due(s.due_ns, s.sent_ns);
            discarded(s.tsval, bare.recent) && apart(bare.at_ns, due, late) < off
        })
    }
}
