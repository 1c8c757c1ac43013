//! How many SACK blocks a receiver lists, and in which order.

use inorder_wire::Segment;

/// Number of ACKs with fewer SACK blocks than there are ranges from which on this is a habit of the receiver: an ACK that was
/// overtaken lists fewer, too.
const MIN_SHORT_LISTS: u32 = 3;
/// Number of ACKs that list first something else than what they report from which on this is a habit, and how many may list it first
/// for each of these: where the order is by bytes or random, some do.
const MIN_NEWS_ELSEWHERE: u32 = 2;
const MAX_NEWS_FIRST: u32 = 4;

/// What a receiver's lists of SACK blocks are like.
#[derive(Debug, Default)]
pub(in crate::sender) struct Listing {
    /// It lists first what has just moved the left edge, duplicate or not.
    pub(in crate::sender) edge_first: bool,
    /// Most blocks that an ACK has listed, and how often there were fewer of them than ranges and room.
    most: u8,
    fewer: u32,
    /// How often an ACK of several blocks listed first what it reports, and something else.
    news_first: u32,
    news_elsewhere: u32,
}

impl Listing {
    /// Blocks that it lists at most, where there is space for `space`. RFC 2018 section 3 asks for as many as there is space for; some stacks
    /// list fewer.
    #[inline]
    pub(super) fn most(&self, space: usize) -> usize {
        match self.fewer >= MIN_SHORT_LISTS {
            true => space.min(usize::from(self.most)),
            false => space,
        }
    }

    /// It lists `few` blocks at most, whatever there are.
    #[inline]
    pub(super) fn is_of_at_most(&self, few: u8) -> bool {
        self.most <= few && self.fewer >= MIN_SHORT_LISTS
    }

    /// An ACK of its lists `blocks`, while it has `ranges` above a hole and space for `space` blocks.
    #[inline]
    pub(super) fn learn(&mut self, blocks: u8, ranges: usize, space: usize) {
        self.most = self.most.max(blocks);
        let most = self.most(space);
        self.fewer += u32::from(usize::from(blocks) < ranges.min(most));
    }

    /// An ACK of its that lists several blocks is the first to report something, and lists that `first` (RFC 2018 section 4) or not.
    pub(in crate::sender) fn learn_order(&mut self, first: bool) {
        self.news_first += u32::from(first);
        self.news_elsewhere += u32::from(!first);
    }

    /// `seg` lists as many blocks as this receiver does, which does not list the newest first: what has just come may be in none of them.
    pub(in crate::sender) fn has_no_room_for_news(&self, seg: &Segment) -> bool {
        let often = self.news_elsewhere.saturating_mul(MAX_NEWS_FIRST) >= self.news_first;
        self.news_elsewhere >= MIN_NEWS_ELSEWHERE
            && often
            && seg.sack_len > 0
            && seg.sack_len >= self.most
    }
}
