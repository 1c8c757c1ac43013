//! A flow as two captures show it, segment by segment.

use inorder_sim::FlowResult;
use inorder_wire::{Segment, TcpFlags};

use super::flows::{Observed, Place};
use crate::plan::{Connection, Plan};
use crate::report::FlowReport;

const MS: i64 = 1_000_000;
/// The sequence numbers wrap within the test.
const FIRST: u32 = u32::MAX - 1500;

struct Trace {
    plan: Plan,
    flow: Observed,
}

/// A plan and a flow of this size.
fn trace(size: Option<u64>) -> Trace {
    let text = "[run]\nduration = \"1 s\"\n[[flow]]\n";
    let scenario =
        inorder_scenario::Scenario::load(text, "t.toml", &inorder_sim::registries()).unwrap();
    let cells = scenario.cells().unwrap();
    let mut plan =
        crate::plan::plan(&scenario, 0, &cells[0], 1, crate::plan::Ways::Disciplines).unwrap();
    plan.flows[0].size = size;
    let mut trace = Trace {
        flow: Observed::new(&plan.flows[0], &plan, false),
        plan,
    };
    let syn = Segment {
        seq: FIRST.wrapping_sub(1),
        flags: TcpFlags(TcpFlags::SYN),
        ..Segment::default()
    };
    trace.flow.see(Place::Sender, true, &syn);
    trace
}

/// Bytes `start..start + 1000`, sent or arriving; `id` is that of IP.
fn data(ms: i64, start: u32, id: u16) -> Segment {
    Segment {
        ts_ns: ms * MS,
        seq: FIRST.wrapping_add(start),
        payload_len: 1000,
        ip_id: id,
        flags: TcpFlags(TcpFlags::ACK),
        ..Segment::default()
    }
}

fn ack(ms: i64, up_to: u32) -> Segment {
    Segment {
        ts_ns: ms * MS,
        ack: FIRST.wrapping_add(up_to),
        flags: TcpFlags(TcpFlags::ACK),
        ..Segment::default()
    }
}

impl Trace {
    fn sent(&mut self, segments: &[Segment]) {
        for segment in segments {
            self.flow.see(Place::Sender, true, segment);
        }
    }

    fn acked(&mut self, segments: &[Segment]) {
        for segment in segments {
            self.flow.see(Place::Sender, false, segment);
        }
    }

    fn arrived(&mut self, segments: &[Segment]) {
        for segment in segments {
            self.flow.see(Place::Receiver, true, segment);
        }
    }

    fn finish(self) -> FlowResult {
        let flow =
            inorder_scenario::Scenario::load("[[flow]]\n", "t.toml", &inorder_sim::registries())
                .unwrap();
        let flow = flow.cells().unwrap().remove(0).config.flows.remove(0);
        let connection: &Connection = &self.plan.flows[0];
        self.flow
            .finish(&flow, connection, &self.plan, &FlowReport::default())
    }
}

#[test]
fn late_and_spurious_and_needed() {
    let mut trace = trace(Some(4000));
    // The second segment is late and sent again for nothing; the third is lost and sent again.
    trace.sent(&[
        data(0, 0, 1),
        data(0, 1000, 2),
        data(0, 2000, 3),
        data(0, 3000, 4),
    ]);
    trace.acked(&[ack(10, 1000), ack(12, 1000)]);
    trace.sent(&[data(13, 1000, 5), data(13, 2000, 6)]);
    trace.arrived(&[
        data(5, 0, 1),
        data(6, 3000, 4),
        data(14, 1000, 2),
        data(18, 1000, 5),
        data(18, 2000, 6),
    ]);
    let result = trace.finish();
    assert_eq!(result.counts.retransmissions, 2);
    assert_eq!(result.counts.spurious, 1);
    assert_eq!(result.counts.duplicate_acks, 1);
    assert_eq!(
        (result.counts.at_card, result.counts.reordered_at_card),
        (3, 1)
    );
    assert_eq!(result.counts.delivered_bytes, 4000);
    assert_eq!(result.completion_ns, Some(18 * MS));
    assert_eq!(result.measured_ns, 18 * MS);
    // One acknowledgement of new data, of a segment sent once.
    assert_eq!(
        (result.counts.rtts, result.counts.rtt_ns),
        (1, 10 * 1_000_000)
    );
}

#[test]
fn only_what_is_delivered_in_order_counts() {
    let mut trace = trace(None);
    trace.sent(&[data(0, 0, 1), data(0, 1000, 2), data(0, 2000, 3)]);
    trace.arrived(&[data(5, 0, 1), data(5, 2000, 3)]);
    let result = trace.finish();
    assert_eq!(result.counts.delivered_bytes, 1000);
    assert_eq!(result.measured_ns, 1_000 * MS);
    assert_eq!(result.completion_ns, None);
}

#[test]
fn a_copy_that_the_path_made_is_no_arrival_of_its_own() {
    let mut trace = trace(None);
    trace.sent(&[data(0, 0, 1), data(0, 1000, 2)]);
    trace.arrived(&[data(5, 1000, 2), data(6, 1000, 2), data(7, 0, 1)]);
    let result = trace.finish();
    assert_eq!(
        (result.counts.at_card, result.counts.reordered_at_card),
        (2, 1)
    );
}
