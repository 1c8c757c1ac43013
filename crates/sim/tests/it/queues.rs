//! The effect of the bottleneck's queue on a flow that tries to fill it.

use inorder_scenario::Scenario;
use inorder_sim::{FlowResult, registries, run};

/// 20 s of one flow over 50 Mbit/s and 40 ms, with a queue of 1000 packets (240 ms); `queue` and `sender` are added.
fn flow(queue: &str, sender: &str) -> FlowResult {
    let text = format!(
        "[run]\nduration = \"20 s\"\nwarm_up = \"5 s\"\n\
         [[flow]]\nsender = {{ {sender} }}\nreceiver = {{ ecn = \"accept\" }}\n\
         [[forward]]\nkind = \"link\"\nrate = \"50 Mbit/s\"\nqueue = \"1000 packets\"\n{queue}\n\
         [[forward]]\nkind = \"delay\"\ndelay = \"20 ms\"\n\
         [[reverse]]\nkind = \"delay\"\ndelay = \"20 ms\"\n"
    );
    let scenario = Scenario::load(&text, "test.toml", &registries()).unwrap();
    let cell = scenario.cells().unwrap().remove(0);
    let result = run(&cell.config, cell.config.run.seed).unwrap();
    result.flows.into_iter().next().unwrap()
}

/// Mean one-way delay of data, milliseconds.
fn delay_ms(flow: &FlowResult) -> f64 {
    flow.counts.delay_ns as f64 / flow.counts.at_stack.max(1) as f64 * 1e-6
}

const CODEL: &str = "queue_discipline = \"codel\"";

#[test]
fn codel_reduces_the_delay_of_cubic_and_keeps_most_of_its_rate() {
    let full = flow("", "congestion = \"cubic\"");
    let kept = flow(CODEL, "congestion = \"cubic\"");
    assert!(delay_ms(&full) > 100.0, "{}", delay_ms(&full));
    assert!(delay_ms(&kept) < 35.0, "{}", delay_ms(&kept));
    let rate = kept.throughput_bits_per_s();
    assert!(rate > 0.8 * full.throughput_bits_per_s(), "{rate}");
    assert!(kept.counts.retransmissions > 0);
}

#[test]
fn flows_with_ecn_have_no_losses() {
    let marked = flow(CODEL, "congestion = \"cubic\", ecn = \"on\"");
    assert_eq!(marked.counts.retransmissions, 0);
    assert!(delay_ms(&marked) < 35.0, "{}", delay_ms(&marked));
    let dropped = flow(
        &format!("{CODEL}\nmark = false"),
        "congestion = \"cubic\", ecn = \"on\"",
    );
    assert!(dropped.counts.retransmissions > 0);
}

#[test]
fn bbr_leaves_a_deep_queue_nearly_empty() {
    let bbr = flow("", "congestion = \"bbr\"");
    assert!(delay_ms(&bbr) < 40.0, "{}", delay_ms(&bbr));
    let rate = bbr.throughput_bits_per_s();
    assert!(rate > 45e6, "{rate}");
    assert_eq!(bbr.counts.retransmissions, 0);
}

/// Throughputs of a CUBIC flow and a Reno flow that share 50 Mbit/s and 40 ms, Mbit/s, and the mean one-way delay of
/// probes sent ten times per second, ms.
fn shared(queue: &str) -> ([f64; 2], f64) {
    let text = format!(
        "[run]\nduration = \"30 s\"\nwarm_up = \"10 s\"\n\
         [[flow]]\nsender.congestion = \"cubic\"\n\
         [[flow]]\nsender.congestion = \"reno\"\n\
         [[probe]]\nrate = \"8 kbit/s\"\nsize = \"100 B\"\n\
         [[forward]]\nkind = \"link\"\nrate = \"50 Mbit/s\"\nqueue = \"1000 packets\"\n{queue}\n\
         [[forward]]\nkind = \"delay\"\ndelay = \"20 ms\"\n\
         [[reverse]]\nkind = \"delay\"\ndelay = \"20 ms\"\n"
    );
    let scenario = Scenario::load(&text, "test.toml", &registries()).unwrap();
    let cell = scenario.cells().unwrap().remove(0);
    let result = run(&cell.config, cell.config.run.seed).unwrap();
    let rate = |flow: &FlowResult| flow.throughput_bits_per_s() * 1e-6;
    let probes = &result.probes[0];
    let delay_ms = probes.delay_ns as f64 / probes.received as f64 * 1e-6;
    ([rate(&result.flows[0]), rate(&result.flows[1])], delay_ms)
}

#[test]
fn fq_codel_gives_equal_shares_and_low_delay_to_sparse_flows() {
    let (_, delay_ms) = shared("");
    assert!(delay_ms > 100.0, "{delay_ms}");
    let ([cubic, reno], delay_ms) = shared("queue_discipline = \"fq-codel\"");
    assert!((cubic / reno - 1.0).abs() < 0.1, "{cubic} {reno}");
    assert!(cubic + reno > 44.0, "{cubic} {reno}");
    // 20 ms of propagation; the probes wait only for the packet that is being sent, at most 0.25 ms.
    assert!(delay_ms < 20.25, "{delay_ms}");
}
