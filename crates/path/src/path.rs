//! A sequence of stages, evaluated as far ahead of time as is exactly possible.
//!
//! A stage returns at once the time at which a packet will leave it. If the stage keeps the order, the next stage
//! sees the same packets in the same order, whether it is called now for the future time, or at that time. So it is
//! called now, and the whole path of a packet costs its driver one event. Only a stage that depends on the order, and
//! that follows a stage which does not keep it, has to wait, unless it restores the order itself, as the network card
//! does.

use inorder_base::random::Random;
use inorder_scenario::config as plain;

use crate::busy::{Busy, BusyLog};
use crate::counters::Counters;
use crate::packet::Packet;
use crate::stage::{Fate, Outbox, Pass, Stage};
use crate::stages::AnyStage;

/// The next position of a packet: a stage, or the end of the path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place(u16);

impl Place {
    /// The end of the path: the packet is delivered.
    pub const END: Place = Place(u16::MAX);

    /// True if the packet is delivered.
    #[inline]
    pub fn is_end(self) -> bool {
        self == Place::END
    }
}

/// The owner of the clock and of the event queue: the simulator, or the loop of a live tool.
///
/// Implemented by closures `FnMut(time_ns, place, packet)`.
pub trait Driver<P> {
    /// True if [`Driver::watch`] should be called. This costs one copy of each packet to which something happens.
    const WATCHES: bool = false;

    /// At `time_ns`, the driver must deliver the packet ([`Place::END`]) or pass it to [`Path::resume`] with `place`.
    /// Events at the same time are due in the order of these calls, and before [`Path::wake`] for that time.
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

/// One record of the truth.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark<P> {
    /// The time at the stage; may be in the future, never in the past.
    pub time_ns: i64,
    /// Index of the stage in the path.
    pub stage: usize,
    /// What happened.
    pub fate: Fate,
    /// The packet.
    pub packet: P,
}

struct Slot<P: Packet> {
    stage: AnyStage<P>,
    /// Packets must reach this stage with an event of their own.
    event: bool,
    wakes: bool,
    /// The driver alone calls this stage: it may receive packets ahead of time.
    orders_itself: bool,
    keeps_order: bool,
    /// Latest departure time of any packet, for stages that do not keep the order.
    latest_ns: i64,
}

/// A list of stages.
pub struct Path<P: Packet> {
    slots: Vec<Slot<P>>,
    /// Indices of stages that may need a call.
    wakers: Vec<usize>,
    /// When the first of these calls is due; `i64::MAX` if there is none.
    wake_ns: i64,
    /// True if `wake_ns` may have changed.
    touched: bool,
    out: Outbox<P>,
}

impl<P: Packet> Path<P> {
    /// A path through `stages`, at most 65,534 of them (further ones are ignored). A path without stages delivers at
    /// once.
    pub fn new(stages: Vec<AnyStage<P>>) -> Self {
        let mut ordered = true;
        Self::build(stages, |stage| {
            let event = !ordered && stage.needs_order() && !stage.orders_itself();
            ordered = (ordered || event || stage.orders_itself()) && stage.keeps_order();
            event
        })
    }

    /// The path of a scenario. The stage at index n uses the random stream `name/n`, so giving or removing the name
    /// of a stage changes no result.
    pub fn declared(stages: &[plain::Stage], name: &str, seed: u64) -> Self {
        let built = stages.iter().enumerate().map(|(at, stage)| {
            let random = Random::new(seed, &format!("{name}/{at}"));
            AnyStage::declared(&stage.kind, random)
        });
        Self::new(built.collect())
    }

    /// The same path with an event at every stage: slower, with the same result.
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

    /// `packet` continues at the place and time that [`Driver::transfer`] gave. (A packet that has reached the end is
    /// returned to the driver.)
    #[inline]
    pub fn resume<D: Driver<P>>(&mut self, now_ns: i64, place: Place, packet: P, driver: &mut D) {
        self.out.watching = D::WATCHES;
        self.advance(usize::from(place.0), now_ns, packet, driver);
        self.refresh();
    }

    /// When [`Path::wake`] is due; `None` if no call is needed. May change with every call.
    #[inline]
    pub fn next_wake_ns(&self) -> Option<i64> {
        (self.wake_ns != i64::MAX).then_some(self.wake_ns)
    }

    /// Calls the first stage that is due. Call again while [`Path::next_wake_ns`] is not later than now, after the
    /// transfers that are due by then.
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

    /// The counters, stage by stage.
    pub fn counters(&self) -> &[Counters] {
        self.out
            .counters
            .get(..self.slots.len())
            .unwrap_or_default()
    }

    /// True if the first stage is the sending host's own device.
    pub fn begins_with_device(&self) -> bool {
        matches!(self.slots.first(), Some(slot) if matches!(slot.stage, AnyStage::Device(_)))
    }

    /// False if the path begins with the sending host's own device and a packet of `bytes` (IP) would find its queue
    /// full: whoever sends should keep it.
    #[inline]
    pub fn has_room(&mut self, now_ns: i64, bytes: u32) -> bool {
        match self.slots.first_mut().map(|slot| &mut slot.stage) {
            Some(AnyStage::Device(device)) => device.has_room(now_ns, bytes),
            _ => true,
        }
    }

    /// From now on it is kept when its stages are busy.
    pub fn keep_busy_times(&mut self) {
        for slot in &mut self.slots {
            slot.stage.busy().into_iter().for_each(BusyLog::keep);
        }
    }

    /// When each stage that serves packets at a rate was busy, in order of the stages; see [`Path::keep_busy_times`].
    pub fn busy_times(&mut self) -> impl Iterator<Item = &[Busy]> {
        let stages = self.slots.iter_mut().map(|slot| &mut slot.stage);
        stages.filter_map(|stage| stage.busy().map(|log| log.times()))
    }

    /// The stages, for reading their own counters.
    pub fn stages(&self) -> impl ExactSizeIterator<Item = &AnyStage<P>> {
        self.slots.iter().map(|slot| &slot.stage)
    }

    /// Updates the time of the next call if a stage has been used.
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

    /// Moves a packet from stage `at` on as far as its times can be computed now.
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

    /// Takes what stage `at` sent from the outbox. A single packet is returned, to continue without recursion;
    /// several packets are all moved on here.
    #[inline]
    fn leave<D: Driver<P>>(&mut self, at: usize, now_ns: i64, driver: &mut D) -> Option<(i64, P)> {
        if D::WATCHES {
            self.tell(at, now_ns, driver);
        }
        // Checked first: taking a packet out moves it as a whole, even if there is none.
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

    /// Passes a packet to stage `at`, through an event if needed.
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

    /// A packet reaches stage `at` at `now_ns`, possibly ahead of the driver's time: calls that are due earlier must
    /// be made first.
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
