//! Computes coordinates from layers and their order.

use super::graph::Graph;

const MARGIN: f64 = 16.0;
/// Pixels between layers, and between neighbours of one layer.
const BETWEEN_LAYERS: f64 = 42.0;
const BETWEEN_NODES: f64 = 12.0;

/// Number of rounds in which every node is moved towards the mean of its neighbours.
const ROUNDS: usize = 24;

/// Computes the position of every node; returns the width and height of the drawing.
pub(super) fn coordinates(graph: &mut Graph) -> (f64, f64) {
    let width = columns(graph);
    let mut neighbours = vec![Vec::new(); graph.nodes.len()];
    for &(left, right) in &graph.segments {
        neighbours[left].push(right);
        neighbours[right].push(left);
    }
    for layer in graph.layers.clone() {
        settle(graph, &layer, |_, _| 0.0);
    }
    for round in 0..ROUNDS {
        let mut layers = graph.layers.clone();
        if round % 2 == 1 {
            layers.reverse();
        }
        for layer in layers {
            settle(graph, &layer, |graph, node| {
                mean(graph, &neighbours[node], node)
            });
        }
    }
    (width, shift_down(graph))
}

/// Layers from left to right, each as wide as its widest node; returns the total width.
fn columns(graph: &mut Graph) -> f64 {
    let mut left = MARGIN;
    for layer in &graph.layers {
        let width = layer
            .iter()
            .map(|&n| graph.nodes[n].frame.width)
            .fold(0.0, f64::max);
        for &node in layer {
            graph.nodes[node].frame.x = left + 0.5 * width;
        }
        left += width + BETWEEN_LAYERS;
    }
    (left - BETWEEN_LAYERS).max(MARGIN) + MARGIN
}

fn mean(graph: &Graph, neighbours: &[usize], node: usize) -> f64 {
    match neighbours.len() {
        0 => graph.nodes[node].frame.y,
        n => {
            neighbours
                .iter()
                .map(|&m| graph.nodes[m].frame.y)
                .sum::<f64>()
                / n as f64
        }
    }
}

/// Moves the nodes of a layer as close to their preferred positions as their order and heights allow.
///
/// Least squares under a fixed order is isotonic regression, solved by pooling neighbours that would overlap
/// (R. E. Barlow et al., "Statistical Inference under Order Restrictions", 1972).
fn settle(graph: &mut Graph, layer: &[usize], wish: impl Fn(&Graph, usize) -> f64) {
    // Preferred positions minus the heights above: these must not decrease.
    let mut above = 0.0;
    let mut offsets = Vec::with_capacity(layer.len());
    let mut pools: Vec<(f64, usize)> = Vec::with_capacity(layer.len());
    for &node in layer {
        let height = graph.nodes[node].frame.height;
        offsets.push(above + 0.5 * height);
        let mut pool = (wish(graph, node) - above - 0.5 * height, 1);
        above += height + BETWEEN_NODES;
        while let Some(&(sum, count)) = pools.last()
            && sum / count as f64 > pool.0 / pool.1 as f64
        {
            pools.pop();
            pool = (pool.0 + sum, pool.1 + count);
        }
        pools.push(pool);
    }
    let places = pools
        .iter()
        .flat_map(|&(sum, count)| std::iter::repeat_n(sum / count as f64, count));
    for ((&node, offset), place) in layer.iter().zip(offsets).zip(places) {
        graph.nodes[node].frame.y = place + offset;
    }
}

/// Moves everything down to the margin; returns the total height.
fn shift_down(graph: &mut Graph) -> f64 {
    let frames = || graph.nodes.iter().map(|n| n.frame);
    let top = frames()
        .map(|f| f.y - 0.5 * f.height)
        .fold(f64::INFINITY, f64::min);
    let bottom = frames()
        .map(|f| f.y + 0.5 * f.height)
        .fold(f64::NEG_INFINITY, f64::max);
    if !top.is_finite() {
        return 2.0 * MARGIN;
    }
    for node in &mut graph.nodes {
        node.frame.y += MARGIN - top;
    }
    bottom - top + 2.0 * MARGIN
}
