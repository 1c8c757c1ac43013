//! The check of the fuzzer.

use inorder_wire::{Dir, Endpoint, FlowKey};

use crate::Filter;

/// Any text: it is refused with a position inside it, or selects flows by the rules of logic.
#[doc(hidden)]
pub fn fuzz_one(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let filter = match text.parse::<Filter>() {
        Ok(filter) => filter,
        Err(error) => {
            assert!((1..=text.chars().count() + 1).contains(&error.position));
            assert!(!error.problem.is_empty());
            return;
        }
    };
    let ends = [
        Endpoint::v4(0x0a00_0001, 80),
        Endpoint::v4(0xc000_0201, 40_000),
        Endpoint::v6(0x2001_0db8 << 96 | 1, 443),
    ];
    for (a, b) in [(0, 1), (1, 0), (2, 2)] {
        let (src, dst) = (ends[a], ends[b]);
        let (key, _) = FlowKey::new(src, dst, 0);
        let one_way = |dir: Dir| {
            let (src, dst) = key.ends(dir);
            filter.flow(src.socket_addr(), dst.socket_addr(), 0)
        };
        let either = one_way(Dir::LowToHigh) || one_way(Dir::HighToLow);
        assert_eq!(filter.connection(&key), either);
        // Deeper nesting may be refused, but never changes the meaning.
        if let Ok(negated) = format!("not ({text})").parse::<Filter>() {
            let (src, dst) = (src.socket_addr(), dst.socket_addr());
            assert_ne!(negated.flow(src, dst, 0), filter.flow(src, dst, 0));
        }
    }
}
