//! Does a host keep the IPv4 identification of what it sends again? Some balancers and embedded stacks do.
//!
//! Where it does, a retransmission looks like its late original. While that is unknown, data with an old identification that fills a hole
//! no sooner than a retransmission can come is perhaps a retransmission. Two things decide. A retransmission with a new identification shows
//! that the host gives new ones. And what is late by more than a round trip has been sent again meanwhile: if the host gave new ones, that
//! retransmission would follow with one, so where none follows, the host keeps them.

use inorder_wire::Segment;

/// Whether a host keeps them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kept {
    /// Nothing has been sent again, as far as is known.
    #[default]
    Unknown,
    Yes,
    No,
}

/// Late data may come sooner than a retransmission can, or no sooner. A path that delays originals makes most of them late by less than a round
/// trip, so the host is taken to keep identifications only if this number came no sooner for each that did.
const MIN_LATER_PER_EARLY: u32 = 4;

/// Up to this number of packets that may be retransmissions with old identifications, late originals are the likelier explanation.
const MIN_SUSPECTED: u32 = 3;

/// Minimum number of full packets that came again in parts before a host is taken to cut anew what it sends again: two short originals that
/// are as long as one full packet together may be chance once.
const MIN_CUT: u32 = 2;

/// What the arrivals of a host's data have shown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeptIds {
    is: Kept,
    /// Since when data has come that was late or sent again with its old identification, nanoseconds, and how often.
    since_ns: Option<i64>,
    perhaps: u32,
    suspected: bool,
    parts: Parts,
    /// Packets that were sent again in parts.
    cut: u32,
}

/// Parts of one packet that came one behind the other.
#[derive(Clone, Copy, Debug, Default)]
struct Parts {
    /// The number of the first byte behind them.
    next: Option<u32>,
    len: u32,
}

impl Parts {
    fn go_on_with(&self, seg: &Segment, full: u32) -> bool {
        self.next == Some(seg.seq) && self.len + seg.payload_len <= full
    }
}

impl KeptIds {
    pub(crate) fn is(self) -> Kept {
        self.is
    }

    /// Hardly any data has come that may have been sent again so.
    pub(crate) fn hardly_suspected(self) -> bool {
        self.perhaps < MIN_SUSPECTED
    }

    /// Some data has come that may have been sent again so.
    pub(crate) fn is_suspected(self) -> bool {
        self.suspected
    }

    /// Such data has come, if the round trip is as short as it may be.
    pub(crate) fn suspect(&mut self) {
        self.suspected = true;
    }

    /// A retransmission has an identification of its own.
    pub(crate) fn renewed(&mut self) {
        self.is = Kept::No;
    }

    /// `seg` came into a hole. Parts that together are just as long as a `full` packet are one that was cut anew.
    pub(crate) fn note_part(&mut self, seg: &Segment, full: u32) {
        let goes_on = self.parts.go_on_with(seg, full);
        let before = std::mem::take(&mut self.parts);
        let len = if goes_on { before.len } else { 0 } + seg.payload_len;
        if len < full {
            let next = Some(seg.seq.wrapping_add(seg.payload_len));
            self.parts = Parts { next, len };
        } else if goes_on {
            self.cut += 1;
        }
    }

    /// What it sends again it cuts anew.
    pub(crate) fn cuts(&self) -> bool {
        self.cut >= MIN_CUT
    }

    /// At `now` data with an old identification came into a hole, a round trip of `rtt_ns` or more after that had opened; `early` times
    /// data came sooner. If what came so before was late, its retransmission is overdue: where no round trip is known, nothing is.
    pub(crate) fn perhaps_again(&mut self, now: i64, rtt_ns: Option<i64>, early: u32) {
        self.perhaps += 1;
        let Some(rtt_ns) = rtt_ns else { return };
        let since_ns = *self.since_ns.get_or_insert(now);
        let overdue = now.saturating_sub(since_ns) > rtt_ns.saturating_mul(2);
        let few_early = early.saturating_mul(MIN_LATER_PER_EARLY) <= self.perhaps;
        if self.is == Kept::Unknown && overdue && few_early {
            self.is = Kept::Yes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_whose_late_data_is_never_sent_again_keeps_identifications() {
        let mut ids = KeptIds::default();
        for now in [0, 1, 19] {
            ids.perhaps_again(now, Some(10), 0);
        }
        assert_eq!(
            ids.is(),
            Kept::Unknown,
            "their retransmissions may still come"
        );
        ids.perhaps_again(21, Some(10), 0);
        assert_eq!(ids.is(), Kept::Yes);
    }

    #[test]
    fn a_new_identification_shows_that_they_are_not_kept() {
        let mut ids = KeptIds::default();
        ids.perhaps_again(0, Some(10), 0);
        ids.renewed();
        ids.perhaps_again(50, Some(10), 0);
        assert_eq!(ids.is(), Kept::No);
    }

    #[test]
    fn parts_of_one_packet_show_a_host_that_cuts_anew() {
        let mut ids = KeptIds::default();
        let part = |seq, payload_len| segment!(seq, payload_len);
        for at in [0, 3_000] {
            assert!(!ids.cuts());
            ids.note_part(&part(at, 600), 1_000);
            ids.note_part(&part(at + 600, 400), 1_000);
        }
        assert!(ids.cuts());
    }

    #[test]
    fn where_most_of_what_is_late_comes_sooner_the_rest_is_late_as_well() {
        let mut ids = KeptIds::default();
        (0..9).for_each(|n| ids.perhaps_again(n * 30, Some(10), 20));
        assert_eq!(ids.is(), Kept::Unknown);
    }
}
