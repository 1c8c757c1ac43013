//! Pictures of nets: DOT for Graphviz, and SVG with a layout of its own.
//!
//! Places are circles with their tokens. Immediate transitions are thin bars, exponential ones hollow boxes,
//! deterministic ones filled boxes, others grey. Inhibitor arcs end in a circle, read arcs are dashed without an
//! arrowhead, reset arcs have two.
//!
//! ```
//! use inorder_petri::draw::{Drawing, dot};
//!
//! let net = inorder_petri::text::read("one.net", "place p 1\ntransition t exponential rate 2\n in p\n")?;
//! assert!(dot(&net).starts_with("digraph"));
//! assert!(Drawing::of(&net).svg().ends_with("</svg>\n"));
//! # Ok::<(), inorder_petri::text::TextError>(())
//! ```

mod dot;
mod graph;
mod layers;
mod place;
mod ports;
mod svg;
mod words;

pub use dot::dot;

use crate::net::Net;
use graph::Graph;

/// A net laid out for drawing.
#[derive(Debug, Clone)]
pub struct Drawing<'a> {
    net: &'a Net,
    nodes: Vec<Frame>,
    /// For every arc, in the order of the net: the points it passes, from its beginning to its end.
    paths: Vec<Vec<(f64, f64)>>,
    width: f64,
    height: f64,
}

/// The room of a node and its words: middle, width and height, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Frame {
    /// Middle, from the left.
    pub x: f64,
    /// Middle, from the top.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

impl<'a> Drawing<'a> {
    /// Lays out `net`, from left to right.
    ///
    /// K. Sugiyama, S. Tagawa, M. Toda, "Methods for visual understanding of hierarchical system structures",
    /// IEEE Trans. SMC 11(2), 1981: cycles are cut, nodes put in layers, layers ordered by the middle of their
    /// neighbours. Arcs over several layers pass through points of their own.
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

    /// The rooms of the places, then of the transitions, in the order of the net. None overlap.
    pub fn frames(&self) -> &[Frame] {
        &self.nodes
    }

    /// Width and height in pixels.
    pub fn size(&self) -> (f64, f64) {
        (self.width, self.height)
    }

    /// The drawing as an SVG document that needs nothing else.
    pub fn svg(&self) -> String {
        svg::document(self)
    }
}
