//! A run's result, in the schema of the simulator, from the captures of both ends and the guest's report.

mod flows;
#[cfg(test)]
mod tests;

use std::path::Path;

use inorder_capture::{Block, Capture, CaptureError};
use inorder_scenario::Config;
use inorder_scenario::config::Direction;
use inorder_sim::{LineResult, MEASURES, RunResult, Sample, values};
use inorder_tcp::CaState;
use inorder_wire::{Packet, parse};

use crate::plan::{Device, FIRST_PORT, Plan, SERVICE};
use crate::report::{CAPTURES, Report, StageReport, TcpState};
use flows::{Observed, Place};

/// Measures that a kernel without changes does not tell.
const UNKNOWN: &[&str] = &["refused"];
/// Measures that are not known behind a card: captures are made in front of it, where packets are still segments.
const BEHIND_CARD: &[&str] = &["reordered_at_stack"];

/// The result of a run whose captures are in this folder.
///
/// # Errors
/// If a capture cannot be read.
pub fn result(
    folder: &Path,
    config: &Config,
    plan: &Plan,
    report: &Report,
    seed: u64,
) -> Result<RunResult, CaptureError> {
    let mut flows: Vec<Observed> = plan
        .flows
        .iter()
        .map(|flow| Observed::new(flow, plan, config.output.metrics))
        .collect();
    let from_a: Vec<bool> = plan
        .flows
        .iter()
        .map(|flow| is_forward(config, flow.group))
        .collect();
    // The side of the senders comes first: what arrives is looked up in what was sent.
    for (place, sides) in [
        (Place::Sender, [true, false]),
        (Place::Receiver, [false, true]),
    ] {
        for (side, name) in CAPTURES.iter().enumerate() {
            read(
                &folder.join(name),
                report.begin_ns,
                |port, from_sender, segment| {
                    let number = usize::from(port - FIRST_PORT);
                    // Side 0 is that of A.
                    let is_here = from_a
                        .get(number)
                        .is_some_and(|from_a| sides[side] == *from_a);
                    if let Some(flow) = flows.get_mut(number).filter(|_| is_here) {
                        flow.see(place, from_sender, segment);
                    }
                },
            )?;
        }
    }
    let mut results = Vec::new();
    for (number, (observed, connection)) in flows.into_iter().zip(&plan.flows).enumerate() {
        let flow = config.flows.get(connection.group);
        let of_report = report.flows.get(number).cloned().unwrap_or_default();
        results.extend(flow.map(|flow| observed.finish(flow, connection, plan, &of_report)));
    }
    count_hosts(&mut results, plan, report);
    Ok(RunResult {
        limits: Vec::new(),
        seed,
        duration_ns: plan.duration_ns,
        flows: results,
        probes: Vec::new(),
        lines: lines(report),
        samples: report.samples.iter().map(sample).collect(),
        events: 0,
    })
}

/// The measures of a run: those of the simulator, less what real Linux does not tell.
pub fn measured(run: &RunResult, plan: &Plan) -> Vec<Option<f64>> {
    let has_card = |side: usize| {
        let captured = |device: &&Device| device.captured == Some(side);
        let mut hosts = plan.devices.iter().filter(captured);
        hosts.any(|host| {
            plan.cards
                .iter()
                .any(|card| card.namespace == host.namespace)
        })
    };
    let behind: &[&str] = if has_card(0) || has_card(1) {
        BEHIND_CARD
    } else {
        &[]
    };
    let known = |(measure, value): (&inorder_sim::Measure, Option<f64>)| {
        let name = &measure.field.name;
        value.filter(|_| !UNKNOWN.contains(name) && !behind.contains(name))
    };
    MEASURES.iter().zip(values(run)).map(known).collect()
}

fn is_forward(config: &Config, group: usize) -> bool {
    config
        .flows
        .get(group)
        .is_none_or(|flow| flow.direction == Direction::Forward)
}

/// Calls `see` for each segment of our flows: the flow's port, whether the flow's sender sent it, and the segment with
/// its time since the run began.
fn read(
    path: &Path,
    begin_ns: i64,
    mut see: impl FnMut(u16, bool, &inorder_wire::Segment),
) -> Result<(), CaptureError> {
    let mut capture = Capture::open(path)?;
    let mut block = Block::default();
    while capture.read_block(&mut block)? {
        for frame in block.frames() {
            let Packet::Tcp(key, direction, mut segment) = parse(&frame) else {
                continue;
            };
            segment.ts_ns -= begin_ns;
            let (from, to) = key.ends(direction);
            let (from, to) = (from.socket_addr().port(), to.socket_addr().port());
            if to == SERVICE && from >= FIRST_PORT {
                see(from, true, &segment);
            } else if from == SERVICE && to >= FIRST_PORT {
                see(to, false, &segment);
            }
        }
    }
    Ok(())
}

/// Adds what the kernel counts for all connections of a host to the first flow of each of its groups: the measures are
/// sums over all flows.
fn count_hosts(flows: &mut [inorder_sim::FlowResult], plan: &Plan, report: &Report) {
    for (number, group) in plan.groups.iter().enumerate() {
        let Some(first) = flows.iter_mut().find(|flow| flow.group == number) else {
            continue;
        };
        let hosts = [&group.sender, &group.receiver];
        let sum = |names: &[&str]| -> u64 {
            let counters = hosts.iter().filter_map(|host| report.counters.get(*host));
            counters
                .flat_map(|of| names.iter().filter_map(|name| of.get(*name)))
                .sum()
        };
        let counts = &mut first.counts;
        counts.recoveries = sum(&["TcpExtTCPSackRecovery", "TcpExtTCPRenoRecovery"]);
        counts.undone = sum(&[
            "TcpExtTCPFullUndo",
            "TcpExtTCPPartialUndo",
            "TcpExtTCPDSACKUndo",
        ]);
        counts.timeouts = sum(&["TcpExtTCPTimeouts"]);
        counts.loss_probes = sum(&["TcpExtTCPLossProbes"]);
    }
}

/// The lines of the simulator with what the queueing disciplines dropped and marked.
fn lines(report: &Report) -> Vec<LineResult> {
    let line = |stage: &StageReport| LineResult {
        name: format!("{} {}", stage.namespace, stage.device),
        stages: vec![inorder_path::Counters::of_queue(stage.drops, stage.marks)],
        account: None,
    };
    report.stages.iter().map(line).collect()
}

fn sample(state: &TcpState) -> Sample {
    Sample {
        time_ns: state.time_ns,
        flow: state.flow,
        cwnd: state.cwnd,
        ssthresh: if state.ssthresh >= i32::MAX.unsigned_abs() {
            u32::MAX
        } else {
            state.ssthresh
        },
        dupthresh: state.reordering,
        pipe: state.pipe,
        srtt_ns: i64::from(state.srtt_us) * 1000,
        state: match state.state {
            1 => CaState::Disorder,
            2 => CaState::Cwr,
            3 => CaState::Recovery,
            4 => CaState::Loss,
            _ => CaState::Open,
        },
        delivered_bytes: state.acked,
        arrived_bytes: state.acked,
        retransmissions: state.retransmissions.into(),
        ..Sample::default()
    }
}
