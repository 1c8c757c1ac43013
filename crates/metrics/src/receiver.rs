//! What receivers that acknowledge cumulatively make of the order of their packets: duplicate ACKs, and retransmissions
//! by several definitions. Also the metrics of several streams together.

use inorder_report::{Digits, columns};

use crate::reordering::Reordering;
use crate::summary::{Config, Metrics};

/// Flows of a lane that may be open at the same time; beyond them the oldest is forgotten.
const MAX_FLOWS_OF_LANE: usize = 256;

/// Counts over all packets of all flows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Readings {
    /// Packets.
    pub packets: u64,
    /// Packets that do not advance the cumulative acknowledgement: a receiver answers each with a duplicate ACK.
    pub dupacks: u64,
    /// Third duplicate ACKs in a row: fast retransmissions of a sender without other mechanisms.
    pub fast_retransmits: u64,
    /// Duplicate ACKs from the third in a row on.
    pub dupacks_from_third: u64,
    /// Packets that at least three later ones of their flow overtook.
    pub late_by_three: u64,
    /// Packets that at least one later one of their flow overtook (RFC 4737 section 3.3).
    pub reordered: u64,
}

impl Readings {
    /// A count as a share of the packets, percent.
    pub fn percent(&self, count: u64) -> f64 {
        if self.packets == 0 {
            0.0
        } else {
            100.0 * count as f64 / self.packets as f64
        }
    }
}

/// A flow at a receiver that acknowledges cumulatively.
#[derive(Debug, Clone, Default)]
struct Flow {
    flow: u32,
    /// Next packet expected in order.
    next: u32,
    /// Packets beyond it that have arrived, ascending.
    beyond: Vec<u32>,
    /// Duplicate ACKs since `next` last moved.
    row: u32,
}

impl Flow {
    fn receive(&mut self, seq: u32, readings: &mut Readings) {
        readings.packets += 1;
        let later = self.beyond.len() - self.beyond.partition_point(|&s| s < seq);
        readings.reordered += u64::from(later > 0);
        readings.late_by_three += u64::from(later >= 3);
        if seq == self.next {
            self.advance();
            return;
        }
        self.beyond.insert(self.beyond.len() - later, seq);
        self.row += 1;
        readings.dupacks += 1;
        readings.fast_retransmits += u64::from(self.row == 3);
        readings.dupacks_from_third += u64::from(self.row >= 3);
    }

    fn advance(&mut self) {
        self.row = 0;
        self.next += 1;
        let mut filled = 0;
        while self.beyond.get(filled) == Some(&self.next) {
            self.next += 1;
            filled += 1;
        }
        self.beyond.drain(..filled);
    }
}

/// The receivers of all flows at one point.
#[derive(Debug, Clone)]
pub struct Receivers {
    /// For each lane, the flows that may still receive packets; rarely more than two.
    lanes: Vec<Vec<Flow>>,
    flow_packets: u32,
    readings: Readings,
}

impl Receivers {
    /// Receivers for `lanes` lanes; a flow ends after `flow_packets` packets.
    pub fn new(lanes: u32, flow_packets: Option<u32>) -> Self {
        Self {
            lanes: vec![Vec::new(); lanes as usize],
            flow_packets: flow_packets.unwrap_or(u32::MAX),
            readings: Readings::default(),
        }
    }

    /// Counts packet `seq`, from 0, of a flow in a lane.
    pub fn receive(&mut self, lane: usize, flow: u32, seq: u32) {
        let Some(flows) = self.lanes.get_mut(lane) else {
            return;
        };
        let at = flows
            .iter()
            .position(|known| known.flow == flow)
            .unwrap_or_else(|| {
                if flows.len() >= MAX_FLOWS_OF_LANE {
                    flows.remove(0);
                }
                flows.push(Flow {
                    flow,
                    ..Flow::default()
                });
                flows.len() - 1
            });
        flows[at].receive(seq, &mut self.readings);
        if flows[at].next >= self.flow_packets {
            flows.swap_remove(at);
        }
    }

    /// The counts so far.
    pub fn readings(&self) -> &Readings {
        &self.readings
    }
}

columns! {
    /// The counts of all definitions of "reordering" and "retransmission", in percent of the packets.
    pub RECEIVED: Readings, |r|
    "reordered (RFC 4737)": Number(Digits::Short), "Packets that a later one overtook." => r.percent(r.reordered), unit("%");
    "duplicate ACKs": Number(Digits::Short), "Packets that do not advance the cumulative ACK."
        => r.percent(r.dupacks), unit("%");
    "fast retransmits": Number(Digits::Short), "Third duplicate ACKs in a row."
        => r.percent(r.fast_retransmits), unit("%");
    "duplicate ACKs from the third": Number(Digits::Short), "Duplicate ACKs from the third in a row on."
        => r.percent(r.dupacks_from_third), unit("%");
    "late by three": Number(Digits::Short), "Packets that at least three later ones overtook."
        => r.percent(r.late_by_three), unit("%");
}

/// RFC 4737 and RFC 5236 for lanes: the flows of a lane are one numbered stream, one after the other.
#[derive(Debug)]
pub struct Lanes {
    metrics: Vec<Metrics>,
}

impl Lanes {
    /// Streams of `lanes` lanes, with thresholds of 200.
    pub fn new(lanes: u32) -> Self {
        let thresholds = Config {
            start: Some(0),
            ..Config::default()
        };
        Self {
            metrics: (0..lanes).map(|_| Metrics::new(thresholds)).collect(),
        }
    }

    /// Counts packet `number`, from 0, of a lane, `time_ns` after the start.
    pub fn receive(&mut self, lane: usize, number: u64, time_ns: i64, bytes: u32) {
        if let Some(metrics) = self.metrics.get_mut(lane) {
            metrics.update(number, time_ns, bytes);
        }
    }

    /// The metrics of all lanes together.
    pub fn finish(self) -> Reordering {
        let mut all = Reordering::default();
        for metrics in self.metrics {
            all.merge(&metrics.finish().order);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(seqs: &[u32]) -> Readings {
        let mut receivers = Receivers::new(1, None);
        for &seq in seqs {
            receivers.receive(0, 0, seq);
        }
        receivers.readings().clone()
    }

    #[test]
    fn packets_in_order_cause_no_counts() {
        assert_eq!(
            readings(&[0, 1, 2, 3]),
            Readings {
                packets: 4,
                ..Readings::default()
            }
        );
    }

    #[test]
    fn one_packet_late_by_four() {
        let seen = readings(&[1, 2, 3, 4, 0, 5]);
        assert_eq!(
            (seen.dupacks, seen.fast_retransmits, seen.dupacks_from_third),
            (4, 1, 2)
        );
        assert_eq!((seen.reordered, seen.late_by_three), (1, 1));
    }

    #[test]
    fn late_inside_a_hole() {
        // 4 and 5 arrive before 3, but 2 is missing all the time: 3 is late by two, 2 by three.
        let seen = readings(&[0, 1, 4, 5, 3, 2]);
        assert_eq!((seen.dupacks, seen.fast_retransmits), (3, 1));
        assert_eq!((seen.reordered, seen.late_by_three), (2, 1));
    }

    #[test]
    fn flows_of_a_lane_are_separate() {
        let mut receivers = Receivers::new(1, Some(2));
        for (flow, seq) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            receivers.receive(0, flow, seq);
        }
        assert_eq!(receivers.readings().dupacks, 0);
        assert!(receivers.lanes[0].is_empty());
    }
}
