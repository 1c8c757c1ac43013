//! `inorder lab`: refusals and commands anywhere, and a run if the kernel is in the cache.

use std::process::Command;

use crate::common;
use crate::common::says;

/// A short run over a slow line.
const SCENARIO: &str = "[run]\nduration = \"1 s\"\n[output]\ntrace_interval = \"100 ms\"\n\
    [[flow]]\n[[flow]]\nname = \"fetch\"\ndirection = \"reverse\"\nsize = \"20 kB\"\n\
    [[forward]]\nkind = \"link\"\nrate = \"5 Mbit/s\"\nqueue = \"20 packets\"\nframing = \"ethernet-header\"\n\
    [[forward]]\nkind = \"late\"\nprobability = \"5 %\"\ndelay = \"8 ms\"\n\
    [[reverse]]\nkind = \"delay\"\ndelay = \"10 ms\"\n";

/// What the machine of each run finds of this one.
const OF_RUNS: [&str; 2] = ["ip", "tc"];

fn inorder(arguments: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_inorder"))
        .args(arguments)
        .output()
        .unwrap()
}

fn scenario(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.toml");
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

#[test]
fn what_linux_cannot_do_is_one_line_with_its_place() {
    let (_folder, path) = scenario("[[flow]]\n[[forward]]\nkind = \"radio\"\n");
    let output = inorder(&["lab", &path]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.starts_with(&format!("inorder: {path}:3:8: forward.0.kind: ")),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1);
}

#[test]
fn commands_are_printed_without_a_kernel() {
    let (_folder, path) = scenario(SCENARIO);
    let output = inorder(&["lab", "--print-commands", &path]);
    assert!(output.status.success());
    let said = String::from_utf8(output.stdout).unwrap();
    says(
        &said,
        "tc -n x qdisc add dev fout root handle 10: netem limit 21 rate 5000000bit\n",
    );
}

/// Boots a machine. The figures are bounds that a correct run cannot leave: the line carries 4.8 Mbit/s of payload, and the
/// rate of the fetch is that over its short life.
#[test]
fn a_run_on_real_linux() {
    let kernel = inorder(&["lab", "kernel", "--cached"]);
    if !kernel.status.success() {
        return common::skipped(String::from_utf8_lossy(&kernel.stderr).trim());
    }
    if !common::machine_has(&OF_RUNS) {
        return;
    }
    let (_folder, path) = scenario(SCENARIO);
    let output = inorder(&["lab", "--beside-simulation", "--json", &path]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let [linux, simulation] = json["cells"].as_array().unwrap().as_slice() else {
        panic!("two cells");
    };
    assert_eq!(linux["engine"], "uml");
    assert_eq!(linux["clock"], "virtual");
    assert!(linux["kernel"].as_str().unwrap().starts_with("6."));
    assert!(linux["commands"].as_array().unwrap().len() > 20);
    assert_eq!(simulation["engine"], "simulation");
    let mean = |name: &str| linux["estimates"][name]["mean"].as_f64().unwrap();
    assert!(
        (4.0..12.0).contains(&mean("throughput")),
        "{}",
        mean("throughput")
    );
    assert!(mean("reordered_at_card") > 0.5);
    assert!((20.0..500.0).contains(&mean("completion")));
    assert!((5.0..100.0).contains(&mean("delay")));
    assert_eq!(mean("broken"), 0.0);
    assert!(linux["estimates"]["refused"].is_null());
}

/// The same on the ready kernel of Debian's package, whose clock is that of the machine: a busy one makes it late, so the bounds are
/// wide. `tools/setup test` installs the package where it can.
#[test]
fn a_run_in_real_time_on_the_kernel_of_a_package() {
    if !common::machine_has(&OF_RUNS) {
        return;
    }
    let (_folder, path) = scenario(SCENARIO);
    let output = inorder(&["lab", "--engine", "uml-package", "--json", &path]);
    let said = String::from_utf8_lossy(&output.stderr);
    if said.starts_with("inorder: --engine uml-package: ") {
        return common::skipped(said.trim());
    }
    assert!(output.status.success(), "{said}");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let linux = &json["cells"][0];
    assert_eq!(linux["engine"], "uml-package");
    assert_eq!(linux["clock"], "real");
    assert!(linux["kernel"].as_str().unwrap().starts_with("6."));
    let commands: Vec<&str> = linux["commands"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|line| line.as_str())
        .collect();
    assert!(commands.contains(&"insmod sch_netem.ko"), "{commands:?}");
    let mean = |name: &str| linux["estimates"][name]["mean"].as_f64().unwrap();
    assert!(
        (0.5..12.0).contains(&mean("throughput")),
        "{}",
        mean("throughput")
    );
    assert!(mean("reordered_at_card") > 0.1);
    assert!(mean("delay") > 5.0);
    assert_eq!(mean("broken"), 0.0);
}

#[test]
fn the_kernel_of_a_package_has_no_modules_of_ours() {
    let (_folder, path) =
        scenario("[[flow]]\n[[reverse]]\nkind = \"delay\"\ndelay = \"5 ms\"\n[receiver_card]\n");
    let output = inorder(&["lab", "--engine", "uml-package", &path]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    says(
        &said,
        "this needs the module inorder, which is not built for the package's kernel",
    );
}

/// The kernel's module, if it can be built here.
fn module() -> Result<std::path::PathBuf, String> {
    let kernel = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernel");
    if !kernel.is_dir() {
        return Err("there is no folder kernel/".to_owned());
    }
    let built = inorder(&["lab", "module", kernel.to_str().unwrap_or_default()]);
    match built.status.success() {
        true => Ok(kernel),
        false => Err(String::from_utf8_lossy(&built.stderr).trim().to_owned()),
    }
}

/// A card with a sorter: jitter of 2 ms, which a sender with a fixed threshold does not bear, and a resequencer against it.
#[test]
fn a_card_that_sorts_on_real_linux() {
    if let Err(why) = module() {
        return common::skipped(&why);
    }
    if !common::machine_has(&OF_RUNS) {
        return;
    }
    let (_folder, path) = scenario(
        "[run]\nduration = \"1 s\"\nrepetitions = 9\n[[flow]]\nsender = { loss_detection = \"static\", dupthresh = 3, sack = false }\n\
        [[forward]]\nkind = \"link\"\nrate = \"50 Mbit/s\"\nqueue = \"100 packets\"\n\
        [[forward]]\nkind = \"delay\"\ndelay = \"10 ms\"\njitter = \"2 ms\"\n\
        [[reverse]]\nkind = \"delay\"\ndelay = \"10 ms\"\n\
        [receiver_card]\n[grid]\n\"receiver_card.sorter\" = [\"none\", \"resequence\"]\n",
    );
    let output = inorder(&["lab", "--json", &path]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let [plain, sorted] = json["cells"].as_array().unwrap().as_slice() else {
        panic!("two cells");
    };
    let mean = |cell: &serde_json::Value, name: &str| cell["estimates"][name]["mean"].as_f64();
    // Of 24 runs each had 252 to 425 recoveries without the sorter; with it 21 had one to nine, and
    // three 104 to 220. So it is not the mean that is compared, but the fourth of nine.
    let recoveries = [plain, sorted].map(|cell| {
        let runs = cell["runs"].as_array().unwrap();
        let mut of_runs: Vec<f64> = runs
            .iter()
            .filter_map(|run| run["recoveries"].as_f64())
            .collect();
        of_runs.sort_by(f64::total_cmp);
        of_runs[3]
    });
    assert!(recoveries[0] > 10.0 * recoveries[1], "{recoveries:?}");
    // Both are captured in front of the card.
    assert!(mean(sorted, "reordered_at_card") > Some(5.0));
    assert_eq!(mean(sorted, "reordered_at_stack"), None);
}

/// A tenth of `validation/kernel/run`: the modules under load.
#[test]
fn the_modules_under_load() {
    let kernel = match module() {
        Ok(kernel) => kernel,
        Err(why) => return common::skipped(&why),
    };
    let of_the_script = ["cc", "ethtool", "insmod", "rmmod", "sysctl"];
    if !common::machine_has(&OF_RUNS) || !common::machine_has(&of_the_script) {
        return;
    }
    let output = Command::new(kernel.join("../validation/kernel/run"))
        .args(["--short", "--inorder", env!("CARGO_BIN_EXE_inorder")])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
