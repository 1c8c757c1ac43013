//! Which arrival belongs to which transmission.

use std::collections::BTreeMap;

use inorder_wire::Has;

use super::ranges::Ranges;
use super::recorder::DataFrame;
use super::split::{Piece, split};
use crate::join::{Keyed, join, sorted};

/// What happened to every transmission.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matching {
    pub(crate) sent: Vec<Piece>,
    pub(crate) arrived: Vec<Piece>,
    /// For each sent piece the index of its arrival.
    pub(crate) arrival: Vec<Option<u32>>,
    /// Arrivals beyond the number of transmissions.
    pub(crate) duplicates: u64,
    /// Arrivals that belong to no transmission.
    pub(crate) unmatched: u64,
    /// Groups of equal transmissions of which not all arrived.
    pub(crate) uncertain: u64,
    unmatched_bytes: u64,
    arrived_bytes: u64,
}

/// Packets that tell how long others take, at least.
const MIN_SINGLE: usize = 20;
/// Of this number of packets one may take longer than the usual time.
const PACKETS_PER_SLOW_ONE: usize = 20;

/// Header fields that came through unchanged.
#[derive(Clone, Copy, Debug)]
struct Fields {
    ip_id: bool,
    tsval: bool,
}

/// Strongest first. Translators rewrite the identification, some firewalls the timestamps.
const STRONGEST_FIELDS_FIRST: [Fields; 4] = [
    Fields {
        ip_id: true,
        tsval: true,
    },
    Fields {
        ip_id: false,
        tsval: true,
    },
    Fields {
        ip_id: true,
        tsval: false,
    },
    Fields {
        ip_id: false,
        tsval: false,
    },
];

type Key = (u32, u32, u16, u32);

impl Fields {
    fn key(self, frames: &[DataFrame], piece: &Piece) -> Key {
        let frame = frame_of(frames, piece);
        let usable = |wanted: bool, bit: u8| wanted && frame.has & bit != 0;
        let ip_id = if usable(self.ip_id, Has::IP_ID) {
            piece.ip_id
        } else {
            0
        };
        let tsval = if usable(self.tsval, Has::TIMESTAMPS) {
            frame.tsval
        } else {
            0
        };
        (piece.seq, piece.len, ip_id, tsval)
    }
}

pub(crate) fn frame_of(frames: &[DataFrame], piece: &Piece) -> DataFrame {
    frames
        .get(piece.frame as usize)
        .copied()
        .unwrap_or_default()
}

/// One direction's packets with data at both ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends<'a> {
    pub(crate) sent: &'a [DataFrame],
    pub(crate) arrived: &'a [DataFrame],
    /// Sequence number of offset 0.
    pub(crate) base: u32,
    /// An arrival's time minus its sending time is at least this, nanoseconds.
    pub(crate) earliest_ns: i64,
}

impl Ends<'_> {
    /// Matches under the first of `limits`, the sizes of a full segment, that leaves nothing
    /// unexplained; failing that, under the one that leaves least.
    pub(crate) fn matching(&self, limits: &[u32]) -> Matching {
        let mut best: Option<Matching> = None;
        for &limit in limits {
            let one = self.with_limit(limit);
            if best
                .as_ref()
                .is_none_or(|b| one.unmatched_bytes < b.unmatched_bytes)
            {
                best = Some(one);
            }
            if best.as_ref().is_some_and(|b| b.unmatched == 0) {
                break;
            }
        }
        let mut best = best.unwrap_or_default();
        if best.unmatched > 0 {
            self.cover(&mut best);
        }
        best
    }

    /// A field is given up only when most packets disagree in it: single ones are rather
    /// duplicates or missing from the capture, and must not pass for something else.
    fn with_limit(&self, limit: u32) -> Matching {
        let sent = split(self.sent, limit, self.base);
        let arrived = split(self.arrived, limit, self.base);
        let mut best: Option<Matching> = None;
        for fields in STRONGEST_FIELDS_FIRST {
            let one = self.with_fields(&sent, &arrived, fields);
            let enough = one.unmatched_bytes * 2 <= one.arrived_bytes;
            if best
                .as_ref()
                .is_none_or(|b| one.unmatched_bytes < b.unmatched_bytes)
            {
                best = Some(one);
            }
            if enough {
                break;
            }
        }
        Matching {
            sent,
            arrived,
            ..best.unwrap_or_default()
        }
    }

    /// Sorts both sides by what identifies a transmission and walks them together.
    fn with_fields(&self, sent: &[Piece], arrived: &[Piece], fields: Fields) -> Matching {
        let senders = sorted(sent, |p| fields.key(self.sent, p));
        let arrivals = sorted(arrived, |p| fields.key(self.arrived, p));
        let mut found = Matching {
            arrival: vec![None; sent.len()],
            arrived_bytes: arrived.iter().map(|p| u64::from(p.len)).sum(),
            ..Matching::default()
        };
        let usual_ns = self.usual_ns(sent, arrived, join(&senders, &arrivals));
        for (key, same, group) in join(&senders, &arrivals) {
            if same.is_empty() {
                found.unmatched += group.len() as u64;
                found.unmatched_bytes += group.len() as u64 * u64::from(key.1);
            }
            if same.is_empty() || group.is_empty() {
                continue;
            }
            found.uncertain += u64::from(same.len() > 1 && group.len() < same.len());
            self.in_turn((sent, arrived), (same, group), usual_ns, &mut found);
        }
        found
    }

    /// How long nearly all packets take at most that were sent once and arrived once, by the clocks as they are; `None` of few.
    fn usual_ns<'k>(
        &self,
        sent: &[Piece],
        arrived: &[Piece],
        groups: impl Iterator<Item = (Key, &'k [Keyed<Key>], &'k [Keyed<Key>])>,
    ) -> Option<i64> {
        let single = groups.filter_map(|(_, same, group)| match (same, group) {
            (&[(_, s)], &[(_, a)]) => Some((s, a)),
            _ => None,
        });
        let took = single.map(|(s, a)| {
            let at = time(self.arrived, arrived, a);
            at.saturating_sub(time(self.sent, sent, s))
        });
        let mut took: Vec<i64> = took.collect();
        let most = (took.len() >= MIN_SINGLE)
            .then(|| took.len() - 1 - took.len() / PACKETS_PER_SLOW_ONE)?;
        Some(*took.select_nth_unstable(most).1)
    }

    /// Transmissions that agree in everything arrive in the order in which they were sent, none
    /// before it was. Where some did not arrive, one that would have taken longer than nearly all others is none of those
    /// that did, if a later one takes the usual time.
    fn in_turn(
        &self,
        (sent, arrived): (&[Piece], &[Piece]),
        (same, group): (&[Keyed<Key>], &[Keyed<Key>]),
        usual_ns: Option<i64>,
        found: &mut Matching,
    ) {
        let mut to_spare = same.len().saturating_sub(group.len());
        let start = |s: &Keyed<Key>| sent.get(s.1 as usize).map_or(0, |p| p.start);
        let (mut next, mut ready) = (0, 0);
        for &(_, arrival) in group {
            let at = time(self.arrived, arrived, arrival);
            while same
                .get(ready)
                .is_some_and(|s| time(self.sent, sent, s.1).saturating_add(self.earliest_ns) <= at)
            {
                ready += 1;
            }
            // Sequence numbers have come round: what was sent before that is long gone.
            if let Some(latest) = same.get(..ready).and_then(<[_]>::last) {
                while same.get(next).is_some_and(|s| start(s) < start(latest)) {
                    next += 1;
                }
            }
            let took = |s: &Keyed<Key>| at.saturating_sub(time(self.sent, sent, s.1));
            let usual = |s: &Keyed<Key>| usual_ns.is_none_or(|most_ns| took(s) <= most_ns);
            let due = same.get(next..ready).unwrap_or_default();
            let skipped = due.iter().take(to_spare + 1).position(usual).unwrap_or(0);
            (next, to_spare) = (next + skipped, to_spare - skipped);
            let own = same.get(next).filter(|_| next < ready);
            match own.and_then(|s| found.arrival.get_mut(s.1 as usize)) {
                Some(place) => {
                    *place = Some(arrival);
                    next += 1;
                }
                None => found.duplicates += 1,
            }
        }
    }

    /// Bytes whose boundaries differ at both ends (something on the path cut them anew): a
    /// transmission has arrived with the packet that completes it.
    fn cover(&self, found: &mut Matching) {
        let fields = STRONGEST_FIELDS_FIRST[1];
        let known = sorted(&found.sent, |p| fields.key(self.sent, p));
        let stamp = |frames, p: &Piece| fields.key(frames, p).3;
        let mut open: BTreeMap<(i64, u32), Ranges> = BTreeMap::new();
        let mut longest = 0;
        for (i, piece) in found.sent.iter().enumerate() {
            if found.arrival.get(i).is_some_and(Option::is_none) {
                open.insert((piece.start, i as u32), Ranges::default());
                longest = longest.max(i64::from(piece.len));
            }
        }
        for (r, arrival) in found.arrived.iter().enumerate() {
            let key = fields.key(self.arrived, arrival);
            if known.binary_search_by_key(&key, |k| k.0).is_ok() {
                continue;
            }
            let at = frame_of(self.arrived, arrival).ts_ns;
            let mut used = Ranges::default();
            let mut complete = Vec::new();
            let reach = (arrival.start - longest, 0)..(arrival.end(), 0);
            for (&(start, i), filled) in open.range_mut(reach) {
                let Some(piece) = found.sent.get(i as usize) else {
                    continue;
                };
                let sent_ns = frame_of(self.sent, piece).ts_ns;
                let before = sent_ns.saturating_add(self.earliest_ns) <= at;
                let overlaps = piece.end() > arrival.start;
                if !before || !overlaps || stamp(self.sent, piece) != key.3 {
                    continue;
                }
                let (from, to) = (start.max(arrival.start), piece.end().min(arrival.end()));
                let mut fresh = Vec::new();
                used.cut(from, to, |a, b, taken| {
                    if !taken {
                        fresh.push((a, b));
                    }
                });
                for (a, b) in fresh {
                    filled.cut(a, b, |a, b, had| {
                        if !had {
                            used.add(a, b);
                        }
                    });
                    filled.add(a, b);
                }
                if filled.holds(start, piece.end()) {
                    complete.push((start, i));
                }
            }
            for key in complete {
                open.remove(&key);
                if let Some(place) = found.arrival.get_mut(key.1 as usize) {
                    *place = Some(r as u32);
                }
            }
            if used.holds(arrival.start, arrival.end()) {
                found.unmatched = found.unmatched.saturating_sub(1);
            }
        }
    }
}

fn time(frames: &[DataFrame], pieces: &[Piece], index: u32) -> i64 {
    let piece = pieces.get(index as usize).copied().unwrap_or_default();
    frame_of(frames, &piece).ts_ns
}
