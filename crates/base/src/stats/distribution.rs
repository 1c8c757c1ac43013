//! A bounded summary of many non-negative values.

/// Number of buckets per power of two; a quantile is at most 1/32 too high.
const STEPS: u64 = 32;
const STEP_BITS: u32 = STEPS.trailing_zeros();

/// Count, sum, extremes and quantiles of non-negative integers, in at most 15 KiB.
///
/// Values below 64 are kept exactly, larger ones in buckets of 1/32 of their power of two.
/// An empty distribution holds no memory, and one with few different values takes 8 bytes for each of their buckets.
///
/// ```
/// let mut d = inorder_base::stats::Distribution::new();
/// for extent in [4, 1, 2] {
///     d.update(extent);
/// }
/// assert_eq!((d.count(), d.min(), d.max()), (3, Some(1), Some(4)));
/// assert_eq!(d.quantile(0.5), Some(2));
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Distribution {
    /// `None` while there are none: most distributions of most flows stay empty, and then take one word.
    values: Option<Box<Values>>,
}

/// One value or more.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Values {
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
    buckets: Buckets,
}

/// Buckets that are listed at most; more are counted in an array.
const MAX_LISTED: usize = 64;
/// Values of a distribution whose buckets are listed; of more the array is worth its memory, because a value takes half of the
/// instructions there.
const MAX_VALUES_LISTED: u64 = 512;

/// How many values each bucket holds.
///
/// The same counts have the same form, in whatever order they came: an array if more than [`MAX_LISTED`] buckets are filled or there
/// are more than [`MAX_VALUES_LISTED`] values, else a list.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Buckets {
    /// Number and count of the buckets that are not empty, ascending.
    Listed(Vec<(u16, u32)>),
    /// Counts of all buckets from the first on.
    Counted(Vec<u64>),
}

impl Buckets {
    fn heap_bytes(&self) -> usize {
        match self {
            Buckets::Listed(list) => list.capacity() * size_of::<(u16, u32)>(),
            Buckets::Counted(counts) => counts.capacity() * size_of::<u64>(),
        }
    }

    fn add(&mut self, bucket: usize, more: u64) {
        match self {
            Buckets::Counted(counts) => {
                if bucket >= counts.len() {
                    counts.resize(bucket + 1, 0);
                }
                if let Some(count) = counts.get_mut(bucket) {
                    *count += more;
                }
            }
            Buckets::Listed(list) => {
                if !list_value(list, bucket, more) {
                    self.count();
                    self.add(bucket, more);
                }
            }
        }
    }

    /// From a list to an array, if it is none yet.
    #[cold]
    fn count(&mut self) {
        if let Buckets::Counted(_) = self {
            return;
        }
        let mut counts = Vec::new();
        for (bucket, count) in self.filled() {
            counts.resize(bucket, 0);
            counts.push(count);
        }
        *self = Buckets::Counted(counts);
    }

    /// Number and count of the buckets that are not empty, ascending.
    fn filled(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let (listed, counted) = match self {
            Buckets::Listed(list) => (list.as_slice(), [].as_slice()),
            Buckets::Counted(counts) => ([].as_slice(), counts.as_slice()),
        };
        let listed = listed
            .iter()
            .map(|&(bucket, count)| (usize::from(bucket), u64::from(count)));
        listed.chain(
            counted
                .iter()
                .copied()
                .enumerate()
                .filter(|bucket| bucket.1 > 0),
        )
    }
}

/// Adds to a list; false if it has no room for that.
fn list_value(list: &mut Vec<(u16, u32)>, bucket: usize, more: u64) -> bool {
    let (Ok(number), Ok(more)) = (u16::try_from(bucket), u32::try_from(more)) else {
        return false;
    };
    match list.binary_search_by_key(&number, |listed| listed.0) {
        Ok(at) => {
            let count = list.get_mut(at).and_then(|listed| {
                listed.1 = listed.1.checked_add(more)?;
                Some(())
            });
            count.is_some()
        }
        Err(_) if list.len() == MAX_LISTED => false,
        Err(at) => {
            list.insert(at, (number, more));
            true
        }
    }
}

impl Default for Values {
    fn default() -> Self {
        Values {
            count: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
            buckets: Buckets::Listed(Vec::new()),
        }
    }
}

/// The bucket of `value`: linear below two times [`STEPS`], then log-linear.
#[inline]
fn bucket_of(value: u64) -> usize {
    let octave = (value | STEPS).ilog2() - STEP_BITS;
    (u64::from(octave) * STEPS + (value >> octave)) as usize
}

/// The largest value of bucket `index`.
fn upper_edge(index: usize) -> u64 {
    let index = index as u64;
    if index < 2 * STEPS {
        return index;
    }
    let octave = index / STEPS - 1;
    let step = STEPS + index % STEPS;
    // The last bucket ends at 2^64, so the terms must be added in this order to avoid an overflow.
    (step << octave) + ((1 << octave) - 1)
}

impl Distribution {
    /// No values yet.
    pub fn new() -> Self {
        Distribution::default()
    }

    /// Adds one value.
    #[inline]
    pub fn update(&mut self, value: u64) {
        let values = self.values.get_or_insert_default();
        values.min = values.min.min(value);
        values.max = values.max.max(value);
        values.count += 1;
        values.sum += u128::from(value);
        let bucket = bucket_of(value);
        if let Buckets::Counted(counts) = &mut values.buckets
            && let Some(count) = counts.get_mut(bucket)
        {
            *count += 1;
            return;
        }
        values.buckets.add(bucket, 1);
        if values.count > MAX_VALUES_LISTED {
            values.buckets.count();
        }
    }

    /// Adds one value this number of times.
    pub fn update_times(&mut self, value: u64, times: u64) {
        if times == 0 {
            return;
        }
        let values = self.values.get_or_insert_default();
        values.buckets.add(bucket_of(value), times);
        values.min = values.min.min(value);
        values.max = values.max.max(value);
        values.count += times;
        values.sum += u128::from(value) * u128::from(times);
        if values.count > MAX_VALUES_LISTED {
            values.buckets.count();
        }
    }

    /// Bytes that it holds beside itself.
    pub fn heap_bytes(&self) -> usize {
        let values = self.values.as_deref();
        values.map_or(0, |values| {
            size_of_val(values) + values.buckets.heap_bytes()
        })
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.values.as_ref().map_or(0, |v| v.count)
    }

    /// Sum of the values.
    pub fn sum(&self) -> u128 {
        self.values.as_ref().map_or(0, |v| v.sum)
    }

    /// The smallest value, exact.
    pub fn min(&self) -> Option<u64> {
        self.values.as_ref().map(|v| v.min)
    }

    /// The largest value, exact.
    pub fn max(&self) -> Option<u64> {
        self.values.as_ref().map(|v| v.max)
    }

    /// The arithmetic mean, exact up to rounding.
    pub fn mean(&self) -> Option<f64> {
        let values = self.values.as_ref()?;
        Some(values.sum as f64 / values.count as f64)
    }

    /// The smallest value that at least the fraction `q` (0 to 1) of the values does not
    /// exceed; at most 1/32 too high, exact below 64.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let values = self.values.as_ref()?;
        let rank = (q.clamp(0.0, 1.0) * values.count as f64).ceil().max(1.0) as u64;
        let mut below = 0;
        for (index, count) in values.buckets.filled() {
            below += count;
            if below >= rank {
                return Some(upper_edge(index).clamp(values.min, values.max));
            }
        }
        Some(values.max)
    }

    /// Non-empty buckets as (largest value of the bucket, count), ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let filled = self.values.iter().flat_map(|v| v.buckets.filled());
        filled.map(|(index, count)| (upper_edge(index), count))
    }

    /// Adds all values of `other`.
    pub fn merge(&mut self, other: &Distribution) {
        let Some(theirs) = &other.values else {
            return;
        };
        let mine = self.values.get_or_insert_default();
        for (bucket, count) in theirs.buckets.filled() {
            mine.buckets.add(bucket, count);
        }
        mine.min = mine.min.min(theirs.min);
        mine.max = mine.max.max(theirs.max);
        mine.count += theirs.count;
        mine.sum += theirs.sum;
        if mine.count > MAX_VALUES_LISTED {
            mine.buckets.count();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buckets_are_adjacent() {
        for index in 0..bucket_of(u64::MAX) {
            assert_eq!(bucket_of(upper_edge(index)), index);
            assert_eq!(bucket_of(upper_edge(index) + 1), index + 1);
        }
        assert_eq!(upper_edge(bucket_of(u64::MAX)), u64::MAX);
    }

    #[test]
    fn few_buckets_are_listed_and_many_are_counted() {
        let mut d = Distribution::new();
        (0..MAX_LISTED as u64).for_each(|value| d.update(value));
        let is_listed =
            |d: &Distribution| matches!(d.values.as_ref().unwrap().buckets, Buckets::Listed(_));
        assert!(is_listed(&d));
        d.update(1 << 40);
        assert!(!is_listed(&d));
        assert_eq!(d.buckets().map(|(_, count)| count).sum::<u64>(), 65);
        assert_eq!(d.quantile(0.5), Some(32));
    }

    #[test]
    fn a_bucket_counts_beyond_32_bits() {
        let mut d = Distribution::new();
        d.update(7);
        for _ in 0..33 {
            let same = d.clone();
            d.merge(&same);
        }
        assert_eq!(d.buckets().collect::<Vec<_>>(), [(7, 1 << 33)]);
    }

    #[test]
    fn a_value_many_times_is_as_one_after_another() {
        for times in [0, 1, 500, MAX_VALUES_LISTED, MAX_VALUES_LISTED + 1] {
            let (mut at_once, mut singly) = (Distribution::new(), Distribution::new());
            singly.update(3);
            at_once.update(3);
            (0..times).for_each(|_| singly.update(9));
            at_once.update_times(9, times);
            assert_eq!(at_once, singly);
        }
    }

    #[test]
    fn an_empty_distribution_has_no_quantiles() {
        let d = Distribution::new();
        assert_eq!((d.min(), d.max(), d.mean()), (None, None, None));
        assert_eq!(d.quantile(0.5), None);
    }

    proptest! {
        /// The straightforward twin: a sorted list.
        #[test]
        fn agrees_with_a_sorted_list(
            mut values in prop::collection::vec(prop_oneof![0u64..100, any::<u64>()], 1..200),
            cut in 0usize..200, q in 0.0f64..1.0,
        ) {
            let cut = cut.min(values.len());
            let (mut a, mut b) = (Distribution::new(), Distribution::new());
            values[..cut].iter().for_each(|v| a.update(*v));
            values[cut..].iter().for_each(|v| b.update(*v));
            a.merge(&b);
            values.sort_unstable();
            prop_assert_eq!(a.count(), values.len() as u64);
            prop_assert_eq!(a.sum(), values.iter().map(|v| u128::from(*v)).sum::<u128>());
            prop_assert_eq!((a.min(), a.max()), (values.first().copied(), values.last().copied()));
            let rank = ((q * values.len() as f64).ceil() as usize).max(1);
            let (exact, got) = (values[rank - 1], a.quantile(q).unwrap());
            prop_assert!(got >= exact && got - exact <= exact / 32);
            prop_assert_eq!(a.buckets().map(|(_, c)| c).sum::<u64>(), a.count());
            let mut at_once = Distribution::new();
            values.iter().for_each(|v| at_once.update(*v));
            prop_assert_eq!(a, at_once);
        }
    }
}
