//! A scenario as plain data, and the declarations it is read by.
//!
//! Every value has its default filled in. Times are nanoseconds, rates bits per second, sizes bytes, shares and
//! probabilities 0 to 1.
//!
//! Each table of a scenario file is declared once with `keys!`, which the private module `declare` describes:
//! the plain data, the reader, its errors and the reference follow from the declaration.
//!
//! # To add a key
//!
//! Add a field to the table's declaration and use it where the plain data is turned into something that runs
//! (`inorder-sim`, module `build`). Then let the reference be written anew; the failing test says how.
//!
//! # To add an impairment
//!
//! Declare its keys in `impairments.rs` and add its name to the list at the end of that file. `inorder-path` does not
//! compile until its list of impairments has an entry for these keys.
//!
//! # To add a queue discipline
//!
//! Add a variant, with its keys, to [`Discipline`]. `inorder-path` does not compile until its list of impairments says
//! what a link with that discipline is made into.

mod application;
mod card;
mod endpoint;
mod flow;
mod impairments;
mod line;
mod link;
mod run;
mod stage;

pub use application::*;
pub use card::*;
pub use endpoint::*;
pub use flow::*;
pub use impairments::*;
pub use line::*;
pub use link::*;
pub use run::*;
pub use stage::*;

pub use crate::quantity::{Pacing, Queue, QueueLimit};

use crate::declare::keys;
use crate::error::Problem;
use crate::kind::{List, One, Text};
use crate::reader::Reader;
use crate::value::Node;

keys! {
    /// The file as a whole. Flows and probes share both paths.
    pub struct Config in "scenario", check Config::check {
        /// One line for people.
        title: Text, default "";
        /// How long and how often.
        run: One<Run>, blank "its defaults";
        /// TCP flows, `[[flow]]` each kind of them.
        flows as "flow": List<Flow>, blank "none";
        /// Numbered packets without TCP.
        probes as "probe": List<Probe>, blank "none";
        /// What packets pass from A to B, in order.
        forward: Stages, blank "an ideal path";
        /// What packets pass from B to A, in order.
        reverse: Stages, blank "an ideal path";
        /// Lines between places, for routes other than the two paths.
        lines as "line": List<NetworkLine>, blank "none";
        /// B's network card.
        receiver_card: One<Card>, unset "none: packets are taken one by one, at once";
        /// A's network card.
        sender_card: One<Card>, unset "none";
        /// What is recorded.
        output: One<Output>, blank "its defaults";
        /// Keys of this file, dotted, and lists of values: every combination is a cell.
        grid: Grid, unset "one cell";
    }
}

impl Config {
    fn check(&self, r: &Reader<'_>) -> Result<(), Problem> {
        if self.flows.is_empty() && self.probes.is_empty() {
            let expected = "at least one [[flow]] or [[probe]]";
            return Err(Problem::new(r.table(), "nothing is sent", expected));
        }
        for path in ["forward", "reverse"] {
            let stages = r.child(path).map(Node::elements).unwrap_or_default();
            Label::check_names(stages, path)?;
        }
        check_network(self, r)
    }
}

/// The file has a grid. It was applied before this cell was read, so nothing of it is left to read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grid;

impl crate::kind::Kind for Grid {
    type Value = Self;
    const FORM: crate::schema::Form = crate::schema::Form::Other("a table of lists");
    fn read(_: &Node, _: &crate::context::Context<'_>) -> Result<Self, Problem> {
        Ok(Grid)
    }
}
