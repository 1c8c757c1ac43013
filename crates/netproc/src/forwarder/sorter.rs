//! A sorter within a net: its packets are tokens, its deadlines are firings of a transition.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use inorder_petri::coloured::{Bound, Model, Queue, QueueSpec};
use inorder_sort::{AnySorter, FourTuple, Meta, Sorter, SorterConfig, Surroundings};

use super::{Packet, TICKS_PER_NS};

/// State shared by the transitions: the sorter, and its next deadline.
#[derive(Clone)]
pub(super) struct Sorting(Arc<Mutex<Driven>>);

struct Driven {
    sorter: AnySorter<FourTuple, Packet>,
    /// The earliest deadline for which a token waits.
    armed_ns: Option<i64>,
}

type Firing<'a> = Bound<'a, Packet>;

impl Sorting {
    /// Creates the sorter and the transition that fires at its deadlines; released packets go to `out`. `name` is the
    /// prefix of its places. `None` if the sorter cannot be created, which the check of the settings excludes.
    pub(super) fn build(
        net: &mut Model<Packet>,
        config: &SorterConfig,
        around: &Surroundings,
        (name, out): (&str, Queue),
    ) -> Option<(Self, Queue)> {
        let sorter = config.build(around).ok()?;
        let sorting = Sorting(Arc::new(Mutex::new(Driven {
            sorter,
            armed_ns: None,
        })));
        let timers = net.queue(format!("{name}-timers"), QueueSpec::fifo());
        let (due, rearmed) = (sorting.clone(), sorting.clone());
        net.transition(format!("{name}-deadline"))
            .take(timers)
            .delay_by(|b, _| b[0].arrived.saturating_sub(b.now))
            .put_many(out, move |b, out| due.on_deadline(b, out))
            .put_many(timers, move |_, timers| rearmed.arm(timers));
        Some((sorting, timers))
    }

    fn driven(&self) -> MutexGuard<'_, Driven> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes `packet` to the sorter.
    pub(super) fn push(
        &self,
        b: &Firing<'_>,
        meta: &Meta<FourTuple>,
        packet: Packet,
        out: &mut Vec<Packet>,
    ) {
        let sorter = &mut self.driven().sorter;
        sorter.push(meta, packet, now_ns(b), &mut |packet| out.push(packet));
    }

    /// Ends the batch of an interrupt.
    pub(super) fn end_of_batch(&self, b: &Firing<'_>, out: &mut Vec<Packet>) {
        let sorter = &mut self.driven().sorter;
        sorter.end_of_batch(now_ns(b), &mut |packet| out.push(packet));
    }

    fn on_deadline(&self, b: &Firing<'_>, out: &mut Vec<Packet>) {
        let driven = &mut *self.driven();
        if driven.armed_ns.is_some_and(|armed| armed <= now_ns(b)) {
            driven.armed_ns = None;
        }
        driven
            .sorter
            .on_deadline(now_ns(b), &mut |packet| out.push(packet));
    }

    /// Adds a token that waits for the next deadline, unless another token waits for an earlier one.
    pub(super) fn arm(&self, timers: &mut Vec<Packet>) {
        let driven = &mut *self.driven();
        let Some(due_ns) = driven.sorter.next_deadline_ns() else {
            return;
        };
        if driven.armed_ns.is_none_or(|armed| due_ns < armed) {
            driven.armed_ns = Some(due_ns);
            timers.push(Packet {
                arrived: u64::try_from(due_ns)
                    .unwrap_or(0)
                    .saturating_mul(TICKS_PER_NS as u64),
                ..Packet::default()
            });
        }
    }
}

/// The sorter's time. A deadline is a whole number of nanoseconds, so rounding down does not miss it.
fn now_ns(b: &Firing<'_>) -> i64 {
    i64::try_from(b.now / TICKS_PER_NS as u64).unwrap_or(i64::MAX)
}
