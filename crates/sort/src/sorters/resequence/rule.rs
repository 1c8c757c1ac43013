//! How long a gap is worth waiting for.
//!
//! A packet is missing. Wait for it at most B: what is behind it is held until it comes, or until
//! B has passed. With F(t) the share of gaps that fill within t, lost ones never (so F need not
//! reach 1), waiting
//!
//! - earns what a spurious retransmission and the cut of the window cost, each time the gap fills
//!   in time: that is once in F(B) gaps. This is the unit of account;
//! - costs the time that packets are held, on average the integral of 1 - F from 0 to B: delay for
//!   those above the gap, and a later fast retransmission where the packet was lost. Held for H, the most
//!   that is ever waited, it costs `price` of the unit.
//!
//! So the bound is the B up to H with the greatest
//!
//!   F(B) - price / H * integral of (1 - F(t)) dt from 0 to B,
//!
//! or nothing where waiting never earns what it costs. Where F is smooth this is the B at which the hazard,
//! the chance that the gap fills in the next moment given that it has not, falls below price / H.
//! F is what [`super::lateness`] has counted, and B is one of the ends of its bins.

use super::lateness::Lateness;

/// A bound is made longer by this share, 1/4: the latest packet of the past is not the latest of all.
const MARGIN: i64 = 4;

/// Number of parts in which a price is given.
pub(super) const PARTS: i64 = 1000;

/// The longest that a gap is worth waiting for, nanoseconds, 0 to `hard_ns`. `price` is what
/// holding for `hard_ns` costs, in thousandths of what a gap that fills in time earns.
pub(super) fn bound_ns(lateness: &Lateness, hard_ns: i64, price: i64) -> i64 {
    let (outcomes, all_filled) = (i64::from(lateness.outcomes()), lateness.filled());
    // Both sides times outcomes * hard_ns * PARTS, so that all is whole numbers: at most
    // 2^7 * 2^34 * 2^10.
    let mut waited = 0;
    let mut best = (0, 0);
    let mut before = (0, 0);
    for (end_ns, filled) in lateness.filled_by() {
        if before.0 >= hard_ns || outcomes == 0 {
            break;
        }
        let (from_ns, filled_before) = before;
        waited += (end_ns.min(hard_ns) - from_ns) * (outcomes - filled_before);
        // A bin that ends above the most cannot be waited for to its end: its gaps do not count.
        if end_ns <= hard_ns {
            let worth = i64::from(filled) * hard_ns * PARTS - price * waited;
            if worth > best.0 {
                best = (worth, end_ns);
            }
        }
        if filled == all_filled {
            break; // Waiting on only costs.
        }
        before = (end_ns, i64::from(filled));
    }
    (best.1 + best.1 / MARGIN).min(hard_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    const MS: i64 = 1_000_000;

    fn of(late_ns: &[i64], lost: usize) -> Lateness {
        let mut lateness = Lateness::new();
        late_ns.iter().for_each(|&ns| lateness.filled_after(ns));
        (0..lost).for_each(|_| lateness.never_filled());
        lateness
    }

    #[test]
    fn nothing_known_nothing_waited_for() {
        assert_eq!(bound_ns(&of(&[], 0), 5 * MS, 50), 0);
    }

    #[test]
    fn late_packets_alone_are_waited_for_and_losses_alone_are_not() {
        let bound = bound_ns(&of(&[100_000; 20], 0), 5 * MS, 50);
        assert!((100_000..200_000).contains(&bound), "{bound}");
        assert_eq!(bound_ns(&of(&[], 20), 5 * MS, 50), 0);
    }

    #[test]
    fn one_late_packet_among_many_losses_is_worth_a_short_wait_only() {
        // One in a hundred earns 1 %; at 50 thousandths for 5 ms that pays for 1 ms.
        assert!(bound_ns(&of(&[500_000], 99), 5 * MS, 50) > 0);
        assert_eq!(bound_ns(&of(&[2 * MS], 99), 5 * MS, 50), 0);
    }

    #[test]
    fn what_comes_after_the_most_is_not_waited_for() {
        assert_eq!(bound_ns(&of(&[20 * MS; 20], 0), 5 * MS, 50), 0);
        let bound = bound_ns(&of(&[4 * MS; 20], 0), 5 * MS, 50);
        assert!((4 * MS..=5 * MS).contains(&bound));
    }

    #[test]
    fn the_dearer_the_wait_the_shorter() {
        let mixed: Vec<i64> = (1..100).map(|i| i * 50_000).collect();
        let bounds = [1, 50, 500, 5000].map(|price| bound_ns(&of(&mixed, 20), 10 * MS, price));
        assert!(bounds.is_sorted_by(|a, b| a >= b), "{bounds:?}");
        assert!(bounds[0] > 2 * bounds[3]);
    }

    /// The longest wait by the formula, in floating point and without the bins' running sums.
    fn naive(late_ns: &[i64], lost: usize, hard_ns: i64, price: i64, bound: i64) -> f64 {
        let all = (late_ns.len() + lost) as f64;
        let filled = late_ns.iter().filter(|&&ns| ns < bound).count() as f64;
        let waited = |ns: &i64| (*ns).min(bound) as f64;
        let integral = late_ns.iter().map(waited).sum::<f64>() + lost as f64 * bound as f64;
        (filled - price as f64 / PARTS as f64 * integral / hard_ns as f64) / all
    }

    proptest! {
        /// No other bound is worth more than a bin's width of waiting above the one chosen.
        #[test]
        fn the_choice_is_the_best_there_is(
            late in proptest::collection::vec(1_000i64..20 * MS, 0..60),
            lost in 0usize..60,
            hard_ns in MS / 10..20 * MS,
            price in 1i64..1000,
            other in 0.0f64..1.0,
        ) {
            prop_assume!(late.len() + lost > 0);
            let bound = bound_ns(&of(&late, lost), hard_ns, price);
            prop_assert!((0..=hard_ns).contains(&bound));
            let other = (hard_ns as f64 * other) as i64;
            let worth = |bound| naive(&late, lost, hard_ns, price, bound);
            // A quarter for the bins, a quarter for the margin, and the gaps of the last bin.
            let in_last = late.iter().filter(|&&ns| ns < hard_ns && ns >= hard_ns / 5 * 4).count();
            let slack = price as f64 / PARTS as f64 * 0.57 + in_last as f64 / (late.len() + lost) as f64;
            prop_assert!(worth(bound) + slack >= worth(other));
        }
    }
}
