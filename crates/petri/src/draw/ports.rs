//! Where arcs touch their nodes: distributed over the side from which they come, so that arrowheads do not overlap.

use super::graph::Graph;

/// Radius of a place, and how far its centre is above the centre of its area (the name is below).
pub(super) const RADIUS: f64 = 16.0;
pub(super) const RAISED: f64 = 8.0;

/// Height of a transition, and half its width including a small gap.
pub(super) const BAR_HEIGHT: f64 = 34.0;
const BAR_REACH: f64 = 7.0;

/// Maximum distance from the centre at which an arc touches, and distance between two arcs if there is room.
const SPREAD: f64 = 12.0;
const BETWEEN: f64 = 8.0;

/// One end of an arc at a node.
struct End {
    arc: usize,
    is_start: bool,
    /// Whether the arc comes from the right, and at which height.
    right: bool,
    from: f64,
}

/// The points of every arc, the first and last on the border of its nodes.
pub(super) fn attached(graph: &Graph, places: usize) -> Vec<Vec<(f64, f64)>> {
    let mut paths = graph.paths();
    let mut ends: Vec<Vec<End>> = Vec::new();
    ends.resize_with(graph.real, Vec::new);
    for (i, arc) in graph.arcs.iter().enumerate() {
        let path = &paths[i];
        let end = path.len() - 1;
        for (node, is_start, at, next) in [(arc.from, true, 0, 1), (arc.to, false, end, end - 1)] {
            ends[node].push(End {
                arc: i,
                is_start,
                right: path[next].0 >= path[at].0,
                from: path[next].1,
            });
        }
    }
    for (node, ends) in ends.iter_mut().enumerate() {
        let frame = graph.nodes[node].frame;
        let place = node < places;
        let middle = if place { frame.y - RAISED } else { frame.y };
        ends.sort_by(|a, b| {
            (a.right, a.from)
                .partial_cmp(&(b.right, b.from))
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        for side in ends.chunk_by(|a, b| a.right == b.right) {
            for (k, end) in side.iter().enumerate() {
                let (reach, down) = touch(k, side.len(), place);
                let x = if end.right {
                    frame.x + reach
                } else {
                    frame.x - reach
                };
                let path = &mut paths[end.arc];
                let at = if end.is_start { 0 } else { path.len() - 1 };
                path[at] = (x, middle + down);
            }
        }
    }
    paths
}

/// Offset at which the `k`-th of `count` arcs on one side touches.
fn touch(k: usize, count: usize, is_place: bool) -> (f64, f64) {
    let gap = BETWEEN.min(2.0 * SPREAD / count.max(2) as f64);
    let down = (k as f64 - 0.5 * (count - 1) as f64) * gap;
    let reach = if is_place {
        libm::sqrt(RADIUS * RADIUS - down * down)
    } else {
        BAR_REACH
    };
    (reach, down)
}
