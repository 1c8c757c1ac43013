//! Pairs of cells that differ in the sorter alone, and what is claimed of all of them.

use inorder_scenario::Cell;

use super::{Context, ExperimentError, Findings, REORDERING, duration, longer, sender};
use crate::campaign;
use crate::printed::{Printed, Row};
use crate::{Claim, Comparison, Estimate};

/// What is measured: name in the simulator, column of the printed tables, heading, whether it is told per Mb/s.
const MEASURES: [(&str, &str, &str, bool); 4] = [
    ("throughput", "thr", "throughput, Mb/s", false),
    ("retransmissions", "retx", "PktsRetrans per Mb/s", true),
    ("duplicate_acks", "dupack", "DupAcksIn per Mb/s", true),
    ("sack_blocks", "sack", "SackBlocksRcvd per Mb/s", true),
];

/// Place of throughput in an [`Outcome`].
pub(super) const THROUGHPUT: usize = 0;
/// Place of retransmissions.
pub(super) const RETRANSMISSIONS: usize = 1;
/// Place of duplicate acknowledgements.
pub(super) const DUPLICATE_ACKS: usize = 2;
/// Throughputs from here on fill the line, Mb/s (the paper's own saturate at 942 to 947).
pub(super) const LINE_RATE: f64 = 930.0;

/// A cell without and with sorting.
pub(super) struct Pair {
    /// Its name in comparisons and notes.
    pub(super) label: String,
    /// Overrides of the scenario.
    pub(super) sets: Vec<String>,
}

/// What came of a pair: without and with sorting, an estimate for each of [`MEASURES`].
pub(super) struct Outcome {
    /// The pair's name.
    pub(super) label: String,
    pub(super) none: [Estimate; 4],
    pub(super) srpic: [Estimate; 4],
}

impl Outcome {
    /// With sorting relative to without.
    pub(super) fn ratio(&self, at: usize) -> f64 {
        self.srpic[at].mean / self.none[at].mean
    }

    /// Sorting is not surely worse: its interval reaches the other's, or both fill the line, or they are within
    /// 1 %.
    pub(super) fn not_worse(&self) -> bool {
        let (none, with) = (self.none[THROUGHPUT], self.srpic[THROUGHPUT]);
        with.mean >= 0.99 * none.mean || with.mean >= LINE_RATE || !with.surely_below(&none)
    }
}

/// A table the paper prints, and which of its columns is varied.
pub(super) struct Table {
    pub(super) item: &'static str,
    pub(super) text: &'static str,
    /// The column, percent.
    pub(super) varied: &'static str,
    /// What follows its value in labels.
    pub(super) unit: &'static str,
}

/// The pairs of a table, run.
pub(super) struct Study {
    item: &'static str,
    pub(super) outcomes: Vec<Outcome>,
    pub(super) findings: Findings,
}

impl Study {
    /// Runs pairs the paper prints nothing of.
    pub(super) fn of_pairs(
        context: &Context<'_>,
        item: &'static str,
        pairs: Vec<Pair>,
    ) -> Result<Self, ExperimentError> {
        Self::of(
            context,
            item,
            pairs.into_iter().map(|p| (p, None)).collect(),
        )
    }

    /// Runs a pair for each row of a table: the row's sender and streams, and what `settings` makes of the column
    /// varied.
    pub(super) fn of_table(
        context: &Context<'_>,
        table: &Table,
        settings: impl Fn(f64) -> Vec<String>,
    ) -> Result<Self, ExperimentError> {
        let printed = Printed::parse(table.text)?;
        let pairs = printed.rows().filter_map(|row| {
            let name = row.text("sender")?;
            let streams = row.text("streams").unwrap_or("1");
            let value = row.number(table.varied)?;
            let mut sets = sender(name);
            sets.push(format!("flow.count={streams}"));
            sets.extend(settings(value));
            let label = format!("{name}-Sender, {streams} streams, {value} {}", table.unit);
            Some((Pair { label, sets }, Some(row)))
        });
        Self::of(context, table.item, pairs.collect())
    }

    fn of(
        context: &Context<'_>,
        item: &'static str,
        pairs: Vec<(Pair, Option<Row<'_>>)>,
    ) -> Result<Self, ExperimentError> {
        let mut cells: Vec<Cell> = Vec::new();
        let lasting = duration(context);
        for (pair, _) in &pairs {
            let mut sets: Vec<&str> = pair.sets.iter().map(String::as_str).collect();
            sets.push(&lasting);
            cells.extend(campaign::cells(context, REORDERING, &sets)?);
        }
        let repetitions = context.repetitions_or(5);
        let runs = campaign::run(context, &cells, repetitions, inorder_sim::values)?;
        let mut study = Self {
            item,
            outcomes: Vec::new(),
            findings: Findings::default(),
        };
        for ((pair, row), two) in pairs.into_iter().zip(runs.chunks_exact(2)) {
            let outcome = Outcome {
                label: pair.label,
                none: estimates(&two[0], longer(context)),
                srpic: estimates(&two[1], longer(context)),
            };
            study.compare(&outcome, row.as_ref());
            study.outcomes.push(outcome);
        }
        Ok(study)
    }

    /// Puts an outcome beside its row; columns the row does not print are left out, without a row none is.
    fn compare(&mut self, outcome: &Outcome, row: Option<&Row<'_>>) {
        for (at, (_, column, heading, _)) in MEASURES.iter().enumerate() {
            for (sorter, values) in [("none", &outcome.none), ("srpic", &outcome.srpic)] {
                let value = row.and_then(|row| row.value(&format!("{column}_{sorter}")));
                if row.is_some() && value.is_none() {
                    continue;
                }
                let cell = format!("{}, {sorter}", outcome.label);
                let rows = &mut self.findings.comparisons;
                rows.push(Comparison::new(
                    self.item, &cell, heading, value, values[at],
                ));
            }
        }
    }

    /// The outcome with this label.
    pub(super) fn find(&self, label: &str) -> Option<&Outcome> {
        self.outcomes.iter().find(|o| o.label == label)
    }

    /// Claims that all outcomes satisfy `test`: counts those that do, names those that do not.
    pub(super) fn everywhere(&mut self, id: &str, text: &str, test: impl Fn(&Outcome) -> bool) {
        self.in_all(id, text, |_| true, test);
    }

    /// The same of those outcomes whose label is `wanted`.
    pub(super) fn in_all(
        &mut self,
        id: &str,
        text: &str,
        wanted: impl Fn(&str) -> bool,
        test: impl Fn(&Outcome) -> bool,
    ) {
        let cells: Vec<_> = self.outcomes.iter().filter(|o| wanted(&o.label)).collect();
        let failed: Vec<_> = cells.iter().filter(|o| !test(o)).collect();
        let claim = Claim::new(
            &format!("{}/{id}", self.item),
            &format!("{text} (cells of {})", cells.len()),
            Estimate::exact((cells.len() - failed.len()) as f64),
            failed.is_empty(),
        );
        let labels: Vec<_> = failed.iter().map(|o| o.label.as_str()).collect();
        self.findings.claims.push(if failed.is_empty() {
            claim
        } else {
            claim.note(format!("not in: {}", labels.join("; ")))
        });
    }

    /// Claims that sorting raises throughput or leaves it.
    pub(super) fn raises_throughput(&mut self) {
        self.everywhere(
            "throughput",
            "SRPIC raises throughput or leaves it",
            Outcome::not_worse,
        );
    }

    /// Claims that sorting lowers the number of duplicate acknowledgements.
    pub(super) fn mends(&mut self) {
        self.everywhere("dupacks", "duplicate ACKs fall", |o| {
            o.ratio(DUPLICATE_ACKS) < 1.0
        });
    }
}

/// Each of [`MEASURES`] over the runs; counters are told per Mb/s of throughput, run by run, `longer` times.
fn estimates(runs: &[Vec<Option<f64>>], longer: f64) -> [Estimate; 4] {
    let value = |run: &Vec<Option<f64>>, name: &str| {
        let at = inorder_sim::MEASURES.iter().position(|m| m.name == name);
        at.and_then(|at| run.get(at).copied().flatten())
            .unwrap_or(0.0)
    };
    MEASURES.map(|(name, _, _, relative)| {
        let of_run = |run| {
            let rate: f64 = value(run, MEASURES[THROUGHPUT].0);
            let per = if relative {
                longer / rate.max(f64::MIN_POSITIVE)
            } else {
                1.0
            };
            value(run, name) * per
        };
        Estimate::of(&runs.iter().map(of_run).collect::<Vec<_>>())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_told_per_megabit() {
        let mut run = vec![None; inorder_sim::MEASURES.len()];
        for (name, value) in [("throughput", 50.0), ("retransmissions", 100.0)] {
            let at = inorder_sim::MEASURES.iter().position(|m| m.name == name);
            run[at.expect("measured")] = Some(value);
        }
        let [throughput, again, dupacks, _] = estimates(&[run.clone(), run], 10.0);
        assert_eq!((throughput.mean, again.mean), (50.0, 20.0));
        assert_eq!((again.half_width, dupacks.mean), (0.0, 0.0));
    }
}
