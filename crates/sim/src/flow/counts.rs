//! The counters of a flow.

use super::Flow;

macro_rules! counts {
    ($($(#[doc = $about:literal])* $name:ident: $get:expr;)*) => {
        /// Counters of a flow. Those of the sender's TCP count from the end of the warm-up.
        #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
        pub struct Counts {
            $($(#[doc = $about])* pub $name: u64,)*
        }

        impl Counts {
            /// The counters since the start.
            pub(crate) fn of(flow: &Flow) -> Self {
                $(let $name = { let get: fn(&Flow) -> u64 = $get; get(flow) };)*
                Counts { $($name),* }
            }

            /// The differences from `earlier`.
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
    delivered_bytes: |f| receiver(f).received.bytes_received;
    /// Segments sent, including retransmissions and segments without data.
    segments: |f| sender(f).sent.out_segs;
    /// Segments retransmitted (PktsRetrans).
    retransmissions: |f| sender(f).sent.retrans_segs;
    /// Of those, in fast recovery.
    fast_retransmissions: |f| sender(f).sent.tcp_fast_retrans;
    /// Of those, spurious: earlier transmissions of all their bytes arrived and were not refused. The simulator knows
    /// this, TCP does not.
    spurious: |f| f.notes.spurious.count();
    /// Duplicate acknowledgements received (DupAcksIn).
    duplicate_acks: |f| sender(f).acks.dup_acks_in;
    /// SACK blocks received (SackBlocksRcvd).
    sack_blocks: |f| sender(f).acks.sack_blocks_rcvd;
    /// Fast recoveries.
    recoveries: |f| sender(f).recoveries.fast_recoveries;
    /// Fast recoveries undone by the sender.
    undone: |f| sender(f).undos.undone_recoveries;
    /// Expiries of the retransmission timer.
    timeouts: |f| sender(f).recoveries.tcp_timeouts;
    /// Tail loss probes.
    loss_probes: |f| sender(f).recoveries.tcp_loss_probes;
    /// Acknowledgements sent by the receiver.
    acks: |f| receiver(f).acks.acks_out;
    /// Segments that arrived out of order at the receiver's TCP.
    out_of_order: |f| receiver(f).received.out_of_order_segs_in;
    /// Segments without new data at the receiver's TCP.
    duplicates: |f| receiver(f).received.duplicate_segs_in;
    /// Segments with data that arrived and that the receiver's TCP discarded although the bytes were missing.
    refused: |f| receiver(f).received.refused_segs_in;
    /// Originals that reached the receiver's card.
    at_card: |f| f.notes.before.received();
    /// Of those, late (RFC 4737 section 3.3).
    reordered_at_card: |f| f.notes.before.reordered();
    /// Originals that reached the receiver's TCP; merged segments count once.
    at_stack: |f| f.notes.after.received();
    /// Of those, late (RFC 4737 section 3.3).
    reordered_at_stack: |f| f.notes.after.reordered();
    /// Sum of the one-way delays of the originals at the receiver's TCP, nanoseconds.
    delay_ns: |f| f.notes.delay_sum_ns.cast_unsigned();
    /// Number of round-trip times measured by the sender.
    rtts: |f| sender(f).acks.count_rtt;
    /// Sum of these times, nanoseconds.
    rtt_ns: |f| sender(f).acks.sum_rtt;
    /// Responses that arrived, for an interactive flow.
    responses: |f| f.application.responses().0;
    /// Sum of the times from request to response, nanoseconds.
    response_ns: |f| f.application.responses().1.cast_unsigned();
    /// Segments received by the sender: acknowledgements, unless data flows in both directions.
    acks_in: |f| sender(f).received.in_segs;
    /// Packets of data that the sender's stack passes to its card, if the card divides large ones into segments
    /// (TSO).
    frames_out: |f| f.notes.work.frames();
    /// Sum over the acknowledgements with SACK blocks of the segments from the acknowledgement to the end of its
    /// highest block: the entries of the retransmission queue that processing may visit.
    sack_span: |f| f.notes.work.sack_span();
    /// Packets of the flow that arrived damaged.
    damaged: |f| f.notes.damaged;
}
