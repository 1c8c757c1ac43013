//! The result of analysing one capture.

use inorder_detect::{Attempts, EndedEarly, FlowReport, StreamReport, Totals};
use inorder_streams::QuicCounts;
use inorder_wire::{FlowKey, Other};

use crate::engine::Tally;
use crate::peer::PeerComparison;

/// Why frames of QUIC are not analysed.
const QUIC: &str = "of QUIC, whose packet numbers are encrypted";

/// The result for one capture file (or for several files, read as one rotated capture).
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Analysis {
    /// Name of the file, as the user gave it.
    pub file: String,
    /// Its format, as text for people: `pcap, nanoseconds`, `pcapng in zstd`, ...
    pub format: String,
    /// Frames analysed: all that were read, or those that were selected.
    pub frames: u64,
    /// Frames that the [`Selection`](crate::Selection) left out; the other numbers do not count them.
    pub left_out: u64,
    /// Bytes of these frames on the wire.
    pub bytes: u64,
    /// Earliest frame, nanoseconds since the Unix epoch; 0 without frames.
    pub first_ns: i64,
    /// Latest frame, nanoseconds since the Unix epoch; 0 without frames.
    pub last_ns: i64,
    /// Frames that could not be analysed, by reason, the most frequent first.
    pub skipped: Vec<(String, u64)>,
    /// Frames of TCP, with data and without.
    pub tcp: u64,
    /// Pairs of hosts between which there was UDP of no numbered service, at most 65,536.
    pub udp_pairs: u64,
    /// Warnings that limit the result: damage, interruption, ...
    pub warnings: Vec<String>,
    /// The TCP flows that carried data, in the order of their first packets; of more than
    /// [`Config::max_flows`](crate::Config::max_flows) those of the greatest
    /// [`Gravity`](inorder_detect::Gravity).
    pub flows: Vec<FlowReport>,
    /// The sums over all other flows.
    pub summed: Totals,
    /// Connections that were ended early because the memory was used up.
    pub ended_early: EndedEarly,
    /// The attempts to open connections that carried no data.
    pub attempts: Attempts,
    /// Streams of other numbered services, in the order of their first packets.
    pub streams: Vec<StreamReport>,
    /// Connections of QUIC, which are counted and not analysed: their packet numbers are encrypted.
    pub quic: QuicCounts,
    /// Comparison with a capture of the same flows at the other end.
    pub peer: Option<PeerComparison>,
}

impl Analysis {
    /// Time from first to last frame, nanoseconds.
    pub fn duration_ns(&self) -> i64 {
        self.last_ns.saturating_sub(self.first_ns)
    }

    /// The sums over all flows and streams.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::of(&self.flows);
        totals.merge(&self.summed);
        let streams = &mut totals.streams;
        self.streams.iter().for_each(|stream| streams.add(stream));
        totals
    }

    /// Adds connections of QUIC. Their frames are counted as such instead of as those of any other protocol.
    pub(crate) fn add_quic(&mut self, quic: &QuicCounts) {
        if quic.datagrams == 0 {
            return;
        }
        self.quic.add(quic);
        let unnamed = Other::Udp(FlowKey::default()).to_string();
        if let Some((_, n)) = self.skipped.iter_mut().find(|(name, _)| *name == unnamed) {
            *n = n.saturating_sub(quic.datagrams);
        }
        self.skipped.retain(|(_, n)| *n > 0);
        if self.skipped.iter().all(|(name, _)| *name != unnamed) {
            self.udp_pairs = 0; // Of QUIC, the connections are counted.
        }
        self.skip(QUIC, quic.datagrams);
    }

    /// Adds frames that were not used for this reason.
    pub(crate) fn skip(&mut self, reason: &str, frames: u64) {
        match self.skipped.iter_mut().find(|(name, _)| name == reason) {
            _ if frames == 0 => return,
            Some((_, n)) => *n += frames,
            None => self.skipped.push((reason.to_owned(), frames)),
        }
        self.skipped.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    }

    /// A result with the counts over frames filled in, and no flows yet.
    pub(crate) fn of(file: String, format: String, tally: &Tally) -> Self {
        let (first_ns, last_ns) = tally.all.span_ns();
        Analysis {
            file,
            format,
            frames: tally.all.count,
            left_out: tally.left_out,
            bytes: tally.all.bytes,
            first_ns,
            last_ns,
            skipped: tally.skipped(),
            tcp: tally.tcp(),
            udp_pairs: tally.udp_pairs(),
            ..Analysis::default()
        }
    }
}
