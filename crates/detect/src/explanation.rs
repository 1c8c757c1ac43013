//! The explanations that the inference weighs, each with its source and its switch.

/// Declares the explanations: of each what it says, its name, and the rule or the function of a stack that it rests on.
macro_rules! explanations {
    ($($(#[$doc:meta])+ $variant:ident => $name:literal, $source:literal;)+) => {
        /// One reading of what a capture shows that is not plain from a single packet of it.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[non_exhaustive]
        pub enum Explanation {
            $($(#[$doc])+ $variant,)+
        }

        impl Explanation {
            /// All of them.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Its name: lower case, words joined by `-`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The rule or the function of a stack that it rests on.
            pub fn source(self) -> &'static str {
                match self {
                    $(Self::$variant => $source,)+
                }
            }
        }
    };
}

explanations! {
    /// An ACK that nothing visible caused answers an original that the receiver refused.
    Refused => "refused", "RFC 7323 section 5.3; Linux tcp_send_dupack";
    /// A report that comes sooner than a retransmission can have caused it is the original's.
    TooSoon => "too-soon", "RFC 8985 section 6.2 step 2";
    /// An ACK that is the first to cover a segment reports it as a duplicate: both came.
    Crossed => "crossed", "RFC 2883 section 4; RFC 8985 section 7.4";
    /// What one ACK reports came in the order that the usual lateness gives it.
    Lateness => "lateness", "RFC 4737 section 4.3";
    /// A duplicate may be of a copy that the network made: retransmissions are copied as often as other packets.
    NetworkCopies => "network-copies", "RFC 2883 section 5.1; RFC 3708 section 1";
    /// Two copies came, and no timestamp names the first: the times say which it was, or nothing does.
    PairOrder => "pair-order", "RFC 3522 section 3.1";
    /// Where many packets are late, a retransmission is late as often as an original.
    LateCopies => "late-copies", "RFC 4737 section 4.1";
    /// An ACK without new information that no hole explains well makes each hole it may answer doubtful. It does not count as
    /// an ACK without a cause when the rate of such ACKs is learnt.
    LeftOver => "left-over", "RFC 7323 section 5.3; Linux tcp_send_dupack";
    /// A receiver that lists fewer ranges than it has leaves out what came between two of its ACKs: what shows later may not be late.
    UnlistedRanges => "unlisted-ranges", "RFC 2018 section 4";
    /// Several ACKs that answer as many of several holes name an original only if two holes are in question, or if lateness
    /// has a habit.
    FewCauses => "few-causes", "RFC 7323 section 5.3; Linux tcp_send_dupack";
    /// A missing ACK behind which a hole is still open answers its original only if that was too old.
    StillOpen => "still-open", "RFC 7323 sections 4.3 and 5.3";
    /// An ACK without new information that lists another range first answers a duplicate in that range, which the receiver does not
    /// report otherwise.
    MovedBlock => "moved-block", "RFC 2018 section 4; Linux tcp_sack_new_ofo_skb";
    /// Where duplicates are not reported, an ACK of a single segment may have been sent before its time by an original that came
    /// after its retransmission.
    OwedAnswers => "owed-answers", "RFC 5681 section 4.2; Linux tcp_send_dupack";
    /// A recovery with more holes than ACKs without new information was caused by loss, whichever hole that was.
    MoreHoles => "more-holes", "RFC 7323 section 5.3; Linux tcp_send_dupack";
    /// At the receiver: an original that was refused is not what brings its bytes later.
    RefusedOnce => "refused-once", "RFC 7323 section 5.3";
    /// At the receiver: of copies of the same bytes, the one that was sent first was needed, whichever came first.
    SentOrder => "sent-order", "RFC 7323 section 4.1; Linux ip_select_ident_segs";
    /// Without SACK: a duplicate ACK a round trip after a retransmission that turned out to be needless answers that.
    AnsweredCopies => "answered-copies", "RFC 5681 section 4.2";
    /// Without SACK: more duplicate ACKs than retransmissions under way say that data above the left edge came first.
    NewAbove => "new-above", "RFC 5681 section 4.2";
    /// Without the handshake: duplicate ACKs that have no block, although data waited above a hole, say that there is no SACK.
    NoBlock => "no-block", "RFC 2018 section 4";
    /// On the path: what comes by behind its retransmission is the original, and that was needless.
    CopyAhead => "copy-ahead", "RFC 3522 section 3.1; RFC 7323 section 4.1";
    /// What other connections show of the identifications of what a host sends again holds for all of its connections.
    OtherConnections => "other-connections", "RFC 6864 section 4.1";
    /// Where no acknowledgement was captured: what came by late was sent again for that.
    AskedFor => "asked-for", "RFC 5681 section 3.2";
    /// Segments begin and end where acknowledgements, blocks and retransmissions do, wherever the capture has cut what was sent in one go.
    WireCuts => "wire-cuts", "RFC 2018 section 3; RFC 5681 section 4.2";
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
