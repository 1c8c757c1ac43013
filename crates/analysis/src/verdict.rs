//! The result in a few sentences.

use inorder_detect::{Cause, FlowReport};

use crate::model::Analysis;
use inorder_report::number::{count, percent, plural, time, time_u64};

/// Sums over the flows of one analysis.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Totals {
    /// Flows that carried data.
    pub flows: u64,
    /// Of these, with reordered packets.
    pub reordered_flows: u64,
    /// Original data segments.
    pub packets: u64,
    /// Original transmissions (not retransmissions) that certainly arrived.
    pub arrived: u64,
    /// Reordered packets.
    pub reordered: u64,
    /// Greatest extent, packets.
    pub max_extent: u64,
    /// Greatest late time, nanoseconds.
    pub max_late_ns: u64,
    /// Events that remain ambiguous.
    pub ambiguous: u64,
    /// Packets lost.
    pub losses: u64,
    /// Packets that arrived and that the receiver discarded although it lacked them.
    pub refused: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// Of these, spurious.
    pub spurious: u64,
    /// Of these, undecided.
    pub unclear: u64,
    /// Recovery phases.
    pub recoveries: u64,
    /// Of these, the ones during which no packet had been lost.
    pub spurious_recoveries: u64,
    /// Recoveries by cause, in the order of [`Cause::ALL`].
    pub by_cause: [u64; Cause::ALL.len()],
    /// Greatest duplicate-ACK threshold that any flow would have needed; 0 where reordering caused no recovery.
    pub dupthresh: u32,
    /// Greatest waiting time before retransmission that any flow would have needed, nanoseconds.
    pub window_ns: i64,
    /// Frames captured twice.
    pub duplicated: u64,
    /// Flows for which the capture does not reveal the vantage point.
    pub no_vantage: u64,
    /// Flows whose SACK options are cut off by the snap length.
    pub sack_cut: u64,
    /// Flows without the receiver's packets.
    pub one_way: u64,
}

impl Totals {
    /// Sums `flows`.
    pub fn of(flows: &[FlowReport]) -> Totals {
        let mut t = Totals::default();
        for flow in flows {
            let order = &flow.reordering;
            t.flows += 1;
            t.reordered_flows += u64::from(order.reordered > 0);
            t.packets += flow.data_packets;
            t.arrived += order.received;
            t.reordered += order.reordered;
            t.ambiguous += order.ambiguous;
            t.max_extent = t.max_extent.max(order.extents.max().unwrap_or(0));
            t.max_late_ns = t.max_late_ns.max(order.late_ns.max().unwrap_or(0));
            t.losses += flow.losses;
            t.refused += flow.refused;
            t.retransmissions += flow.retransmissions.total;
            t.spurious += flow.retransmissions.spurious;
            t.unclear += flow.retransmissions.ambiguous;
            t.recoveries += flow.recoveries.total;
            t.spurious_recoveries += flow.recoveries.spurious;
            t.dupthresh = t.dupthresh.max(flow.avoidance.dupthresh.unwrap_or(0));
            t.window_ns = t.window_ns.max(flow.avoidance.window_ns.unwrap_or(0));
            for of in &flow.recoveries.by_cause {
                t.by_cause[of.cause as usize] += of.recoveries;
            }
            t.duplicated += flow.artefacts.duplicated_frames;
            t.no_vantage += u64::from(flow.blind.vantage);
            t.sack_cut += u64::from(flow.blind.sack_options_cut);
            t.one_way += u64::from(flow.blind.one_way);
        }
        t
    }
}

/// Describes the result in one paragraph.
///
/// ```
/// let nothing = inorder_analysis::Analysis { frames: 3, ..Default::default() };
/// let text = inorder_analysis::verdict(&nothing);
/// assert_eq!(text, "No TCP flow with data among 3 frames.");
/// ```
pub fn verdict(analysis: &Analysis) -> String {
    let t = Totals::of(&analysis.flows);
    if t.flows == 0 {
        return nothing(analysis);
    }
    let mut text = vec![late(&t)];
    text.extend(retransmissions(&t));
    text.extend(losses(&t));
    text.extend(refused(&t));
    text.extend(avoidance(&t));
    text.extend(captured_twice(&t));
    text.extend(blind(&t));
    text.extend(unclear(&t));
    text.join(" ")
}

fn nothing(analysis: &Analysis) -> String {
    let frames = plural(analysis.frames, "frame");
    match analysis.streams.len() as u64 {
        0 => format!("No TCP flow with data among {frames}."),
        n => {
            let late = analysis
                .streams
                .iter()
                .filter(|s| s.order.reordered > 0)
                .count() as u64;
            let streams = plural(n, "numbered stream");
            let late = if late == 0 {
                "none".into()
            } else {
                count(late)
            };
            format!("No TCP flow with data among {frames}; {streams}, {late} with late packets.")
        }
    }
}

fn late(t: &Totals) -> String {
    if t.reordered == 0 {
        return match t.flows {
            1 => "The only flow had no late packets.".to_owned(),
            n => format!("None of {} flows had late packets.", count(n)),
        };
    }
    let who = match (t.reordered_flows, t.flows) {
        (1, 1) => "The only flow".to_owned(),
        (some, all) if some == all => format!("All {} flows", count(all)),
        (some, all) => format!("{} of {} flows", count(some), count(all)),
    };
    let share = t.reordered as f64 / t.arrived.max(1) as f64;
    // If no extent is known, then none of the events has one.
    let how_late = match t.max_extent {
        0 => "late".to_owned(),
        extent => format!(
            "late by up to {} (extent {})",
            time_u64(t.max_late_ns),
            count(extent)
        ),
    };
    format!(
        "{who} had packets {how_late}: {} of {}, {} %.",
        count(t.reordered),
        plural(t.arrived, "packet"),
        percent(share),
    )
}

fn retransmissions(t: &Totals) -> Option<String> {
    let spurious = match (t.spurious, t.retransmissions) {
        (_, 0) => return None,
        (0, 1) if t.unclear == 0 => "The only retransmission was needed".to_owned(),
        (0, n) if t.unclear == 0 => format!("All {} retransmissions were needed", count(n)),
        (0, n) => format!(
            "None of {} was provably spurious",
            plural(n, "retransmission")
        ),
        (1, 1) => "The only retransmission was spurious".to_owned(),
        (some, all) if some == all => format!("All {} retransmissions were spurious", count(all)),
        (some, all) => format!(
            "{} of {} {} spurious",
            count(some),
            plural(all, "retransmission"),
            if some == 1 { "was" } else { "were" }
        ),
    };
    Some(format!("{spurious}{}.", reductions(t)))
}

/// Every recovery reduces the congestion window. Says how many reductions were unnecessary, and why.
fn reductions(t: &Totals) -> String {
    let unnecessary = match (t.spurious_recoveries, t.recoveries) {
        (0, _) => return String::new(),
        (1, 1) => " and the only reduction of the congestion window was unnecessary".to_owned(),
        (some, all) if some == all => format!(
            " and all {} reductions of the congestion window were unnecessary",
            count(all)
        ),
        (some, all) => format!(
            " and {} of {} of the congestion window {} unnecessary",
            count(some),
            plural(all, "reduction"),
            if some == 1 { "was" } else { "were" }
        ),
    };
    let causes: Vec<String> = MISLEADING
        .iter()
        .filter_map(|&(cause, words)| match t.by_cause[cause as usize] {
            0 => None,
            n => Some(format!("{} by {words}", count(n))),
        })
        .collect();
    match causes.is_empty() {
        true => unnecessary,
        false => format!("{unnecessary} ({})", causes.join(", ")),
    }
}

/// The causes of unnecessary retransmissions, in words.
const MISLEADING: [(Cause, &str); 4] = [
    (Cause::Reordering, "late packets"),
    (Cause::AckReordering, "acknowledgements out of order"),
    (Cause::TailProbe, "probes of the end (tail loss probes)"),
    (Cause::DelayJump, "jumps of the delay"),
];

fn losses(t: &Totals) -> Option<String> {
    match (t.losses, t.reordered + t.retransmissions) {
        (0, 0) => None,
        (0, _) => Some("No packet was certainly lost.".to_owned()),
        (1, _) => Some("1 packet was lost.".to_owned()),
        (n, _) => Some(format!("{} packets were lost.", count(n))),
    }
}

fn refused(t: &Totals) -> Option<String> {
    let who = match t.refused {
        0 => return None,
        1 => "1 packet".to_owned(),
        n => format!("{} packets", count(n)),
    };
    Some(format!(
        "{who} arrived, but the receiver discarded data that was missing (timestamp too old, or outside \
         the window)."
    ))
}

/// Advice on thresholds; only given if late packets caused unnecessary recoveries.
fn avoidance(t: &Totals) -> Option<String> {
    if t.dupthresh == 0 {
        return None;
    }
    let wait = match t.window_ns {
        0 => String::new(),
        ns => format!(" or waiting {} before retransmitting", time(ns)),
    };
    Some(format!(
        "A duplicate-ACK threshold of {}{wait} would have been enough for 95 % of the packets that are certainly late.",
        count(u64::from(t.dupthresh))
    ))
}

fn captured_twice(t: &Totals) -> Option<String> {
    match t.duplicated {
        0 => None,
        1 => Some("1 frame was captured twice and counted once.".to_owned()),
        n => Some(format!(
            "{} frames were captured twice and counted once.",
            count(n)
        )),
    }
}

/// What the capture does not contain.
fn blind(t: &Totals) -> Option<String> {
    let reasons = [
        (t.no_vantage, "the vantage point is unknown"),
        (t.sack_cut, "the snap length cuts off SACK options"),
        (t.one_way, "the receiver's packets are missing"),
    ];
    let of = |(flows, why): &(u64, &str)| match flows {
        0 => None,
        n => Some(format!("{why} in {}", plural(*n, "flow"))),
    };
    let said: Vec<String> = reasons.iter().filter_map(of).collect();
    (!said.is_empty()).then(|| {
        format!(
            "The capture does not show everything: {}; conclusions that depend on it are marked unclear.",
            said.join(", ")
        )
    })
}

fn unclear(t: &Totals) -> Option<String> {
    match t.ambiguous {
        0 => None,
        1 => Some("1 more event is ambiguous.".to_owned()),
        n => Some(format!("{} more events are ambiguous.", count(n))),
    }
}
