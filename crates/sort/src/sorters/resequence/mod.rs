//! The resequencer: holds only what stands behind a gap, no longer than late packets of this path take.
//!
//! What is in order passes at once, so that on a path that keeps the order a packet costs a
//! look-up and none waits. A packet above a gap waits for what is missing: not for a time
//! somebody chose, but for as long as the path's own late packets have made it worth
//! (`rule.rs` has the derivation). A path that loses packets and never delivers them late is not
//! waited for at all, and nothing has to be held to learn it: what comes into a gap after it was
//! given up tells how long a hold would have been enough.
//!
//! The most that is ever waited is a share of the round trip, which is seen between a SYN and what
//! follows it; a retransmission takes longer, so it is never mistaken for a late packet. A flow is held
//! for up to half of it, and for up to 7/8 once its sender has been seen to resend what was only a little
//! late: such a sender gains most from a hold. One that waits for late packets itself (RACK) would
//! lose more by a longer hold, which looks to it like a queue, than it gains.
//!
//! On a path of which little is known, gaps are waited for, for half of the round trip: until waiting has worked
//! often enough that the rule can go by it, or has been in vain. One late packet that is let
//! through ends the slow start of nearly every sender, which costs it more than one such hold costs one that has lost a packet.
//! A tunnel's numbers show no round trip. There the first hold is the setting `start` if the first gap comes among the
//! first packets, where it is hardly a loss, and else the setting `blind`.
//!
//! A retransmission that repairs a loss goes up behind all that its flow holds: a receiver that had seen its
//! timestamp would throw away what was sent before it (PAWS).
//!
//! Held packets are bounded: when there is no room, the gap that is due first is given up. So are
//! flows: when all places of a flow's hash are taken by flows that hold something, a new flow is
//! not followed and its packets pass as they come.

mod burst;
mod deadlines;
mod flows;
mod held;
mod lateness;
mod learnt;
mod lessons;
#[cfg(test)]
mod naive;
mod order;
mod paths;
mod released;
mod rule;

use super::config::{ConfigError, Entry, Setting, SorterConfig, Surroundings};
use crate::key::FlowKey;
use crate::meta::{Kind, Meta};
use crate::out::Out;
use crate::sorter::{Counters, Sorter};

use deadlines::Deadlines;
use flows::Flows;
use held::{Held, before};
use learnt::Limits;
use paths::Paths;
use released::Released;

/// What the registry says of it.
pub const ENTRY: Entry = Entry::new(
    "resequence",
    "holds what stands behind a gap in its flow, for as long as the path has shown to be worth it",
    "3GPP TS 38.323 section 5.2.2.2 with a bound that is learnt: the rule is in its documentation",
    &[BOUND, START, BLIND, WINDOW, TUNNEL],
);

/// The longest hold, whatever was learnt.
pub const BOUND: Setting = Setting::time(
    "bound",
    "The longest that a packet is ever held; half a round trip bounds it, too, and 7/8 for a sender that resends what is only late.",
    (0, 10_000_000_000),
    50_000_000,
);

/// The hold before anything was learnt.
pub const START: Setting = Setting::time(
    "start",
    "The longest hold while little is known of a path; half a round trip bounds it, too. 0: the first late packets are watched only.",
    (0, 10_000_000_000),
    50_000_000,
);

/// The bound without a round trip.
pub(crate) const BLIND: Setting = Setting::time(
    "blind",
    "The longest hold while no round trip of the flow or its path is known.",
    (0, 10_000_000_000),
    1_000_000,
);

/// Packets held, of all flows together.
pub const WINDOW: Setting = Setting::packets(
    "window",
    "Packets held at most, of all flows together; half of them of one flow.",
    (1, 1 << 24),
    4096,
);

/// A tunnel's own numbers.
pub const TUNNEL: Setting = Setting::flag(
    "tunnel",
    "Numbers are a tunnel's own and never come twice, so that no round trip limits a hold.",
);

/// Outcomes after which a flow's own experience counts more than its path's.
const OWN_OUTCOMES: u32 = 16;

/// Packets in a row below what was delivered, after which the flow is taken to have begun anew:
/// a single stray number far ahead must not end the sorting of a flow. More than a sender resends in a row after a
/// timeout, when most of what it sends has been delivered before.
const BEHIND: u32 = 1024;

/// Why a gap was given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Why {
    TimedOut,
    Overflowed,
    Flushed,
    Resent,
}

/// What became of the gaps: those that opened are these and those open now.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Gaps {
    /// Gaps seen. One that is cut in two counts as one more.
    pub opened: u64,
    /// What was missing came while the packets above waited.
    pub filled: u64,
    /// Waiting for them was not worth it from the start.
    pub passed: u64,
    /// They were waited for until their bound.
    pub timed_out: u64,
    /// They gave way to others.
    pub overflowed: u64,
    /// A packet came that nothing may wait before, or a retransmission that must not overtake them; or the sorter was
    /// emptied.
    pub flushed: u64,
}

impl Gaps {
    /// Gaps that are open now.
    pub fn open(&self) -> u64 {
        let ended = self.filled + self.passed + self.timed_out + self.overflowed + self.flushed;
        self.opened - ended
    }
}

/// The sorter; see the module's text.
pub struct Resequencer<K, P> {
    limits: Limits,
    held: Held<P>,
    flows: Flows<K>,
    paths: Paths,
    deadlines: Deadlines,
    released: Released,
    seed: u64,
    counters: Counters,
    gaps: Gaps,
}

impl<K: FlowKey, P> Resequencer<K, P> {
    /// The sorter of a registry's choice.
    pub fn build(config: &SorterConfig, around: &Surroundings) -> Result<Self, ConfigError> {
        let packets = usize::try_from(config.value(&WINDOW)).unwrap_or(usize::MAX);
        let places = Flows::<K>::capacity(around.flows);
        let time = |setting| i64::try_from(config.value(setting)).unwrap_or(i64::MAX);
        Ok(Resequencer {
            limits: Limits {
                most_ns: time(&BOUND),
                start_ns: time(&START),
                blind_ns: time(&BLIND),
                tunnel: config.value(&TUNNEL) != 0,
            },
            held: Held::new(packets, around.hash_seed)?,
            flows: Flows::new(around.flows, around.hash_seed)?,
            paths: Paths::new(around.flows)?,
            deadlines: Deadlines::new(places, packets.min(places))?,
            released: Released::new()?,
            seed: around.hash_seed,
            counters: Counters::default(),
            gaps: Gaps::default(),
        })
    }

    /// Bytes the sorter of a registry's choice takes.
    pub fn footprint(config: &SorterConfig, around: &Surroundings) -> usize {
        let packets = usize::try_from(config.value(&WINDOW)).unwrap_or(usize::MAX);
        Self::bytes(packets, around.flows)
    }

    fn bytes(packets: usize, flows: usize) -> usize {
        let places = Flows::<K>::capacity(flows);
        size_of::<Self>()
            + Held::<P>::footprint(packets)
            + Flows::<K>::footprint(flows)
            + Paths::footprint(flows)
            + Deadlines::footprint(places, packets.min(places))
            + Released::footprint()
    }

    /// What became of the gaps.
    pub fn gaps(&self) -> Gaps {
        self.gaps
    }

    /// A packet that may be held.
    #[inline]
    fn data(&mut self, meta: &Meta<K>, packet: P, now_ns: i64, out: &mut (impl FnMut(P) + ?Sized)) {
        let end = meta.seq.wrapping_add(meta.len);
        let clock = self.counters.suitable;
        let Some(at) = self.flows.find(meta.flow) else {
            self.begin(meta, end, now_ns);
            return out(packet);
        };
        let Some(flow) = self.flows.used(at, clock) else {
            return out(packet);
        };
        if flow.opened_ns.is_some() {
            self.answered(at, now_ns);
        }
        self.place(at, (meta.seq, end), packet, now_ns, out);
    }

    /// A flow is seen for the first time, or anew.
    fn begin(&mut self, meta: &Meta<K>, next: u32, now_ns: i64) -> Option<usize> {
        let path = self.paths.place(meta.flow.path64(self.seed), now_ns);
        self.flows
            .insert(meta.flow, next, path, self.counters.suitable)
    }

    /// A packet that must not wait. What is held of its flow goes before it, unless it only
    /// acknowledges: data and acknowledgements of one direction have no order among themselves.
    fn unsuitable(&mut self, meta: &Meta<K>, now_ns: i64, out: &mut (impl FnMut(P) + ?Sized)) {
        let found = self.flows.find(meta.flow);
        let after = meta.seq.wrapping_add(meta.len);
        match (meta.kind, found) {
            (Kind::Ack, Some(at)) => self.answered(at, now_ns),
            (Kind::Open, found) => {
                if let Some(at) = found {
                    self.empty(at, now_ns, out);
                }
                // The SYN takes a number of its own.
                let next = after.wrapping_add(1);
                let at = match found {
                    Some(at) => {
                        self.go_on(at, next);
                        Some(at)
                    }
                    None => self.begin(meta, next, now_ns),
                };
                if let Some(flow) = at.and_then(|at| self.flows.get(at)) {
                    // Which of two SYNs is answered is unknown (Karn and Partridge, 1987).
                    let is_repeated = flow.opened_ns.is_some();
                    flow.opened_ns = (!is_repeated).then_some(now_ns);
                }
            }
            (Kind::Other | Kind::Close, Some(at)) => {
                self.empty(at, now_ns, out);
                if let Some(flow) = self.flows.get(at)
                    && meta.len > 0
                    && before(flow.next, after)
                {
                    flow.next = after;
                }
            }
            _ => {}
        }
    }

    /// Delivers all that is held of a flow.
    fn empty(&mut self, at: usize, now_ns: i64, out: &mut (impl FnMut(P) + ?Sized)) {
        while self.flows.get(at).is_some_and(|f| !f.chain.is_empty()) {
            self.give_up(at, Why::Flushed, now_ns, out);
        }
    }
}

impl<K: FlowKey, P> Sorter<K, P> for Resequencer<K, P> {
    #[inline]
    fn push(&mut self, meta: &Meta<K>, packet: P, now_ns: i64, out: &mut (impl FnMut(P) + ?Sized)) {
        if meta.is_suitable() {
            self.counters.suitable += 1;
            self.data(meta, packet, now_ns, out);
        } else {
            self.counters.unsuitable += 1;
            self.unsuitable(meta, now_ns, out);
            out(packet);
        }
    }

    /// Packets of one flow that are complete go up together.
    #[inline]
    fn take_burst<'b, T>(
        &mut self,
        burst: &'b [T],
        meta: &impl Fn(&T) -> Meta<K>,
        packet: &impl Fn(&'b T) -> P,
        now_ns: i64,
        out: &mut impl Out<P>,
    ) {
        self.take_whole(burst, meta, packet, now_ns, out);
    }

    fn end_of_batch(&mut self, now_ns: i64, out: &mut (impl FnMut(P) + ?Sized)) {
        self.counters.batches += 1;
        self.on_deadline(now_ns, out);
    }

    #[inline]
    fn next_deadline_ns(&self) -> Option<i64> {
        self.deadlines.first().map(|(due_ns, _)| due_ns)
    }

    fn on_deadline(&mut self, now_ns: i64, out: &mut (impl FnMut(P) + ?Sized)) {
        while let Some((due_ns, at)) = self.deadlines.first()
            && due_ns <= now_ns
        {
            self.give_up(at as usize, Why::TimedOut, now_ns, out);
        }
    }

    fn flush(&mut self, now_ns: i64, out: &mut (impl FnMut(P) + ?Sized)) {
        while let Some((_, at)) = self.deadlines.first() {
            self.empty(at as usize, now_ns, out);
        }
    }

    fn hold_ns(&self, flow: K) -> Option<i64> {
        Some(self.known_bound_ns(flow))
    }

    #[inline]
    fn held(&self) -> usize {
        self.held.packets()
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn memory_footprint(&self) -> usize {
        Self::bytes(self.held.capacity(), self.flows.len())
    }
}
