//! Why a sender sent something again.

use crate::prompt::Prompt;

/// What a recovery, a time-out or a retransmission goes back to: one cause each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
#[non_exhaustive]
pub enum Cause {
    /// Packets were lost while the round-trip time stood near its top: a full queue dropped them.
    QueueLoss,
    /// Packets were lost while the round-trip time was low: nothing speaks for a full queue.
    RandomLoss,
    /// Packets were lost; the round-trip time does not tell where.
    Loss,
    /// Packets were too large for a link of the path, as ICMP says (RFC 1191, RFC 8201).
    TooLarge,
    /// The other host could not be reached, as ICMP says.
    Unreachable,
    /// Routers passed packets on in a loop, as ICMP says (time exceeded).
    TimeExceeded,
    /// The receiver refused what arrived (PAWS, RFC 7323 section 5; outside the window).
    Refused,
    /// A late packet was taken for lost (RFC 2883 section 5.2).
    Reordering,
    /// Acknowledgements overtook each other on their way back; no data was late.
    AckReordering,
    /// A tail loss probe (RFC 8985 section 7), sent to hear of the end, repeated what had arrived.
    TailProbe,
    /// The retransmission timer expired although everything had arrived: the round-trip time had
    /// jumped, or acknowledgements were lost (RFC 2883 sections 5.3 and 5.4).
    DelayJump,
    /// The sender repeated data before an acknowledgement or a timer can have made it do so: some stacks and content
    /// networks send copies in advance. It costs no window.
    InAdvance,
    /// The data was sent again until the end and never acknowledged: the path or the receiver was dead for it.
    Unanswered,
    /// Nothing that was captured explains it.
    #[default]
    Unknown,
}

impl Cause {
    /// True if it makes a sender reduce its window: a probe or a copy in advance does not, and neither does what had to be
    /// cut anew for the path (RFC 1191 section 6.4).
    pub fn reduces(self) -> bool {
        !matches!(self, Cause::TailProbe | Cause::InAdvance | Cause::TooLarge)
    }

    /// True if data was lost on the path.
    pub fn is_loss(self) -> bool {
        let by_icmp = matches!(
            self,
            Cause::TooLarge | Cause::Unreachable | Cause::TimeExceeded
        );
        by_icmp || matches!(self, Cause::QueueLoss | Cause::RandomLoss | Cause::Loss)
    }
}

/// How much of a flow's recovery goes back to one cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct CauseCount {
    /// The cause.
    pub cause: Cause,
    /// Recovery phases, those that a time-out started included.
    pub recoveries: u64,
    /// Of these, started by a time-out.
    pub timeouts: u64,
    /// How often the retransmission timer expired in them.
    pub expiries: u64,
    /// Retransmissions sent in them.
    pub retransmissions: u64,
}

impl CauseCount {
    /// Nothing counted yet.
    pub fn new(cause: Cause) -> Self {
        CauseCount {
            cause,
            recoveries: 0,
            timeouts: 0,
            expiries: 0,
            retransmissions: 0,
        }
    }
}

/// What is known of a recovery phase beside what outputs say of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Facts {
    /// Offset of the highest segment sent again in it.
    pub(crate) last: i64,
    /// Bytes from the first segment sent again to the end of what had been sent.
    pub(crate) to_end: i64,
    /// Expected number of segments retransmitted in it that had been lost; not a whole number if it is undecided which.
    pub(crate) lost: f64,
    /// Number of segments retransmitted in it that the receiver discarded, or may have discarded.
    pub(crate) perhaps_refused: u32,
    /// Logarithm of the probability that none of these was lost.
    pub(crate) none_lost: f64,
    /// What made the sender begin.
    pub(crate) prompt: Prompt,
    /// An acknowledgement or a timer can have made the sender repeat some of it.
    pub(crate) asked: bool,
    /// Something sent again in it was never acknowledged.
    pub(crate) unanswered: bool,
}
