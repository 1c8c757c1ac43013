//! The network card.

use super::Default::{Is, Unset};
use super::Kind::{Choice, Duration, Flag, Packets, Size};
use super::{Section, field};

/// `[receiver_card]` and `[sender_card]`.
pub static CARD: Section = Section {
    name: "receiver_card",
    about: "A network card with interrupt coalescing, and the softirq that empties its ring. `[sender_card]` has the same keys.",
    fields: &[
        field(
            "coalesce",
            Duration,
            Is("75 us"),
            "From the first packet in an idle ring to the interrupt (rx-usecs).",
        ),
        field(
            "coalesce_packets",
            Packets,
            Unset("no limit"),
            "So many packets raise the interrupt at once (rx-frames).",
        ),
        field(
            "coalesce_gap",
            Duration,
            Is("0 s"),
            "From one interrupt to the next at least (interrupt throttling).",
        ),
        field(
            "ring",
            Packets,
            Is("512 packets"),
            "Packets it holds; further ones are dropped.",
        ),
        field(
            "packet_time",
            Duration,
            Is("400 ns"),
            "What the softirq needs for a packet, 1 / R_sn of the SRPIC paper.",
        ),
        field(
            "sorter_time",
            Duration,
            Is("0 ns"),
            "What sorting adds to it.",
        ),
        field(
            "sorter",
            Choice(&["none", "srpic"]),
            Is("none"),
            "What puts a batch in order.",
        ),
        field(
            "block_size",
            Packets,
            Is("32 packets"),
            "Of a flow, sorted together at most.",
        ),
        field(
            "literal",
            Flag,
            Is("false"),
            "The paper's listing to the letter: what passes at once may overtake.",
        ),
        field(
            "merge",
            Flag,
            Is("false"),
            "Segments that continue each other are merged (LRO, GRO).",
        ),
        field("merge_limit", Size, Is("65535 B"), "Of a merged segment."),
        field(
            "merge_packets",
            Packets,
            Is("17 packets"),
            "Of a merged segment (MAX_SKB_FRAGS in Linux).",
        ),
    ],
};
