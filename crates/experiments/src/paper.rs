//! Papers, read from their files; runs their items.

use std::sync::LazyLock;

use crate::data::{ClaimFile, ItemFile, PaperFile, combinations, fill};
use crate::judge::judge;
use crate::magnitude::Magnitudes;
use crate::setting::{Context, ExperimentError, FILES, Reduction, Setting};
use crate::{Axis, Claim, Comparison, Findings, papers as own};

/// The name of a paper's file in its folder.
const PAPER_FILE: &str = "/paper.toml";

/// A paper.
pub struct Paper {
    /// Name on the command line: the name of its folder.
    pub name: &'static str,
    /// Authors, title, publication and year.
    pub title: String,
    /// Its tables and figures.
    pub items: Vec<Item>,
}

/// A table or figure.
pub struct Item {
    /// `table-4`, `figure-7`.
    pub name: String,
    /// Its title.
    pub about: String,
    paper_file: &'static str,
    file: ItemFile,
    reduction: Reduction,
}

impl Item {
    /// Runs the scenarios and judges the claims.
    pub fn run(&self, context: &Context<'_>) -> Result<Findings, ExperimentError> {
        let setting = Setting {
            context,
            paper_file: self.paper_file,
            item: &self.name,
            run: &self.file.run,
        };
        let mut measured = (self.reduction)(&setting)?;
        for printed in &self.file.printed {
            let value = (printed.value, printed.half_width);
            measured.print(&printed.cell, &printed.measure, value);
        }
        let comparisons: Vec<Comparison> = measured
            .shown()
            .map(|quantity| Comparison::of(&self.name, quantity))
            .collect();
        let magnitudes = Magnitudes::of(&self.name, &comparisons);
        Ok(Findings {
            claims: judge(&self.file.claims, &measured, context.quick),
            magnitudes: magnitudes.into_iter().collect(),
            comparisons,
            axes: self.axes(),
            remarks: self.file.remarks.clone(),
        })
    }
}

impl Item {
    fn axes(&self) -> Vec<Axis> {
        let axes = self.file.axes.iter();
        axes.map(|axis| Axis {
            item: self.name.clone(),
            label: axis.label.clone(),
            title: axis.title.clone(),
        })
        .collect()
    }
}

/// How a claim depends on one change of the scenario: its verdict without the change and with it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Why {
    /// What was changed, and what came of it when the experiment was made.
    pub text: String,
    /// The change: overrides of the scenario.
    pub set: Vec<String>,
    /// The claim without the change.
    pub before: Claim,
    /// The claim with it.
    pub after: Claim,
}

impl Item {
    /// Makes the experiment that belongs to a claim: the item is run as it is and with the change. `None` if the claim
    /// has no such experiment, or is none of this item's.
    pub fn why(&self, context: &Context<'_>, id: &str) -> Result<Option<Why>, ExperimentError> {
        let named = |claim: &ClaimFile| {
            let mut ids = combinations(&claim.each).into_iter();
            ids.any(|words| fill(&claim.id, &words).replace(' ', "-") == id)
        };
        let claim = self.file.claims.iter().find(|claim| named(claim));
        let Some(why) = claim.and_then(|claim| claim.why.as_ref()) else {
            return Ok(None);
        };
        if why.set.is_empty() {
            return Ok(None);
        }
        let changed = Context {
            set: &why.set,
            ..*context
        };
        let one = |findings: Findings| findings.claims.into_iter().find(|claim| claim.id == id);
        let (before, after) = (one(self.run(context)?), one(self.run(&changed)?));
        Ok(before.zip(after).map(|(before, after)| Why {
            text: why.text.clone(),
            set: why.set.clone(),
            before,
            after,
        }))
    }
}

/// All papers, or an error if a file of this crate is malformed.
pub fn papers() -> Result<&'static [Paper], &'static ExperimentError> {
    static PAPERS: LazyLock<Result<Vec<Paper>, ExperimentError>> = LazyLock::new(read_all);
    PAPERS.as_deref()
}

/// The paper called `name`.
pub fn find(name: &str) -> Option<&'static Paper> {
    papers().ok()?.iter().find(|paper| paper.name == name)
}

fn read_all() -> Result<Vec<Paper>, ExperimentError> {
    let files = FILES.iter().filter(|(path, _)| path.ends_with(PAPER_FILE));
    files.map(|(path, text)| read(path, text)).collect()
}

fn read(path: &'static str, text: &str) -> Result<Paper, ExperimentError> {
    let paper: PaperFile =
        toml::from_str(text).map_err(|error| ExperimentError::data(path, &error))?;
    paper
        .check()
        .map_err(|what| ExperimentError::data(path, &what))?;
    let items = paper.items.into_iter().map(|item| {
        let name = item.run.get("reduction").and_then(toml::Value::as_str);
        let reduction = name.and_then(own::reduction).ok_or_else(|| {
            let known: Vec<_> = own::reductions().map(|(name, _)| name).collect();
            let what = format!(
                "item {}: run.reduction: expected one of {}",
                item.name,
                known.join(", ")
            );
            ExperimentError::data(path, &what)
        })?;
        Ok(Item {
            name: item.name.clone(),
            about: item.about.clone(),
            paper_file: path,
            file: item,
            reduction,
        })
    });
    let items = items.collect::<Result<_, ExperimentError>>()?;
    Ok(Paper {
        name: path.strip_suffix(PAPER_FILE).unwrap_or(path),
        title: paper.title,
        items,
    })
}
