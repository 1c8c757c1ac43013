//! What the next acknowledgement reports beside its number: blocks held out of order (RFC 2018 section 3), and a duplicate (RFC 2883 section 4).

use inorder_base::random::Random;

use super::sack::SackList;
use crate::config::Config;
use crate::counters::DsackCounters;
use crate::habits::SackOrder;
use crate::ranges::RangeSet;
use crate::segment::SackBlocks;
use crate::seq::Seq;

/// Number of blocks in a SACK option that reach the sender reliably even if some acknowledgements are lost (Linux
/// `TCP_SACK_BLOCKS_EXPECTED`).
const BLOCKS_EXPECTED: usize = 2;

/// SACK blocks and duplicates to report.
#[derive(Debug)]
pub(super) struct Reports {
    /// SACK has been negotiated.
    pub(super) sack: bool,
    reports_duplicates: bool,
    order: SackOrder,
    /// Maximum number of blocks in an option.
    most: usize,
    blocks: SackList,
    duplicate: Option<(Seq, Seq)>,
    /// A block that must be reported only after the pending acknowledgement.
    after_ack: Option<(Seq, Seq)>,
}

impl Reports {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            sack: config.options.sack,
            reports_duplicates: config.options.dsack,
            order: config.habits.sack_order,
            most: config.habits.sack_blocks as usize,
            blocks: SackList::default(),
            duplicate: None,
            after_ack: None,
        }
    }

    /// The block that waited for an acknowledgement may be reported now.
    pub(super) fn report_late(&mut self) {
        if let Some(block) = self.after_ack.take() {
            self.blocks.report(block);
        }
    }

    /// Reports the block that the segment `start..end` has made or extended, while an acknowledgement is held back or not. False
    /// if the pending acknowledgement must go out first. The option has room for few blocks: information that is held back is sent before
    /// this block takes its place. The block waits for the next acknowledgement, but does not request one (Linux
    /// `tcp_sack_new_ofo_skb`).
    pub(super) fn block(&mut self, segment: (Seq, Seq), block: (Seq, Seq), held: bool) -> bool {
        let waits = held && self.blocks.place(segment) >= BLOCKS_EXPECTED;
        if waits {
            self.after_ack = Some(block);
        } else {
            self.blocks.report(block);
        }
        !waits
    }

    /// Everything below `floor` is acknowledged.
    pub(super) fn advance(&mut self, floor: Seq) {
        self.blocks.advance(floor);
    }

    /// All of `start..end` had been acknowledged before (RFC 2883 section 4.1).
    pub(super) fn old(&mut self, start: Seq, end: Seq, counters: &mut DsackCounters) {
        if self.sack && self.reports_duplicates {
            counters.tcp_dsack_old_sent += 1;
            self.duplicate = Some((start, end));
        }
    }

    /// `start..end` had arrived before, as a part of the segment.
    pub(super) fn overlap(&mut self, start: Seq, end: Seq, counters: &mut DsackCounters) {
        if self.sack && self.reports_duplicates && start < end {
            counters.tcp_dsack_ofo_sent += 1;
            self.duplicate = Some((start, end));
        }
    }

    /// A later duplicate part of a segment. A DSACK reports the first part only (RFC 2883 section 4.2), so this one is
    /// added if the two touch, and otherwise left out (Linux `tcp_dsack_extend`).
    pub(super) fn further_overlap(&mut self, start: Seq, end: Seq, counters: &mut DsackCounters) {
        match self.duplicate {
            None => self.overlap(start, end, counters),
            Some((from, to)) if start <= to && from <= end => {
                self.duplicate = Some((from.min(start), to.max(end)));
            }
            Some(_) => {}
        }
    }

    /// The stream is complete: no duplicate is reported any more (Linux `tcp_fin`, `tcp_sack_reset`).
    pub(super) fn forget_duplicate(&mut self) {
        self.duplicate = None;
    }

    /// Nothing is held out of order any more.
    pub(super) fn forget(&mut self) {
        self.blocks = SackList::default();
        self.after_ack = None;
        self.duplicate = None;
    }

    /// Number of blocks that the next option could have.
    pub(super) fn count(&self) -> usize {
        usize::from(self.duplicate.is_some()) + self.blocks.as_slice().len()
    }

    /// Start of the duplicate that the next option reports.
    pub(super) fn duplicate(&self) -> Option<Seq> {
        self.duplicate.map(|(start, _)| start)
    }

    /// The option of the acknowledgement being sent: at most `room` blocks (RFC 2018 section 3), a duplicate first
    /// (RFC 2883 section 4). The duplicate is reported once. `held` is all that waits out of order.
    pub(super) fn option(
        &mut self,
        room: usize,
        held: &RangeSet,
        random: &mut Random,
    ) -> SackBlocks {
        let mut option = SackBlocks::EMPTY;
        if self.count() == 0 {
            return option;
        }
        let mut left = room.min(self.most);
        if let Some((start, end)) = self.duplicate.take() {
            option.push(start as u32, end as u32);
            left = left.saturating_sub(1);
        }
        let blocks = self.blocks.as_slice();
        match self.order {
            SackOrder::Newest => list(&mut option, blocks.iter().copied().take(left)),
            SackOrder::Ascending => list(&mut option, held.iter().take(left)),
            SackOrder::Random => {
                let first = random.below(blocks.len() as u64) as usize;
                let turned = blocks.iter().cycle().skip(first).copied();
                list(&mut option, turned.take(left.min(blocks.len())));
            }
        }
        option
    }
}

fn list(option: &mut SackBlocks, blocks: impl Iterator<Item = (Seq, Seq)>) {
    for (start, end) in blocks {
        option.push(start as u32, end as u32);
    }
}
