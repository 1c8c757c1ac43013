//! Plain nets over values of parameters and over time: a cell for each combination, with the tables, files and page of
//! coloured nets.

use std::path::Path;
use std::sync::atomic::Ordering;

use inorder_nets::{CellResult, PARTS, Report, Row};
use inorder_petri::inspect::{Answer, Findings, Known, Simulated};
use inorder_petri::parameters::Parameters;
use inorder_petri::statistics::{Estimate, plain, run_seed};

use super::{Args, Source, coloured, found, read, unused};
use crate::error::{CliError, Outcome, usage};
use crate::{interrupt, outputs};

/// Cells, at most.
const MAX_CELLS: usize = 10_000;

/// The name of the axis of `--at`.
const TIME: &str = "time";

/// Digits of a value of a parameter: a sum of steps has the digits of its step and not those of its rounding.
const LABEL_DIGITS: i32 = 12;

/// A parameter, or the time, with its values.
pub(super) struct Axis {
    name: String,
    values: Vec<f64>,
}

/// What varies, and the parameters with a single value.
pub(super) struct Plan {
    fixed: Vec<(String, f64)>,
    axes: Vec<Axis>,
    /// Times at which the state is looked at.
    at: Option<Vec<f64>>,
}

impl Plan {
    /// From pairs of a name and its values, and from `--at`.
    pub(super) fn new(set: &[(String, String)], at: Option<&str>) -> Result<Self, CliError> {
        let mut plan = Self {
            fixed: Vec::new(),
            axes: Vec::new(),
            at: at.map(|text| values("--at", text)).transpose()?,
        };
        if let Some(time) = plan.at.iter().flatten().find(|time| **time < 0.0) {
            return usage!("--at: expected times not below 0, found {time}");
        }
        for (name, text) in set {
            let values = values(&format!("--set {name}"), text)?;
            match values.as_slice() {
                [value] => plan.fixed.push((name.clone(), *value)),
                _ => plan.axes.push(Axis {
                    name: name.clone(),
                    values,
                }),
            }
        }
        let times = plan.at.as_ref().map_or(1, Vec::len);
        let sizes = plan.axes.iter().map(|axis| axis.values.len());
        let cells = sizes.fold(times, usize::saturating_mul);
        match cells > MAX_CELLS {
            true => usage!("expected at most {MAX_CELLS} cells, found {cells}"),
            false => Ok(plan),
        }
    }

    /// Whether there is more than one net at one time.
    pub(super) fn has_cells(&self) -> bool {
        !self.axes.is_empty() || self.at.is_some()
    }

    /// The parameters of the net if it is only one.
    pub(super) fn parameters(&self) -> Parameters {
        Parameters::new(self.fixed.iter().cloned())
    }

    /// The values of the axes of each cell, the last axis the fastest.
    fn cells(&self) -> Vec<Vec<f64>> {
        let times = self.at.iter().map(Vec::as_slice);
        let all = self.axes.iter().map(|axis| axis.values.as_slice());
        all.chain(times).fold(vec![Vec::new()], |cells, values| {
            let longer = |cell: Vec<f64>| {
                values.iter().map(move |value| {
                    let mut cell = cell.clone();
                    cell.push(*value);
                    cell
                })
            };
            cells.into_iter().flat_map(longer).collect()
        })
    }
}

/// `A,B,C` or `LOW..HIGH [step STEP]`.
fn values(option: &str, text: &str) -> Result<Vec<f64>, CliError> {
    let wrong = |found: &str| {
        let expected = "a number, several as 1,2,4 or a range as 0..10 step 2";
        CliError::Usage(format!("{option}: expected {expected}, found {found}"))
    };
    let number = |text: &str| {
        let text = text.trim();
        let number: Option<f64> = text.parse().ok();
        number
            .filter(|number| number.is_finite())
            .ok_or_else(|| wrong(text))
    };
    let Some((low, rest)) = text.split_once("..") else {
        return text.split(',').map(number).collect();
    };
    let (high, step) = rest.split_once("step").unwrap_or((rest, "1"));
    let (low, high, step) = (number(low)?, number(high)?, number(step)?);
    // A little more than the end, so that it is reached despite rounding.
    let steps = ((high - low) / step + 1e-9).floor();
    match step > 0.0 && (0.0..MAX_CELLS as f64).contains(&steps) {
        true => Ok((0..=steps as u32)
            .map(|n| low + f64::from(n) * step)
            .collect()),
        false => Err(wrong(text)),
    }
}

/// Lists the parameters of a net with their values.
pub(super) fn list(parameters: &Parameters) -> Result<(), CliError> {
    outputs::to_stdout(|out| {
        let mut all = parameters.declared().iter();
        all.try_for_each(|(name, value)| writeln!(out, "{name:<28} {value}"))
    })
}

/// Refuses the name of a parameter that the net does not have.
pub(super) fn check_names(parameters: &Parameters) -> Result<(), CliError> {
    let Some(unknown) = parameters.unknown() else {
        return Ok(());
    };
    let known = parameters.declared().iter().map(|(name, _)| name.as_str());
    let hint = match inorder_base::names::nearest(unknown, known) {
        Some(name) => format!("; did you mean {name}?"),
        None => String::new(),
    };
    usage!(
        "--set: expected the name of a parameter of the net (see --parameters), found {unknown}{hint}"
    )
}

/// Examines the net in each cell and writes the numbers.
pub(super) fn run(args: &Args, plan: &Plan, file: &Path, source: &Source) -> Outcome {
    refuse(args)?;
    let options = &args.coloured;
    outputs::check(&options.files(args.json)?, &[file])?;
    let (mut cells, mut name) = (Vec::new(), String::new());
    for values in plan.cells() {
        if interrupt::flag().load(Ordering::Relaxed) && !cells.is_empty() {
            break;
        }
        let named = plan.axes.iter().map(|axis| axis.name.clone());
        let given = named.zip(values.iter().copied());
        let parameters = Parameters::new(plan.fixed.iter().cloned().chain(given));
        let mut parameters = args.choices(parameters);
        let net = read(file, source, &mut parameters)?;
        check_names(&parameters)?;
        name.clone_from(&net.name);
        unused::refuse(args, &net)?;
        let at = plan.at.as_ref().and(values.last().copied());
        let document = found(args, file, net, at)?;
        if document.findings.was_interrupted && document.findings.is_empty() {
            break;
        }
        cells.push(cell(&document.findings, at, &values, args.simulation.seed));
    }
    let interrupted = interrupt::flag().load(Ordering::Relaxed);
    if interrupted && cells.is_empty() {
        return Ok(super::interrupted(super::NO_RESULTS));
    }
    let axes = plan.axes.iter().map(|axis| axis.name.clone());
    let axes: Vec<String> = axes
        .chain(plan.at.as_ref().map(|_| TIME.to_owned()))
        .collect();
    let name = match name.as_str() {
        "" => "net",
        name => name,
    };
    coloured::write(args, &Report::new(name, &axes, cells, interrupted))?;
    Ok(super::interrupted(super::PARTIAL_RESULTS))
}

/// Refuses what is about one net only.
fn refuse(args: &Args) -> Result<(), CliError> {
    let options = [
        ("--invariants", args.wanted.invariants),
        ("--reachability", args.wanted.reachability.is_some()),
        ("--states", args.wanted.states.is_some()),
        ("--play", args.play),
        ("--trace", args.trace.is_some()),
        ("--dot", args.written.dot.is_some()),
        ("--svg", args.written.svg.is_some()),
        ("--pnml", args.written.pnml.is_some()),
        ("--text", args.written.text.is_some()),
    ];
    let mut given = options.into_iter().filter(|(_, given)| *given);
    match given.next() {
        None => Ok(()),
        Some((name, _)) => usage!(
            "{name}: not with several values of a parameter, --at, --csv, --html or --parquet"
        ),
    }
}

/// The numbers of a cell.
fn cell(findings: &Findings, at: Option<f64>, values: &[f64], seed: u64) -> CellResult {
    let numbers: Vec<(Row, Estimate)> = answers(findings)
        .chain(exact(findings))
        .chain(simulated(findings, at))
        .collect();
    let runs = findings.simulated.as_ref().map_or(0, |simulated| {
        if simulated.are_replications {
            simulated.observations as u64
        } else {
            1
        }
    });
    let (rows, estimates) = numbers.into_iter().unzip();
    CellResult {
        labels: values
            .iter()
            .map(|value| plain(*value, LABEL_DIGITS))
            .collect(),
        seeds: (0..runs).map(|run| run_seed(seed, run)).collect(),
        rows,
        runs: Vec::new(),
        estimates,
        unsure: Vec::new(),
        doubts: findings
            .simulated
            .as_ref()
            .map_or_else(Vec::new, Simulated::doubts_in_words),
        firings: 0,
    }
}

fn row(group: &str, name: String) -> Row {
    Row {
        group: group.to_owned(),
        name,
        unit: String::new(),
    }
}

/// The answers to the queries: numbers, and 1 or 0 for formulas that hold or not.
fn answers(findings: &Findings) -> impl Iterator<Item = (Row, Estimate)> {
    let number = |answer: &Answer| {
        let estimate = match answer.answer {
            Known::Number(mean, half_width) => Estimate {
                mean,
                half_width: half_width.unwrap_or(0.0),
            },
            Known::Always(half_width) => Estimate {
                mean: 1.0,
                half_width,
            },
            Known::Holds(Some(holds)) => Estimate::exact(f64::from(u8::from(holds))),
            Known::Holds(None) => Estimate::exact(f64::NAN),
        };
        (row("measures", answer.query.clone()), estimate)
    };
    findings.answers.iter().map(number)
}

fn exact(findings: &Findings) -> impl Iterator<Item = (Row, Estimate)> {
    let exact = findings.exact.iter();
    exact.flat_map(|exact| {
        let places = exact.places.iter().map(|place| {
            let name = format!("{} tokens", place.name);
            (row(PARTS[0], name), Estimate::exact(place.tokens))
        });
        let transitions = exact.transitions.iter().map(|transition| {
            let name = format!("{} throughput", transition.name);
            (row(PARTS[1], name), Estimate::exact(transition.throughput))
        });
        places.chain(transitions)
    })
}

/// The means over time; at a time only the numbers of tokens, since a rate at a time cannot be counted.
fn simulated(findings: &Findings, at: Option<f64>) -> impl Iterator<Item = (Row, Estimate)> {
    // With an exact solution beside it, only one of the two is a cell's number.
    let simulated = findings
        .simulated
        .iter()
        .filter(|_| findings.exact.is_none());
    simulated.flat_map(move |simulated| {
        let places = simulated.measures.places.iter().map(move |place| {
            let tokens = match at {
                None => place.tokens,
                Some(_) => place.tokens_at_end,
            };
            (row(PARTS[0], format!("{} tokens", place.name)), tokens)
        });
        let all = simulated.measures.transitions.iter();
        let transitions = all.filter(move |_| at.is_none()).map(|transition| {
            let name = format!("{} throughput", transition.name);
            (row(PARTS[1], name), transition.throughput)
        });
        places.chain(transitions)
    })
}
