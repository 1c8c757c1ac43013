//! Segments as differences from those before, in few bytes.
//!
//! Of a segment in order hardly anything is new but its time: its number follows from the segment before of the same host, and most
//! other fields are those of that segment. So it takes about 10 bytes: two that say how wide each difference is, and the differences.

use inorder_wire::TcpFlags;

use super::waiting::{FROM_HIGH, Packed};
use inorder_base::packed::{folded, unfolded};

/// Differences that are written only if there is one: of the numbers that a host sends with each segment.
const FIELDS: usize = 5;
/// How many bytes a difference takes, by the code of its width. A time's, a frame's, a field's, and that of all else together.
static TIME: Widths<4> = Widths::new([2, 3, 4, 8]);
static FRAME: Widths<2> = Widths::new([2, 4]);
static FIELD: Widths<4> = Widths::new([0, 1, 2, 4]);
static REST: Widths<4> = Widths::new([0, 2, 5, 8]);
/// Bits of the code of a field's width.
const BITS_OF_FIELD: u32 = 2;
/// Bytes that a segment takes at most. Each number is written and read as eight bytes, whatever its width, so there is room behind the last one, too.
const MAX_BYTES: usize = 2 + 8 + 4 + 4 * FIELDS + 8;
const DRAFT_BYTES: usize = MAX_BYTES + 8;
/// Room that is made at first, bytes, and later, as a part of what there is: most connections end soon.
const FIRST_BYTES: usize = 256;
const GROWTH_PART: usize = 3;

/// Widths by their codes, ascending.
struct Widths<const N: usize> {
    bytes: [u8; N],
    /// By the bytes that a number has: the code of the least width that it fits into.
    codes: [u8; 9],
}

impl<const N: usize> Widths<N> {
    const fn new(bytes: [u8; N]) -> Self {
        let (mut codes, mut code, mut len) = ([0; 9], 0, 0);
        while len < codes.len() {
            if bytes[code] < len as u8 && code + 1 < N {
                code += 1;
            } else {
                codes[len] = code as u8;
                len += 1;
            }
        }
        Widths { bytes, codes }
    }

    #[inline(always)]
    fn code_of(&self, number: u64) -> u8 {
        self.codes[(u64::BITS - number.leading_zeros()).div_ceil(8) as usize]
    }
}

/// Segments in the order they came.
#[derive(Clone, Debug, Default)]
pub(super) struct Differences {
    /// What is written, and room for more.
    bytes: Vec<u8>,
    written: usize,
    len: usize,
    before: Before,
}

heap!(Differences: bytes);

/// What is expected of the next segment of each host, and the time and frame of the last one.
#[derive(Clone, Copy, Debug)]
struct Before {
    expected: [Fields; 2],
    ts_ns: i64,
    frames: u32,
}

impl Default for Before {
    fn default() -> Self {
        Before {
            expected: [Fields::of(&Packed::default()).expected_after(); 2],
            ts_ns: 0,
            frames: 0,
        }
    }
}

/// What is expected of the next segment of a host, or what it has: fields that have their own differences, and all else in one word.
#[derive(Clone, Copy, Debug)]
struct Fields {
    numbers: [u32; FIELDS],
    rest: u64,
}

impl Fields {
    fn of(packed: &Packed) -> Self {
        let &Packed {
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
        } = packed;
        // What differs most often is lowest.
        let low = u64::from(ip_id) | u64::from(flags.0) << 16 | u64::from(window) << 24;
        let high = u64::from(marks) << 40 | u64::from(has) << 48 | u64::from(ttl) << 56;
        Fields {
            numbers: [seq, ack, payload_len, tsval, tsecr],
            rest: low | high,
        }
    }

    /// What follows a segment with these in order.
    fn expected_after(&self) -> Self {
        let [seq, ack, payload_len, tsval, tsecr] = self.numbers;
        let flags = TcpFlags((self.rest >> 16) as u8);
        let control = u32::from(flags.any(TcpFlags::SYN)) + u32::from(flags.any(TcpFlags::FIN));
        let next = seq.wrapping_add(payload_len).wrapping_add(control);
        let ip_id = u64::from((self.rest as u16).wrapping_add(1));
        Fields {
            numbers: [next, ack, payload_len, tsval, tsecr],
            rest: self.rest & !0xffff | ip_id,
        }
    }

    fn packed(&self, ts_ns: i64, frames: u32) -> Packed {
        let [seq, ack, payload_len, tsval, tsecr] = self.numbers;
        Packed {
            ts_ns,
            frames,
            seq,
            ack,
            payload_len,
            tsval,
            tsecr,
            window: (self.rest >> 24) as u16,
            ip_id: self.rest as u16,
            flags: TcpFlags((self.rest >> 16) as u8),
            has: (self.rest >> 48) as u8,
            ttl: (self.rest >> 56) as u8,
            marks: (self.rest >> 40) as u8,
        }
    }
}

/// What a field differs by, in the fewest bits: it wraps as the field does.
fn step(value: u32, expected: u32) -> i64 {
    i64::from(value.wrapping_sub(expected).cast_signed())
}

/// The segment that is written now: first the codes of all widths, two bytes, then the numbers.
struct Draft<'a> {
    bytes: &'a mut [u8; DRAFT_BYTES],
    len: usize,
    codes: u16,
    /// Where the next code goes.
    shift: u32,
}

impl Draft<'_> {
    #[inline(always)]
    fn put<const N: usize>(&mut self, number: u64, widths: &Widths<N>) {
        let code = widths.code_of(number);
        self.codes |= u16::from(code) << self.shift;
        self.shift += N.trailing_zeros();
        let place = self.bytes.get_mut(self.len..);
        if let Some(place) = place.and_then(|place| place.first_chunk_mut()) {
            *place = number.to_le_bytes();
        }
        self.len += usize::from(widths.bytes[usize::from(code)]);
    }
}

/// Reads what was written.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    codes: u16,
}

impl Reader<'_> {
    /// The codes of the next segment.
    #[inline(always)]
    fn begin(&mut self) -> Option<()> {
        let codes = self.bytes.get(self.at..)?.first_chunk()?;
        self.codes = u16::from_le_bytes(*codes);
        self.at += 2;
        Some(())
    }

    /// True if no field differs; then they are behind.
    #[inline(always)]
    fn skip_fields(&mut self) -> bool {
        const ALL: u32 = FIELDS as u32 * BITS_OF_FIELD;
        let none = self.codes & ((1 << ALL) - 1) == 0;
        self.codes >>= if none { ALL } else { 0 };
        none
    }

    #[inline(always)]
    fn take<const N: usize>(&mut self, widths: &Widths<N>) -> u64 {
        let code = usize::from(self.codes) & (N - 1);
        self.codes >>= N.trailing_zeros();
        let width = usize::from(widths.bytes[code]);
        if width == 0 {
            return 0;
        }
        let eight = self.bytes.get(self.at..).unwrap_or_default();
        let number = eight
            .first_chunk()
            .map_or(0, |eight| u64::from_le_bytes(*eight));
        self.at += width;
        number & u64::MAX >> (64 - 8 * width)
    }
}

impl Differences {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn push(&mut self, packed: &Packed) {
        let host = usize::from(packed.marks & FROM_HIGH != 0);
        let fields = Fields::of(packed);
        let (ts_ns, frames) = (self.before.ts_ns, self.before.frames);
        let expected = self.before.expected[host];
        let Some(bytes) = self.room() else { return };
        let mut draft = Draft {
            bytes,
            len: 2,
            codes: host as u16,
            shift: 1,
        };
        draft.put(folded(packed.ts_ns.wrapping_sub(ts_ns)), &TIME);
        draft.put(folded(step(packed.frames, frames)), &FRAME);
        if fields.numbers == expected.numbers {
            // As most data in order.
            draft.shift += FIELDS as u32 * BITS_OF_FIELD;
        } else {
            for nth in 0..FIELDS {
                match step(fields.numbers[nth], expected.numbers[nth]) {
                    0 => draft.shift += BITS_OF_FIELD,
                    step => draft.put(folded(step), &FIELD),
                }
            }
        }
        draft.put(fields.rest ^ expected.rest, &REST);
        [draft.bytes[0], draft.bytes[1]] = draft.codes.to_le_bytes();
        self.written += draft.len;
        let before = &mut self.before;
        before.expected[host] = fields.expected_after();
        (before.ts_ns, before.frames) = (packed.ts_ns, packed.frames);
        self.len += 1;
    }

    /// Room for one more segment.
    #[inline(always)]
    fn room(&mut self) -> Option<&mut [u8; DRAFT_BYTES]> {
        if self.bytes.len() - self.written < DRAFT_BYTES {
            self.make_room();
        }
        self.bytes.get_mut(self.written..)?.first_chunk_mut()
    }

    #[cold]
    fn make_room(&mut self) {
        let more = match self.bytes.len() {
            0 => FIRST_BYTES,
            len => DRAFT_BYTES.max(len / GROWTH_PART),
        };
        self.bytes.reserve_exact(more);
        self.bytes.resize(self.bytes.capacity(), 0);
    }

    pub(super) fn all(&self) -> impl Iterator<Item = Packed> {
        let mut reader = Reader {
            bytes: &self.bytes,
            at: 0,
            codes: 0,
        };
        let mut before = Before::default();
        let mut left = self.len;
        std::iter::from_fn(move || {
            left = left.checked_sub(1)?;
            reader.begin()?;
            let host = usize::from(reader.codes & 1);
            reader.codes >>= 1;
            let ts_ns = before.ts_ns.wrapping_add(unfolded(reader.take(&TIME)));
            let frames = unfolded(reader.take(&FRAME)) as u32;
            let frames = before.frames.wrapping_add(frames);
            let mut fields = before.expected[host];
            if !reader.skip_fields() {
                for field in &mut fields.numbers {
                    *field = field.wrapping_add(unfolded(reader.take(&FIELD)) as u32);
                }
            }
            fields.rest ^= reader.take(&REST);
            before.expected[host] = fields.expected_after();
            (before.ts_ns, before.frames) = (ts_ns, frames);
            Some(fields.packed(ts_ns, frames))
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
    fn a_segment_in_order_takes_about_a_dozen_bytes() {
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
        assert!(each <= 15, "{each}");
    }
}
