//! The inference from one capture, scored against the truth from both ends of the recording lab's
//! captures (`testdata/captures`). Prints one line a capture; every family has its floor.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use inorder_detect::{Confidence, Config, FlowReport, Kind, Vantage, Verdict};
use serde_json::Value;

use crate::lab;
use crate::lab::many::By;

/// What is counted over the flows of one capture.
#[derive(Default, Clone, Copy)]
struct Score {
    truth: u64,
    told: u64,
    hits: u64,
    certain: u64,
    certain_exact: u64,
    within_one: u64,
    exact: u64,
    spurious_truth: u64,
    spurious_told: u64,
}

impl Score {
    fn precision(&self) -> f64 {
        if self.told == 0 {
            1.0
        } else {
            self.hits as f64 / self.told as f64
        }
    }

    fn recall(&self) -> f64 {
        if self.truth == 0 {
            1.0
        } else {
            self.hits as f64 / self.truth as f64
        }
    }

    fn f1(&self) -> f64 {
        let (p, r) = (self.precision(), self.recall());
        if p + r == 0.0 {
            0.0
        } else {
            2.0 * p * r / (p + r)
        }
    }

    fn share(part: u64, whole: u64) -> f64 {
        if whole == 0 {
            1.0
        } else {
            part as f64 / whole as f64
        }
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/captures")
}

fn analyse(path: &Path) -> Vec<FlowReport> {
    lab::recording::analyse(path, &Config::default(), lab::recording::Kept::ALL)
        .expect("a capture of the lab")
}

/// Extent of every reordered original by flow and offset, and each flow's needless retransmissions.
fn truth(path: &Path) -> (BTreeMap<(String, u64), u64>, BTreeMap<String, u64>) {
    let file = File::open(path).expect("the lab's truth");
    let json: Value = serde_json::from_reader(GzDecoder::new(file)).expect("JSON");
    let mut events = BTreeMap::new();
    let mut spurious = BTreeMap::new();
    for flow in json["flows"].as_array().expect("flows") {
        let name = flow["flow"].as_str().expect("a name");
        let needless = flow["retransmissions"]["spurious"].as_u64().unwrap_or(0);
        spurious.insert(name.to_owned(), needless);
        for e in flow["events"].as_array().expect("events") {
            if e["kind"] == "reordered" || e["kind"] == "refused" {
                let offset = e["seq_offset"].as_u64().expect("an offset");
                events.insert((name.to_owned(), offset), e["extent"].as_u64().unwrap_or(0));
            }
        }
    }
    (events, spurious)
}

/// Events marked ambiguous assert nothing: they are left out.
fn score(name: &str, side: &str) -> Score {
    let (truth, spurious_truth) = truth(&folder().join(format!("{name}.truth.json.gz")));
    let flows = analyse(&folder().join(format!("{name}.{side}.pcap.gz")));
    // In a two-way transfer either end is the sender of one direction only.
    let here = if side == "rcv" {
        Vantage::Receiver
    } else {
        Vantage::Sender
    };
    let flows: Vec<&FlowReport> = flows
        .iter()
        .filter(|f| !name.starts_with("both") || f.vantage.vantage == here)
        .collect();
    let told = |flow: &str| flows.iter().any(|f| f.flow.to_string() == flow);
    let truth: BTreeMap<_, _> = truth
        .into_iter()
        .filter(|((flow, _), _)| !name.starts_with("both") || told(flow))
        .collect();
    let ours = |flow: &&String| !name.starts_with("both") || told(flow);
    let needless = spurious_truth.iter().filter(|(flow, _)| ours(flow));
    let mut s = Score {
        truth: truth.len() as u64,
        spurious_truth: needless.map(|(_, n)| n).sum(),
        ..Score::default()
    };
    let rcv = side == "rcv";
    for flow in &flows {
        // These truth files count the retransmission of a refused original among the spurious ones.
        s.spurious_told += flow.retransmissions.spurious;
        if !rcv {
            s.spurious_told += flow.originals.refused;
        }
        let name = flow.flow.to_string();
        for e in &flow.records.events {
            if e.kind == Kind::Lost || e.confidence == Confidence::Ambiguous {
                continue;
            }
            s.told += 1;
            let Some(&extent) = truth.get(&(name.clone(), e.seq_offset)) else {
                continue;
            };
            s.hits += 1;
            let off = e.extent.map(|told| extent.abs_diff(u64::from(told)));
            s.exact += u64::from(off == Some(0));
            s.within_one += u64::from(off.is_some_and(|o| o <= 1));
            if e.confidence == Confidence::Certain {
                s.certain += 1;
                s.certain_exact += u64::from(off == Some(0));
            }
        }
    }
    println!(
        "{name:26} {side} reordered {:5} precision {:.4} recall {:.4} F1 {:.4}  extents exact {:.4} \
         within one {:.4}, of {} certain {:.4}  needless {} of {}",
        s.truth,
        s.precision(),
        s.recall(),
        s.f1(),
        Score::share(s.exact, s.hits),
        Score::share(s.within_one, s.hits),
        s.certain,
        Score::share(s.certain_exact, s.certain),
        s.spurious_told,
        s.spurious_truth,
    );
    s
}

fn names() -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .expect("the lab's captures")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|file| Some(file.strip_suffix(".truth.json.gz")?.to_owned()))
        .collect();
    names.sort();
    assert!(
        names.len() > 40,
        "testdata/captures is incomplete: {names:?}"
    );
    names
}

#[test]
fn at_the_receiver_every_late_original_is_found_and_measured() {
    for name in names() {
        let s = score(&name, "rcv");
        assert!(s.f1() >= 0.995, "{name}: F1 {:.4}", s.f1());
        let exact = Score::share(s.certain_exact, s.certain);
        assert!(exact >= 0.999, "{name}: exact {exact:.4} of the certain");
    }
}

/// The floor of F1 at the sender. Where jitter meets loss, what one ACK reports is long and its order
/// inside is not knowable: such late arrivals are ambiguous, and count as not found.
fn f1_floor(name: &str) -> f64 {
    match name {
        "flows4-jitter-a" | "jitter-a-2-loss" => 0.96,
        _ => 0.97,
    }
}

/// The floor of extents within one packet. While a loss is repaired one ACK reports dozens of
/// arrivals, and swaps inside one of its blocks leave no trace.
fn within_one_floor(name: &str) -> f64 {
    if name.starts_with("flows4-jitter") {
        0.92
    } else {
        0.93
    }
}

/// Needless retransmissions: within 2 %, or 2. In two captures more is open, and said to be: lateness of
/// many sizes or a capture that ends early leaves several holes for each ACK without a cause to be seen.
fn counts_agree(name: &str, told: u64, truth: u64) -> bool {
    let open = match name {
        "both-late-loss" => 1,
        "cut" => 4,
        _ => 0,
    };
    let slack = (truth / 50).max(2);
    told <= truth + slack && truth <= told + slack + open
}

#[test]
fn at_the_sender_the_inference_keeps_its_floors() {
    let mut fallen = Vec::new();
    for name in names() {
        let s = score(&name, "snd");
        if name.starts_with("nosack") || name.ends_with("nosack") {
            if s.precision() < 0.95 {
                fallen.push(format!("{name}: precision {:.4}", s.precision()));
            }
            // Approximate counts: without timestamps, nothing distinguishes an original from its retransmission.
            let (told, truth) = (s.spurious_told, s.spurious_truth);
            let slack = if name.contains("nots") { 16 } else { 50 };
            let agree = told.abs_diff(truth) <= (truth / slack).max(2);
            if !agree {
                fallen.push(format!("{name}: {told} needless of {truth}"));
            }
            continue;
        }
        // Without DSACK an original that comes after its retransmission shows only where the
        // receiver had nothing else to acknowledge with it. Where it may as well be one beside it
        // that was lost, the event is ambiguous.
        if name.starts_with("nodsack") {
            let (told, truth) = (s.spurious_told, s.spurious_truth);
            let most = told <= truth && told * 5 >= truth * 2;
            if !most {
                fallen.push(format!("{name}: {told} needless of {truth}"));
            }
            if s.precision() < 0.95 {
                fallen.push(format!("{name}: precision {:.4}", s.precision()));
            }
            continue;
        }
        let agree = counts_agree(&name, s.spurious_told, s.spurious_truth);
        let (told, truth) = (s.spurious_told, s.spurious_truth);
        if !agree {
            fallen.push(format!("{name}: {told} needless of {truth}"));
        }
        // A handful of events is no statistic.
        if s.truth >= 40 {
            if s.f1() < f1_floor(&name) {
                fallen.push(format!("{name}: F1 {:.4}", s.f1()));
            }
            let within = Score::share(s.within_one, s.hits);
            let floor = within_one_floor(&name);
            if within < floor {
                fallen.push(format!("{name}: within one {within:.4}"));
            }
        }
        if s.certain >= 40 {
            let exact = Score::share(s.certain_exact, s.certain);
            if exact < 0.98 {
                fallen.push(format!("{name}: exact {exact:.4} of the certain"));
            }
        }
        if s.truth == 0 && s.told > 0 {
            fallen.push(format!("{name}: reordering where there was none"));
        }
    }
    assert!(fallen.is_empty(), "{fallen:#?}");
}

#[test]
fn every_reordering_counts_at_the_rate_its_packet_was_sent() {
    for name in names() {
        for side in ["snd", "rcv"] {
            for flow in analyse(&folder().join(format!("{name}.{side}.pcap.gz"))) {
                let what = format!("{name}.{side} {}: {:?}", flow.flow, flow.by_rate);
                let (mut packets, mut reordered) = (0, 0);
                for class in &flow.by_rate {
                    assert!(class.reordered <= class.packets, "{what}");
                    packets += class.packets;
                    reordered += class.reordered;
                }
                assert_eq!(reordered, flow.reordering.reordered, "{what}");
                // The receiver sees nothing of when a lost original was sent.
                let unseen = match flow.vantage.vantage {
                    Vantage::Receiver => flow.originals.lost,
                    _ => 0,
                };
                assert_eq!(packets + unseen, flow.originals.packets, "{what}");
            }
        }
    }
}

#[test]
fn every_retransmission_is_listed_with_the_verdict_it_was_counted_with() {
    for name in names() {
        for side in ["snd", "rcv"] {
            for flow in analyse(&folder().join(format!("{name}.{side}.pcap.gz"))) {
                let listed = |verdict| {
                    let list = flow.records.retransmissions.iter();
                    list.filter(|r| r.verdict == verdict).count() as u64
                };
                let counted = &flow.retransmissions;
                assert_eq!(
                    [Verdict::Needed, Verdict::Spurious, Verdict::Ambiguous].map(listed),
                    [counted.needed, counted.spurious, counted.ambiguous],
                    "{name}.{side} {}",
                    flow.flow
                );
            }
        }
    }
}

#[test]
fn the_vantage_point_is_recognised() {
    for name in names() {
        for (side, vantage) in [("snd", Vantage::Sender), ("rcv", Vantage::Receiver)] {
            let flows = analyse(&folder().join(format!("{name}.{side}.pcap.gz")));
            for flow in flows.iter().filter(|f| f.originals.packets > 100) {
                // In a two-way transfer either end is the sender of one direction.
                let expected = if name.starts_with("both") {
                    flow.vantage.vantage
                } else {
                    vantage
                };
                assert_eq!(
                    flow.vantage.vantage, expected,
                    "{name}.{side} {}",
                    flow.flow
                );
            }
        }
    }
}

/// The recordings of all kinds of path (`testdata/lab/kinds.toml`, set `floors`), each kind held to
/// what the code reached on it.
#[test]
fn no_kind_of_path_falls_below_its_floors() {
    hold("testdata/kinds", By::Kind, "floors.csv");
}

/// Recordings of real stacks (`validation/stacks`): gVisor, lwIP, smoltcp, libslirp and a kernel of today. Where a floor is
/// below 1, the inference does not know a habit of that stack yet.
#[test]
fn no_stack_falls_below_its_floors() {
    hold("testdata/stacks", By::Stack, "stacks.csv");
}

/// Holds the recordings of a folder to their floors.
fn hold(folder: &str, by: By, file: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let all = lab::recording::recordings(&root.join(folder)).expect("the recordings");
    assert!(all.len() >= 20, "{folder} is incomplete");
    let scored = lab::many::score_all(&all, &Config::default(), 0).expect("whole recordings");
    let rows = |side| lab::many::rows(&all, &scored, by, side);
    let mut reached = lab::floors::reached("sender", &rows(|s| &s.sender));
    reached.extend(lab::floors::reached("receiver", &rows(|s| &s.receiver)));
    let path = lab::floors::path(file);
    let raises = std::env::var_os("INORDER_RAISE_FLOORS").is_some();
    let floors = std::fs::read_to_string(&path);
    let floors = if raises {
        floors.unwrap_or_default()
    } else {
        floors.expect("the floors")
    };
    if raises {
        std::fs::write(&path, lab::floors::raised(&floors, &reached)).expect("to write them");
        return;
    }
    let below = lab::floors::below(&floors, &reached);
    assert!(
        below.is_empty(),
        "below their floors:\n{}",
        below.join("\n")
    );
}
