//! Books time: what held the sender until now, in the row that is open.

use super::{Progress, Rounds, Row, Silence, UNKNOWN_RTT_NS};
use crate::held::{Held, KINDS};

/// Rows kept of one flow.
const MAX_ROWS: usize = 128;

impl Rounds {
    /// What had been sent when a recovery began is acknowledged at `now`.
    #[cold]
    pub(crate) fn mended(&mut self, now: i64) {
        self.skip(now);
    }

    /// The time until `now` is explained elsewhere.
    #[inline]
    pub(super) fn skip(&mut self, now: i64) {
        self.since_ns = self.since_ns.max(now);
    }

    /// Books the time until `now`, when something was sent or is to be sent.
    #[inline]
    pub(super) fn explain(&mut self, now: i64, progress: &Progress) {
        let (mut first, then) = self.held(now, progress);
        if let Some((until, held)) = then {
            self.book(until, first, progress);
            first = held;
        }
        self.burst.unreleased = self.heard.released_ns < self.last.sent_ns;
        self.book(now, first, progress);
    }

    pub(super) fn book(&mut self, until: i64, held: Held, progress: &Progress) {
        let ns = until.saturating_sub(self.since_ns);
        if ns <= 0 {
            return;
        }
        let width_ns = self.width_ns.max(match progress.rtt_ns {
            0 => UNKNOWN_RTT_NS,
            rtt => rtt,
        });
        if ns > width_ns.saturating_mul(2) && self.row.parts != [0; KINDS] {
            self.close(self.since_ns, progress);
        }
        let gap_ns = until.saturating_sub(self.since_ns.max(self.last.sent_ns));
        self.row.gap_ns = self.row.gap_ns.max(gap_ns);
        if let Some(part) = self.row.parts.get_mut(held as usize) {
            *part = part.saturating_add(ns);
        }
        if held == Held::ByReceiver && self.last.is_largest {
            self.largest_ns = self.largest_ns.saturating_add(ns);
        }
        if held == Held::Idle && self.heard.asked_ns > self.last.sent_ns {
            self.awaited_ns = self.awaited_ns.saturating_add(ns);
        }
        self.since_ns = until;
        if until.saturating_sub(self.row.start_ns) >= width_ns {
            self.close(until, progress);
        }
    }

    /// Ends the row.
    pub(super) fn close(&mut self, at: i64, progress: &Progress) {
        if self.rows.len() >= MAX_ROWS {
            self.join();
        }
        let next = Row {
            start_ns: at,
            ..Row::default()
        };
        let ended = std::mem::replace(&mut self.row, next);
        self.rows.push(Row {
            sent: progress.sent,
            delivered: progress.delivered,
            ..ended
        });
    }

    /// Joins pairs of rows; later ones are as wide.
    pub(super) fn join(&mut self) {
        let first_ns = self.rows.first_ns().unwrap_or(self.row.start_ns);
        let span = self.row.start_ns.saturating_sub(first_ns);
        for pair in self.rows.take().chunks(2) {
            let mut sum = pair[0];
            pair.iter().skip(1).for_each(|row| sum.add(row));
            self.rows.push(sum);
        }
        self.width_ns = (self.width_ns.saturating_mul(2)).max(span / (MAX_ROWS as i64 / 2));
    }

    /// The life ends at `last_ns`: returns all rows and all silences. Behind the last data the application had nothing more to send.
    pub(crate) fn finish(&mut self, last_ns: i64, progress: &Progress) -> (Vec<Row>, &[Silence]) {
        if (self.silent || self.is_unanswered()) && self.outlasts_patience(last_ns, progress) {
            // Nothing answered the last timer either, until an end gave up.
            self.wait(last_ns, true, progress);
        } else if progress.mending {
            self.skip(last_ns);
        } else {
            if self.is_full(progress) {
                self.book(
                    last_ns.min(self.heard.opened_ns),
                    Held::ByReceiver,
                    progress,
                );
            }
            self.book(last_ns, Held::Idle, progress);
        }
        if !self.row.is_empty() || self.rows.len() == 0 {
            self.close(last_ns, progress);
        }
        (self.rows.take(), &self.silences)
    }
}
