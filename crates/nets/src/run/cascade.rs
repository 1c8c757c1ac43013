//! Nets one behind the other. Each runs ahead of the next by a round of tokens, so that memory does not depend on the
//! number of tokens; there is no way back, since no net waits for the next.

use super::Until;
use super::stage::{Ended, Passed, Ran, Stage};
use crate::error::{Checked, Fault, Span};

/// Tokens that the first net of several passes on in a round.
const ROUND: u64 = 1024;

/// Rounds without a token behind the last net, after which the chain stands still.
const MAX_IDLE_ROUNDS: u32 = 100;

/// A running chain; often it has only one net.
pub(super) struct Cascade<const N: usize> {
    stages: Vec<Stage<N>>,
    until: Until,
    /// Where the length of the run is declared.
    at: Span,
}

impl<const N: usize> Cascade<N> {
    pub(super) fn new(mut stages: Vec<Stage<N>>, until: Until, at: Span) -> Self {
        if let (Some(last), Until::Tokens { end, .. }) = (stages.last_mut(), until) {
            last.watch.end = end;
        }
        Self { stages, until, at }
    }

    /// What was counted in each net.
    pub(super) fn run(mut self, go_on: &dyn Fn(f64) -> bool) -> Checked<Vec<Ran>> {
        let (Until::Tokens { warm_up, end } | Until::Time { warm_up, end }) = self.until;
        let go_on = |done: u64| go_on(done as f64 / end as f64);
        let mut goes = self.advance(warm_up, &go_on)?;
        self.stages.iter_mut().for_each(Stage::warmed_up);
        // In steps, so that progress is reported. In a chain the nets run ahead of the last one with each step.
        let least = if self.stages.len() == 1 { 1 } else { 1_000 };
        let step = (end / 100).max(least).min(end - warm_up);
        let mut target = warm_up;
        while goes && target < end {
            target = target.saturating_add(step).min(end);
            goes = self.advance(target, &go_on)?;
            self.stages.iter_mut().for_each(Stage::look);
        }
        Ok(self.stages.into_iter().map(Stage::finish).collect())
    }

    /// Runs to a number of tokens behind the last net, or to a time; false if `go_on` ended it before.
    fn advance(&mut self, target: u64, go_on: &dyn Fn(u64) -> bool) -> Checked<bool> {
        match self.until {
            Until::Time { .. } => self.until_time(target, go_on),
            Until::Tokens { .. } => self.until_tokens(target, go_on),
        }
    }

    fn until_tokens(&mut self, target: u64, go_on: &dyn Fn(u64) -> bool) -> Checked<bool> {
        let mut idle = 0;
        loop {
            let before = self.left();
            let is_dead = self.round(target)?;
            let left = self.left();
            if !go_on(left) {
                return Ok(false);
            }
            if left >= target {
                return Ok(true);
            }
            idle = if left == before { idle + 1 } else { 0 };
            if is_dead || idle > MAX_IDLE_ROUNDS && self.stages.len() > 1 {
                let still = self.stages.iter().find_map(Stage::stands_still);
                let problem = format!(
                    "the net stands still after {left} of {} tokens{}",
                    self.all(),
                    still.map_or_else(String::new, |still| format!(": {still}"))
                );
                return Err(Fault::new(self.at, problem));
            }
        }
    }

    fn until_time(&mut self, target: u64, go_on: &dyn Fn(u64) -> bool) -> Checked<bool> {
        for index in 0..self.stages.len() {
            let stage = &mut self.stages[index];
            stage.watch.target = u64::MAX;
            while let Some(&passed) = stage.pending.front().filter(|(time, _)| *time <= target) {
                while stage.run(passed.0, self.at)? == Ended::Paused {
                    if !go_on(stage.now()) {
                        return Ok(false);
                    }
                }
                stage.enter(passed, self.at)?;
                stage.pending.pop_front();
            }
            while stage.run(target, self.at)? == Ended::Paused {
                if !go_on(stage.now()) {
                    return Ok(false);
                }
            }
            self.pass_on(index);
        }
        Ok(go_on(target))
    }

    /// Tokens behind the last net.
    fn left(&self) -> u64 {
        self.stages.last().map_or(0, |last| last.watch.counted)
    }

    fn all(&self) -> u64 {
        let (Until::Tokens { end, .. } | Until::Time { end, .. }) = self.until;
        end
    }

    /// A round of all nets; true if the first one can do nothing any more.
    fn round(&mut self, target: u64) -> Checked<bool> {
        let last = self.stages.len() - 1;
        let mut is_dead = false;
        for index in 0..=last {
            let at = self.at;
            let stage = &mut self.stages[index];
            stage.watch.target = match index {
                _ if index == last => target,
                0 => stage.watch.counted + ROUND,
                _ => u64::MAX,
            };
            if index == 0 {
                is_dead = stage.run(u64::MAX, at)? == Ended::Dead;
            } else if stage.watch.counted < stage.watch.target {
                take_pending(stage, at)?;
            }
            self.pass_on(index);
        }
        Ok(is_dead)
    }

    /// What has left a net is pending at the next one.
    fn pass_on(&mut self, index: usize) {
        let passed: Vec<Passed<N>> = std::mem::take(&mut self.stages[index].watch.passed);
        if let Some(next) = self.stages.get_mut(index + 1) {
            next.pending.extend(passed);
        }
    }
}

/// Lets what is pending enter a net, each at its time, until the net has counted enough.
fn take_pending<const N: usize>(stage: &mut Stage<N>, at: Span) -> Checked<()> {
    while let Some(&passed) = stage.pending.front() {
        let ended = stage.run(passed.0, at)?;
        if stage.watch.counted >= stage.watch.target {
            return Ok(());
        }
        if ended == Ended::Paused {
            continue;
        }
        stage.enter(passed, at)?;
        stage.pending.pop_front();
    }
    Ok(())
}
