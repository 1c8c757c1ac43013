//! The grid: axes, their values, and every combination of them.
//!
//! ```toml
//! [grid]
//! "flow.count" = [1, 5, 10]
//! "forward.jitter.delay" = { from = "1 ms", to = "10 ms", count = 10 }
//!
//! [[grid.zip]]                       # values taken together, by position
//! label = ["slow", "fast"]
//! "forward.0.rate" = ["1 Mbit/s", "1 Gbit/s"]
//! "forward.0.queue" = ["10 packets", "1000 packets"]
//!
//! [grid.variants.sender.A]           # axis "sender", value "A"
//! "flow.*.sender.loss_detection" = "linux"
//! [grid.variants.sender.S]
//! "flow.*.sender.loss_detection" = "static"
//! ```

use crate::dotted;
use crate::error::{Place, Problem};
use crate::quantity::small_count;
use crate::value::{Entry, Node, Value, tables};

/// One dimension of the grid.
#[derive(Clone, PartialEq, Debug)]
pub struct Axis {
    /// Its name: a dotted key, or the name of a group of variants.
    pub name: String,
    /// Its values.
    pub points: Vec<Point>,
}

/// A value of an axis.
#[derive(Clone, PartialEq, Debug)]
pub struct Point {
    /// Label in tables.
    pub label: String,
    /// The changes: keys, where they were written, values.
    changes: Vec<(String, Place, Node)>,
}

impl Point {
    pub(crate) fn apply(&self, tree: &mut Node) -> Result<(), Problem> {
        let mut changes = self.changes.iter();
        changes.try_for_each(|(key, place, node)| dotted::set(tree, key, place, node))
    }

    /// The key of each change, where it was written, and the place of its value.
    pub(crate) fn changes(&self) -> impl Iterator<Item = (&str, &Place, &Place)> {
        let changes = self.changes.iter();
        changes.map(|(key, place, node)| (key.as_str(), place, &node.place))
    }
}

/// Maximum number of cells; a larger grid is probably a mistake.
const MAX_CELLS: usize = 1_000_000;

/// The axes of `[grid]`, in the order in which they were written.
pub(crate) fn axes(grid: Option<&Node>) -> Result<Vec<Axis>, Problem> {
    let Some(grid) = grid else {
        return Ok(Vec::new());
    };
    let mut axes = Vec::new();
    for entry in grid.entries("grid")? {
        match entry.key.as_str() {
            "zip" => {
                for table in tables(&entry.node)? {
                    axes.push(zipped(table)?);
                }
            }
            "variants" => {
                for group in entry.node.entries("grid.variants")? {
                    axes.push(variants(group)?);
                }
            }
            _ => flatten(&entry.key, entry, &mut axes)?,
        }
    }
    let changes = axes.iter().flat_map(|axis| &axis.points);
    for (key, place, _) in changes.flat_map(Point::changes) {
        if key == "grid" || key.starts_with("grid.") {
            let expected = "a key outside of [grid]";
            return Err(Problem::new(
                place,
                format!("the axis \"{key}\" is of the grid itself"),
                expected,
            ));
        }
    }
    let cells = axes.iter().map(|axis| axis.points.len());
    let cells = cells.fold(1usize, usize::saturating_mul);
    if cells > MAX_CELLS {
        let what = format!("a grid of {cells} cells");
        return Err(Problem::new(&grid.place, what, "at most a million"));
    }
    Ok(axes)
}

/// An unquoted key is parsed as nested tables: `flow.count` as `flow` with `count` in it.
fn flatten(key: &str, entry: &Entry, axes: &mut Vec<Axis>) -> Result<(), Problem> {
    match &entry.node.value {
        Value::Table(entries) if entry.node.get("from").is_none() => {
            for below in entries {
                flatten(&format!("{key}.{}", below.key), below, axes)?;
            }
            Ok(())
        }
        _ => {
            let values = values(&entry.node)?;
            let point = |node: Node| Point {
                label: node.show(),
                changes: vec![(key.to_owned(), entry.place.clone(), node)],
            };
            axes.push(Axis {
                name: key.to_owned(),
                points: values.into_iter().map(point).collect(),
            });
            Ok(())
        }
    }
}

/// The values of an axis: a list, or a range.
fn values(node: &Node) -> Result<Vec<Node>, Problem> {
    match &node.value {
        Value::List(nodes) if !nodes.is_empty() => Ok(nodes.clone()),
        Value::Table(_) => range(node),
        _ => Err(node.wrong("an axis", "a list of values, or { from, to, count }")),
    }
}

/// `{ from = "1 ms", to = "10 ms", count = 10 }`: equal steps, both ends included.
fn range(node: &Node) -> Result<Vec<Node>, Problem> {
    const EXPECTED: &str = "{ from = \"1 ms\", to = \"10 ms\", count = 10 }, both with one unit";
    let wrong = || Problem::new(&node.place, "a range", EXPECTED);
    let end = |key| node.get(key).and_then(with_unit).ok_or_else(wrong);
    let ((from, unit), (to, same)) = (end("from")?, end("to")?);
    let count = small_count(node.get("count").ok_or_else(wrong)?)?;
    if unit != same || !(2..=100_000).contains(&count) {
        return Err(wrong());
    }
    let step = (to - from) / f64::from(count - 1);
    let value = |i| format_value(from + f64::from(i) * step, &unit);
    Ok((0..count)
        .map(|i| Node {
            value: value(i),
            place: node.place.clone(),
        })
        .collect())
}

fn with_unit(node: &Node) -> Option<(f64, String)> {
    let text = node.show();
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    Some((number.parse().ok()?, unit.trim().to_owned()))
}

/// Rounds to six decimals without trailing zeros.
fn format_value(number: f64, unit: &str) -> Value {
    let text = format!("{number:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match unit {
        "" => Value::Number(text.to_owned()),
        unit => Value::Text(format!("{text} {unit}")),
    }
}

/// `[[grid.zip]]`: lists of the same length.
fn zipped(table: &Node) -> Result<Axis, Problem> {
    let entries = table.entries("grid.zip")?;
    let keys: Vec<&Entry> = entries.iter().filter(|e| e.key != "label").collect();
    let lists: Vec<Vec<Node>> = keys
        .iter()
        .map(|entry| values(&entry.node))
        .collect::<Result<_, _>>()?;
    let length = lists.first().map_or(0, Vec::len);
    let labels = table.get("label").map(Node::elements);
    let equal = lists.iter().all(|list| list.len() == length)
        && labels.is_none_or(|labels| labels.len() == length);
    if length == 0 || !equal {
        let expected = "lists of one length, the label included";
        return Err(Problem::new(
            &table.place,
            "lists that do not match",
            expected,
        ));
    }
    let point = |at: usize| {
        let nodes = lists.iter().filter_map(|list| list.get(at));
        let changes: Vec<_> = keys
            .iter()
            .zip(nodes)
            .map(|(entry, node)| (entry.key.clone(), entry.place.clone(), node.clone()))
            .collect();
        let shown: Vec<String> = changes.iter().map(|(_, _, node)| node.show()).collect();
        let label = labels.and_then(|labels| labels.get(at)).map(Node::show);
        Point {
            label: label.unwrap_or_else(|| shown.join(" / ")),
            changes,
        }
    };
    let names: Vec<&str> = keys.iter().map(|entry| entry.key.as_str()).collect();
    Ok(Axis {
        name: names.join(" / "),
        points: (0..length).map(point).collect(),
    })
}

/// `[grid.variants.AXIS.NAME]`: the settings of the variant called NAME.
fn variants(group: &Entry) -> Result<Axis, Problem> {
    let points = group
        .node
        .entries("an axis of variants")?
        .iter()
        .map(|variant| {
            let changes = variant.node.entries("a variant")?.iter();
            Ok(Point {
                label: variant.key.clone(),
                changes: changes
                    .map(|e| (e.key.clone(), e.place.clone(), e.node.clone()))
                    .collect(),
            })
        });
    let points: Vec<Point> = points.collect::<Result<_, Problem>>()?;
    if points.is_empty() {
        let expected = "[grid.variants.AXIS.NAME]";
        return Err(Problem::new(
            &group.place,
            "an axis without variants",
            expected,
        ));
    }
    Ok(Axis {
        name: group.key.clone(),
        points,
    })
}

/// Every combination as positions on each axis; the last axis varies fastest.
pub(crate) fn combinations(axes: &[Axis]) -> impl Iterator<Item = Vec<usize>> + '_ {
    let total: usize = axes.iter().map(|axis| axis.points.len()).product();
    (0..total).map(|number| {
        let mut rest = number;
        let mut at: Vec<usize> = axes
            .iter()
            .rev()
            .map(|axis| {
                let position = rest % axis.points.len();
                rest /= axis.points.len();
                position
            })
            .collect();
        at.reverse();
        at
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Vec<Axis>, String> {
        let tree = Node::parse(text).unwrap();
        axes(tree.get("grid")).map_err(|p| p.to_line())
    }

    impl Problem {
        fn to_line(&self) -> String {
            format!("{}, expected {}", self.what, self.expected)
        }
    }

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.points
            .iter()
            .map(|point| point.label.as_str())
            .collect()
    }

    #[test]
    fn all_three_ways_to_name_values() {
        let axes = parsed(
            "[grid]\n\"flow.count\" = [1, 10]\nforward.0.delay = {from = \"1 ms\", to = \"2 ms\", count = 3}\n\
             [[grid.zip]]\nlabel = [\"s\", \"f\"]\n\"a\" = [1, 2]\n\"b\" = [3, 4]\n\
             [grid.variants.sender.A]\n\"x\" = 1\n[grid.variants.sender.S]\n\"x\" = 2\n",
        )
        .unwrap();
        let names: Vec<_> = axes.iter().map(|axis| axis.name.as_str()).collect();
        assert_eq!(names, ["flow.count", "forward.0.delay", "a / b", "sender"]);
        assert_eq!(labels(&axes[1]), ["1 ms", "1.5 ms", "2 ms"]);
        assert_eq!(labels(&axes[2]), ["s", "f"]);
        assert_eq!(labels(&axes[3]), ["A", "S"]);
        assert_eq!(combinations(&axes).count(), 24);
        assert_eq!(combinations(&axes).nth(3), Some(vec![0, 0, 1, 1]));
    }

    #[test]
    fn without_a_grid_there_is_one_cell() {
        assert_eq!(combinations(&[]).collect::<Vec<_>>(), [Vec::<usize>::new()]);
    }

    #[test]
    fn errors_in_grids_contain_what_was_expected() {
        assert!(
            parsed("[grid]\na = 1")
                .unwrap_err()
                .contains("a list of values")
        );
        assert!(
            parsed("[grid]\na = []")
                .unwrap_err()
                .contains("a list of values")
        );
        let uneven = "[[grid.zip]]\na = [1, 2]\nb = [1]";
        assert!(parsed(uneven).unwrap_err().contains("one length"));
        let units = "[grid]\na = {from = \"1 ms\", to = \"1 s\", count = 3}";
        assert!(parsed(units).unwrap_err().contains("one unit"));
    }
}
