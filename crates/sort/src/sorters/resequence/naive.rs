//! The dumb twin: one vector of flows, one of held packets each, every question answered by
//! looking at all of them. It shares with the sorter what was learnt, not where things are kept.

use alloc::vec::Vec;

use super::held::before;
use super::learnt::{Learnt, Limits, Outcome};
use super::lessons::shorter;
use super::released::{Ended, FlowId, Latecomer, Released};
use super::{BEHIND, Gaps, OWN_OUTCOMES, Why};
use crate::meta::{Kind, Meta};

struct Waiting {
    seq: u32,
    end: u32,
    came_ns: i64,
    has_gap: bool,
    packet: usize,
}

struct Flow {
    key: u32,
    first: u32,
    next: u32,
    /// Its first gap came after fewer than ten packets of the length of the one above it.
    early: Option<bool>,
    /// By number, equal ones as they came.
    held: Vec<Waiting>,
    due_ns: i64,
    behind: u32,
    opened_ns: Option<i64>,
    has_left_gaps: bool,
    learnt: Learnt,
}

/// When the gap below these opened.
fn open_ns(held: &[Waiting]) -> Option<i64> {
    held.iter().map(|h| h.came_ns).min()
}

/// A resequencer for data, ACKs, SYNs and FINs of a few flows that share one path.
pub(super) struct Naive {
    limits: Limits,
    window: usize,
    flows: Vec<Flow>,
    path: Learnt,
    released: Released,
    pub(super) gaps: Gaps,
    pub(super) up: Vec<usize>,
}

impl Naive {
    pub(super) fn new(limits: Limits, window: usize) -> Self {
        Naive {
            limits,
            window,
            flows: Vec::new(),
            path: Learnt::new(),
            released: Released::new().unwrap(),
            gaps: Gaps::default(),
            up: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, meta: &Meta<u32>, packet: usize, now_ns: i64) {
        let end = meta.seq.wrapping_add(meta.len);
        let found = self.flows.iter().position(|flow| flow.key == meta.flow);
        let begins = matches!(meta.kind, Kind::Data | Kind::Open);
        let at = match found {
            Some(at) => at,
            None if begins => {
                self.flows.push(Flow {
                    key: meta.flow,
                    first: end.wrapping_add(u32::from(meta.kind == Kind::Open)),
                    next: end,
                    early: None,
                    held: Vec::new(),
                    due_ns: 0,
                    behind: 0,
                    opened_ns: None,
                    has_left_gaps: false,
                    learnt: Learnt::new(),
                });
                self.flows.len() - 1
            }
            None => return self.up.push(packet),
        };
        match meta.kind {
            Kind::Data if found.is_none() => self.up.push(packet),
            Kind::Data => {
                self.answered(at, now_ns);
                self.data(at, (meta.seq, end), packet, now_ns);
            }
            Kind::Ack => {
                self.answered(at, now_ns);
                self.up.push(packet);
            }
            Kind::Open => {
                self.empty(at, now_ns);
                self.flows[at].next = end.wrapping_add(1);
                self.flows[at].behind = 0;
                let again = self.flows[at].opened_ns.is_some();
                self.flows[at].opened_ns = if again { None } else { Some(now_ns) };
                self.up.push(packet);
            }
            _ => {
                self.empty(at, now_ns);
                if meta.len > 0 && before(self.flows[at].next, end) {
                    self.flows[at].next = end;
                }
                self.up.push(packet);
            }
        }
    }

    fn answered(&mut self, at: usize, now_ns: i64) {
        if let Some(opened_ns) = self.flows[at].opened_ns.take() {
            self.flows[at].learnt.round_trip(now_ns - opened_ns);
            self.path.round_trip(now_ns - opened_ns);
        }
    }

    fn data(&mut self, at: usize, (seq, end): (u32, u32), packet: usize, now_ns: i64) {
        loop {
            let next = self.flows[at].next;
            if !before(next, seq) {
                self.at_or_below_next(at, (seq, end), packet, now_ns);
                break;
            }
            let (first, len) = (self.flows[at].first, end.wrapping_sub(seq));
            if self.flows[at].held.is_empty() && self.flows[at].early.is_none() {
                self.flows[at].early = Some(next.wrapping_sub(first) < 10 * len);
            }
            if self.flows[at].held.is_empty() && self.bound_ns(at) == 0 {
                self.gaps.opened += 1;
                self.gaps.passed += 1;
                self.leave_gap(at, seq, now_ns, now_ns);
                self.flows[at].next = end;
                self.flows[at].behind = 0;
                self.up.push(packet);
                break;
            }
            let held: usize = self.flows.iter().map(|flow| flow.held.len()).sum();
            let victim = if self.flows[at].held.len() >= self.window.div_ceil(2) {
                at
            } else if held >= self.window {
                self.first_due().unwrap().1
            } else {
                self.hold(at, (seq, end), packet, now_ns);
                break;
            };
            self.give_up(victim, Why::Overflowed, now_ns);
        }
        self.on_deadline(now_ns);
    }

    fn hold(&mut self, at: usize, (seq, end): (u32, u32), packet: usize, now_ns: i64) {
        let next = self.flows[at].next;
        self.flows[at].behind = 0;
        let held = &mut self.flows[at].held;
        let place = held.iter().take_while(|h| !before(seq, h.seq)).count();
        let floor = place.checked_sub(1).map_or(next, |below| held[below].end);
        let open_ns = open_ns(&held[place..]);
        let has_gap = before(floor, seq);
        let closes = held
            .get(place)
            .is_some_and(|h| h.has_gap && !before(end, h.seq));
        if closes {
            held[place].has_gap = false;
        }
        held.insert(
            place,
            Waiting {
                seq,
                end,
                came_ns: now_ns,
                has_gap,
                packet,
            },
        );
        match (has_gap, closes) {
            (true, false) => self.gaps.opened += 1,
            (false, true) => self.filled(at, open_ns.unwrap(), now_ns),
            _ => {}
        }
        if place == 0 {
            self.due(at);
        }
    }

    fn at_or_below_next(&mut self, at: usize, (seq, end): (u32, u32), packet: usize, now_ns: i64) {
        let next = self.flows[at].next;
        self.flows[at].behind = if before(next, end) {
            0
        } else {
            self.flows[at].behind + 1
        };
        let began_anew = self.flows[at].behind >= BEHIND && self.flows[at].held.is_empty();
        if before(seq, next)
            && self.flows[at].has_left_gaps
            && self.latecomer(at, (seq, end), now_ns)
        {
            while !self.flows[at].held.is_empty() {
                self.give_up(at, Why::Resent, now_ns);
            }
        }
        if began_anew || before(self.flows[at].next, end) {
            self.flows[at].next = end;
            self.flows[at].behind = 0;
        }
        self.up.push(packet);
        self.release(at, now_ns);
    }

    fn release(&mut self, at: usize, now_ns: i64) {
        let mut any = false;
        while let Some(first) = self.flows[at].held.first()
            && !before(self.flows[at].next, first.seq)
        {
            let first_open_ns = open_ns(&self.flows[at].held).unwrap();
            let flow = &mut self.flows[at];
            let first = flow.held.remove(0);
            if before(flow.next, first.end) {
                flow.next = first.end;
            }
            self.up.push(first.packet);
            if first.has_gap {
                self.filled(at, first_open_ns, now_ns);
            }
            any = true;
        }
        if any {
            self.due(at);
        }
    }

    fn filled(&mut self, at: usize, open_ns: i64, now_ns: i64) {
        self.gaps.filled += 1;
        self.outcome(at, Outcome::InTime(now_ns - open_ns), now_ns);
    }

    fn due(&mut self, at: usize) {
        if let Some(open_ns) = open_ns(&self.flows[at].held) {
            self.flows[at].due_ns = open_ns + self.bound_ns(at);
        }
    }

    fn give_up(&mut self, at: usize, why: Why, now_ns: i64) {
        let open_ns = open_ns(&self.flows[at].held);
        let flow = &mut self.flows[at];
        let (Some(first), Some(open_ns)) = (flow.held.first_mut(), open_ns) else {
            return;
        };
        let seq = first.seq;
        if core::mem::take(&mut first.has_gap) {
            match why {
                Why::Overflowed => self.gaps.overflowed += 1,
                Why::TimedOut => self.gaps.timed_out += 1,
                Why::Flushed | Why::Resent => self.gaps.flushed += 1,
            }
        }
        if before(flow.next, seq) {
            if why == Why::TimedOut {
                self.path.waited_in_vain();
            }
            if why != Why::Flushed {
                self.leave_gap(at, seq, open_ns, now_ns);
            }
            self.flows[at].next = seq;
        }
        self.release(at, now_ns);
    }

    fn empty(&mut self, at: usize, now_ns: i64) {
        while !self.flows[at].held.is_empty() {
            self.give_up(at, Why::Flushed, now_ns);
        }
    }

    fn first_due(&self) -> Option<(i64, usize)> {
        let flows = self.flows.iter().enumerate();
        flows
            .filter(|(_, flow)| !flow.held.is_empty())
            .map(|(at, flow)| (flow.due_ns, at))
            .min()
    }

    pub(super) fn next_deadline_ns(&self) -> Option<i64> {
        self.first_due().map(|(due_ns, _)| due_ns)
    }

    pub(super) fn on_deadline(&mut self, now_ns: i64) {
        while let Some((due_ns, at)) = self.first_due()
            && due_ns <= now_ns
        {
            self.give_up(at, Why::TimedOut, now_ns);
        }
    }

    fn id(&self, at: usize) -> FlowId {
        FlowId {
            place: at as u32,
            generation: 1,
        }
    }

    fn leave_gap(&mut self, at: usize, seq: u32, open_ns: i64, now_ns: i64) {
        self.learn(now_ns);
        let rtt_ns = shorter(self.flows[at].learnt.rtt_ns(), self.path.rtt_ns());
        let original_ns = self.limits.original_ns(rtt_ns);
        let missing = (self.flows[at].next, seq);
        self.flows[at].has_left_gaps = true;
        self.released
            .push(self.id(at), missing, (open_ns, now_ns), original_ns);
    }

    fn latecomer(&mut self, at: usize, numbers: (u32, u32), now_ns: i64) -> bool {
        let latecomer = self.released.latecomer(self.id(at), numbers, now_ns);
        match latecomer {
            Latecomer::Original { late_ns } => self.outcome(at, Outcome::TooLate(late_ns), now_ns),
            Latecomer::Repair { is_known: false } => self.outcome(at, Outcome::Never, now_ns),
            Latecomer::Spurious { seen_late_ns } => {
                let learnt = &mut self.flows[at].learnt;
                learnt.reaction(true, seen_late_ns, now_ns);
                self.path.reaction(true, seen_late_ns, now_ns);
            }
            Latecomer::Repair { is_known: true } | Latecomer::Unknown => {}
        }
        self.learn(now_ns);
        matches!(latecomer, Latecomer::Repair { .. })
    }

    fn learn(&mut self, now_ns: i64) {
        while let Some((id, ended)) = self.released.pop_ended(now_ns) {
            let at = id.place as usize;
            match ended {
                Ended::Lost => self.outcome(at, Outcome::Never, now_ns),
                Ended::Spared => {
                    self.flows[at].learnt.reaction(false, 0, now_ns);
                    self.path.reaction(false, 0, now_ns);
                }
            }
        }
    }

    fn outcome(&mut self, at: usize, outcome: Outcome, now_ns: i64) {
        self.flows[at].learnt.outcome(outcome, now_ns);
        self.path.outcome(outcome, now_ns);
    }

    fn bound_ns(&mut self, at: usize) -> i64 {
        let early = self.flows[at].early.unwrap_or(true);
        let learnt = &mut self.flows[at].learnt;
        let rtt_ns = shorter(learnt.rtt_ns(), self.path.rtt_ns());
        let learnt_ns = if learnt.outcomes() >= OWN_OUTCOMES {
            learnt.bound_ns(rtt_ns, &self.limits)
        } else {
            self.path.bound_ns(rtt_ns, &self.limits)
        };
        if self.path.is_new() {
            learnt_ns.max(self.limits.at_start_ns(rtt_ns, early))
        } else {
            learnt_ns
        }
    }
}

mod tests {
    use super::super::{BLIND, BOUND, ENTRY, Resequencer, START, TUNNEL, WINDOW};
    use super::*;
    use crate::sorter::Sorter;
    use crate::sorters::{SorterConfig, Surroundings};
    use proptest::prelude::*;

    /// What happens next: which flow, how much later, how far from where it is, how long, what kind.
    type Step = (u32, u8, i32, u32, u8);

    fn story() -> impl Strategy<Value = Vec<Step>> {
        let step = (0..3u32, 0..20u8, -4..6i32, 1..3u32, 0..40u8);
        proptest::collection::vec(step, 0..400)
    }

    fn kind_of(number: u8) -> Kind {
        match number {
            0 => Kind::Open,
            1 => Kind::Close,
            2 => Kind::Ack,
            3 => Kind::Other,
            _ => Kind::Data,
        }
    }

    proptest! {
        #[test]
        fn both_say_the_same(
            steps in story(),
            window in 1..12usize,
            most_us in 0..400i64,
            start_us in 0..100i64,
            tunnel: bool,
            origin: u32,
        ) {
            let us = |us: i64| us as u64 * 1000;
            let limits = Limits {
                most_ns: most_us * 1000,
                start_ns: start_us * 1000,
                blind_ns: 100_000,
                tunnel,
            };
            let config = SorterConfig::of(&ENTRY)
                .with(&BOUND, us(most_us))
                .with(&START, us(start_us))
                .with(&BLIND, us(100))
                .with(&WINDOW, window as u64)
                .with(&TUNNEL, u64::from(tunnel));
            let mut sorter = Resequencer::build(&config, &Surroundings::ring(16)).unwrap();
            let mut naive = Naive::new(limits, window);
            let (mut up, mut now_ns) = (Vec::new(), 0);
            let mut at = [origin; 3];
            for (packet, &(flow, wait, jump, len, kind)) in steps.iter().enumerate() {
                // No two at one time: of flows due together either may go first.
                now_ns += i64::from(wait) * i64::from(wait) * 1000 + 1;
                let seq = at[flow as usize].wrapping_add(jump as u32);
                let kind = kind_of(kind);
                let len = if kind == Kind::Data { len } else { 0 };
                if jump >= 0 {
                    at[flow as usize] = seq.wrapping_add(len);
                }
                while let Some(due_ns) = naive.next_deadline_ns().filter(|&due_ns| due_ns <= now_ns) {
                    prop_assert_eq!(sorter.next_deadline_ns(), Some(due_ns));
                    sorter.on_deadline(due_ns, &mut |p| up.push(p));
                    naive.on_deadline(due_ns);
                }
                let meta = Meta { flow, seq, len, kind };
                sorter.push(&meta, packet, now_ns, &mut |p| up.push(p));
                naive.push(&meta, packet, now_ns);
                prop_assert_eq!(&up, &naive.up);
                prop_assert_eq!(sorter.next_deadline_ns(), naive.next_deadline_ns());
                prop_assert_eq!(sorter.gaps(), naive.gaps);
            }
            sorter.flush(now_ns, &mut |p| up.push(p));
            prop_assert_eq!(sorter.gaps().open(), 0);
            up.sort_unstable();
            prop_assert!(up.into_iter().eq(0..steps.len()));
        }
    }
}
