//! The reachability graph in formats of other programs.

use std::io::{self, Write};

use super::Graph;
use crate::draw::quoted;
use crate::net::Net;

impl Graph {
    /// Writes the graph in the Aldebaran format (AUT) of CADP and mCRL2: the first line has the number of the initial
    /// marking and how many firings and markings follow, each further line a firing.
    ///
    /// ```
    /// use inorder_petri::{net::*, reachability::Graph};
    ///
    /// let mut net = Net::new("one");
    /// let (a, b) = (net.add_place(Place::new("a", 1)), net.add_place(Place::new("b", 0)));
    /// net.add_transition(Transition::new("go", Timing::exponential(1.0)).input(a, 1).output(b, 1));
    /// let mut out = Vec::new();
    /// Graph::explore(&net, 100).write_aut(&net, &mut out)?;
    /// assert_eq!(String::from_utf8_lossy(&out), "des (0, 1, 2)\n(0, \"go\", 1)\n");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn write_aut(&self, net: &Net, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "des (0, {}, {})", self.edges(), self.len())?;
        self.each_firing(|from, transition, to| {
            let name = quoted(&net.transitions[transition].name);
            writeln!(out, "({from}, {name}, {to})")
        })
    }

    /// Writes the graph for Graphviz; each node shows its marking. The initial marking has a double border, and
    /// markings without all their successors a dashed one.
    pub fn write_dot(&self, net: &Net, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "digraph {} {{", quoted(&net.name))?;
        writeln!(out, "  node [shape=box];")?;
        for i in 0..self.len() {
            let look = match (i, self.is_cut(i)) {
                (0, _) => ", peripheries=2",
                (_, true) => ", style=dashed",
                _ => "",
            };
            let marking = quoted(&net.marking_text(self.marking(i)));
            writeln!(out, "  m{i} [label={marking}{look}];")?;
        }
        self.each_firing(|from, transition, to| {
            let name = quoted(&net.transitions[transition].name);
            writeln!(out, "  m{from} -> m{to} [label={name}];")
        })?;
        writeln!(out, "}}")
    }

    fn each_firing(
        &self,
        mut write: impl FnMut(usize, usize, usize) -> io::Result<()>,
    ) -> io::Result<()> {
        for from in 0..self.len() {
            for (transition, to) in self.successors(from) {
                write(from, transition.0, to)?;
            }
        }
        Ok(())
    }
}
