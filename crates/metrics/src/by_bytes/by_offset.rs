//! Values in the order of their offsets.

use inorder_base::heap::Heap;

/// Number of offsets in a row of the table.
const ROW: usize = 64;

/// A map from offsets to large values, for offsets that mostly come in ascending order and go from the lowest up.
///
/// A list of short rows. To append, and to take away the lowest, costs a few instructions; anything in the middle is a
/// search for the row, one within it, and a row that moves. Rows hold places in a list and not the values, so that
/// little moves however large a value is.
#[derive(Clone, Debug)]
pub struct ByOffset<T> {
    /// No row is empty. Rows are boxed because they are long, and inserting or removing one moves all behind it.
    #[allow(clippy::vec_box)]
    rows: Vec<Box<Row>>,
    /// The greatest offset of each row: to search these touches few lines of the cache.
    tops: Vec<i64>,
    /// The row that was changed last: the next one is mostly the same.
    recent: usize,
    len: usize,
    values: Vec<T>,
    free: Vec<u32>,
}

/// The row of an offset and its place there, as long as none is put in or taken out.
pub(super) type Spot = (usize, usize);

/// Up to `ROW` offsets, ascending, and the places of their values.
#[derive(Clone, Debug)]
struct Row {
    len: usize,
    offsets: [i64; ROW],
    places: [u32; ROW],
}

impl Row {
    fn of(offset: i64, place: u32) -> Self {
        let mut row = Row {
            len: 0,
            offsets: [0; ROW],
            places: [0; ROW],
        };
        row.insert(0, offset, place);
        row
    }

    fn offsets(&self) -> &[i64] {
        &self.offsets[..self.len]
    }

    fn top(&self) -> i64 {
        self.offsets[self.len - 1]
    }

    fn insert(&mut self, at: usize, offset: i64, place: u32) {
        if at < self.len {
            self.offsets.copy_within(at..self.len, at + 1);
            self.places.copy_within(at..self.len, at + 1);
        }
        (self.offsets[at], self.places[at]) = (offset, place);
        self.len += 1;
    }

    fn remove(&mut self, at: usize) -> u32 {
        let place = self.places[at];
        if at + 1 < self.len {
            self.offsets.copy_within(at + 1..self.len, at);
            self.places.copy_within(at + 1..self.len, at);
        }
        self.len -= 1;
        place
    }

    /// Takes the upper half off.
    fn split(&mut self) -> Row {
        let mut upper = self.clone();
        let half = self.len / 2;
        upper.offsets.copy_within(half.., 0);
        upper.places.copy_within(half.., 0);
        upper.len = self.len - half;
        self.len = half;
        upper
    }
}

impl<T> Heap for ByOffset<T> {
    fn heap_bytes(&self) -> usize {
        let rows = self.rows.heap_bytes() + self.rows.len() * size_of::<Row>();
        rows + self.tops.heap_bytes() + self.values.heap_bytes() + self.free.heap_bytes()
    }
}

impl<T> Default for ByOffset<T> {
    fn default() -> Self {
        ByOffset {
            rows: Vec::new(),
            tops: Vec::new(),
            recent: 0,
            len: 0,
            values: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T: Copy> ByOffset<T> {
    /// There is no value.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of values.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// All values, those of the lowest offsets first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        let places = self.rows.iter().flat_map(|row| &row.places[..row.len]);
        places.map(|&place| &self.values[place as usize])
    }

    /// The row and the place in it of the lowest offset that is `offset` at least; behind the last row if there is
    /// none.
    #[inline]
    fn find(&self, offset: i64) -> Spot {
        let row = match (self.tops.first(), self.tops.last()) {
            (Some(&first), _) if offset <= first => 0,
            (_, Some(&last)) if offset <= last => match self.recent {
                recent if self.is_row_of(recent, offset) => recent,
                _ => self.tops.partition_point(|&top| top < offset),
            },
            _ => return (self.rows.len(), 0),
        };
        (
            row,
            self.rows[row].offsets().partition_point(|&o| o < offset),
        )
    }

    /// Is this the first row that reaches up to `offset`?
    #[inline]
    fn is_row_of(&self, row: usize, offset: i64) -> bool {
        let below = row.checked_sub(1).and_then(|below| self.tops.get(below));
        let reaches = self.tops.get(row).is_some_and(|&top| offset <= top);
        reaches && below.is_none_or(|&top| top < offset)
    }

    /// The offset at a row and place, and its value.
    #[inline]
    fn at(&self, (row, at): Spot) -> Option<(i64, &T)> {
        let row = self.rows.get(row)?;
        let &offset = row.offsets().get(at)?;
        Some((offset, &self.values[row.places[at] as usize]))
    }

    /// The row and place behind one of them.
    #[inline]
    fn next(&self, (row, at): Spot) -> Spot {
        match self.rows.get(row) {
            Some(here) if at + 1 < here.len => (row, at + 1),
            _ => (row + 1, 0),
        }
    }

    /// The value of the lowest offset.
    #[inline]
    pub fn first(&self) -> Option<&T> {
        self.at((0, 0)).map(|(_, value)| value)
    }

    /// The values of the greatest offset below `offset`, and of the lowest that is `offset` at least.
    #[inline]
    pub fn around(&self, offset: i64) -> (Option<&T>, Option<&T>) {
        let (before, found) = self.spots_around(offset);
        (before.and_then(|spot| self.value(spot)), self.value(found))
    }

    /// Where these are.
    #[inline]
    pub(super) fn spots_around(&self, offset: i64) -> (Option<Spot>, Spot) {
        let found = self.find(offset);
        let before = match found {
            (0, 0) => None,
            (row, 0) => Some((row - 1, self.rows[row - 1].len - 1)),
            (row, at) => Some((row, at - 1)),
        };
        (before, found)
    }

    /// The value there.
    #[inline]
    pub(super) fn value(&self, spot: Spot) -> Option<&T> {
        self.at(spot).map(|(_, value)| value)
    }

    /// Puts `value` in place of the one there, at an `offset` between the same neighbours.
    #[inline]
    pub(super) fn set(&mut self, (row, at): Spot, offset: i64, value: T) {
        let here = &mut self.rows[row];
        here.offsets[at] = offset;
        self.values[here.places[at] as usize] = value;
        self.tops[row] = here.top();
        self.recent = row;
    }

    /// The values of the offsets in `[from, to)`, each with its offset.
    pub fn range(&self, from: i64, to: i64) -> impl Iterator<Item = (i64, &T)> {
        let places = std::iter::successors(Some(self.find(from)), |&here| Some(self.next(here)));
        let all = places.map_while(|here| self.at(here));
        all.take_while(move |(offset, _)| *offset < to)
    }

    /// Where the value of `offset` is.
    #[inline]
    fn place(&self, offset: i64) -> Option<(usize, usize, u32)> {
        let (row, at) = self.find(offset);
        let here = self.rows.get(row)?;
        (here.offsets[at] == offset).then(|| (row, at, here.places[at]))
    }

    /// The value at exactly this offset.
    #[inline]
    pub fn get(&self, offset: i64) -> Option<&T> {
        let (_, _, place) = self.place(offset)?;
        self.values.get(place as usize)
    }

    /// The value at exactly this offset, to be changed.
    #[inline]
    pub fn get_mut(&mut self, offset: i64) -> Option<&mut T> {
        let (row, _, place) = self.place(offset)?;
        self.recent = row;
        self.values.get_mut(place as usize)
    }

    /// Puts `value` at `offset`, in place of what is there.
    pub fn insert(&mut self, offset: i64, value: T) {
        let (row, at) = self.find(offset);
        if let Some(here) = self.rows.get(row)
            && here.offsets[at] == offset
        {
            self.values[here.places[at] as usize] = value;
            return;
        }
        let place = self.free.pop().unwrap_or(self.values.len() as u32);
        match self.values.get_mut(place as usize) {
            Some(unused) => *unused = value,
            None => self.values.push(value),
        }
        self.len += 1;
        let (row, at) = match self.rows.last() {
            Some(last) if row == self.rows.len() && last.len < ROW => (row - 1, last.len),
            _ => (row, at),
        };
        self.recent = row;
        match self.rows.get_mut(row) {
            None => {
                self.rows.push(Box::new(Row::of(offset, place)));
                self.tops.push(offset);
            }
            Some(here) if here.len < ROW => {
                here.insert(at, offset, place);
                self.tops[row] = here.top();
            }
            Some(here) => {
                let mut upper = here.split();
                match at.checked_sub(here.len) {
                    Some(at) => upper.insert(at, offset, place),
                    None => here.insert(at, offset, place),
                }
                self.tops[row] = here.top();
                self.tops.insert(row + 1, upper.top());
                self.rows.insert(row + 1, Box::new(upper));
            }
        }
    }

    /// Takes the value at exactly this offset out.
    pub fn remove(&mut self, offset: i64) -> Option<T> {
        let (row, at, _) = self.place(offset)?;
        Some(self.take((row, at)))
    }

    /// Removes the value of the lowest offset.
    pub fn pop_first(&mut self) -> Option<T> {
        (!self.is_empty()).then(|| self.take((0, 0)))
    }

    /// Takes the one there out.
    pub(super) fn take(&mut self, (row, at): Spot) -> T {
        self.recent = row;
        let here = &mut self.rows[row];
        let place = here.remove(at);
        if here.len == 0 {
            self.rows.remove(row);
            self.tops.remove(row);
        } else {
            self.tops[row] = here.top();
        }
        self.len -= 1;
        self.free.push(place);
        self.values[place as usize]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compared with a `BTreeMap`. There are more offsets than a row holds, so rows are split and removed.
        #[test]
        fn it_holds_what_a_tree_does(
            steps in prop::collection::vec((0u8..10, 0i64..300, 0i64..300), 0..400),
        ) {
            let (mut places, mut tree) = (ByOffset::default(), BTreeMap::new());
            for (value, (step, offset, other)) in steps.into_iter().enumerate() {
                match step {
                    0..=5 => {
                        places.insert(offset, value);
                        tree.insert(offset, value);
                    }
                    6 => prop_assert_eq!(places.remove(offset), tree.remove(&offset)),
                    7 if !tree.contains_key(&other) => {
                        // The next one moves down.
                        let spot = places.spots_around(other).1;
                        if let Some((&next, _)) = tree.range(other..).next() {
                            places.set(spot, other, value);
                            tree.remove(&next);
                            tree.insert(other, value);
                        }
                    }
                    _ => prop_assert_eq!(places.pop_first(), tree.pop_first().map(|e| e.1)),
                }
                prop_assert!(places.iter().eq(tree.values()));
                prop_assert!(places.iter().rev().eq(tree.values().rev()));
                prop_assert_eq!((places.len(), places.is_empty()), (tree.len(), tree.is_empty()));
                prop_assert_eq!(places.first(), tree.values().next());
                prop_assert_eq!(places.get(offset), tree.get(&offset));
                prop_assert_eq!(places.get_mut(other), tree.get_mut(&other));
                let below = tree.range(..other).next_back().map(|e| e.1);
                let from = tree.range(other..).next().map(|e| e.1);
                prop_assert_eq!(places.around(other), (below, from));
                let within = tree.range(offset..other.max(offset)).map(|(o, v)| (*o, v));
                prop_assert!(places.range(offset, other).eq(within));
                prop_assert!(places.values.len() <= 301, "places are used again");
            }
        }
    }
}
