//! What one capture has as one packet and the other as several, or as several others: super-packets and fragments.
//!
//! Segmentation offload sends large packets and merges received ones (GSO, GRO), each side as it likes; routers cut IPv4
//! datagrams into fragments, and hosts and firewalls put them together again. Packets that match nothing by their bytes are
//! therefore cut where the other capture's packets of the same flow, or of the same datagram, begin and end, and the pieces are
//! matched by their place in it. A packet that the other capture lacks altogether stays whole.

use std::collections::{BTreeMap, BTreeSet};

use inorder_base::sequence::Offsets;

use crate::diff::fingerprint::{KEYED, Range};
use crate::diff::flow::Flow;
use crate::diff::pairs::Group;
use crate::diff::trace::{Seen, Trace};

/// Pieces of all packets of a flow or datagram, for each place where one begins or ends in either capture. Data that is sent once makes one
/// piece between two places, and what is sent again another one. Overlapping packets of a capture that was made for it would have one for each byte of each packet.
const MAX_PIECES_PER_EDGE: usize = 8;

/// What packets are parts of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Whole {
    /// A direction of a connection of TCP.
    Stream(Flow),
    /// A datagram with this identification between two hosts. Another one may have the same later; they are matched in order,
    /// as equal packets are.
    Datagram(Flow, u16),
}

/// Packets of one flow or datagram that match nothing, of either capture.
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
    let (mut of_a, mut of_b, mut count) = (BTreeMap::new(), BTreeMap::new(), 0);
    for (whole, of) in &mut unmatched(a, b, groups, name) {
        of.a.sort_unstable();
        of.b.sort_unstable();
        let base = of.a.first().map(|&i| range(whole, &a.packets[i]).seq);
        let Some(base) = base.filter(|_| !of.b.is_empty()) else {
            continue;
        };
        let (in_a, in_b) = (ranged(a, &of.a, whole, base), ranged(b, &of.b, whole, base));
        let (edges_a, edges_b) = (edges(&in_a), edges(&in_b));
        let most = (edges_a.len() + edges_b.len()) * MAX_PIECES_PER_EDGE;
        if has_more_pieces(&in_a, &edges_b, most) || has_more_pieces(&in_b, &edges_a, most) {
            continue;
        }
        let salt = salt(whole);
        let pieces_a = cut_at(&in_a, &edges_b, salt);
        let pieces_b = cut_at(&in_b, &edges_a, salt);
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

/// Packets that match nothing and belong to a datagram of which the other capture has other parts.
pub(crate) fn in_fragments(a: &Trace, b: &Trace, groups: &[Group]) -> usize {
    let unmatched = unmatched(a, b, groups, |flow| *flow);
    let datagrams = unmatched
        .iter()
        .filter(|(whole, _)| matches!(whole, Whole::Datagram(..)));
    datagrams.map(|(_, of)| of.a.len().min(of.b.len())).sum()
}

/// The packets that match nothing, by what they are parts of.
fn unmatched(
    a: &Trace,
    b: &Trace,
    groups: &[Group],
    name: impl Fn(&Flow) -> Flow,
) -> BTreeMap<Whole, Unmatched> {
    let only_a = groups.iter().filter(|group| group.b.is_empty());
    let only_a = || only_a.clone().flat_map(|group| &group.a).copied();
    let only_b = groups.iter().filter(|group| group.a.is_empty());
    let only_b = || only_b.clone().flat_map(|group| &group.b).copied();
    let flow_b = |seen: &Seen| name(&b.flow_of(seen));
    let in_parts: BTreeSet<Whole> = {
        let of_a = only_a().filter_map(|i| part(&a.packets[i], a.flow_of(&a.packets[i])));
        let of_b = only_b().filter_map(|j| part(&b.packets[j], flow_b(&b.packets[j])));
        of_a.chain(of_b).collect()
    };
    let mut all: BTreeMap<Whole, Unmatched> = BTreeMap::new();
    for i in only_a() {
        if let Some(whole) = whole(&a.packets[i], a.flow_of(&a.packets[i]), &in_parts) {
            all.entry(whole).or_default().a.push(i);
        }
    }
    for j in only_b() {
        if let Some(whole) = whole(&b.packets[j], flow_b(&b.packets[j]), &in_parts) {
            all.entry(whole).or_default().b.push(j);
        }
    }
    all
}

/// The datagram of a fragment.
fn part(seen: &Seen, flow: Flow) -> Option<Whole> {
    let datagram = seen.datagram.filter(|datagram| datagram.is_part)?;
    Some(Whole::Datagram(flow.without_ports(), datagram.id))
}

/// What a packet is a part of; `in_parts` are the datagrams of which either capture has fragments.
fn whole(seen: &Seen, flow: Flow, in_parts: &BTreeSet<Whole>) -> Option<Whole> {
    let datagram = seen.datagram;
    let datagram = datagram.map(|datagram| Whole::Datagram(flow.without_ports(), datagram.id));
    let stream = (seen.range.len > 0).then_some(Whole::Stream(flow));
    datagram.filter(|whole| in_parts.contains(whole)).or(stream)
}

/// The bytes that a packet carries.
fn range(whole: &Whole, seen: &Seen) -> Range {
    match (whole, seen.datagram) {
        (Whole::Datagram(..), Some(datagram)) => Range {
            seq: datagram.first,
            len: datagram.len,
        },
        _ => seen.range,
    }
}

/// The ranges of these packets, in the order of the capture, as offsets from the number `base`.
fn ranged(trace: &Trace, packets: &[usize], whole: &Whole, base: u32) -> Vec<Ranged> {
    let mut offsets = Offsets::new(base);
    let of = |&i: &usize| {
        let seen = trace.packets[i];
        let range = range(whole, &seen);
        let first = offsets.offset(range.seq);
        let end = first + i64::from(range.len);
        offsets.advance(end);
        Ranged { seen, first, end }
    };
    packets.iter().map(of).collect()
}

fn edges(packets: &[Ranged]) -> BTreeSet<i64> {
    packets.iter().flat_map(|p| [p.first, p.end]).collect()
}

/// True if packets cut at these edges have more pieces than `most`; counts no further.
fn has_more_pieces(packets: &[Ranged], edges: &BTreeSet<i64>, most: usize) -> bool {
    let mut left = most;
    packets.iter().any(|packet| {
        let inside = edges.range(packet.first + 1..packet.end.max(packet.first + 1));
        let pieces = 1 + inside.take(left).count();
        let is_more = pieces > left;
        left = left.saturating_sub(pieces);
        is_more
    })
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

/// Distinguishes pieces of different flows and datagrams.
fn salt(whole: &Whole) -> u128 {
    use std::hash::BuildHasher;
    let half = |keyed: &foldhash::quality::FixedState| u128::from(keyed.hash_one(whole));
    half(&KEYED[0]) << 64 | half(&KEYED[1])
}

fn replace(trace: &mut Trace, mut cuts: BTreeMap<usize, Vec<Seen>>) {
    let packets = std::mem::take(&mut trace.packets);
    let pieces = packets.into_iter().enumerate();
    trace.packets = pieces
        .flat_map(|(i, seen)| cuts.remove(&i).unwrap_or_else(|| vec![seen]))
        .collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(first: i64, bytes: i64) -> Ranged {
        let seen = Seen {
            hash: 0,
            ts_ns: 0,
            frame: 0,
            flow: 0,
            bytes: 0,
            ttl: 0,
            range: Range::default(),
            datagram: None,
            place: 0,
        };
        let end = first + bytes;
        Ranged { seen, first, end }
    }

    /// Super-packets of 45 segments, all of which were sent again in a row, are cut. Packets of 60,000 bytes that begin a byte behind one another
    /// are not: each would have a piece for each byte, and all of them 600 million.
    #[test]
    fn packets_are_cut_into_as_many_pieces_as_there_are_edges_and_not_more() {
        let segments: Vec<Ranged> = (0..450).map(|i| packet(i * 1_448, 1_448)).collect();
        let supers: Vec<Ranged> = (0..20).map(|i| packet(i % 10 * 65_160, 65_160)).collect();
        let most =
            |a: &[Ranged], b: &[Ranged]| (edges(a).len() + edges(b).len()) * MAX_PIECES_PER_EDGE;
        let usual = most(&segments, &supers);
        assert!(!has_more_pieces(&supers, &edges(&segments), usual));
        assert!(has_more_pieces(&supers, &edges(&segments), 20 * 45 - 1));
        assert!(!has_more_pieces(&supers, &edges(&segments), 20 * 45));
        let (a, b): (Vec<Ranged>, Vec<Ranged>) = (0..10_000)
            .map(|i| (packet(i, 60_000), packet(i, 59_999)))
            .unzip();
        assert!(has_more_pieces(&a, &edges(&b), most(&a, &b)));
    }
}
