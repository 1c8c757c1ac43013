//! Assigns nodes to layers and orders the nodes within each layer.

use super::Frame;
use super::graph::{Graph, Node};

/// Larger nets are drawn with straight arcs, because there would be many more points of long arcs than nodes.
const MAX_NODES_WITH_BENT_ARCS: usize = 600;

/// Number of sweeps over the layers, in both directions.
const SWEEPS: usize = 12;

/// Assigns every node to a layer to the right of its predecessors, cuts cycles, and adds points to long arcs.
pub(super) fn assign(graph: &mut Graph) {
    let forward = without_cycles(graph);
    longest_paths(graph, &forward);
    add_points(graph);
    let count = graph.nodes.iter().map(|n| n.layer + 1).max().unwrap_or(0);
    graph.layers = vec![Vec::new(); count];
    for (i, node) in graph.nodes.iter().enumerate() {
        graph.layers[node.layer].push(i);
    }
}

/// The arcs as edges; those that would close a cycle in a depth-first search are reversed.
fn without_cycles(graph: &Graph) -> Vec<(usize, usize)> {
    let n = graph.nodes.len();
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); n];
    for (i, arc) in graph.arcs.iter().enumerate() {
        next[arc.from].push(i);
    }
    let mut edges: Vec<(usize, usize)> = graph.arcs.iter().map(|a| (a.from, a.to)).collect();
    // 0: not visited, 1: on the current path, 2: done.
    let mut seen = vec![0_u8; n];
    let mut stack: Vec<(usize, usize)> = Vec::new();
    for root in 0..n {
        if seen[root] == 0 {
            seen[root] = 1;
            stack.push((root, 0));
        }
        while let Some((node, at)) = stack.last_mut() {
            let Some(&arc) = next[*node].get(*at) else {
                seen[*node] = 2;
                stack.pop();
                continue;
            };
            *at += 1;
            let to = graph.arcs[arc].to;
            match seen[to] {
                0 => {
                    seen[to] = 1;
                    stack.push((to, 0));
                }
                1 => edges[arc] = (to, graph.arcs[arc].from),
                _ => {}
            }
        }
    }
    edges
}

/// The layer of a node is the length of the longest path to it.
fn longest_paths(graph: &mut Graph, edges: &[(usize, usize)]) {
    let n = graph.nodes.len();
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut waiting = vec![0; n];
    for &(from, to) in edges {
        next[from].push(to);
        waiting[to] += 1;
    }
    let mut ready: Vec<usize> = (0..n).filter(|&i| waiting[i] == 0).collect();
    while let Some(node) = ready.pop() {
        for &to in &next[node] {
            graph.nodes[to].layer = graph.nodes[to].layer.max(graph.nodes[node].layer + 1);
            waiting[to] -= 1;
            if waiting[to] == 0 {
                ready.push(to);
            }
        }
    }
}

fn add_points(graph: &mut Graph) {
    let with_points = graph.nodes.len() <= MAX_NODES_WITH_BENT_ARCS;
    for i in 0..graph.arcs.len() {
        let (from, to) = (graph.arcs[i].from, graph.arcs[i].to);
        let (first, last) = (graph.nodes[from].layer, graph.nodes[to].layer);
        if with_points {
            let between: Vec<usize> = match first <= last {
                true => (first + 1..last).collect(),
                false => (last + 1..first).rev().collect(),
            };
            graph.arcs[i].through = between
                .into_iter()
                .map(|layer| add_point(graph, layer))
                .collect();
        }
        let arc = &graph.arcs[i];
        let mut chain = vec![from];
        chain.extend(&arc.through);
        chain.push(to);
        for pair in chain.windows(2) {
            let rising = graph.nodes[pair[0]].layer < graph.nodes[pair[1]].layer;
            graph.segments.push(if rising {
                (pair[0], pair[1])
            } else {
                (pair[1], pair[0])
            });
        }
    }
}

fn add_point(graph: &mut Graph, layer: usize) -> usize {
    let frame = Frame {
        width: 0.0,
        height: 14.0,
        ..Frame::default()
    };
    graph.nodes.push(Node { layer, frame });
    graph.nodes.len() - 1
}

/// Orders each layer by the mean position of the neighbours in the previous layer, or in the next layer in a backward
/// sweep.
pub(super) fn order(graph: &mut Graph) {
    let n = graph.nodes.len();
    let (mut before, mut after) = (vec![Vec::new(); n], vec![Vec::new(); n]);
    for &(left, right) in &graph.segments {
        before[right].push(left);
        after[left].push(right);
    }
    let mut at = vec![0.0; n];
    for layer in &graph.layers {
        number(layer, &mut at);
    }
    for sweep in 0..SWEEPS {
        let neighbours = if sweep % 2 == 0 { &before } else { &after };
        let count = graph.layers.len();
        for i in 0..count {
            let layer = &mut graph.layers[if sweep % 2 == 0 { i } else { count - 1 - i }];
            let mean = |&node: &usize| match neighbours[node].len() {
                0 => at[node],
                n => neighbours[node].iter().map(|&m: &usize| at[m]).sum::<f64>() / n as f64,
            };
            let mut keyed: Vec<(f64, usize)> =
                layer.iter().map(|node| (mean(node), *node)).collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            *layer = keyed.into_iter().map(|(_, node)| node).collect();
            number(layer, &mut at);
        }
    }
}

/// Positions in a layer, between 0 and 1, so that layers of different sizes can be compared.
fn number(layer: &[usize], at: &mut [f64]) {
    for (i, &node) in layer.iter().enumerate() {
        at[node] = (i as f64 + 0.5) / layer.len() as f64;
    }
}
