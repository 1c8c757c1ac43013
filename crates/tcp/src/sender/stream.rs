//! The sender's position in its stream of sequence numbers.

use crate::seq::Seq;

/// The stream of one direction: what has been written, sent and acknowledged.
#[derive(Debug, Clone)]
pub(crate) struct Stream {
    /// Initial sequence number; SYN's.
    pub(crate) iss: Seq,
    /// First sequence number not yet acknowledged.
    pub(crate) una: Seq,
    /// Next sequence number to be sent for the first time.
    pub(crate) nxt: Seq,
    /// One past the last byte the application has written.
    pub(crate) write_end: Seq,
    /// The application has closed: FIN comes at `write_end`.
    pub(crate) fin_queued: bool,
    /// The SYN has left.
    pub(super) syn_sent: bool,
    /// End of the last segment sent that was smaller than the maximum (Linux `snd_sml`).
    pub(super) small_end: Seq,
}

impl Stream {
    /// Nothing sent, nothing written.
    pub(super) fn new(iss: Seq) -> Self {
        Self {
            iss,
            una: iss,
            nxt: iss,
            write_end: iss + 1,
            fin_queued: false,
            syn_sent: false,
            small_end: iss,
        }
    }

    /// The SYN has not been acknowledged.
    pub(crate) fn opening(&self) -> bool {
        self.una == self.iss
    }

    /// First byte of data that is not acknowledged: the SYN, which comes before, takes nothing of the peer's window.
    pub(super) fn data_una(&self) -> Seq {
        self.una.max(self.iss + 1)
    }

    /// Bytes written and not yet sent.
    pub(super) fn unsent(&self) -> u64 {
        self.write_end.saturating_sub(self.nxt)
    }

    /// True if all written data has been sent, and FIN has not.
    pub(super) fn fin_due(&self) -> bool {
        self.fin_queued && self.nxt == self.write_end
    }

    /// True if data or FIN has not been sent yet.
    pub(crate) fn has_new(&self) -> bool {
        self.write_end > self.nxt || self.fin_due()
    }

    /// Everything sent, FIN included, has been acknowledged.
    pub(super) fn fin_acknowledged(&self) -> bool {
        self.fin_queued && self.una > self.write_end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_syn_to_the_acknowledged_fin() {
        let mut stream = Stream::new(100);
        assert!(stream.opening());
        stream.nxt = 101; // SYN
        stream.una = 101;
        assert!(!stream.opening() && !stream.has_new());
        stream.write_end = 1101;
        assert!(stream.has_new() && stream.unsent() == 1000);
        stream.fin_queued = true;
        assert!(!stream.fin_due());
        stream.nxt = 1101;
        assert!(stream.fin_due() && stream.has_new() && stream.unsent() == 0);
        stream.nxt = 1102; // FIN
        assert!(!stream.has_new());
        stream.una = 1101;
        assert!(!stream.fin_acknowledged());
        stream.una = 1102;
        assert!(stream.fin_acknowledged());
    }
}
