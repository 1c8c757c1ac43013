//! The SACK option of an acknowledgement: blocks that are new, and duplicates (RFC 2018 section 5, RFC 2883 section 5).

use super::Sender;
use super::ack::{AckSegment, Before};
use crate::board::Delivered;
use crate::segment::SackBlocks;
use crate::seq::{self, Seq};

/// The reports in acknowledgements.
#[derive(Debug, Default)]
pub(super) struct Reports {
    /// Segments that the current acknowledgement reports for the first time; kept to reuse its memory.
    pub(super) delivered: Vec<Delivered>,
    /// The last SACK option: most blocks are repeated and contain nothing new.
    pub(super) last_sack: SackBlocks,
    /// Total number of segments reported by DSACKs.
    dsack_segments: u64,
}

/// The result of processing the SACK option.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SackNews {
    pub(super) dsack: Option<(Seq, Seq)>,
    /// Segments that the duplicate stands for, if they count as delivered.
    pub(super) duplicates: u32,
    pub(super) has_sack: bool,
}

impl Sender {
    /// Processes the SACK option.
    pub(super) fn take_sack(
        &mut self,
        segment: &AckSegment<'_>,
        before: &Before,
        delivered: &mut Vec<Delivered>,
    ) -> SackNews {
        let mut news = SackNews::default();
        if !self.agreed.sack || segment.sack.is_empty() {
            return news;
        }
        let blocks = segment.sack.as_slice();
        self.counters.acks.sack_blocks_rcvd += blocks.len() as u64;
        let mut expanded = [(0, 0); 4];
        for (slot, block) in expanded.iter_mut().zip(blocks) {
            *slot = (
                seq::expand(self.stream.una, block.0),
                seq::expand(self.stream.una, block.1),
            );
        }
        let expanded = &expanded[..blocks.len()];
        let duplicate = self.find_dsack(segment.ack, expanded);
        if let Some(block) = duplicate {
            news.dsack = self.take_dsack(block, before);
            if news.dsack.is_some() && self.config.cwnd.duplicates_deliver {
                news.duplicates = self.segments_of(block) as u32;
            }
        }
        let before = std::mem::replace(&mut self.loss.reports.last_sack, *segment.sack);
        for at in usize::from(duplicate.is_some())..blocks.len() {
            let (start, end) = expanded[at];
            // A block beyond the data sent is forged, or belongs to another connection.
            if start < end && end <= self.stream.nxt && end > self.stream.una {
                news.has_sack = true;
                if !before.as_slice().contains(&blocks[at]) {
                    self.board.sack(start.max(self.stream.una), end, delivered);
                }
            }
        }
        news
    }

    /// RFC 2883 sections 4 and 5: the first block lies below the acknowledgement, or within the second.
    fn find_dsack(&mut self, ack: Seq, blocks: &[(Seq, Seq)]) -> Option<(Seq, Seq)> {
        let first = *blocks.first()?;
        if first.0 >= first.1 || first.1 > self.stream.nxt || first.0 <= self.stream.iss {
            return None;
        }
        if first.0 < ack {
            self.counters.dsack.tcp_dsack_recv += 1;
            return Some(first);
        }
        let second = *blocks.get(1)?;
        if second.0 <= first.0 && first.1 <= second.1 {
            self.counters.dsack.tcp_dsack_ofo_recv += 1;
            return Some(first);
        }
        None
    }

    fn segments_of(&self, block: (Seq, Seq)) -> u64 {
        (block.1 - block.0).div_ceil(u64::from(self.agreed.mss))
    }

    /// Subtracts the duplicate from the retransmissions of the current recovery. A DSACK that reports more than was
    /// ever retransmitted cannot be the answer to a retransmission.
    fn take_dsack(&mut self, block: (Seq, Seq), before: &Before) -> Option<(Seq, Seq)> {
        let segments = self.segments_of(block);
        self.loss.reports.dsack_segments += segments;
        if block.1 - block.0 > self.peer.largest
            || self.loss.reports.dsack_segments > self.counters.sent.retrans_segs
        {
            self.counters.dsack.tcp_dsack_ignored_dubious += 1;
            self.loss.reports.dsack_segments = self
                .loss
                .reports
                .dsack_segments
                .min(self.counters.sent.retrans_segs);
            self.loss.undo.network_duplicate = true;
            return None;
        }
        self.undo_on_dsack(block, segments as u32, before.una);
        Some(block)
    }
}
