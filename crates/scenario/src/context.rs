//! How a value of a scenario is read, and the state of reading.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::error::{Place, Problem};
use crate::names::Registries;
use crate::quantity;
use crate::schema::Form;
use crate::value::Node;

/// How a value is written, and the type it is converted to.
pub trait Kind {
    /// The type it is converted to.
    type Value;
    /// How it is written, for the reference.
    const FORM: Form;
    /// Reads a value.
    ///
    /// # Errors
    /// If the value has another form.
    fn read(node: &Node, context: &Context<'_>) -> Result<Self::Value, Problem>;
    /// Compares a value with a bound; `None` if there are no bounds.
    fn compare(_value: &Self::Value, _bound: &Self::Value) -> Option<Ordering> {
        None
    }
    /// The value for a table or a list that is not given.
    fn blank() -> Node {
        Node::empty(&Place::Default)
    }
}

/// The state of reading one cell of a scenario.
#[derive(Debug)]
pub struct Context<'a> {
    /// Names to which the scenario may refer.
    pub(crate) names: &'a Registries,
    /// The scenario's file.
    file: &'a str,
    found: RefCell<Found>,
}

/// Keys that depend on another setting. A grid may set a key that only some of its cells use, so a key is an error
/// only if no cell uses it; see [`Scenario::cells`](crate::Scenario::cells).
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Keys that have no effect in this cell, each with its error.
    pub(crate) idle: Vec<Problem>,
    /// Positions of keys that depend on another setting and have an effect.
    pub(crate) used: BTreeSet<Place>,
}

impl Found {
    /// Adds the findings of another cell; ineffective keys are kept once for each position.
    pub(crate) fn add(&mut self, cell: Found) {
        self.used.extend(cell.used);
        for problem in cell.idle {
            if !self.idle.iter().any(|known| known.place == problem.place) {
                self.idle.push(problem);
            }
        }
    }

    /// The first key of the file that has no effect in any cell.
    pub(crate) fn first_without_effect(self) -> Option<Problem> {
        let unused = |problem: &Problem| !self.used.contains(&problem.place);
        let idle = self.idle.into_iter().filter(unused);
        idle.min_by(|a, b| a.place.cmp(&b.place))
    }
}

impl<'a> Context<'a> {
    pub(crate) fn new(names: &'a Registries, file: &'a str) -> Self {
        Context {
            names,
            file,
            found: RefCell::default(),
        }
    }

    /// Name and text of the file that `node` names.
    pub(crate) fn read_file(&self, node: &Node) -> Result<(String, String), Problem> {
        let name = file_name(node)?;
        let wrong = |what: &str, expected| Problem::new(&node.place, what, expected);
        let Some(read) = self.names.read_file else {
            return Err(wrong(
                "this program reads no files beside the scenario",
                "a scenario without",
            ));
        };
        let text = read(self.file, &name);
        let text = text.map_err(|what| wrong(&what, "a file that can be read"))?;
        Ok((name, text))
    }

    pub(crate) fn finish(self) -> Found {
        self.found.into_inner()
    }

    /// Records a key that has no effect in this cell.
    pub(crate) fn idle(&self, problem: Problem) {
        self.found.borrow_mut().idle.push(problem);
    }

    pub(crate) fn used(&self, place: &Place) {
        self.found.borrow_mut().used.insert(place.clone());
    }
}

/// Reads a value of text as the name of a file.
fn file_name(node: &Node) -> Result<String, Problem> {
    let name = quantity::text(node)?;
    match name.is_empty() {
        true => Err(Problem::new(
            &node.place,
            "an empty name",
            "the name of a file",
        )),
        false => Ok(name),
    }
}
