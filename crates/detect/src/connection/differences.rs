//! Segments as differences from those before, in few bytes.
//!
//! Of a segment in order hardly anything is new but its time: its number follows from the segment before of the same host, and most
//! other fields are those of that segment. So it takes about 9 bytes.

use inorder_wire::TcpFlags;

use super::waiting::{FROM_HIGH, Packed};
use crate::packed::{Draft, Packed as Numbers};

/// Fields that are written only if they differ from what is expected, the ones that differ most often first.
const FIELDS: usize = 11;
/// Bytes that a segment takes at most: its mask, its time and frame, and the fields.
const MAX_BYTES: usize = 3 + 10 + 5 + 5 * FIELDS;

/// Segments in the order they came.
#[derive(Clone, Debug, Default)]
pub(super) struct Differences {
    numbers: Numbers,
    len: usize,
    before: Before,
}

heap!(Differences: numbers);

/// The last segment of each host, and which of them came last.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    of: [Packed; 2],
    last: usize,
}

/// What a field differs by, in the fewest bits: it wraps as the field does.
fn step(value: u32, expected: u32) -> i64 {
    i64::from(value.wrapping_sub(expected).cast_signed())
}

/// The bits that are set, from the lowest up.
fn bits(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(lowest)
    })
}

impl Before {
    /// What is expected of the next segment of a host, in the order of the fields.
    fn expected(&self, host: usize) -> [u32; FIELDS] {
        let Packed {
            seq,
            ack,
            payload_len,
            tsval,
            tsecr,
            window,
            ip_id,
            flags,
            has,
            ttl,
            marks,
            ..
        } = self.of[host];
        let control = u32::from(flags.any(TcpFlags::SYN)) + u32::from(flags.any(TcpFlags::FIN));
        [
            ack,
            seq.wrapping_add(payload_len).wrapping_add(control),
            payload_len,
            tsval,
            tsecr,
            window.into(),
            ip_id.wrapping_add(1).into(),
            flags.0.into(),
            marks.into(),
            has.into(),
            ttl.into(),
        ]
    }

    fn note(&mut self, host: usize, packed: Packed) {
        self.of[host] = packed;
        self.last = host;
    }
}

impl Differences {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn push(&mut self, packed: &Packed) {
        let host = usize::from(packed.marks & FROM_HIGH != 0);
        let last = &self.before.of[self.before.last];
        let time = packed.ts_ns.wrapping_sub(last.ts_ns);
        let frames = step(packed.frames, last.frames);
        let fields = [
            packed.ack,
            packed.seq,
            packed.payload_len,
            packed.tsval,
            packed.tsecr,
            packed.window.into(),
            packed.ip_id.into(),
            packed.flags.0.into(),
            packed.marks.into(),
            packed.has.into(),
            packed.ttl.into(),
        ];
        let expected = self.before.expected(host);
        let mut differ = 0;
        for (nth, (field, expected)) in fields.iter().zip(&expected).enumerate() {
            differ |= u32::from(field != expected) << nth;
        }
        let mut draft = Draft::<MAX_BYTES>::new();
        for number in [i64::from(differ) << 1 | host as i64, time, frames] {
            draft.push(number);
        }
        for nth in bits(differ) {
            draft.push(step(fields[nth], expected[nth]));
        }
        self.numbers.reserve(MAX_BYTES);
        self.numbers.push(&draft);
        self.before.note(host, *packed);
        self.len += 1;
    }

    pub(super) fn all(&self) -> impl Iterator<Item = Packed> {
        let (mut numbers, mut before) = (self.numbers.numbers(), Before::default());
        std::iter::from_fn(move || {
            let [mask, time, frames] = [numbers.next()?, numbers.next()?, numbers.next()?];
            let host = (mask & 1) as usize;
            let mut fields = before.expected(host);
            for nth in bits((mask >> 1) as u32) {
                let field = fields.get_mut(nth)?;
                *field = field.wrapping_add(numbers.next()? as u32);
            }
            let [
                ack,
                seq,
                payload_len,
                tsval,
                tsecr,
                window,
                ip_id,
                flags,
                marks,
                has,
                ttl,
            ] = fields;
            let last = &before.of[before.last];
            let packed = Packed {
                ts_ns: last.ts_ns.wrapping_add(time),
                frames: last.frames.wrapping_add(frames as u32),
                seq,
                ack,
                payload_len,
                tsval,
                tsecr,
                window: window as u16,
                ip_id: ip_id as u16,
                flags: TcpFlags(flags as u8),
                has: has as u8,
                ttl: ttl as u8,
                marks: marks as u8,
            };
            before.note(host, packed);
            Some(packed)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inorder_base::heap::Heap;
    use proptest::prelude::*;

    prop_compose! {
        fn packed()(
            ts_ns in prop_oneof![any::<i64>(), 0i64..1_000_000_000],
            (frames, seq, ack, payload_len) in (any::<u32>(), any::<u32>(), 0u32..3, 0u32..2_000),
            (tsval, tsecr) in (any::<u32>(), 0u32..3),
            (window, ip_id) in (0u16..3, any::<u16>()),
            (flags, has, ttl, marks) in (any::<u8>(), any::<u8>(), any::<u8>(), any::<u8>()),
        ) -> Packed {
            Packed {
                ts_ns, frames, seq, ack, payload_len, tsval, tsecr, window, ip_id,
                flags: TcpFlags(flags), has, ttl, marks,
            }
        }
    }

    proptest! {
        #[test]
        fn segments_come_out_as_they_went_in(all in prop::collection::vec(packed(), 0..40)) {
            let mut differences = Differences::default();
            all.iter().for_each(|packed| differences.push(packed));
            prop_assert_eq!(differences.len(), all.len());
            prop_assert!(differences.all().eq(all.iter().copied()));
        }
    }

    /// With timestamps, in a capture of a hundred thousand connections that send in turns.
    #[test]
    fn a_segment_in_order_takes_a_dozen_bytes() {
        let mut differences = Differences::default();
        let (mut seq, mut ack) = (7, 9);
        for nth in 0..120_u32 {
            let is_ack = nth % 3 == 2;
            let ip_id = nth as u16;
            differences.push(&Packed {
                ts_ns: 1_700_000_000_000_000_000 + i64::from(nth) * 10_000_000,
                frames: nth * 100_000,
                seq: if is_ack { 9 } else { seq },
                ack: if is_ack { ack } else { 9 },
                payload_len: if is_ack { 0 } else { 1_448 },
                tsval: nth * 10,
                tsecr: nth * 10,
                window: 500,
                ip_id: if is_ack { ip_id / 3 } else { ip_id - ip_id / 3 },
                flags: TcpFlags(TcpFlags::ACK),
                has: 3,
                ttl: 64,
                marks: if is_ack { FROM_HIGH } else { 0 },
            });
            seq += if is_ack { 0 } else { 1_448 };
            ack = seq;
        }
        let each = differences.heap_bytes() / 120;
        assert!(each <= 14, "{each}");
    }
}
