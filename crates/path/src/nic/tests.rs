use super::*;
use crate::{Path, Probe, Timeline};
use inorder_sort::srpic::model;
use proptest::prelude::*;

const US: i64 = 1_000;

fn line(config: &NicConfig) -> Timeline<Probe> {
    Timeline::new(Path::new(vec![Nic::new(config).unwrap().into()]))
}

fn account(line: &Timeline<Probe>) -> Account {
    match line.path().stages().next() {
        Some(crate::AnyStage::Nic(nic)) => nic.account().clone(),
        _ => panic!("no card"),
    }
}

/// Time in microseconds and number of each delivery, for arrivals given by time and number.
fn run(config: &NicConfig, arrivals: &[(i64, u64)]) -> Vec<(i64, u64)> {
    let mut line = line(config);
    arrivals
        .iter()
        .for_each(|&(t, n)| line.push(t * US, Probe::new(n, 1500)));
    std::iter::from_fn(|| line.pop(i64::MAX))
        .map(|(t, p)| (t / US, p.number))
        .collect()
}

/// 75 us of delay, 10 us per packet.
fn slow() -> NicConfig {
    NicConfig {
        service_ns: 10 * US,
        ..NicConfig::default()
    }
}

#[test]
fn packets_that_arrive_during_the_softirq_join_its_cycle() {
    // The interrupt for 0 fires at 75, and 0 is done at 85; 80 joins and is done at 95; 95 joins and is done at 105;
    // 106 is too late.
    let up = run(&slow(), &[(0, 1), (80, 2), (95, 3), (106, 4)]);
    assert_eq!(up, [(85, 1), (95, 2), (105, 3), (106 + 85, 4)]);
}

#[test]
fn srpic_holds_until_the_ring_is_empty() {
    let up = run(&slow().with_srpic(32), &[(0, 3), (1, 1), (80, 2), (300, 4)]);
    assert_eq!(up, [(105, 1), (105, 2), (105, 3), (385, 4)]);
}

#[test]
fn a_sorter_that_holds_past_the_cycle_is_woken_at_its_deadline() {
    let sorted = |sorter: &str| NicConfig {
        sorter: sorter.parse().unwrap(),
        ..slow()
    };
    // 1 is delivered at 85; 3 waits from 95 on for 2, which is handled at 286; 5 is not held at 386.
    let arrivals = [(0, 1), (11, 3), (201, 2), (301, 5)];
    let up = run(&sorted("window:hold=300us"), &arrivals);
    assert_eq!(up, [(85, 1), (286, 2), (286, 3), (386 + 300, 5)]);
    // The hold time is too short: 3 is delivered at its deadline, and 2 is late.
    let up = run(&sorted("window:hold=100us"), &arrivals);
    assert_eq!(up, [(85, 1), (195, 3), (286, 2), (386 + 100, 5)]);
    // A deadline at 295 while the softirq works until 316: it is handled with the next packet, at 296.
    let up = run(
        &sorted("window:hold=200us"),
        &[(0, 1), (1, 3), (201, 6), (202, 7), (203, 8), (204, 9)],
    );
    assert_eq!(up[..2], [(85, 1), (296, 3)]);
}

#[test]
fn a_card_with_a_custom_sorter() {
    use inorder_sort::{SorterConfig, Surroundings};
    let sorter = SorterConfig::named("srpic").unwrap();
    let sorter = sorter
        .build::<u32, Probe>(&Surroundings::default())
        .unwrap();
    let mut card = Card::with_sorter(&slow(), sorter);
    let mut out = Outbox::new();
    for (at_ns, number) in [(0, 2), (10, 1)] {
        card.push(at_ns, Probe::new(number, 1500), &mut out);
    }
    while let Some(at_ns) = card.next_wake_ns() {
        card.wake(at_ns, &mut out);
    }
    let numbers: Vec<u64> = out.take().map(|(_, probe)| probe.number).collect();
    assert_eq!(numbers, [1, 2]);
    assert_eq!(card.sorter.counters().suitable, 2);
}

#[test]
fn srpic_flushes_full_blocks_earlier() {
    let up = run(
        &slow().with_srpic(2),
        &[(0, 2), (1, 1), (2, 4), (3, 3), (4, 5)],
    );
    assert_eq!(up, [(95, 1), (95, 2), (115, 3), (115, 4), (125, 5)]);
}

#[test]
fn sorting_costs_service_rate() {
    let config = NicConfig {
        sort_ns: 2 * US,
        ..slow().with_srpic(32)
    };
    assert_eq!(
        run(&config, &[(0, 2), (1, 1)]),
        [(75 + 24, 1), (75 + 24, 2)]
    );
}

#[test]
fn merged_packets_reach_the_stack_at_the_end_of_the_cycle() {
    let config = NicConfig {
        merge: Some(MergeConfig::default()),
        ..slow().with_srpic(32)
    };
    let mut line = line(&config);
    [2, 3, 1, 4]
        .iter()
        .for_each(|&n| line.push(0, Probe::new(n, 1500)));
    let (t, packet) = line.pop(i64::MAX).unwrap();
    assert_eq!((t, packet.number, packet.frames), (115 * US, 1, 4));
    assert_eq!(
        (account(&line).merged, account(&line).delivered_fast),
        (3, 1)
    );
    assert_eq!(
        (account(&line).sorted_fast, account(&line).sorted_slow),
        (3, 1)
    );
}

#[test]
fn a_full_ring_drops_its_tail_and_interrupts_at_once() {
    let config = NicConfig {
        ring_packets: 4,
        ..slow()
    };
    // The fourth packet causes the interrupt. While the softirq works, a descriptor becomes free every 10 us.
    let arrivals: Vec<_> = (0..20u64).map(|n| (n.cast_signed(), n)).collect();
    let up = run(&config, &arrivals);
    assert_eq!(up, [(13, 0), (23, 1), (33, 2), (43, 3), (53, 13)]);
}

#[test]
fn frames_and_gaps_of_interrupts() {
    let mut config = slow();
    config.coalesce.frames = Some(2);
    assert_eq!(
        run(&config, &[(0, 1), (5, 2), (100, 3)]),
        [(15, 1), (25, 2), (185, 3)]
    );
    config = slow();
    config.coalesce = Coalesce {
        delay_ns: 0,
        frames: None,
        gap_ns: 100 * US,
    };
    assert_eq!(
        run(&config, &[(5, 1), (20, 2), (300, 3)]),
        [(15, 1), (115, 2), (310, 3)]
    );
}

#[test]
fn packets_out_of_order_take_the_slow_path_of_the_stack_unless_they_are_sorted() {
    let slow_path = |config: &NicConfig| {
        let mut line = line(config);
        for block in 0..100 {
            for n in [2, 0, 1, 4, 3] {
                let number = (block * 5 + n) as u64;
                line.push(block * 200 * US, Probe::new(number, 1500));
            }
            while line.pop((block + 1) * 200 * US - 1).is_some() {}
        }
        let account = account(&line);
        assert_eq!(account.delivered_fast + account.delivered_slow, 500);
        account.delivered_slow
    };
    let unsorted = slow_path(&slow());
    assert!(unsorted > 400, "{unsorted}");
    assert_eq!(slow_path(&slow().with_srpic(32)), 0);
}

/// Mean number of packets per cycle for a steady stream of 1500-byte packets.
fn mean_block(mbit_per_s: f64, t_intr_us: i64, service_ns: i64) -> f64 {
    let config = NicConfig {
        coalesce: Coalesce::delay(t_intr_us * US),
        service_ns,
        ..NicConfig::default()
    };
    let mut line = line(&config);
    let gap_ns = 1500.0 * 8.0 * 1e3 / mbit_per_s;
    for n in 0..20_000u64 {
        let now = (n as f64 * gap_ns) as i64;
        while line.pop(now).is_some() {}
        line.push(now, Probe::new(n, 1500));
    }
    account(&line).block_packets.mean()
}

#[test]
fn figure_2_block_sizes() {
    for t_intr_us in [75, 90] {
        assert!(mean_block(95.3, t_intr_us, 200) < 1.01);
        let gigabit = mean_block(938.0, t_intr_us, 200);
        assert!((6.0..9.0).contains(&gigabit), "{gigabit}");
        let fast = mean_block(5890.0, t_intr_us, 200);
        assert!((30.0..60.0).contains(&fast), "{fast}");
    }
}

#[test]
fn block_sizes_follow_equation_3() {
    for (mbit_per_s, service_ns) in [(938.0, 1), (938.0, 4_000), (5890.0, 500), (5890.0, 1_000)] {
        let (p, r_sn) = (mbit_per_s * 1e6 / 12_000.0, 1e9 / service_ns as f64);
        let expected = model::block_size(p, 90e-6, r_sn);
        let block = mean_block(mbit_per_s, 90, service_ns);
        // A block is a whole number of packets, begins with a packet, and ends after the last one.
        assert!(
            block >= expected && block < expected + 1.0 / (1.0 - p / r_sn) + 1.0,
            "{mbit_per_s} {service_ns}: {block}, equation {expected}"
        );
    }
}

#[test]
fn emptying_times_follow_equation_4() {
    let (p, service_ns) = (5890e6 / 12_000.0, 1_000);
    let block = mean_block(5890.0, 90, service_ns);
    let expected_s = model::emptying_time_s(p, 90e-6, 1e9 / service_ns as f64);
    let measured_s = block * service_ns as f64 * 1e-9;
    assert!(
        (measured_s / expected_s - 1.0).abs() < 0.05,
        "{measured_s} {expected_s}"
    );
}

/// A card simulated nanosecond by nanosecond, with one packet in service at a time; returns the deliveries.
fn slow_card(config: &NicConfig, arrivals: &[i64]) -> Vec<(i64, u64)> {
    let urgent = config.coalesce.frames.unwrap_or(usize::MAX);
    let urgent = urgent.clamp(1, config.ring_packets);
    let (mut ring, mut up) = (VecDeque::new(), Vec::new());
    let (mut fire, mut done, mut working, mut last) = (None, None, false, None);
    let mut arrivals = arrivals.iter().copied().zip(0..).peekable();
    for now in 0i64..20_000 {
        if done == Some(now) {
            up.extend(ring.pop_front().map(|number| (now, number)));
            done = None;
        }
        while let Some((_, number)) = arrivals.next_if(|&(t, _)| t == now) {
            if ring.len() >= config.ring_packets {
                continue;
            }
            ring.push_back(number);
            if !working {
                let gap_ns = config.coalesce.gap_ns;
                let earliest = last.map_or(0, |last: i64| last + gap_ns);
                fire = fire.or(Some(earliest.max(now + config.coalesce.delay_ns)));
                fire = if ring.len() >= urgent {
                    fire.min(Some(now))
                } else {
                    fire
                };
            }
        }
        if fire == Some(now) {
            (working, fire, last) = (true, None, Some(now));
        }
        if working && done.is_none() {
            working = !ring.is_empty();
            done = working.then_some(now + config.service_ns);
        }
    }
    up
}

proptest! {
    #[test]
    fn a_card_is_a_ring_an_interrupt_and_a_softirq(
        gaps in prop::collection::vec(0i64..60, 1..100),
        ring_packets in 1usize..8,
        delay_ns in 0i64..150,
        frames in prop::option::of(0usize..6),
        gap_ns in 0i64..200,
        service_ns in 1i64..60,
    ) {
        let config = NicConfig {
            ring_packets,
            coalesce: Coalesce { delay_ns, frames, gap_ns },
            service_ns,
            ..NicConfig::default()
        };
        let mut now = 0;
        let arrivals: Vec<i64> = gaps.iter().map(|gap| { now += gap; now }).collect();
        let mut line = line(&config);
        arrivals.iter().zip(0..).for_each(|(&t, n)| line.push(t, Probe::new(n, 1500)));
        let up: Vec<_> = std::iter::from_fn(|| line.pop(i64::MAX)).map(|(t, p)| (t, p.number)).collect();
        let dropped = arrivals.len() - up.len();
        prop_assert_eq!(up, slow_card(&config, &arrivals));
        prop_assert_eq!(line.counters()[0].dropped_for(Reason::RingFull), dropped as u64);
    }

    #[test]
    fn a_card_without_a_limit_drops_nothing_and_its_cycles_equal_the_batchers(
        gaps in prop::collection::vec(0i64..60, 1..200),
        delay_us in 0i64..90,
        service_us in 0i64..12,
        sorted in any::<bool>(),
    ) {
        let mut config = NicConfig {
            ring_packets: 100_000,
            coalesce: Coalesce::delay(delay_us * US),
            service_ns: service_us * US,
            ..NicConfig::default()
        };
        if sorted {
            config = config.with_srpic(7);
        }
        let mut line = line(&config);
        let mut batcher = inorder_sort::Batcher::new(delay_us * US, 100_000, service_us * US);
        let (mut now, mut blocks, mut up) = (0, Vec::new(), Vec::new());
        for (n, gap) in gaps.iter().enumerate() {
            now += gap * US;
            line.push(now, Probe::new(n as u64, 1500));
            blocks.extend(batcher.arrive(now).ended.map(|b| b.packets));
        }
        blocks.extend(batcher.finish().map(|b| b.packets));
        up.extend(std::iter::from_fn(|| line.pop(i64::MAX)).map(|(t, p)| (t, p.number)));
        prop_assert!(up.is_sorted_by_key(|u| u.0));
        prop_assert!(up.iter().map(|u| u.1).eq(0..gaps.len() as u64));
        let account = account(&line);
        prop_assert_eq!(account.frames, gaps.len() as u64);
        prop_assert_eq!(account.block_packets.total(), blocks.len() as u64);
        for (size, &count) in account.block_packets.counts().iter().enumerate() {
            let expected = blocks.iter().filter(|&&b| b == size as u64).count();
            prop_assert_eq!(count, expected as u64, "blocks of {}", size);
        }
    }
}
