//! How a value of a scenario is read, and what reading it knows and finds.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::error::{Place, Problem};
use crate::names::Registries;
use crate::schema::Form;
use crate::value::Node;

/// How a value is written, and what it becomes.
pub trait Kind {
    /// What it becomes.
    type Value;
    /// How it is written, for the reference.
    const FORM: Form;
    /// Reads it.
    ///
    /// # Errors
    /// If it is of another form.
    fn read(node: &Node, context: &Context<'_>) -> Result<Self::Value, Problem>;
    /// Orders a value against a bound; `None`: nothing bounds it.
    fn compare(_value: &Self::Value, _bound: &Self::Value) -> Option<Ordering> {
        None
    }
    /// What is read where a table or a list is not given.
    fn blank() -> Node {
        Node::empty(&Place::Default)
    }
}

/// What reading one cell of a scenario knows and finds besides values.
#[derive(Debug)]
pub struct Context<'a> {
    /// Names the scenario may refer to.
    pub(crate) names: &'a Registries,
    found: RefCell<Found>,
}

/// Keys that depend on another setting. A grid may set a key that only some of its cells use, so only what
/// no cell uses is an error; see [`Scenario::cells`](crate::Scenario::cells).
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Keys that have no effect in this cell, each with its complaint.
    pub(crate) idle: Vec<Problem>,
    /// Where keys were written that depend on another setting and have an effect.
    pub(crate) used: BTreeSet<Place>,
}

impl Found {
    /// Joins what was found in another cell. What is idle is kept once for each place.
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
    pub(crate) fn new(names: &'a Registries) -> Self {
        Context {
            names,
            found: RefCell::default(),
        }
    }

    pub(crate) fn finish(self) -> Found {
        self.found.into_inner()
    }

    /// Notes a key that has no effect in this cell.
    pub(crate) fn idle(&self, problem: Problem) {
        self.found.borrow_mut().idle.push(problem);
    }

    pub(crate) fn used(&self, place: &Place) {
        self.found.borrow_mut().used.insert(place.clone());
    }
}
