//! An outstanding segment, and one that has been reported as received.

use crate::Nanos;
use crate::seq::Seq;

/// Identity of an outstanding segment; consecutive in sequence order.
pub type Id = u64;

/// One segment outstanding (RFC 8985 section 5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// First sequence number.
    pub start: Seq,
    /// One past the last; counts SYN and FIN.
    pub end: Seq,
    /// Time of the last transmission.
    pub sent_at: Nanos,
    /// Time of the first transmission.
    pub first_sent_at: Nanos,
    /// Congestion window when it was last sent.
    pub cwnd: u32,
    /// Timestamp value of the last transmission.
    pub tsval: u32,
    /// Number of transmissions so far.
    pub transmissions: u8,
    /// Reported as received by SACK.
    pub sacked: bool,
    /// Considered lost.
    pub lost: bool,
    /// A retransmission is outstanding.
    pub retrans: bool,
    /// It begins with SYN.
    pub syn: bool,
    /// It ends with FIN.
    pub fin: bool,
}

impl Sent {
    /// Sent more than once.
    pub(crate) fn ever_retransmitted(&self) -> bool {
        self.transmissions > 1
    }

    /// Its last transmission still waits for an answer.
    pub fn waits(&self) -> bool {
        !self.sacked && (!self.lost || self.retrans)
    }

    /// Considered lost, and not sent again since.
    pub(crate) fn awaits_retransmission(&self) -> bool {
        self.lost && !self.retrans
    }

    /// Payload, bytes.
    pub fn payload(&self) -> u32 {
        (self.end - self.start) as u32 - u32::from(self.syn) - u32::from(self.fin)
    }
}

/// A segment that an acknowledgement has just reported as received for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivered {
    /// Its index in the queue before the acknowledgement, 0 for the oldest.
    pub index: u32,
    /// Reported by a SACK block, not cumulatively.
    pub by_sack: bool,
    /// The record before the acknowledgement.
    pub record: Sent,
}
