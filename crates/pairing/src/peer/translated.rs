//! The same connection under other addresses, ports or numbers: what a translator (NAT), a
//! tunnel or a firewall between the captures makes of it.
//!
//! Addresses play no part here. Three things are asked, the strongest first, each of what the one
//! before has left: packets that agree in every number and timestamp; both initial sequence
//! numbers; packets that agree in their distances from those and in their timestamps. What fits
//! several connections nearly as well is left alone.

use std::collections::HashMap;

use inorder_wire::Dir;

use super::pair::Pair;
use super::recorder::Recorded;
use super::result::Matched;
use super::sample::Sample;

/// Packets that have to agree in every number: one is hardly chance, three are none.
const MIN_PACKETS_EQUAL_IN_NUMBERS: usize = 3;
/// Packets that have to agree in distances and timestamps. Hosts share their clock among
/// connections, so that single packets of others may do so, too.
const MIN_PACKETS_EQUAL_IN_DISTANCES: usize = 4;

/// Connections of both captures not matched yet, by number, and what is found among them.
pub(crate) struct Search<'a> {
    here: Vec<(usize, &'a Recorded)>,
    there: Vec<(usize, &'a Recorded)>,
    /// Numbers here of what fits several connections there, or the other way round.
    pub(crate) ambiguous: Vec<usize>,
}

/// A likely partner: index there, whether the directions are swapped, and how much speaks for it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Vote {
    count: usize,
    /// Index among those there.
    there: usize,
    flipped: bool,
}

impl<'a> Search<'a> {
    pub(crate) fn new(
        here: impl Iterator<Item = (usize, &'a Recorded)>,
        there: impl Iterator<Item = (usize, &'a Recorded)>,
    ) -> Self {
        Search {
            here: here.collect(),
            there: there.collect(),
            ambiguous: Vec::new(),
        }
    }

    /// What is found: numbers here and there, and the pair.
    pub(crate) fn run(&mut self) -> Vec<(usize, usize, Pair<'a>)> {
        let mut found = Vec::new();
        if self.here.is_empty() || self.there.is_empty() {
            return found;
        }
        for evidence in [
            Matched::Numbers,
            Matched::InitialNumbers,
            Matched::Distances,
        ] {
            self.step(evidence, &mut found);
        }
        found.sort_unstable_by_key(|&(h, ..)| h);
        found
    }

    fn step(&mut self, evidence: Matched, found: &mut Vec<(usize, usize, Pair<'a>)>) {
        let votes = self.votes(evidence);
        let mut claims: Vec<Vec<Vote>> = vec![Vec::new(); self.there.len()];
        for (h, of_here) in votes.iter().enumerate() {
            for vote in of_here {
                claims[vote.there].push(Vote { there: h, ..*vote });
            }
        }
        let mut done_here = vec![false; self.here.len()];
        let mut done_there = vec![false; self.there.len()];
        for (h, of_here) in votes.iter().enumerate() {
            let Some(best) = of_here.iter().max().copied() else {
                continue;
            };
            let (number, here) = self.here[h];
            let mutual = clear(of_here) && clear(&claims[best.there]);
            // What is ambiguous by strong evidence is not settled by weak evidence.
            done_here[h] = true;
            if !mutual {
                self.ambiguous.push(number);
                continue;
            }
            let (partner, there) = self.there[best.there];
            done_there[best.there] = true;
            let pair = Pair {
                here,
                there,
                matched: evidence,
                flipped: best.flipped,
            };
            found.push((number, partner, pair));
        }
        remove(&mut self.here, &done_here);
        remove(&mut self.there, &done_there);
    }

    /// For each connection here those there for which enough speaks.
    fn votes(&self, evidence: Matched) -> Vec<Vec<Vote>> {
        match evidence {
            Matched::InitialNumbers => self.by_initial_numbers(),
            Matched::Distances => self.by_sample(
                |c, dir| &c.way(dir).relative,
                |vote, least| {
                    // Of two ends of one connection most of the sample is common.
                    vote.count >= MIN_PACKETS_EQUAL_IN_DISTANCES && vote.count * 2 >= least
                },
            ),
            _ => self.by_sample(
                |c, dir| &c.way(dir).sample,
                |vote, _| vote.count >= MIN_PACKETS_EQUAL_IN_NUMBERS,
            ),
        }
    }

    fn by_initial_numbers(&self) -> Vec<Vec<Vote>> {
        let isns = |c: &Recorded| Some([c.ways[0].isn?, c.ways[1].isn?]);
        let mut known: HashMap<[u32; 2], Vec<(usize, bool)>> = HashMap::default();
        for (t, (_, there)) in self.there.iter().enumerate() {
            if let Some([low, high]) = isns(there) {
                known.entry([low, high]).or_default().push((t, false));
                known.entry([high, low]).or_default().push((t, true));
            }
        }
        let of_one = |here: &Recorded| {
            let same = isns(here).and_then(|isns| known.get(&isns));
            same.into_iter()
                .flatten()
                .map(|&(there, flipped)| Vote {
                    count: 1,
                    there,
                    flipped,
                })
                .collect()
        };
        self.here.iter().map(|(_, here)| of_one(here)).collect()
    }

    fn by_sample<'s>(
        &'s self,
        sample: impl Fn(&'s Recorded, Dir) -> &'s Sample,
        enough: impl Fn(&Vote, usize) -> bool,
    ) -> Vec<Vec<Vote>> {
        const DIRS: [Dir; 2] = [Dir::LowToHigh, Dir::HighToLow];
        let mut known: HashMap<u64, Vec<(usize, Dir)>> = HashMap::default();
        for (t, (_, there)) in self.there.iter().enumerate() {
            for dir in DIRS {
                for print in sample(there, dir).prints() {
                    known.entry(print).or_default().push((t, dir));
                }
            }
        }
        let size = |c: &'s Recorded| DIRS.map(|dir| sample(c, dir).len()).iter().sum::<usize>();
        let of_one = |here: &'s Recorded| {
            let mut counts: HashMap<(usize, bool), usize> = HashMap::default();
            for dir in DIRS {
                let common = sample(here, dir).prints().filter_map(|p| known.get(&p));
                for &(there, as_there) in common.flatten() {
                    *counts.entry((there, as_there != dir)).or_default() += 1;
                }
            }
            let all = counts.into_iter().map(|((there, flipped), count)| Vote {
                count,
                there,
                flipped,
            });
            let mut all: Vec<Vote> = all
                .filter(|vote| enough(vote, size(here).min(size(self.there[vote.there].1))))
                .collect();
            all.sort_unstable();
            all
        };
        self.here.iter().map(|&(_, here)| of_one(here)).collect()
    }
}

/// True when one speaks for itself at least twice as much as any other.
fn clear(votes: &[Vote]) -> bool {
    let mut counts: Vec<usize> = votes.iter().map(|vote| vote.count).collect();
    counts.sort_unstable();
    match counts[..] {
        [] => false,
        [_] => true,
        [.., second, best] => second * 2 <= best,
    }
}

/// Keeps those at whose places `done` says no.
fn remove<T>(all: &mut Vec<T>, done: &[bool]) {
    let mut done = done.iter();
    all.retain(|_| done.next() != Some(&true));
}
