//! The truth about a flow as plain data, and as JSON.

use std::io::{self, Write};

/// What happened to an original transmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TruthEvent {
    /// Reordered: it arrived after one sent later.
    Reordered {
        /// Offset of its first byte in the stream.
        offset: u64,
        /// Length, bytes.
        length: u64,
        /// Extent (RFC 4737 section 4.2).
        extent: u64,
        /// Time since the first arrival of a later one, nanoseconds.
        late_ns: i64,
    },
    /// Lost: it did not arrive, and its bytes were acknowledged later.
    Lost {
        /// Offset of its first byte in the stream.
        offset: u64,
        /// Length, bytes.
        length: u64,
    },
    /// Refused: it arrived, and the receiver discarded it although the bytes were missing.
    Refused {
        /// Offset of its first byte in the stream.
        offset: u64,
        /// Length, bytes.
        length: u64,
    },
}

/// The truth of one direction of a flow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TruthFlow {
    /// `10.0.1.1:10000->10.0.3.2:5001`.
    pub flow: String,
    /// Original transmissions.
    pub data_packets: u64,
    /// Of those, reordered and accepted by the receiver.
    pub reordered: u64,
    /// Retransmissions without which bytes would be missing (needed).
    pub needed: u64,
    /// Spurious retransmissions: earlier transmissions of all their bytes arrived and were not refused.
    pub spurious: u64,
    /// Of those, the ones whose originals arrived.
    pub spurious_original: u64,
    /// Retransmissions that remain undecided at the end.
    pub undecided_retransmissions: u64,
    /// Recovery phases: from a retransmission until what had been sent by then is acknowledged.
    pub recoveries: u64,
    /// Of those, the ones in which every retransmission was spurious.
    pub recoveries_spurious: u64,
    /// Originals lost.
    pub losses: u64,
    /// Originals that arrived and that the receiver discarded although the bytes were missing.
    pub refused: u64,
    /// Originals that had neither arrived nor been acknowledged at the end.
    pub undecided: u64,
    /// Copies created by the network.
    pub network_duplicates: u64,
    /// Initial sequence number of the sender; its first byte of data has the next one.
    pub isn: Option<u32>,
    /// What happened to the originals.
    pub events: Vec<TruthEvent>,
    /// The habits of both ends as JSON, if they were asked for.
    pub habits: Option<String>,
}

impl TruthFlow {
    /// Writes it as a JSON object.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let total = self.needed + self.spurious + self.undecided_retransmissions;
        write!(
            out,
            "{{\"flow\": \"{}\", \"data_packets\": {}, \"reordered\": {}, \"retransmissions\": \
             {{\"total\": {total}, \"needed\": {}, \"spurious\": {}, \"spurious_original\": {}, \
             \"undecided\": {}}}, \"losses\": {}, \"refused\": {}, \"undecided\": {}, \"network_duplicates\": {}, \
             \"unmatched\": 0, \"ambiguous_matches\": 0, \"events\": [",
            self.flow,
            self.data_packets,
            self.reordered,
            self.needed,
            self.spurious,
            self.spurious_original,
            self.undecided_retransmissions,
            self.losses,
            self.refused,
            self.undecided,
            self.network_duplicates,
        )?;
        for (number, event) in self.events.iter().enumerate() {
            write!(out, "{}", if number == 0 { "\n   " } else { ",\n   " })?;
            event.write(out)?;
        }
        write!(out, "]")?;
        if let Some(habits) = &self.habits {
            write!(out, ", \"habits\": {habits}")?;
        }
        write!(out, "}}")
    }
}

impl TruthEvent {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            TruthEvent::Reordered {
                offset,
                length,
                extent,
                late_ns,
            } => write!(
                out,
                "{{\"kind\":\"reordered\",\"seq_offset\":{offset},\"len\":{length},\
                 \"extent\":{extent},\"late_ms\":{}}}",
                *late_ns as f64 / 1e6
            ),
            TruthEvent::Lost { offset, length } => write!(
                out,
                "{{\"kind\":\"lost\",\"seq_offset\":{offset},\"len\":{length}}}"
            ),
            TruthEvent::Refused { offset, length } => write!(
                out,
                "{{\"kind\":\"refused\",\"seq_offset\":{offset},\"len\":{length}}}"
            ),
        }
    }
}
