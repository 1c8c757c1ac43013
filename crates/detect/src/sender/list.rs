//! Every retransmission and what became of it, for those who ask: the same verdicts that are
//! counted, each given when it is.

use std::collections::BTreeMap;

use crate::result::{Confidence, Retransmission, Verdict};
use inorder_base::heap::Heap;

/// How many, and how sure that is.
pub(super) type Told = (u32, Confidence);

/// The list, and which of its lines are open.
#[derive(Debug, Default)]
pub(super) struct List {
    keep: bool,
    all: Vec<Retransmission>,
    /// Places in `all` of those without a verdict, by first byte.
    open: BTreeMap<i64, Vec<usize>>,
}

impl Heap for List {
    fn heap_bytes(&self) -> usize {
        // Most lists have one place, for which room for four is reserved.
        let each = size_of::<(i64, Vec<usize>)>() + 4 * size_of::<usize>();
        self.all.heap_bytes() + self.open.len() * each
    }
}

impl List {
    /// Without `keep` nothing is listed.
    pub(super) fn new(keep: bool) -> Self {
        List {
            keep,
            ..Self::default()
        }
    }

    /// Appends a retransmission; while its verdict is open it is found by the offset of its first byte, `open`.
    /// The confidence of an open one is how sure its verdict may be.
    pub(super) fn push(&mut self, mut retransmission: Retransmission, open: Option<i64>) {
        if !self.keep {
            return;
        }
        if let Some(start) = open {
            retransmission.confidence = Confidence::Certain;
            self.open.entry(start).or_default().push(self.all.len());
        }
        self.all.push(retransmission);
    }

    /// The one that was appended last.
    pub(super) fn last_mut(&mut self) -> Option<&mut Retransmission> {
        self.all.last_mut()
    }

    /// The open ones that begin in `[start, end)` get their verdicts: the last `spurious` of them
    /// were spurious, `needed` before those needed, as sure as said. Were there more, these stay ambiguous: they
    /// were cut in a way that they are no copies of what is decided here.
    pub(super) fn close(&mut self, start: i64, end: i64, needed: Told, spurious: Told) {
        let ((needed, sure_needed), (spurious, sure_spurious)) = (needed, spurious);
        let mut lines = self.take(start, end);
        lines.sort_unstable();
        let (needed, spurious) = (needed as usize, spurious as usize);
        for (nth, line) in lines.into_iter().rev().take(needed + spurious).enumerate() {
            let told = if nth < spurious {
                (Verdict::Spurious, sure_spurious)
            } else {
                (Verdict::Needed, sure_needed)
            };
            if let Some(r) = self.all.get_mut(line) {
                (r.verdict, r.confidence) = (told.0, told.1.max(r.confidence));
            }
        }
    }

    fn take(&mut self, start: i64, end: i64) -> Vec<usize> {
        let mut lines = Vec::new();
        while let Some((&at, _)) = self.open.range(start..end.max(start)).next() {
            lines.extend(self.open.remove(&at).unwrap_or_default());
        }
        lines
    }

    /// All of them, in the order they were sent.
    pub(super) fn into_all(mut self) -> Vec<Retransmission> {
        let undecided = |r: &&mut Retransmission| r.verdict == Verdict::Ambiguous;
        let undecided = self.all.iter_mut().filter(undecided);
        undecided.for_each(|r| r.confidence = Confidence::Ambiguous);
        self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(starts: &[i64]) -> List {
        let mut list = List::new(true);
        for (at_ns, &start) in (0..).zip(starts) {
            let line = Retransmission {
                frame: 1,
                at_ns,
                seq_offset: start as u64,
                len: 100,
                verdict: Verdict::Ambiguous,
                confidence: Confidence::Ambiguous,
                cause: crate::result::Cause::Unknown,
            };
            list.push(line, Some(start));
        }
        list
    }

    #[test]
    fn verdicts_come_once_and_the_last_copies_are_the_spurious_ones() {
        use Verdict::{Ambiguous, Needed, Spurious};
        let mut list = listed(&[100, 0, 100, 200]);
        let (certain, likely) = (Confidence::Certain, Confidence::Likely);
        list.close(100, 200, (1, likely), (1, certain));
        list.close(100, 200, (9, certain), (9, certain));
        let open = (Ambiguous, Confidence::Ambiguous);
        let told: Vec<_> = list
            .into_all()
            .iter()
            .map(|r| (r.verdict, r.confidence))
            .collect();
        assert_eq!(told, [(Needed, likely), open, (Spurious, certain), open]);
    }

    #[test]
    fn a_verdict_is_no_surer_than_which_packet_was_the_retransmission() {
        let mut list = listed(&[0, 100]);
        list.last_mut().expect("two are listed").confidence = Confidence::Likely;
        for start in [0, 100] {
            let certain = (1, Confidence::Certain);
            list.close(start, start + 100, (0, Confidence::Certain), certain);
        }
        let told: Vec<_> = list.into_all().iter().map(|r| r.confidence).collect();
        assert_eq!(told, [Confidence::Certain, Confidence::Likely]);
    }

    #[test]
    fn nothing_is_listed_for_nobody() {
        let mut list = List::new(false);
        list.push(listed(&[0]).into_all()[0], Some(0));
        list.close(0, 100, (1, Confidence::Certain), (0, Confidence::Certain));
        assert!(list.into_all().is_empty());
    }
}
