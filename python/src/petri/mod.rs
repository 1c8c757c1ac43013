//! `inorder.petri`.

use std::io;
use std::path::Path;

use arrow_schema::SchemaRef;
use inorder_petri::draw::{Drawing, dot};
use inorder_petri::inspect::{Document, Error, Settings, Watch, Wishes, examine, read};
use inorder_petri::pnml;
use inorder_petri::race::Memory;
use inorder_report::arrow::TakeBatch;
use pyo3::prelude::*;

use crate::errors::{malformed, one_of, usage};
use crate::result::{Findings, Outcome};
use crate::work;

mod coloured;

/// What is wanted of a place/transition net; what is missing has the defaults of the library.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    simulate: bool,
    exact: bool,
    invariants: bool,
    reachability: Option<usize>,
    queries: Vec<String>,
    limit: Option<usize>,
    time: Option<f64>,
    warm_up: Option<f64>,
    precision: Option<f64>,
    confidence: Option<f64>,
    seed: u64,
    replications: Option<u32>,
    memory: Option<String>,
    reserve: bool,
}

impl Options {
    fn settings(&self) -> PyResult<Settings> {
        let plain = Settings::default();
        let memory = self.memory.as_deref().map(memory).transpose()?;
        if memory.is_some() && self.reserve {
            return Err(usage(
                "memory: clocks race for tokens, which reserve=True excludes",
            ));
        }
        if self.replications.is_some_and(|runs| runs < 2) {
            return Err(usage("replications: expected at least 2"));
        }
        let above_0 = |x: f64| x > 0.0;
        let not_below_0 = |x: f64| x >= 0.0;
        let share = |x: f64| x > 0.0 && x < 1.0;
        let confidence = number("confidence", self.confidence, "between 0 and 1", share)?;
        let precision = number("precision", self.precision, "not below 0", not_below_0)?;
        Ok(Settings {
            time: number("time", self.time, "above 0", above_0)?,
            warm_up: number("warm_up", self.warm_up, "not below 0", not_below_0)?,
            precision: precision.unwrap_or(plain.precision),
            confidence: confidence.unwrap_or(plain.confidence),
            seed: self.seed,
            replications: self.replications,
            memory: memory.unwrap_or(plain.memory),
            reserve: self.reserve,
            at_end: false,
            level: None,
        })
    }

    fn wishes(&self) -> PyResult<Wishes> {
        let others = self.exact
            || self.invariants
            || self.reachability.is_some()
            || !self.queries.is_empty();
        Ok(Wishes {
            simulate: self.simulate || !others,
            exact: self.exact,
            invariants: self.invariants,
            reachability: self.reachability,
            queries: self.queries.clone(),
            graph: false,
            limit: self.limit,
            simulation: self.settings()?,
        })
    }
}

fn memory(name: &str) -> PyResult<Memory> {
    one_of(
        "memory",
        name,
        &[
            ("enabling", Memory::Enabling),
            ("age", Memory::Age),
            ("resampling", Memory::Resampling),
        ],
    )
}

/// A number that has to lie somewhere.
fn number(
    name: &str,
    value: Option<f64>,
    expected: &str,
    fits: impl Fn(f64) -> bool,
) -> PyResult<Option<f64>> {
    match value {
        Some(x) if !(x.is_finite() && fits(x)) => Err(usage(format!(
            "{name}: expected a number {expected}, found {x}"
        ))),
        value => Ok(value),
    }
}

/// Whether this is the text of a coloured net.
#[pyfunction]
pub(crate) fn is_coloured(source: &[u8]) -> bool {
    std::str::from_utf8(source).is_ok_and(inorder_nets::is_coloured)
}

/// Examines a place/transition net; `name` is its name in messages.
#[pyfunction]
pub(crate) fn petri(
    py: Python<'_>,
    source: &[u8],
    name: String,
    options: Options,
) -> PyResult<Findings> {
    let wishes = options.wishes()?;
    let net = read(&name, source).map_err(malformed)?;
    let document = work::run(py, |stop| {
        let watch = Watch {
            stop: stop.flag(),
            ..Watch::default()
        };
        examine(net, &wishes, &watch).map_err(|error| match error {
            Error::Query { .. } | Error::Reserved => usage(error),
            Error::NotApplicable { line: 0, problem } => usage(format!("{name}: {problem}")),
            Error::NotApplicable { line, problem } => usage(format!("{name}:{line}: {problem}")),
            Error::Simulation(_) => malformed(format!("{name}: {error}")),
        })
    })?;
    Ok(Findings::new(Examined(document)))
}

/// Runs a coloured net; `set` has values of parameters, as `--set` takes them.
#[pyfunction]
pub(crate) fn coloured_net(
    py: Python<'_>,
    text: String,
    name: String,
    set: Vec<(String, String)>,
    seed: u64,
    repetitions: u32,
    threads: Option<usize>,
) -> PyResult<Findings> {
    coloured::run(
        py,
        &text,
        Path::new(&name),
        &set,
        seed,
        repetitions,
        threads,
    )
}

struct Examined(Document);

impl Outcome for Examined {
    fn tables(&self) -> Vec<&'static str> {
        self.0.tables()
    }

    fn batches(&self, name: &str, size: usize, take: &mut TakeBatch<'_>) -> io::Result<SchemaRef> {
        self.0.batches(name, size, take)
    }

    fn json(&self, out: &mut Vec<u8>) -> io::Result<()> {
        self.0.write_json(out)
    }

    fn text(&self, out: &mut Vec<u8>) -> io::Result<()> {
        self.0.write_text(out)
    }

    fn drawing(&self, format: &str, out: &mut Vec<u8>) -> io::Result<()> {
        let net = &self.0.net;
        let text = match format {
            "svg" => Drawing::of(net).svg(),
            "dot" => dot(net),
            _ => pnml::write(net),
        };
        out.extend(text.into_bytes());
        Ok(())
    }
}
