//! A scenario file and its cells.

use std::sync::Arc;

use crate::config::Config;
use crate::context::{Context, Found};
use crate::dotted;
use crate::error::{Error, Place, Problem};
use crate::grid::{self, Axis};
use crate::names::Registries;
use crate::reader::{Reader, Table, unknown_key};
use crate::replaced::Replaced;
use crate::schema::Keys;
use crate::value::{Node, Value};

/// A scenario file.
#[derive(Clone, Debug)]
pub struct Scenario {
    file: String,
    text: String,
    tree: Node,
    names: Registries,
    /// The overrides of `--set`, in their order.
    overrides: Vec<Place>,
}

/// One combination of the grid's values.
#[derive(Clone, PartialEq, Debug)]
pub struct Cell {
    /// The value on each axis, in the order of the axes.
    pub labels: Vec<(String, String)>,
    /// The settings of the cell.
    pub config: Config,
}

impl Cell {
    /// The value on the axis called `axis`.
    pub fn label(&self, axis: &str) -> Option<&str> {
        let found = self.labels.iter().find(|(name, _)| name == axis);
        found.map(|(_, label)| label.as_str())
    }
}

impl Scenario {
    /// Reads the text of a file; `file` is its name in messages.
    ///
    /// # Errors
    /// If the text is not TOML, or an unknown key is at the top level. Other errors are found by [`Scenario::cells`],
    /// because the grid may replace the values.
    pub fn load(text: &str, file: &str, names: &Registries) -> Result<Self, Error> {
        let tree = Node::parse(text).map_err(|problem| Error::new(file, text, problem))?;
        let scenario = Scenario {
            file: file.to_owned(),
            text: text.to_owned(),
            tree,
            names: names.clone(),
            overrides: Vec::new(),
        };
        let entries = scenario.located(scenario.tree.entries("the file"))?;
        let known: Vec<&str> = Config::SECTION.keys().iter().map(|key| key.name).collect();
        for entry in entries {
            if !known.contains(&entry.key.as_str()) {
                let problem = unknown_key(Config::SECTION.name, &known, entry);
                return scenario.located(Err(problem));
            }
        }
        Ok(scenario)
    }

    /// Applies an override `key = value` as given to `--set`; a key that is an axis of the grid loses its list.
    ///
    /// # Errors
    /// If the override has another form, or the key does not exist.
    pub fn set(&mut self, assignment: &str) -> Result<(), Error> {
        let done = self.try_set(assignment);
        self.located(done)
    }

    fn try_set(&mut self, assignment: &str) -> Result<(), Problem> {
        let shown: Arc<str> = assignment.into();
        let place = Place::Override(Arc::clone(&shown));
        let Some((key, value)) = assignment.split_once('=') else {
            let what = "an override without =";
            return Err(Problem::new(&place, what, "as flow.count=10"));
        };
        let (key, value) = (key.trim(), value.trim());
        let node = Node::parse_override(value, &shown)?;
        if let Some(grid) = child_mut(&mut self.tree, "grid") {
            remove_axis(grid, key);
        }
        dotted::set(&mut self.tree, key, &place, &node)?;
        self.overrides.push(place);
        Ok(())
    }

    /// The axes of its grid.
    ///
    /// # Errors
    /// If the grid is malformed.
    pub fn axes(&self) -> Result<Vec<Axis>, Error> {
        self.located(grid::axes(self.tree.get("grid")))
    }

    /// Every cell, with the last axis varying fastest; without a grid, one cell.
    ///
    /// # Errors
    /// The first error in any of the cells, or a key that has no effect in any of them.
    pub fn cells(&self) -> Result<Vec<Cell>, Error> {
        let axes = self.axes()?;
        let mut found = Found::default();
        let mut replaced = Replaced::new(&self.tree, &axes, &self.overrides);
        let mut cells = Vec::new();
        for at in grid::combinations(&axes) {
            let cell = self.cell(&axes, &at, &mut found, &mut replaced);
            cells.push(self.located(cell)?);
        }
        self.located(replaced.first().map_or(Ok(()), Err))?;
        self.located(found.first_without_effect().map_or(Ok(cells), Err))
    }

    fn cell(
        &self,
        axes: &[Axis],
        at: &[usize],
        found: &mut Found,
        replaced: &mut Replaced,
    ) -> Result<Cell, Problem> {
        let mut tree = self.tree.clone();
        let mut labels = Vec::new();
        for (axis, position) in axes.iter().zip(at) {
            let Some(point) = axis.points.get(*position) else {
                continue;
            };
            point.apply(&mut tree)?;
            labels.push((axis.name.clone(), point.label.clone()));
        }
        replaced.look_at(&tree);
        let context = Context::new(&self.names, &self.file);
        let config = Config::read(&Reader::new(
            &[const { &Config::SECTION }],
            &tree,
            &context,
        )?)?;
        found.add(context.finish());
        Ok(Cell { labels, config })
    }

    /// The names of the keys that cell number `number` gives in the table at `key`: `given(0, "flow.0.sender")`. List
    /// elements are selected by their position.
    ///
    /// # Errors
    /// If the grid is malformed.
    pub fn given(&self, number: usize, key: &str) -> Result<Vec<String>, Error> {
        let tree = self.tree_of(number)?;
        let (node, whole) = deepest(&tree, key);
        Ok(match &node.value {
            Value::Table(entries) if whole => entries.iter().map(|e| e.key.clone()).collect(),
            _ => Vec::new(),
        })
    }

    /// The error that `key` of cell number `number` has a value which whoever runs the scenario cannot use. It points
    /// to the value, or, if the file does not give it, to the table that would contain it.
    pub fn refuse(&self, number: usize, key: &str, what: &str, expected: &str) -> Error {
        let tree = self.tree_of(number).unwrap_or_else(|_| self.tree.clone());
        let (node, _) = deepest(&tree, key);
        let what = format!("{key}: {what}");
        Error::new(
            &self.file,
            &self.text,
            Problem::new(&node.place, what, expected),
        )
    }

    /// The tree of a cell, with the values of the grid in their places.
    fn tree_of(&self, number: usize) -> Result<Node, Error> {
        let axes = self.axes()?;
        let mut tree = self.tree.clone();
        let at = grid::combinations(&axes).nth(number).unwrap_or_default();
        for (axis, position) in axes.iter().zip(at) {
            if let Some(point) = axis.points.get(position) {
                self.located(point.apply(&mut tree))?;
            }
        }
        Ok(tree)
    }

    fn located<T>(&self, result: Result<T, Problem>) -> Result<T, Error> {
        result.map_err(|problem| Error::new(&self.file, &self.text, problem))
    }
}

/// Follows a dotted key as far as the tree has it and knows a position; true if that is the whole key.
fn deepest<'n>(tree: &'n Node, key: &str) -> (&'n Node, bool) {
    let (mut node, mut placed) = (tree, tree);
    for part in key.split('.') {
        let next = match &node.value {
            Value::List(nodes) => part.parse().ok().and_then(|at: usize| nodes.get(at)),
            _ => node.get(part),
        };
        let Some(next) = next else {
            return (placed, false);
        };
        node = next;
        if node.place != Place::Default {
            placed = node;
        }
    }
    (placed, true)
}

fn child_mut<'n>(node: &'n mut Node, key: &str) -> Option<&'n mut Node> {
    let Value::Table(entries) = &mut node.value else {
        return None;
    };
    let found = entries.iter_mut().find(|entry| entry.key == key);
    found.map(|entry| &mut entry.node)
}

/// Removes the axis of this key, quoted or not, from the grid.
fn remove_axis(grid: &mut Node, key: &str) {
    if let Value::Table(entries) = &mut grid.value {
        entries.retain(|entry| entry.key != key);
    }
    if let Some((first, rest)) = key.split_once('.')
        && let Some(below) = child_mut(grid, first)
    {
        remove_axis(below, rest);
    }
}
