//! How often a sender sent something again for one cause, and what a cause is found by.

use inorder_base::cause::Cause;

use crate::prompt::Prompt;

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
    /// Offset of the lowest segment sent again in it: a tail loss probe comes before what is below.
    pub(crate) first: i64,
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
