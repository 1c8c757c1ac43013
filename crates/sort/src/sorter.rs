//! What every sorter offers, whatever its rule.

use crate::meta::Meta;
use crate::out::{Each, Out, Places};

/// Takes packets as they arrive, gives them back in a better order.
///
/// Every packet pushed comes out of `out` exactly once, during this call or a later one. Time is
/// an argument: nanoseconds on any clock that never runs backwards. A sorter has no timer either.
/// One that holds packets past the end of a batch says by [`Sorter::next_deadline_ns`] when
/// [`Sorter::on_deadline`] must be called, and whoever drives it has the timer: a card, an event
/// queue, a timerfd. All memory is reserved when the sorter is made.
///
/// `K` tells flows apart, `P` is a packet of any type, which the sorter only moves.
pub trait Sorter<K, P> {
    /// One packet arrives.
    fn push(&mut self, meta: &Meta<K>, packet: P, now_ns: i64, out: &mut (impl FnMut(P) + ?Sized));

    /// The interrupt-coalesced batch ends: the ring is empty, the stack gets its turn.
    fn end_of_batch(&mut self, now_ns: i64, out: &mut (impl FnMut(P) + ?Sized));

    /// When [`Sorter::on_deadline`] must be called at the latest although nothing arrives;
    /// `None`: no such time. It may be asked after every call and changes only by calls.
    fn next_deadline_ns(&self) -> Option<i64> {
        None
    }

    /// The time that [`Sorter::next_deadline_ns`] named has come: what has waited long enough
    /// goes to `out`, and the next deadline is later than `now_ns`.
    fn on_deadline(&mut self, now_ns: i64, out: &mut (impl FnMut(P) + ?Sized)) {
        let _ = (now_ns, out);
    }

    /// Gives back everything held, whatever the rule says: the link goes down, the file ends.
    fn flush(&mut self, now_ns: i64, out: &mut (impl FnMut(P) + ?Sized));

    /// The longest that a packet of `flow` that came now would be held, nanoseconds, for plots; `None`: it is never held
    /// past the end of a batch.
    fn hold_ns(&self, flow: K) -> Option<i64> {
        let _ = flow;
        None
    }

    /// Packets held now.
    fn held(&self) -> usize;

    /// What has been done so far.
    fn counters(&self) -> Counters;

    /// Bytes it takes, itself included, what the packets point at not.
    fn memory_footprint(&self) -> usize;

    /// True of a sorter that never holds a packet and never changes an order: whoever drives it
    /// may leave it out.
    fn passes_through(&self) -> bool {
        false
    }

    /// A burst arrives: the same as [`Sorter::push`] for each of its packets. A sorter that can
    /// do more with an array than with one packet after another has its own way here; who has a burst calls
    /// [`Sorter::push_burst`] or [`Sorter::sort_batch`].
    #[inline]
    fn take_burst<'b, T>(
        &mut self,
        burst: &'b [T],
        meta: &impl Fn(&T) -> Meta<K>,
        packet: &impl Fn(&'b T) -> P,
        now_ns: i64,
        out: &mut impl Out<P>,
    ) {
        for t in burst {
            self.push(&meta(t), packet(t), now_ns, &mut |packet| out.one(packet));
        }
    }

    /// A burst arrives, and what it makes go up goes to `out`.
    ///
    /// `meta` tells the facts of a packet and may be asked more than once; `packet` makes what is
    /// delivered and is asked once for each.
    #[inline]
    fn push_burst<'b, T>(
        &mut self,
        burst: &'b [T],
        meta: impl Fn(&T) -> Meta<K>,
        packet: impl Fn(&'b T) -> P,
        now_ns: i64,
        out: &mut (impl FnMut(P) + ?Sized),
    ) {
        self.take_burst(burst, &meta, &packet, now_ns, &mut Each(out));
    }

    /// A whole batch: [`Sorter::push_burst`], then [`Sorter::end_of_batch`], delivering into
    /// `places` from the front. Gives back how many packets were delivered: at most those held
    /// before and those of the burst together.
    ///
    /// `None`, and no packet is taken, when `places` are fewer than these. `packet` may be asked
    /// more than once.
    #[inline]
    fn sort_batch<'b, T>(
        &mut self,
        burst: &'b [T],
        meta: impl Fn(&T) -> Meta<K>,
        packet: impl Fn(&'b T) -> P,
        now_ns: i64,
        places: &mut [P],
    ) -> Option<usize>
    where
        P: Copy,
    {
        if places.len() < self.held().saturating_add(burst.len()) {
            return None;
        }
        let mut out = Places::new(places);
        self.take_burst(burst, &meta, &packet, now_ns, &mut out);
        self.end_of_batch(now_ns, &mut |packet| out.one(packet));
        Some(out.written())
    }
}

/// What a sorter has done so far; what is special to one rule it tells itself.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Counters {
    /// Packets that might be held and sorted.
    pub suitable: u64,
    /// Packets that had to pass at once.
    pub unsuitable: u64,
    /// Batches ended.
    pub batches: u64,
}

impl Counters {
    /// These numbers.
    pub fn new(suitable: u64, unsuitable: u64, batches: u64) -> Self {
        Counters {
            suitable,
            unsuitable,
            batches,
        }
    }
}
