//! The reduction that most tables use: runs a scenario's cells for each row of a table and reads the simulator's
//! measures.

use std::collections::BTreeMap;

use inorder_scenario::Cell;
use serde::Deserialize;

use crate::campaign;
use crate::data::fill;
use crate::interval::Value;
use crate::printed::Printed;
use crate::quantity::Quantities;
use crate::setting::{Context, ExperimentError, Reduction, Setting, file};

/// The reduction and its name in `paper.toml`.
pub(crate) const REDUCTION: (&str, Reduction) = ("measures", measures);

/// The value of each of [`inorder_sim::MEASURES`] in a run.
type Run = Vec<Option<f64>>;

/// Settings of the reduction. In texts, `{column}` is replaced by the row's field of that name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Measures {
    scenario: String,
    repetitions: u32,
    /// Overrides of every run.
    #[serde(default)]
    set: Vec<String>,
    /// Overrides of a full run, and of a quick one.
    #[serde(default)]
    full: Vec<String>,
    #[serde(default)]
    quick: Vec<String>,
    /// Factor by which counts of a quick run are multiplied to be comparable with a full run.
    #[serde(default = "once")]
    quick_scale: f64,
    /// Overrides of a row's runs.
    #[serde(default)]
    row_set: Vec<String>,
    /// Further overrides that depend on a column: the column, its field, the overrides.
    #[serde(default)]
    choose: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    /// The printed table whose rows are run, or rows without printed numbers.
    table: Option<String>,
    #[serde(default)]
    row: Vec<BTreeMap<String, String>>,
    /// The name of a row.
    label: String,
    /// The grid axis whose value is appended to the row's name in the name of a cell.
    axis: String,
    /// Compares two values of the axis: the ratio of each measure, which tables do not show.
    ratio: Option<Ratio>,
    measures: Vec<Wanted>,
}

fn once() -> f64 {
    1.0
}

/// The two values of the axis.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ratio {
    of: String,
    to: String,
}

/// A measure to show.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// Its name in the simulator ([`inorder_sim::MEASURES`]).
    name: String,
    heading: String,
    /// Divisor: another measure of the same run.
    per: Option<String>,
    /// Prefix of the printed table's columns; the value of the axis follows, and `_ci` for half the interval.
    printed: Option<String>,
}

/// A row: the fields of its columns, and the position of its printed numbers.
struct Row<'a> {
    fields: Vec<(String, String)>,
    printed: Option<crate::printed::Row<'a>>,
}

fn measures(setting: &Setting<'_>) -> Result<Quantities, ExperimentError> {
    let wanted: Measures = setting.read()?;
    let table = wanted
        .table
        .as_deref()
        .map(|name| Printed::parse(file(name)?).map_err(ExperimentError::from));
    let table = table.transpose()?;
    let rows = match &table {
        Some(table) => table.rows().map(Row::printed).collect(),
        None => wanted.row.iter().map(Row::given).collect::<Vec<_>>(),
    };
    let mut cells: Vec<Cell> = Vec::new();
    let mut ends = Vec::new();
    for row in &rows {
        let sets = wanted.overrides(setting.context, row);
        cells.extend(campaign::load(setting.context, &wanted.scenario, &sets)?);
        ends.push(cells.len());
    }
    let repetitions = setting.context.repetitions_or(wanted.repetitions);
    let runs = campaign::run(setting.context, &cells, repetitions, inorder_sim::values)?;
    let scale = if setting.context.quick {
        wanted.quick_scale
    } else {
        1.0
    };
    let mut all = Quantities::default();
    let mut start = 0;
    for (row, end) in rows.iter().zip(ends) {
        wanted.tell(row, &cells[start..end], &runs[start..end], scale, &mut all);
        start = end;
    }
    Ok(all)
}

impl<'a> Row<'a> {
    fn printed(row: crate::printed::Row<'a>) -> Self {
        let fields = row.fields();
        Self {
            fields: fields
                .map(|(name, text)| (name.to_owned(), text.to_owned()))
                .collect(),
            printed: Some(row),
        }
    }

    fn given(row: &BTreeMap<String, String>) -> Self {
        Self {
            fields: row.clone().into_iter().collect(),
            printed: None,
        }
    }
}

impl Measures {
    fn overrides(&self, context: &Context<'_>, row: &Row<'_>) -> Vec<String> {
        let lasting = if context.quick {
            &self.quick
        } else {
            &self.full
        };
        let chosen = row
            .fields
            .iter()
            .filter_map(|(column, field)| self.choose.get(column)?.get(field));
        let all = self
            .set
            .iter()
            .chain(lasting)
            .chain(&self.row_set)
            .chain(chosen.flatten());
        all.map(|text| fill(text, &row.fields)).collect()
    }

    /// The measures of a row's cells.
    fn tell(
        &self,
        row: &Row<'_>,
        cells: &[Cell],
        runs: &[Vec<Run>],
        scale: f64,
        all: &mut Quantities,
    ) {
        let label = fill(&self.label, &row.fields);
        for wanted in &self.measures {
            let mut values = BTreeMap::new();
            for (cell, runs) in cells.iter().zip(runs) {
                let at = cell.label(&self.axis).unwrap_or_default();
                let value = wanted.value(runs, scale);
                let name = format!("{label}, {at}");
                all.show(&name, &wanted.heading, value.clone());
                let prefix = wanted.printed.as_deref();
                let column = prefix.map(|prefix| format!("{prefix}_{at}"));
                let printed = row.printed.zip(column).and_then(|(row, c)| row.value(&c));
                if let Some((printed, half_width)) = printed {
                    all.print(&name, &wanted.heading, (printed, Some(half_width)));
                }
                values.insert(at, value);
            }
            let Some(Ratio { of, to }) = &self.ratio else {
                continue;
            };
            if let (Some(a), Some(b)) = (values.get(of.as_str()), values.get(to.as_str())) {
                let measure = format!("{}: {of} over {to}", wanted.heading);
                all.keep(&label, &measure, a.over(b));
            }
        }
    }
}

impl Wanted {
    /// The measure in each run; counts relative to another quantity are multiplied by `scale`.
    fn value(&self, runs: &[Run], scale: f64) -> Value {
        let of = |run: &Run, name: &str| {
            let at = inorder_sim::MEASURES
                .iter()
                .position(|m| m.field.name == name);
            at.and_then(|at| run.get(at).copied().flatten())
                .unwrap_or(0.0)
        };
        Value::of(runs.iter().map(|run| {
            let per = self
                .per
                .as_ref()
                .map_or(1.0, |per| scale / of(run, per).max(f64::MIN_POSITIVE));
            of(run, &self.name) * per
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_divided_by_megabits() {
        let mut run = vec![None; inorder_sim::MEASURES.len()];
        for (name, value) in [("throughput", 50.0), ("retransmissions", 100.0)] {
            let at = inorder_sim::MEASURES
                .iter()
                .position(|m| m.field.name == name);
            run[at.expect("measured")] = Some(value);
        }
        let wanted = |text: &str| toml::from_str::<Wanted>(text).expect("reads");
        let rate = wanted("name = 'throughput'\nheading = 'Mb/s'");
        let again = wanted("name = 'retransmissions'\nheading = 'again'\nper = 'throughput'");
        let runs = [run.clone(), run];
        assert_eq!(rate.value(&runs, 10.0), Value::of([50.0, 50.0]));
        assert_eq!(again.value(&runs, 10.0), Value::of([20.0, 20.0]));
    }

    #[test]
    fn a_row_sets_overrides_by_its_columns() {
        let wanted: Measures = toml::from_str(
            "scenario = 'a'\nrepetitions = 5\nlabel = '{sender}'\naxis = 'b'\nmeasures = []\n\
             set = ['always']\nfull = ['long']\nquick = ['short']\nrow_set = ['n={streams}']\n\
             row = [{ sender = 'S', streams = '5' }]\nchoose.sender = { S = ['fixed'], A = ['adaptive'] }",
        )
        .expect("reads");
        let stop = std::sync::atomic::AtomicBool::new(false);
        let sets = wanted.overrides(&Context::quick(&stop), &Row::given(&wanted.row[0]));
        assert_eq!(sets, ["always", "short", "n=5", "fixed"]);
    }
}
