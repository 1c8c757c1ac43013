//! Data that is sent beyond the window which the receiver has offered.
//!
//! A receiver takes nothing there (RFC 9293 section 3.10.7.4), and a sender that sends it all the same has to send it again. Next to the
//! sender that looks like a loss, except that the window tells.

/// Segments remembered; further ones count as lost.
const MAX_BEYOND: usize = 4_096;

/// A segment beyond the window.
#[derive(Clone, Copy, Debug)]
struct Sent {
    start: i64,
    sent_ns: i64,
}

/// What lies beyond the window.
#[derive(Debug)]
pub(super) struct Beyond {
    /// One past the highest byte that the receiver has offered to take; the greatest number if that is not known.
    edge: i64,
    sent: Vec<Sent>,
    /// The receiver has taken data beyond its window, so windows say nothing of what it takes.
    ignored: bool,
}

heap!(Sent);
heap!(Beyond: sent);

impl Default for Beyond {
    fn default() -> Self {
        Beyond {
            edge: i64::MAX,
            sent: Vec::new(),
            ignored: false,
        }
    }
}

impl Beyond {
    /// The receiver offers at `now` to take what lies below `edge`; the window's edge never moves back (RFC 9293 section 3.8.6). What came
    /// there less than a round trip after it was sent may have met the wider window.
    #[inline]
    pub(super) fn offered(&mut self, edge: i64, now: i64, rtt_ns: i64) {
        if edge == i64::MAX || edge <= self.edge && self.edge != i64::MAX {
            return;
        }
        self.edge = edge;
        if !self.sent.is_empty() {
            let refused = |s: &Sent| s.start >= edge || now >= s.sent_ns.saturating_add(rtt_ns);
            self.sent.retain(refused);
        }
    }

    /// A first transmission. A single byte probes a closed window.
    #[inline]
    pub(super) fn sent(&mut self, start: i64, len: u32, sent_ns: i64) {
        if start >= self.edge && len > 1 && !self.ignored && self.sent.len() < MAX_BEYOND {
            self.sent.push(Sent { start, sent_ns });
        }
    }

    /// The receiver reports the first transmission of the segment that begins there.
    #[inline]
    pub(super) fn taken(&mut self, start: i64) {
        if !self.sent.is_empty() && self.has(start) {
            self.ignored = true;
            self.sent = Vec::new();
        }
    }

    /// The segment that begins there lay beyond the window when it came to the receiver.
    pub(super) fn has(&self, start: i64) -> bool {
        let next = self.sent.partition_point(|s| s.start < start);
        self.sent.get(next).is_some_and(|s| s.start == start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_beyond_the_window_is_refused_unless_that_may_have_opened_before() {
        let mut beyond = Beyond::default();
        beyond.sent(5_000, 1_000, 0);
        assert!(!beyond.has(5_000), "no window is known");
        beyond.offered(10_000, 10, 40);
        for start in [9_000, 10_000, 11_000] {
            beyond.sent(start, 1_000, 20);
        }
        beyond.sent(12_000, 1, 20);
        let has = |beyond: &Beyond| [9_000, 10_000, 11_000, 12_000].map(|start| beyond.has(start));
        assert_eq!(has(&beyond), [false, true, true, false]);
        beyond.offered(11_000, 50, 40);
        assert_eq!(
            has(&beyond),
            [false, false, true, false],
            "it may have come later"
        );
        beyond.offered(20_000, 60, 40);
        assert_eq!(
            has(&beyond),
            [false, false, true, false],
            "a round trip later"
        );
        // What it takes beyond the window shows that it does not look at it.
        beyond.offered(20_000, 60, 40);
        beyond.sent(20_000, 1_000, 70);
        beyond.sent(21_000, 1_000, 70);
        beyond.taken(21_000);
        beyond.sent(22_000, 1_000, 80);
        assert!(
            [20_000, 21_000, 22_000]
                .iter()
                .all(|&start| !beyond.has(start))
        );
    }
}
