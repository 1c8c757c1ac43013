//! Keep-alives (RFC 9293 section 3.8.4) that nothing answers: the other host, or the path to it, is gone.

use inorder_wire::{Dir, Segment};

use crate::result::{Host, Silence};

/// Two that are no further apart are one, captured or delivered twice, nanoseconds: a host waits a second for the answer, as it does for that
/// to data (RFC 6298 section 2 step (2.4)), and Linux's shortest interval is a second.
const MIN_INTERVAL_NS: i64 = 500_000_000;
/// Number of unanswered ones from which on this is no answer that came behind the end of the capture, or that the network lost.
const MIN_UNANSWERED: u32 = 2;

/// Those since the other host spoke last.
#[derive(Clone, Copy, Debug)]
struct Run {
    dir: Dir,
    sent: u32,
    first_ns: i64,
    last_ns: i64,
}

/// The keep-alives of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KeepAlives {
    run: Option<Run>,
}

impl KeepAlives {
    /// Any segment goes `dir`.
    #[inline]
    pub(super) fn heard(&mut self, dir: Dir) {
        self.run.take_if(|run| run.dir != dir);
    }

    /// A keep-alive goes `dir`.
    pub(super) fn sent(&mut self, dir: Dir, seg: &Segment) {
        let run = self.run.get_or_insert(Run {
            dir,
            sent: 0,
            first_ns: seg.ts_ns,
            last_ns: i64::MIN,
        });
        if seg.ts_ns.saturating_sub(run.last_ns) >= MIN_INTERVAL_NS {
            run.sent = run.sent.saturating_add(1);
            run.last_ns = seg.ts_ns;
        }
    }

    /// The last ones, if nothing answered them, and which way they went.
    pub(super) fn silence(&self) -> Option<(Dir, Silence)> {
        let run = self.run.filter(|run| run.sent >= MIN_UNANSWERED)?;
        let silence = Silence {
            by: Host::Sender,
            keep_alives: run.sent.into(),
            ns: run.last_ns.saturating_sub(run.first_ns),
        };
        Some((run.dir, silence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keep_alives_are_unanswered_until_the_other_host_speaks() {
        let (there, back) = (Dir::LowToHigh, Dir::HighToLow);
        let at = |seconds: i64| segment!(ts_ns: seconds * 1_000_000_000);
        let mut alive = KeepAlives::default();
        let silence = |alive: &KeepAlives| alive.silence().map(|(_, s)| (s.keep_alives, s.ns));
        alive.sent(there, &at(10));
        alive.heard(there);
        assert_eq!(silence(&alive), None, "the answer may come behind the end");
        alive.sent(there, &at(11));
        alive.sent(there, &at(11));
        assert_eq!(silence(&alive), Some((2, 1_000_000_000)));
        alive.heard(back);
        assert_eq!(silence(&alive), None);
        for n in 0..9 {
            alive.sent(there, &at(20 + 75 * n));
        }
        assert_eq!(silence(&alive), Some((9, 600_000_000_000)));
    }
}
