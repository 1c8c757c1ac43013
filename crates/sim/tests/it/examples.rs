//! Every example runs, and so does every scenario on which the inference is scored.

use std::path::Path;

use inorder_scenario::Scenario;
use inorder_sim::{Own, registries_with, run};

#[test]
fn every_example_runs() {
    let experiments = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments");
    let folders = ["examples", "detection"].map(|name| format!("{experiments}/{name}"));
    let names = registries_with(&Own::reading(|scenario, name| {
        let beside = Path::new(scenario).with_file_name(name);
        std::fs::read_to_string(beside).map_err(|error| error.to_string())
    }));
    let mut seen = 0;
    for entry in folders.iter().flat_map(|f| std::fs::read_dir(f).unwrap()) {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let scenario = Scenario::load(&text, &path.display().to_string(), &names);
        let cells = scenario.and_then(|scenario| scenario.cells()).unwrap();
        assert!(cells.len() > 1, "{}", path.display());
        for mut cell in cells {
            let run_for = &mut cell.config.run;
            run_for.duration_ns = run_for.duration_ns.min(300_000_000);
            run_for.warm_up_ns = 0;
            let result = run(&cell.config, 1).unwrap();
            let bytes: u64 = result.flows.iter().map(|f| f.counts.delivered_bytes).sum();
            let probes: u64 = result.probes.iter().map(|p| p.received).sum();
            assert!(bytes + probes > 0, "{}: {:?}", path.display(), cell.labels);
        }
        seen += 1;
    }
    assert!(seen >= 12, "{seen} examples");
}
