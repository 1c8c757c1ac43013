//! How many bytes of the heap a value holds.
//!
//! The numbers are capacities of the containers, not measurements: they are the same on every machine, and so is what is
//! decided by them. `detect/tests/memory.rs` compares them with what is really allocated.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use crate::stats::Distribution;

/// What holds memory beside itself.
pub trait Heap {
    /// Bytes allocated for it, itself not counted.
    fn heap_bytes(&self) -> usize;
}

/// Implements [`Heap`](crate::heap::Heap) as the sum over the fields that hold memory.
///
/// ```
/// use inorder_base::heap::Heap;
///
/// struct Two {
///     bytes: Vec<u8>,
///     numbers: Vec<u64>,
///     sum: u64,
/// }
/// inorder_base::heap!(Two: bytes, numbers);
///
/// let two = Two { bytes: Vec::with_capacity(10), numbers: Vec::with_capacity(2), sum: 7 };
/// assert_eq!(two.heap_bytes() + two.sum as usize, 26 + 7);
/// ```
#[macro_export]
macro_rules! heap {
    ($type:ty $(: $($field:ident),+)?) => {
        impl $crate::heap::Heap for $type {
            fn heap_bytes(&self) -> usize {
                0 $($(+ $crate::heap::Heap::heap_bytes(&self.$field))+)?
            }
        }
    };
}

/// Elements that hold memory themselves are summed where their owner says so.
impl<T> Heap for Vec<T> {
    fn heap_bytes(&self) -> usize {
        self.capacity() * size_of::<T>()
    }
}

impl<T> Heap for VecDeque<T> {
    fn heap_bytes(&self) -> usize {
        self.capacity() * size_of::<T>()
    }
}

impl Heap for String {
    fn heap_bytes(&self) -> usize {
        self.capacity()
    }
}

impl<K, V> Heap for BTreeMap<K, V> {
    fn heap_bytes(&self) -> usize {
        in_nodes(self.len(), size_of::<(K, V)>())
    }
}

impl<T> Heap for BTreeSet<T> {
    fn heap_bytes(&self) -> usize {
        in_nodes(self.len(), size_of::<T>())
    }
}

impl<K, V, S> Heap for HashMap<K, V, S> {
    fn heap_bytes(&self) -> usize {
        in_buckets(self.capacity(), size_of::<(K, V)>())
    }
}

impl<T, S> Heap for HashSet<T, S> {
    fn heap_bytes(&self) -> usize {
        in_buckets(self.capacity(), size_of::<T>())
    }
}

/// Bytes of `len` entries of a tree. Its nodes have room for 11, of which 6 are taken where keys came in their order, and
/// one node in thirteen has 12 addresses of others besides.
fn in_nodes(len: usize, entry_bytes: usize) -> usize {
    const ROOM: usize = 11;
    const TAKEN: usize = 6;
    const HEADER_BYTES: usize = 16;
    const ADDRESSES_BYTES: usize = 8;
    len.div_ceil(TAKEN) * (ROOM * entry_bytes + HEADER_BYTES + ADDRESSES_BYTES)
}

/// Bytes of a hash table: its buckets are a power of two, one in eight of which stays empty, with a byte for each.
fn in_buckets(capacity: usize, entry_bytes: usize) -> usize {
    const GROUP_BYTES: usize = 16;
    match capacity {
        0 => 0,
        _ => (capacity * 8 / 7).next_power_of_two() * (entry_bytes + 1) + GROUP_BYTES,
    }
}

impl<T: Heap> Heap for Box<T> {
    fn heap_bytes(&self) -> usize {
        size_of::<T>() + (**self).heap_bytes()
    }
}

impl<T: Heap> Heap for Option<T> {
    fn heap_bytes(&self) -> usize {
        self.as_ref().map_or(0, T::heap_bytes)
    }
}

impl<T: Heap, const N: usize> Heap for [T; N] {
    fn heap_bytes(&self) -> usize {
        sum(self)
    }
}

impl Heap for Distribution {
    fn heap_bytes(&self) -> usize {
        Distribution::heap_bytes(self)
    }
}

/// What elements hold beside themselves.
pub fn sum<'a, T: Heap + 'a>(all: impl IntoIterator<Item = &'a T>) -> usize {
    all.into_iter().map(T::heap_bytes).sum()
}
