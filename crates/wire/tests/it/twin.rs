//! The fast path agrees with the general one, and no input causes a panic.

use inorder_wire::{LinkType, fuzz_one, same_both_ways};
use proptest::prelude::*;

use crate::build::*;

const LINKS: [u16; 10] = [1, 1, 1, 113, 101, 276, 0, 9, 50, 239];

/// TCP options as found in practice: the layouts with a fast path, and arbitrary bytes.
fn options() -> impl Strategy<Value = Vec<u8>> {
    let blocks = prop::collection::vec((any::<u32>(), any::<u32>()), 0..4);
    prop_oneof![
        Just(Vec::new()),
        Just(TIMESTAMPS.to_vec()),
        blocks.prop_map(|blocks| timestamps_and_sack(&blocks)),
        prop::collection::vec(any::<u8>(), 0..=40).prop_map(padded),
        prop::collection::vec(0u8..12, 0..=40).prop_map(padded),
    ]
}

fn padded(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len() / 4 * 4);
    bytes
}

/// A frame of the common kind.
fn usual() -> impl Strategy<Value = (u16, Vec<u8>)> {
    (any::<u8>(), options(), 0usize..200, 0..6).prop_map(|(flags, options, payload, kind)| {
        let tcp = tcp(flags, &options, payload);
        match kind {
            0 => (1, eth(0x0800, &ipv4(6, &tcp))),
            1 => (1, eth(0x86dd, &ipv6(6, &tcp))),
            2 => (1, eth(0x8100, &vlan(9, 0x0800, &ipv4(6, &tcp)))),
            3 => (1, eth(0x0800, &ipv4(4, &ipv4(6, &tcp)))),
            4 => (
                113,
                join(
                    &[0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0x86, 0xdd],
                    &ipv6(6, &tcp),
                ),
            ),
            _ => (101, ipv4(6, &tcp)),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn fragments_followed_by_further_fragments(
        more in 0u8..2,
        offset in 0u8..3,
        rest in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        // Raw IP of this length with a fragment of TCP; the remaining bytes are used as further fragments.
        let head = [2, 0, 60, 0x45, 0, 0, 60, 0, 1, more << 5, offset, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        fuzz_one(&[&head[..], &rest[..]].concat());
    }

    #[test]
    fn random_bytes(
        link in prop::sample::select(&LINKS[..]),
        orig_len in 0usize..300,
        data in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        same_both_ways(&frame(LinkType(link), orig_len, &data));
    }

    #[test]
    fn usual_frames_cut_anywhere((link, data) in usual(), cut in 0usize..300) {
        let cut = cut.min(data.len());
        same_both_ways(&frame(LinkType(link), data.len(), &data[..cut]));
    }

    #[test]
    fn usual_frames_with_bytes_changed(
        (link, mut data) in usual(),
        changes in prop::collection::vec((0usize..120, any::<u8>()), 1..4),
        short in 0usize..20,
        orig_len in prop::option::of(0usize..2000),
    ) {
        for (at, byte) in changes {
            if let Some(slot) = data.get_mut(at) {
                *slot = byte;
            }
        }
        let orig_len = orig_len.unwrap_or(data.len());
        data.truncate(data.len().saturating_sub(short));
        same_both_ways(&frame(LinkType(link), orig_len, &data));
    }
}

/// A last fragment much longer than the check expected; found by fuzzing.
#[test]
fn the_last_fragment_determines_the_length_of_a_datagram() {
    let input = [
        0x5d, 0x48, 0x48, 0x45, 0x0f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x06, 0x00, 0x02,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x2b, 0x00, 0x00, 0x06, 0x00, 0x02, 0x39, 0x24, 0xe6,
        0x48, 0x46, 0x9a, 0x00, 0x00, 0x00, 0x02, 0x2b, 0xb7, 0xb7, 0x00, 0xff, 0xff, 0x2b, 0x04,
        0x04, 0x04, 0x04, 0x04, 0x05, 0x04, 0x04, 0x04,
    ];
    fuzz_one(&input);
}
