//! Which connections of two captures are the same, which capture is nearer to a sender, and how
//! far the clocks are apart.

use inorder_wire::Dir;

use super::pair::Pair;
use super::recorder::{PeerRecorder, Recorded};
use super::result::{ClockOffset, Matched};
use super::translated::Search;
use inorder_detect::{FlowReport, Vantage};

/// The connections that both captures hold, and those that only one holds.
#[derive(Debug, Default)]
pub(crate) struct Pairs<'a> {
    /// In the order in which they began here.
    pub(crate) both: Vec<Pair<'a>>,
    pub(crate) only_here: Vec<&'a Recorded>,
    pub(crate) only_there: Vec<&'a Recorded>,
    /// Flows of `only_here` that match several flows of the other capture equally well.
    pub(crate) ambiguous: Vec<&'a Recorded>,
}

pub(crate) fn pair<'a>(here: &'a PeerRecorder, there: &'a PeerRecorder) -> Pairs<'a> {
    let mut partner_of: Vec<Option<Pair<'a>>> = vec![None; here.connections.len()];
    let mut taken = vec![false; there.connections.len()];
    // What is proven to be the same first, whatever its addresses; then what nothing speaks against.
    by_addresses(here, there, &mut partner_of, &mut taken, true);
    let left = |all: &'a [Recorded], free: Vec<bool>| {
        let numbered = all.iter().enumerate().zip(free);
        numbered.filter_map(|(one, free)| free.then_some(one))
    };
    let free = partner_of.iter().map(Option::is_none).collect();
    let mut search = Search::new(
        left(&here.connections, free),
        left(&there.connections, taken.iter().map(|t| !t).collect()),
    );
    for (h, t, pair) in search.run() {
        partner_of[h] = Some(pair);
        taken[t] = true;
    }
    search.ambiguous.sort_unstable();
    by_addresses(here, there, &mut partner_of, &mut taken, false);
    let mut pairs = Pairs::default();
    for (h, (one, partner)) in here.connections.iter().zip(partner_of).enumerate() {
        match partner {
            Some(pair) => pairs.both.push(pair),
            None => {
                pairs.only_here.push(one);
                if search.ambiguous.binary_search(&h).is_ok() {
                    pairs.ambiguous.push(one);
                }
            }
        }
    }
    let rest = there.connections.iter().zip(taken);
    pairs.only_there = rest.filter(|(_, taken)| !taken).map(|(c, _)| c).collect();
    pairs
}

/// Matches connections with equal addresses and ports: those proven to be the same, or all that
/// may be.
fn by_addresses<'a>(
    here: &'a PeerRecorder,
    there: &'a PeerRecorder,
    partner_of: &mut [Option<Pair<'a>>],
    taken: &mut [bool],
    sure: bool,
) {
    for (one, partner) in here.connections.iter().zip(partner_of) {
        if partner.is_some() {
            continue;
        }
        let candidates = there.index.get(&one.key).map_or(&[][..], Vec::as_slice);
        let found = candidates.iter().copied().find(|&t| {
            let fits = same(one, &there.connections[t]);
            !taken[t] && (fits == Some(true) || (!sure && fits.is_none()))
        });
        if let Some(t) = found {
            taken[t] = true;
            *partner = Some(Pair {
                here: one,
                there: &there.connections[t],
                matched: Matched::Addresses,
                flipped: false,
            });
        }
    }
}

/// Whether two recorded connections are one; `None` when nothing tells.
fn same(a: &Recorded, b: &Recorded) -> Option<bool> {
    for way in 0..2 {
        if let (Some(one), Some(other)) = (a.ways[way].isn, b.ways[way].isn) {
            return Some(one == other);
        }
    }
    let common = (0..2).any(|w| !a.ways[w].sample.differences(&b.ways[w].sample).is_empty());
    common.then_some(true)
}

/// Bounds of the clock offset (there minus here), nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Bounds {
    /// Smallest difference over packets from here to there.
    pub(crate) upper: Option<i64>,
    /// Largest difference over packets from there to here.
    pub(crate) lower: Option<i64>,
}

impl Bounds {
    fn add_outward(&mut self, differences: &[i64]) {
        if let Some(&least) = differences.first() {
            self.upper = Some(self.upper.map_or(least, |u| u.min(least)));
        }
    }

    fn add_homeward(&mut self, differences: &[i64]) {
        if let Some(&most) = differences.last() {
            self.lower = Some(self.lower.map_or(most, |l| l.max(most)));
        }
    }

    /// The offset, if packets went both ways.
    pub(crate) fn offset(&self) -> Option<ClockOffset> {
        let (upper, lower) = (self.upper?, self.lower?);
        Some(ClockOffset {
            offset_ns: midpoint(lower, upper),
            error_ns: upper.saturating_sub(lower).saturating_abs() / 2,
            drifting: lower > upper,
        })
    }

    /// The offset, or what it may be: clocks agree unless a packet says otherwise.
    pub(crate) fn guess(&self) -> i64 {
        match (self.offset(), self.upper, self.lower) {
            (Some(offset), ..) => offset.offset_ns,
            (None, Some(upper), _) => upper.min(0),
            (None, None, lower) => lower.map_or(0, |l| l.max(0)),
        }
    }
}

fn midpoint(a: i64, b: i64) -> i64 {
    ((i128::from(a) + i128::from(b)) >> 1) as i64
}

/// Which end the analysed capture is, of the data that goes `dir`; `None` when nothing tells.
///
/// A packet's time there minus its time here is the clock offset plus its time under way from
/// here to there, or minus that of the other way: whatever the clocks say, packets from here to
/// there show the larger difference.
pub(crate) fn orient(pair: &Pair<'_>, dir: Dir) -> Option<Vantage> {
    let (forward, backward) = (pair.differences(dir), pair.differences(dir.reverse()));
    match median(&forward)?.cmp(&median(&backward)?) {
        std::cmp::Ordering::Greater => Some(Vantage::Sender),
        std::cmp::Ordering::Less => Some(Vantage::Receiver),
        std::cmp::Ordering::Equal => None,
    }
}

/// Which end the analysed capture is, when packets of one direction only were captured at both ends: by the clocks as far
/// as other flows show their difference, else by the inference from one end, else by the clocks as
/// they are.
pub(crate) fn orient_by_clock(
    pair: &Pair<'_>,
    dir: Dir,
    clock: Option<ClockOffset>,
    report: Option<&FlowReport>,
) -> Vantage {
    let forward = pair.differences(dir);
    let inferred = report.map(|r| r.vantage.vantage);
    let raw = median(&forward);
    let corrected = raw.zip(clock).map(|(m, c)| m.saturating_sub(c.offset_ns));
    match (corrected, inferred, raw) {
        (Some(delay), ..) if delay != 0 => by_sign(delay),
        (_, Some(vantage @ (Vantage::Sender | Vantage::Receiver)), _) => vantage,
        (.., Some(delay)) => by_sign(delay),
        _ => Vantage::Sender,
    }
}

fn by_sign(delay: i64) -> Vantage {
    if delay < 0 {
        Vantage::Receiver
    } else {
        Vantage::Sender
    }
}

fn median(sorted: &[i64]) -> Option<i64> {
    sorted.get(sorted.len() / 2).copied()
}

/// Adds what one connection says of the clocks, once its orientation is known.
pub(crate) fn bound(bounds: &mut Bounds, pair: &Pair<'_>, dir: Dir, vantage: Vantage) {
    let (outward, homeward) = match vantage {
        Vantage::Receiver => (dir.reverse(), dir),
        _ => (dir, dir.reverse()),
    };
    bounds.add_outward(&pair.differences(outward));
    bounds.add_homeward(&pair.differences(homeward));
}
