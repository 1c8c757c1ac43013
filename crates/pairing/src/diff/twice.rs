//! Captures that have each packet twice, as from two mirror ports or two interfaces of one host: each of them counts once.
//!
//! The rule is that of the analysis of one capture ([`inorder_detect::captured_twice`]): nearly all packets come again, soon. Fewer that
//! do so may be copies that the path made, and stay; many of them are reported.

use std::collections::BTreeMap;

use inorder_report::number::{plural, time};
use inorder_twice::{MAX_APART_NS, MIN_PAIRS, are_too_many};

use crate::diff::flow::Flow;
use crate::diff::pairs::Group;
use crate::diff::result::Difference;
use crate::diff::trace::{Seen, Trace};
use crate::join::{Keyed, sorted};

/// Times that a packet is captured at most; more equal ones are no captures of one packet.
const MAX_TIMES: usize = 4;
/// Fewer packets than this, or a smaller share of those that both captures have, are not worth a word: the path may have made the copies.
const MIN_TOLD: usize = 10;
const MIN_SHARE_TOLD: f64 = 0.2;

/// What the packets from one host to another show.
#[derive(Clone, Copy, Default)]
struct Evidence {
    /// Packets that come this number of times within a short time, by the number; those that come once are lone.
    times: [usize; MAX_TIMES + 1],
    /// Those of them that have passed more routers in one capture than in the other.
    routed: usize,
}

impl Evidence {
    fn add(&mut self, other: &Evidence) {
        for (own, more) in self.times.iter_mut().zip(other.times) {
            *own += more;
        }
        self.routed += other.routed;
    }

    fn pairs(&self) -> usize {
        self.times.iter().skip(2).sum()
    }

    fn is_refuted(&self) -> bool {
        are_too_many(self.times[1], self.pairs())
    }

    /// How often each packet was captured; 1 if not more than once.
    fn copies(&self) -> usize {
        if self.pairs() + self.routed < MIN_PAIRS || self.is_refuted() {
            return 1;
        }
        let most = (2..=MAX_TIMES).max_by_key(|&times| self.times[times]);
        most.unwrap_or(1)
    }
}

/// What [`once`] took away.
pub(crate) struct Removed {
    /// Further captures of packets.
    pub(crate) frames: u64,
    /// Longest time from the first capture of a packet to a further one, nanoseconds.
    pub(crate) within_ns: i64,
}

/// Leaves of packets that were captured several times the first capture alone.
pub(crate) fn once(trace: &mut Trace) -> Removed {
    let mut removed = Removed {
        frames: 0,
        within_ns: 0,
    };
    // Without addresses, what a host echoes looks like what was sent to it.
    let equal = sorted(&trace.packets, |seen| (seen.hash, seen.flow));
    let evidence = evidence(trace, &equal);
    let mut whole = Evidence::default();
    evidence.values().for_each(|of| whole.add(of));
    // Of few packets from one host to another the whole capture tells.
    let copies = |hosts: &Flow| match evidence.get(hosts) {
        Some(of) if of.copies() > 1 => of.copies(),
        Some(of) if of.is_refuted() => 1,
        _ => whole.copies(),
    };
    let mut again = vec![false; trace.packets.len()];
    for run in equal.chunk_by(|one, other| one.0 == other.0) {
        let mut first: Option<(i64, usize)> = None;
        for (_, index) in run {
            let seen = trace.packets[*index as usize];
            let apart_ns = |since_ns: i64| seen.ts_ns.saturating_sub(since_ns);
            match &mut first {
                Some((since_ns, left))
                    if *left > 0 && apart_ns(*since_ns).abs() <= MAX_APART_NS =>
                {
                    *left -= 1;
                    again[*index as usize] = true;
                    removed.within_ns = removed.within_ns.max(apart_ns(*since_ns).abs());
                }
                _ => first = Some((seen.ts_ns, copies(&trace.flow_of(&seen).hosts()) - 1)),
            }
        }
    }
    removed.frames = again.iter().filter(|again| **again).count() as u64;
    let mut again = again.into_iter();
    trace.packets.retain(|_| again.next() != Some(true));
    removed
}

/// How often the packets from each host to each other come. Packets of which there are many equal ones tell nothing.
fn evidence(trace: &Trace, equal: &[Keyed<(u128, u32)>]) -> BTreeMap<Flow, Evidence> {
    let mut all: BTreeMap<Flow, Evidence> = BTreeMap::new();
    for run in equal.chunk_by(|one, other| one.0 == other.0) {
        let seen = |at: usize| run.get(at).map(|(_, index)| trace.packets[*index as usize]);
        let (Some(first), true) = (seen(0), run.len() <= MAX_TIMES) else {
            continue;
        };
        let last = seen(run.len() - 1).unwrap_or(first);
        let of = all.entry(trace.flow_of(&first).hosts()).or_default();
        if last.ts_ns.saturating_sub(first.ts_ns).abs() <= MAX_APART_NS {
            of.times[run.len()] += 1;
            of.routed += usize::from(first.ttl != last.ttl);
        } else {
            of.times[1] += run.len();
        }
    }
    all
}

/// Says what was taken away of capture `name`.
pub(crate) fn tell(name: &str, removed: &Removed, found: &mut Difference) {
    if removed.frames > 0 {
        found.captured_twice += removed.frames;
        found.warnings.push(format!(
            "{name} has nearly every packet more than once within {}, as when two mirror ports record the same packet: {} of packets \
             that were there before {} left out",
            time(removed.within_ns),
            plural(removed.frames, "further frame"),
            if removed.frames == 1 { "is" } else { "are" },
        ));
    }
}

/// Warns of packets that one capture has twice and the other one once, where not nearly all are.
pub(crate) fn warn(a: &Trace, b: &Trace, groups: &[Group], found: &mut Difference) {
    let both = groups.iter().filter(|g| !g.a.is_empty() && !g.b.is_empty());
    let matched: usize = both.map(|g| g.a.len().min(g.b.len())).sum();
    let sides = [("A", "lost", true), ("B", "copies", false)];
    for (name, counted, in_a) in sides {
        let twice = groups.iter().filter(|g| match in_a {
            true => doubled(&g.a, &g.b, &a.packets),
            false => doubled(&g.b, &g.a, &b.packets),
        });
        let packets: usize = twice.map(|g| g.a.len().min(g.b.len())).sum();
        if packets >= MIN_TOLD && packets as f64 >= MIN_SHARE_TOLD * matched as f64 {
            found.warnings.push(format!(
                "{packets} packets are twice in {name} within {} and once in the other capture, as when two mirror ports \
                 record the same packet; the second ones are counted as {counted} here: remove them first, as \
                 `editcap -d` does",
                time(MAX_APART_NS)
            ));
        }
    }
}

/// `many` has each packet of `few` twice, one right behind the other.
fn doubled(many: &[usize], few: &[usize], packets: &[Seen]) -> bool {
    let at = |&index: &usize| packets.get(index).map_or(0, |seen| seen.ts_ns);
    let mut twos = many.chunks_exact(2);
    many.len() == 2 * few.len()
        && twos.all(|two| at(&two[0]).abs_diff(at(&two[1])) <= MAX_APART_NS.unsigned_abs())
}
