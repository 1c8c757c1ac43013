//! The receiver's network card, and the softirq that empties its ring.
//!
//! After Wu, Demar and Crawford, "Sorting Reordered Packets with Interrupt Coalescing" (2009), section 3.1. Packets
//! are stored in a ring. The first packet in an idle ring starts the interrupt delay. Then the softirq passes packets
//! to the stack, one after another at its service rate, including those that arrive meanwhile, until the ring is
//! empty. This is one cycle, and its packets are one block.
//!
//! Between ring and stack there is a sorter, any of `inorder_sort::SORTERS`. If a sorter holds packets beyond the end
//! of a cycle, it has deadlines, and the card is called at these times as by a driver's timer.

mod account;
mod early;
mod merge;
mod track;

use std::collections::VecDeque;

use inorder_sort::{AnySorter, ConfigError, Sorter, SorterConfig, Surroundings, srpic};

use crate::counters::Reason;
use crate::packet::Packet;
use crate::stage::{Outbox, Stage};
use crate::time::elapsed;

pub use account::Account;
pub use inorder_base::stats::Histogram;
pub use merge::MergeConfig;

use early::Early;
use merge::Merger;
use track::Tracker;

/// Settings of a [`Nic`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NicConfig {
    /// Descriptors of the receive ring; a packet that finds none free is dropped.
    pub ring_packets: usize,
    /// When the card interrupts.
    pub coalesce: Coalesce,
    /// Time the softirq takes for a packet, nanoseconds: 1 / R_sn.
    pub service_ns: i64,
    /// Additional time for a packet that may be sorted, nanoseconds: 1 / R'_sn - 1 / R_sn.
    pub sort_ns: i64,
    /// The sorter between ring and stack; none by default.
    pub sorter: SorterConfig,
    /// The card stands at the end of a tunnel, whose numbers the sorter goes by ([`Packet::tunnel_meta`]).
    pub tunnel: bool,
    /// LRO or GRO, behind the sorter.
    pub merge: Option<MergeConfig>,
}

/// When a card interrupts. The first packet in an idle ring starts the delay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Coalesce {
    /// Time from the first packet to the softirq, nanoseconds: T_intr, ethtool's rx-usecs.
    pub delay_ns: i64,
    /// Number of waiting packets that causes an interrupt at once: ethtool's rx-frames.
    pub frames: Option<usize>,
    /// Minimum time between two interrupts, nanoseconds, as set by an interrupt throttle rate.
    pub gap_ns: i64,
}

impl Coalesce {
    /// T_intr after the first packet, independent of further packets.
    pub fn delay(delay_ns: i64) -> Self {
        Coalesce {
            delay_ns,
            frames: None,
            gap_ns: 0,
        }
    }
}

impl Default for NicConfig {
    /// The paper's receiver without a sorter: a ring of 512, 75 us, and a softirq of 2.5 million packets per second
    /// (assumed: the paper gives no figure).
    fn default() -> Self {
        NicConfig {
            ring_packets: 512,
            coalesce: Coalesce::delay(75_000),
            service_ns: 400,
            sort_ns: 0,
            sorter: SorterConfig::default(),
            tunnel: false,
            merge: None,
        }
    }
}

impl NicConfig {
    /// The same card with the paper's sorter: blocks of `block_size`, flushed at the latest when as many packets have
    /// arrived as the ring holds.
    #[must_use]
    pub fn with_srpic(self, block_size: usize) -> Self {
        NicConfig {
            sorter: srpic::blocks_of(block_size),
            ..self
        }
    }
}

/// A network card with any sorter, chosen by name.
pub type Nic<P> = Card<P, AnySorter<<P as Packet>::Flow, P>>;

/// A network card with sorter `S`. It sends its packets to the stack.
///
/// The card decides when it is called at a wake time: a packet that is announced before its arrival waits until then,
/// and a packet that finds the ring full is counted as dropped at the first call after its arrival.
pub struct Card<P: Packet, S> {
    config: NicConfig,
    early: Early<P>,
    ring: VecDeque<P>,
    state: State,
    sorter: S,
    /// True if the sorter can hold packets, so that it takes processor time.
    sorts: bool,
    arrivals: Tracker<P::Flow>,
    up: Up<P>,
    last_interrupt_ns: Option<i64>,
    /// The current cycle: its start, and the number of packets fetched.
    cycle: (i64, u64),
}

#[derive(Clone, Copy, Debug)]
enum State {
    Idle,
    /// Packets wait for the interrupt.
    Armed {
        fire_ns: i64,
    },
    /// The softirq is busy with a packet until then.
    Working {
        until_ns: i64,
    },
}

/// The part between the sorter and the stack.
struct Up<P: Packet> {
    merger: Option<Merger<P>>,
    stack: Stack<P>,
}

/// The entrance of the stack.
struct Stack<P: Packet> {
    tracker: Tracker<P::Flow>,
    account: Account,
}

impl<P: Packet> Stack<P> {
    fn take(&mut self, packet: P, at_ns: i64, out: &mut Outbox<P>) {
        let in_order = self.tracker.takes_fast_path(&packet.meta());
        self.account.delivered(in_order, packet.frames());
        out.send(at_ns, packet);
    }
}

impl<P: Packet> Up<P> {
    #[inline]
    fn take(&mut self, packet: P, at_ns: i64, out: &mut Outbox<P>) {
        let stack = &mut self.stack;
        match &mut self.merger {
            None => stack.take(packet, at_ns, out),
            Some(merger) => merger.push(packet, &mut |packet| stack.take(packet, at_ns, out)),
        }
    }

    fn flush(&mut self, at_ns: i64, out: &mut Outbox<P>) {
        let stack = &mut self.stack;
        if let Some(merger) = &mut self.merger {
            merger.flush(&mut |packet| stack.take(packet, at_ns, out));
        }
    }
}

impl<P: Packet> Nic<P> {
    /// An idle card; an error only if the sorter's settings are invalid. A ring holds at least one packet.
    pub fn new(config: &NicConfig) -> Result<Self, ConfigError> {
        let around = Surroundings::ring(config.ring_packets.max(1));
        let sorter = config.sorter.build(&around)?;
        Ok(Card::with_sorter(config, sorter))
    }
}

impl<P: Packet, S: Sorter<P::Flow, P>> Card<P, S> {
    /// An idle card with a sorter created elsewhere; [`NicConfig::sorter`] is ignored.
    pub fn with_sorter(config: &NicConfig, sorter: S) -> Self {
        Card {
            config: NicConfig {
                ring_packets: config.ring_packets.max(1),
                service_ns: config.service_ns.max(0),
                sort_ns: config.sort_ns.max(0),
                coalesce: Coalesce {
                    delay_ns: config.coalesce.delay_ns.max(0),
                    gap_ns: config.coalesce.gap_ns.max(0),
                    ..config.coalesce
                },
                ..*config
            },
            early: Early::new(),
            ring: VecDeque::new(),
            state: State::Idle,
            sorts: !sorter.passes_through(),
            sorter,
            arrivals: Tracker::new(),
            up: Up {
                merger: config.merge.map(Merger::new),
                stack: Stack {
                    tracker: Tracker::new(),
                    account: Account::new(),
                },
            },
            last_interrupt_ns: None,
            cycle: (0, 0),
        }
    }

    /// The events counted so far.
    pub fn account(&self) -> &Account {
        &self.up.stack.account
    }

    /// The longest that the sorter would now hold a packet of this flow, nanoseconds ([`Sorter::hold_ns`]).
    pub fn hold_ns(&self, flow: P::Flow) -> Option<i64> {
        self.sorter.hold_ns(flow)
    }

    /// Packets that the sorter holds.
    pub fn held(&self) -> usize {
        self.sorter.held()
    }

    /// Descriptors in use at `now_ns`, including that of the packet in service.
    fn in_use(&self, now_ns: i64) -> usize {
        let State::Working { until_ns } = self.state else {
            return self.ring.len();
        };
        // The softirq works without pauses, so the remaining time gives the number of remaining packets.
        let left_ns = elapsed(until_ns, now_ns);
        let per_packet_ns = self.config.service_ns.max(1).cast_unsigned();
        let left = usize::try_from(left_ns.div_ceil(per_packet_ns)).unwrap_or(usize::MAX);
        self.ring
            .len()
            .saturating_add(left.min(self.cycle.1 as usize))
    }

    /// When the interrupt for a packet in an idle ring fires.
    fn fire_ns(&self, now_ns: i64) -> i64 {
        let fire_ns = now_ns.saturating_add(self.config.coalesce.delay_ns);
        let gap_ns = self.config.coalesce.gap_ns;
        let earliest = self.last_interrupt_ns.map(|t| t.saturating_add(gap_ns));
        earliest.map_or(fire_ns, |earliest| fire_ns.max(earliest))
    }

    /// The number of waiting packets that causes an interrupt at once.
    fn urgent_packets(&self) -> usize {
        let frames = self.config.coalesce.frames.unwrap_or(usize::MAX);
        frames.clamp(1, self.config.ring_packets)
    }

    /// When the softirq starts: at `fire_ns`, or earlier if too many packets wait.
    fn begins_ns(&self, fire_ns: i64) -> i64 {
        match self.urgent_packets().checked_sub(self.ring.len() + 1) {
            Some(n) => self.early.time_ns(n).map_or(fire_ns, |t| t.min(fire_ns)),
            None => fire_ns,
        }
    }

    /// Moves all packets that have arrived by `now_ns` into the ring.
    fn receive(&mut self, now_ns: i64, out: &mut Outbox<P>) {
        while let Some((at_ns, packet)) = self.early.take(now_ns) {
            if self.in_use(at_ns) < self.config.ring_packets {
                self.put_in_ring(at_ns, packet);
            } else {
                out.drop(packet, Reason::RingFull);
            }
        }
    }

    #[inline]
    fn put_in_ring(&mut self, now_ns: i64, packet: P) {
        self.ring.push_back(packet);
        if let State::Idle = self.state {
            let fire_ns = self.fire_ns(now_ns);
            self.state = State::Armed { fire_ns };
        }
        if let State::Armed { fire_ns } = &mut self.state
            && *fire_ns > now_ns
            && self.ring.len() >= self.urgent_packets()
        {
            self.state = State::Armed { fire_ns: now_ns };
        }
    }

    /// The softirq takes all packets that are in the ring now.
    fn fetch(&mut self, now_ns: i64, out: &mut Outbox<P>) {
        let mut at_ns = now_ns;
        self.cycle.1 = self.cycle.1.saturating_add(self.ring.len() as u64);
        while let Some(packet) = self.ring.pop_front() {
            at_ns = at_ns.saturating_add(self.config.service_ns);
            self.handle(packet, &mut at_ns, out);
        }
        self.state = State::Working { until_ns: at_ns };
    }

    fn handle(&mut self, packet: P, at_ns: &mut i64, out: &mut Outbox<P>) {
        if !self.sorts {
            return self.up.take(packet, *at_ns, out);
        }
        self.release(*at_ns, out);
        let meta = if self.config.tunnel {
            packet.tunnel_meta()
        } else {
            packet.meta()
        };
        if meta.is_suitable() {
            *at_ns = at_ns.saturating_add(self.config.sort_ns);
            let follows = self.arrivals.follows(&meta);
            self.up.stack.account.sorted(follows);
        }
        let up = &mut self.up;
        let now_ns = *at_ns;
        self.sorter.push(&meta, packet, now_ns, &mut |packet| {
            up.take(packet, now_ns, out);
        });
    }

    /// Handles the sorter's deadline if it is not later than `now_ns`; returns true in that case.
    #[inline]
    fn release(&mut self, now_ns: i64, out: &mut Outbox<P>) -> bool {
        let due = self.sorter.next_deadline_ns();
        let has_come = due.is_some_and(|due_ns| due_ns <= now_ns);
        if has_come {
            let up = &mut self.up;
            self.sorter
                .on_deadline(now_ns, &mut |packet| up.take(packet, now_ns, out));
        }
        has_come
    }

    /// Only the timer is active, so released packets go to the stack at once.
    fn on_timer(&mut self, now_ns: i64, out: &mut Outbox<P>) {
        if self.release(now_ns, out) {
            self.up.flush(now_ns, out);
            self.up.stack.account.interrupts += 1;
        }
    }

    /// The ring is empty: the softirq flushes the sorter and ends.
    fn end_cycle(&mut self, now_ns: i64, out: &mut Outbox<P>) {
        let up = &mut self.up;
        self.sorter
            .end_of_batch(now_ns, &mut |packet| up.take(packet, now_ns, out));
        up.flush(now_ns, out);
        let (began_ns, packets) = self.cycle;
        up.stack.account.cycle(packets, elapsed(now_ns, began_ns));
        self.state = State::Idle;
    }
}

impl<P: Packet, S: Sorter<P::Flow, P>> Stage<P> for Card<P, S> {
    #[inline]
    fn push(&mut self, now_ns: i64, packet: P, _: &mut Outbox<P>) {
        self.early.add(now_ns, packet);
    }

    #[inline]
    fn next_wake_ns(&self) -> Option<i64> {
        let fire_ns = match self.state {
            State::Idle => self.early.time_ns(0).map(|first_ns| self.fire_ns(first_ns)),
            State::Armed { fire_ns } => Some(fire_ns),
            // While the softirq works, it also handles deadlines.
            State::Working { until_ns } => return Some(until_ns),
        };
        let begins_ns = fire_ns.map(|fire_ns| self.begins_ns(fire_ns));
        match (begins_ns, self.sorter.next_deadline_ns()) {
            (Some(begins_ns), Some(timer_ns)) => Some(begins_ns.min(timer_ns)),
            (begins_ns, timer_ns) => begins_ns.or(timer_ns),
        }
    }

    fn wake(&mut self, now_ns: i64, out: &mut Outbox<P>) {
        self.receive(now_ns, out);
        if !matches!(self.state, State::Working { .. }) {
            self.on_timer(now_ns, out);
        }
        match self.state {
            State::Armed { fire_ns } if fire_ns <= now_ns => {
                self.up.stack.account.interrupts += 1;
                self.last_interrupt_ns = Some(now_ns);
                self.cycle = (now_ns, 0);
                self.fetch(now_ns, out);
            }
            State::Working { until_ns } if until_ns <= now_ns => {
                if self.ring.is_empty() {
                    self.end_cycle(now_ns, out);
                } else {
                    self.fetch(now_ns, out);
                }
            }
            _ => {}
        }
    }

    fn orders_itself(&self) -> bool {
        true
    }

    fn keeps_order(&self) -> bool {
        // It changes the order of packets, but the times at which it sends them never decrease.
        true
    }
}

#[cfg(test)]
mod tests;
