//! Network cards.

use crate::declare::keys;
use crate::error::Problem;
use crate::kind::{Duration, Flag, Packets, Packets32, Size32, Sorter};
use crate::quantity::require;
use crate::reader::Reader;

keys! {
    /// A network card with interrupt coalescing, and the softirq that empties its ring. `[sender_card]` has the
    /// same keys.
    pub struct Card in "receiver_card", check Card::check {
        /// Time from the first packet in an idle ring to the interrupt (rx-usecs).
        coalesce_ns as "coalesce": Duration, default "75 us";
        /// Number of packets in the ring that raises the interrupt at once (rx-frames).
        coalesce_packets: Packets, unset "no limit";
        /// Shortest time between two interrupts (interrupt throttling).
        coalesce_gap_ns as "coalesce_gap": Duration, default "0 s";
        /// Packets that the receive ring holds; further ones are dropped.
        ring_packets as "ring": Packets, default "512 packets", in "1 packet"..="1048576 packets";
        /// Processor time of the softirq for a packet, 1 / R_sn of the SRPIC paper.
        packet_ns as "packet_time": Duration, default "400 ns";
        /// Processor time that sorting adds for a packet.
        sorter_ns as "sorter_time": Duration, default "0 ns", with sorter != "none";
        /// What puts packets in order, by name; settings may follow, as in `"window:hold=300us"`.
        sorter: Sorter, default "none";
        /// Packets of a flow that are sorted together at most.
        block_packets as "block_size": Packets, default "32 packets", from "1 packet", with sorter = "srpic";
        /// The SRPIC paper's listing to the letter: what passes at once may overtake.
        literal: Flag, default "false", with sorter = "srpic";
        /// Segments that continue each other are merged (LRO, GRO).
        merge: Flag, default "false";
        /// Largest merged segment.
        merge_bytes as "merge_limit": Size32, default "65535 B", with merge = "true";
        /// Most packets of a merged segment (MAX_SKB_FRAGS in Linux).
        merge_packets: Packets32, default "17 packets", with merge = "true";
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
