//! Makes inputs of others: a few changes of bytes, numbers, words and parts.

/// SplitMix64 (Steele, Lea, Flood, 2014).
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `limit`, and 0 below 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % (limit as u64).max(1)) as usize
    }
}

/// Longest input, bytes.
const MAX_INPUT: usize = 16_384;
/// Numbers at the edges of types.
const NUMBERS: [u64; 12] = [
    0,
    1,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    u64::MAX,
];
/// Numbers as text, and what structures text.
const WORDS: [&str; 24] = [
    "-1",
    "0",
    "1e308",
    "-1e-308",
    "nan",
    "inf",
    "18446744073709551615",
    "9223372036854775808",
    "0.0000001",
    "\"",
    "'",
    "{",
    "}",
    "[[",
    "]]",
    "(",
    ")",
    "<",
    "/>",
    "&lt;",
    "\n",
    "\0",
    ",",
    "=",
];

/// An input made of one of `corpus`.
pub fn mutated(corpus: &[(String, Vec<u8>)], random: &mut Random) -> Vec<u8> {
    let pick = |random: &mut Random| {
        let at = random.below(corpus.len());
        corpus.get(at).map_or(&[][..], |(_, bytes)| bytes)
    };
    let mut bytes = pick(random).to_vec();
    for _ in 0..=random.below(6) {
        let other = pick(random);
        change(&mut bytes, other, random);
    }
    bytes.truncate(MAX_INPUT);
    bytes
}

/// One change. `other` is another input, of which parts may be taken.
fn change(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    match random.below(9) {
        0 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        1 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = random.below(256) as u8;
            }
        }
        2 => {
            let number = NUMBERS[random.below(NUMBERS.len())];
            let width = 1 << random.below(4);
            let number = match random.below(2) {
                0 => number.to_le_bytes()[..width].to_vec(),
                _ => number.to_be_bytes()[8 - width..].to_vec(),
            };
            for (place, byte) in bytes.iter_mut().skip(at).zip(number) {
                *place = byte;
            }
        }
        3 => insert(bytes, at, WORDS[random.below(WORDS.len())].as_bytes()),
        4 => {
            let end = at + random.below(40).min(bytes.len() - at);
            bytes.drain(at..end);
        }
        5 => {
            let part = part(bytes, random).to_vec();
            insert(bytes, at, &part);
        }
        6 => {
            let part = part(other, random);
            insert(bytes, at, part);
        }
        7 => bytes.truncate(at),
        _ => {
            // The beginning of one and the end of the other.
            bytes.truncate(at);
            let from = random.below(other.len() + 1);
            bytes.extend_from_slice(other.get(from..).unwrap_or_default());
        }
    }
}

fn part<'a>(bytes: &'a [u8], random: &mut Random) -> &'a [u8] {
    let from = random.below(bytes.len() + 1);
    let rest = bytes.get(from..).unwrap_or_default();
    let length = random.below(120).min(rest.len());
    rest.get(..length).unwrap_or_default()
}

fn insert(bytes: &mut Vec<u8>, at: usize, part: &[u8]) {
    if bytes.len() + part.len() <= MAX_INPUT {
        bytes.splice(at..at, part.iter().copied());
    }
}
