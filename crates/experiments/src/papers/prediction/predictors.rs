//! What may predict the loss: metrics of the RFCs, and combinations with what is known of a path.

use inorder_metrics::Reordering;

use super::draw::Path;

/// A number that grows with the loss, if it predicts it.
pub(super) struct Predictor {
    pub(super) name: &'static str,
    pub(super) of: fn(&Reordering, &Path) -> f64,
}

const fn predictor(name: &'static str, of: fn(&Reordering, &Path) -> f64) -> Predictor {
    Predictor { name, of }
}

/// Number of predictors at the beginning of the list that the question names.
pub(super) const NAMED: usize = 4;

/// All of them.
pub(super) static PREDICTORS: &[Predictor] = &[
    predictor("reorder density: packets out of place", |order, _| {
        order.displacements.displaced_ratio()
    }),
    predictor("mean displacement", |order, _| {
        order.displacements.mean_displacement()
    }),
    predictor("reorder entropy", |order, _| order.displacements.entropy()),
    predictor("3-reordering", |order, _| order.degree(3)),
    predictor("reordered ratio", |order, _| order.reordered_ratio()),
    predictor("1-reordering", |order, _| order.degree(1)),
    predictor("mean extent", |order, _| {
        order.extents.mean().unwrap_or(0.0)
    }),
    predictor("variance of the displacement", |order, _| {
        order.displacements.variance()
    }),
    predictor("99 % late time", |order, _| late(order, 0.99)),
    // Linux's RACK waits for a quarter of the smallest round trip at first.
    predictor("99 % late time over RTT", |order, path| {
        late(order, 0.99) / path.rtt
    }),
    predictor("packets late by a quarter RTT", |order, path| {
        later_than(order, path.rtt / 4.0)
    }),
    predictor("packets late by a quarter RTT x BDP", |order, path| {
        later_than(order, path.rtt / 4.0) * path.bdp_packets()
    }),
    predictor("3-reordering x BDP", |order, path| {
        order.degree(3) * path.bdp_packets()
    }),
    // A window that is halved with probability p for each packet is in proportion to the square root of 1 / p (Mathis and
    // others 1997): the share of the path that it fills falls with this number.
    predictor("square root of 3-reordering x BDP", |order, path| {
        order.degree(3).sqrt() * path.bdp_packets()
    }),
    predictor("square root of reordered ratio x BDP", |order, path| {
        order.reordered_ratio().sqrt() * path.bdp_packets()
    }),
    predictor("mean displacement x BDP", |order, path| {
        order.displacements.mean_displacement() * path.bdp_packets()
    }),
    predictor("late bursts x BDP", |order, path| {
        bursts(order) * path.bdp_packets()
    }),
];

/// A quantile of the late times, seconds; 0 if no packet was late.
fn late(order: &Reordering, quantile: f64) -> f64 {
    order.late_ns.quantile(quantile).unwrap_or(0) as f64 / 1e9
}

/// Share of the packets that were late by more than `seconds`.
fn later_than(order: &Reordering, seconds: f64) -> f64 {
    let later = order
        .late_ns
        .buckets()
        .filter(|(ns, _)| *ns as f64 > seconds * 1e9);
    later.map(|(_, count)| count).sum::<u64>() as f64 / order.received.max(1) as f64
}

/// Bursts of late packets for each packet: several late ones in a row start one recovery.
fn bursts(order: &Reordering) -> f64 {
    order.bursts.count() as f64 / order.received.max(1) as f64
}
