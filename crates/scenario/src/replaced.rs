//! Values that others replace in every cell: an axis for a key that another axis sets too, by the same name or by another one (`flow.count`,
//! `flow.0.count`), or an override of what the grid sets. Whoever wrote them would read results of other settings than the labels say.

use crate::error::{Place, Problem};
use crate::grid::{Axis, Point};
use crate::value::{Node, Value};

/// The values that no cell had so far.
#[derive(Debug)]
pub(crate) struct Replaced {
    unseen: Vec<Unseen>,
}

#[derive(Debug)]
struct Unseen {
    /// Place of the value in the tree.
    value: Place,
    problem: Problem,
}

impl Replaced {
    /// All values of the axes, and the overrides that later ones have not replaced.
    pub(crate) fn new(tree: &Node, axes: &[Axis], overrides: &[Place]) -> Self {
        let lasting = overrides.iter().filter(|place| holds(tree, place));
        let overrides = lasting.map(|place| Unseen {
            value: place.clone(),
            problem: Problem::new(
                place,
                "no effect, because the grid sets the same",
                "a key that the grid does not set, or an axis by its name",
            ),
        });
        let changes = axes.iter().flat_map(|axis| &axis.points);
        let changes = changes.flat_map(Point::changes);
        let changes = changes.map(|(key, place, value)| Unseen {
            value: value.clone(),
            problem: Problem::new(
                place,
                format!("\"{key}\" has no effect, because another axis sets the same"),
                "one axis for it",
            ),
        });
        Replaced {
            unseen: overrides.chain(changes).collect(),
        }
    }

    /// A cell has this tree.
    pub(crate) fn look_at(&mut self, tree: &Node) {
        self.unseen.retain(|unseen| !holds(tree, &unseen.value));
    }

    /// The first value that no cell had.
    pub(crate) fn first(self) -> Option<Problem> {
        let problems = self.unseen.into_iter().map(|unseen| unseen.problem);
        problems.min_by(|a, b| a.place.cmp(&b.place))
    }
}

/// True if a value of this place is in the tree, outside of the grid, which keeps all its values.
fn holds(tree: &Node, place: &Place) -> bool {
    let Value::Table(entries) = &tree.value else {
        return false;
    };
    let outside = entries.iter().filter(|entry| entry.key != "grid");
    outside
        .map(|entry| &entry.node)
        .any(|node| contains(node, place))
}

fn contains(node: &Node, place: &Place) -> bool {
    match &node.value {
        // A table that was made to hold an override's value has the override's place, too, and keeps it when the value is replaced.
        Value::Table(entries) if !entries.is_empty() => {
            let own = node.place == *place && matches!(place, Place::File(_));
            own || entries.iter().any(|entry| contains(&entry.node, place))
        }
        Value::List(nodes) => {
            node.place == *place || nodes.iter().any(|node| contains(node, place))
        }
        _ => node.place == *place,
    }
}
