//! The clocks of timed transitions.

use inorder_base::random::Random;

use super::Memory;
use crate::coloured::Delay;
use crate::net::Net;
use crate::schedule::events::Events;

/// All running clocks, and the remaining times of stopped ones.
#[derive(Clone)]
pub(crate) struct Clocks {
    events: Events,
    /// By the slot of its event.
    clocks: Vec<Clock>,
    /// The running clocks of every transition, in the order in which they were started.
    running: Vec<Running>,
    /// Remaining ticks of the clocks of every transition that were stopped and will continue.
    left: Vec<Vec<u64>>,
    random: Vec<Random>,
}

#[derive(Clone, Copy)]
struct Clock {
    transition: u32,
    end: u64,
    /// Slots of the running clocks of the transition that were started just before and after this one.
    before: u32,
    after: u32,
}

/// A chain of clocks: any of them is taken out without a search, however many there are.
#[derive(Clone, Copy)]
struct Running {
    last: u32,
    count: usize,
}

/// No slot.
const NONE: u32 = u32::MAX;

impl Clocks {
    pub(crate) fn new(net: &Net, seed: u64) -> Self {
        let transitions = &net.transitions;
        let stream = |name: &str| Random::new(seed, &format!("transition/{name}"));
        Self {
            events: Events::default(),
            clocks: Vec::new(),
            running: vec![
                Running {
                    last: NONE,
                    count: 0
                };
                transitions.len()
            ],
            left: vec![Vec::new(); transitions.len()],
            random: transitions.iter().map(|t| stream(&t.name)).collect(),
        }
    }

    /// Number of running clocks of the transition.
    pub(crate) fn running(&self, transition: usize) -> usize {
        self.running[transition].count
    }

    /// Whether no clock runs.
    pub(crate) fn are_still(&self) -> bool {
        self.events.is_empty()
    }

    /// Removes the clock that expires first, if not later than `end`: (time, transition).
    pub(crate) fn next_until(&mut self, end: u64) -> Option<(u64, u32)> {
        let (time, slot) = self.events.pop_until(end)?;
        self.events.free(slot);
        let clock = self.clocks[slot as usize];
        self.take_out(clock);
        Some((time, clock.transition))
    }

    /// Starts a clock; a stopped one continues. Immediate transitions have none. `None` if there are too many.
    pub(crate) fn start(
        &mut self,
        transition: usize,
        now: u64,
        delay: Option<&Delay>,
    ) -> Option<()> {
        let left = self.left[transition].pop();
        let random = &mut self.random[transition];
        let ticks = left
            .or_else(|| delay.map(|delay| delay.sample(random)))
            .unwrap_or_default();
        let end = now.saturating_add(ticks);
        let slot = self.events.insert(end)?;
        let clock = Clock {
            transition: transition as u32,
            end,
            before: self.running[transition].last,
            after: NONE,
        };
        match self.clocks.get_mut(slot as usize) {
            Some(known) => *known = clock,
            // Slots are numbered in the order in which they are first used.
            None => self.clocks.push(clock),
        }
        if clock.before != NONE {
            self.clocks[clock.before as usize].after = slot;
        }
        self.running[transition] = Running {
            last: slot,
            count: self.running[transition].count + 1,
        };
        Some(())
    }

    /// Takes a clock out of the chain of its transition.
    fn take_out(&mut self, clock: Clock) {
        let running = &mut self.running[clock.transition as usize];
        running.count -= 1;
        match clock.after {
            NONE => running.last = clock.before,
            after => self.clocks[after as usize].before = clock.before,
        }
        if clock.before != NONE {
            self.clocks[clock.before as usize].after = clock.after;
        }
    }

    /// Stops the clock of the transition that was started last; returns whether there was one.
    pub(crate) fn stop_last(&mut self, transition: usize, now: u64, memory: Memory) -> bool {
        let slot = self.running[transition].last;
        if slot == NONE {
            return false;
        }
        let clock = self.clocks[slot as usize];
        self.take_out(clock);
        if memory == Memory::Age {
            self.left[transition].push(clock.end.saturating_sub(now));
        }
        self.events.cancel(slot);
        true
    }

    /// Further random numbers are those of this copy, and running clocks with a delay are drawn anew with it.
    pub(crate) fn draw_anew<'d>(
        &mut self,
        copy: u64,
        now: u64,
        delay: impl Fn(usize) -> Option<&'d Delay>,
    ) {
        for random in &mut self.random {
            *random = random.fork(copy);
        }
        self.events.take_out_all();
        for transition in 0..self.running.len() {
            let mut slots = Vec::new();
            let mut slot = self.running[transition].last;
            while slot != NONE {
                slots.push(slot);
                slot = self.clocks[slot as usize].before;
            }
            for slot in slots.into_iter().rev() {
                let clock = &mut self.clocks[slot as usize];
                if let Some(delay) = delay(transition) {
                    clock.end = now.saturating_add(delay.sample(&mut self.random[transition]));
                }
                self.events.insert_again(clock.end, slot);
            }
        }
    }
}
