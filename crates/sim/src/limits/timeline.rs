//! The limit of each instant, from what was recorded.

use std::collections::HashSet;

use super::watch::{Base, Level, Moment, Recovery, Silence, Timer, Watch};
use super::{BusyTimes, Limit, Stretch, Time};

/// What is known of the path of a direction.
#[derive(Clone, Default, Debug)]
pub(crate) struct Path {
    /// When each link that the data passes was busy.
    pub links: Vec<BusyTimes>,
    /// When nothing got through, in order.
    pub outages: Vec<Time>,
    /// The shortest round trip, nanoseconds.
    pub round_ns: i64,
}

/// A limit shorter than this share of a round trip between two times of the same other one belongs to them.
const BRIEF: i64 = 4;

/// What limited the sender from its first packet to its last, at the end of a run.
pub(crate) fn timeline(watch: &Watch, path: &Path) -> Vec<Stretch> {
    let Some(life) = watch.life else {
        return Vec::new();
    };
    let needed = Needed::of(watch);
    let mut out = Painted::new(life);
    for stretch in base(watch, path, life, &needed) {
        out.paint(stretch);
    }
    out.absorb(path.round_ns / BRIEF);
    for (at, recovery) in watch.recoveries.iter().enumerate() {
        let (limit, cause) = match needed.recovery(at) {
            true => (Limit::RecoveryNeeded, "loss"),
            false => (Limit::RecoveryUnneeded, "late"),
        };
        out.paint(Stretch {
            start_ns: recovery.start_ns,
            end_ns: recovery.end_ns.unwrap_or(i64::MAX),
            limit,
            cause,
        });
    }
    for wait in &watch.waits {
        let (limit, cause) = match wait.kind {
            Timer::Timeout(at) if needed.recovery(at) => (Limit::TimerNeeded, "loss"),
            Timer::Timeout(_) => (Limit::TimerUnneeded, "late"),
            Timer::Probe(id) if needed.transmission(id) => (Limit::TimerNeeded, "probe"),
            Timer::Probe(_) => continue,
        };
        out.paint(stretch(wait.time, limit, cause));
    }
    for silence in &watch.silences {
        if let Some(time) = dead(silence, &path.outages) {
            out.paint(stretch(time, Limit::PathDead, ""));
        }
    }
    if let Some(time) = handshake(&watch.moments, life) {
        out.paint(stretch(time, Limit::Handshake, ""));
    }
    out.stretches
}

fn stretch(time: Time, limit: Limit, cause: &'static str) -> Stretch {
    Stretch {
        start_ns: time.start_ns,
        end_ns: time.end_ns,
        limit,
        cause,
    }
}

/// Until data may be sent.
fn handshake(moments: &[Moment], life: Time) -> Option<Time> {
    let open = moments.iter().find(|m| m.base != Base::Handshake);
    let time = Time {
        start_ns: life.start_ns,
        end_ns: open.map_or(life.end_ns, |moment| moment.at_ns),
    };
    (time.length() > 0).then_some(time)
}

/// The part of a silence in which the path was dead: while it was interrupted, or all of it if two time-outs were not
/// answered.
fn dead(silence: &Silence, outages: &[Time]) -> Option<Time> {
    let mut common = outages.iter().filter_map(|out| out.common(silence.time));
    match common.next_back() {
        Some(last) => Some(Time {
            end_ns: last.end_ns,
            ..silence.time
        }),
        None => (silence.timeouts >= 2).then_some(silence.time),
    }
}

/// Which retransmissions and recoveries were needed.
struct Needed {
    spurious: HashSet<u32>,
    recoveries: Vec<bool>,
}

impl Needed {
    fn of(watch: &Watch) -> Self {
        let spurious: HashSet<u32> = watch.spurious.known().iter().copied().collect();
        let lost = |recovery: &Recovery| {
            let end_ns = recovery.end_ns.unwrap_or(i64::MAX);
            let first = watch
                .resent
                .partition_point(|resent| resent.at_ns < recovery.start_ns);
            let within = watch.resent.iter().skip(first);
            within
                .take_while(|resent| resent.at_ns <= end_ns)
                .any(|resent| resent.start < recovery.recover && !spurious.contains(&resent.id))
        };
        let recoveries = watch.recoveries.iter().map(lost).collect();
        Needed {
            recoveries,
            spurious,
        }
    }

    fn recovery(&self, at: usize) -> bool {
        self.recoveries.get(at).is_some_and(|needed| *needed)
    }

    fn transmission(&self, id: u32) -> bool {
        !self.spurious.contains(&id)
    }
}

/// The cause of a buffer or a window that is full while a line is busy, too.
const BUSY: &str = "line";

/// The limits that the state of the sender and the links alone tell.
fn base(watch: &Watch, path: &Path, life: Time, needed: &Needed) -> Vec<Stretch> {
    let round_ns = path.round_ns.max(1);
    let busy = path
        .links
        .iter()
        .map(|link| link.whole_rounds(life, round_ns));
    let busy: Vec<Vec<Time>> = busy.collect();
    let ends = watch.moments.iter().skip(1).map(|next| next.at_ns);
    let ends = ends.chain([life.end_ns]);
    let mut out = Vec::new();
    for (moment, end_ns) in watch.moments.iter().zip(ends) {
        let time = Time {
            start_ns: moment.at_ns,
            end_ns,
        };
        let (limit, cause) = match moment.base {
            Base::Handshake => (Limit::Handshake, ""),
            Base::Application(closed) => (Limit::Application, if closed { "end" } else { "" }),
            Base::SendBuffer => (Limit::SendBuffer, ""),
            Base::ReceiverWindow => (Limit::ReceiverWindow, ""),
            Base::Window(level) => window(level, needed),
        };
        out.push(stretch(time, limit, cause));
        let while_busy = match moment.base {
            Base::Window(_) => (Limit::Line, ""),
            // Both hold it: more room alone would fill the queue.
            Base::SendBuffer | Base::ReceiverWindow => (limit, BUSY),
            Base::Handshake | Base::Application(_) => continue,
        };
        let lines = busy.iter().flat_map(|times| overlapping(times, time));
        out.extend(lines.map(|time| stretch(time, while_busy.0, while_busy.1)));
    }
    out
}

fn overlapping(times: &[Time], with: Time) -> impl Iterator<Item = Time> {
    let first = times.partition_point(|time| time.end_ns <= with.start_ns);
    let later = times.iter().skip(first);
    later.map_while(move |time| time.common(with))
}

fn window(level: Level, needed: &Needed) -> (Limit, &'static str) {
    match level {
        Level::Start => (Limit::Start, ""),
        Level::Recovery(at) if needed.recovery(at) => (Limit::WindowNeeded, "loss"),
        Level::Recovery(_) => (Limit::WindowUnneeded, "late"),
        Level::Mark => (Limit::WindowNeeded, "mark"),
        Level::Policed => (Limit::WindowNeeded, "policer"),
        Level::Probe => (Limit::WindowUnneeded, "probe"),
        Level::Measured => (Limit::Unknown, "measured"),
    }
}

/// Stretches in order, painted over each other.
struct Painted {
    life: Time,
    stretches: Vec<Stretch>,
}

impl Painted {
    fn new(life: Time) -> Self {
        let all = stretch(life, Limit::Unknown, "");
        Painted {
            life,
            stretches: if life.length() > 0 {
                vec![all]
            } else {
                Vec::new()
            },
        }
    }

    /// The limit in this time is this one, whatever it was before.
    fn paint(&mut self, new: Stretch) {
        let time = Time {
            start_ns: new.start_ns,
            end_ns: new.end_ns,
        };
        let Some(time) = time.common(self.life) else {
            return;
        };
        let new = stretch(time, new.limit, new.cause);
        let first = self
            .stretches
            .partition_point(|s| s.end_ns <= time.start_ns);
        let after = self.stretches.partition_point(|s| s.start_ns < time.end_ns);
        let mut with = vec![new];
        if let Some(begun) = self.stretches.get(first)
            && begun.start_ns < time.start_ns
        {
            let end_ns = time.start_ns;
            with.insert(0, Stretch { end_ns, ..*begun });
        }
        if let Some(ended) = after.checked_sub(1).and_then(|at| self.stretches.get(at))
            && ended.end_ns > time.end_ns
        {
            let start_ns = time.end_ns;
            with.push(Stretch { start_ns, ..*ended });
        }
        self.stretches.splice(first..after.max(first), with);
        let around = first.saturating_sub(1)..(first + 4).min(self.stretches.len());
        self.merge(around);
    }

    /// Joins equal neighbours among these.
    fn merge(&mut self, among: std::ops::Range<usize>) {
        for at in among.skip(1).rev() {
            let (Some(last), Some(this)) = (self.stretches.get(at - 1), self.stretches.get(at))
            else {
                continue;
            };
            if (last.limit, last.cause) == (this.limit, this.cause) {
                let end_ns = this.end_ns;
                self.stretches.remove(at);
                if let Some(last) = self.stretches.get_mut(at - 1) {
                    last.end_ns = end_ns;
                }
            }
        }
    }

    /// What is shorter than this between two times of one limit belongs to it.
    fn absorb(&mut self, brief_ns: i64) {
        let mut out: Vec<Stretch> = Vec::new();
        for this in self.stretches.drain(..) {
            if let [.., before, brief] = out.as_mut_slice()
                && (before.limit, before.cause) == (this.limit, this.cause)
                && brief.end_ns - brief.start_ns < brief_ns
            {
                before.end_ns = this.end_ns;
                out.pop();
            } else {
                out.push(this);
            }
        }
        self.stretches = out;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn time(start_ns: i64, end_ns: i64) -> Time {
        Time { start_ns, end_ns }
    }

    fn shown(painted: &Painted) -> Vec<(i64, i64, &'static str)> {
        let all = painted.stretches.iter();
        all.map(|s| (s.start_ns, s.end_ns, s.limit.name()))
            .collect()
    }

    #[test]
    fn later_paint_covers_and_equal_neighbours_are_one() {
        let mut painted = Painted::new(time(0, 100));
        painted.paint(stretch(time(20, 60), Limit::Line, ""));
        painted.paint(stretch(time(50, 200), Limit::Start, ""));
        painted.paint(stretch(time(40, 50), Limit::Start, ""));
        let expected = [(0, 20, "unknown"), (20, 40, "line"), (40, 100, "start")];
        assert_eq!(shown(&painted), expected);
        painted.paint(stretch(time(30, 32), Limit::Application, ""));
        painted.absorb(5);
        assert_eq!(shown(&painted), expected);
        painted.paint(stretch(time(-5, 300), Limit::PathDead, ""));
        assert_eq!(shown(&painted), [(0, 100, "path-dead")]);
        painted.paint(stretch(time(100, 110), Limit::Line, ""));
        assert_eq!(shown(&painted), [(0, 100, "path-dead")]);
    }

    #[test]
    fn a_silence_is_dead_while_the_path_is_or_after_two_time_outs() {
        let silence = |timeouts| Silence {
            time: time(10, 100),
            timeouts,
        };
        assert_eq!(dead(&silence(1), &[]), None);
        assert_eq!(dead(&silence(2), &[]), Some(time(10, 100)));
        assert_eq!(dead(&silence(1), &[time(12, 70)]), Some(time(10, 70)));
        assert_eq!(dead(&silence(3), &[time(120, 170)]), Some(time(10, 100)));
    }
}
