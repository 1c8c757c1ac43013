//! Super-packets: what one capture has as one packet and the other as several, or as several others.
//!
//! Segmentation offload sends large packets and merges received ones (GSO, GRO), each side as it likes. Packets of TCP that
//! match nothing by their bytes are therefore cut where the other capture's packets of the same flow begin and end, and the
//! pieces are matched by their sequence numbers. A packet that the other capture lacks altogether stays whole.

use std::collections::{BTreeMap, BTreeSet};

use inorder_base::sequence::Offsets;

use crate::diff::fingerprint::KEYED;
use crate::diff::flow::Flow;
use crate::diff::pairs::Group;
use crate::diff::trace::{Seen, Trace};

/// Packets of one flow that match nothing, of either capture.
#[derive(Default)]
struct Unmatched {
    a: Vec<usize>,
    b: Vec<usize>,
}

/// A packet with its range of bytes, counted without wrapping.
struct Ranged {
    seen: Seen,
    first: i64,
    end: i64,
}

/// Replaces packets by their pieces; returns how many packets were cut. `name` has the flow of each packet by the
/// addresses of A.
pub(crate) fn cut(
    a: &mut Trace,
    b: &mut Trace,
    groups: &[Group],
    name: impl Fn(&Flow) -> Flow,
) -> u64 {
    let mut flows: BTreeMap<Flow, Unmatched> = BTreeMap::new();
    for group in groups {
        let carries = |trace: &Trace, i: &usize| trace.packets[*i].range.len > 0;
        if group.b.is_empty() {
            for &i in group.a.iter().filter(|i| carries(a, i)) {
                flows.entry(a.flow_of(&a.packets[i])).or_default().a.push(i);
            }
        } else if group.a.is_empty() {
            for &j in group.b.iter().filter(|j| carries(b, j)) {
                let flow = name(&b.flow_of(&b.packets[j]));
                flows.entry(flow).or_default().b.push(j);
            }
        }
    }
    let (mut of_a, mut of_b, mut count) = (BTreeMap::new(), BTreeMap::new(), 0);
    for (flow, of) in &mut flows {
        of.a.sort_unstable();
        of.b.sort_unstable();
        let base = of.a.first().map(|&i| a.packets[i].range.seq);
        let Some(base) = base.filter(|_| !of.b.is_empty()) else {
            continue;
        };
        let (in_a, in_b) = (ranged(a, &of.a, base), ranged(b, &of.b, base));
        let salt = salt(flow);
        let pieces_a = cut_at(&in_a, &edges(&in_b), salt);
        let pieces_b = cut_at(&in_b, &edges(&in_a), salt);
        let divided = pieces_a
            .iter()
            .chain(&pieces_b)
            .filter(|pieces| pieces.len() > 1)
            .count();
        // Without a packet that is cut, sequence numbers tell nothing that the bytes did not.
        if divided > 0 {
            count += divided as u64;
            of_a.extend(of.a.iter().copied().zip(pieces_a));
            of_b.extend(of.b.iter().copied().zip(pieces_b));
        }
    }
    replace(a, of_a);
    replace(b, of_b);
    count
}

/// The ranges of these packets, in the order of the capture, as offsets from the number `base`.
fn ranged(trace: &Trace, packets: &[usize], base: u32) -> Vec<Ranged> {
    let mut offsets = Offsets::new(base);
    let of = |&i: &usize| {
        let seen = trace.packets[i];
        let first = offsets.offset(seen.range.seq);
        let end = first + i64::from(seen.range.len);
        offsets.advance(end);
        Ranged { seen, first, end }
    };
    packets.iter().map(of).collect()
}

fn edges(packets: &[Ranged]) -> BTreeSet<i64> {
    packets.iter().flat_map(|p| [p.first, p.end]).collect()
}

/// The pieces of every packet, which end where packets of the other capture begin or end.
fn cut_at(packets: &[Ranged], edges: &BTreeSet<i64>, salt: u128) -> Vec<Vec<Seen>> {
    let of = |packet: &Ranged| {
        let mut from = packet.first;
        let ends = edges
            .range(packet.first + 1..packet.end)
            .chain([&packet.end]);
        let piece = |(place, &end): (u32, &i64)| {
            let piece = Seen {
                // Flow, place and length: what a piece is known by.
                hash: salt
                    ^ (u128::from(from.cast_unsigned()) << 64
                        | u128::from((end - from).cast_unsigned())),
                bytes: u32::try_from(end - from).unwrap_or(u32::MAX),
                place,
                ..packet.seen
            };
            from = end;
            piece
        };
        (0..).zip(ends).map(piece).collect()
    };
    packets.iter().map(of).collect()
}

/// Distinguishes pieces of different flows.
fn salt(flow: &Flow) -> u128 {
    use std::hash::BuildHasher;
    let half = |keyed: &foldhash::quality::FixedState| u128::from(keyed.hash_one(flow));
    half(&KEYED[0]) << 64 | half(&KEYED[1])
}

fn replace(trace: &mut Trace, mut cuts: BTreeMap<usize, Vec<Seen>>) {
    let packets = std::mem::take(&mut trace.packets);
    let pieces = packets.into_iter().enumerate();
    trace.packets = pieces
        .flat_map(|(i, seen)| cuts.remove(&i).unwrap_or_else(|| vec![seen]))
        .collect();
}
