//! Helpers of the fuzzers of this crate: bytes as input, and checks of the output.

/// Bytes, followed by zeros without end.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl Bytes<'_> {
    pub(crate) fn next(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }
}

/// Checks that `out` has each number below `came` exactly once.
pub(crate) fn check_each_once(came: usize, out: &[usize]) {
    let mut ids = out.to_vec();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..came), "not each packet once");
}

/// Type-P-Reordered packets of RFC 4737 section 3.3, with numbers as message numbers.
pub(crate) fn reordered(numbers: impl Iterator<Item = i64>) -> usize {
    let mut next_exp = i64::MIN;
    numbers
        .filter(|&n| {
            let late = n < next_exp;
            next_exp = next_exp.max(n + 1);
            late
        })
        .count()
}
