//! The network processor as files gives the very numbers of the nets in Rust, with the same seeds.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use inorder_netproc::forwarder::{ForwarderConfig, Order, Spray, run_forwarder};
use inorder_netproc::{Arbitration, Config, Length, Row, Traffic};
use inorder_nets::{Campaign, CellResult, Program};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../netproc/nets")
}

/// Included files are beside the one that includes them.
fn load(_: &str, name: &str) -> Result<(String, String), String> {
    let text = std::fs::read_to_string(folder().join(name)).map_err(|error| error.to_string())?;
    Ok((name.to_owned(), text))
}

fn run(file: &str, set: &[(&str, String)], seed: u64) -> CellResult {
    let text = std::fs::read_to_string(folder().join(file)).expect("is there");
    let program = Program::read(file, &text, &mut load).unwrap_or_else(|error| panic!("{error}"));
    let set: Vec<_> = set
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone()))
        .collect();
    let study = program
        .study(&set)
        .unwrap_or_else(|error| panic!("{error}"));
    let campaign = Campaign {
        seed,
        repetitions: 1,
        threads: 1,
        progress: &|_| {},
        stop: &AtomicBool::new(false),
    };
    let results = study
        .run(&campaign)
        .unwrap_or_else(|error| panic!("{error}"));
    results.into_iter().next().expect("one cell")
}

/// The numbers of the nets in Rust under the groups and names of the files.
fn expected(config: &Config) -> Vec<(String, String, f64)> {
    let outcome = inorder_netproc::run(config).expect("runs");
    let rows = outcome.rows();
    let row = |group: &str, name: &str| {
        let found = rows
            .iter()
            .find(|row| row.group == group && row.name == name);
        found.map_or(f64::NAN, |row| row.value)
    };
    let mut all = vec![("throughput", row("throughput", "throughput"))];
    if config.hops == 1 {
        all.push(("engines_busy", row("use", "engines")));
        all.push(("command_bus_busy", row("use", "command bus")));
        all.push(("dram_busy", row("use", "DRAM")));
    }
    let measure = |(name, value): (&str, f64)| ("measures".to_owned(), name.to_owned(), value);
    let mut all: Vec<_> = all.into_iter().map(measure).collect();
    let order = rows
        .iter()
        .filter(|row| row.group == "order" || row.group == "metrics");
    all.extend(order.map(|row| {
        let group = match row.hop {
            hop if hop > 0 && hop < config.hops => format!("receivers behind hop {hop}"),
            _ => "receivers".to_owned(),
        };
        (group, row.name.clone(), row.value)
    }));
    all
}

fn compare(scheme: &str, set: &[(&str, String)], config: &Config) {
    let found = run(&format!("{scheme}.net"), set, config.seed);
    for (group, name, value) in expected(config) {
        let mut rows = found.rows.iter();
        let at = rows.position(|row| row.group == group && row.name == name);
        let ours = at.map_or(f64::NAN, |at| found.runs[0][at]);
        // Sums of floating-point numbers are made in another order, so that the last digits may differ.
        let same =
            (ours - value).abs() <= 1e-9 * value.abs().max(1e-3) || ours.is_nan() && value.is_nan();
        assert!(
            same,
            "{scheme} {set:?}: {group}, {name}: {ours} instead of {value}"
        );
    }
}

fn config(scheme: &str, bytes: u16, packets: u64) -> Config {
    Config {
        scheme: scheme.to_owned(),
        packets,
        seed: 3,
        traffic: Traffic {
            lengths: vec![Length { bytes, share: 1.0 }],
            ..Traffic::default()
        },
        ..Config::default()
    }
}

#[test]
fn every_scheme_gives_the_numbers_of_the_nets_in_rust() {
    for scheme in inorder_netproc::scheme::SCHEMES
        .iter()
        .map(|scheme| scheme.name)
    {
        for bytes in [64, 512] {
            let set = [("bytes", bytes.to_string()), ("packets", "2000".to_owned())];
            compare(scheme, &set, &config(scheme, bytes, 2_000));
        }
    }
}

#[test]
fn other_arbiters_and_sizes_give_the_numbers_of_the_nets_in_rust() {
    for (scheme, arbitration, name) in [
        ("contiguous", Arbitration::Fifo, "first"),
        ("global", Arbitration::Random, "any"),
    ] {
        let set = [
            ("arbitration", name.to_owned()),
            ("engines", "3".to_owned()),
            ("threads", "5".to_owned()),
            ("packets", "2000".to_owned()),
        ];
        let config = Config {
            dram: arbitration,
            lock: arbitration,
            engines: 3,
            threads: 5,
            ..config(scheme, 64, 2_000)
        };
        compare(scheme, &set, &config);
    }
}

#[test]
fn a_chain_of_processors_gives_the_numbers_of_the_nets_in_rust() {
    for (scheme, hops) in [("contiguous", 2), ("global", 3), ("its", 2), ("local", 3)] {
        let set = [("hops", hops.to_string()), ("packets", "3000".to_owned())];
        let config = Config {
            hops,
            ..config(scheme, 64, 3_000)
        };
        compare(scheme, &set, &config);
    }
}

#[test]
fn the_forwarder_gives_the_numbers_of_the_net_in_rust() {
    let base = ForwarderConfig {
        packets: 5_000,
        seed: 7,
        ..ForwarderConfig::default()
    };
    let buffer = Order::REORDER_BUFFER;
    for (set, config) in [
        (vec![], base.clone()),
        (
            vec![("spray", "any_core"), ("offered", "7 MHz"), ("flows", "3")],
            ForwarderConfig {
                spray: Spray::Random,
                offered_mpps: 7.0,
                flows: 3,
                ..base.clone()
            },
        ),
        (
            vec![("reorder_buffer", "true"), ("offered", "12 MHz")],
            ForwarderConfig {
                order: buffer,
                offered_mpps: 12.0,
                ..base.clone()
            },
        ),
        (
            vec![("srpic", "true"), ("flows", "2"), ("offered", "8 MHz")],
            ForwarderConfig {
                order: Order::SRPIC,
                flows: 2,
                offered_mpps: 8.0,
                ..base.clone()
            },
        ),
    ] {
        let mut set: Vec<(&str, String)> =
            set.into_iter().map(|(n, v)| (n, v.to_owned())).collect();
        set.push(("packets", "5000".to_owned()));
        let found = run("forwarder.net", &set, config.seed);
        let ours = |group: &str, name: &str| {
            let at = found
                .rows
                .iter()
                .position(|row| row.group == group && row.name == name);
            found.runs[0][at.unwrap_or_else(|| panic!("{group} {name}"))]
        };
        for Row {
            group, name, value, ..
        } in run_forwarder(&config, |_| true).expect("runs").rows()
        {
            let (ours, exact) = match (group, name.split_once(", ")) {
                ("throughput", _) if name == "dropped" => {
                    (ours("measures", "dropped_share"), false)
                }
                ("throughput", _) => (ours("measures", "throughput"), true),
                ("delay", Some(("to the stack", "mean"))) => (ours("measures", "delay"), false),
                ("order", Some(("line", name))) => (ours("line_order", name), true),
                ("order", Some((_, name))) => (ours("stack_order", name), true),
                ("metrics", _) => (ours("stack_order", &name), true),
                _ => continue,
            };
            // The share of dropped packets leaves out the warm-up here; the nets in Rust count delays in whole
            // nanoseconds. Their sorter hands up a batch in one firing, so that a run ends some packets later.
            let exact = exact && config.order != Order::SRPIC;
            let tolerance = if exact { 1e-9 } else { 0.02 };
            let same = (ours - value).abs() <= tolerance * value.abs().max(1e-3)
                || ours.is_nan() && value.is_nan();
            assert!(
                same || name == "dropped" && (ours - value).abs() < 3.0,
                "{set:?}: {group} {name}: {ours} instead of {value}"
            );
        }
    }
}
