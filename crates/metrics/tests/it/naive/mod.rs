//! The definitions, evaluated naively on a whole stream: slow, but easy to check.
#![allow(dead_code)] // Each test program uses only a part.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// One arrival: number, nanoseconds, bytes.
pub(crate) type Packet = (u64, i64, u32);

/// A reordered packet by the definitions of RFC 4737 sections 3.3 and 4.2 to 4.4.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Late {
    pub seq: u64,
    pub extent: u64,
    pub late_ns: i64,
    pub byte_offset: u64,
    /// Largest n for which the packet is n-reordered, 0 for none.
    pub n: u64,
    /// Position of the discontinuity, from 1.
    pub discontinuity: u64,
}

/// First copies in order of arrival.
pub(crate) fn first_copies(stream: &[Packet]) -> Vec<Packet> {
    let unseen = |i: usize, p: &Packet| stream[..i].iter().all(|q| q.0 != p.0);
    let kept = stream.iter().enumerate().filter(|(i, p)| unseen(*i, p));
    kept.map(|(_, p)| *p).collect()
}

/// Sections 3 to 4.4 and 5, for every reordered packet.
pub(crate) fn late_packets(stream: &[Packet]) -> Vec<Late> {
    let s = first_copies(stream);
    let late_of = |i: usize| {
        let (seq, time, _) = s[i];
        let j = (0..i).find(|j| s[*j].0 > seq)?;
        Some(Late {
            seq,
            extent: (i - j) as u64,
            late_ns: time - s[j].1,
            byte_offset: s[..i]
                .iter()
                .filter(|p| p.0 > seq)
                .map(|p| u64::from(p.2))
                .sum(),
            n: s[..i].iter().rev().take_while(|p| p.0 > seq).count() as u64,
            discontinuity: j as u64 + 1,
        })
    };
    (0..s.len()).filter_map(late_of).collect()
}

/// Section 4.5: distances between successive discontinuities, packets and nanoseconds.
pub(crate) fn gaps(stream: &[Packet]) -> Vec<(u64, i64)> {
    let s = first_copies(stream);
    let positions: BTreeSet<u64> = late_packets(stream)
        .iter()
        .map(|l| l.discontinuity)
        .collect();
    let positions: Vec<u64> = positions.into_iter().collect();
    let time = |position: u64| s[position as usize - 1].1;
    positions
        .windows(2)
        .map(|w| (w[1] - w[0], time(w[1]) - time(w[0])))
        .collect()
}

/// Section 4.6: lengths of the runs that a reordered packet ended; packets and bytes.
pub(crate) fn runs(stream: &[Packet]) -> Vec<(u64, u64)> {
    let (mut runs, mut current) = (Vec::new(), (0, 0));
    let late: BTreeSet<u64> = late_packets(stream).iter().map(|l| l.seq).collect();
    for (seq, _, bytes) in first_copies(stream) {
        if late.contains(&seq) {
            runs.push(std::mem::take(&mut current));
        } else {
            current = (current.0 + 1, current.1 + u64::from(bytes));
        }
    }
    runs
}

/// Packets in at least one inverted pair.
pub(crate) fn involved(stream: &[Packet]) -> u64 {
    let s = first_copies(stream);
    let inverted = |i: usize| {
        let earlier = s[..i].iter().any(|p| p.0 > s[i].0);
        earlier || s[i + 1..].iter().any(|p| p.0 < s[i].0)
    };
    (0..s.len()).filter(|i| inverted(*i)).count() as u64
}

/// RFC 5236 section 7.1, reorder density: the algorithm word for word, with sets as sets. Returns the histogram and the discarded
/// packets as (early, late).
pub(crate) fn reorder_density(arrivals: &[u64], dt: i64) -> (BTreeMap<i64, u64>, (u64, u64)) {
    let mut input = arrivals.iter().copied();
    let (mut window, mut buf) = (VecDeque::new(), BTreeSet::new());
    let (mut counts, mut discarded) = (BTreeMap::new(), (0, 0));
    while (window.len() as i64) < dt + 1 {
        let Some(seq) = input.next() else { break };
        if !window.contains(&seq) {
            window.push_back(seq);
        }
    }
    let mut ri = 0;
    while !window.is_empty() {
        if !window.contains(&ri) && !buf.contains(&ri) {
            let known = window.iter().chain(&buf).copied();
            let least = known.clone().min().unwrap();
            // The RFC's step "RI + 1" is repeated until RI is known, here in one step.
            ri = if ri < least {
                least
            } else {
                known.filter(|s| *s > ri).min().unwrap()
            };
            continue;
        }
        let seq = window.pop_front().unwrap();
        let d = ri as i64 - seq as i64;
        if d.abs() <= dt {
            *counts.entry(d).or_insert(0) += 1;
            buf.remove(&ri);
            if d < 0 {
                buf.insert(seq);
            }
            ri += 1;
        } else if d < 0 {
            discarded.0 += 1;
        } else {
            discarded.1 += 1;
        }
        let next = input.find(|s| *s >= ri && !buf.contains(s) && !window.contains(s));
        window.extend(next);
    }
    (counts, discarded)
}

/// RFC 5236 section 7.2, reorder buffer-occupancy density, starting with the expected number `e`.
pub(crate) fn buffer_density(arrivals: &[u64], bt: usize, mut e: u64) -> BTreeMap<u64, u64> {
    let (mut buf, mut counts) = (BTreeSet::new(), BTreeMap::new());
    for &s in arrivals {
        if buf.contains(&s) || s < e {
            continue;
        }
        let mut arrived = Some(s);
        if s > e && buf.len() < bt {
            buf.insert(s);
            arrived = None;
        } else if s > e {
            e = buf.first().map_or(s, |first: &u64| s.min(*first));
        }
        while buf.remove(&e) || arrived == Some(e) {
            arrived = arrived.filter(|s| *s != e);
            e += 1;
        }
        buf.extend(arrived);
        *counts.entry(buf.len() as u64).or_insert(0) += 1;
    }
    counts
}
