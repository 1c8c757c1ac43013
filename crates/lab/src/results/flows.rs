//! One flow as its two captures show it. The capture at the sender is read first.

use std::collections::{BTreeMap, HashMap, VecDeque};

use inorder_base::sequence::Offsets;
use inorder_scenario::config as plain;
use inorder_sim::{Counts, FlowResult, Order, Ranges};
use inorder_wire::{Segment, TcpFlags};

use crate::plan::{Connection, Plan};
use crate::report::FlowReport;

/// Displacement threshold (RFC 5236 section 3.4), packets: that of the simulator's flows.
const THRESHOLD: u16 = 200;

/// At which end a segment was captured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// At the sender of the flow's data.
    Sender,
    /// At its receiver.
    Receiver,
}

/// A transmission of data.
#[derive(Debug)]
struct Sent {
    at_ns: i64,
    start: u64,
    end: u64,
    /// Number among the originals, from 1; none for a retransmission.
    original: Option<u32>,
    arrived: bool,
}

/// What is the same in all captures of a transmission: sequence number, length, IPv4 identification.
type Label = (u32, u32, u16);

/// A flow under observation.
#[derive(Debug)]
pub(super) struct Observed {
    warm_up_ns: i64,
    duration_ns: i64,
    size: Option<u64>,
    counts: Counts,
    /// Places in the stream of sequence numbers and of acknowledgements, known from the SYN on.
    places: Option<[Offsets; 2]>,
    sent: Vec<Sent>,
    by_label: HashMap<Label, VecDeque<usize>>,
    top: u64,
    originals: u32,
    /// Data not acknowledged: by its end, when it was sent, and whether more than once.
    outstanding: BTreeMap<u64, (i64, bool)>,
    acked: u64,
    order: Order,
    delivered: Ranges,
    completed_ns: Option<i64>,
    /// Originals, late originals and bytes delivered before the end of the warm-up.
    before: Option<[u64; 3]>,
}

impl Observed {
    /// A flow of which nothing has been seen.
    pub(super) fn new(connection: &Connection, plan: &Plan, metrics: bool) -> Self {
        Observed {
            warm_up_ns: plan.warm_up_ns,
            duration_ns: plan.duration_ns,
            size: connection.size,
            counts: Counts::default(),
            places: None,
            sent: Vec::new(),
            by_label: HashMap::new(),
            top: 0,
            originals: 0,
            outstanding: BTreeMap::new(),
            acked: 0,
            order: Order::new(metrics.then_some(THRESHOLD)),
            delivered: Ranges::default(),
            completed_ns: None,
            before: None,
        }
    }

    /// A segment was captured.
    pub(super) fn see(&mut self, place: Place, from_sender: bool, segment: &Segment) {
        if segment.ts_ns > self.duration_ns {
            return;
        }
        let counted = u64::from(segment.ts_ns >= self.warm_up_ns);
        match (place, from_sender) {
            (Place::Sender, true) => self.sends(segment, counted),
            (Place::Sender, false) => self.is_answered(segment, counted),
            (Place::Receiver, true) => self.arrives(segment),
            (Place::Receiver, false) => self.counts.acks += counted,
        }
    }

    /// The place in the stream of a sequence number (0) or of an acknowledgement (1).
    fn place(&mut self, of: usize, number: u32) -> Option<u64> {
        let places = self.places.as_mut()?.get_mut(of)?;
        let offset = places.offset(number);
        places.advance(offset);
        u64::try_from(offset).ok()
    }

    fn sends(&mut self, segment: &Segment, counted: u64) {
        self.counts.segments += counted;
        if segment.flags.any(TcpFlags::SYN) {
            self.places = Some([Offsets::new(segment.seq.wrapping_add(1)); 2]);
        }
        if segment.payload_len == 0 {
            return;
        }
        let Some(start) = self.place(0, segment.seq) else {
            return;
        };
        let end = start + u64::from(segment.payload_len);
        let is_new = start >= self.top;
        let original = is_new.then(|| {
            self.originals += 1;
            self.originals
        });
        if is_new {
            self.outstanding.insert(end, (segment.ts_ns, false));
        } else {
            self.counts.retransmissions += counted;
            // Everything that ends within the repeated bytes or just behind them can no longer tell a round trip.
            for (_, (_, again)) in self.outstanding.range_mut(start + 1..=end) {
                *again = true;
            }
        }
        self.top = self.top.max(end);
        let label = (segment.seq, segment.payload_len, segment.ip_id);
        self.by_label
            .entry(label)
            .or_default()
            .push_back(self.sent.len());
        self.sent.push(Sent {
            at_ns: segment.ts_ns,
            start,
            end,
            original,
            arrived: false,
        });
    }

    fn is_answered(&mut self, segment: &Segment, counted: u64) {
        self.counts.acks_in += counted;
        if segment.flags.any(TcpFlags::SYN | TcpFlags::RST) {
            return;
        }
        let Some(ack) = self.place(1, segment.ack) else {
            return;
        };
        self.counts.sack_blocks += counted * segment.sack_blocks().len() as u64;
        let is_pure = segment.payload_len == 0 && !segment.flags.any(TcpFlags::FIN);
        if ack == self.acked && is_pure && self.top > self.acked {
            self.counts.duplicate_acks += counted;
        }
        if ack > self.acked {
            self.acked = ack;
            let rest = self.outstanding.split_off(&(ack + 1));
            let newly = std::mem::replace(&mut self.outstanding, rest);
            let mut newly = newly.values().rev();
            if let Some((sent_ns, _)) = newly.find(|(_, again)| !again) {
                self.counts.rtts += counted;
                self.counts.rtt_ns += counted * (segment.ts_ns - sent_ns).unsigned_abs();
            }
        }
    }

    fn arrives(&mut self, segment: &Segment) {
        if segment.payload_len == 0 {
            return;
        }
        if segment.ts_ns >= self.warm_up_ns && self.before.is_none() {
            self.before = Some(self.so_far());
        }
        let label = (segment.seq, segment.payload_len, segment.ip_id);
        let number = self.by_label.get_mut(&label).and_then(VecDeque::pop_front);
        // A second copy that the path made has no transmission of its own.
        let Some(sent) = number.and_then(|number| self.sent.get_mut(number)) else {
            return;
        };
        sent.arrived = true;
        self.delivered.add(sent.start, sent.end);
        if let Some(original) = sent.original {
            self.order
                .update(original, segment.ts_ns, segment.payload_len);
            if segment.ts_ns >= self.warm_up_ns {
                self.counts.delay_ns += (segment.ts_ns - sent.at_ns).unsigned_abs();
            }
        }
        if self.completed_ns.is_none()
            && self.size.is_some_and(|size| self.delivered.below() >= size)
        {
            self.completed_ns = Some(segment.ts_ns);
        }
    }

    fn so_far(&self) -> [u64; 3] {
        [
            self.order.received(),
            self.order.reordered(),
            self.delivered.below(),
        ]
    }

    /// Retransmissions of bytes of which earlier transmissions arrived, at any time.
    fn spurious(&self) -> u64 {
        let mut arrived = Ranges::default();
        let mut count = 0;
        for sent in &self.sent {
            let is_again = sent.original.is_none() && sent.at_ns >= self.warm_up_ns;
            count += u64::from(is_again && arrived.holds(sent.start, sent.end));
            if sent.arrived {
                arrived.add(sent.start, sent.end);
            }
        }
        count
    }

    /// The flow's result.
    pub(super) fn finish(
        self,
        flow: &plain::Flow,
        connection: &Connection,
        plan: &Plan,
        report: &FlowReport,
    ) -> FlowResult {
        let now = self.so_far();
        let before = self.before.unwrap_or(now);
        let [received, reordered, delivered] =
            [0, 1, 2].map(|at| now[at].saturating_sub(before[at]));
        let counts = Counts {
            delivered_bytes: delivered,
            spurious: self.spurious(),
            at_card: received,
            reordered_at_card: reordered,
            at_stack: received,
            reordered_at_stack: reordered,
            responses: report.responses,
            response_ns: report.response_ns,
            ..self.counts
        };
        let from_ns = connection.start_ns.max(plan.warm_up_ns);
        let until_ns = self.completed_ns.unwrap_or(plan.duration_ns);
        FlowResult {
            name: flow.name.clone(),
            group: connection.group,
            number: connection.number,
            congestion: name_of(flow.sender.congestion.as_deref(), "cubic"),
            loss_detection: name_of(flow.sender.loss_detection.as_deref(), "linux"),
            start_ns: connection.start_ns,
            size_bytes: connection.size,
            measured_ns: until_ns.saturating_sub(from_ns),
            counts,
            completion_ns: self.completed_ns.map(|at_ns| at_ns - connection.start_ns),
            // The simulator's errors are those of its own TCP; Linux does not distinguish them.
            error: report.error.as_ref().map(|_| inorder_tcp::Error::TimedOut),
            metrics_at_card: None,
            metrics_at_stack: self.order.finish(),
            events: Vec::new(),
        }
    }
}

/// The registered name of an algorithm, which lives as long as the program.
fn name_of(given: Option<&str>, default: &'static str) -> &'static str {
    let given = given.unwrap_or(default);
    let control = inorder_tcp::congestion::find(given).map(|entry| entry.name);
    let detection = inorder_tcp::loss::find(given).map(|entry| entry.name);
    control.or(detection).unwrap_or(default)
}
