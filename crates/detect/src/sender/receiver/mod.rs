//! What the receiver is known to do: which options it uses, when it holds SACKs back and for how long.

mod compression;
mod listing;

use inorder_wire::{Segment, TcpFlags};

use crate::explanation::Explanations;
use crate::habits::{Assumed, Duplicates, Echo, TooOld};
use compression::Compression;
use listing::Listing;

/// Number of duplicates answered without a DSACK after which the receiver is taken to report none. One alone may be an ACK
/// whose place among the others is not known.
const MIN_DUPLICATES_HIDDEN: u32 = 2;

/// Maximum number of filled holes acknowledged together with delayed data for each one that is acknowledged alone.
const MAX_FILLS_JOINED: u32 = 3;
/// Number of filled holes acknowledged alone from which on that is a habit.
const MIN_FILLS_ALONE: u32 = 2;

/// Number of ACKs that echo the timestamp of data above a hole from which on this is a habit, not an effect of lost or
/// overtaken ACKs.
const MIN_ECHOES: u32 = 2;

/// What the connection negotiated; `None` where the handshake was not seen.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    pub(crate) sack: Option<bool>,
    /// The handshake was seen, if perhaps not all that it says.
    pub(crate) handshake: bool,
    pub(crate) timestamps: bool,
    pub(crate) explanations: Explanations,
    pub(crate) assumed: Assumed,
}

/// The receiver, as its ACKs show it.
#[derive(Debug, Default)]
pub(super) struct Receiver {
    /// SACK negotiated; `None` without handshake.
    sack: Option<bool>,
    handshake: bool,
    timestamps: bool,
    /// It has sent a SACK block.
    pub(super) sack_seen: bool,
    /// The capture shows nothing of its SACK blocks but that there were some.
    pub(super) hides_blocks: bool,
    /// Some ACKs were cut within their first SACK block, so that only its left edge is known.
    pub(super) guessed: bool,
    /// Some of its SACK blocks were cut off since there was last no hole.
    pub(super) cuts_blocks: bool,
    /// It reports duplicates (RFC 2883 section 4), which is not negotiated.
    pub(super) dsack_seen: bool,
    /// What it does with data that is too old.
    pub(super) too_old: TooOld,
    /// Habits that are known and not learnt.
    assumed: Assumed,
    /// How often it echoed, for data above a hole, the timestamp of that data, and the one before (RFC 7323 section 4.3).
    echoes_newest: u32,
    echoes_recent: u32,
    /// Number of duplicates that it seems to have answered without reporting them.
    pub(super) duplicates_hidden: u32,
    /// ACKs without new information: each answers something.
    pub(super) bare_acks: u32,
    pub(super) listing: Listing,
    /// How often an ACK reported what fills a hole alone, and with others.
    fills_alone: u32,
    fills_joined: u32,
    pub(super) compression: Compression,
    /// The largest window told so far, as on the wire; that of a SYN is in another unit.
    widest: u16,
}

heap!(Receiver: compression);

impl Receiver {
    pub(super) fn new(options: &Options) -> Self {
        Receiver {
            sack: options.sack,
            handshake: options.handshake,
            timestamps: options.timestamps,
            dsack_seen: options.assumed.duplicates == Duplicates::Reported,
            too_old: options.assumed.too_old,
            assumed: options.assumed,
            ..Self::default()
        }
    }

    /// An ACK has been dealt with.
    #[inline]
    pub(super) fn note_window(&mut self, seg: &Segment) {
        if !seg.flags.any(TcpFlags::SYN) {
            self.widest = self.widest.max(seg.window);
        }
    }

    /// SACK was not negotiated as far as is known and no SACK block was captured, or the capture cuts them off.
    pub(super) fn may_lack_sack(&self) -> bool {
        self.sack != Some(true) && !self.sack_seen || self.hides_blocks
    }

    /// Nothing told whether it has SACK: where the handshake was seen and what it says of options was not, that its duplicate ACKs
    /// have no blocks (`evident`) tells; where it was not, that none of them had, although data waited above a hole (`shown`).
    pub(super) fn unknown_sack(&self, evident: bool, shown: bool) -> bool {
        let known = evident && (self.handshake || shown);
        !self.sack_seen && self.sack.is_none() && !known
    }

    /// Both hosts have turned out to use timestamps.
    pub(super) fn note_timestamps(&mut self) {
        self.timestamps = true;
    }

    /// It has no SACK, or nothing shows of it; `evident` says that its ACKs show so, if no handshake was seen.
    pub(super) fn lacks_sack(&self, evident: bool) -> bool {
        self.hides_blocks || !self.sack_seen && (self.sack == Some(false) || evident)
    }

    /// Its silence about data that was too old says something: it would have reported it as a duplicate.
    pub(super) fn reports_refused(&self) -> bool {
        self.dsack_seen && self.too_old == TooOld::Reported
    }

    /// An ACK reports what fills a hole, `alone` or with others.
    pub(super) fn learn_fill(&mut self, alone: bool) {
        self.fills_alone += u32::from(alone);
        self.fills_joined += u32::from(!alone);
    }

    /// It acknowledges what fills a hole as soon as that comes, and holds back what lies above: a receiver that delays such
    /// acknowledgements seldom sends one for what fills the hole alone. Where it did so less often than not, 210 of 239 certain extents that
    /// rest on this were false (the field's numbers 380000 to 380199 and 400000 to 400149, at the sender).
    pub(super) fn answers_fills_at_once(&self) -> bool {
        self.compression.is_known() && self.fills_alone >= self.fills_joined
    }

    /// Without SACK: an acknowledgement that covers the left edge and the segment behind it, both sent again, is not of two that have just
    /// come: each has one of its own.
    pub(super) fn answers_each_fill(&self) -> bool {
        let often = self.fills_alone.saturating_mul(MAX_FILLS_JOINED) >= self.fills_joined;
        self.fills_alone >= MIN_FILLS_ALONE && often
    }

    /// It has shown what it does with data that is too old.
    pub(super) fn learn_too_old(&mut self, habit: TooOld) {
        if self.assumed.too_old == TooOld::Unknown {
            self.too_old = habit;
        }
    }

    /// For data above a hole it has echoed the timestamp of that data, or the one before.
    pub(super) fn learn_echo(&mut self, newest: bool, recent: bool) {
        self.echoes_newest += u32::from(newest);
        self.echoes_recent += u32::from(recent);
    }

    /// The timestamp that it echoes names what filled the left edge last (RFC 7323 section 4.3).
    #[inline]
    pub(super) fn echoes_by_rule(&self) -> bool {
        self.echo() != Echo::Newest
    }

    /// Which timestamp it echoes for data above a hole.
    pub(super) fn echo(&self) -> Echo {
        match self.assumed.echo {
            Echo::Unknown if self.echoes_newest.max(self.echoes_recent) < MIN_ECHOES => {
                Echo::Unknown
            }
            Echo::Unknown if self.echoes_newest > self.echoes_recent => Echo::Newest,
            Echo::Unknown => Echo::LeftEdge,
            known => known,
        }
    }

    /// What it says of data that it has already.
    pub(super) fn duplicates(&self) -> Duplicates {
        match self.assumed.duplicates {
            Duplicates::Unknown if self.dsack_seen => Duplicates::Reported,
            Duplicates::Unknown if self.hides_duplicates() => Duplicates::Unreported,
            known => known,
        }
    }

    /// It does not report duplicates, as far as is known.
    pub(super) fn hides_duplicates(&self) -> bool {
        let assumed = self.assumed.duplicates == Duplicates::Unreported;
        assumed || self.duplicates_hidden >= MIN_DUPLICATES_HIDDEN && !self.dsack_seen
    }

    /// Whether the connection has SACK, as options or blocks of it tell.
    pub(super) fn sack_options(&self) -> Option<bool> {
        self.sack_seen.then_some(true).or(self.sack)
    }

    /// It has SACK, as far as is known.
    pub(super) fn has_sack(&self) -> bool {
        self.sack_options() == Some(true)
    }

    /// An ACK of its may leave out what changed since the one before, and none repeats it: it has room for a single range (RFC 2018
    /// section 4 asks for each to be reported three times), or for two where it holds reports back.
    #[inline]
    pub(super) fn leaves_ranges_out(&self) -> bool {
        let few = if self.compression.is_known() { 2 } else { 1 };
        self.listing.is_of_at_most(few)
    }

    /// An ACK of its lists `blocks`, while it has `ranges` above a hole.
    #[inline]
    pub(super) fn learn_blocks(&mut self, blocks: u8, ranges: usize) {
        self.listing.learn(blocks, ranges, self.block_space());
    }

    /// Blocks for which an ACK of its has space beside its other options (RFC 2018 section 3).
    #[inline]
    fn block_space(&self) -> usize {
        if self.timestamps { 3 } else { 4 }
    }

    /// How many SACKed ranges the ACK `last` had room for. RFC 2018 section 3: three blocks beside
    /// timestamps, four without; a duplicate takes one, and so does data that is acknowledged already, which
    /// some stacks list first.
    #[inline]
    pub(super) fn room(&self, last: Option<&Segment>) -> usize {
        let most = self.listing.most(self.block_space());
        let known = |l: &Segment| {
            let first = l.sack_blocks().first();
            first.is_some_and(|b| (l.ack.wrapping_sub(b.1) as i32) >= 0)
        };
        most.saturating_sub(usize::from(last.is_some_and(known)))
    }

    /// With nothing missing a reader that catches up makes room that was there before, and tells of it in
    /// many ACKs (RFC 9293 section 3.8.6.2.2); room that never was may come with any ACK. A receiver that reports
    /// duplicates says more than its window does.
    pub(super) fn reader_catches_up(&self, seg: &Segment, last: &Segment) -> bool {
        let again = last.window < seg.window && seg.window <= self.widest;
        again && seg.sack_len == 0 && !self.dsack_seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duplicate_takes_the_room_of_a_block() {
        let receiver = Receiver::default();
        let mut last = segment!(ack: 500, sack_len: 1);
        last.sack[0] = (600, 700);
        assert_eq!(receiver.room(Some(&last)), 4);
        last.sack[0] = (100, 200);
        assert_eq!(receiver.room(Some(&last)), 3);
    }

    #[test]
    fn without_handshake_it_lacks_sack_only_if_its_acks_show_so() {
        let mut receiver = Receiver::default();
        assert!(receiver.may_lack_sack());
        assert!(!receiver.lacks_sack(false) && receiver.lacks_sack(true));
        receiver.sack_seen = true;
        assert!(!receiver.lacks_sack(true) && receiver.has_sack());
    }

    #[test]
    fn a_receiver_that_seldom_acknowledges_a_fill_alone_may_delay_that() {
        let at_once = |alone, joined| {
            let mut receiver = Receiver {
                fills_alone: alone,
                fills_joined: joined,
                ..Receiver::default()
            };
            receiver.compression.learn(1_000_000);
            receiver.answers_fills_at_once()
        };
        assert!(at_once(3, 3) && !at_once(3, 4));
    }
}
