//! What a run gives: plain data.

use inorder_metrics::Summary;
use inorder_path::Counters as StageCounters;
use inorder_path::nic::Account;

use crate::flow::Flow;
use crate::observer::SenderEvent;
use crate::samples::Sample;

macro_rules! counts {
    ($($(#[doc = $about:literal])* $name:ident: $get:expr;)*) => {
        /// Counters of a flow. Those of the sender's TCP are told of since the end of the warm-up.
        #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
        pub struct Counts {
            $($(#[doc = $about])* pub $name: u64,)*
        }

        impl Counts {
            /// Everything counted since the start.
            pub(crate) fn of(flow: &Flow) -> Self {
                $(let $name = { let get: fn(&Flow) -> u64 = $get; get(flow) };)*
                Counts { $($name),* }
            }

            /// What was counted after `earlier`.
            #[must_use]
            pub(crate) fn since(&self, earlier: &Counts) -> Self {
                Counts { $($name: self.$name.saturating_sub(earlier.$name)),* }
            }
        }
    };
}

fn sender(flow: &Flow) -> &inorder_tcp::Counters {
    flow.sides[0].endpoint.counters()
}

fn receiver(flow: &Flow) -> &inorder_tcp::Counters {
    flow.sides[1].endpoint.counters()
}

counts! {
    /// Bytes of payload delivered in order.
    delivered_bytes: |f| receiver(f).bytes_received;
    /// Segments sent, retransmissions and those without data included.
    segments: |f| sender(f).out_segs;
    /// Segments sent again (PktsRetrans).
    retransmissions: |f| sender(f).retrans_segs;
    /// Of those, in fast recovery.
    fast_retransmissions: |f| sender(f).tcp_fast_retrans;
    /// Of those, needless: earlier transmissions of all their bytes arrived. Known to the
    /// simulator, not to TCP.
    spurious: |f| f.notes.spurious.count();
    /// Duplicate acknowledgements that came in (DupAcksIn).
    duplicate_acks: |f| sender(f).dup_acks_in;
    /// SACK blocks that came in (SackBlocksRcvd).
    sack_blocks: |f| sender(f).sack_blocks_rcvd;
    /// Fast recoveries.
    recoveries: |f| sender(f).fast_recoveries;
    /// Fast recoveries taken back.
    undone: |f| sender(f).undone_recoveries;
    /// Expiries of the retransmission timer.
    timeouts: |f| sender(f).tcp_timeouts;
    /// Tail loss probes.
    loss_probes: |f| sender(f).tcp_loss_probes;
    /// Acknowledgements the receiver sent.
    acks: |f| receiver(f).acks_out;
    /// Segments that arrived out of order at the receiver's TCP.
    out_of_order: |f| receiver(f).out_of_order_segs_in;
    /// Segments that brought nothing new.
    duplicates: |f| receiver(f).duplicate_segs_in;
    /// Originals that reached the receiver's card.
    at_card: |f| f.notes.before.received();
    /// Of those, late (RFC 4737).
    reordered_at_card: |f| f.notes.before.reordered();
    /// Originals that reached the receiver's TCP, merged ones once.
    at_stack: |f| f.notes.after.received();
    /// Of those, late (RFC 4737).
    reordered_at_stack: |f| f.notes.after.reordered();
    /// Sum of the one-way delays of the originals at the receiver's TCP, nanoseconds.
    delay_ns: |f| f.notes.delay_sum_ns.cast_unsigned();
    /// Round-trip times the sender measured.
    rtts: |f| f.log.with(|log| log.rtts);
    /// Their sum, nanoseconds.
    rtt_ns: |f| f.log.with(|log| log.rtt_sum_ns.cast_unsigned());
    /// Responses that arrived, of an interactive flow.
    responses: |f| f.application.responses().0;
    /// Sum of the times from request to response, nanoseconds.
    response_ns: |f| f.application.responses().1.cast_unsigned();
    /// Segments that came in at the sender: acknowledgements, unless data goes both ways.
    acks_in: |f| sender(f).in_segs;
    /// Packets of data the sender's stack handed to its card, if the card cuts large ones into segments (TSO).
    frames_out: |f| f.notes.work.frames();
    /// Segments from each acknowledgement with SACK blocks to the end of its highest block, summed: the places of
    /// the retransmission queue that taking it in may look at.
    sack_span: |f| f.notes.work.sack_span();
    /// Packets of the flow that arrived damaged.
    damaged: |f| f.notes.damaged;
}

/// A flow's results.
#[derive(Clone, Debug)]
pub struct FlowResult {
    /// Name of its `[[flow]]`.
    pub name: String,
    /// Position of its `[[flow]]`.
    pub group: usize,
    /// Number among those.
    pub number: u32,
    /// Congestion control.
    pub congestion: &'static str,
    /// Loss detection.
    pub loss_detection: &'static str,
    /// It opened, nanoseconds.
    pub start_ns: i64,
    /// Length of the time measured, nanoseconds: from the end of the warm-up or its opening to the
    /// end of the run or its completion.
    pub measured_ns: i64,
    /// Counters over that time.
    pub counts: Counts,
    /// All its data had arrived, nanoseconds after its opening.
    pub completion_ns: Option<i64>,
    /// Why the connection broke, if it did.
    pub error: Option<inorder_tcp::Error>,
    /// All metrics before the receiver's card, if asked for; warm-up included.
    pub metrics_at_card: Option<Box<Summary>>,
    /// All metrics as TCP saw the packets.
    pub metrics_at_stack: Option<Box<Summary>>,
    /// Events of the sender, if asked for.
    pub events: Vec<SenderEvent>,
}

/// A stream of probes' results.
#[derive(Clone, Debug)]
pub struct ProbeResult {
    /// Its name.
    pub name: String,
    /// Packets sent.
    pub sent: u64,
    /// Packets that arrived.
    pub received: u64,
    /// Sum of their delays, nanoseconds.
    pub delay_ns: i64,
    /// All metrics of their order at the receiver's card.
    pub metrics: Option<Box<Summary>>,
}

/// What a path did.
#[derive(Clone, Debug)]
pub struct LineResult {
    /// `forward`, `receiver card`, `reverse`, `sender card`.
    pub name: String,
    /// Counters of its stages, warm-up included.
    pub stages: Vec<StageCounters>,
    /// Of a card, what it did since the end of the warm-up.
    pub account: Option<Account>,
}

/// All a run gives.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// Seed of the run.
    pub seed: u64,
    /// Simulated time, nanoseconds.
    pub duration_ns: i64,
    /// Flows, by `[[flow]]` and number.
    pub flows: Vec<FlowResult>,
    /// Probes.
    pub probes: Vec<ProbeResult>,
    /// Paths and cards.
    pub lines: Vec<LineResult>,
    /// Samples, by time.
    pub samples: Vec<Sample>,
    /// Events the simulator went through.
    pub events: u64,
}
