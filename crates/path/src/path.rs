//! A sequence of stages, evaluated as far ahead as can be done exactly.
//!
//! A stage says at once when a packet will leave it. If it keeps the order, the next stage sees
//! the same packets in the same order whether it is asked now, for the future time, or when that
//! time has come: so it is asked now, and a packet's whole way costs its driver one event. Only a
//! stage that depends on the order and comes after one that does not keep it has to wait, unless
//! it sees to the order itself, as the network card does.

use inorder_random::Random;
use inorder_scenario::config as plain;

use crate::counters::Counters;
use crate::packet::Packet;
use crate::stage::{Fate, Outbox, Pass, Stage};
use crate::stages::AnyStage;

/// Where a packet goes next: a stage, or out of the path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place(u16);

impl Place {
    /// Out of the path: the packet is delivered.
    pub const END: Place = Place(u16::MAX);

    /// Is it delivered?
    #[inline]
    pub fn is_end(self) -> bool {
        self == Place::END
    }
}

/// The simulator, or the loop of a live tool: whoever owns the clock and the queue of events.
///
/// A closure `FnMut(time_ns, place, packet)` is one.
pub trait Driver<P> {
    /// Does it want [`Driver::watch`] to be called? Costs a copy of each packet something
    /// happens to.
    const WATCHES: bool = false;

    /// At `time_ns` deliver the packet ([`Place::END`]) or hand it to [`Path::resume`] with
    /// `place`. Events of one time are due in the order of these calls, and before
    /// [`Path::wake`] for that time.
    fn transfer(&mut self, time_ns: i64, place: Place, packet: P);

    /// Something happened to a packet; see [`Mark`].
    fn watch(&mut self, mark: Mark<P>) {
        let _ = mark;
    }
}

impl<P, F: FnMut(i64, Place, P)> Driver<P> for F {
    #[inline]
    fn transfer(&mut self, time_ns: i64, place: Place, packet: P) {
        self(time_ns, place, packet);
    }
}

/// One line of the truth.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark<P> {
    /// When the packet was at the stage; may be later than now, never earlier.
    pub time_ns: i64,
    /// Position of the stage in the path.
    pub stage: usize,
    /// What happened.
    pub fate: Fate,
    /// To which packet.
    pub packet: P,
}

struct Slot<P: Packet> {
    stage: AnyStage<P>,
    /// Packets must come here in an event of their own.
    event: bool,
    wakes: bool,
    /// Its wakes are the driver's business alone: it may get packets ahead of its time.
    orders_itself: bool,
    keeps_order: bool,
    /// Latest time a packet was sent off for, where the order is not kept.
    latest_ns: i64,
}

/// A list of stages.
pub struct Path<P: Packet> {
    slots: Vec<Slot<P>>,
    /// Positions of stages that may wake.
    wakers: Vec<usize>,
    /// When the first of them is due; `i64::MAX` at no time.
    wake_ns: i64,
    /// `wake_ns` may have changed.
    touched: bool,
    out: Outbox<P>,
}

impl<P: Packet> Path<P> {
    /// A path through `stages`, at most 65,534 of them (further ones are ignored); none at all
    /// delivers at once.
    pub fn new(stages: Vec<AnyStage<P>>) -> Self {
        let mut ordered = true;
        Self::build(stages, |stage| {
            let event = !ordered && stage.needs_order() && !stage.orders_itself();
            ordered = (ordered || event || stage.orders_itself()) && stage.keeps_order();
            event
        })
    }

    /// The path of a scenario. The stage at position n draws from the stream `name/n`, so that a name given to a stage
    /// or taken from it changes no result.
    pub fn declared(stages: &[plain::Stage], name: &str, seed: u64) -> Self {
        let built = stages.iter().enumerate().map(|(at, stage)| {
            let random = Random::new(seed, &format!("{name}/{at}"));
            AnyStage::declared(&stage.kind, random)
        });
        Self::new(built.collect())
    }

    /// The same path with an event at every stage: slower, and the same result.
    #[doc(hidden)]
    pub fn with_an_event_at_every_stage(stages: Vec<AnyStage<P>>) -> Self {
        Self::build(stages, |_| true)
    }

    fn build(stages: Vec<AnyStage<P>>, mut event: impl FnMut(&AnyStage<P>) -> bool) -> Self {
        let slots: Vec<_> = stages
            .into_iter()
            .take(usize::from(u16::MAX - 1))
            .map(|stage| Slot {
                event: event(&stage),
                wakes: stage.may_wake(),
                orders_itself: stage.orders_itself(),
                keeps_order: stage.keeps_order(),
                latest_ns: i64::MIN,
                stage,
            })
            .collect();
        let waking = slots.iter().enumerate().filter(|(_, slot)| slot.wakes);
        let mut path = Path {
            wakers: waking.map(|(at, _)| at).collect(),
            wake_ns: i64::MAX,
            touched: true,
            out: Outbox::for_stages(slots.len()),
            slots,
        };
        path.refresh();
        path
    }

    /// `packet` enters the path.
    #[inline]
    pub fn push<D: Driver<P>>(&mut self, now_ns: i64, packet: P, driver: &mut D) {
        self.out.watching = D::WATCHES;
        self.advance(0, now_ns, packet, driver);
        self.refresh();
    }

    /// `packet` goes on where [`Driver::transfer`] said, at the time it said. (A packet that has
    /// reached the end is given back to the driver.)
    #[inline]
    pub fn resume<D: Driver<P>>(&mut self, now_ns: i64, place: Place, packet: P, driver: &mut D) {
        self.out.watching = D::WATCHES;
        self.advance(usize::from(place.0), now_ns, packet, driver);
        self.refresh();
    }

    /// When [`Path::wake`] is due. `None`: at no time. May change with every call.
    #[inline]
    pub fn next_wake_ns(&self) -> Option<i64> {
        (self.wake_ns != i64::MAX).then_some(self.wake_ns)
    }

    /// Wakes the first stage that is due; call again while [`Path::next_wake_ns`] is not later
    /// than now, transfers that are due by then first.
    pub fn wake<D: Driver<P>>(&mut self, now_ns: i64, driver: &mut D) {
        self.out.watching = D::WATCHES;
        let due = self.wakers.iter().find_map(|&at| {
            let time_ns = self.slots.get(at)?.stage.next_wake_ns()?;
            (time_ns <= now_ns).then_some((at, time_ns))
        });
        if let Some((at, time_ns)) = due {
            self.wake_stage(at, time_ns, driver);
            self.refresh();
        }
    }

    /// What became of the packets, stage by stage.
    pub fn counters(&self) -> &[Counters] {
        self.out
            .counters
            .get(..self.slots.len())
            .unwrap_or_default()
    }

    /// The stages, to look at their own figures.
    pub fn stages(&self) -> impl ExactSizeIterator<Item = &AnyStage<P>> {
        self.slots.iter().map(|slot| &slot.stage)
    }

    /// Looks at the wakers' times again, if one of them has been asked anything.
    #[inline]
    fn refresh(&mut self) {
        if !self.touched {
            return;
        }
        self.touched = false;
        let slots = self.wakers.iter().filter_map(|&at| self.slots.get(at));
        let times = slots.filter_map(|slot| slot.stage.next_wake_ns());
        self.wake_ns = times.min().unwrap_or(i64::MAX);
    }

    /// Carries a packet from stage `at` on as far as it can be told now.
    fn advance<D: Driver<P>>(
        &mut self,
        mut at: usize,
        mut now_ns: i64,
        mut packet: P,
        driver: &mut D,
    ) {
        loop {
            if self.slots.get(at).is_some_and(|slot| slot.wakes) {
                self.catch_up(at, now_ns, driver);
            }
            let Some(slot) = self.slots.get_mut(at) else {
                return driver.transfer(now_ns, Place::END, packet);
            };
            self.out.stage = at;
            if let Some(counters) = self.out.counters.get_mut(at) {
                counters.arrived += 1;
            }
            match slot.stage.pass(now_ns, &mut packet, &mut self.out) {
                Pass::Leaves(time_ns) => {
                    if D::WATCHES {
                        self.tell(at, now_ns, driver);
                    }
                    self.count_sent(at, time_ns, &packet, driver);
                    now_ns = time_ns;
                }
                Pass::Dropped(reason) => {
                    self.out.drop(packet, reason);
                    return self.tell(at, now_ns, driver);
                }
                Pass::Otherwise => {
                    slot.stage.push(now_ns, packet, &mut self.out);
                    let Some(left) = self.leave(at, now_ns, driver) else {
                        return;
                    };
                    (now_ns, packet) = left;
                }
            }
            at += 1;
            if self.slots.get(at).is_some_and(|slot| slot.event) {
                return driver.transfer(now_ns, Place(at as u16), packet);
            }
        }
    }

    /// Takes out of the outbox what stage `at` sent. One packet alone is handed back, to go on
    /// without recursion; of several, all are carried on here.
    #[inline]
    fn leave<D: Driver<P>>(&mut self, at: usize, now_ns: i64, driver: &mut D) -> Option<(i64, P)> {
        if D::WATCHES {
            self.tell(at, now_ns, driver);
        }
        // Looked at first: taking it out moves a whole packet, also where there is none.
        self.out.first.as_ref()?;
        let (time_ns, packet) = self.out.first.take()?;
        self.count_sent(at, time_ns, &packet, driver);
        if self.out.more.is_empty() {
            return Some((time_ns, packet));
        }
        let mut more = std::mem::take(&mut self.out.more);
        self.enter(at + 1, time_ns, packet, driver);
        for (time_ns, packet) in more.drain(..) {
            self.count_sent(at, time_ns, &packet, driver);
            self.enter(at + 1, time_ns, packet, driver);
        }
        if self.out.more.is_empty() {
            self.out.more = more;
        }
        None
    }

    /// A packet on its way into stage `at`: by an event if it needs one.
    fn enter<D: Driver<P>>(&mut self, at: usize, time_ns: i64, packet: P, driver: &mut D) {
        match self.slots.get(at) {
            None => driver.transfer(time_ns, Place::END, packet),
            Some(slot) if slot.event => driver.transfer(time_ns, Place(at as u16), packet),
            Some(_) => self.advance(at, time_ns, packet, driver),
        }
    }

    #[inline]
    fn count_sent<D: Driver<P>>(&mut self, at: usize, time_ns: i64, packet: &P, driver: &mut D) {
        let (Some(counters), Some(slot)) = (self.out.counters.get_mut(at), self.slots.get_mut(at))
        else {
            return;
        };
        counters.sent += 1;
        if slot.keeps_order || time_ns >= slot.latest_ns {
            slot.latest_ns = time_ns;
            return;
        }
        counters.overtook += 1;
        if D::WATCHES {
            driver.watch(Mark {
                time_ns,
                stage: at,
                fate: Fate::Overtook,
                packet: packet.clone(),
            });
        }
    }

    fn tell<D: Driver<P>>(&mut self, at: usize, time_ns: i64, driver: &mut D) {
        for (fate, packet) in self.out.marks.drain(..) {
            driver.watch(Mark {
                time_ns,
                stage: at,
                fate,
                packet,
            });
        }
    }

    /// A packet reaches stage `at` at `now_ns`, perhaps ahead of the driver's time: wakes that
    /// come before must be done before.
    fn catch_up<D: Driver<P>>(&mut self, at: usize, now_ns: i64, driver: &mut D) {
        self.touched = true;
        while let Some(slot) = self.slots.get(at)
            && !slot.orders_itself
            && let Some(time_ns) = slot.stage.next_wake_ns()
            && time_ns < now_ns
        {
            self.wake_stage(at, time_ns, driver);
        }
    }

    fn wake_stage<D: Driver<P>>(&mut self, at: usize, time_ns: i64, driver: &mut D) {
        let Some(slot) = self.slots.get_mut(at) else {
            return;
        };
        self.touched = true;
        self.out.stage = at;
        slot.stage.wake(time_ns, &mut self.out);
        if let Some((time_ns, packet)) = self.leave(at, time_ns, driver) {
            self.enter(at + 1, time_ns, packet, driver);
        }
    }
}
