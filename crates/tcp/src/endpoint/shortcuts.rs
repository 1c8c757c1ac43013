//! The shortcuts of an endpoint beside the long way: what they leave out would send nothing and change nothing.

use inorder_base::random::Random;

use super::Endpoint;
use crate::config::{MS, SECOND};
use crate::fuzz::{Bytes, endpoint, fate};
use crate::pair::{Pair, Side};
use crate::sender::SendBuffer;

/// The long way leaves the endpoint as it is.
fn changes_nothing(end: &mut Endpoint, long_way: impl FnOnce(&mut Endpoint) -> bool) {
    let before = format!("{end:?}");
    assert!(long_way(end), "{before}");
    assert_eq!(format!("{end:?}"), before);
}

/// How often each shortcut was taken.
#[derive(Debug, Default)]
struct Taken {
    rests: u32,
    full: u32,
    stuck: u32,
}

impl Taken {
    fn check(&mut self, pair: &mut Pair, piece: u64) {
        let now = pair.now;
        for side in [Side::Client, Side::Server] {
            let end = pair.endpoint(side);
            if end.rests() {
                self.rests += 1;
                changes_nothing(end, |end| end.poll(now).is_none());
            }
        }
        let end = &mut pair.client;
        if end.stays_full() {
            self.full += 1;
            changes_nothing(end, |end| end.write(piece) == 0);
        } else if end.write(piece) > 0 && !end.take_touched() {
            self.stuck += 1;
            changes_nothing(end, |end| end.poll(now).is_none());
        }
        pair.flush(Side::Client);
    }
}

/// Inputs that choose both ends and the fates of segments, most of which arrive.
fn input(seed: u64) -> Bytes {
    let mut random = Random::new(seed, "shortcuts");
    let calm = random.below(16);
    let byte = |at: u32| match at > 24 && random.below(16) < calm {
        true => 0xf0,
        false => random.next_u32() as u8,
    };
    Bytes::new(&(0..600).map(byte).collect::<Vec<_>>())
}

#[test]
fn what_a_shortcut_leaves_out_would_change_nothing() {
    let mut taken = Taken::default();
    for seed in 0..200 {
        let mut bytes = input(seed);
        let mut client = endpoint(&mut bytes, 1);
        if seed % 2 == 0 {
            std::sync::Arc::make_mut(&mut client.config).send.buffer = 20_000;
            client.buffer = SendBuffer::new(&client.config.send);
        }
        let server = endpoint(&mut bytes, 0x8000_0000);
        let mut pair = Pair::new(client, server, 5 * MS).with_fate(move |departure, copies| {
            fate(&mut bytes, false, departure.segment, copies);
        });
        pair.open();
        let mut events = 0;
        while events < 300 && pair.step(1_000 * SECOND) {
            events += 1;
            taken.check(&mut pair, 300 * (1 + seed % 20));
        }
    }
    let Taken { rests, full, stuck } = taken;
    assert!(rests > 1000 && full > 1000 && stuck > 1000, "{taken:?}");
}
