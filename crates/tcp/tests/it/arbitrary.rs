//! Random fates of segments: the check of the fuzz target with generated input, so that every test run executes some
//! of it.

use inorder_base::random::Random;
use inorder_tcp::fuzz::fuzz_one;
use proptest::prelude::*;

/// Inputs with many fates, enough for whole transfers over a bad path.
#[test]
fn every_byte_arrives_once_or_the_connection_fails() {
    // FATES=100000 for a longer search.
    let runs = std::env::var("FATES")
        .ok()
        .and_then(|runs| runs.parse().ok());
    for seed in 0..runs.unwrap_or(1500) {
        let mut random = Random::new(seed, "fates");
        let length = 16 + random.below(600) as usize;
        let calm = random.below(16);
        let input: Vec<u8> = (0..length)
            .map(|at| {
                let byte = random.next_u32() as u8;
                // Most segments of most runs are delivered; otherwise only the handshake would be tested.
                if at > 24 && random.below(16) < calm {
                    0xf0
                } else {
                    byte
                }
            })
            .collect();
        fuzz_one(&input);
    }
}

proptest! {
    #[test]
    fn any_input(input in prop::collection::vec(any::<u8>(), 0..300)) {
        fuzz_one(&input);
    }
}
