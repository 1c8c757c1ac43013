//! What is computed for a stream of numbered packets (RTP, ESP, ...) once it is out of order: as for flows SRPIC, no sorter, and
//! the resequencer. It goes by the numbers of the stream, where nothing comes twice, so its hold is not bounded by a round trip.

use inorder_sort::{SorterConfig, none, resequence};

use crate::DataArrival;
use crate::named::NamedReceivers;
use crate::receivers::SortingReceivers;
use crate::usual::WINDOW;
use crate::{Settings, WhatIf};

/// One stream at receivers with each sorter, from its first packet out of order on.
#[derive(Debug)]
pub struct NumberedReceivers {
    first: u64,
    /// Packets before, all in order.
    in_order: u64,
    laid: u64,
    batches: SortingReceivers,
    usual: NamedReceivers,
}

heap!(NumberedReceivers: batches, usual);

impl NumberedReceivers {
    /// Receivers after `in_order` packets have come in order, from number `first` on, until `now_ns`.
    pub fn new(settings: &Settings, first: u64, in_order: u64, now_ns: i64) -> Self {
        let resequencer = SorterConfig::of(&resequence::ENTRY)
            .with(&resequence::WINDOW, WINDOW)
            .with(&resequence::TUNNEL, 1);
        let sorters = [SorterConfig::of(&none::ENTRY), resequencer];
        let mut usual = NamedReceivers::new(&sorters, &[0]);
        let next = i64::try_from(in_order).unwrap_or(i64::MAX);
        usual.continue_after(in_order, (0, next), now_ns, None);
        NumberedReceivers {
            first,
            in_order,
            laid: 0,
            batches: SortingReceivers::new(&settings.block_sizes, &settings.coalesce_ns),
            usual,
        }
    }

    /// The next packet; `is_copy`: this number has come before. One below the first is left out.
    pub fn push(&mut self, number: u64, ts_ns: i64, is_copy: bool) {
        let above = number.checked_sub(self.first);
        let Some(offset) = above.and_then(|above| i64::try_from(above).ok()) else {
            return;
        };
        let arrival = DataArrival {
            ts_ns,
            offset,
            len: 1,
            retransmission: is_copy,
            suitable: true,
        };
        self.laid += u64::from(!is_copy);
        self.batches.push(&arrival, i64::MIN);
        self.usual.push(&arrival, i64::MIN);
    }

    /// A result for every setting of SRPIC, one for no sorter and one for the resequencer.
    pub fn finish(self) -> Vec<WhatIf> {
        let packets = (self.in_order + self.laid).max(1);
        let mut rows = self.batches.finish();
        rows.extend(self.usual.finish());
        for row in &mut rows {
            row.reordered_ratio = row.reordered as f64 / packets as f64;
            // Nothing here is acknowledged.
            row.dupacks_saved = 0;
        }
        rows
    }
}
