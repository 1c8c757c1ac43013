//! Times that have their limit whatever the rounds say: recoveries, and silences that a timer ended.

use inorder_base::vantage::Vantage;
use inorder_cost::{RecoveryVerdict, Reduction};

use super::judge::Judge;
use super::rounds::Silence;
use super::{Limit, LimitSet};

/// Minimum number of time-outs in a row without an answer that make the path dead.
const MIN_UNANSWERED: usize = 2;
/// Minimum number of segments without any acknowledgement, beside the time-outs, that chance does not lose in a row.
const MIN_SEGMENTS_LOST_TOGETHER: i64 = 10;
/// A receiver that hears nothing for this time has missed more than one time-out: at 200 ms or more, and twice as long each time.
const MIN_DEAD_AT_RECEIVER_NS: i64 = 1_500_000_000;

/// A time that has its limit whatever the rows say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overlay {
    pub(super) start_ns: i64,
    pub(super) end_ns: i64,
    pub(super) limits: LimitSet,
}

impl Judge<'_> {
    /// The recovery under way at `now`, if any has begun.
    fn recovery_at(&self, now: i64) -> Option<&Reduction> {
        let next = self.life.recoveries.partition_point(|r| r.start_ns <= now);
        self.life.recoveries.get(next.checked_sub(1)?)
    }

    /// Silences, and recoveries but for the silences in them, in their order.
    pub(super) fn overlays(&self) -> Vec<Overlay> {
        let silences = self.silent();
        let mut overlays = Vec::new();
        let mut silent = silences.iter().peekable();
        let mut done_ns = i64::MIN;
        for episode in self.episodes.all() {
            // The sender hears of it later.
            let end_ns = episode.end_ns.map(|end| end.saturating_add(self.lag_ns));
            // Where nothing of the receiver was captured, nothing shows how long one lasts.
            let open_ns = match self.life.answered {
                true => self.life.last_ns,
                false => episode.start_ns,
            };
            let end_ns = end_ns.unwrap_or(open_ns).min(self.life.last_ns);
            let end_ns = end_ns.max(episode.start_ns);
            let verdict = self
                .recovery_at(episode.start_ns)
                .map(|r| (r.verdict, r.cause));
            let limits = match verdict {
                Some((_, cause)) if !cause.reduces() => Limit::Application.into(),
                Some((verdict, _)) => {
                    by_verdict(verdict, Limit::RecoveryNeeded, Limit::RecoveryUnneeded)
                }
                None => by_verdict(
                    RecoveryVerdict::Ambiguous,
                    Limit::RecoveryNeeded,
                    Limit::RecoveryUnneeded,
                ),
            };
            let mut at = episode.start_ns.max(done_ns);
            while let Some(silence) = silent.next_if(|s| s.start_ns < end_ns) {
                overlays.push(Overlay {
                    start_ns: at,
                    end_ns: silence.start_ns,
                    limits,
                });
                overlays.push(*silence);
                at = at.max(silence.end_ns);
            }
            overlays.push(Overlay {
                start_ns: at,
                end_ns,
                limits,
            });
            done_ns = done_ns.max(end_ns);
        }
        overlays.extend(silent);
        if let Some(last) = self.last_silence() {
            let before = |over: &mut Overlay| over.end_ns = over.end_ns.min(last.start_ns);
            overlays.iter_mut().for_each(before);
            overlays.push(last);
        }
        overlays.retain(|over| over.start_ns < over.end_ns);
        overlays
    }

    /// The receiver may have missed several time-outs in a silence of `ns`.
    fn hides_timeouts(&self, ns: i64) -> bool {
        let rtt_ns = self.life.rtt_ns.unwrap_or(0);
        ns >= MIN_DEAD_AT_RECEIVER_NS.max(rtt_ns.saturating_mul(8))
    }

    /// Away from the sender, the time behind the last packet if the sender is known to have been cut off: it must repeat what is missing
    /// (RFC 9293 section 3.8.1), and acknowledge a FIN (section 3.6).
    fn last_silence(&self) -> Option<Overlay> {
        let limits = match (self.life.lacks, self.life.unheard) {
            (true, _) => LimitSet::of(&[Limit::PathDead, Limit::TimerNeeded]),
            (false, true) => LimitSet::of(&[Limit::Application, Limit::PathDead]),
            (false, false) => return None,
        };
        let (start_ns, end_ns) = (self.last_came_ns, self.life.over_ns);
        let hides = self.at_receiver() && self.hides_timeouts(end_ns.saturating_sub(start_ns));
        hides.then_some(Overlay {
            start_ns,
            end_ns,
            limits,
        })
    }

    /// What came when the transfer was over answered no timer: since the last one the sender had waited for the next, until it gave up.
    fn given_up(&self, before: Option<&Overlay>) -> Option<Overlay> {
        let over_ns = self.life.over_ns;
        let last = self.silences.last()?;
        last.answered_ns.filter(|&ns| ns > over_ns)?;
        let limits = before.map_or(Limit::TimerNeeded.into(), |before| before.limits);
        Some(Overlay {
            start_ns: last.end_ns,
            end_ns: over_ns,
            limits: limits.with(Limit::PathDead),
        })
    }

    /// Silences by what they waited for.
    fn silent(&self) -> Vec<Overlay> {
        // Nothing shows that anything was ever lost, or sent again.
        let untroubled = self.life.recoveries.is_empty() && !self.life.troubled;
        let near = self.vantage == Vantage::Sender;
        let mut silent = Vec::with_capacity(self.silences.len());
        let mut rest = self.silences;
        while !rest.is_empty() {
            // Those without new information in between.
            let over_ns = self.life.over_ns;
            let in_time = |s: &Silence| s.answered_ns.is_some_and(|ns| ns <= over_ns);
            let answered = rest.iter().position(in_time);
            let (chain, more) = rest.split_at(answered.map_or(rest.len(), |at| at + 1));
            rest = more;
            let unanswered = chain.len() - usize::from(answered.is_some());
            let flight = chain.first().map_or(0, |first| first.flight);
            let all_lost = flight >= MIN_SEGMENTS_LOST_TOGETHER * i64::from(self.life.mss);
            let last_ns = chain.last().map_or(0, |last| last.end_ns);
            let verdict = self.recovery_at(last_ns).map(|r| r.verdict);
            let verdict = verdict.unwrap_or(RecoveryVerdict::Ambiguous);
            let cleared = |last: &Silence| last.cleared && !last.all_sent;
            let verdict = match chain.last().is_some_and(cleared) {
                true => RecoveryVerdict::Spurious,
                false => verdict,
            };
            for (i, silence) in chain.iter().enumerate() {
                let dead = unanswered >= MIN_UNANSWERED;
                let ns = silence.end_ns.saturating_sub(silence.start_ns);
                let hides = self.at_receiver() && self.hides_timeouts(ns);
                let limits = match dead || hides {
                    true if dead && all_lost && i < unanswered => Limit::PathDead.into(),
                    true if untroubled => {
                        LimitSet::of(&[Limit::Application, Limit::PathDead, Limit::TimerNeeded])
                    }
                    true => LimitSet::of(&[Limit::PathDead, Limit::TimerNeeded]),
                    // Away from the sender a path that lets no acknowledgement through looks the same.
                    false if verdict == RecoveryVerdict::Spurious && !near && !silence.all_sent => {
                        LimitSet::of(&[Limit::TimerUnneeded, Limit::PathDead])
                    }
                    // Without it, it would have had nothing to send either.
                    false if silence.all_sent && verdict == RecoveryVerdict::Spurious => {
                        Limit::Application.into()
                    }
                    false => by_verdict(verdict, Limit::TimerNeeded, Limit::TimerUnneeded),
                };
                // Two explanations for a lost repetition: by chance, or with all else.
                let limits = match limits.only() {
                    Some(Limit::TimerNeeded | Limit::TimerUnneeded) if unanswered > 0 => {
                        limits.with(Limit::PathDead)
                    }
                    _ => limits,
                };
                silent.push(Overlay {
                    start_ns: silence.start_ns,
                    end_ns: silence.end_ns,
                    limits,
                });
            }
        }
        silent.extend(self.given_up(silent.last()));
        silent
    }
}

fn by_verdict(verdict: RecoveryVerdict, needed: Limit, unneeded: Limit) -> LimitSet {
    match verdict {
        RecoveryVerdict::Loss => needed.into(),
        RecoveryVerdict::Spurious => unneeded.into(),
        RecoveryVerdict::Ambiguous => LimitSet::of(&[needed, unneeded]),
    }
}
