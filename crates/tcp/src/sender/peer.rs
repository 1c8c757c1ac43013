//! The window advertised by the peer.

use crate::seq::Seq;

/// The peer's receive window.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PeerWindow {
    /// Bytes, counted from the first unacknowledged one.
    pub(crate) window: u64,
    /// The largest window the peer ever offered, bytes.
    pub(crate) largest: u64,
    /// Sequence number of the segment that brought the window (RFC 9293 SND.WL1).
    updated_at: Seq,
}

impl PeerWindow {
    /// RFC 9293 section 3.10.7.4: a segment with sequence number `seq` that is newer, or acknowledges more than `una`,
    /// updates the window. True if the window has changed.
    pub(super) fn update(&mut self, ack: Seq, seq: Seq, window: u64, una: Seq) -> bool {
        let newer =
            ack > una || seq > self.updated_at || (seq == self.updated_at && window > self.window);
        if !newer {
            return false;
        }
        self.updated_at = seq;
        let changed = self.window != window;
        self.window = window;
        self.largest = self.largest.max(window);
        changed
    }

    /// Bytes that may still be sent beyond `nxt`.
    pub(super) fn room(&self, una: Seq, nxt: Seq) -> u64 {
        (una + self.window).saturating_sub(nxt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overtaken_segment_does_not_bring_its_old_window_back() {
        let mut peer = PeerWindow::default();
        assert!(peer.update(100, 10, 5000, 50));
        assert!(peer.update(100, 20, 3000, 100));
        // Sent before the last one, and acknowledges nothing new.
        assert!(!peer.update(100, 10, 5000, 100));
        // The same position in the peer's stream: the window may only grow.
        assert!(!peer.update(100, 20, 2000, 100));
        assert!(peer.update(100, 20, 4000, 100));
        assert_eq!((peer.window, peer.largest), (4000, 5000));
        assert_eq!(peer.room(100, 1100), 3000);
        assert_eq!(peer.room(100, 9000), 0);
    }
}
