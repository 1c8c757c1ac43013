//! Silences: no new information until a timer sends something again.

use super::{MIN_PROBED, Progress, Rounds, UNKNOWN_TIMER_NS};

/// Silences kept of one flow.
const MAX_SILENCES: usize = 4_096;

/// No new information until a timer sent something again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Silence {
    /// The last new information, or the last packet behind it, nanoseconds.
    pub(crate) start_ns: i64,
    /// The retransmission.
    pub(crate) end_ns: i64,
    /// What came next was new information at this time; `None` if it was another retransmission by a timer, or the end.
    pub(crate) answered_ns: Option<i64>,
    /// Bytes that nothing had acknowledged.
    pub(crate) flight: i64,
    /// The last new data ended with a segment that was not full: the application had no more.
    pub(crate) all_sent: bool,
    /// All of this had been sent.
    pub(super) sent: i64,
    /// Several segments were on their way, of which nothing but the lack of an acknowledgement was known.
    pub(super) several: bool,
    /// What came next acknowledged all of them at once, although only the first was sent again: they had arrived, and their acknowledgements
    /// were lost. Of a lost first one the others would have made duplicate acknowledgements (RFC 5681 section 3.2).
    pub(crate) cleared: bool,
}

impl Rounds {
    #[cold]
    pub(super) fn answered(&mut self, now: i64, una: i64) {
        self.silent = false;
        let gave_up = self.gave_up(now);
        let Some(last) = self.silences.last_mut() else {
            return;
        };
        if !gave_up {
            last.answered_ns = Some(now);
            last.cleared = last.several && una >= last.sent && self.again_ns == last.end_ns;
            return;
        }
        let more = Silence {
            start_ns: last.end_ns,
            end_ns: now,
            answered_ns: Some(now),
            ..*last
        };
        self.silences.push(more);
        self.skip(now);
    }

    /// What comes at `now` is no answer: the next timer is twice as long as the last (RFC 6298 section 5), so a sender that has
    /// waited for longer does not repeat anything any more.
    pub(super) fn gave_up(&self, now: i64) -> bool {
        let [.., before, last] = self.silences.as_slice() else {
            return false;
        };
        let waited = last.end_ns.saturating_sub(last.start_ns);
        let longer = now.saturating_sub(last.end_ns) > waited.saturating_mul(2);
        longer && before.answered_ns.is_none() && !self.is_full_of_silences()
    }

    /// Something is sent again at `now`.
    #[cold]
    pub(crate) fn sent_again(&mut self, now: i64, progress: &Progress) {
        let timer = self.outlasts_patience(now, progress);
        self.wait(now, timer, progress);
        self.again_ns = now;
    }

    /// Nothing but a timer makes a sender repeat anything at `now`: it has been quiet for too long.
    #[inline]
    pub(super) fn outlasts_patience(&self, now: i64, progress: &Progress) -> bool {
        let patience = match progress.rtt_ns {
            0 => UNKNOWN_TIMER_NS,
            rtt => rtt,
        };
        now.saturating_sub(self.quiet_ns()) > patience
    }

    /// The last time that anything was sent, or heard that can make a sender repeat something.
    #[inline]
    pub(super) fn quiet_ns(&self) -> i64 {
        self.last.sent_ns.max(self.heard.news_ns).max(self.again_ns)
    }

    /// Nothing but the other end's own data came since a timer sent something again, and nothing was sent since.
    pub(super) fn is_unanswered(&self) -> bool {
        let last = self.silences.last();
        last.is_some_and(|last| last.end_ns == self.quiet_ns())
    }

    #[inline]
    pub(super) fn is_full_of_silences(&self) -> bool {
        self.silences.len() >= MAX_SILENCES
    }

    /// Books the time until `now`, when something is sent, by a `timer` or not.
    #[inline]
    pub(super) fn wait(&mut self, now: i64, timer: bool, progress: &Progress) {
        let timer = timer && !self.is_full_of_silences();
        let start_ns = self.quiet_ns();
        let until = if timer { start_ns } else { now };
        if progress.mending {
            self.skip(until);
        } else {
            self.explain(until, progress);
        }
        if timer {
            self.skip(now);
            self.silent = true;
            self.silences.push(Silence {
                start_ns,
                end_ns: now,
                answered_ns: None,
                flight: progress.sent.saturating_sub(progress.delivered),
                all_sent: self.is_short(progress),
                sent: progress.sent,
                several: progress.near
                    && !self.heard.repeated
                    && progress.sent.saturating_sub(progress.delivered)
                        > MIN_PROBED * progress.full,
                cleared: false,
            });
        }
    }
}
