//! Whose late original an ACK without cause was for.
//!
//! Every such ACK ([`super::paws`]) answers one discarded original, and every hole that a
//! retransmission filled had one original at most: what is sought is a matching. One-way delays
//! of late packets cluster, so the pair nearest to what is usual goes first, and a hole leaves
//! to another the ACK that suits that other better, whether it is filled yet or not.

use super::filled::{Bare, By, Filled, Trigger};
use super::paws::discarded;
use super::vote::{ALWAYS, Hole, RARELY, Unexplained, common_lateness};
use super::{Sender, Sent};
use crate::collect::Basis;
use crate::result::{Confidence, Evidence, Reason};

/// Filled segments looked at for one ACK without cause.
const MAX_FILLED: usize = 512;

/// What might have answered: a segment that was missing.
#[derive(Clone, Copy, Debug)]
struct Missing {
    start: i64,
    due_ns: i64,
    filled_ns: i64,
    tsval: u32,
}

impl Missing {
    /// Could the ACK answer the original, which the receiver discarded?
    fn possible(&self, bare: &Bare) -> bool {
        if bare.trigger == Trigger::Lost {
            // It may have come after the retransmission, too, and was a duplicate then.
            return bare.at_ns >= self.due_ns;
        }
        // Below the left edge it would have been reported as a duplicate.
        let unreported = bare.at_ns <= self.filled_ns || self.start >= bare.una;
        bare.at_ns >= self.due_ns && unreported && discarded(self.tsval, bare.recent)
    }
}

impl Sender {
    fn missing(&self, f: &Filled) -> Missing {
        Missing {
            start: f.place.start,
            due_ns: self.due(f.due_ns, f.place.sent_ns),
            filled_ns: f.reported_ns,
            tsval: f.tsval,
        }
    }

    fn still_missing(&self, s: &Sent) -> Missing {
        Missing {
            start: s.start,
            due_ns: self.due(s.due_ns, s.sent_ns),
            filled_ns: i64::MAX,
            tsval: s.tsval,
        }
    }

    /// How unusual the lateness is that makes `bare` the answer to `hole`; `None` if it cannot be.
    fn unlikeness(&self, hole: &Missing, bare: &Bare) -> Option<i64> {
        if !hole.possible(bare) {
            return None;
        }
        let off = self.off(hole, bare)?;
        let (_, spread) = self.usual_lateness()?;
        (off <= self.tolerance(bare.trigger, spread)).then_some(off)
    }

    /// How far the lateness of `hole` is from what is usual if `bare` answers it.
    fn off(&self, hole: &Missing, bare: &Bare) -> Option<i64> {
        let late = |at: i64| at.saturating_sub(hole.due_ns);
        self.off_usual(late(bare.since_ns), late(bare.at_ns))
    }

    /// The hole at `start` was filled by a retransmission at `filled_ns`: if an ACK without cause
    /// came while it was open, that was its original. Of several, the one that makes it as late as
    /// the others of this flow are.
    pub(super) fn adopt_bare(&mut self, start: i64, filled_ns: i64) {
        let Some(f) = self.filled.get_mut(start).copied() else {
            return;
        };
        // Too young to know how late is usual: that is found out when the first ACK must go.
        if self.usual_lateness().is_none() {
            return;
        }
        let hole = Missing {
            filled_ns,
            ..self.missing(&f)
        };
        let suits = |b: &Bare| {
            let off = self.unlikeness(&hole, b)?;
            let waits = b.trigger == Trigger::Lost || self.nearer(b, off, start);
            (!waits).then_some((b.trigger, off, b.id))
        };
        if let Some((.., id)) = self.filled.bares.iter().filter_map(suits).min() {
            self.adopt(&f, id);
        }
    }

    fn adopt(&mut self, f: &Filled, id: u64) {
        let Some(i) = self.filled.bares.iter().position(|b| b.id == id) else {
            return;
        };
        let Some(bare) = self.filled.bares.remove(i) else {
            return;
        };
        let basis = match bare.trigger {
            Trigger::Timer if !self.mostly_late(2) => {
                Basis::ambiguous(Evidence::Paws, Reason::AckCompression)
            }
            _ if !self.dsack_seen && self.suits_another(f, &bare) => {
                Basis::ambiguous(Evidence::Paws, Reason::WhichCopy)
            }
            _ => Basis::certain(Evidence::Paws).weaker(Reason::WhichCopy),
        };
        let clear = basis.confidence != Confidence::Ambiguous;
        if !self.dsack_seen && clear && bare.trigger == Trigger::Nothing {
            // Nothing else tells here how late the late ones are.
            self.note_duplicate(f, bare.at_ns);
        }
        self.log.adopt(bare.id, f.place, basis);
        self.original_came(f.place.start, By::Copy);
    }

    /// Is there an open hole whose original would be as late as usual if it came `now`? Perhaps,
    /// while that is not known.
    pub(super) fn suits_a_hole(&self, now: i64) -> bool {
        let Some((_, spread)) = self.usual_lateness() else {
            return true;
        };
        let usual = spread.saturating_mul(2).saturating_add(self.jitter());
        let mut open = self.open_holes().map(|s| self.still_missing(s));
        open.any(|m| {
            let late = now.saturating_sub(m.due_ns);
            self.off_usual(late, late).is_some_and(|off| off <= usual)
        })
    }

    /// Is there another hole, still open or filled and found lost, that the ACK suits better?
    fn nearer(&self, bare: &Bare, off: i64, start: i64) -> bool {
        let better = |m: Missing| {
            m.start != start
                && m.possible(bare)
                && self.off(&m, bare).is_some_and(|other| other < off)
        };
        let mut open = self.open_holes().map(|s| self.still_missing(s));
        let mut filled = self.unadopted(bare.una).map(|f| self.missing(f));
        open.any(better) || filled.any(better)
    }

    /// Would another hole than `f`, for which there is no ACK but `bare`, suit it as well, within
    /// what one place more or less makes? Then one original came, and which is a guess: neighbours
    /// may have left at once, and where no duplicates are reported, how late is usual rests on
    /// such matches itself, so that all may be one place off.
    fn suits_another(&self, f: &Filled, bare: &Bare) -> bool {
        let blur = self.jitter();
        let Some(off) = self.off(&self.missing(f), bare) else {
            return false;
        };
        let as_well = |m: &Missing| {
            let other = self.off(m, bare).filter(|_| m.possible(bare));
            m.start != f.place.start && other.is_some_and(|o| o <= off.saturating_add(blur))
        };
        let has_none = |m: Missing| {
            let fits = |b: &Bare| m.possible(b) && self.off(&m, b).is_some_and(|o| o <= blur);
            !self.filled.bares.iter().any(fits)
        };
        let open = self.open_holes().map(|s| self.still_missing(s));
        let filled = self.unadopted(bare.una).map(|f| self.missing(f));
        open.chain(filled).filter(as_well).any(has_none)
    }

    /// Segments from `una` on, highest first, of which only retransmissions are known to have come.
    fn unadopted(&self, una: i64) -> impl Iterator<Item = &Filled> {
        let lost = |f: &&Filled| f.first == By::Copy && !f.original_in;
        let latest = self.filled.latest().take(MAX_FILLED);
        latest
            .take_while(move |f| f.place.start >= una)
            .filter(lost)
    }

    /// The left edge when the first ACK without cause came that waits still.
    fn first_una(&self) -> i64 {
        self.filled.bares.front().map_or(i64::MAX, |b| b.una)
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
            self.adopt_nearest_first(i64::MAX);
        } else {
            self.adopt_nearest_first(now);
        }
        self.agreed = 0;
        self.filled.bares.retain(|b| b.deadline_ns > now);
    }

    /// Lets the ACKs without cause whose time is up by `until_ns` find their holes among those
    /// filled by now. Those that only something unseen can have caused go first, and may teach
    /// more sharply how late is usual before the others are judged by it.
    fn adopt_nearest_first(&mut self, until_ns: i64) {
        for trigger in [
            Trigger::Nothing,
            Trigger::Little,
            Trigger::Reader,
            Trigger::Timer,
            Trigger::Lost,
        ] {
            self.adopt_triggered(trigger, until_ns);
        }
    }

    fn adopt_triggered(&mut self, trigger: Trigger, until_ns: i64) {
        let mut pairs = Vec::new();
        let due = self.filled.bares.iter();
        let due = due.take_while(|b| b.deadline_ns <= until_ns);
        for bare in due.filter(|b| b.trigger == trigger) {
            for f in self.unadopted(bare.una) {
                if let Some(off) = self.unlikeness(&self.missing(f), bare) {
                    pairs.push((off, f.place.start, bare.id));
                }
            }
        }
        pairs.sort_unstable();
        for (off, start, id) in pairs {
            let bare = self.filled.bares.iter().find(|b| b.id == id).copied();
            let f = self.filled.get_mut(start).copied();
            if let (Some(bare), Some(f)) = (bare, f)
                && !f.original_in
                && !self.nearer(&bare, off, start)
            {
                self.adopt(&f, id);
            }
        }
    }

    fn agree_on_lateness(&mut self) -> bool {
        // A receiver that reports no duplicates answers them the same after the hole was filled.
        let more = if self.dsack_seen {
            0
        } else {
            self.bare_patience()
        };
        let hole = |m: Missing| Hole {
            due_ns: m.due_ns,
            until_ns: m.filled_ns.saturating_add(more),
            tsval: m.tsval,
        };
        let filled = self.unadopted(self.first_una());
        let holes: Vec<Hole> = filled.map(|f| hole(self.missing(f))).collect();
        let possible = |h: &Hole, a: &Unexplained| {
            (h.due_ns..=h.until_ns).contains(&a.at_ns) && discarded(h.tsval, a.recent)
        };
        let agree = |weakest: Trigger, most_chance: f64| {
            let bares = self.filled.bares.iter().filter(|b| b.trigger <= weakest);
            let unexplained = |b: &Bare| Unexplained {
                at_ns: b.at_ns,
                recent: b.recent,
            };
            let acks: Vec<Unexplained> = bares.map(unexplained).collect();
            common_lateness(&holes, &acks, possible, self.jitter(), most_chance)
        };
        let late = agree(Trigger::Nothing, ALWAYS).or_else(|| agree(Trigger::Little, RARELY));
        let Some(agreed) = late else {
            return false;
        };
        self.lateness.push(agreed.late_ns);
        self.lateness.push(agreed.late_ns);
        // They are about to be found, and weigh against those that were lost.
        self.agreed = u64::from(agreed.holes);
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
        let mut holes = self.unadopted(bare.una);
        let fits = |f: &&Filled| self.missing(f).possible(&bare);
        let one = holes.find(fits).copied();
        if let (Some(f), None) = (one, holes.find(fits)) {
            drop(holes);
            self.adopt(&f, bare.id);
        }
    }
}
