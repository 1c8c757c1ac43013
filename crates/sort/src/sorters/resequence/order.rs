//! Where a packet goes: up, or among those that wait; and when those go up.

use super::held::{Fit, before};
use super::learnt::Outcome;
use super::{BEHIND, Resequencer, Why};
use crate::key::FlowKey;
use crate::sorter::Sorter;

impl<K: FlowKey, P> Resequencer<K, P> {
    /// A packet of the flow at `at`: up it goes, or it waits.
    #[inline]
    pub(super) fn place(
        &mut self,
        at: usize,
        (seq, end): (u32, u32),
        packet: P,
        now_ns: i64,
        out: &mut (impl FnMut(P) + ?Sized),
    ) {
        let Some(flow) = self.flows.get(at) else {
            return out(packet);
        };
        if seq == flow.next && flow.chain.is_empty() {
            flow.next = end;
            flow.behind = 0;
            return out(packet);
        }
        self.place_slowly(at, (seq, end), packet, now_ns, out);
        // The gap behind one that has filled may have been open for long already.
        self.on_deadline(now_ns, out);
    }

    fn place_slowly(
        &mut self,
        at: usize,
        (seq, end): (u32, u32),
        packet: P,
        now_ns: i64,
        out: &mut (impl FnMut(P) + ?Sized),
    ) {
        while let Some(flow) = self.flows.get(at) {
            if !before(flow.next, seq) {
                return self.at_or_below_next(at, (seq, end), packet, now_ns, out);
            }
            if flow.chain.is_empty() {
                let next = flow.next;
                if let Some(past) = self.flows.past(at) {
                    past.gap(next, end.wrapping_sub(seq));
                }
                let bound_ns = self.bound_ns(at);
                if bound_ns == 0 {
                    self.gaps.opened += 1;
                    self.gaps.passed += 1;
                    self.leave_gap(at, seq, now_ns, now_ns);
                    self.go_on(at, end);
                    return out(packet);
                }
            }
            let Some(flow) = self.flows.get(at) else {
                break;
            };
            let most = self.held.capacity().div_ceil(2);
            let victim = if flow.chain.packets as usize >= most {
                at
            } else if self.held.is_full() {
                self.deadlines.first().map_or(at, |(_, flow)| flow as usize)
            } else {
                return self.hold(at, (seq, end), packet, now_ns);
            };
            self.give_up(victim, Why::Overflowed, now_ns, out);
        }
        out(packet);
    }

    /// Puts a packet among those that wait; there is room.
    fn hold(&mut self, at: usize, (seq, end): (u32, u32), packet: P, now_ns: i64) {
        let Some(flow) = self.flows.get(at) else {
            return;
        };
        flow.behind = 0;
        let first = flow.chain.lowest;
        let next = flow.next;
        let chain = &mut flow.chain;
        match self.held.insert(chain, next, (seq, end), packet, now_ns) {
            Some(Fit::Opened) => self.gaps.opened += 1,
            Some(Fit::Closed { open_ns }) => self.filled(at, open_ns, now_ns),
            Some(Fit::Same) | None => {}
        }
        if self.flows.get(at).is_some_and(|f| f.chain.lowest != first) {
            self.due(at);
        }
    }

    /// A packet that nothing is missing before: in order, or late itself.
    fn at_or_below_next(
        &mut self,
        at: usize,
        (seq, end): (u32, u32),
        packet: P,
        now_ns: i64,
        out: &mut (impl FnMut(P) + ?Sized),
    ) {
        let Some(flow) = self.flows.get(at) else {
            return out(packet);
        };
        let is_late = before(seq, flow.next);
        let advances = before(flow.next, end);
        flow.behind = if advances { 0 } else { flow.behind + 1 };
        let began_anew = flow.behind >= BEHIND && flow.chain.is_empty();
        if is_late && flow.has_left_gaps && self.latecomer(at, (seq, end), now_ns) {
            self.make_way(at, now_ns, out);
        }
        let advances = self.flows.get(at).is_some_and(|f| before(f.next, end));
        if began_anew || advances {
            self.go_on(at, end);
        }
        out(packet);
        self.release(at, now_ns, out);
    }

    /// A retransmission repairs a loss, and goes behind all that its flow holds. It was sent after them, and a receiver
    /// that has seen its timestamp throws older ones away (PAWS, RFC 7323 section 5.3).
    fn make_way(&mut self, at: usize, now_ns: i64, out: &mut (impl FnMut(P) + ?Sized)) {
        while self.flows.get(at).is_some_and(|f| !f.chain.is_empty()) {
            self.give_up(at, Why::Resent, now_ns, out);
        }
    }

    /// The flow goes on at `next`.
    pub(super) fn go_on(&mut self, at: usize, next: u32) {
        if let Some(flow) = self.flows.get(at) {
            flow.next = next;
            flow.behind = 0;
        }
    }

    /// Delivers the held packets that nothing is missing before any longer.
    fn release(&mut self, at: usize, now_ns: i64, out: &mut (impl FnMut(P) + ?Sized)) {
        let mut any = false;
        while let Some(flow) = self.flows.get(at)
            && let Some((seq, _)) = self.held.first(&flow.chain)
            && !before(flow.next, seq)
            && let Some(taken) = self.held.take_lowest(&mut flow.chain)
        {
            if before(flow.next, taken.end) {
                flow.next = taken.end;
            }
            if let Some(open_ns) = taken.gap_ns {
                self.filled(at, open_ns, now_ns);
            }
            any = true;
            out(taken.packet);
        }
        if any {
            self.due(at);
        }
    }

    /// A gap open since then has filled while it was waited for.
    pub(super) fn filled(&mut self, at: usize, open_ns: i64, now_ns: i64) {
        self.gaps.filled += 1;
        let late_ns = now_ns.saturating_sub(open_ns);
        self.outcome(at, Outcome::InTime(late_ns), now_ns);
    }

    /// Gives up a flow's first gap.
    pub(super) fn give_up(
        &mut self,
        at: usize,
        why: Why,
        now_ns: i64,
        out: &mut (impl FnMut(P) + ?Sized),
    ) {
        let Some(flow) = self.flows.get(at) else {
            return;
        };
        let (next, chain) = (flow.next, flow.chain);
        let Some((seq, open_ns)) = self.held.first(&chain) else {
            return;
        };
        if self.held.end_gap(&chain) {
            let gaps = &mut self.gaps;
            *match why {
                Why::TimedOut => &mut gaps.timed_out,
                Why::Overflowed => &mut gaps.overflowed,
                Why::Flushed | Why::Resent => &mut gaps.flushed,
            } += 1;
        }
        if before(next, seq) && why == Why::Flushed {
            self.go_on(at, seq);
        } else if before(next, seq) {
            if why == Why::TimedOut {
                self.waited_in_vain(at);
            }
            self.leave_gap(at, seq, open_ns, now_ns);
        }
        self.release(at, now_ns, out);
    }

    /// The flow goes on at `seq`, without what is missing before it.
    fn leave_gap(&mut self, at: usize, seq: u32, open_ns: i64, now_ns: i64) {
        self.learn(now_ns);
        let original_ns = self.original_ns(at);
        let id = self.flows.id(at);
        if let Some(flow) = self.flows.get(at) {
            let missing = (flow.next, seq);
            flow.next = seq;
            flow.has_left_gaps = true;
            let times = (open_ns, now_ns);
            self.released.push(id, missing, times, original_ns);
        }
    }

    /// Sets the time at which the flow's first gap has been waited for long enough.
    fn due(&mut self, at: usize) {
        let chain = self.flows.get(at).map(|flow| flow.chain);
        let first = chain.and_then(|chain| self.held.first(&chain));
        let due_ns = first.map(|(_, open_ns)| open_ns.saturating_add(self.bound_ns(at)));
        self.deadlines.set(at as u32, due_ns);
    }
}
