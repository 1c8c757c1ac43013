//! Which congestion control the sender runs, as far as its behaviour tells.

use super::episodes::Episode;
use crate::result::Control;

/// A smaller window says little: its reductions are rounded to whole segments. Segments.
const MIN_WINDOW: i64 = 10;
/// Fewest reductions that tell.
const MIN_REDUCTIONS: usize = 2;
/// A window that is no less than this share of what it was has not been reduced, or the reduction was undone.
const NOT_REDUCED: f64 = 0.9;
/// Halfway between the factors of Reno (0.5, RFC 5681 section 3.1) and CUBIC (0.7, RFC 9438 section 4.6).
const RENO_OR_CUBIC: f64 = 0.6;
/// What is below is no single reduction of a known control.
const MIN_FACTOR: f64 = 0.4;
/// What is above, and below [`NOT_REDUCED`], is no known control's either.
const MAX_FACTOR: f64 = 0.82;
/// Of the packets of a sender that paces, more than this share leave at times that neither an ACK nor the packet before
/// explains. (Of one that ACKs drive, a few in a thousand do.)
const PACED: f64 = 0.03;
/// A packet that follows an ACK or another packet within this was caused by it, nanoseconds.
const TRIGGERED_NS: i64 = 100_000;
/// Fewest packets that tell whether a sender paces.
const MIN_PACKETS: u64 = 50;

/// When packets leave: driven by ACKs, or by a timer.
#[derive(Debug, Default)]
pub(crate) struct Pacing {
    last_sent_ns: i64,
    last_ack_ns: i64,
    untriggered: u64,
}

impl Pacing {
    /// New data was sent at `now`.
    #[inline]
    pub(crate) fn sent(&mut self, now: i64) {
        let caused = self.last_sent_ns.max(self.last_ack_ns);
        self.untriggered += u64::from(now.wrapping_sub(caused) > TRIGGERED_NS);
        self.last_sent_ns = now;
    }

    #[inline]
    pub(crate) fn acknowledged(&mut self, now: i64) {
        self.last_ack_ns = now;
    }

    /// Of so many packets, enough leave when a timer says so.
    pub(crate) fn paces(&self, packets: u64) -> bool {
        packets >= MIN_PACKETS && self.untriggered as f64 > PACED * packets as f64
    }
}

/// What was recognised, and the share of the reductions that agree.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Recognised {
    /// The control.
    pub control: Control,
    /// 0 to 1: one agreeing and one other reduction beside what was seen.
    pub confidence: f64,
}

impl Recognised {
    const NOTHING: Recognised = Recognised {
        control: Control::Unknown,
        confidence: 0.0,
    };
}

/// The window after a reduction, as a share of that before it; `None` where it was too small to tell.
pub(crate) fn factor(episode: &Episode, mss: i64) -> Option<f64> {
    let tells = episode.end_ns.is_some() && episode.after > 0 && episode.before >= MIN_WINDOW * mss;
    tells.then(|| episode.after as f64 / episode.before as f64)
}

/// The reduction was undone, or none was made (Linux undoes what a DSACK or an echoed timestamp shows to have been
/// spurious, RFC 3522 and RFC 3708).
pub(crate) fn restored(episode: &Episode, mss: i64) -> bool {
    factor(episode, mss).is_some_and(|f| f >= NOT_REDUCED)
}

/// Recognises the control from reductions of a window in flight, seen at the sender, and from whether it `paces`.
pub(crate) fn recognise(episodes: &[Episode], paces: bool, mss: i64) -> Recognised {
    // After a time-out the window is one segment, whatever the control.
    let usual = episodes.iter().filter(|e| e.after > 2 * mss);
    let factors: Vec<f64> = usual.filter_map(|e| factor(e, mss)).collect();
    by_factors(&factors, paces)
}

/// Recognises the control from the shares of the window that reductions left, and from whether the sender `paces` although
/// it could send at once.
pub fn by_factors(factors: &[f64], paces: bool) -> Recognised {
    let agree = |low: f64, high: f64| {
        factors
            .iter()
            .filter(|&&f| (low..high).contains(&f))
            .count() as f64
    };
    let unmoved = agree(NOT_REDUCED, f64::INFINITY);
    let (reno, cubic) = (
        agree(MIN_FACTOR, RENO_OR_CUBIC),
        agree(RENO_OR_CUBIC, MAX_FACTOR),
    );
    if paces && unmoved >= factors.len() as f64 / 2.0 {
        let confidence = (unmoved + 1.0) / (factors.len() as f64 + 2.0);
        return Recognised {
            control: Control::Bbr,
            confidence,
        };
    }
    let reduced = factors.len() as f64 - unmoved;
    if reduced < MIN_REDUCTIONS as f64 {
        return Recognised::NOTHING;
    }
    // One agreeing and one other reduction beside what was seen (Laplace): two of two are no certainty.
    let (control, most) = if reno > cubic {
        (Control::Reno, reno)
    } else {
        (Control::Cubic, cubic)
    };
    let confidence = (most + 1.0) / (reduced + 2.0);
    if confidence > 0.5 {
        Recognised {
            control,
            confidence,
        }
    } else {
        Recognised::NOTHING
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reduction(before: i64, after: i64) -> Episode {
        Episode {
            start_ns: 0,
            end_ns: Some(1),
            delivered: 0,
            before: before * 1_000,
            after: after * 1_000,
            silence_ns: 0,
        }
    }

    fn of(pairs: &[(i64, i64)], paces: bool) -> Recognised {
        let episodes: Vec<_> = pairs.iter().map(|&(b, a)| reduction(b, a)).collect();
        recognise(&episodes, paces, 1_000)
    }

    #[test]
    fn controls_are_recognised_by_what_they_leave_of_the_window() {
        let cubic = of(&[(100, 70), (90, 64), (80, 55), (80, 80)], false);
        assert_eq!(
            cubic,
            Recognised {
                control: Control::Cubic,
                confidence: 0.8
            }
        );
        assert_eq!(of(&[(100, 50), (90, 46)], false).control, Control::Reno);
        assert_eq!(of(&[(100, 50), (90, 63)], false).control, Control::Unknown);
        assert_eq!(of(&[(100, 98), (9, 4)], false).control, Control::Unknown);
    }

    #[test]
    fn who_paces_and_keeps_the_window_runs_bbr() {
        let mut pacing = Pacing::default();
        for i in 0..60 {
            pacing.sent(i * 1_200_000);
        }
        assert!(pacing.paces(60) && !Pacing::default().paces(60));
        assert_eq!(of(&[(100, 98), (100, 110)], true).control, Control::Bbr);
        assert_eq!(of(&[(100, 70), (100, 70)], true).control, Control::Cubic);
    }
}
