//! Two lists of packets, sorted by what makes them the same packet and walked together.

/// What a packet is known by, and its place in its list.
pub(crate) type Keyed<K> = (K, u32);

/// The packets by their keys, ascending; equal ones in their order.
pub(crate) fn sorted<T, K: Ord>(packets: &[T], key: impl Fn(&T) -> K) -> Vec<Keyed<K>> {
    let keys = packets.iter().map(key);
    let mut all: Vec<Keyed<K>> = keys.zip(0..).collect();
    all.sort_unstable();
    all
}

/// For each key in either list, ascending, the packets that have it in the first and in the second; one of the two may
/// have none.
pub(crate) fn join<'k, K: Ord + Copy>(
    mut first: &'k [Keyed<K>],
    mut second: &'k [Keyed<K>],
) -> impl Iterator<Item = (K, &'k [Keyed<K>], &'k [Keyed<K>])> {
    std::iter::from_fn(move || {
        let heads = [first, second].map(|list| list.first().map(|&(key, _)| key));
        let key = heads.into_iter().flatten().min()?;
        Some((key, take(&mut first, key), take(&mut second, key)))
    })
}

/// Takes what has this key off the front of a list.
fn take<'k, K: PartialEq + Copy>(list: &mut &'k [Keyed<K>], key: K) -> &'k [Keyed<K>] {
    let count = list.iter().take_while(|packet| packet.0 == key).count();
    let (run, rest) = list.split_at(count);
    *list = rest;
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_one_list_alone_meets_nothing() {
        let (first, second) = (sorted(&[5, 1, 5], |k| *k), sorted(&[5, 9], |k| *k));
        let runs: Vec<_> = join(&first, &second).collect();
        let (one, five, nine): (&[_], &[_], &[_]) = (&[(1, 1)], &[(5, 0), (5, 2)], &[(9, 1)]);
        assert_eq!(
            runs,
            [(1, one, &[][..]), (5, five, &[(5, 0)]), (9, &[], nine)]
        );
    }
}
