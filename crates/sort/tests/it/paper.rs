//! The examples of the paper: table 2 step by step, and table 1.

use inorder_sort::Meta;
use inorder_sort::srpic::{Config, Lists, Srpic};

/// A sorter of one flow with these blocks and a ring that is never full.
fn sorter(block_size: usize, literal: bool) -> Srpic<u32, u32> {
    let config = Config {
        literal,
        ..Config::new(block_size, 512)
    };
    Srpic::new(&config).unwrap()
}

fn lists(prev: &[u32], curr: &[u32], after: &[u32], next_exp: u32) -> Option<Lists> {
    Some(Lists {
        prev: prev.to_vec(),
        curr: curr.to_vec(),
        after: after.to_vec(),
        next_exp,
    })
}

#[test]
fn table_2_step_by_step() {
    let steps = [
        (2, lists(&[], &[2], &[], 3)),
        (3, lists(&[], &[2, 3], &[], 4)),
        (1, lists(&[1], &[2, 3], &[], 4)),
        (4, lists(&[1], &[2, 3, 4], &[], 5)),
        (6, lists(&[1], &[2, 3, 4], &[6], 5)),
        (7, lists(&[1], &[2, 3, 4], &[6, 7], 5)),
        (5, lists(&[1], &[2, 3, 4, 5], &[6, 7], 6)),
    ];
    // The payload length is 1. The block size is 8, because with 7 the block of the table would be flushed as it
    // fills.
    let mut s = sorter(8, true);
    let mut up = Vec::new();
    for (seq, expected) in steps {
        s.push(&Meta::data(9, seq, 1), seq, &mut |p| up.push(p));
        assert_eq!(s.lists(&9), expected, "after {seq}");
    }
    assert_eq!(s.lists(&8), None);
    assert!(up.is_empty());
    s.end_of_batch(&mut |p| up.push(p));
    assert_eq!(up, [1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn table_2_flushes_at_its_block_size() {
    for literal in [false, true] {
        assert_eq!(
            sort(7, literal, &[2, 3, 1, 4, 6, 7, 5]),
            [1, 2, 3, 4, 5, 6, 7]
        );
    }
}

/// Twenty packets that have all properties the paper states for figure 3.
const FIGURE_3A: [u32; 20] = [
    1, 3, 6, 2, 4, 5, 7, 8, 9, 11, 10, 12, 14, 13, 15, 16, 18, 17, 19, 20,
];

/// The order of delivery when `order` is pushed and the batch ends.
fn sort(block_size: usize, literal: bool, order: &[u32]) -> Vec<u32> {
    let mut s = sorter(block_size, literal);
    let mut up = Vec::new();
    for &seq in order {
        s.push(&Meta::data(9, seq, 1), seq, &mut |p| up.push(p));
    }
    s.end_of_batch(&mut |p| up.push(p));
    up
}

/// Reordered packets and their extents (RFC 4737 sections 3.3 and 4.2): the number of packets since the first one
/// with a larger number.
fn reordered(order: &[u32]) -> Vec<(u32, usize)> {
    let mut found = Vec::new();
    for (i, seq) in order.iter().enumerate() {
        if let Some(j) = order[..i].iter().position(|earlier| earlier > seq) {
            found.push((*seq, i - j));
        }
    }
    found.sort_unstable();
    found
}

fn summary(order: &[u32]) -> (Vec<u32>, usize) {
    let found = reordered(order);
    let extent = found.iter().map(|&(_, extent)| extent).max().unwrap_or(0);
    (found.iter().map(|&(seq, _)| seq).collect(), extent)
}

#[test]
fn table_1_no_sorting() {
    let (packets, extent) = summary(&FIGURE_3A);
    assert_eq!(packets, [2, 4, 5, 10, 13, 17]); // 6 of 20: 30 %
    assert_eq!(extent, 3);
    assert_eq!(sort(1, false, &FIGURE_3A), FIGURE_3A);
}

#[test]
fn table_1_blocks_of_five() {
    for literal in [false, true] {
        let (packets, extent) = summary(&sort(5, literal, &FIGURE_3A));
        assert_eq!(packets, [5, 10]); // 10 %
        assert_eq!(extent, 1);
    }
}

#[test]
fn table_1_blocks_of_ten() {
    for literal in [false, true] {
        let (packets, extent) = summary(&sort(10, literal, &FIGURE_3A));
        assert_eq!(packets, [10]); // 5 %
        assert_eq!(extent, 1);
    }
}
