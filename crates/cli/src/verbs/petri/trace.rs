//! The firings of a simulated run as lines of JSON.

use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::Ordering;

use inorder_nets::Study;
use inorder_petri::inspect::Clock;
use inorder_petri::net::{Net, TransitionId};
use inorder_petri::race::Race;
use inorder_report::json::Json;
use inorder_report::{Digits, Element, columns};

use super::malformed;
use super::simulation::Options;
use crate::error::CliError;
use crate::progress::Bar;
use crate::{interrupt, outputs};

/// Parts of the run, between which progress is shown and Ctrl-C is seen.
const PARTS: u64 = 1_000;

/// Default end of the run in mean delays of the slowest transition.
const MEAN_DELAYS: f64 = 100.0;

/// A firing.
pub(super) struct Firing {
    net: Rc<Net>,
    time: f64,
    transition: TransitionId,
    marking: Vec<u32>,
}

impl Firing {
    /// Before the first one.
    fn before(net: &Net) -> Self {
        Self {
            net: Rc::new(net.clone()),
            time: 0.0,
            transition: TransitionId(0),
            marking: Vec::new(),
        }
    }

    fn held(&self) -> Vec<(&str, u32)> {
        let places = self.net.places.iter().zip(&self.marking);
        let held = places.filter(|(_, tokens)| **tokens > 0);
        held.map(|(place, n)| (place.name.as_str(), *n)).collect()
    }
}

columns! {
    /// What a line holds.
    pub(super) COLUMNS: Firing, |f|
    "time": Number(Digits::Fine), "Time of the firing, in the unit of the net." => f.time;
    "transition": Text, "What fired." => &f.net.transitions[f.transition.0].name;
    "marking": Map(Element::Number), "Tokens after it, by place; empty places are left out." => f.held();
}

/// Simulates until the time of the options and writes every firing.
pub(super) fn write(net: &Net, options: &Options, path: &Path) -> Result<(), CliError> {
    let fails = |problem: String| malformed(path, None, problem);
    let mut race = Race::new(net, options.memory.into(), options.seed)
        .map_err(|error| fails(error.to_string()))?;
    let end = Clock::of(net)
        .ticks(options.time, MEAN_DELAYS)
        .map_err(|error| fails(error.to_string()))?;
    let mut problem = None;
    outputs::to_file(path, |out| {
        let run = run(net, &mut race, end, out);
        problem = run.err();
        match problem.take_if(|problem| matches!(problem, Problem::Output(_))) {
            Some(Problem::Output(error)) => Err(error),
            _ => Ok(()),
        }
    })?;
    match problem {
        Some(Problem::Run(problem)) => Err(fails(problem)),
        _ => Ok(()),
    }
}

/// Runs a coloured net to its end, or to the time of the options, and writes every start and end of a firing.
pub(super) fn write_coloured(
    study: &Study,
    options: &Options,
    path: &Path,
) -> Result<(), CliError> {
    let mut problem = None;
    outputs::to_file(path, |out| {
        let mut written = Ok(());
        let mut firing: Option<Firing> = None;
        let stop = interrupt::flag();
        let ran = study.trace(
            options.seed,
            options.time,
            &mut |time, net, transition, marking| {
                let firing = firing.get_or_insert_with(|| Firing::before(net));
                firing.time = time;
                firing.transition = transition;
                firing.marking.clear();
                firing.marking.extend_from_slice(marking);
                written = line(firing, out);
                written.is_ok() && !stop.load(Ordering::Relaxed)
            },
        );
        problem = ran.err();
        written
    })?;
    problem.map_or(Ok(()), |problem| Err(super::coloured::malformed(problem)))
}

enum Problem {
    Output(io::Error),
    Run(String),
}

fn run(net: &Net, race: &mut Race, end: u64, out: &mut dyn Write) -> Result<(), Problem> {
    let ticks_per_unit = race.ticks_per_unit();
    let mut firing = Firing::before(net);
    let stop = interrupt::flag();
    let bar = Bar::counting("", "parts");
    for part in 1..=PARTS {
        let mut written = Ok(());
        let to = (u128::from(end) * u128::from(part) / u128::from(PARTS)) as u64;
        let ran = race.run_observed(to, &mut |now, transition, marking| {
            if written.is_ok() {
                firing.time = now as f64 / ticks_per_unit;
                firing.transition = transition;
                firing.marking.clear();
                firing.marking.extend_from_slice(marking);
                written = line(&firing, out);
            }
        });
        written.map_err(Problem::Output)?;
        ran.map_err(|error| Problem::Run(error.to_string()))?;
        bar.at(part, Some(PARTS));
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    Ok(())
}

fn line(firing: &Firing, out: &mut dyn Write) -> io::Result<()> {
    let columns: Vec<_> = COLUMNS.iter().collect();
    Json::new(out).object(&columns, firing)?;
    writeln!(out)
}
