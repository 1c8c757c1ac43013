//! `inorder.reproduce`.

use std::io;

use arrow_schema::SchemaRef;
use inorder_experiments::figure::figures;
use inorder_experiments::html;
use inorder_experiments::report::{CLAIMS, COMPARISONS, REPORT, Report};
use inorder_experiments::{Context, ExperimentError, Item, paper_named};
use inorder_report::arrow::{Batches, TakeBatch, Texts};
use inorder_report::json;
use pyo3::prelude::*;

use crate::errors::usage;
use crate::result::{Findings, Outcome};
use crate::work;

/// Name and title.
type Named = (String, String);

/// The papers, each with its title and the names and titles of its items.
#[pyfunction]
pub(crate) fn papers() -> PyResult<Vec<(String, String, Vec<Named>)>> {
    let papers = inorder_experiments::papers().map_err(usage)?;
    let item = |item: &Item| (item.name.clone(), item.about.clone());
    let papers = papers.iter().map(|paper| {
        let items = paper.items.iter().map(item).collect();
        (paper.name.to_owned(), paper.title.clone(), items)
    });
    Ok(papers.collect())
}

/// Runs items of a paper, or all without any.
#[pyfunction]
pub(crate) fn reproduce(
    py: Python<'_>,
    paper: &str,
    items: Vec<String>,
    quick: bool,
    seed: u64,
    repetitions: Option<u32>,
    threads: Option<usize>,
) -> PyResult<Findings> {
    let paper = paper_named(paper).map_err(usage)?;
    let items = paper.chosen(&items).map_err(usage)?;
    let report = work::run(py, |stop| {
        let mut report = Report::new(paper.name, &paper.title);
        let context = Context {
            quick,
            repetitions,
            seed,
            threads: threads.unwrap_or(0),
            set: &[],
            progress: &|_, _| {},
            stop: stop.flag(),
        };
        for item in items {
            match item.run(&context) {
                Ok(findings) => report.findings.extend(findings),
                // The signal that stopped it raised an exception, which is returned instead.
                Err(ExperimentError::Stopped) => break,
                Err(error) => {
                    return Err(usage(format!("{} {}: {error}", report.paper, item.name)));
                }
            }
        }
        Ok(report)
    });
    Ok(Findings::new(Reproduced(report?)))
}

struct Reproduced(Report);

impl Outcome for Reproduced {
    fn tables(&self) -> Vec<&'static str> {
        vec!["claims", "comparisons"]
    }

    fn batches(&self, name: &str, size: usize, take: &mut TakeBatch<'_>) -> io::Result<SchemaRef> {
        let findings = &self.0.findings;
        match name {
            "claims" => Batches::new(CLAIMS, &findings.claims, Texts::Views, size).pass(take),
            _ => Batches::new(COMPARISONS, &findings.comparisons, Texts::Views, size).pass(take),
        }
    }

    fn json(&self, out: &mut Vec<u8>) -> io::Result<()> {
        json::write(out, REPORT, &self.0)
    }

    fn text(&self, out: &mut Vec<u8>) -> io::Result<()> {
        let command = format!("inorder reproduce {}", self.0.paper);
        inorder_experiments::markdown::write(out, &self.0, &command)
    }

    fn html(&self, out: &mut Vec<u8>) -> io::Result<()> {
        let command = format!("inorder reproduce {}", self.0.paper);
        html::write(out, &self.0, &command)
    }

    fn charts(&self, out: &mut Vec<u8>) -> io::Result<()> {
        let charts = html::charts(&figures(&self.0.findings));
        out.extend(charts.to_string().into_bytes());
        Ok(())
    }
}
