//! A net with all its cells: values of parameters from options and sweeps, each run several times.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use inorder_base::stats::Estimate;
use inorder_petri::statistics::{plain, run_seed};
use inorder_report::number::plural;

use crate::ast::{Expr, ExprKind, Kind, Parameter, Values};
use crate::error::{Checked, Fault, NetError, Span};
use crate::ir::Ty;
use crate::measure::{Row, Unsure};
use crate::names::Names;
use crate::operator::{Arith, Operator};
use crate::program::Program;
use crate::run::{Outcome, Ran, account, run};

/// Cells of a study, at most.
const MAX_CELLS: usize = 100_000;

/// A net with the values of its parameters.
#[derive(Debug, Clone)]
pub struct Study {
    program: Program,
    /// The swept parameters.
    pub(crate) axes: Vec<String>,
    cells: Vec<Cell>,
}

/// Values of parameters, and how the swept ones are written.
#[derive(Debug, Clone)]
struct Cell {
    labels: Vec<String>,
    settings: BTreeMap<String, Expr>,
}

/// A parameter of a net.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its value in the first cell.
    pub value: String,
    /// What it may be.
    pub expected: String,
    /// What the file says about it; may be empty.
    pub about: String,
}

/// How often each cell is run.
pub struct Campaign<'a> {
    /// Seed of the first run of each cell; the others follow it.
    pub seed: u64,
    /// Runs of each cell, at least 1.
    pub repetitions: u32,
    /// Threads; 0 for one per processor.
    pub threads: usize,
    /// Hears how many thousandths of a run were done since the last call.
    pub progress: &'a (dyn Fn(u64) + Sync),
    /// As soon as this is true, no further run begins, and those under way end with what they have. The first run is
    /// made in any case.
    pub stop: &'a AtomicBool,
}

/// The results of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct CellResult {
    /// The value of each swept parameter, as it could be written.
    pub labels: Vec<String>,
    /// Seeds of the runs that were made.
    pub seeds: Vec<u64>,
    /// The numbers.
    pub rows: Vec<Row>,
    /// For each run, the value of each number.
    pub runs: Vec<Vec<f64>>,
    /// The numbers with their intervals, if those do not come from the runs (of batches of one run, or exact); empty
    /// otherwise.
    pub estimates: Vec<Estimate>,
    /// For each run, why a number is not known.
    pub unsure: Vec<Vec<Option<Unsure>>>,
    /// What else speaks against the numbers, one sentence each.
    pub doubts: Vec<String>,
    /// Completed firings of all runs.
    pub firings: u64,
}

impl Program {
    /// The net with values of parameters: pairs of a name and a value, or several as `1, 2, 4` or `1..8 step 1`, which
    /// replace those of the file. Checks everything that can be checked without a run.
    pub fn study(mut self, set: &[(String, String)]) -> Result<Study, NetError> {
        let mut given: Vec<(String, Values)> = Vec::new();
        for (name, text) in set {
            let values = self.values(&format!("--set {name}"), text)?;
            given.retain(|(other, _)| other != name);
            given.push((name.clone(), values));
        }
        let files = self.files.clone();
        let study = self.with(given);
        study.map_err(|fault| fault.in_files(&files))
    }

    fn with(self, given: Vec<(String, Values)>) -> Checked<Study> {
        let (fixed, axes) = split(&self, given)?;
        let mut cells = vec![fixed];
        for (name, values) in &axes {
            cells = multiplied(&cells, name, values)?;
        }
        let axes: Vec<String> = axes.into_iter().map(|(name, _)| name).collect();
        let cell = |settings: BTreeMap<String, Expr>| {
            let names = Names::new(&self.statements, &settings)?;
            let label = |name: &String| {
                let known = names.known().find(|known| known == name);
                let value = known.map(|known| names.value_of(known, Span::default()));
                let value = value.transpose()?.flatten();
                Ok(value.map_or(String::new(), |node| names.value_words(&node)))
            };
            let labels = axes.iter().map(label).collect::<Checked<Vec<String>>>()?;
            run(&Names::chain(&self.statements, &settings)?, 0, None)?;
            Ok(Cell { labels, settings })
        };
        let cells = cells
            .into_iter()
            .map(cell)
            .collect::<Checked<Vec<Cell>>>()?;
        Ok(Study {
            program: self,
            axes,
            cells,
        })
    }
}

/// Parameters with one value, and those with several: of the options, and of sweeps in the file.
#[expect(clippy::type_complexity, reason = "a pair of lists")]
fn split(
    program: &Program,
    given: Vec<(String, Values)>,
) -> Checked<(BTreeMap<String, Expr>, Vec<(String, Vec<Expr>)>)> {
    let none = BTreeMap::new();
    let names = Names::new(&program.statements, &none)?;
    let mut fixed = BTreeMap::new();
    let mut axes: Vec<(String, Vec<Expr>)> = Vec::new();
    let sweeps = names
        .statements
        .iter()
        .filter_map(|statement| match &statement.kind {
            Kind::Sweep { name, values } => Some((name, values)),
            _ => None,
        });
    for (name, values) in sweeps {
        if !matches!(
            names.item(&name.text),
            Some(crate::names::Item::Parameter(_))
        ) {
            let known = parameters(&names).map(|parameter| parameter.name.text.as_str());
            return Err(Fault::unknown(
                name.at,
                "the name of a parameter",
                &name.text,
                known,
            ));
        }
        if !given.iter().any(|(other, _)| *other == name.text) {
            axes.push((name.text.clone(), listed(&names, values)?));
        }
    }
    for (name, values) in given {
        let mut list = listed(&names, &values)?;
        if list.len() == 1 {
            fixed.insert(name, list.remove(0));
        } else {
            axes.push((name, list));
        }
    }
    Ok((fixed, axes))
}

fn parameters<'n>(names: &'n Names<'_>) -> impl Iterator<Item = &'n Parameter> {
    names
        .statements
        .iter()
        .filter_map(|statement| match &statement.kind {
            Kind::Parameter(parameter) => Some(parameter),
            _ => None,
        })
}

/// The values of a sweep as expressions.
fn listed(names: &Names<'_>, values: &Values) -> Checked<Vec<Expr>> {
    let (from, to, step) = match values {
        Values::List(list) => return Ok(list.clone()),
        Values::Range { from, to, step } => (from, to, step.as_ref()),
    };
    let one = Expr {
        kind: ExprKind::Int(1),
        at: from.at,
    };
    let step = match (step, names.constant(from)?.ty) {
        (Some(step), _) => step,
        (None, Ty::Int) => &one,
        (None, _) => {
            return Err(Fault::expected(
                to.at,
                "a step, as in 1 us..9 us step 2 us",
                "none",
            ));
        }
    };
    let number = |expr: &Expr| {
        let node = names.constant(expr)?;
        let value = node.as_real();
        value.ok_or_else(|| names.mistyped(expr.at, "a number", node.ty))
    };
    let (low, high, width) = (number(from)?, number(to)?, number(step)?);
    // A little more than the end, so that it is reached despite rounding.
    let count = libm::floor((high - low) / width + 1e-9);
    if !(width > 0.0 && (0.0..MAX_CELLS as f64).contains(&count)) {
        let expected = format!("a range with at most {MAX_CELLS} values, upwards");
        return Err(Fault::expected(from.at, expected, "another one"));
    }
    let value = |number: i64| {
        let expr = |kind| Box::new(Expr { kind, at: from.at });
        let steps = ExprKind::Binary(
            Operator::Arith(Arith::Multiply),
            expr(ExprKind::Int(number)),
            Box::new(step.clone()),
        );
        Expr {
            kind: ExprKind::Binary(
                Operator::Arith(Arith::Add),
                Box::new(from.clone()),
                expr(steps),
            ),
            at: from.at,
        }
    };
    Ok((0..=count as i64).map(value).collect())
}

fn multiplied(
    cells: &[BTreeMap<String, Expr>],
    name: &str,
    values: &[Expr],
) -> Checked<Vec<BTreeMap<String, Expr>>> {
    if cells.len().saturating_mul(values.len()) > MAX_CELLS {
        let at = values.first().map_or(Span::default(), |value| value.at);
        return Err(Fault::expected(
            at,
            format!("at most {MAX_CELLS} cells"),
            "more",
        ));
    }
    let with = |cell: &BTreeMap<String, Expr>, value: &Expr| {
        let mut cell = cell.clone();
        cell.insert(name.to_owned(), value.clone());
        cell
    };
    let of_cell = |cell| values.iter().map(move |value| with(cell, value));
    Ok(cells.iter().flat_map(of_cell).collect())
}

impl Study {
    /// The name of the net.
    pub fn name(&self) -> &str {
        &self.program.name
    }

    /// The swept parameters, in their order.
    pub fn axes(&self) -> &[String] {
        &self.axes
    }

    /// The nets of the first cell.
    pub(crate) fn first_chain(&self) -> Checked<Vec<Names<'_>>> {
        let Some(cell) = self.cells.first() else {
            return Ok(Vec::new());
        };
        Names::chain(&self.program.statements, &cell.settings)
    }

    pub(crate) fn files(&self) -> &[String] {
        &self.program.files
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// True if there are no cells, which is never the case.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The parameters with their values in the first cell.
    pub fn parameters(&self) -> Result<Vec<Setting>, NetError> {
        let Some(cell) = self.cells.first() else {
            return Ok(Vec::new());
        };
        let list = || {
            let names = Names::new(&self.program.statements, &cell.settings)?;
            let setting = |parameter: &Parameter| {
                let known = names.known().find(|known| *known == parameter.name.text);
                let value = known.map(|known| names.value_of(known, parameter.name.at));
                let node = value.transpose()?.flatten();
                let words = |expr| names.constant(expr).map(|node| names.value_words(&node));
                let expected = match (&parameter.range, &node) {
                    (Some((low, high)), _) => format!("{} to {}", words(low)?, words(high)?),
                    (None, Some(node)) => names.type_words(node.ty),
                    (None, None) => String::new(),
                };
                Ok(Setting {
                    name: parameter.name.text.clone(),
                    value: node.map_or(String::new(), |node| names.value_words(&node)),
                    expected,
                    about: parameter.about.clone(),
                })
            };
            let all = parameters(&names).map(setting);
            all.collect::<Checked<Vec<Setting>>>()
        };
        list().map_err(|fault: Fault| fault.in_files(&self.program.files))
    }

    /// Runs all cells. The results do not depend on the number of threads.
    pub fn run(&self, campaign: &Campaign<'_>) -> Result<Vec<CellResult>, NetError> {
        let repetitions = campaign.repetitions.max(1) as usize;
        let jobs = self.cells.len() * repetitions;
        let next = AtomicUsize::new(0);
        let outcomes = Mutex::new(Vec::new());
        let stopped = || campaign.stop.load(Ordering::Relaxed);
        let work = || {
            loop {
                let job = next.fetch_add(1, Ordering::Relaxed);
                if job >= jobs || job > 0 && stopped() {
                    return;
                }
                let outcome = self.one(campaign, job / repetitions, job % repetitions);
                let failed = outcome.is_err();
                if let Ok(mut outcomes) = outcomes.lock() {
                    outcomes.push((job, outcome));
                }
                if failed {
                    next.store(jobs, Ordering::Relaxed);
                }
            }
        };
        let threads = match campaign.threads {
            0 => thread::available_parallelism().map_or(1, NonZero::get),
            given => given,
        };
        thread::scope(|scope| {
            for _ in 0..threads.min(jobs) {
                scope.spawn(work);
            }
        });
        let mut outcomes = outcomes.into_inner().unwrap_or_default();
        outcomes.sort_by_key(|(job, _)| *job);
        let mut results: Vec<CellResult> = self.cells.iter().map(Cell::without_runs).collect();
        let mut growing = vec![Vec::new(); results.len()];
        let mut still = vec![Vec::new(); results.len()];
        for (job, outcome) in outcomes {
            let result = &mut results[job / repetitions];
            let outcome = outcome.map_err(|fault| fault.in_files(&self.program.files))?;
            result.seeds.push(seed(campaign, job % repetitions));
            result.rows = outcome.rows;
            result.runs.push(outcome.values);
            result.unsure.push(outcome.unsure);
            result.firings += outcome.firings;
            growing[job / repetitions].extend(outcome.unstable);
            still[job / repetitions].extend(outcome.stands_still);
        }
        for ((result, growing), still) in results.iter_mut().zip(growing).zip(still) {
            let runs = result.runs.len();
            result.doubts.extend(unstable(&growing, runs));
            result.doubts.extend(stands_still(&still, runs));
        }
        Ok(results)
    }

    /// Runs the first cell once: what was counted in each net of its chain, the first net first. `go_on` hears the share
    /// of the run that is done and says whether to go on; the numbers are of what was run.
    ///
    /// # Errors
    /// If a run fails, or stands still before its end.
    pub fn account(&self, seed: u64, go_on: &dyn Fn(f64) -> bool) -> Result<Vec<Ran>, NetError> {
        let chain = self.first_chain();
        let rans = chain.and_then(|chain| account(&chain, seed, go_on));
        rans.map_err(|fault| fault.in_files(&self.program.files))
    }

    fn one(&self, campaign: &Campaign<'_>, cell: usize, repetition: usize) -> Checked<Outcome> {
        let chain = Names::chain(&self.program.statements, &self.cells[cell].settings)?;
        let told = std::cell::Cell::new(0);
        let go_on = |share: f64| {
            let done = (share.clamp(0.0, 1.0) * 1000.0) as u64;
            (campaign.progress)(done.saturating_sub(told.replace(done)));
            !campaign.stop.load(Ordering::Relaxed)
        };
        run(&chain, seed(campaign, repetition), Some(&go_on))
    }
}

/// Ways in which runs stand still that have a sentence of their own; the others are counted.
const WAYS_NAMED: usize = 3;

/// Sentences saying that in some runs nothing could happen any more before their end, and what was waited for: one for each way, the most frequent first.
fn stands_still(still: &[String], runs: usize) -> Vec<String> {
    let mut by_way: BTreeMap<&str, usize> = BTreeMap::new();
    for way in still {
        *by_way.entry(way).or_default() += 1;
    }
    let mut ways: Vec<(&str, usize)> = by_way.into_iter().collect();
    ways.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    let how_many = |times: usize| match runs {
        1 => String::new(),
        runs => format!(" in {times} of {runs} runs"),
    };
    let (first, others) = ways.split_at(ways.len().min(WAYS_NAMED));
    let named = first
        .iter()
        .map(|(way, times)| format!("stands still before its end{}: {way}", how_many(*times)));
    let rest: usize = others.iter().map(|(_, times)| times).sum();
    let rest = (rest > 0).then(|| {
        let ways = plural(others.len() as u64, "other way");
        format!("stands still before its end{} in {ways}", how_many(rest))
    });
    named.chain(rest).collect()
}

/// Places that grew without end in most runs.
fn unstable(growing: &[(String, f64)], runs: usize) -> Vec<String> {
    let mut by_place: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (place, ratio) in growing {
        by_place.entry(place).or_default().push(*ratio);
    }
    let most = by_place
        .into_iter()
        .filter(|(_, ratios)| 2 * ratios.len() > runs);
    most.map(|(place, ratios)| {
        let ratio = ratios.iter().sum::<f64>() / ratios.len() as f64;
        format!(
            "unstable: {place} gets {} tokens for each that it loses, and grows; there is no steady state",
            plain(ratio, 4)
        )
    })
    .collect()
}

fn seed(campaign: &Campaign<'_>, repetition: usize) -> u64 {
    run_seed(campaign.seed, repetition as u64)
}

impl Cell {
    fn without_runs(&self) -> CellResult {
        CellResult {
            labels: self.labels.clone(),
            seeds: Vec::new(),
            rows: Vec::new(),
            runs: Vec::new(),
            estimates: Vec::new(),
            unsure: Vec::new(),
            doubts: Vec::new(),
            firings: 0,
        }
    }
}
