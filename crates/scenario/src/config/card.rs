//! Network cards.

use crate::declare::keys;
use crate::error::Problem;
use crate::kind::{Duration, Flag, Packets, Packets32, Size32, Sorter};
use crate::quantity::require;
use crate::reader::Reader;

keys! {
    /// A network card with interrupt coalescing, and the softirq that empties its receive ring. `[sender_card]` has
    /// the same keys.
    pub struct Card in "receiver_card", check Card::check {
        /// Time from the first packet in an empty ring to the interrupt (rx-usecs).
        coalesce_ns as "coalesce": Duration, default "75 us";
        /// Number of packets in the ring that triggers the interrupt at once (rx-frames).
        coalesce_packets: Packets, unset "no limit";
        /// Minimum time between two interrupts (interrupt throttling).
        coalesce_gap_ns as "coalesce_gap": Duration, default "0 s";
        /// Packets that the receive ring holds; further packets are dropped.
        ring_packets as "ring": Packets, default "512 packets", in "1 packet"..="1048576 packets";
        /// Processor time of the softirq per packet, 1 / R_sn of the SRPIC paper.
        packet_ns as "packet_time": Duration, default "400 ns";
        /// Additional processor time per packet for sorting.
        sorter_ns as "sorter_time": Duration, default "0 ns", with sorter != "none";
        /// The sorter that restores the packet order, by name; settings may follow, as in `"window:hold=300us"`.
        sorter: Sorter, default "none";
        /// The card stands at the end of a tunnel: the sorter goes by the number the tunnel gave each packet of a flow,
        /// acknowledgements and retransmissions included, and sees nothing of TCP.
        tunnel: Flag, default "false", with sorter != "none";
        /// Maximum number of packets of a flow that are sorted together.
        block_packets as "block_size": Packets, default "32 packets", from "1 packet", with sorter = "srpic";
        /// Follows the listing of the SRPIC paper exactly: packets that pass at once may overtake held ones.
        literal: Flag, default "false", with sorter = "srpic";
        /// Merges consecutive segments (LRO, GRO).
        merge: Flag, default "false";
        /// Largest merged segment.
        merge_bytes as "merge_limit": Size32, default "65535 B", with merge = "true";
        /// Maximum number of packets in a merged segment (MAX_SKB_FRAGS in Linux).
        merge_packets: Packets32, default "17 packets", with merge = "true";
        /// A segment out of order begins the next merged one, as with GRO; otherwise it passes alone, as with `inet_lro`
        /// of older Linux.
        merge_restarts: Flag, default "true", with merge = "true";
    }
}

impl Card {
    fn check(&self, r: &Reader<'_>) -> Result<(), Problem> {
        require(
            self.sorter != "srpic" || self.block_packets <= self.ring_packets,
            r.place("block_size"),
            "a block larger than the ring",
            "1 packet up to the ring",
        )
    }
}
