//! The software forwarder: the reordering that each way of ordering leaves, and conservation of packets.

use inorder_netproc::forwarder::{ForwarderConfig, ForwarderOutcome, Order, Spray, run_forwarder};
use inorder_sort::{SORTERS, SorterConfig, srpic};
use proptest::prelude::*;

fn base(order: Order) -> ForwarderConfig {
    ForwarderConfig {
        order,
        packets: 20_000,
        ..ForwarderConfig::default()
    }
}

fn run(config: &ForwarderConfig) -> ForwarderOutcome {
    run_forwarder(config, |_| true).expect("runs")
}

#[test]
fn spraying_one_flow_reorders_it_and_sorting_restores_the_order() {
    let unordered = run(&base(Order::Unordered));
    assert!(unordered.sent.reordered > 1_000, "{:?}", unordered.sent);
    // The receiver drops no packets; only those in its ring at the end were sent and not delivered.
    let in_ring = unordered.sent.packets - unordered.stack.packets;
    assert!(unordered.sent.reordered - unordered.stack.reordered <= in_ring);
    let sorted = run(&base(Order::SRPIC));
    assert!(
        sorted.stack.reordered * 5 < sorted.sent.reordered,
        "{sorted:?}"
    );
}

#[test]
fn a_reorder_buffer_without_time_out_restores_the_order() {
    let order = Order::ReorderBuffer {
        window: 1 << 16,
        timeout_ns: 1_000_000_000,
        work_ns: 60,
    };
    let outcome = run(&base(order));
    assert_eq!(outcome.sent.reordered, 0);
    assert_eq!(outcome.reordering.reordered_ratio(), 0.0);
}

#[test]
fn a_reorder_buffer_gives_up_after_its_time_out() {
    let hasty = Order::ReorderBuffer {
        window: 1 << 16,
        timeout_ns: 500,
        work_ns: 60,
    };
    let patient = run(&base(Order::REORDER_BUFFER));
    let outcome = run(&base(hasty));
    assert!(outcome.sent.reordered > patient.sent.reordered);
    assert!(outcome.sent_ns.mean() < patient.sent_ns.mean());
}

#[test]
fn one_core_keeps_order() {
    let config = ForwarderConfig {
        cores: 1,
        offered_mpps: 1.0,
        ..base(Order::Unordered)
    };
    let outcome = run(&config);
    assert_eq!(
        (outcome.stack.reordered, outcome.stack.packets),
        (0, 20_000)
    );
}

#[test]
fn an_overloaded_forwarder_drops_the_excess() {
    let config = ForwarderConfig {
        offered_mpps: 20.0,
        line_gbps: 400.0,
        ..base(Order::Unordered)
    };
    let outcome = run(&config);
    // Four cores with 450 ns for each packet and 200 ns (plus 10 ns of stalls) for each burst of 32.
    let carried = 4.0 / (0.450 + 0.210 / 32.0);
    assert!(
        (outcome.mpps / carried - 1.0).abs() < 0.02,
        "{}",
        outcome.mpps
    );
    assert!(
        (outcome.dropped - (1.0 - carried / 20.0)).abs() < 0.06,
        "{}",
        outcome.dropped
    );
}

fn orders() -> impl Strategy<Value = Order> {
    prop_oneof![
        Just(Order::Unordered),
        (1u32..200, 1i64..50_000, 0i64..200).prop_map(|(window, timeout_ns, work_ns)| {
            Order::ReorderBuffer {
                window,
                timeout_ns,
                work_ns,
            }
        }),
        (1usize..100).prop_map(|block| Order::Receiver(srpic::blocks_of(block))),
        (0..SORTERS.len()).prop_map(|at| Order::Receiver(SorterConfig::of(SORTERS[at]))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Rings, bursts, windows and budgets of any size: packets are forwarded, none twice, and equal seeds give equal
    /// runs.
    #[test]
    fn any_configuration_forwards(
        order in orders(),
        (cores, burst, ring, budget) in (1u32..10, 1u32..40, 1u32..100, 1u32..100),
        (offered_mpps, flows, stall, random) in (0.1f64..30.0, 1u32..20, 0.0f64..0.05, any::<bool>()),
        (coalesce_ns, seed) in (0i64..100_000, any::<u64>()),
    ) {
        let spray = if random { Spray::Random } else { Spray::RoundRobin };
        let config = ForwarderConfig {
            order, cores, burst, ring, budget, offered_mpps, flows, stall, spray, coalesce_ns, seed,
            packets: 500,
            ..ForwarderConfig::default()
        };
        let outcome = run(&config);
        prop_assert!(outcome.packets >= 500);
        prop_assert!(outcome.sent.packets >= outcome.stack.packets);
        // The first packet may wait in a core that stands still until the run ends: then all others are early.
        prop_assert!(outcome.stack.dupacks <= outcome.stack.packets);
        prop_assert!(outcome.stack.reordered == 0 || outcome.stack.dupacks > 0);
        prop_assert!(outcome.stack.reordered < outcome.stack.packets);
        if cores == 1 {
            prop_assert_eq!(outcome.stack.reordered, 0);
        }
        prop_assert_eq!(format!("{:?}", run(&config)), format!("{outcome:?}"));
    }
}
