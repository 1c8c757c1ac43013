//! A network processor on the path: what its schemes do to the order, as traces, and its rate beside the simulation of the same
//! processor alone.

use std::collections::BTreeMap;

use inorder_base::random::Random;
use inorder_netproc::scheme::SCHEMES;
use inorder_netproc::{Config, Dequeue, Length, Traffic, run};
use inorder_path::*;
use inorder_scenario::{Registries, Scenario};

const BYTES: u32 = 512;

fn config(scheme: &str, dequeue: Option<Dequeue>) -> ProcessorConfig {
    ProcessorConfig {
        processor: Config {
            scheme: scheme.to_owned(),
            dequeue,
            traffic: Traffic {
                lengths: vec![Length {
                    bytes: BYTES as u16,
                    share: 1.0,
                }],
                ..Traffic::default()
            },
            ..Config::default()
        },
        background_per_s: 0.0,
        background_bytes: BYTES as u16,
        queue_packets: 1000,
    }
}

fn line(config: &ProcessorConfig, seed: u64) -> Timeline<Probe> {
    let processor = Processor::new(config, Random::new(seed, "processor")).expect("builds");
    Timeline::new(Path::new(vec![Box::new(processor).into()]))
}

/// The departures of `count` packets of `flows` flows in turn, one every `gap_ns`.
fn departures(
    config: &ProcessorConfig,
    (count, flows, gap_ns): (u64, u32, i64),
) -> Vec<(i64, Probe)> {
    let mut line = line(config, 1);
    for n in 0..count {
        let flow = (n % u64::from(flows)) as u32;
        line.push(n as i64 * gap_ns, Probe::of_flow(flow, n, BYTES));
    }
    std::iter::from_fn(|| line.pop(i64::MAX)).collect()
}

fn numbers(departures: &[(i64, Probe)]) -> Vec<u64> {
    departures.iter().map(|(_, probe)| probe.number).collect()
}

/// Every 100 us one packet, which leaves before the next arrives.
#[test]
fn a_light_load_keeps_the_order() {
    let schemes = SCHEMES
        .iter()
        .filter(|scheme| scheme.name != "aisr-receive");
    for scheme in schemes {
        let config = config(scheme.name, Some(Dequeue::Completion));
        let left = departures(&config, (200, 1, 100_000));
        assert_eq!(
            numbers(&left),
            (0..200).collect::<Vec<_>>(),
            "{}",
            scheme.name
        );
        for (time_ns, probe) in &left {
            let inside = time_ns - probe.number as i64 * 100_000;
            assert!(
                (1_000..60_000).contains(&inside),
                "{}: {inside} ns",
                scheme.name
            );
        }
    }
}

/// Slots emptied in turn reorder even one packet at a time: of 16 slots, packets 0 to 7 get the first one of each engine, packets 8
/// to 15 the second one, and each leaves when the slots before its own are filled.
#[test]
fn slots_of_threads_decide_in_which_order_packets_leave() {
    let left = departures(&config("contiguous", None), (16, 1, 100_000));
    let expected = [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15];
    assert_eq!(numbers(&left), expected);
    // Packet 1 waited for packet 8, which arrived 700 us later.
    assert!((800_000..860_000).contains(&left[2].0), "{}", left[2].0);
    // With the slots of the engines alternating, threads and slots have the same order.
    let left = departures(&config("strided", None), (16, 1, 100_000));
    assert_eq!(numbers(&left), (0..16).collect::<Vec<_>>());
}

#[test]
fn a_scheme_that_promises_the_order_of_flows_keeps_it_under_overload() {
    for scheme in SCHEMES
        .iter()
        .filter(|scheme| scheme.name != "aisr-receive")
    {
        let left = departures(&config(scheme.name, None), (6000, 5, 900));
        let mut flows: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for (_, probe) in &left {
            flows.entry(probe.flow).or_default().push(probe.number);
        }
        let late: usize = flows
            .values()
            .map(|flow| flow.windows(2).filter(|pair| pair[1] < pair[0]).count())
            .sum();
        if scheme.keeps_order {
            assert_eq!(late, 0, "{}", scheme.name);
        } else {
            assert!(late > left.len() / 100, "{}: {late}", scheme.name);
        }
        assert!(
            left.is_sorted_by_key(|(time_ns, _)| *time_ns),
            "{}",
            scheme.name
        );
    }
}

/// Packets at the rate of the line, more than any scheme forwards: the rate behind the processor is that of `inorder netproc`.
#[test]
fn a_full_load_is_forwarded_at_the_rate_of_the_processor_alone() {
    for scheme in [
        "contiguous",
        "strided",
        "local",
        "global",
        "its",
        "aisr",
        "packet-sort",
    ] {
        let config = ProcessorConfig {
            queue_packets: 20,
            ..config(scheme, None)
        };
        let alone = Config {
            packets: 8_000,
            traffic: Traffic {
                flows: 5,
                flow_packets: None,
                train: 1.0,
                ..config.processor.traffic.clone()
            },
            ..config.processor.clone()
        };
        let alone = run(&alone).expect("runs").throughput_gbps;
        let gap_ns = (f64::from(BYTES) * 8.0 / config.processor.calibration.line_gbps) as i64;
        let left = departures(&config, (12_000, 5, gap_ns));
        let counted = &left[left.len() / 10..left.len() * 9 / 10];
        let time_ns = counted[counted.len() - 1].0 - counted[0].0;
        let rate_gbps = (counted.len() - 1) as f64 * f64::from(BYTES) * 8.0 / time_ns as f64;
        let ratio = rate_gbps / alone;
        assert!(
            (0.96..1.04).contains(&ratio),
            "{scheme}: {rate_gbps} and {alone} Gbit/s alone"
        );
    }
}

#[test]
fn other_traffic_takes_its_share_and_fills_slots() {
    let alone = ProcessorConfig {
        queue_packets: 10_000,
        ..config("global", None)
    };
    let alone = departures(&alone, (4000, 1, 1_000));
    let busy = ProcessorConfig {
        background_per_s: 200_000.0,
        queue_packets: 10_000,
        ..config("global", None)
    };
    let beside = departures(&busy, (4000, 1, 1_000));
    assert_eq!((alone.len(), beside.len()), (4000, 4000));
    assert!(
        beside[3999].0 > alone[3999].0 * 11 / 10,
        "{} {}",
        beside[3999].0,
        alone[3999].0
    );
    // One packet with others behind it, and none from the path: it leaves.
    let one = ProcessorConfig {
        background_per_s: 200_000.0,
        ..config("contiguous", None)
    };
    let mut line = line(&one, 7);
    (0..3).for_each(|n| line.push(n * 1_000_000, Probe::new(n as u64, BYTES)));
    assert_eq!(std::iter::from_fn(|| line.pop(i64::MAX)).count(), 3);
}

#[test]
fn what_does_not_fit_is_dropped_with_its_reason() {
    let small = ProcessorConfig {
        queue_packets: 4,
        ..config("global", None)
    };
    let mut line = line(&small, 1);
    line.push(0, Probe::new(0, BYTES + 1));
    line.push(0, Probe::new(1, 70_000));
    // The receive buffer holds 16 packets of this size; threads have not freed any of it yet.
    (2..32).for_each(|n| line.push(0, Probe::new(n, BYTES)));
    let left = std::iter::from_fn(|| line.pop(i64::MAX)).count() as u64;
    let counters = &line.counters()[0];
    assert_eq!(counters.dropped_for(Reason::TooLarge), 2);
    assert_eq!(counters.dropped_for(Reason::QueueFull), 30 - left);
    assert_eq!(left, 20);
}

/// Every value that a scenario may have makes a processor through which packets go.
#[test]
fn every_setting_of_a_scenario_works() {
    let schemes = SCHEMES.iter().map(|scheme| scheme.name);
    // Except for the part of AISR that the paper measures as a bound.
    for scheme in schemes.filter(|name| *name != "aisr-receive") {
        for (dequeue, engines, threads, longest) in [
            ("scheme", 1, 1, 64),
            ("scheme", 8, 8, 8000),
            ("strict", 3, 8, 1500),
            ("completion", 8, 1, 8000),
            ("completion", 1, 1, 8000),
            ("strict", 8, 8, 64),
        ] {
            let text = format!(
                "[[probe]]\nrate = \"1 Mbit/s\"\n[[forward]]\nkind = \"processor\"\nscheme = \"{scheme}\"\ndequeue = \"{dequeue}\"\n\
                 engines = {engines}\nthreads = {threads}\nlongest = \"{longest} B\"\nbackground = \"1 Mbit/s\""
            );
            let scenario = Scenario::load(&text, "x.toml", &Registries::default());
            let cells = scenario.and_then(|scenario| scenario.cells());
            let cells = cells.unwrap_or_else(|error| panic!("{error}"));
            let mut line = Timeline::new(Path::declared(&cells[0].config.forward, "forward", 3));
            (0..5).for_each(|n| line.push(0, Probe::new(n, longest)));
            let left = std::iter::from_fn(|| line.pop(i64::MAX)).count();
            assert_eq!(left, 5, "{text}");
        }
    }
}
