//! The explanations that the inference weighs, each with its source and its switch.

/// One reading of what a capture shows that is not plain from a single packet of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Explanation {
    /// An ACK that nothing visible caused answers an original that the receiver refused.
    Refused,
    /// A report that comes sooner than a retransmission can have caused it is the original's.
    TooSoon,
    /// An ACK that is the first to cover a segment reports it as a duplicate: both came.
    Crossed,
    /// What one ACK reports came in the order that the usual lateness gives it.
    Lateness,
    /// A duplicate may be of a copy that the network made: retransmissions are copied as often as other packets.
    NetworkCopies,
    /// Only the times of the first and the last retransmission of a segment are remembered, so a further one cannot be
    /// distinguished from the original by its time.
    ManyCopies,
    /// Two copies came, and no timestamp names the first: the times say which it was, or nothing does.
    PairOrder,
    /// Where many packets are late, a retransmission is late as often as an original.
    LateCopies,
    /// Without SACK, a duplicate ACK before an advance is for late data only where several of them were.
    DuplicateAcks,
    /// An ACK without new information that no hole explains well makes each hole it may answer doubtful. It does not count as
    /// an ACK without a cause when the rate of such ACKs is learnt.
    LeftOver,
    /// Several ACKs that answer as many of several holes name an original only if two holes are in question, or if lateness
    /// has a habit.
    FewCauses,
    /// An ACK without new information may answer a retransmission that the receiver discarded, where a segment had to be
    /// retransmitted twice.
    RefusedCopies,
    /// A missing ACK behind which a hole is still open answers its original only if that was too old.
    StillOpen,
    /// Where more ACKs are missing than the blocks behind them have room for ranges, segments side by side that a later ACK
    /// reports may have come at any time.
    HiddenRanges,
    /// An ACK without new information that lists another range first answers a duplicate in that range, which the receiver does not
    /// report otherwise.
    MovedBlock,
    /// Where duplicates are not reported, an ACK of a single segment may have been sent before its time by an original that came
    /// after its retransmission.
    OwedAnswers,
    /// A duplicate that comes just behind what was sent before the last retransmission, and ahead of all that was sent behind it, is
    /// that retransmission.
    InTurn,
    /// A recovery with more holes than ACKs without new information was caused by loss, whichever hole that was.
    MoreHoles,
    /// A round trip after an ACK that reports no later data, only a timer made the sender repeat what is not its last.
    TimerAlone,
    /// At the receiver: an original that was refused is not what brings its bytes later.
    RefusedOnce,
    /// At the receiver: of copies of the same bytes, the one that was sent first was needed, whichever came first.
    SentOrder,
    /// Without SACK: a duplicate ACK a round trip after a retransmission that turned out to be needless answers that.
    AnsweredCopies,
    /// Without SACK: more duplicate ACKs than retransmissions under way say that data above the left edge came first.
    NewAbove,
    /// Without the handshake: duplicate ACKs that have no block, although data waited above a hole, say that there is no SACK.
    NoBlock,
    /// On the path: what comes by behind its retransmission is the original, and that was needless.
    CopyAhead,
    /// Segments begin and end where acknowledgements, blocks and retransmissions do, wherever the capture has cut what was sent in one go.
    WireCuts,
}

impl Explanation {
    /// All of them.
    pub const ALL: [Self; 26] = [
        Self::Refused,
        Self::TooSoon,
        Self::Crossed,
        Self::Lateness,
        Self::NetworkCopies,
        Self::ManyCopies,
        Self::PairOrder,
        Self::LateCopies,
        Self::DuplicateAcks,
        Self::LeftOver,
        Self::FewCauses,
        Self::RefusedCopies,
        Self::StillOpen,
        Self::HiddenRanges,
        Self::MovedBlock,
        Self::OwedAnswers,
        Self::InTurn,
        Self::MoreHoles,
        Self::TimerAlone,
        Self::RefusedOnce,
        Self::SentOrder,
        Self::AnsweredCopies,
        Self::NewAbove,
        Self::NoBlock,
        Self::CopyAhead,
        Self::WireCuts,
    ];

    /// Its name: lower case, words joined by `-`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::TooSoon => "too-soon",
            Self::Crossed => "crossed",
            Self::Lateness => "lateness",
            Self::NetworkCopies => "network-copies",
            Self::ManyCopies => "many-copies",
            Self::PairOrder => "pair-order",
            Self::LateCopies => "late-copies",
            Self::DuplicateAcks => "duplicate-acks",
            Self::LeftOver => "left-over",
            Self::FewCauses => "few-causes",
            Self::RefusedCopies => "refused-copies",
            Self::StillOpen => "still-open",
            Self::HiddenRanges => "hidden-ranges",
            Self::MovedBlock => "moved-block",
            Self::OwedAnswers => "owed-answers",
            Self::InTurn => "in-turn",
            Self::MoreHoles => "more-holes",
            Self::TimerAlone => "timer-alone",
            Self::RefusedOnce => "refused-once",
            Self::SentOrder => "sent-order",
            Self::AnsweredCopies => "answered-copies",
            Self::NewAbove => "new-above",
            Self::NoBlock => "no-block",
            Self::CopyAhead => "copy-ahead",
            Self::WireCuts => "wire-cuts",
        }
    }

    /// The rule or the function of a stack that it rests on.
    pub fn source(self) -> &'static str {
        match self {
            Self::Refused => "RFC 7323 section 5.3; Linux tcp_send_dupack",
            Self::TooSoon => "RFC 8985 section 6.2 step 2",
            Self::Crossed => "RFC 2883 section 4; RFC 8985 section 7.4",
            Self::Lateness => "RFC 4737 section 4.3",
            Self::NetworkCopies => "RFC 2883 section 5.1; RFC 3708 section 1",
            Self::ManyCopies => "RFC 2883 section 4; RFC 3522 section 3.1",
            Self::PairOrder => "RFC 3522 section 3.1",
            Self::LateCopies => "RFC 4737 section 4.1",
            Self::DuplicateAcks => "RFC 5681 sections 2 and 4.2",
            Self::LeftOver | Self::FewCauses | Self::RefusedCopies => {
                "RFC 7323 section 5.3; Linux tcp_send_dupack"
            }
            Self::StillOpen => "RFC 7323 sections 4.3 and 5.3",
            Self::HiddenRanges => "RFC 2018 section 4; Linux tcp_sack_new_ofo_skb",
            Self::MovedBlock => "RFC 2018 section 4; Linux tcp_sack_new_ofo_skb",
            Self::OwedAnswers => "RFC 5681 section 4.2; Linux tcp_send_dupack",
            Self::InTurn => "RFC 2883 section 4; RFC 8985 section 7.4",
            Self::MoreHoles => "RFC 7323 section 5.3; Linux tcp_send_dupack",
            Self::TimerAlone => "RFC 6675 section 5; RFC 8985 section 6.2",
            Self::RefusedOnce => "RFC 7323 section 5.3",
            Self::SentOrder => "RFC 7323 section 4.1; Linux ip_select_ident_segs",
            Self::AnsweredCopies | Self::NewAbove => "RFC 5681 section 4.2",
            Self::NoBlock => "RFC 2018 section 4",
            Self::CopyAhead => "RFC 3522 section 3.1; RFC 7323 section 4.1",
            Self::WireCuts => "RFC 2018 section 3; RFC 5681 section 4.2",
        }
    }
}

/// Which explanations are weighed: all, unless some are taken out to see what they earn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Explanations(u32);

impl Default for Explanations {
    fn default() -> Self {
        Self::ALL
    }
}

impl Explanations {
    /// All of them.
    pub const ALL: Self = Explanations(u32::MAX);

    /// All but `explanation`.
    pub fn without(self, explanation: Explanation) -> Self {
        Explanations(self.0 & !(1 << explanation as u32))
    }

    /// Is it weighed?
    pub fn has(self, explanation: Explanation) -> bool {
        self.0 & (1 << explanation as u32) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_switched_alone() {
        for off in Explanation::ALL {
            let set = Explanations::default().without(off);
            for other in Explanation::ALL {
                assert_eq!(
                    set.has(other),
                    other != off,
                    "{} without {}",
                    other.name(),
                    off.name()
                );
            }
        }
    }
}
