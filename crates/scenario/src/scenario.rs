//! A scenario file, read; its cells.

use std::sync::Arc;

use crate::config::Config;
use crate::context::{Context, Found};
use crate::dotted;
use crate::error::{Error, Place, Problem};
use crate::grid::{self, Axis};
use crate::names::Registries;
use crate::reader::{Reader, Table, unknown_key};
use crate::schema::Keys;
use crate::value::{Node, Value};

/// A scenario file.
#[derive(Clone, Debug)]
pub struct Scenario {
    file: String,
    text: String,
    tree: Node,
    names: Registries,
}

/// One combination of the grid's values.
#[derive(Clone, PartialEq, Debug)]
pub struct Cell {
    /// Axis and value, in the order of the axes.
    pub labels: Vec<(String, String)>,
    /// All that holds in it.
    pub config: Config,
}

impl Cell {
    /// The value of the axis called `axis`.
    pub fn label(&self, axis: &str) -> Option<&str> {
        let found = self.labels.iter().find(|(name, _)| name == axis);
        found.map(|(_, label)| label.as_str())
    }
}

impl Scenario {
    /// Reads the text of a file; `file` is its name in messages.
    ///
    /// # Errors
    /// If it is not TOML, or a key of the file as a whole is unknown. What else is wrong,
    /// [`Scenario::cells`] finds: a grid may yet replace it.
    pub fn load(text: &str, file: &str, names: &Registries) -> Result<Self, Error> {
        let tree = Node::parse(text).map_err(|problem| Error::new(file, text, problem))?;
        let scenario = Scenario {
            file: file.to_owned(),
            text: text.to_owned(),
            tree,
            names: names.clone(),
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

    /// Overrides `key = value`, as of `--set`; a key that is an axis of the grid loses its list.
    ///
    /// # Errors
    /// If it is not of that form, or the key leads nowhere.
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
        dotted::set(&mut self.tree, key, &place, &node)
    }

    /// The axes of its grid.
    ///
    /// # Errors
    /// If the grid is malformed.
    pub fn axes(&self) -> Result<Vec<Axis>, Error> {
        self.located(grid::axes(self.tree.get("grid")))
    }

    /// Every cell, the last axis running fastest; without a grid, one.
    ///
    /// # Errors
    /// The first thing that is wrong in any of them, or a key that has an effect in none of them.
    pub fn cells(&self) -> Result<Vec<Cell>, Error> {
        let axes = self.axes()?;
        let mut found = Found::default();
        let mut cells = Vec::new();
        for at in grid::combinations(&axes) {
            cells.push(self.located(self.cell(&axes, &at, &mut found))?);
        }
        self.located(found.first_without_effect().map_or(Ok(cells), Err))
    }

    fn cell(&self, axes: &[Axis], at: &[usize], found: &mut Found) -> Result<Cell, Problem> {
        let mut tree = self.tree.clone();
        let mut labels = Vec::new();
        for (axis, position) in axes.iter().zip(at) {
            let Some(point) = axis.points.get(*position) else {
                continue;
            };
            point.apply(&mut tree)?;
            labels.push((axis.name.clone(), point.label.clone()));
        }
        let context = Context::new(&self.names);
        let config = Config::read(&Reader::new(
            &[const { &Config::SECTION }],
            &tree,
            &context,
        )?)?;
        found.add(context.finish());
        Ok(Cell { labels, config })
    }

    fn located<T>(&self, result: Result<T, Problem>) -> Result<T, Error> {
        result.map_err(|problem| Error::new(&self.file, &self.text, problem))
    }
}

fn child_mut<'n>(node: &'n mut Node, key: &str) -> Option<&'n mut Node> {
    let Value::Table(entries) = &mut node.value else {
        return None;
    };
    let found = entries.iter_mut().find(|entry| entry.key == key);
    found.map(|entry| &mut entry.node)
}

/// Takes the axis of this key out of the grid, in quotes or without.
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
