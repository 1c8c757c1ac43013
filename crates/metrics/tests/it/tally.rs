//! A tally gives the same result as the metrics, and the results of streams can be added.

use inorder_metrics::{Arrival, Metrics, Order, Reordering, Tally};
use proptest::prelude::*;

/// The metrics of a stream of these numbers, a microsecond apart.
fn of(numbers: &[u64]) -> Reordering {
    let mut metrics = Metrics::default();
    for (time, number) in (0..).zip(numbers) {
        metrics.update(*number, 1_000 * time, 100);
    }
    metrics.finish().order
}

#[test]
fn results_of_streams_can_be_added() {
    let (mut one, other) = (of(&[1, 2, 4, 3, 5]), of(&[1, 4, 2, 3, 5, 6]));
    one.merge(&other);
    assert_eq!((one.received, one.reordered), (11, 3));
    assert_eq!((one.extents.max(), one.runs.count()), (Some(2), 3));
    assert_eq!(one.degree(1), 2.0 / 11.0);
    assert_eq!(one.displacements.total(), 11);
}

proptest! {
    /// Packets in order may be fed one by one or in runs: the tally gives what [`Metrics`] gives.
    #[test]
    fn runs_may_be_fed_in_pieces(
        delays in prop::collection::vec(prop_oneof![3 => Just(0u64), 1 => 0u64..9], 1..120),
        pieces in prop::collection::vec(1u64..5, 1..60),
    ) {
        let mut sent: Vec<(u64, u64)> =
            (1..).zip(&delays).map(|(n, delay)| (n + delay, n)).collect();
        sent.sort_unstable();
        let numbers: Vec<u64> = sent.into_iter().map(|(_, n)| n).collect();
        let (mut order, mut tally) = (Order::new(), Tally::default());
        let mut pieces = pieces.into_iter().cycle();
        let (mut first, mut waiting, mut piece) = (0, 0, 1);
        for (time, number) in (0..).zip(&numbers) {
            let arrival = order.update(*number, 1_000 * time, 100);
            let is_next = waiting > 0 && *number == first + waiting;
            if waiting > 0 && (!is_next || waiting == piece) {
                tally.in_order(first, waiting);
                (waiting, piece) = (0, pieces.next().unwrap_or(1));
            }
            match arrival {
                Arrival::Reordered(late) => tally.late(*number, &late),
                _ => (first, waiting) = (number - waiting, waiting + 1),
            }
        }
        tally.in_order(first, waiting);
        let (found, expected) = (tally.finish(), of(&numbers));
        prop_assert_eq!(found.runs.lengths(), expected.runs.lengths());
        prop_assert_eq!(found.n_reordering.largest(), expected.n_reordering.largest());
        prop_assert_eq!((found.received, found.reordered), (expected.received, expected.reordered));
        prop_assert_eq!((found.extents, found.late_ns), (expected.extents, expected.late_ns));
        prop_assert_eq!(found.displacements, expected.displacements);
    }
}
