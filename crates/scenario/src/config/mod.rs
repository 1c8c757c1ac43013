//! A scenario as plain data, and the declarations from which it is read.
//!
//! Every value has its default filled in. Times are nanoseconds, rates bits per second, sizes bytes, shares and
//! probabilities 0 to 1.
//!
//! Each table of a scenario file is declared once with `keys!`, which the private module `declare` describes. The
//! plain data, the reader, its errors and the reference are generated from the declaration.
//!
//! # To add a key
//!
//! Add a field to the table's declaration and use it where the plain data is turned into a simulation (`inorder-sim`,
//! module `build`). Then regenerate the reference; the failing test shows the command.
//!
//! # To add an impairment
//!
//! Declare its keys in `impairments.rs` and add its name to the list at the end of that file. `inorder-path` does not
//! compile until its list of impairments has an entry for it.
//!
//! # To add a queue discipline
//!
//! Add a variant with its keys to [`Discipline`]. `inorder-path` does not compile until its list of impairments
//! builds a link with that discipline.

mod application;
mod capture;
mod card;
mod discipline;
mod endpoint;
mod flow;
mod habits;
mod impairments;
mod lab;
mod line;
mod link;
mod run;
mod stage;

pub use application::*;
pub use capture::*;
pub use card::*;
pub use discipline::*;
pub use endpoint::*;
pub use flow::*;
pub use habits::*;
pub use impairments::*;
pub use lab::*;
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
    /// The whole file. All flows and probes share the two paths by default.
    pub struct Config in "scenario", check Config::check {
        /// A title, one line.
        title: Text, default "";
        /// Duration and repetitions.
        run: One<Run>, blank "its defaults";
        /// TCP flows, one `[[flow]]` for each kind.
        flows as "flow": List<Flow>, blank "none";
        /// Numbered packets without TCP.
        probes as "probe": List<Probe>, blank "none";
        /// Stages that packets from A to B pass, in order.
        forward: Stages, blank "an ideal path";
        /// Stages that packets from B to A pass, in order.
        reverse: Stages, blank "an ideal path";
        /// Lines between places, for routes other than the two paths.
        lines as "line": List<NetworkLine>, blank "none";
        /// B's network card.
        receiver_card: One<Card>, unset "none: packets are taken one by one, at once";
        /// A's network card.
        sender_card: One<Card>, unset "none";
        /// What only `inorder lab` reads, which runs the scenario on real Linux.
        lab: One<Lab>, blank "its defaults";
        /// Captures with defects, besides those of both ends.
        captures as "capture": List<Capture>, blank "none";
        /// What is recorded.
        output: One<Output>, blank "its defaults";
        /// Grid keys with dots and lists of values: every combination is a cell.
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
        let captures = r.child("capture").map(Node::elements).unwrap_or_default();
        Capture::check_names(&self.captures, captures)?;
        check_network(self, r)
    }
}

/// Present if the file has a grid. The grid was applied before this cell was read, so it has no content here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grid;

impl crate::kind::Kind for Grid {
    type Value = Self;
    const FORM: crate::schema::Form = crate::schema::Form::Other("a table of lists");
    fn read(_: &Node, _: &crate::context::Context<'_>) -> Result<Self, Problem> {
        Ok(Grid)
    }
}
