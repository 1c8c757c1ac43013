//! Data held out of order, and what each segment adds to it.

use crate::ranges::RangeSet;
use crate::seq::Seq;

/// The data above the next expected byte.
#[derive(Debug, Default)]
pub(super) struct Queue {
    pub(super) ranges: RangeSet,
    /// Bytes in them.
    pub(super) bytes: u64,
    /// Parts of the stream that arrived since they were last cleared.
    pub(super) accepted: Vec<(Seq, Seq)>,
}

/// What a segment has added.
pub(super) struct Added {
    /// The block that holds it now.
    pub(super) block: (Seq, Seq),
    /// Bytes that were missing.
    pub(super) fresh: u64,
    /// The first part of it that had arrived before.
    pub(super) duplicate: Option<(Seq, Seq)>,
}

impl Queue {
    /// Holds `start..end`.
    pub(super) fn insert(&mut self, start: Seq, end: Seq) -> Added {
        let known = self.accepted.len();
        let block = self.ranges.insert(start, end, &mut self.accepted);
        let new = &self.accepted[known..];
        let fresh = new.iter().map(|(a, b)| b - a).sum();
        self.bytes += fresh;
        Added {
            block,
            fresh,
            duplicate: first_duplicate(start, end, new),
        }
    }

    /// `start..end` is in order and has been inserted: the block that begins at `start` is taken out. Returns its end.
    pub(super) fn release(&mut self, start: Seq, block_end: Seq) {
        self.bytes -= block_end - start;
        self.ranges.remove_below(block_end);
    }

    /// Discards everything held.
    pub(super) fn discard(&mut self) {
        self.ranges.clear();
        self.accepted.clear();
        self.bytes = 0;
    }
}

/// For a segment that delivered the ranges `new`: its first contiguous part that was received before, which a DSACK
/// reports (RFC 2883 section 4.2: one contiguous duplicate).
fn first_duplicate(start: Seq, end: Seq, new: &[(Seq, Seq)]) -> Option<(Seq, Seq)> {
    let skip = usize::from(new.first().is_some_and(|gap| gap.0 <= start));
    let from = if skip == 1 { new[0].1 } else { start };
    let to = new.get(skip).map_or(end, |gap| gap.0);
    (from < to).then_some((from, to))
}

#[cfg(test)]
mod tests {
    use super::first_duplicate;

    #[test]
    fn a_reported_duplicate_ends_where_new_data_begins() {
        assert_eq!(
            first_duplicate(1, 60, &[(1, 10), (30, 40), (50, 60)]),
            Some((10, 30))
        );
        assert_eq!(first_duplicate(15, 28, &[(15, 20)]), Some((20, 28)));
        assert_eq!(first_duplicate(15, 28, &[(20, 28)]), Some((15, 20)));
        assert_eq!(first_duplicate(15, 28, &[]), Some((15, 28)));
        assert_eq!(first_duplicate(15, 28, &[(15, 28)]), None);
    }
}
