//! Data that is sent beyond the window which the receiver has offered.
//!
//! A receiver takes nothing there (RFC 9293 section 3.10.7.4), and a sender that sends it all the same has to send it again. Next to the
//! sender that looks like a loss, except that the window tells.

use std::collections::VecDeque;

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
    /// What it does not offer to take yet, ascending.
    waiting: VecDeque<Sent>,
    /// Where those begin that had come to it when it offered to take them, ascending.
    refused: Vec<i64>,
    /// The receiver has taken data beyond its window, so windows say nothing of what it takes.
    ignored: bool,
}

heap!(Sent);
heap!(Beyond: waiting, refused);

impl Default for Beyond {
    fn default() -> Self {
        Beyond {
            edge: i64::MAX,
            waiting: VecDeque::new(),
            refused: Vec::new(),
            ignored: false,
        }
    }
}

impl Beyond {
    /// A window up to `edge` offers more than those before, or is the first one that is known.
    #[inline(always)]
    pub(super) fn is_news(&self, edge: i64) -> bool {
        edge > self.edge || self.edge == i64::MAX && edge != i64::MAX
    }

    /// The receiver offers at `now` to take what lies below `edge`; the window's edge never moves back (RFC 9293 section 3.8.6). What came
    /// there less than a round trip after it was sent may have met the wider window. Where the scale of windows is not known, a closed
    /// one is all that says something: once it opens, its edge is the greatest number again.
    pub(super) fn offered(&mut self, edge: i64, now: i64, rtt_ns: i64) {
        if !self.is_news(edge) {
            return;
        }
        self.edge = edge;
        while let Some(&sent) = self.waiting.front()
            && sent.start < edge
        {
            self.waiting.pop_front();
            if now >= sent.sent_ns.saturating_add(rtt_ns) {
                self.refused.push(sent.start);
            }
        }
    }

    /// A first transmission. A single byte probes a closed window.
    #[inline]
    pub(super) fn sent(&mut self, start: i64, len: u32, sent_ns: i64) {
        if start >= self.edge && len > 1 && !self.ignored {
            self.remember(Sent { start, sent_ns });
        }
    }

    #[inline(never)]
    fn remember(&mut self, sent: Sent) {
        if self.waiting.len() + self.refused.len() < MAX_BEYOND {
            self.waiting.push_back(sent);
        }
    }

    /// The receiver reports the first transmission of the segment that begins there.
    #[inline]
    pub(super) fn taken(&mut self, start: i64) {
        if !(self.waiting.is_empty() && self.refused.is_empty()) && self.has(start) {
            self.ignored = true;
            (self.waiting, self.refused) = Default::default();
        }
    }

    /// The segment that begins there lay beyond the window when it came to the receiver.
    pub(super) fn has(&self, start: i64) -> bool {
        // Most reports are of what lies between the two, so their ends are looked at before either is searched.
        let may_wait = self
            .waiting
            .front()
            .is_some_and(|first| first.start <= start);
        let may_be_refused = self.refused.last().is_some_and(|&last| start <= last);
        may_wait
            && self
                .waiting
                .binary_search_by_key(&start, |sent| sent.start)
                .is_ok()
            || may_be_refused && self.refused.binary_search(&start).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_an_unknown_scale_tell_only_while_they_are_closed() {
        let mut beyond = Beyond::default();
        for closed in [5_000, 9_000] {
            beyond.offered(i64::MAX, 0, 40);
            beyond.sent(closed, 1_000, 10);
            beyond.offered(closed, 20, 40);
            beyond.sent(closed + 1_000, 1_000, 30);
            beyond.offered(i64::MAX, 90, 40);
            beyond.sent(closed + 2_000, 1_000, 100);
            beyond.taken(closed);
            beyond.taken(closed + 2_000);
            let has = [0, 1_000, 2_000].map(|after| beyond.has(closed + after));
            assert_eq!(has, [false, true, false]);
        }
    }

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
