//! Captures that have each packet twice, as from two mirror ports or two interfaces of one host.

use crate::diff::pairs::Group;
use crate::diff::result::Difference;
use crate::diff::trace::{Seen, Trace};

/// Copies of a mirror follow each other within this time, nanoseconds. A sender that repeats a packet byte by byte waits longer.
const MAX_APART_NS: u64 = 10_000_000;
/// Fewer packets than this, or a smaller share of those that both captures have, may be copies that the path made.
const MIN_PACKETS: usize = 10;
const MIN_SHARE: f64 = 0.2;

/// Warns of packets that one capture has twice and the other one once.
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
        if packets >= MIN_PACKETS && packets as f64 >= MIN_SHARE * matched as f64 {
            found.warnings.push(format!(
                "{packets} packets are twice in {name} within 10 ms and once in the other capture, as when two mirror ports \
                 record the same packet; the second ones are counted as {counted} here: remove them first, as \
                 `editcap -d` does"
            ));
        }
    }
}

/// `many` has each packet of `few` twice, one right behind the other.
fn doubled(many: &[usize], few: &[usize], packets: &[Seen]) -> bool {
    let at = |&index: &usize| packets.get(index).map_or(0, |seen| seen.ts_ns);
    let mut twos = many.chunks_exact(2);
    many.len() == 2 * few.len() && twos.all(|two| at(&two[0]).abs_diff(at(&two[1])) <= MAX_APART_NS)
}
