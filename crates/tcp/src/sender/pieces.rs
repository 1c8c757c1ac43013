//! The pieces of memory in which data that was sent waits for its acknowledgement (Linux `sk_buff`), for the size of a send buffer.
//!
//! A burst of segmentation offload is cut from the piece that the application has filled and becomes one of its own (`tso_fragment`), and
//! what is sent again is cut out of its burst (`tcp_fragment`). In a recovery without SACK each duplicate lets one segment out, so there
//! a piece holds one, and the same data takes almost twice the memory.

use std::collections::VecDeque;

use crate::seq::Seq;

#[derive(Debug, Default)]
pub(super) struct Pieces {
    /// Where each begins, oldest first.
    starts: VecDeque<Seq>,
}

impl Pieces {
    /// A new burst begins.
    pub(super) fn begin(&mut self, start: Seq) {
        self.starts.push_back(start);
    }

    /// What lies between these is sent again by itself.
    pub(super) fn cut(&mut self, start: Seq, end: Seq, sent: Seq) {
        for at in [start, end] {
            let place = self.starts.partition_point(|&begin| begin < at);
            let begins = self.starts.get(place) == Some(&at);
            if place > 0 && !begins && at < sent {
                self.starts.insert(place, at);
            }
        }
    }

    /// All below `una` is acknowledged, and all below `sent` was sent.
    pub(super) fn acknowledged(&mut self, una: Seq, sent: Seq) {
        while let Some(end) = self.starts.get(1).copied().or(Some(sent))
            && end <= una
            && self.starts.pop_front().is_some()
        {}
    }

    pub(super) fn count(&self) -> u64 {
        self.starts.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_free_once_all_of_it_is_acknowledged() {
        let mut pieces = Pieces::default();
        [1, 4001, 8001]
            .into_iter()
            .for_each(|start| pieces.begin(start));
        pieces.acknowledged(4000, 12_001);
        assert_eq!(pieces.count(), 3);
        pieces.acknowledged(4001, 12_001);
        assert_eq!(pieces.count(), 2);
        pieces.acknowledged(12_001, 12_001);
        assert_eq!(pieces.count(), 0);
    }

    #[test]
    fn what_is_sent_again_is_cut_out_once() {
        let mut pieces = Pieces::default();
        [1, 4001].into_iter().for_each(|start| pieces.begin(start));
        pieces.cut(1, 1001, 5001);
        assert_eq!(pieces.count(), 3);
        pieces.cut(1, 1001, 5001);
        pieces.cut(4001, 5001, 5001);
        assert_eq!(pieces.count(), 3);
        pieces.cut(2001, 3001, 5001);
        assert_eq!(pieces.count(), 5);
    }
}
