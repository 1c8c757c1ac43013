//! Rare events by importance splitting: RESTART (M. Villen-Altamirano and J. Villen-Altamirano, "RESTART: a method for
//! accelerating rare event simulations", Proc. 13th International Teletraffic Congress, 1991).
//!
//! A function of the marking, the level, says how near the rare event is. Whenever a trial rises over a threshold of the
//! level, further copies of it are made there, which go on independently of each other and end when they fall below the
//! threshold. Above thresholds that make R1, R2, ... trials of one, all trials count with the weight 1 / (R1 R2 ...), so
//! that means over time stay without bias for any thresholds: these only decide how much is seen.

use super::{Memory, Race};
use crate::coloured::RunError;
use crate::net::{Net, NetError};
use crate::query::Sum;
use crate::statistics::{Layout, Simulation, Totals, TransitionTotal};

/// Events of a pilot run that chooses thresholds.
const PILOT_EVENTS: u64 = 100_000;

/// Time of the first piece of a pilot run: some of the shortest mean delays.
const FIRST_TICKS: u64 = 10_000_000;

/// Times that a value must have been reached in a pilot run to become a threshold.
const SEEN: u64 = 30;

/// The next threshold is where about this share of the time above the last one is spent.
const SHARE: f64 = 0.2;

/// Thresholds and trials of one at each, at most.
const MAX_THRESHOLDS: usize = 200;
const MAX_COPIES: f64 = 100.0;

/// Trials that may wait at a time.
const MAX_WAITING: usize = 100_000;

/// Events of one trial after which it will not come back below its threshold.
const MAX_EVENTS: u64 = 100_000_000;

/// A threshold of the level, and the number of trials into which one that rises over it is split.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// Reached when the level is at least this.
    pub level: f64,
    /// Number of trials into which one trial is split, at least 2.
    pub trials: u32,
}

/// A run that is split where it becomes rare, so that rare events are seen often (importance splitting).
pub struct Splitting {
    main: Trial,
    level: Sum,
    thresholds: Vec<Threshold>,
    /// Integrals of the copies that have ended.
    copies: Vec<f64>,
    events: u64,
    split: u64,
    seen: Option<Seen>,
}

/// The values of the level in a pilot run.
#[derive(Default)]
struct Seen {
    /// By the bits of the value: time with its weight, and how often it was reached or passed upwards.
    values: Vec<(f64, f64, u64)>,
    /// Time with its weight above the last threshold, and the part of it in which each of the wanted numbers was not 0.
    above: f64,
    shown: Vec<f64>,
}

/// A run that goes on.
#[derive(Clone)]
struct Trial {
    race: Race,
    /// The region in which it was made, below which it ends; 0 for the main trial.
    born: usize,
    region: usize,
    events: u64,
}

impl Splitting {
    /// A run of the net in which means of `rewards` are estimated; the thresholds are found by pilot runs.
    pub fn new(
        net: &Net,
        memory: Memory,
        seed: u64,
        level: &Sum,
        rewards: &[Sum],
    ) -> Result<Self, SplittingError> {
        let mut thresholds: Vec<Threshold> = Vec::new();
        let mut budget = PILOT_EVENTS;
        while thresholds.len() < MAX_THRESHOLDS {
            let mut pilot = Self::with(net, memory, seed, level, rewards, &thresholds)?;
            pilot.seen = Some(Seen::of(rewards.len()));
            let mut end = FIRST_TICKS;
            pilot.advance(end)?;
            while pilot.events < budget && !pilot.stands_still() && end < u64::MAX / 2 {
                end += end / 4;
                pilot.advance(end)?;
            }
            match pilot.next_threshold() {
                Some(next) => thresholds.push(next),
                // A longer run may see more.
                None if budget == PILOT_EVENTS => budget *= 4,
                None => break,
            }
        }
        Self::with(net, memory, seed, level, rewards, &thresholds)
    }

    /// A run of the net with these thresholds, which rise.
    pub fn with(
        net: &Net,
        memory: Memory,
        seed: u64,
        level: &Sum,
        rewards: &[Sum],
        thresholds: &[Threshold],
    ) -> Result<Self, SplittingError> {
        let mut main = Race::new(net, memory, seed)?;
        main.observe(rewards.to_vec());
        Ok(Self {
            main: Trial {
                race: main,
                born: 0,
                region: 0,
                events: 0,
            },
            level: level.clone(),
            thresholds: thresholds.to_vec(),
            copies: vec![0.0; rewards.len()],
            events: 0,
            split: 0,
            seen: None,
        })
    }

    /// The thresholds.
    pub fn thresholds(&self) -> &[Threshold] {
        &self.thresholds
    }

    /// Where a marking lies: above how many thresholds.
    fn region(&self, level: f64) -> usize {
        self.thresholds
            .partition_point(|threshold| threshold.level <= level)
    }

    fn weight(&self, region: usize) -> f64 {
        let passed = self.thresholds.iter().take(region);
        passed
            .map(|threshold| 1.0 / f64::from(threshold.trials))
            .product()
    }

    /// The next timed event of a trial until `end`; its copies go to `waiting`. False if the trial has ended.
    fn step(
        &mut self,
        trial: &mut Trial,
        end: u64,
        waiting: &mut Vec<Trial>,
    ) -> Result<bool, RunError> {
        let (before, since) = (trial.race.value(&self.level), trial.race.now_ticks());
        let weight = self.weight(trial.region);
        let numbers = self
            .seen
            .is_some()
            .then(|| trial.race.rewards().values().to_vec());
        if !trial.race.step(end)? {
            return Ok(false);
        }
        self.events += 1;
        trial.events += 1;
        let level = trial.race.value(&self.level);
        if let (Some(seen), Some(numbers)) = (&mut self.seen, numbers) {
            let time = weight * (trial.race.now_ticks() - since) as f64;
            seen.add(before, level, time);
            if trial.region == self.thresholds.len() {
                seen.show(&numbers, time);
            }
        }
        let region = self.region(level);
        if region < trial.born {
            return Ok(false);
        }
        self.move_to(trial, region, waiting)?;
        if trial.born > 0 && trial.events > MAX_EVENTS {
            return Err(RunError::Trial(trial.events));
        }
        Ok(true)
    }

    /// A trial is in another region now: at each threshold over which it rises, copies are made.
    fn move_to(
        &mut self,
        trial: &mut Trial,
        region: usize,
        waiting: &mut Vec<Trial>,
    ) -> Result<(), RunError> {
        while trial.region < region {
            trial.region += 1;
            for _ in 1..self.thresholds[trial.region - 1].trials {
                self.split += 1;
                if waiting.len() >= MAX_WAITING {
                    return Err(RunError::Trial(self.split));
                }
                let mut copy = Trial {
                    race: trial.race.independent_copy(self.split),
                    born: trial.region,
                    region: trial.region,
                    events: 0,
                };
                copy.race.weigh(self.weight(trial.region));
                waiting.push(copy);
            }
        }
        trial.region = region;
        trial.race.weigh(self.weight(region));
        Ok(())
    }

    /// Follows all copies to their ends.
    fn follow(&mut self, waiting: &mut Vec<Trial>) -> Result<(), RunError> {
        while let Some(mut trial) = waiting.pop() {
            // It may have risen over several thresholds at once.
            let region = self.region(trial.race.value(&self.level));
            self.move_to(&mut trial, region, waiting)?;
            while self.step(&mut trial, u64::MAX, waiting)? {}
            let integrals = trial.race.rewards().integrals();
            for (sum, integral) in self.copies.iter_mut().zip(integrals) {
                *sum += integral;
            }
        }
        Ok(())
    }

    fn next_threshold(&self) -> Option<Threshold> {
        let seen = self.seen.as_ref().filter(|seen| !seen.is_enough())?;
        let top = self
            .thresholds
            .last()
            .map_or(f64::NEG_INFINITY, |t| t.level);
        let above = |level: f64| -> f64 {
            let values = seen.values.iter().filter(|(value, ..)| *value >= level);
            values.map(|(_, time, _)| time).sum()
        };
        let all = above(top);
        let candidates = seen
            .values
            .iter()
            .filter(|(value, _, often)| *value > top && *often >= SEEN);
        let shares = candidates.map(|(value, ..)| (*value, above(*value) / all));
        let distance = |share: f64| (share / SHARE).ln().abs();
        let best = shares
            .filter(|(_, share)| *share > 0.0 && *share <= 0.7)
            .min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)))?;
        Some(Threshold {
            level: best.0,
            trials: (1.0 / best.1).round().clamp(2.0, MAX_COPIES) as u32,
        })
    }
}

impl Seen {
    fn of(numbers: usize) -> Self {
        Self {
            shown: vec![0.0; numbers],
            ..Self::default()
        }
    }

    /// The numbers had these values for some time above the last threshold.
    fn show(&mut self, numbers: &[f64], time: f64) {
        self.above += time;
        for (shown, number) in self.shown.iter_mut().zip(numbers) {
            *shown += if *number == 0.0 { 0.0 } else { time };
        }
    }

    /// Whether nothing that is wanted is rare above the last threshold: trials that rise further tell nothing more.
    fn is_enough(&self) -> bool {
        let is_common = |shown: &f64| *shown >= SHARE * self.above;
        !self.shown.is_empty() && self.above > 0.0 && self.shown.iter().all(is_common)
    }

    /// The level was `before` for some time and is `now`.
    fn add(&mut self, before: f64, now: f64, time: f64) {
        for level in [before, now] {
            if let Err(at) = self
                .values
                .binary_search_by(|(value, ..)| value.total_cmp(&level))
            {
                self.values.insert(at, (level, 0.0, 0));
            }
        }
        for (value, spent, reached) in &mut self.values {
            if *value == before {
                *spent += time;
            }
            *reached += u64::from(before < *value && *value <= now);
        }
    }
}

impl Simulation for Splitting {
    /// Only the numbers: what is known of places and transitions from the main trial alone needs no splitting.
    fn layout(&self) -> Layout {
        Layout {
            places: Vec::new(),
            transitions: Vec::new(),
            ..self.main.race.layout()
        }
    }

    fn advance(&mut self, end: u64) -> Result<(), RunError> {
        let mut waiting = Vec::new();
        // A copy of the main trial, since both the trial and what all trials share change.
        let mut main = self.main.clone();
        while self.step(&mut main, end, &mut waiting)? {
            self.follow(&mut waiting)?;
        }
        main.race.run_until_ticks(end)?;
        self.main = main;
        Ok(())
    }

    fn stands_still(&self) -> bool {
        self.main.race.has_ended()
    }

    fn totals(&self, now: u64) -> Totals {
        let main = self.main.race.totals(now);
        let own = main.rewards.iter().zip(&self.copies);
        Totals {
            places: Vec::new(),
            // All trials take time.
            transitions: vec![TransitionTotal {
                firings: self.events,
                ..TransitionTotal::default()
            }],
            rewards: own.map(|(main, copies)| main + copies).collect(),
            rewards_now: main.rewards_now,
        }
    }
}

/// Why a run with splitting is not possible.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SplittingError {
    /// The net is not well-formed.
    #[error(transparent)]
    Net(#[from] NetError),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
}
