//! Drawings of nets: DOT for Graphviz, and SVG with a layout of this crate.
//!
//! Places are circles with their tokens. Immediate transitions are thin bars, exponential ones hollow boxes,
//! deterministic ones filled boxes, all others grey boxes. Inhibitor arcs end with a circle, read arcs are dashed
//! without an arrowhead, reset arcs have two arrowheads.
//!
//! ```
//! use inorder_petri::draw::{Drawing, dot};
//!
//! let net = inorder_petri::text::read("one.net", "place p 1\ntransition t exponential rate 2\n in p\n")?;
//! assert!(dot(&net).starts_with("digraph"));
//! assert!(Drawing::of(&net).svg().ends_with("</svg>\n"));
//! # Ok::<(), inorder_petri::text::ReadError>(())
//! ```

mod dot;
mod graph;
mod layers;
mod place;
mod ports;
mod svg;
mod words;

pub use dot::dot;
pub(crate) use dot::quoted;

use crate::net::Net;
use graph::Graph;

/// A net laid out for drawing.
#[derive(Debug, Clone)]
pub struct Drawing<'a> {
    net: &'a Net,
    nodes: Vec<Frame>,
    /// For every arc, in the order of the net: its points from start to end.
    paths: Vec<Vec<(f64, f64)>>,
    width: f64,
    height: f64,
}

/// The area of a node and its text: centre, width and height, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Frame {
    /// Centre, from the left.
    pub x: f64,
    /// Centre, from the top.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

impl<'a> Drawing<'a> {
    /// Lays out `net`, from left to right.
    ///
    /// K. Sugiyama, S. Tagawa, M. Toda, "Methods for visual understanding of hierarchical system structures", IEEE
    /// Trans. SMC 11(2), 1981: cycles are cut, nodes are assigned to layers, and layers are ordered by the mean
    /// position of the neighbours. Arcs over several layers pass through additional points.
    pub fn of(net: &'a Net) -> Self {
        let mut graph = Graph::of(net);
        layers::assign(&mut graph);
        layers::order(&mut graph);
        let (width, height) = place::coordinates(&mut graph);
        Self {
            net,
            nodes: graph.frames(),
            paths: ports::attached(&graph, net.places.len()),
            width,
            height,
        }
    }

    /// The areas of the places, then of the transitions, in the order of the net. They do not overlap.
    pub fn frames(&self) -> &[Frame] {
        &self.nodes
    }

    /// Width and height in pixels.
    pub fn size(&self) -> (f64, f64) {
        (self.width, self.height)
    }

    /// The drawing as a self-contained SVG document.
    pub fn svg(&self) -> String {
        svg::document(self)
    }
}
