//! The rules that fail today, and where: each entry fails exactly, so that an entry is removed with what mends it.

/// Captures, by their path from the repository, with the rule that fails there; `drawn` are those of `drawn`.
#[rustfmt::skip]
pub const KNOWN: &[(&str, &str)] = &[
    ("../shared/captures/ndpi-kakaotalk-rtp-reorder.pcap", "text, table, JSON, CSV and page say the same number"),
    ("../shared/captures/ndpi-reasm-reorder.pcapng", "every byte that was seen counts once"),
    ("drawn", "every byte that was seen counts once"),
];
