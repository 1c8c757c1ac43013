//! Places at run time: their tokens by key, and the sums over their history.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use super::handle::{KeyOf, RankOf, Token};
use super::model::{CounterSpec, Order, PlaceKind, PlaceSpec, QueueSpec};
use crate::schedule::agenda::PlaceWakes;
use crate::schedule::tally::PlaceTally;

/// A place of a running net. A *lane* holds the tokens of one key.
pub(crate) struct Place<T> {
    /// Tokens of all keys.
    pub(crate) len: u32,
    /// One bit per lane: whether it holds a token.
    pub(crate) occupied: Box<[u64]>,
    store: Store<T>,
    key_of: Option<KeyOf<T>>,
    pub(crate) keys: u32,
    /// Maximum number of tokens, including reserved ones.
    pub(crate) capacity: u32,
    /// Room reserved for firings in progress.
    pub(crate) reserved: u32,
    pub(crate) sink: bool,
    pub(crate) wakes: PlaceWakes,
    pub(crate) tally: PlaceTally,
}

enum Store<T> {
    Counts(Vec<u32>),
    Fifo(Vec<VecDeque<T>>),
    Random(Vec<Vec<T>>),
    Least(Vec<BinaryHeap<Ranked<T>>>, RankOf<T>, u64),
}

struct Ranked<T> {
    rank: u64,
    number: u64,
    token: T,
}

impl<T: Token> Place<T> {
    /// The place with its initial tokens; `Err` is the index of a token whose key is out of range.
    pub(crate) fn new(spec: PlaceSpec<T>) -> Result<Self, usize> {
        let keys = spec.keys();
        let capacity = spec.capacity().unwrap_or(u32::MAX);
        let mut place = Self {
            len: 0,
            occupied: vec![0; (keys as usize).div_ceil(64)].into(),
            store: Store::Counts(Vec::new()),
            key_of: None,
            keys,
            capacity,
            reserved: 0,
            sink: false,
            wakes: PlaceWakes::default(),
            tally: PlaceTally::default(),
        };
        match spec.kind {
            PlaceKind::Counter(counter) => place.fill_counter(&counter),
            PlaceKind::Queue(queue) => place.fill_queue(queue)?,
        }
        place.tally = PlaceTally::starting(place.len);
        Ok(place)
    }

    fn fill_counter(&mut self, spec: &CounterSpec) {
        self.store = Store::Counts(vec![0; spec.counts.len()]);
        for (lane, &count) in spec.counts.iter().enumerate() {
            if count > 0 {
                self.add(lane as u32, count, 0);
            }
        }
    }

    fn fill_queue(&mut self, spec: QueueSpec<T>) -> Result<(), usize> {
        let keys = spec.keys as usize;
        self.store = match spec.order {
            Order::Fifo => Store::Fifo(vec![VecDeque::new(); keys]),
            Order::Random => Store::Random(vec![Vec::new(); keys]),
            Order::Least(rank) => {
                Store::Least((0..keys).map(|_| BinaryHeap::new()).collect(), rank, 0)
            }
        };
        self.key_of = spec.key_of;
        self.sink = spec.sink;
        for (index, token) in spec.tokens.into_iter().enumerate() {
            let lane = self.lane_of(&token);
            if lane >= self.keys {
                return Err(index);
            }
            self.push(lane, token, 0);
        }
        Ok(())
    }

    /// The lane of a token; out of range if its key is.
    #[inline]
    pub(crate) fn lane_of(&self, token: &T) -> u32 {
        self.key_of.as_ref().map_or(0, |key| key(token))
    }

    /// Tokens of one key.
    #[inline]
    pub(crate) fn lane_len(&self, lane: u32) -> u32 {
        let lane = lane as usize;
        match &self.store {
            Store::Counts(counts) => counts.get(lane).copied().unwrap_or(0),
            Store::Fifo(lanes) => lanes.get(lane).map_or(0, |l| l.len() as u32),
            Store::Random(lanes) => lanes.get(lane).map_or(0, |l| l.len() as u32),
            Store::Least(lanes, ..) => lanes.get(lane).map_or(0, |l| l.len() as u32),
        }
    }

    /// The token at position `index` of a lane; for a queue ordered by rank, only the first one can be seen.
    #[inline]
    pub(crate) fn peek(&self, lane: u32, index: u32) -> Option<T> {
        let (lane, index) = (lane as usize, index as usize);
        match &self.store {
            Store::Counts(_) => None,
            Store::Fifo(lanes) => lanes.get(lane)?.get(index).copied(),
            Store::Random(lanes) => lanes.get(lane)?.get(index).copied(),
            Store::Least(lanes, ..) => lanes.get(lane)?.peek().map(|r| r.token),
        }
    }

    /// Removes a token: the first in order, or in a random place the one at position `index`. Also returns whether
    /// the lane is empty now.
    #[inline]
    pub(crate) fn pop(&mut self, lane: u32, index: u32, now: u64) -> Option<(T, bool)> {
        let at = lane as usize;
        let (token, empty) = match &mut self.store {
            Store::Counts(_) => return None,
            Store::Fifo(lanes) => {
                let queue = lanes.get_mut(at)?;
                (queue.pop_front()?, queue.is_empty())
            }
            Store::Random(lanes) => {
                let bag = lanes.get_mut(at)?;
                if index as usize >= bag.len() {
                    return None;
                }
                (bag.swap_remove(index as usize), bag.is_empty())
            }
            Store::Least(lanes, ..) => {
                let heap = lanes.get_mut(at)?;
                (heap.pop()?.token, heap.is_empty())
            }
        };
        self.left(lane, 1, empty, now);
        Some((token, empty))
    }

    /// Adds a token to its lane; returns whether the lane was empty.
    #[inline]
    pub(crate) fn push(&mut self, lane: u32, token: T, now: u64) -> bool {
        let at = lane as usize;
        match &mut self.store {
            Store::Counts(_) => return false,
            Store::Fifo(lanes) => lanes[at].push_back(token),
            Store::Random(lanes) => lanes[at].push(token),
            Store::Least(lanes, rank, number) => {
                let rank = rank(&token);
                *number += 1;
                lanes[at].push(Ranked {
                    rank,
                    number: *number,
                    token,
                });
            }
        }
        self.came(lane, 1, now)
    }

    /// Adds plain tokens, at least one; returns whether the lane was empty.
    #[inline]
    pub(crate) fn add(&mut self, lane: u32, count: u32, now: u64) -> bool {
        let Store::Counts(counts) = &mut self.store else {
            return false;
        };
        counts[lane as usize] += count;
        self.came(lane, count, now)
    }

    /// Removes plain tokens, which must be present; returns whether the lane is empty now.
    #[inline]
    pub(crate) fn subtract(&mut self, lane: u32, count: u32, now: u64) -> bool {
        let Store::Counts(counts) = &mut self.store else {
            return false;
        };
        let held = &mut counts[lane as usize];
        *held -= count;
        let empty = *held == 0;
        self.left(lane, count, empty, now);
        empty
    }

    /// Counts a token that leaves the net here.
    #[inline]
    pub(crate) fn swallow(&mut self) {
        self.tally.arrivals += 1;
    }

    /// Removes every token.
    pub(crate) fn clear(&mut self, now: u64) {
        match &mut self.store {
            Store::Counts(counts) => counts.fill(0),
            Store::Fifo(lanes) => lanes.iter_mut().for_each(VecDeque::clear),
            Store::Random(lanes) => lanes.iter_mut().for_each(Vec::clear),
            Store::Least(lanes, ..) => lanes.iter_mut().for_each(BinaryHeap::clear),
        }
        self.tally.lose(self.len, now);
        self.occupied.fill(0);
        self.len = 0;
    }

    /// The tokens of all keys, in arbitrary order unless the place is first in, first out.
    pub(crate) fn tokens(&self) -> Box<dyn Iterator<Item = &T> + '_> {
        match &self.store {
            Store::Counts(_) => Box::new(std::iter::empty()),
            Store::Fifo(lanes) => Box::new(lanes.iter().flatten()),
            Store::Random(lanes) => Box::new(lanes.iter().flatten()),
            Store::Least(lanes, ..) => Box::new(lanes.iter().flatten().map(|r| &r.token)),
        }
    }

    /// Appends the content: the number of tokens of every key, and the tokens in an order in which equal content is
    /// written equally.
    pub(crate) fn save(&self, lens: &mut Vec<u32>, tokens: &mut Vec<T>)
    where
        T: Ord,
    {
        match &self.store {
            Store::Counts(counts) => lens.extend(counts),
            Store::Fifo(lanes) => {
                lens.extend(lanes.iter().map(|lane| lane.len() as u32));
                tokens.extend(lanes.iter().flatten());
            }
            Store::Random(lanes) => {
                for lane in lanes {
                    lens.push(lane.len() as u32);
                    let from = tokens.len();
                    tokens.extend(lane);
                    tokens[from..].sort_unstable();
                }
            }
            Store::Least(lanes, ..) => {
                for lane in lanes {
                    lens.push(lane.len() as u32);
                    let mut ranked: Vec<&Ranked<T>> = lane.iter().collect();
                    ranked.sort_unstable_by(|a, b| b.cmp(a));
                    tokens.extend(ranked.into_iter().map(|r| r.token));
                }
            }
        }
    }

    /// Restores a content: the tokens come from `tokens`.
    pub(crate) fn load(&mut self, lens: &[u32], tokens: &mut impl Iterator<Item = T>) {
        self.clear(0);
        self.reserved = 0;
        let is_plain = matches!(self.store, Store::Counts(_));
        for (lane, &count) in (0..).zip(lens).filter(|(_, count)| **count > 0) {
            if is_plain {
                self.add(lane, count, 0);
                continue;
            }
            for token in tokens.take(count as usize) {
                self.push(lane, token, 0);
            }
        }
    }

    pub(crate) fn is_random(&self) -> bool {
        matches!(self.store, Store::Random(_))
    }

    pub(crate) fn is_fifo(&self) -> bool {
        matches!(self.store, Store::Fifo(_))
    }

    pub(crate) fn is_plain(&self) -> bool {
        matches!(self.store, Store::Counts(_))
    }

    #[inline]
    fn came(&mut self, lane: u32, count: u32, now: u64) -> bool {
        let word = &mut self.occupied[lane as usize / 64];
        let filled = *word >> (lane % 64) & 1 == 0;
        *word |= 1 << (lane % 64);
        self.len += count;
        self.tally.gain(count, self.len, now);
        filled
    }

    #[inline]
    fn left(&mut self, lane: u32, count: u32, empty: bool, now: u64) {
        if empty {
            self.occupied[lane as usize / 64] &= !(1 << (lane % 64));
        }
        self.len -= count;
        self.tally.lose(count, now);
    }
}

impl<T> PartialEq for Ranked<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Ranked<T> {}

impl<T> PartialOrd for Ranked<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Ranked<T> {
    /// Reversed, because the library's heap returns the greatest element first.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.rank, other.number).cmp(&(self.rank, self.number))
    }
}
