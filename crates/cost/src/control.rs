//! Which congestion control the sender runs, as far as the course of its window tells.
//!
//! Reno halves its window and lets it grow by a segment a round trip; CUBIC leaves 0.7 of it and grows along its curve; both must
//! agree ([`growth`](super::growth)). BBR probes in cycles ([`probing`](super::probing)). A reduction that was undone, one that
//! was never made, and a window that the application or the receiver kept small say nothing; and what fits none of the three
//! is unknown.

use super::episodes::Episode;
use super::flights::Round;
use super::growth::Growth;
use super::probing;
use crate::result::{Control, RecoveryVerdict};
use std::ops::Range;

/// Minimum window whose reductions count, segments: those of smaller ones are rounded to whole segments.
const MIN_WINDOW: i64 = 10;
/// Fewest reductions that tell.
const MIN_REDUCTIONS: f64 = 2.0;
/// Minimum share of the reductions that must agree on a congestion control.
const MIN_AGREEING: f64 = 0.7;
/// Share of the former window from which on it was not reduced, or the reduction was undone.
const NOT_REDUCED: f64 = 0.9;
/// Smallest share of the window that a single reduction of any congestion control leaves.
const MIN_FACTOR: f64 = 0.2;
/// What Reno leaves of the window (0.5, RFC 5681 section 3.1; small windows are rounded down), and CUBIC (0.7, RFC 9438 section
/// 4.6), as seen.
const RENO: Range<f64> = 0.40..0.56;
const CUBIC: Range<f64> = 0.64..0.745;

/// What was recognised, and the share of the reductions that agree.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Recognised {
    /// The control.
    pub control: Control,
    /// 0 to 1: one agreeing and one other reduction beside what was seen.
    pub confidence: f64,
}

impl Recognised {
    pub(crate) const NOTHING: Recognised = Recognised {
        control: Control::Unknown,
        confidence: 0.0,
    };
}

/// An episode, and why the sender went into it: `None` where that is not known.
pub(crate) type Judged<'a> = (&'a Episode, Option<RecoveryVerdict>);

/// What the sender's side of a flow shows.
pub(crate) struct Shown<'a> {
    pub(crate) episodes: &'a [Judged<'a>],
    pub(crate) rounds: &'a [Round],
    /// The shortest round trip, nanoseconds.
    pub(crate) rtt_ns: i64,
    pub(crate) mss: i64,
}

/// How one reduction votes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Vote {
    control: Control,
    /// The window grew long enough after it to be compared.
    grown: bool,
}

/// The window after a reduction, as a share of that before it; `None` where it was too small to tell.
pub(crate) fn factor(episode: &Episode, mss: i64) -> Option<f64> {
    let tells = episode.end_ns.is_some() && episode.after > 0 && episode.before >= MIN_WINDOW * mss;
    tells.then(|| episode.after as f64 / episode.before as f64)
}

/// The reduction was undone, or none was made (Linux undoes what a DSACK or an echoed timestamp shows to have been
/// spurious, RFC 3522 section 3.2 and RFC 3708).
pub fn restored(episode: &Episode, mss: i64) -> bool {
    factor(episode, mss).is_some_and(|f| f >= NOT_REDUCED)
}

/// Recognises the control.
pub(crate) fn recognise(shown: &Shown<'_>) -> Recognised {
    if let Some(confidence) = probing::probes(shown.rounds, shown.rtt_ns, shown.mss) {
        return Recognised {
            control: Control::Bbr,
            confidence,
        };
    }
    let nexts = shown.episodes.iter().skip(1).map(|(next, _)| next.start_ns);
    let nexts = nexts.chain([i64::MAX]);
    let votes: Vec<Vote> = shown
        .episodes
        .iter()
        .zip(nexts)
        .filter_map(|(judged, next_ns)| vote(judged, next_ns, shown))
        .collect();
    elect(&votes)
}

/// What the reduction of an episode says of the congestion control. The next episode starts at `next_ns`.
fn vote((episode, verdict): &Judged<'_>, next_ns: i64, shown: &Shown<'_>) -> Option<Vote> {
    let (mss, end_ns) = (shown.mss, episode.end_ns?);
    factor(episode, mss)?;
    // After a time-out the window is one segment, whatever the control.
    if episode.after <= 2 * mss {
        return None;
    }
    // Within the round trip in which it is seen, the window has grown by a segment.
    let left = (episode.after - mss) as f64 / episode.before as f64;
    let undone = restored(episode, mss) && *verdict != Some(RecoveryVerdict::Loss);
    if undone || left < MIN_FACTOR {
        return None;
    }
    let until_ns = next_ns.saturating_sub(shown.rtt_ns);
    let from = shown.rounds.partition_point(|r| r.start_ns < end_ns);
    let to = shown.rounds.partition_point(|r| r.start_ns < until_ns);
    let rounds = shown.rounds.get(from..to).unwrap_or_default();
    let growth = Growth::of(rounds, episode.before, mss);
    let fits = |control| growth.as_ref().is_none_or(|g| g.fits(control));
    let control = match by_factor(left) {
        control if fits(control) => control,
        _ => Control::Unknown,
    };
    Some(Vote {
        control,
        grown: growth.is_some(),
    })
}

/// The control that leaves this share of the window.
fn by_factor(left: f64) -> Control {
    if RENO.contains(&left) {
        Control::Reno
    } else if CUBIC.contains(&left) {
        Control::Cubic
    } else {
        Control::Unknown
    }
}

/// The control for which most votes are, if they are enough and one of them has seen it grow.
fn elect(votes: &[Vote]) -> Recognised {
    let count = |which: &dyn Fn(&Vote) -> bool| votes.iter().filter(|v| which(v)).count() as f64;
    let of = |control| count(&|v| v.control == control);
    let control = match of(Control::Reno) > of(Control::Cubic) {
        true => Control::Reno,
        false => Control::Cubic,
    };
    let grown = count(&|v| v.control == control && v.grown);
    let (most, all) = (of(control), votes.len() as f64);
    if most < MIN_REDUCTIONS || grown < 1.0 || most < MIN_AGREEING * all {
        return Recognised::NOTHING;
    }
    // One agreeing and one other reduction beside what was seen (Laplace): two of two are no certainty.
    Recognised {
        control,
        confidence: (most + 1.0) / (all + 2.0),
    }
}

/// Recognises the control from the shares of the window that reductions left, where windows are reported (as in qlog) instead of derived from the data in flight.
pub fn by_factors(factors: &[f64]) -> Recognised {
    let kept = factors.iter().filter(|&&left| left < NOT_REDUCED);
    let votes: Vec<Vote> = kept
        .map(|&left| Vote {
            control: by_factor(left),
            grown: true,
        })
        .collect();
    elect(&votes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// A sender that loses a packet whenever its window is `most` segments, keeps `left` of it and grows by `slope` a round.
    fn recognised(most: i64, left: f64, slope: f64, verdict: RecoveryVerdict) -> Recognised {
        let (mut rounds, mut episodes, mut now) = (Vec::new(), Vec::new(), 0);
        for _ in 0..4 {
            let after = (most as f64 * left) as i64 + 1;
            episodes.push(Episode {
                start_ns: now,
                end_ns: Some(now + 20 * MS),
                delivered: 0,
                before: most * 1_000,
                after: after * 1_000,
                silence_ns: 0,
            });
            now += 20 * MS;
            for i in 0..((most - after) as f64 / slope) as i64 {
                let window = after as f64 + slope * i as f64;
                rounds.push(Round {
                    start_ns: now,
                    most: window as u32 * 1_000,
                    least: 1,
                });
                now += 20 * MS;
            }
        }
        let judged: Vec<_> = episodes.iter().map(|e| (e, Some(verdict))).collect();
        recognise(&Shown {
            episodes: &judged,
            rounds: &rounds,
            rtt_ns: 20 * MS,
            mss: 1_000,
        })
    }

    #[test]
    fn controls_are_recognised_by_what_they_leave_and_by_how_they_grow() {
        let named = |left, slope| recognised(40, left, slope, RecoveryVerdict::Loss).control;
        assert_eq!(named(0.5, 1.0), Control::Reno);
        assert_eq!(named(0.7, 0.53), Control::Cubic);
        // 0.7, but fast; half, but fast; neither.
        assert_eq!(named(0.7, 1.5), Control::Unknown);
        assert_eq!(named(0.5, 2.5), Control::Unknown);
        assert_eq!(named(0.6, 1.0), Control::Unknown);
    }

    #[test]
    fn windows_that_were_not_reduced_say_nothing() {
        let kept = recognised(40, 0.95, 0.1, RecoveryVerdict::Spurious);
        assert_eq!(kept, Recognised::NOTHING);
        let needed = recognised(40, 0.95, 0.1, RecoveryVerdict::Loss);
        assert_eq!(needed, Recognised::NOTHING);
    }

    #[test]
    fn told_windows_need_two_that_agree() {
        let cubic = by_factors(&[0.7, 0.71, 1.0]);
        assert_eq!((cubic.control, cubic.confidence), (Control::Cubic, 0.75));
        assert_eq!(by_factors(&[0.7]), Recognised::NOTHING);
        assert_eq!(by_factors(&[0.5, 0.7, 0.7]), Recognised::NOTHING);
        assert_eq!(by_factors(&[]), Recognised::NOTHING);
    }
}
