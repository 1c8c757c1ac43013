//! The explanations that the inference at the sender weighs, each with its source and its switch.

/// One reading of what ACKs show that is not plain from a single one of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Explanation {
    /// An ACK that nothing visible caused answers an original that the receiver refused.
    Refused,
    /// A report that comes sooner than a retransmission can have caused it is the original's.
    TooSoon,
    /// A report that left, by the receiver's timestamp clock, sooner than a retransmission can have caused it is the
    /// original's.
    ReceiverClock,
    /// An ACK that is the first to cover a segment reports it as a duplicate: both came.
    Crossed,
    /// What one ACK reports came in the order that the usual lateness gives it.
    Lateness,
}

impl Explanation {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Refused,
        Self::TooSoon,
        Self::ReceiverClock,
        Self::Crossed,
        Self::Lateness,
    ];

    /// Its name: lower case, words joined by `-`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::TooSoon => "too-soon",
            Self::ReceiverClock => "receiver-clock",
            Self::Crossed => "crossed",
            Self::Lateness => "lateness",
        }
    }

    /// The rule or the function of a stack that it rests on.
    pub fn source(self) -> &'static str {
        match self {
            Self::Refused => "RFC 7323 section 5.3; Linux tcp_send_dupack",
            Self::TooSoon => "RFC 8985 section 6.2, step 2",
            Self::ReceiverClock => "RFC 7323 section 4.1; RFC 8985 section 6.2, step 2",
            Self::Crossed => "RFC 2883 section 4; RFC 8985 section 7.4",
            Self::Lateness => "RFC 4737 section 4.3",
        }
    }
}

/// Which explanations are weighed: all, unless some are taken out to see what they earn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Explanations(u32);

impl Default for Explanations {
    fn default() -> Self {
        Explanations(u32::MAX)
    }
}

impl Explanations {
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
