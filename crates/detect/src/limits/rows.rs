//! The rows of the rounds, in few bytes: of most rows most numbers are 0, and the others differ little from those of the row before.

use super::rounds::{KINDS, Row};
use crate::packed::{Draft, Numbers, Packed};

/// Fields of a row that are written only if they are not 0: its parts and five more.
const FIELDS: usize = KINDS + 5;
/// Bytes that a row takes at most: a mask of two, three numbers, and the fields.
const MAX_BYTES: usize = 2 + 10 * (3 + FIELDS);

/// Rows in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    packed: Packed,
    len: usize,
    first_ns: i64,
    last: Row,
}

heap!(Rows: packed);

/// What is not written if it is 0.
fn fields(row: &Row) -> [i64; FIELDS] {
    let mut all = [0; FIELDS];
    let others = [
        row.peak,
        row.gap_ns,
        row.way_ns,
        row.answered.into(),
        row.unanswered.into(),
    ];
    for (field, value) in all.iter_mut().zip(row.parts.into_iter().chain(others)) {
        *field = value;
    }
    all
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
        let (last, fields) = (&self.last, fields(&row));
        let filled = (0..).zip(&fields).filter(|(_, value)| **value != 0);
        let mask = filled.fold(0, |mask, (nth, _)| mask | 1 << nth);
        let steps = [
            mask,
            row.start_ns.wrapping_sub(last.start_ns),
            row.sent.wrapping_sub(last.sent),
            row.delivered.wrapping_sub(last.delivered),
        ];
        self.packed
            .reserve(MAX_BYTES.min(2 + 10 * (3 + mask.count_ones() as usize)));
        let mut draft = Draft::<MAX_BYTES>::new();
        steps.into_iter().for_each(|step| draft.push(step));
        let filled = fields.into_iter().filter(|value| *value != 0);
        filled.for_each(|value| draft.push(value));
        self.packed.push(&draft);
        if self.len == 0 {
            self.first_ns = row.start_ns;
        }
        self.len += 1;
        self.last = row;
    }

    /// All of them.
    pub(super) fn unpacked(&self) -> Vec<Row> {
        let (mut numbers, mut last) = (self.packed.numbers(), Row::default());
        let mut all = Vec::with_capacity(self.len);
        while let Some(row) = next(&mut numbers, &last) {
            all.push(row);
            last = row;
        }
        all
    }
}

/// The row behind `last`.
fn next(numbers: &mut Numbers<'_>, last: &Row) -> Option<Row> {
    let mask = numbers.next()?;
    let [start, sent, delivered] = [numbers.next()?, numbers.next()?, numbers.next()?];
    let mut fields = [0; FIELDS];
    for (nth, field) in (0..).zip(&mut fields) {
        if mask & 1 << nth != 0 {
            *field = numbers.next()?;
        }
    }
    let (parts, others) = fields.split_at(KINDS);
    let &[peak, gap_ns, way_ns, answered, unanswered] = others else {
        return None;
    };
    Some(Row {
        start_ns: last.start_ns.wrapping_add(start),
        parts: parts.try_into().ok()?,
        peak,
        gap_ns,
        way_ns,
        sent: last.sent.wrapping_add(sent),
        delivered: last.delivered.wrapping_add(delivered),
        answered: answered as u32,
        unanswered: unanswered as u32,
    })
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
            prop_assert_eq!(rows.unpacked(), all.clone());
            prop_assert_eq!(rows.len(), all.len());
            prop_assert_eq!(rows.first_ns(), all.first().map(|row| row.start_ns));
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
