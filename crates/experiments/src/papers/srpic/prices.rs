//! The cost of the sender's and the receiver's operations in cycles of their processors.
//!
//! The paper shows samples of a profiler, but no cost per operation. The 40 ns (80 cycles at 2 GHz) for a cache line
//! that is not cached come from the Linux commit "tcp: implement rb-tree based retransmit queue" (E. Dumazet, 2017),
//! which gives them for each entry of the queue that a search visits. The other prices are assumed: round numbers of
//! the size published for servers of the paper's time, in accordance with profiles (A. Menon, W. Zwaenepoel, "Optimizing
//! TCP receive performance", USENIX 2008: costs depend on packets rather than bytes). To avoid that a result depends
//! on a single price, claims are judged over every combination of half and double of each price ([`corners`]).

use inorder_path::nic::Account;
use inorder_sim::RunResult;

/// A list over the kinds of operations: the number of each, or the cost of each.
pub(super) type Vector = Vec<f64>;

/// The sender's kinds of work, with their prices in cycles.
pub(super) const SENDER: [(&str, f64); 10] = [
    ("an interrupt and its softirq", 4000.0),
    ("a packet fetched from the ring", 600.0),
    ("an acknowledgement through IP and TCP", 1500.0),
    // Beyond the fast path: recovery state, reordering, undo.
    ("a duplicate acknowledgement, besides", 1500.0),
    ("a SACK block", 300.0),
    ("a place of the retransmission queue a SACK walks by", 80.0),
    ("a segment acknowledged and freed", 300.0),
    ("a packet handed to the card", 3000.0),
    // 1448 bytes at two bytes per cycle, and the allocation of memory.
    ("a segment's data copied", 1000.0),
    ("a retransmission, taken out of a larger packet", 3000.0),
];

/// How often each operation of [`SENDER`] occurred.
pub(super) fn sender_work(run: &RunResult, card: &Account) -> Vector {
    let sum = |of: fn(&inorder_sim::Counts) -> u64| -> f64 {
        run.flows.iter().map(|flow| of(&flow.counts) as f64).sum()
    };
    let new_segments = sum(|c| c.segments) - sum(|c| c.retransmissions);
    vec![
        card.interrupts as f64,
        card.frames as f64,
        sum(|c| c.acks_in),
        sum(|c| c.duplicate_acks),
        sum(|c| c.sack_blocks),
        sum(|c| c.sack_span),
        new_segments,
        sum(|c| c.frames_out),
        new_segments,
        sum(|c| c.retransmissions),
    ]
}

/// The sender's prices, cycles.
pub(super) fn sender_prices() -> Vector {
    SENDER.iter().map(|(_, price)| *price).collect()
}

/// Index of duplicate acknowledgements in [`sender_work`].
pub(super) const DUPLICATE_ACKS: usize = 3;
/// Index of packets that take the stack's slow path in [`receiver_work`].
pub(super) const SLOW_PATH: usize = 6;

/// The receiver's prices, cycles, in the order of [`receiver_work`].
const RECEIVER: [f64; 7] = [
    // An interrupt and its softirq.
    4000.0, // A frame fetched from the ring.
    600.0,
    // A packet that the sorter appends to its list, and what it costs besides to insert it elsewhere.
    80.0, 120.0, // A frame merged into another one.
    300.0,
    // A packet, merged or not, on the stack's fast path, and what the slow path costs besides: out-of-order queue,
    // duplicate ACK, SACK blocks.
    2500.0, 2500.0,
];

/// How often each operation of the receiver occurred. Packets on the slow path are counted with those on the fast
/// path and once more separately. So every price is an additional cost, and none of the [`corners`] makes the slow
/// path cheaper than the fast one.
pub(super) fn receiver_work(card: &Account) -> Vector {
    let counts = [
        card.interrupts,
        card.frames,
        card.sorted_fast + card.sorted_slow,
        card.sorted_slow,
        card.merged,
        card.delivered_fast + card.delivered_slow,
        card.delivered_slow,
    ];
    counts.map(|count| count as f64).to_vec()
}

/// The receiver's prices, cycles.
pub(super) fn receiver_prices() -> Vector {
    RECEIVER.to_vec()
}

/// Total cost, cycles.
pub(super) fn bill(work: &[f64], prices: &[f64]) -> f64 {
    work.iter().zip(prices).map(|(n, price)| n * price).sum()
}

/// All combinations of halved and doubled prices.
pub(super) fn corners(prices: &[f64]) -> impl Iterator<Item = Vector> {
    (0u32..1 << prices.len()).map(|corner| {
        let numbered = prices.iter().enumerate();
        let changed = numbered.map(|(n, price)| match corner >> n & 1 {
            0 => price / 2.0,
            _ => price * 2.0,
        });
        changed.collect()
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::card;
    use super::*;
    use crate::campaign;
    use crate::setting::Context;

    #[test]
    fn corners_are_all_halves_and_doubles() {
        let all: BTreeSet<Vec<u64>> = corners(&[2.0, 20.0])
            .map(|prices| prices.iter().map(|p| *p as u64).collect())
            .collect();
        let expected = [[1, 10], [1, 40], [4, 10], [4, 40]].map(Vec::from);
        assert_eq!(all, expected.into_iter().collect());
        assert_eq!(bill(&[3.0, 0.0, 1.0], &[10.0, 5.0, 1.0]), 31.0);
    }

    #[test]
    fn every_operation_that_is_priced_occurs() {
        let stop = std::sync::atomic::AtomicBool::new(false);
        let context = Context::quick(&stop);
        let sets = ["run.duration=100 ms", "sender_card.coalesce=0 s"].map(str::to_owned);
        let cells = campaign::load(&context, "srpic/reordering.toml", &sets).expect("reads");
        let runs = campaign::run(&context, &cells[1..], 1, RunResult::clone).expect("runs");
        let run = &runs[0][0];
        let account = card(run, "receiver card").expect("a card");
        assert!(account.sorted_slow > 0);
        assert_eq!(receiver_work(account).len(), receiver_prices().len());
        let sender = card(run, "sender card").expect("a card");
        let work = sender_work(run, sender);
        assert_eq!(work.len(), SENDER.len());
        // SACK is off, so there are no blocks and no searches; every other operation occurs.
        let idle: Vec<usize> = (0..work.len()).filter(|&n| work[n] == 0.0).collect();
        assert_eq!(idle, [4, 5]);
    }
}
