//! The graph for the layout: places, transitions, and additional points of long arcs.

use super::Frame;
use super::words::{self, LETTER, LETTERS};
use crate::net::{ArcKind, Net};

/// Nodes (places, transitions, then points) and the arcs between them.
pub(super) struct Graph {
    pub nodes: Vec<Node>,
    /// Number of nodes that are places or transitions.
    pub real: usize,
    /// Segments between adjacent layers, from the lower to the higher one.
    pub segments: Vec<(usize, usize)>,
    pub arcs: Vec<Long>,
    /// The nodes of each layer, in order.
    pub layers: Vec<Vec<usize>>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Node {
    pub layer: usize,
    pub frame: Frame,
}

/// An arc and the nodes on it, from start to end.
#[derive(Debug, Clone)]
pub(super) struct Long {
    pub from: usize,
    pub to: usize,
    pub through: Vec<usize>,
}

impl Graph {
    pub(super) fn of(net: &Net) -> Self {
        let frame = |words: &[&str], height: f64| {
            let longest = words
                .iter()
                .map(|w| w.chars().count().min(LETTERS))
                .max()
                .unwrap_or(0);
            Frame {
                width: (longest as f64 * LETTER).max(36.0) + 8.0,
                height,
                ..Frame::default()
            }
        };
        let places = net.places.iter().map(|p| frame(&[&p.name], 66.0));
        let transitions = net
            .transitions
            .iter()
            .map(|t| frame(&[&t.name, &words::timing(t)], 78.0));
        let nodes: Vec<Node> = places
            .chain(transitions)
            .map(|frame| Node {
                frame,
                ..Node::default()
            })
            .collect();
        Self {
            real: nodes.len(),
            nodes,
            segments: Vec::new(),
            arcs: arcs(net),
            layers: Vec::new(),
        }
    }

    pub(super) fn frames(&self) -> Vec<Frame> {
        self.nodes[..self.real]
            .iter()
            .map(|node| node.frame)
            .collect()
    }

    pub(super) fn paths(&self) -> Vec<Vec<(f64, f64)>> {
        let point = |&n: &usize| (self.nodes[n].frame.x, self.nodes[n].frame.y);
        let path = |arc: &Long| {
            let ends = (std::iter::once(&arc.from), std::iter::once(&arc.to));
            ends.0
                .chain(&arc.through)
                .chain(ends.1)
                .map(point)
                .collect()
        };
        self.arcs.iter().map(path).collect()
    }
}

fn arcs(net: &Net) -> Vec<Long> {
    let mut arcs = Vec::new();
    for (i, t) in net.transitions.iter().enumerate() {
        for arc in &t.arcs {
            let (place, transition) = (arc.place.0, net.places.len() + i);
            let (from, to) = match arc.kind {
                ArcKind::Output => (transition, place),
                _ => (place, transition),
            };
            let through = Vec::new();
            arcs.push(Long { from, to, through });
        }
    }
    arcs
}
