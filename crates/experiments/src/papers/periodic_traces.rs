//! The congestion windows of the periodic paper, figures 5 to 11.

use super::periodic::{Outcome, interval, outcomes};
use super::{Context, ExperimentError};
use crate::{Claim, Comparison, Estimate, Findings};

const SECOND_NS: u64 = 1_000_000_000;

/// Start of the transfer, which the paper's time axes count from the simulation's start.
const START_S: f64 = 0.2;

/// A window over time.
struct Trace(Vec<(f64, u32)>);

impl Trace {
    fn of(outcome: &Outcome) -> Self {
        let point = |s: &inorder_sim::Sample| (s.time_ns as f64 / SECOND_NS as f64, s.cwnd);
        let started = outcome.samples.iter().map(point);
        Trace(started.filter(|(at, _)| *at > START_S).collect())
    }

    /// Windows from `from_s` on and before `to_s`.
    fn between(&self, from_s: f64, to_s: f64) -> impl Iterator<Item = u32> + '_ {
        let inside = move |(at, _): &&(f64, u32)| *at >= from_s && *at < to_s;
        self.0.iter().filter(inside).map(|(_, cwnd)| *cwnd)
    }

    fn mean(&self, from_s: f64, to_s: f64) -> f64 {
        let all: Vec<f64> = self.between(from_s, to_s).map(f64::from).collect();
        all.iter().sum::<f64>() / all.len() as f64
    }

    fn least(&self, from_s: f64, to_s: f64) -> f64 {
        f64::from(self.between(from_s, to_s).min().unwrap_or(0))
    }

    fn greatest(&self, from_s: f64, to_s: f64) -> f64 {
        f64::from(self.between(from_s, to_s).max().unwrap_or(0))
    }

    /// First time a window falls, seconds.
    fn first_fall(&self) -> Option<f64> {
        let pair = self.0.windows(2).find(|pair| pair[1].1 < pair[0].1)?;
        Some(pair[1].0)
    }

    /// Longest time without growth between two times, seconds.
    fn longest_standstill(&self, from_s: f64, to_s: f64) -> f64 {
        let (mut since, mut longest) = (from_s, 0.0f64);
        let inside = |pair: &&[(f64, u32)]| pair[1].0 >= from_s && pair[1].0 < to_s;
        for pair in self.0.windows(2).filter(inside) {
            if pair[1].1 > pair[0].1 {
                longest = longest.max(pair[1].0 - since);
                since = pair[1].0;
            }
        }
        longest.max(to_s - since)
    }

    /// Least, mean and greatest window in every two seconds.
    fn rows(&self, item: &str, name: &str) -> Vec<Comparison> {
        let mut rows = Vec::new();
        for from in [0.0, 2.0, 4.0, 6.0, 8.0] {
            let cell = format!("{name}, {from} to {} s", from + 2.0);
            for (measure, ours) in [
                ("least window, segments", self.least(from, from + 2.0)),
                ("mean window, segments", self.mean(from, from + 2.0)),
                ("greatest window, segments", self.greatest(from, from + 2.0)),
            ] {
                let ours = Estimate::exact(ours);
                rows.push(Comparison::new(item, &cell, measure, None, ours));
            }
        }
        rows
    }
}

/// Traces of NewReno and CUBIC at one RI, the window bounded as in the other figures.
fn traces(context: &Context<'_>, ri: u64) -> Result<[Trace; 2], ExperimentError> {
    let runs = outcomes(context, |cell| {
        let tcp = cell
            .label("tcp")
            .is_some_and(|tcp| tcp == "newreno" || tcp == "cubic");
        let kept = tcp && interval(&cell) == ri && cell.label("window") == Some("bounded");
        if kept { vec![cell] } else { Vec::new() }
    })?;
    let trace = |tcp: &str| {
        let run = runs.iter().find(|run| run.tcp == tcp);
        run.map_or(Trace(Vec::new()), Trace::of)
    };
    Ok([trace("newreno"), trace("cubic")])
}

fn judged(id: &str, text: &str, ours: f64, held: bool, otherwise: &str) -> Claim {
    let claim = Claim::new(id, text, Estimate::exact(ours), held);
    if held { claim } else { claim.note(otherwise) }
}

pub(super) fn figures_5_to_9(context: &Context<'_>) -> Result<Findings, ExperimentError> {
    let item = "figures-5-9";
    let [newreno, cubic] = traces(context, 8)?;
    let mut findings = Findings::default();
    findings
        .comparisons
        .extend(newreno.rows(item, "figure 5: NewReno, RI 8"));
    findings
        .comparisons
        .extend(cubic.rows(item, "figure 6: CUBIC, RI 8"));
    let first = cubic.first_fall().unwrap_or(START_S);
    let least = cubic.least(first, 10.2);
    let early = cubic.least(first, 2.0);
    findings.claims = vec![
        judged(
            "figure-6/collapse",
            "at RI = 8 CUBIC's window falls to its minimum of 2 segments",
            least,
            least <= 2.0,
            "each needless recovery takes a fifth, and the next comes only once more than RI packets wait again, for \
             which the window must grow back: with RFC 6582's guard against repeated recoveries it cannot be \
             reduced again and again as the paper's is",
        )
        .printed(2.0),
        judged(
            "figure-9/gradual",
            "and does so step by step within the first 2 s (least window before 2 s)",
            early,
            early <= 2.0,
            "as above",
        )
        .printed(2.0),
        judged(
            "figure-5/grows",
            "NewReno's window grows even after fast recovery (mean from 8 to 10 s over mean from 2 to 4 s)",
            newreno.mean(8.0, 10.0) / newreno.mean(2.0, 4.0),
            newreno.mean(8.0, 10.0) > newreno.mean(2.0, 4.0),
            "recoveries come faster than congestion avoidance grows",
        ),
        judged(
            "figure-6/low",
            "CUBIC's fluctuates in a low range, below 50 segments (greatest from 2 s on)",
            cubic.greatest(2.0, 10.2),
            cubic.greatest(2.0, 10.2) < 50.0,
            "between recoveries CUBIC grows back to more than the path holds",
        ),
        judged(
            "figure-5/above",
            "NewReno's mean window is above CUBIC's from 2 s on (ratio)",
            newreno.mean(2.0, 10.2) / cubic.mean(2.0, 10.2),
            newreno.mean(2.0, 10.2) > cubic.mean(2.0, 10.2),
            "CUBIC recovers its window faster",
        ),
    ];
    Ok(findings)
}

pub(super) fn figures_10_and_11(context: &Context<'_>) -> Result<Findings, ExperimentError> {
    let item = "figures-10-11";
    let [newreno, cubic] = traces(context, 80)?;
    let mut findings = Findings::default();
    findings
        .comparisons
        .extend(newreno.rows(item, "figure 10: NewReno, RI 80"));
    findings
        .comparisons
        .extend(cubic.rows(item, "figure 11: CUBIC, RI 80"));
    let stands = [&newreno, &cubic].map(|trace| trace.longest_standstill(2.0, 8.0));
    let text = format!(
        "at RI = 80 CUBIC's window grows only intermittently from 2 to 8 s: longest time without growth, s, above \
         1 s and above NewReno's ({:.2} s)",
        stands[0]
    );
    findings.claims = vec![
        judged(
            "figure-11/intermittent",
            &text,
            stands[1],
            stands[1] > 1.0 && stands[1] > stands[0],
            "CUBIC's TCP-friendly region carries the window over its plateau: with a decrease to 0.8 it adds a third of \
             a segment a round trip. The paper's equations (2) and (3) leave that region out",
        ),
        judged(
            "figure-10/avoidance",
            "NewReno goes on in congestion avoidance: longest time without growth from 2 to 8 s, s, below 0.5 s",
            stands[0],
            stands[0] < 0.5,
            "the window stands while it is at the receiver's bound and in recoveries",
        ),
    ];
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_read_in_seconds() {
        let trace = Trace(vec![
            (1.0, 10),
            (2.0, 11),
            (3.0, 5),
            (4.0, 5),
            (5.0, 6),
            (6.0, 6),
        ]);
        assert_eq!(trace.first_fall(), Some(3.0));
        assert_eq!(trace.longest_standstill(2.0, 7.0), 3.0);
        assert_eq!(
            (trace.least(2.0, 6.0), trace.greatest(2.0, 6.0)),
            (5.0, 11.0)
        );
        assert_eq!(trace.mean(3.0, 6.0), 16.0 / 3.0);
    }
}
