//! The examples of RFC 1982, many wraps, and comparison with a twin that tries all candidates.

use inorder_base::sequence::{Offsets, Unwrapper, nearest};
use proptest::prelude::*;

/// RFC 1982 section 3.2 for 8-bit numbers: which number is greater than which.
#[test]
fn eight_bit_comparisons() {
    for (low, high) in [(0, 1), (0, 44), (0, 100), (44, 100), (100, 200), (200, 255)] {
        let mut up = Unwrapper::new(8).unwrap();
        let first = up.extend(low);
        assert_eq!(up.extend(high), first + (high - low));
        let mut down = Unwrapper::new(8).unwrap();
        let first = down.extend(high);
        assert_eq!(down.extend(low), first - (high - low));
    }
    let mut wraps = Unwrapper::new(8).unwrap();
    let first = wraps.extend(255);
    assert_eq!(wraps.extend(0), first + 1);
    assert_eq!(wraps.extend(44), first + 45);
    assert_eq!(wraps.extend(255), first);
}

/// An old number that arrives late does not change the reference.
#[test]
fn the_highest_number_is_the_reference() {
    let mut seq = Unwrapper::new(8).unwrap();
    let first = seq.extend(0);
    let found = [100, 0, 200].map(|raw| seq.extend(raw) - first);
    assert_eq!(found, [100, 0, 200]);
}

#[test]
fn widths() {
    assert_eq!(Unwrapper::new(0), None);
    assert_eq!(Unwrapper::new(65), None);
    let mut whole = Unwrapper::new(64).unwrap();
    assert_eq!(whole.extend(u64::MAX), u64::MAX);
    assert_eq!(whole.extend(0), 0);
}

#[test]
fn many_turns_of_the_space() {
    let mut seq = Unwrapper::new(16).unwrap();
    let first = seq.extend(7);
    for step in 1..1_000_000u64 {
        assert_eq!(seq.extend((7 + step) & 0xffff), first + step);
    }
}

#[test]
fn offsets_survive_two_wraps_and_read_backwards() {
    let mut stream = Offsets::new(0xffff_ff00);
    let mut expected = 0i64;
    for step in 0..20u32 {
        let seq = 0xffff_ff00u32.wrapping_add(step.wrapping_mul(0x2000_0000));
        assert_eq!(stream.offset(seq), expected);
        stream.advance(expected);
        assert_eq!(stream.offset(seq.wrapping_sub(1448)), expected - 1448);
        expected += 0x2000_0000;
    }
}

/// The naive twin: of all numbers with these low bits in the space of the reference and the two spaces beside it, the
/// nearest one; of two equally near ones the older.
fn nearest_of_all(reference: i128, number: u64, bits: u32) -> i128 {
    let space = 1i128 << bits;
    let low = i128::from(number) % space;
    let turn = reference.div_euclid(space);
    let candidates = (turn - 1..=turn + 1).map(|turn| turn * space + low);
    candidates
        .min_by_key(|candidate| ((candidate - reference).abs(), *candidate))
        .unwrap()
}

proptest! {
    #[test]
    fn the_nearest_number_agrees_with_the_naive_twin(
        bits in 1u32..=63,
        reference in any::<u64>(),
        number in any::<u64>(),
    ) {
        let all = nearest_of_all(reference.into(), number, bits);
        // The result wraps below zero and above 2^64.
        prop_assert_eq!(nearest(reference, number, bits), all.rem_euclid(1 << 64) as u64);
    }

    /// Numbers displaced by less than half the space are restored.
    #[test]
    fn displaced_numbers_are_restored(
        start in any::<u16>(),
        steps in prop::collection::vec((0u64..200, 0u64..400), 1..300),
    ) {
        let mut seq = Unwrapper::new(16).unwrap();
        let mut stream = Offsets::new(start.into());
        let (first, mut highest) = (seq.extend(start.into()), 0u64);
        for (ahead, back) in steps {
            let number = (highest + ahead).saturating_sub(back);
            let wire = u64::from(start) + number;
            prop_assert_eq!(seq.extend(wire & 0xffff), first + number);
            prop_assert_eq!(stream.offset(wire as u32), number as i64);
            stream.advance(number as i64);
            highest = highest.max(number);
        }
    }

    #[test]
    fn offsets_are_the_nearest(base in any::<u32>(), high in 0i64..1 << 60, seq in any::<u32>()) {
        let mut stream = Offsets::new(base);
        stream.advance(high);
        let all = nearest_of_all(high.into(), seq.wrapping_sub(base).into(), 32);
        prop_assert_eq!(i128::from(stream.offset(seq)), all);
    }
}
