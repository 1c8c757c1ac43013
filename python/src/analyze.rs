//! `inorder.analyze`.

use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;

use arrow_schema::SchemaRef;
use inorder_analysis::{Analysis, Rows, html, json, table};
use inorder_command::{parse_moment, parse_sorter};
use inorder_detect::{Config, Vantage};
use inorder_pipeline::{Analyzer, Error, Filter, Selection, memory};
use inorder_report::arrow::TakeBatch;
use pyo3::prelude::*;

use crate::errors::{capture, usage};
use crate::input::Source;
use crate::result::{Findings, Outcome};
use crate::work;

/// Flows shown in text and on pages.
const TOP: usize = 20;

/// Which packets, as Python names them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Select {
    filter: Option<String>,
    from_time: Option<String>,
    to_time: Option<String>,
}

impl Select {
    /// Parses the filter and the two times.
    pub(crate) fn selection(&self) -> PyResult<Selection> {
        let filter = self.filter.as_deref();
        let filter = filter.map(|text| text.parse::<Filter>().map_err(usage));
        let moment = |text: &Option<String>| {
            let text = text.as_deref();
            text.map(|text| parse_moment(text).map_err(usage))
                .transpose()
        };
        Ok(Selection {
            filter: filter.transpose()?,
            from: moment(&self.from_time)?,
            until: moment(&self.to_time)?,
        })
    }
}

/// The options of an analysis.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    vantage: Option<String>,
    events: bool,
    points: bool,
    what_if: bool,
    sorters: Vec<String>,
    max_flows: Option<usize>,
    memory: Option<String>,
    threads: Option<usize>,
}

impl Options {
    fn config(&self) -> PyResult<Config> {
        let sorters = self.sorters.iter().map(|text| parse_sorter(text));
        let sorters: Result<Vec<_>, String> = sorters.collect();
        let memory = self.memory.as_deref().map(memory::parse).transpose();
        let memory = memory.map_err(|error| usage(format!("memory: {error}")))?;
        let config = Config::default()
            .memory(memory::limit(memory))
            .vantage(self.vantage()?)
            .keep_events(self.events)
            .keep_points(self.points)
            .what_if(self.what_if)
            .sorters(sorters.map_err(usage)?);
        Ok(match self.max_flows {
            Some(0) => return Err(usage("max_flows: expected at least 1, found 0")),
            Some(flows) => config.max_flows(flows),
            None => config,
        })
    }

    fn vantage(&self) -> PyResult<Option<Vantage>> {
        let Some(wanted) = self.vantage.as_deref() else {
            return Ok(None);
        };
        let found = Vantage::ALL
            .into_iter()
            .find(|vantage| vantage.name() == wanted);
        found.map(Some).ok_or_else(|| {
            let names = Vantage::NAMES.join(", ");
            usage(format!("vantage: expected one of {names}, found {wanted}"))
        })
    }

    fn threads(&self) -> PyResult<usize> {
        match self.threads {
            Some(0) => Err(usage("threads: expected at least 1, found 0")),
            Some(threads) => Ok(threads),
            None => Ok(thread::available_parallelism().map_or(1, NonZeroUsize::get)),
        }
    }
}

/// Analyses captures, each on its own. A capture that is damaged raises an exception that carries the result up to
/// the damage.
#[pyfunction]
pub(crate) fn analyze(
    py: Python<'_>,
    captures: Vec<Bound<'_, PyAny>>,
    peer: Option<Bound<'_, PyAny>>,
    select: Select,
    options: Options,
) -> PyResult<Findings> {
    let sources: PyResult<Vec<Source>> = captures.iter().map(Source::new).collect();
    let (sources, mut peer) = (sources?, peer.as_ref().map(Source::new).transpose()?);
    if peer.is_some() && sources.len() != 1 {
        return Err(usage("peer: needs exactly one capture to compare with"));
    }
    let analyzer = Analyzer::new()
        .config(options.config()?)
        .threads(options.threads()?)
        .select(select.selection()?);
    let events = options.events;
    let done = work::run(py, |stop| {
        let analyzer = analyzer.watch(Arc::new(stop.clone()));
        let mut analyses = Vec::new();
        for source in sources {
            let analysis = match peer.take() {
                Some(peer) => analyzer.compare(source.input(), peer.input()),
                None => analyzer.run(source.input()),
            };
            match analysis.map_err(Error::into_parts) {
                Ok(analysis) => analyses.push(analysis),
                Err((partial, error)) => {
                    analyses.extend(partial);
                    return Ok((analyses, Some(error)));
                }
            }
        }
        Ok((analyses, None))
    });
    let (analyses, error) = done?;
    let findings = Findings::new(Analyses { analyses, events });
    let Some(error) = error else {
        return Ok(findings);
    };
    let error = capture(&error);
    error.value(py).setattr("partial", Py::new(py, findings)?)?;
    Err(error)
}

struct Analyses {
    analyses: Vec<Analysis>,
    events: bool,
}

impl Outcome for Analyses {
    fn tables(&self) -> Vec<&'static str> {
        Rows::ALL.iter().map(|rows| rows.name).collect()
    }

    fn batches(&self, name: &str, size: usize, take: &mut TakeBatch<'_>) -> io::Result<SchemaRef> {
        let rows = Rows::named(name).ok_or_else(|| io::Error::other("no such table"))?;
        rows.batches(&self.analyses, size, take)
    }

    fn json(&self, out: &mut Vec<u8>) -> io::Result<()> {
        json::write(out, &self.analyses, self.events)
    }

    fn text(&self, out: &mut Vec<u8>) -> io::Result<()> {
        table::write(out, &self.analyses, &table::Style::default())
    }

    fn html(&self, out: &mut Vec<u8>) -> io::Result<()> {
        let page = html::Page {
            top: TOP,
            charts: true,
        };
        html::write(out, &self.analyses, &page)
    }

    fn charts(&self, out: &mut Vec<u8>) -> io::Result<()> {
        html::write_charts(out, &self.analyses, TOP)
    }
}
