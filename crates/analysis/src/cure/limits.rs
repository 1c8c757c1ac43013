//! Actions for flows that something else than reordering limits.

use inorder_detect::{Cause, FlowReport, Limit, Vantage};
use inorder_report::number::{bytes, count, plural, rate};

use super::{Action, ActionKind, Gain};

/// Fewest recoveries of one cause that tell of a habit of the path.
const MIN_RECOVERIES: u64 = 3;
/// Fewest packets of a flow worth an action: shorter ones are over before one would help.
const MIN_PACKETS: u64 = 1_000;
/// A line that seems faster than a flow by more than this factor may be a bundle of packets taken for a line.
const MAX_TIMES: u64 = 20;
/// What a flow reaches of the bottleneck at least, whose window has to grow first.
const SHORT_FLOW: f64 = 0.5;
/// What BBR reaches of the bottleneck where packets are lost at random, at least, and at most: it gives up when more
/// than every fifth packet is lost, and probes for the round trip in the meantime.
const BBR_SHARE: (f64, f64) = (0.75, 1.0);

/// What can be done about `flows`.
pub(super) fn actions(flows: &[&FlowReport]) -> Vec<Action> {
    let of = |limit: Limit| -> Vec<&FlowReport> {
        let long = flows
            .iter()
            .copied()
            .filter(|f| f.data_packets >= MIN_PACKETS);
        long.filter(|f| f.cost.limit == limit).collect()
    };
    let mut all = Vec::new();
    all.extend(control(&of(Limit::Loss)));
    all.extend(queue(flows));
    all.extend(path_mtu(flows));
    // A closed window waits for the application: a larger buffer only fills up later.
    let mut narrow = of(Limit::Receiver);
    narrow.retain(|f| f.cost.closed_ns == 0);
    all.extend(window(&narrow));
    all
}

fn recoveries(flows: &[&FlowReport], cause: Cause) -> u64 {
    let causes = flows.iter().flat_map(|f| &f.recoveries.by_cause);
    causes
        .filter(|c| c.cause == cause)
        .map(|c| c.recoveries)
        .sum()
}

/// Losses at no full queue: a control that does not take each of them for congestion. Where a capture from the sender's
/// side could tell where they come from, and there is none, that is the next step.
fn control(flows: &[&FlowReport]) -> Option<Action> {
    let random = recoveries(flows, Cause::RandomLoss);
    let untold = recoveries(flows, Cause::Loss);
    if recoveries(flows, Cause::QueueLoss) > 0 {
        return None;
    }
    let packets: u64 = flows.iter().map(|f| f.losses).sum();
    let seen = format!(
        "{} were lost, and the window was reduced {} times for them",
        plural(packets, "packet"),
        count(random + untold)
    );
    if random >= MIN_RECOVERIES {
        return Some(other_control(flows, &seen));
    }
    let elsewhere = flows.iter().any(|f| f.vantage.vantage != Vantage::Sender);
    (elsewhere && random + untold >= MIN_RECOVERIES).then(|| Action {
        kind: ActionKind::Capture,
        advice: "Capture at the sender of the data, too: there it shows whether packets are lost at a full queue \
                 (which a managed queue mends) or without one (where BBR helps)."
            .to_owned(),
        commands: vec!["tcpdump -i IF -s 128 -w sender.pcap tcp".to_owned()],
        evidence: format!("{seen}; whether they came from a full queue cannot be told from here"),
        gain: None,
        sure: false,
        flows: flows.len() as u64,
    })
}

fn other_control(flows: &[&FlowReport], seen: &str) -> Action {
    let sum = |of: fn(&FlowReport) -> Option<u64>| flows.iter().filter_map(|f| of(f)).sum::<u64>();
    let (goodput, line) = (sum(|f| f.cost.goodput_bps), sum(|f| f.cost.bottleneck_bps));
    let more = |share: f64| (share * line as f64 / (goodput as f64).max(1.0) - 1.0).max(0.0);
    let believable = line / MAX_TIMES <= goodput;
    Action {
        kind: ActionKind::Control,
        advice: "On the sender of the data, use BBR: losses come although the bottleneck is not full, and it does not \
                 take each for congestion."
            .to_owned(),
        commands: vec![
            "sysctl -w net.core.default_qdisc=fq net.ipv4.tcp_congestion_control=bbr".to_owned(),
        ],
        evidence: format!(
            "{seen}; the goodput was {} where the bottleneck passes {}",
            rate(goodput),
            rate(line)
        ),
        gain: believable.then(|| Gain {
            low: more(BBR_SHARE.0),
            high: more(BBR_SHARE.1),
        }),
        sure: true,
        flows: flows.len() as u64,
    }
}

fn queue(flows: &[&FlowReport]) -> Option<Action> {
    let lost = recoveries(flows, Cause::QueueLoss);
    (lost >= MIN_RECOVERIES).then(|| Action {
        kind: ActionKind::Queue,
        advice: "At the bottleneck, manage the queue: it fills up and drops packets in bursts."
            .to_owned(),
        commands: vec!["tc qdisc replace dev IF root fq_codel".to_owned()],
        evidence: format!(
            "{} recoveries for losses came when the round trip was longest",
            count(lost)
        ),
        gain: None,
        sure: false,
        flows: flows.iter().filter(|f| f.losses > 0).count() as u64,
    })
}

/// Packets were too large for the path, as ICMP says: smaller ones from the start.
fn path_mtu(flows: &[&FlowReport]) -> Option<Action> {
    let large = || flows.iter().filter(|f| f.icmp.too_large > 0);
    let packets: u64 = large().map(|f| f.icmp.too_large).sum();
    let mtu = large().filter_map(|f| f.icmp.mtu).min();
    let to = large().next()?.flow.dst.ip();
    let size = mtu.map_or_else(|| "MTU".to_owned(), |mtu| mtu.to_string());
    Some(Action {
        kind: ActionKind::PathMtu,
        advice: "On the sender of the data, give the route the MTU of the path; or, on the router in front of the \
                 narrow link, lower the MSS of connections that pass."
            .to_owned(),
        commands: vec![
            format!("ip route replace {to} via GATEWAY mtu {size}"),
            "iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu"
                .to_owned(),
        ],
        evidence: format!(
            "ICMP says of {} that a link of the path cannot carry {}",
            plural(packets, "packet"),
            if packets == 1 { "it" } else { "them" }
        ),
        gain: None,
        sure: true,
        flows: large().count() as u64,
    })
}

/// The receiver's window is full most of the time.
fn window(flows: &[&FlowReport]) -> Option<Action> {
    let product = |f: &&FlowReport| {
        let bps = f.cost.bottleneck_bps? as f64;
        Some((
            bps / 8.0 * f.min_rtt_ns? as f64 / 1e9,
            bps / f.cost.goodput_bps? as f64,
        ))
    };
    let flow = flows.iter().copied().max_by_key(|f| f.data_bytes)?;
    let (fills, times) = product(&flow)?;
    // Linux offers half of the buffer as window, and a queue should fit in, too.
    let buffer = (4.0 * fills) as u64;
    Some(Action {
        kind: ActionKind::Window,
        advice: "On the receiver of the data, let the receive buffer grow larger (and let the application not set \
                 SO_RCVBUF)."
            .to_owned(),
        commands: vec![format!(
            "sysctl -w net.ipv4.tcp_rmem='4096 131072 {buffer}' net.core.rmem_max={buffer}"
        )],
        evidence: format!(
            "the window was full most of the time; {} would fill the path",
            bytes(fills as u64)
        ),
        gain: Some(Gain { low: (times * SHORT_FLOW - 1.0).max(0.0), high: (times - 1.0).max(0.0) }),
        sure: times > 1.2,
        flows: flows.len() as u64,
    })
}
