//! Why a sender sent something again.

use crate::named;

named! {
    /// What a recovery, a time-out or a retransmission goes back to: one cause each.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
    #[non_exhaustive]
    pub enum Cause {
        /// Packets were lost while the round-trip time stood near its top: a full queue dropped them.
        QueueLoss = "queue-loss",
        /// Packets were lost while the round-trip time was low: nothing speaks for a full queue.
        RandomLoss = "random-loss",
        /// Packets were lost; the round-trip time does not tell where.
        Loss = "loss",
        /// Packets were too large for a link of the path, as ICMP says (RFC 1191, RFC 8201).
        TooLarge = "too-large-for-the-path",
        /// The other host could not be reached, as ICMP says.
        Unreachable = "unreachable",
        /// Routers passed packets on in a loop, as ICMP says (time exceeded).
        TimeExceeded = "time-exceeded",
        /// The receiver refused what arrived (PAWS, RFC 7323 section 5; outside the window).
        Refused = "refused",
        /// A late packet was taken for lost (RFC 2883 section 5.2).
        Reordering = "reordering",
        /// Acknowledgements overtook each other on their way back; no data was late.
        AckReordering = "ack-reordering",
        /// A tail loss probe (RFC 8985 section 7), sent to hear of the end, repeated what had arrived.
        TailProbe = "tail-probe",
        /// The retransmission timer expired although everything had arrived: the round-trip time had
        /// jumped, or acknowledgements were lost (RFC 2883 sections 5.3 and 5.4).
        DelayJump = "delay-jump",
        /// The sender repeated data before an acknowledgement or a timer can have made it do so: some stacks and content
        /// networks send copies in advance. It costs no window.
        InAdvance = "in-advance",
        /// The data was sent again until the end and never acknowledged: the path or the receiver was dead for it.
        Unanswered = "unanswered",
        /// Nothing that was captured explains it.
        #[default]
        Unknown = "unknown",
    }
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
