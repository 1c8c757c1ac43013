//! The interface of every impairment: packets come in, packets with times come out.

use crate::counters::{Counters, Reason};
use crate::packet::Packet;

pub use crate::counters::Fate;

/// One thing that a network does to packets.
///
/// Time is an argument, nanoseconds of any clock that never runs backwards. A stage has no clock and no event queue:
/// it returns the time at which a packet leaves, at once if possible. A stage that must see later packets or a later
/// time first uses [`Stage::next_wake_ns`] to request a call. Calls are made in the order of their times; at equal
/// times packets come before wake calls.
pub trait Stage<P> {
    /// `packet` arrives. The packets that leave go to `out`: none (dropped or held), one, or more. A stage whose packets all
    /// leave alone or are dropped implements [`Stage::pass`] instead.
    #[inline]
    fn push(&mut self, now_ns: i64, mut packet: P, out: &mut Outbox<P>) {
        let pass = self.pass(now_ns, &mut packet, out);
        out.settle(packet, pass);
    }

    /// A faster alternative for the common case of a packet that leaves alone or is dropped: it is not moved in
    /// memory. [`Pass::Otherwise`] means that nothing was done: call [`Stage::push`], which such a stage implements.
    fn pass(&mut self, now_ns: i64, packet: &mut P, out: &mut Outbox<P>) -> Pass {
        let _ = (now_ns, packet, out);
        Pass::Otherwise
    }

    /// When [`Stage::wake`] must be called even if no packet arrives; `None` if it need not be called.
    fn next_wake_ns(&self) -> Option<i64> {
        None
    }

    /// The time returned by [`Stage::next_wake_ns`] has come. After a bounded number of calls the returned time must
    /// have increased.
    fn wake(&mut self, now_ns: i64, out: &mut Outbox<P>) {
        let _ = (now_ns, out);
    }

    /// True if departure times never decrease from one packet to the next, for any arrivals in order of time. Such a
    /// stage may be evaluated ahead of time together with the next one.
    fn keeps_order(&self) -> bool;

    /// True if the stage accepts packets ahead of time and in any order, and restores their order itself: it decides
    /// about them only when it is called at a wake time. Packets leave it in order again if it keeps the order.
    fn orders_itself(&self) -> bool {
        false
    }

    /// True if its effect on a packet depends on the packets before it, including random numbers. False only for a
    /// pure function of the packet and its time.
    fn needs_order(&self) -> bool {
        true
    }
}

impl<P, S: Stage<P> + ?Sized> Stage<P> for Box<S> {
    #[inline]
    fn push(&mut self, now_ns: i64, packet: P, out: &mut Outbox<P>) {
        (**self).push(now_ns, packet, out);
    }

    #[inline]
    fn pass(&mut self, now_ns: i64, packet: &mut P, out: &mut Outbox<P>) -> Pass {
        (**self).pass(now_ns, packet, out)
    }

    #[inline]
    fn next_wake_ns(&self) -> Option<i64> {
        (**self).next_wake_ns()
    }

    fn wake(&mut self, now_ns: i64, out: &mut Outbox<P>) {
        (**self).wake(now_ns, out);
    }

    fn keeps_order(&self) -> bool {
        (**self).keeps_order()
    }

    fn orders_itself(&self) -> bool {
        (**self).orders_itself()
    }

    fn needs_order(&self) -> bool {
        (**self).needs_order()
    }
}

/// The result for a packet that is not moved; see [`Stage::pass`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pass {
    /// It leaves at this time, nanoseconds.
    Leaves(i64),
    /// It is dropped.
    Dropped(Reason),
    /// [`Stage::push`] must be called.
    Otherwise,
}

impl From<Result<i64, Reason>> for Pass {
    #[inline]
    fn from(result: Result<i64, Reason>) -> Self {
        match result {
            Ok(at_ns) => Pass::Leaves(at_ns),
            Err(reason) => Pass::Dropped(reason),
        }
    }
}

/// Receives the packets that leave a stage, and what happened to the others.
pub struct Outbox<P> {
    /// In nearly all cases at most one packet leaves, which needs no allocation.
    pub(crate) first: Option<(i64, P)>,
    pub(crate) more: Vec<(i64, P)>,
    pub(crate) counters: Vec<Counters>,
    pub(crate) stage: usize,
    pub(crate) watching: bool,
    pub(crate) marks: Vec<(Fate, P)>,
}

impl<P> Default for Outbox<P> {
    fn default() -> Self {
        Outbox::new()
    }
}

impl<P> Outbox<P> {
    /// An empty outbox for one stage.
    pub fn new() -> Self {
        Outbox::for_stages(1)
    }

    pub(crate) fn for_stages(stages: usize) -> Self {
        Outbox {
            first: None,
            more: Vec::new(),
            counters: vec![Counters::default(); stages.max(1)],
            stage: 0,
            watching: false,
            marks: Vec::new(),
        }
    }

    /// `packet` leaves the stage at `at_ns`.
    #[inline]
    pub fn send(&mut self, at_ns: i64, packet: P) {
        if self.first.is_none() && self.more.is_empty() {
            self.first = Some((at_ns, packet));
        } else {
            self.more.push((at_ns, packet));
        }
    }

    /// `packet` is dropped.
    #[inline]
    pub fn drop(&mut self, packet: P, reason: Reason) {
        if let Some(counters) = self.counters.get_mut(self.stage) {
            counters.count_drop(reason);
        }
        if self.watching {
            self.marks.push((Fate::Dropped(reason), packet));
        }
    }

    /// Applies the result of [`Stage::pass`] to `packet`.
    #[inline]
    pub(crate) fn settle(&mut self, packet: P, pass: Pass) {
        match pass {
            Pass::Leaves(at_ns) => self.send(at_ns, packet),
            Pass::Dropped(reason) => self.drop(packet, reason),
            Pass::Otherwise => {}
        }
    }

    /// Takes out the packets that have left, with their times, in the order in which they were sent.
    pub fn take(&mut self) -> impl Iterator<Item = (i64, P)> + '_ {
        self.first.take().into_iter().chain(self.more.drain(..))
    }

    /// The counters of the stage.
    pub fn counters(&self) -> Counters {
        self.counters.get(self.stage).copied().unwrap_or_default()
    }
}

impl<P: Packet> Outbox<P> {
    /// Marks congestion on a packet that continues. Returns false, without any effect, if its transport does not
    /// support it.
    pub fn mark_congestion(&mut self, packet: &mut P) -> bool {
        let marked = packet.mark_congestion();
        if marked {
            self.mark(packet, Fate::Marked);
        }
        marked
    }
}

impl<P: Clone> Outbox<P> {
    /// Records what happened to a packet that continues; a drop is recorded by [`Outbox::drop`] instead.
    #[inline]
    pub fn mark(&mut self, packet: &P, fate: Fate) {
        if let Some(counters) = self.counters.get_mut(self.stage) {
            counters.count(fate);
        }
        if self.watching {
            self.marks.push((fate, packet.clone()));
        }
    }
}
