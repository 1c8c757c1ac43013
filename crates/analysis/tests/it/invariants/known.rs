//! The rules that fail today, and where: each entry fails exactly, so that an entry is removed with what mends it.

/// Captures, by their path from the repository, with the rule that fails there; `drawn` are those of `drawn`.
#[rustfmt::skip]
pub(crate) const KNOWN: &[(&str, &str)] = &[
    ("../shared/captures/ndpi-kakaotalk-rtp-reorder.pcap", "text, table, JSON, CSV and page say the same number"),
    ("../shared/captures/ndpi-reasm-reorder.pcapng", "every byte that was seen counts once"),
    ("../shared/cases-turn3/quic/quinn-greased-long-header.pcap", "text, table, JSON, CSV and page say the same number"),
    ("../shared/cases-turn3/attempts-never-answered.pcap", "text, table, JSON, CSV and page say the same number"),
    ("../shared/captures/pcapng-gen-be-multisection.pcapng", "text, table, JSON, CSV and page say the same number"),
    ("../shared/captures/ndpi-quic-interop.pcapng", "text, table, JSON, CSV and page say the same number"),
    ("../shared/captures/ndpi-fuzz-2006.pcap", "every direction with data is reported"),
    ("../shared/captures/lpa-negative-timestamps.pcap", "text, table, JSON, CSV and page say the same number"),
    ("drawn", "every byte that was seen counts once"),
];
