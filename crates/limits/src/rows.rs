//! The rows of the rounds, in few bytes: of most rows most numbers are 0, and the others differ little from those of the row before.
//! The few rows of a short flow stay as they are, because to pack and unpack them takes longer than all else that is done with them.

use super::held::KINDS;
use super::rounds::Row;
use inorder_base::packed::{folded, unfolded};

/// Numbers of a row: its parts and eight more.
const NUMBERS: usize = KINDS + 8;
/// Bits of the code that says how many bytes a number takes, and bytes of all codes, which come first.
const CODE_BITS: u32 = 3;
const CODE_BYTES: usize = (NUMBERS * CODE_BITS as usize).div_ceil(8);
/// Bytes that a row takes at most, and a number. A number is written in all of its bytes, and the next one takes back those that are 0.
const MAX_BYTES: usize = CODE_BYTES + NUMBERS * NUMBER_BYTES;
const NUMBER_BYTES: usize = 8;
/// Room is made for this part more at a time, and for this number of bytes at least.
const GROWTH_PART: usize = 4;
const MIN_GROWTH: usize = 96;
/// Up to this number of rows are not packed.
const MAX_UNPACKED_ROWS: usize = 4;

/// Rows in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    /// All of them, while they are few.
    few: Vec<Row>,
    /// All of them, once there are more.
    bytes: Vec<u8>,
    len: usize,
    first_ns: i64,
    last: Row,
}

heap!(Rows: few, bytes);

/// The numbers of a row as they are written behind `last`.
fn numbers(row: &Row, last: &Row) -> [i64; NUMBERS] {
    let mut all = [0; NUMBERS];
    let others = [
        row.start_ns.wrapping_sub(last.start_ns),
        row.sent.wrapping_sub(last.sent),
        row.delivered.wrapping_sub(last.delivered),
        row.peak,
        row.gap_ns,
        row.way_ns,
        row.answered.into(),
        row.unanswered.into(),
    ];
    for (number, value) in all.iter_mut().zip(others.into_iter().chain(row.parts)) {
        *number = value;
    }
    all
}

/// How many bytes a number takes of which this is the code: 0 to 6, or 8.
fn width(code: u64) -> usize {
    let code = code as usize;
    code + usize::from(code == 7)
}

impl Rows {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// When the first begins, nanoseconds.
    pub(super) fn first_ns(&self) -> Option<i64> {
        (self.len > 0).then_some(self.first_ns)
    }

    pub(super) fn push(&mut self, row: Row) {
        if self.len == 0 {
            self.first_ns = row.start_ns;
        }
        if self.len < MAX_UNPACKED_ROWS {
            if self.few.capacity() == 0 {
                self.few.reserve_exact(MAX_UNPACKED_ROWS);
            }
            self.few.push(row);
        } else {
            for few in std::mem::take(&mut self.few) {
                self.pack(few);
            }
            self.pack(row);
        }
        self.len += 1;
    }

    fn pack(&mut self, row: Row) {
        let mut draft = [0; MAX_BYTES];
        let (mut at, mut codes) = (CODE_BYTES, 0u64);
        for (nth, number) in (0..).zip(numbers(&row, &self.last)) {
            if number == 0 {
                continue;
            }
            let number = folded(number);
            let code = number.ilog2() / 8 + 1;
            let code = u64::from(code.min(7));
            codes |= code << (nth * CODE_BITS);
            if let Some(place) = draft.get_mut(at..at + NUMBER_BYTES) {
                place.copy_from_slice(&number.to_le_bytes());
            }
            at += width(code);
        }
        for (place, byte) in draft.iter_mut().zip(codes.to_le_bytes()).take(CODE_BYTES) {
            *place = byte;
        }
        let written = draft.get(..at).unwrap_or_default();
        if self.bytes.capacity() - self.bytes.len() < at {
            let more = (self.bytes.len() / GROWTH_PART).max(MIN_GROWTH);
            self.bytes.reserve_exact(more.max(at));
        }
        self.bytes.extend_from_slice(written);
        self.last = row;
    }

    /// All of them, and none is left.
    pub(super) fn take(&mut self) -> Vec<Row> {
        let rows = std::mem::take(self);
        match rows.bytes.is_empty() {
            true => rows.few,
            false => rows.unpacked(),
        }
    }

    fn unpacked(&self) -> Vec<Row> {
        let (mut left, mut last) = (self.bytes.as_slice(), Row::default());
        let mut all = Vec::with_capacity(self.len);
        while let Some((row, rest)) = next(left, &last) {
            all.push(row);
            (left, last) = (rest, row);
        }
        all
    }
}

/// The row behind `last`, and what is left behind it.
fn next<'a>(bytes: &'a [u8], last: &Row) -> Option<(Row, &'a [u8])> {
    let (first, mut left) = bytes.split_first_chunk::<CODE_BYTES>()?;
    let mut codes = read(first);
    let mut all = [0; NUMBERS];
    for number in &mut all {
        let width = width(codes & 7);
        codes >>= CODE_BITS;
        if width > 0 {
            let (own, rest) = left.split_at_checked(width)?;
            let folded = match left.first_chunk::<NUMBER_BYTES>() {
                Some(eight) => u64::from_le_bytes(*eight) & u64::MAX >> (64 - 8 * width),
                None => read(own),
            };
            (*number, left) = (unfolded(folded), rest);
        }
    }
    let (others, parts) = all.split_at(NUMBERS - KINDS);
    let &[
        start,
        sent,
        delivered,
        peak,
        gap_ns,
        way_ns,
        answered,
        unanswered,
    ] = others
    else {
        return None;
    };
    let row = Row {
        start_ns: last.start_ns.wrapping_add(start),
        parts: parts.try_into().ok()?,
        peak,
        gap_ns,
        way_ns,
        sent: last.sent.wrapping_add(sent),
        delivered: last.delivered.wrapping_add(delivered),
        answered: answered as u32,
        unanswered: unanswered as u32,
    };
    Some((row, left))
}

/// A number in few bytes, the lowest first.
fn read(bytes: &[u8]) -> u64 {
    let bytes = bytes.iter().rev();
    bytes.fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = i64> {
        prop_oneof![Just(0), 0i64..2_000_000_000, any::<i64>()]
    }

    prop_compose! {
        fn row()(
            (start_ns, sent, delivered) in (number(), number(), number()),
            parts in prop::array::uniform7(number()),
            (peak, gap_ns, way_ns) in (number(), number(), number()),
            (answered, unanswered) in (any::<u32>(), 0u32..2),
        ) -> Row {
            Row { start_ns, parts, peak, gap_ns, way_ns, sent, delivered, answered, unanswered }
        }
    }

    proptest! {
        #[test]
        fn rows_come_out_as_they_went_in(all in prop::collection::vec(row(), 0..30)) {
            let mut rows = Rows::default();
            all.iter().for_each(|row| rows.push(*row));
            prop_assert_eq!(rows.len(), all.len());
            prop_assert_eq!(rows.first_ns(), all.first().map(|row| row.start_ns));
            prop_assert_eq!(rows.take(), all);
            prop_assert_eq!(rows.len(), 0);
        }
    }

    /// Of a flow that is sent in order, a segment of 1,000 bytes each millisecond with a round trip of 20 ms.
    #[test]
    fn a_usual_row_takes_a_quarter_of_what_it_takes_unpacked() {
        let mut rows = Rows::default();
        for nth in 0..100 {
            let mut parts = [0; KINDS];
            parts[1] = 20_000_000 + nth % 7;
            rows.push(Row {
                start_ns: 1_700_000_000_000_000_000 + nth * 20_000_000,
                parts,
                peak: 20_000,
                gap_ns: 1_000_000 + nth % 13,
                way_ns: 0,
                sent: 20_000 * nth,
                delivered: 20_000 * nth,
                answered: 10,
                unanswered: 0,
            });
        }
        let each = inorder_base::heap::Heap::heap_bytes(&rows) / 100;
        assert!(each <= size_of::<Row>() / 4, "{each}");
    }
}
