//! Actions for flows whose senders took late packets for lost.

use inorder_detect::{Cause, FlowReport, Vantage, WhatIf};
use inorder_report::number::{count, plural, time, time_u64};

use super::route::to_receiver;
use super::{Action, ActionKind, Gain, path};
use crate::shares;

/// The share of late packets that a quantile of them covers (`avoidance` gives the 95th percentile).
const COVERED: f64 = 0.95;
/// The greatest threshold that Linux adapts to unless told otherwise (`net.ipv4.tcp_max_reordering`).
const LINUX_MAX_REORDERING: u32 = 300;
/// Greatest threshold proposed: more packets than that are rarely in flight.
const MAX_THRESHOLD: u32 = 10_000;
/// Linux's retransmission timer expires no sooner, nanoseconds: what comes later is sent again whatever the threshold.
const MIN_TIMEOUT_NS: i64 = 200_000_000;
/// A sorter is proposed if it leaves no more than this share of the late packets.
const MAX_LEFT: f64 = 0.1;

/// What can be done about `flows`, whose senders took late packets for lost.
pub(super) fn actions(flows: &[&FlowReport]) -> Vec<Action> {
    if flows.is_empty() {
        return Vec::new();
    }
    let mut all: Vec<Action> = wait_longer(flows).into_iter().collect();
    all.extend(sort(flows));
    all.extend(sack(flows));
    all.extend(undo(flows));
    all.push(one_way(flows));
    all
}

/// What is gained if `covered` of what was lost comes back: bytes over time with and without, added up over flows.
fn gain(flows: &[&FlowReport], covered: f64) -> Option<Gain> {
    let (mut now, mut low, mut high) = (0.0, 0.0, 0.0);
    for flow in flows {
        let (Some(goodput), Some(lost)) = (flow.cost.goodput_bps, flow.cost.lost) else {
            continue;
        };
        let goodput = goodput as f64;
        // No more can come back than the time that late packets took.
        let most = shares::taken_by_late(flow).map_or(1.0, |(_, high)| high);
        let more = |share: f64| goodput * share.min(most) / (1.0 - share.min(most)).max(0.001);
        now += goodput;
        low += covered * more(lost.low);
        high += more(lost.high);
    }
    (now > 0.0).then(|| Gain {
        low: low / now,
        high: high / now,
    })
}

/// Unnecessary reductions by late packets, in words.
fn reductions(flows: &[&FlowReport]) -> String {
    let late = path::recoveries(flows.iter().copied(), Cause::Reordering);
    let all: u64 = flows.iter().map(|f| f.recoveries.total).sum();
    format!(
        "late packets caused {} of {}",
        count(late),
        plural(all, "reduction")
    )
}

/// Packets that the bottleneck passes on while the late ones are waited for: a sender that late packets slow down is
/// overtaken by fewer than it will be at full rate.
fn overtaken_at_full_rate(flow: &FlowReport) -> Option<u32> {
    let (wait_ns, bps) = (flow.avoidance.window_ns?, flow.cost.bottleneck_bps?);
    let packets = wait_ns as f64 / 1e9 * bps as f64 / (8.0 * f64::from(flow.endpoints.mss.max(1)));
    (packets < f64::from(MAX_THRESHOLD)).then_some(packets as u32 + 1)
}

/// Reordering thresholds and RACK, at the sender.
fn wait_longer(flows: &[&FlowReport]) -> Option<Action> {
    let seen = flows.iter().filter_map(|f| f.avoidance.dupthresh).max()?;
    let wait_ns = flows
        .iter()
        .filter_map(|f| f.avoidance.window_ns)
        .max()
        .unwrap_or(0);
    let full = flows.iter().filter_map(|f| overtaken_at_full_rate(f)).max();
    let threshold = full.map_or(seen, |full| full.max(seen)).min(MAX_THRESHOLD);
    let rtt_ns = flows
        .iter()
        .filter_map(|f| f.min_rtt_ns)
        .max()
        .unwrap_or(i64::MAX);
    // RACK waits no longer than a round trip (RFC 8985 section 6.2): what comes later it takes for lost.
    let rack = u8::from(wait_ns < rtt_ns);
    let most = LINUX_MAX_REORDERING.max(threshold.saturating_mul(2));
    let sack = if flows.iter().all(|f| f.endpoints.sack) {
        ""
    } else {
        " net.ipv4.tcp_sack=1"
    };
    let how = if rack == 1 {
        "with RACK"
    } else {
        "and without RACK, which waits a round trip at most"
    };
    let to = to_receiver(flows.first()?);
    Some(Action {
        commands: vec![
            format!(
                "sysctl -w net.ipv4.tcp_reordering={threshold} net.ipv4.tcp_max_reordering={most} \
                 net.ipv4.tcp_recovery={rack}{sack}"
            ),
            format!("ip route change {to} via GATEWAY dev IF reordering {threshold}"),
        ],
        evidence: format!(
            "{}; 95 % of the packets known to be late were overtaken by fewer than {} and came at most {} late, \
             and at full rate the line passes {} in that time",
            reductions(flows),
            plural(u64::from(seen), "packet"),
            time(wait_ns),
            full.map_or("as many".to_owned(), |full| plural(
                u64::from(full),
                "packet"
            ))
        ),
        holds: "Linux senders before 6.17. Since 6.17 RACK alone decides, and these settings do nothing: \
                there, switch timestamps on, sort at the receiver, or mend the path.",
        warning: match rack {
            1 => {
                "The first command changes every connection of the host; the second is for this route alone."
            }
            _ => {
                "The first command switches RACK off for every connection of the host, so that lost retransmissions and \
                  tails wait for a time-out; the second is for this route alone, and leaves RACK on."
            }
        },
        gain: gain(flows, COVERED),
        sure: wait_ns < MIN_TIMEOUT_NS,
        flows: flows.len() as u64,
        ..Action::new(
            ActionKind::WaitLonger,
            format!(
                "On the sender of the data, wait for {} duplicate ACKs before taking a packet for lost, {how}.",
                count(u64::from(threshold))
            ),
        )
    })
}

/// The setting that leaves few late packets and adds the least delay.
fn sufficient(flow: &FlowReport) -> Option<&WhatIf> {
    let late = flow.reordering.reordered as f64;
    let enough = flow
        .what_if
        .iter()
        .filter(|w| w.reordered as f64 <= MAX_LEFT * late);
    enough.min_by_key(|w| (w.mean_added_delay_ns, w.block_size))
}

/// How long the sorter holds a packet at most, nanoseconds: to the end of a batch, or as long as it held one here.
fn longest_hold_ns(row: &WhatIf) -> u64 {
    row.coalesce_ns.max(row.max_added_delay_ns)
}

/// Sorting at the receiver, where the capture shows its order.
fn sort(flows: &[&FlowReport]) -> Option<Action> {
    let here: Vec<&FlowReport> = flows
        .iter()
        .copied()
        .filter(|f| f.vantage.vantage == Vantage::Receiver)
        .collect();
    let settings: Vec<&WhatIf> = here.iter().filter_map(|f| sufficient(f)).collect();
    let hardest = settings
        .iter()
        .max_by_key(|w| (longest_hold_ns(w), w.block_size))?;
    if settings.len() < here.len() {
        return None;
    }
    let late: u64 = here.iter().map(|f| f.reordering.reordered).sum();
    let left: u64 = settings.iter().map(|w| w.reordered).sum();
    // Only a sorter of batches depends on how long the card waits before it interrupts.
    let coalesce_us = Some(hardest.coalesce_ns / 1_000).filter(|&us| us > 0);
    Some(Action {
        commands: coalesce_us
            .map(|us| format!("ethtool -C IF rx-usecs {us}"))
            .into_iter()
            .collect(),
        evidence: format!(
            "of {} late packets it would have left {}, for a mean delay of {}",
            count(late),
            count(left),
            time(i64::try_from(hardest.mean_added_delay_ns).unwrap_or(i64::MAX))
        ),
        holds: "Simulated with this capture, not tried: it needs a NIC, a driver or a module that sorts.",
        gain: gain(&here, 1.0 - left as f64 / (late as f64).max(1.0)),
        flows: here.len() as u64,
        ..Action::new(
            ActionKind::Sort,
            format!(
                "At the receiver, sort packets before TCP sees them: {}, which would have held packets for {} at most.",
                hardest.name(),
                time_u64(longest_hold_ns(hardest))
            ),
        )
    })
}

/// The number of flows whose handshake shows that they did not negotiate an option.
fn without(flows: &[&FlowReport], negotiated: fn(&FlowReport) -> bool) -> u64 {
    let without = flows
        .iter()
        .filter(|f| f.endpoints.syn_seen && !negotiated(f));
    without.count() as u64
}

fn sack(flows: &[&FlowReport]) -> Option<Action> {
    let without = without(flows, |f| f.endpoints.sack);
    (without > 0).then(|| Action {
        evidence: format!(
            "{} negotiated no SACK; {}",
            plural(without, "flow"),
            reductions(flows)
        ),
        holds: "Both ends must offer it in their SYN; Linux of any version.",
        sure: true,
        flows: without,
        ..Action::sack()
    })
}

/// Reductions that were unnecessary can be undone with the echoes of timestamps (RFC 3522 section 3.2).
fn undo(flows: &[&FlowReport]) -> Option<Action> {
    let without = without(flows, |f| f.endpoints.timestamps);
    (without > 0).then(|| Action {
        commands: vec!["sysctl -w net.ipv4.tcp_timestamps=1".to_owned()],
        evidence: format!(
            "{} had no timestamps; {}",
            plural(without, "flow"),
            reductions(flows)
        ),
        holds: "Both ends must offer them in their SYN; Linux of any version.",
        warning: "The setting is for all new connections of the host; it costs 12 bytes in each packet.",
        sure: true,
        flows: without,
        ..Action::new(
            ActionKind::Undo,
            "Switch timestamps on at both ends: the sender can then undo reductions that were unnecessary.",
        )
    })
}

/// The network keeps the order of a flow: always right, but not always in the reader's hands.
fn one_way(flows: &[&FlowReport]) -> Action {
    let late: u64 = flows.iter().map(|f| f.late()).sum();
    let packets: u64 = flows.iter().map(|f| f.came()).sum();
    Action {
        commands: vec![
            "ip link set BOND type bond mode 802.3ad xmit_hash_policy layer3+4".to_owned(),
            "sysctl -w net.ipv4.fib_multipath_hash_policy=1".to_owned(),
        ],
        evidence: format!(
            "{} of {} that arrived were late",
            count(late),
            plural(packets, "packet")
        ),
        holds: "It helps where several ways are the reason, which one capture does not show.",
        flows: flows.len() as u64,
        ..Action::new(
            ActionKind::OneWay,
            "In the network, find what spreads one flow over several ways (ECMP, link bundles, tunnels, receive \
             queues) and let it choose by flow, not by packet.",
        )
    }
}
