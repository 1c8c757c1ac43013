//! What every impairment offers: packets in, packets with a time out.

use crate::counters::{Counters, Reason};

pub use crate::counters::Fate;

/// One thing a network does to packets.
///
/// Time is an argument, nanoseconds on any clock that never runs backwards. A stage has no clock
/// and no queue of events: it says when a packet leaves, at once if it can, and a stage that
/// must see later packets or a later time first says by [`Stage::next_wake_ns`] when to ask it
/// again. Calls come in the order of their times; at equal times packets come before wakes.
pub trait Stage<P> {
    /// `packet` arrives. Whatever leaves goes to `out`: nothing (dropped, or held), one, or more.
    fn push(&mut self, now_ns: i64, packet: P, out: &mut Outbox<P>);

    /// The same for the usual packet, one that leaves alone or ends here: it stays where it is in
    /// memory. A stage need not offer this. [`Pass::Otherwise`]: nothing has been done, call
    /// [`Stage::push`].
    fn pass(&mut self, now_ns: i64, packet: &mut P, out: &mut Outbox<P>) -> Pass {
        let _ = (now_ns, packet, out);
        Pass::Otherwise
    }

    /// When [`Stage::wake`] is due although nothing arrives. `None`: at no time.
    fn next_wake_ns(&self) -> Option<i64> {
        None
    }

    /// The time [`Stage::next_wake_ns`] named has come. After a bounded number of calls the
    /// named time must have moved on.
    fn wake(&mut self, now_ns: i64, out: &mut Outbox<P>) {
        let _ = (now_ns, out);
    }

    /// Leaving times never decrease from one packet sent to the next, whatever arrives (in order
    /// of time). Such a stage may be evaluated ahead of time together with the next.
    fn keeps_order(&self) -> bool;

    /// Takes packets ahead of their time and in any order, and sees to their order itself: what
    /// happens to them it decides when it wakes. What leaves it is in order again if it keeps the
    /// order.
    fn orders_itself(&self) -> bool {
        false
    }

    /// What it does to a packet depends on the packets before it, random draws included. False
    /// only for a pure function of the packet and its time.
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

/// What becomes of a packet that stays where it is; see [`Stage::pass`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pass {
    /// It leaves at this time, nanoseconds.
    Leaves(i64),
    /// It ends here.
    Dropped(Reason),
    /// [`Stage::push`] must be asked.
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

/// Where a stage puts what leaves it, and says what became of the rest.
pub struct Outbox<P> {
    /// Nearly always at most one packet leaves: it takes no memory.
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
    /// Empty, for one stage.
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

    /// `packet` goes no further.
    #[inline]
    pub fn drop(&mut self, packet: P, reason: Reason) {
        if let Some(counters) = self.counters.get_mut(self.stage) {
            counters.count_drop(reason);
        }
        if self.watching {
            self.marks.push((Fate::Dropped(reason), packet));
        }
    }

    /// Does with `packet` what [`Stage::pass`] said.
    #[inline]
    pub(crate) fn settle(&mut self, packet: P, pass: Pass) {
        match pass {
            Pass::Leaves(at_ns) => self.send(at_ns, packet),
            Pass::Dropped(reason) => self.drop(packet, reason),
            Pass::Otherwise => {}
        }
    }

    /// Takes out what has left, times first, in the order it was sent.
    pub fn take(&mut self) -> impl Iterator<Item = (i64, P)> + '_ {
        self.first.take().into_iter().chain(self.more.drain(..))
    }

    /// What has been counted; of a stage alone, its counters.
    pub fn counters(&self) -> Counters {
        self.counters.get(self.stage).copied().unwrap_or_default()
    }
}

impl<P: Clone> Outbox<P> {
    /// Something happened to a packet that goes on; a drop is told by [`Outbox::drop`] instead.
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
