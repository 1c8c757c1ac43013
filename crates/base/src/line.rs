//! A queue that lies in one piece.

use std::ops::{Deref, DerefMut};

use crate::heap::Heap;

/// Elements in a row, of which most come at the end and go at the front.
///
/// It is what a `VecDeque` is, but all of it is one slice: a search has one part to look at instead of two, and a place is found
/// without going round the end of a buffer, which took a tenth of the instructions of heavy reordering. The places of those that have gone
/// at the front are used again before more room is made.
#[derive(Clone, Debug)]
pub struct Line<T> {
    /// Those that have gone, and the others behind them.
    all: Vec<T>,
    gone: usize,
}

/// The places of those that have gone are used again if they are this part of all, so that each element moves a few times at most.
const MIN_GONE_PART: usize = 4;

impl<T> Default for Line<T> {
    fn default() -> Self {
        Line {
            all: Vec::new(),
            gone: 0,
        }
    }
}

impl<T> Heap for Line<T> {
    fn heap_bytes(&self) -> usize {
        self.all.heap_bytes()
    }
}

impl<T> Deref for Line<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        self.all.get(self.gone..).unwrap_or_default()
    }
}

impl<T> DerefMut for Line<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        self.all.get_mut(self.gone..).unwrap_or_default()
    }
}

impl<T: Copy> Line<T> {
    /// Appends an element.
    #[inline]
    pub fn push_back(&mut self, element: T) {
        if self.all.len() == self.all.capacity() {
            self.use_again();
        }
        self.all.push(element);
    }

    /// Removes the first element.
    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        let first = self.all.get(self.gone).copied()?;
        self.gone += 1;
        if self.gone == self.all.len() {
            self.all.clear();
            self.gone = 0;
        }
        Some(first)
    }

    /// Inserts an element at place `at`, which is no greater than the length. What lies before it moves, or what lies behind it.
    pub fn insert(&mut self, at: usize, element: T) {
        if self.gone > 0 && at < self.len() / 2 {
            self.all
                .copy_within(self.gone..self.gone + at, self.gone - 1);
            self.gone -= 1;
            self.all[self.gone + at] = element;
        } else {
            self.all.insert(self.gone + at, element);
        }
    }

    /// Those from place `from` up to `to` go.
    #[inline]
    pub fn remove(&mut self, from: usize, to: usize) {
        if from < self.len() - to {
            let first = self.gone;
            self.gone += to - from;
            self.all.copy_within(first..first + from, self.gone);
        } else {
            self.all.copy_within(self.gone + to.., self.gone + from);
            self.all.truncate(self.all.len() - (to - from));
        }
    }

    /// There is no room behind the last one: the places in front of the first one may be enough.
    #[cold]
    fn use_again(&mut self) {
        if self.gone * MIN_GONE_PART >= self.all.len() {
            self.all.drain(..self.gone);
            self.gone = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Push,
        Pop,
        Insert(usize),
        Remove(usize, usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            8 => Just(Step::Push),
            6 => Just(Step::Pop),
            1 => any::<usize>().prop_map(Step::Insert),
            1 => (any::<usize>(), 0usize..4).prop_map(|(at, many)| Step::Remove(at, many)),
        ]
    }

    proptest! {
        #[test]
        fn it_holds_what_a_deque_holds(steps in prop::collection::vec(step(), 0..200)) {
            let (mut line, mut deque) = (Line::default(), VecDeque::new());
            for (n, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Push => {
                        line.push_back(n);
                        deque.push_back(n);
                    }
                    Step::Pop => prop_assert_eq!(line.pop_front(), deque.pop_front()),
                    Step::Insert(at) => {
                        let at = at % (deque.len() + 1);
                        line.insert(at, n);
                        deque.insert(at, n);
                    }
                    Step::Remove(from, many) => {
                        let from = from % (deque.len() + 1);
                        let to = (from + many).min(deque.len());
                        line.remove(from, to);
                        deque.drain(from..to);
                    }
                }
                prop_assert_eq!(&line[..], deque.make_contiguous());
            }
        }
    }

    #[test]
    fn it_takes_no_more_room_than_a_few_times_what_it_holds() {
        let mut line = Line::default();
        for n in 0..10_000 {
            line.push_back(n);
            if n >= 100 {
                line.pop_front();
            }
        }
        assert_eq!(line.len(), 100);
        assert!(
            line.heap_bytes() <= 4 * 100 * size_of::<i32>(),
            "{}",
            line.heap_bytes()
        );
    }
}
