//! The rates between states, row by row or column by column.

/// For each state the states to which it leads, or from which it is reached, with the rates.
#[derive(Clone, Debug)]
pub(super) struct Links {
    pub first: Vec<usize>,
    pub other: Vec<u32>,
    pub rate: Vec<f64>,
}

impl Links {
    /// The rates out of each state of `class`, which is never left, numbered by its place in it.
    pub(super) fn within(&self, class: &[usize]) -> Self {
        let mut place = vec![0_u32; self.len()];
        for (i, &state) in class.iter().enumerate() {
            place[state] = i as u32;
        }
        let mut rows = Self::with_room(class.len());
        for &state in class {
            for (to, rate) in self.of(state) {
                rows.other.push(place[to]);
                rows.rate.push(rate);
            }
            rows.first.push(rows.other.len());
        }
        rows
    }

    /// Without a state yet.
    pub(super) fn with_room(states: usize) -> Self {
        let mut first = Vec::with_capacity(states + 1);
        first.push(0);
        Self {
            first,
            other: Vec::new(),
            rate: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.first.len() - 1
    }

    pub(super) fn of(&self, state: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.first[state]..self.first[state + 1];
        let others = self.other[range.clone()]
            .iter()
            .map(|&other| other as usize);
        others.zip(self.rate[range].iter().copied())
    }

    /// One of the states to which, or from which, a state leads.
    pub(super) fn neighbour(&self, state: usize, number: usize) -> Option<usize> {
        let at = self.first[state] + number;
        (at < self.first[state + 1]).then(|| self.other[at] as usize)
    }

    /// The sum of the rates of each state.
    pub(super) fn sums(&self) -> Vec<f64> {
        let sum = |state| self.of(state).map(|(_, rate)| rate).sum();
        (0..self.len()).map(sum).collect()
    }

    /// Columns from rows, and rows from columns.
    pub(super) fn transposed(&self) -> Self {
        let n = self.len();
        let mut first = vec![0; n + 1];
        for &other in &self.other {
            first[other as usize + 1] += 1;
        }
        for i in 0..n {
            first[i + 1] += first[i];
        }
        let mut next = first.clone();
        let mut other = vec![0; self.other.len()];
        let mut rate = vec![0.0; self.rate.len()];
        for state in 0..n {
            for (to, value) in self.of(state) {
                let slot = next[to];
                (other[slot], rate[slot]) = (state as u32, value);
                next[to] += 1;
            }
        }
        Self { first, other, rate }
    }
}
