//! Finds the flow of a packet: a hash table that is emptied by increasing a generation number.
//!
//! Flows are stored one after another in the order they were first seen, and an open-addressed index with twice as
//! many buckets points to them. Each bucket has the generation that wrote it, so forgetting all flows takes the same
//! time whether the table is full or empty.

use alloc::collections::TryReserveError;
use alloc::vec::Vec;

use crate::key::FlowKey;

/// An entry of the index.
#[derive(Clone, Copy, Default)]
struct Bucket {
    /// Generation that wrote the bucket; with any other than the current one the bucket is free.
    stamp: u32,
    /// Lower half of the hash, so that the key of another flow is seldom compared.
    tag: u32,
    /// Index of the flow.
    flow: u32,
}

/// The flows of the current generation, with a `T` for each.
pub(crate) struct Table<K, T> {
    buckets: Vec<Bucket>,
    /// Separate from `values`: a pair would be assembled on the stack first, which delays the push.
    keys: Vec<K>,
    values: Vec<T>,
    capacity: usize,
    generation: u32,
    seed: u64,
    /// The flow found last; packets often come in trains of one flow.
    last: usize,
}

/// Where a key is stored or would be stored.
pub(crate) enum Place {
    /// The flow at this index.
    Known(usize),
    /// Not in the table; the token for [`Table::insert`] is valid until the table changes.
    Free(Vacancy),
}

/// A free bucket and what to write to it.
pub(crate) struct Vacancy {
    bucket: usize,
    tag: u32,
}

impl<K: FlowKey, T> Table<K, T> {
    /// A table for `capacity` flows, with all its memory reserved.
    pub(crate) fn new(capacity: usize, seed: u64) -> Result<Self, TryReserveError> {
        let mut buckets = Vec::new();
        // The load is at most one half, so a lookup seldom needs a second bucket.
        let places = Self::places(capacity);
        buckets.try_reserve_exact(places)?;
        buckets.resize(places, Bucket::default());
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        keys.try_reserve_exact(capacity)?;
        values.try_reserve_exact(capacity)?;
        Ok(Table {
            buckets,
            keys,
            values,
            capacity,
            generation: 1,
            seed,
            last: 0,
        })
    }

    fn places(capacity: usize) -> usize {
        (capacity * 2).next_power_of_two()
    }

    /// Bytes a table for `capacity` flows reserves.
    pub(crate) fn footprint(capacity: usize) -> usize {
        Self::places(capacity) * size_of::<Bucket>() + capacity * (size_of::<K>() + size_of::<T>())
    }

    /// The bytes that this table reserves.
    pub(crate) fn own_footprint(&self) -> usize {
        Self::footprint(self.capacity)
    }

    /// Looks `key` up. Here and below the key is passed by value: a key whose address is taken is stored word by word
    /// and then read in wider units, which the processor cannot forward from its store buffer.
    #[inline]
    pub(crate) fn find(&mut self, key: K) -> Place {
        if self.keys.get(self.last) == Some(&key) {
            return Place::Known(self.last);
        }
        self.probe(key)
    }

    #[inline]
    fn probe(&mut self, key: K) -> Place {
        let hash = key.hash64(self.seed);
        let tag = hash as u32;
        let mask = self.buckets.len() - 1;
        let mut bucket = (hash >> 32) as usize & mask;
        // Terminates because at least half of the buckets are free.
        loop {
            let b = self.buckets[bucket];
            if b.stamp != self.generation {
                return Place::Free(Vacancy { bucket, tag });
            }
            if b.tag == tag && self.keys[b.flow as usize] == key {
                self.last = b.flow as usize;
                return Place::Known(self.last);
            }
            bucket = (bucket + 1) & mask;
        }
    }

    /// True when no flow can be added.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.keys.len() >= self.capacity
    }

    /// Adds a flow. The caller has checked that the table is not full.
    #[inline]
    pub(crate) fn insert(&mut self, vacancy: &Vacancy, key: K, value: T) -> usize {
        debug_assert!(!self.is_full());
        let flow = self.keys.len();
        self.buckets[vacancy.bucket] = Bucket {
            stamp: self.generation,
            tag: vacancy.tag,
            flow: flow as u32,
        };
        self.keys.push(key);
        self.values.push(value);
        self.last = flow;
        flow
    }

    /// Forgets every flow. Takes constant time, except once in 2^32 calls.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.keys.clear();
        self.values.clear();
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.buckets.fill(Bucket::default());
            self.generation = 1;
        }
    }

    /// The number of flows.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// True when there is no flow.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The flow at `index`.
    #[inline]
    pub(crate) fn get_mut(&mut self, index: usize) -> &mut T {
        &mut self.values[index]
    }

    /// Index of `key`; changes nothing.
    pub(crate) fn peek(&self, key: &K) -> Option<&T> {
        let flow = self.keys.iter().position(|k| k == key)?;
        self.values.get(flow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::FourTuple;
    use crate::key::tests::chosen;

    /// All keys share one bucket and one tag, so only `Eq` can tell them apart.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    struct Colliding(u32);

    impl FlowKey for Colliding {
        fn hash64(&self, _seed: u64) -> u64 {
            u64::MAX
        }
    }

    fn add<K: FlowKey>(table: &mut Table<K, u32>, key: K, value: u32) -> usize {
        match table.find(key) {
            Place::Known(i) => i,
            Place::Free(v) => table.insert(&v, key, value),
        }
    }

    #[test]
    fn collisions_do_not_mix_flows() {
        let mut table = Table::new(8, 0).unwrap();
        for k in 0..8 {
            assert_eq!(add(&mut table, Colliding(k), k), k as usize);
        }
        assert!(table.is_full());
        for k in (0..8).rev() {
            let at = add(&mut table, Colliding(k), 99);
            assert_eq!(*table.get_mut(at), k);
        }
    }

    #[test]
    fn clearing_forgets_all_flows_even_when_the_generation_wraps() {
        let mut table = Table::new(2, 0).unwrap();
        table.generation = u32::MAX - 1;
        for round in 0..4 {
            assert_eq!(add(&mut table, 5u64, round), 0);
            assert_eq!(*table.get_mut(0), round);
            table.clear();
            assert_eq!(table.len(), 0);
            assert!(matches!(table.find(5), Place::Free(_)));
        }
    }

    /// Buckets that are looked at to find each of these flows once, all of them being in the table.
    fn looked_at<K: FlowKey>(keys: &[K]) -> usize {
        let mut table = Table::new(keys.len(), 0x5eed).unwrap();
        for key in keys {
            add(&mut table, *key, 0);
        }
        let mask = table.buckets.len() - 1;
        let looked = |key: &K| {
            let flow = table.keys.iter().position(|k| k == key).unwrap();
            let is_it = |b: &Bucket| b.stamp == table.generation && b.flow as usize == flow;
            let at = table.buckets.iter().position(is_it).unwrap();
            (at.wrapping_sub((key.hash64(table.seed) >> 32) as usize) & mask) + 1
        };
        keys.iter().map(looked).sum()
    }

    #[test]
    fn flows_chosen_to_collide_cost_no_more_than_others() {
        let chosen: Vec<_> = chosen(2_000).collect();
        let others = (0..2_000u32).map(|n| FourTuple::v4(n.to_be_bytes(), 7, [10, 0, 0, 1], 443));
        let others: Vec<_> = others.collect();
        let (hostile, usual) = (looked_at(&chosen), looked_at(&others));
        // With one hash for all they would be 2,000 * 2,001 / 2.
        assert!(hostile * 2 <= usual * 3, "{hostile} buckets for {usual}");
    }
}
