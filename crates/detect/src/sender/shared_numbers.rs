//! Does a receiver count its identifications for all that it sends, or for this connection alone?
//!
//! Where numbers are missing between two acknowledgements, either an acknowledgement was lost or packets to others had these
//! numbers. What was lost shows in the next one: it acknowledges more than is usual.

/// Gaps that are looked at before their numbers are taken for others'.
const MIN_GAPS: u32 = 6;
/// Minimum number of gaps without additional acknowledged data for each gap with it, if identifications are shared.
const FOREIGN_PER_OWN: u32 = 4;

/// What the gaps in a receiver's identifications have shown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SharedNumbers {
    /// Segments that the ACK before reported.
    usual: usize,
    /// Gaps behind which no more than usual was reported, and others.
    foreign: u32,
    own: u32,
}

impl SharedNumbers {
    /// An ACK reports `reported` segments; numbers were missing before it if `gap`.
    #[inline]
    pub(super) fn note(&mut self, gap: bool, reported: usize) {
        if gap && reported > 0 && self.usual > 0 {
            match reported <= self.usual {
                true => self.foreign += 1,
                false => self.own += 1,
            }
        }
        if reported > 0 {
            self.usual = reported;
        }
    }

    /// Segments that the last ACK with new information reported.
    pub(super) fn usual(&self) -> usize {
        self.usual
    }

    /// Missing numbers are other packets of the host, not acknowledgements that were lost.
    #[inline]
    pub(super) fn are_shared(&self) -> bool {
        self.foreign >= MIN_GAPS && self.foreign >= FOREIGN_PER_OWN * (self.own + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ACKs: whether identifications are missing before it, and the number of segments it reports.
    fn shared(acks: &[(bool, usize)]) -> bool {
        let mut numbers = SharedNumbers::default();
        (0..8).for_each(|_| acks.iter().for_each(|&(gap, n)| numbers.note(gap, n)));
        numbers.are_shared()
    }

    #[test]
    fn a_lost_ack_shows_in_the_next_one_and_a_packet_to_another_does_not() {
        assert!(shared(&[(false, 2), (true, 2)]));
        assert!(!shared(&[(false, 2), (true, 4)]));
        assert!(!shared(&[(false, 1), (true, 2), (false, 1), (true, 1)]));
    }
}
