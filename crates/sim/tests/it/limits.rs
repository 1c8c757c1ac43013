//! What limits a transfer, as the simulator knows it.

use std::collections::BTreeMap;

use inorder_scenario::Scenario;
use inorder_sim::limits::{FlowLimits, Stretch};
use inorder_sim::{registries, run};

const SECOND: f64 = 1e9;

/// A flow with these keys for five seconds over 10 Mbit/s, a round trip of 40 ms and these further stages.
fn limits(flow: &str, stages: &str) -> Vec<FlowLimits> {
    let text = format!(
        "[run]\nduration = \"5 s\"\n[output]\nlimits = true\n[[flow]]\n{flow}\n{stages}
[[forward]]\nkind = \"link\"\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\nqueue = \"50 packets\"
[[reverse]]\nkind = \"delay\"\ndelay = \"20 ms\"\n"
    );
    let scenario = Scenario::load(&text, "limits.toml", &registries()).unwrap();
    let cells = scenario.cells().unwrap();
    run(&cells[0].config, 1).unwrap().limits
}

fn data(flow: &str, stages: &str) -> Vec<Stretch> {
    limits(flow, stages).remove(0).stretches
}

/// Seconds by limit and cause.
fn times(stretches: &[Stretch]) -> BTreeMap<String, f64> {
    let mut out = BTreeMap::new();
    for s in stretches {
        let name = format!("{} {}", s.limit.name(), s.cause);
        *out.entry(name.trim().to_owned()).or_default() += (s.end_ns - s.start_ns) as f64 / SECOND;
    }
    out
}

fn time(stretches: &[Stretch], limit: &str) -> f64 {
    times(stretches).get(limit).copied().unwrap_or(0.0)
}

#[test]
fn the_stretches_are_the_life_without_gaps() {
    let all = data("size = \"1 MB\"", "");
    assert!(all.windows(2).all(|two| two[0].end_ns == two[1].start_ns));
    assert!(
        all.windows(2)
            .all(|two| two[0].limit != two[1].limit || two[0].cause != two[1].cause)
    );
    assert_eq!((all[0].start_ns, all[0].limit.name()), (0, "handshake"));
    let last = all.last().unwrap();
    assert_eq!((last.limit.name(), last.cause), ("application", "end"));
}

#[test]
fn a_bulk_transfer_fills_the_line() {
    let all = data("", "");
    assert!(time(&all, "line") > 4.0, "{:?}", times(&all));
    assert!(time(&all, "start") > 0.1, "{:?}", times(&all));
}

#[test]
fn a_window_or_a_buffer_below_what_the_path_holds_is_the_limit() {
    for (keys, limit) in [
        ("receiver.receive_buffer = \"20 kB\"", "receiver-window"),
        ("sender.send_buffer = \"20 kB\"", "send-buffer"),
        (
            "read_rate = \"1 Mbit/s\"\nreceiver.receive_buffer = \"100 kB\"",
            "receiver-window",
        ),
        (
            "application = { kind = \"paced\", rate = \"2 Mbit/s\" }",
            "application",
        ),
    ] {
        let all = data(keys, "");
        assert!(time(&all, limit) > 4.0, "{keys}: {:?}", times(&all));
    }
}

#[test]
fn above_what_the_path_holds_the_line_is_busy_beside_a_full_window_or_buffer() {
    for (keys, limit) in [
        (
            "receiver.receive_buffer = \"80 kB\"",
            "receiver-window line",
        ),
        ("sender.send_buffer = \"80 kB\"", "send-buffer line"),
    ] {
        let all = data(keys, "");
        assert!(time(&all, limit) > 4.0, "{keys}: {:?}", times(&all));
    }
}

#[test]
fn no_window_scale_limits_where_the_path_holds_more_than_64_kib() {
    let far = "[[forward]]\nkind = \"delay\"\ndelay = \"100 ms\"\n";
    let all = data("receiver.window_scaling = false", far);
    assert!(time(&all, "receiver-window") > 3.5, "{:?}", times(&all));
    assert!(time(&data("", far), "receiver-window") < 0.5);
}

#[test]
fn an_interrupted_path_is_dead_until_it_is_back() {
    let outage = "[[forward]]\nkind = \"outage\"\nfrom = \"2 s\"\nuntil = \"4 s\"\n";
    let all = data("", outage);
    let dead: Vec<&Stretch> = all
        .iter()
        .filter(|s| s.limit.name() == "path-dead")
        .collect();
    assert_eq!(dead.len(), 1, "{:?}", times(&all));
    // The last packets sent before are still on their way when it begins.
    let start_s = dead[0].start_ns as f64 / SECOND;
    assert!((2.0..2.2).contains(&start_s), "{start_s}");
    assert_eq!(dead[0].end_ns, 4_000_000_000);
    assert!(time(&all, "timer-needed loss") > 0.05, "{:?}", times(&all));
}

#[test]
fn reductions_are_needed_where_something_was_lost_and_only_there() {
    let sender = "sender.loss_detection = \"static\"\nsender.congestion = \"reno\"\nsender.undo_eifel = false\nsender.undo_dsack = false";
    let late = "[[forward]]\nkind = \"late\"\nprobability = \"2 %\"\ndelay = \"15 ms\"\n";
    let all = data(sender, late);
    assert!(
        time(&all, "window-unneeded late") > 3.0,
        "{:?}",
        times(&all)
    );
    assert!(time(&all, "window-needed loss") < 0.3, "{:?}", times(&all));
    let lost = "[[forward]]\nkind = \"loss\"\nprobability = \"2 %\"\n";
    let all = data(sender, lost);
    assert!(time(&all, "window-needed loss") > 2.0, "{:?}", times(&all));
    assert_eq!(time(&all, "window-unneeded late"), 0.0, "{:?}", times(&all));
}

#[test]
fn a_jump_of_the_delay_makes_a_timer_expire_without_need() {
    let jump = "[[reverse]]\nkind = \"late\"\nprobability = \"100 %\"\ndelay = \"1 s\"\nfrom = \"2 s\"\nuntil = \"2.5 s\"\n";
    let all = data("", jump);
    assert!(time(&all, "timer-unneeded late") > 0.1, "{:?}", times(&all));
}

#[test]
fn both_directions_of_a_dialogue_wait_for_their_applications() {
    let talk = "application = { kind = \"interactive\", request = \"200 B\", response = \"20 kB\", think = \"300 ms\" }";
    let both = limits(talk, "");
    assert_eq!(both.len(), 2);
    for way in &both {
        assert!(
            time(&way.stretches, "application") > 3.0,
            "{:?}",
            times(&way.stretches)
        );
    }
}
