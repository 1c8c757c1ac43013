//! HighSpeed TCP: the larger the window, the larger the increase and the smaller the decrease.
//!
//! Source: RFC 3649, section 5 and appendix B; used as Linux uses its table.
//!
//! 1. Response function: `W = 0.12 / p^0.835` above a window of 38, through (38, 10^-3) and (83000, 10^-7).
//! 2. `b(w) = 0.5 - 0.4 ln(w / 38) / ln(83000 / 38)`: the cut at a loss.
//! 3. `p(w) = 0.078 / w^1.2`, as `1 / (12.8 w^1.2)` in appendix B: the loss rate the response has at `w`.
//! 4. `a(w) = w^2 p(w) 2 b(w) / (2 - b(w))`: segments a round trip.
//!
//! As in Linux and in appendix B, the table contains the smallest window for each whole value of `a`; between two
//! rows the larger `a` and the smaller `b` apply. Here the table is computed, and tests compare it with the printed
//! rows. As in Linux and the RFC, each acknowledgement adds `a(w) / w`, for any number of segments it covers, and `b`
//! is the one of the last growth.

use std::sync::OnceLock;

use super::{AckEvent, CongestionControl, Entry, LossEvent, Start, Window};

pub(super) const ENTRY: Entry = Entry {
    name: "highspeed",
    about: "larger steps and smaller cuts the larger the window",
    source: "RFC 3649, Linux",
    build: || Box::new(HighSpeed::default()),
};

const LOW_WINDOW: f64 = 38.0;
const HIGH_WINDOW: f64 = 83_000.0;
/// Rows of Linux's table.
const ROWS: usize = 72;
/// For larger windows the products with 128ths would not fit 32 bits in Linux.
const LARGEST_WINDOW: u32 = u32::MAX / 128;

/// A row: up to this window, the additive increase is the index of the row plus one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Largest window of the row, segments.
    pub cwnd: u32,
    /// The decrease at a loss, 256ths of the window.
    pub decrease: u32,
}

/// Equation (2).
fn decrease(w: f64) -> f64 {
    0.5 - 0.4 * libm::log(w / LOW_WINDOW) / libm::log(HIGH_WINDOW / LOW_WINDOW)
}

/// Equation (4).
fn increase(w: f64) -> f64 {
    let b = decrease(w);
    w * w * 2.0 * b / ((2.0 - b) * libm::pow(w, 1.2) * 12.8)
}

/// The smallest window above `from` whose increase exceeds `above`; `a` grows up to a window of about 95,000.
fn first_above(above: f64, from: u32) -> u32 {
    let (mut low, mut high) = (from, 95_000);
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if increase(f64::from(middle)) > above {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// The table of appendix B: each row's `a` is more than one above that of the row before.
pub fn table() -> &'static [Row; ROWS] {
    static TABLE: OnceLock<[Row; ROWS]> = OnceLock::new();
    TABLE.get_or_init(|| {
        let (mut cwnd, mut a) = (LOW_WINDOW as u32, 1.0);
        std::array::from_fn(|row| {
            if row > 0 {
                cwnd = first_above(a + 1.0, cwnd);
                a = increase(f64::from(cwnd));
            }
            let b = decrease(f64::from(cwnd));
            Row {
                cwnd,
                decrease: (256.0 * b) as u32,
            }
        })
    })
}

/// HighSpeed TCP.
#[derive(Debug, Clone, Default)]
pub struct HighSpeed {
    row: usize,
}

impl HighSpeed {
    /// Index of the row for `cwnd`; the last row has no upper end.
    fn find_row(cwnd: u32) -> usize {
        table().partition_point(|row| row.cwnd < cwnd).min(ROWS - 1)
    }

    fn additive_increase(&self, window: &mut Window) {
        if window.cwnd >= window.clamp {
            return;
        }
        window.count = window.count.saturating_add(self.row as u32 + 1);
        if window.count >= window.cwnd {
            window.count -= window.cwnd;
            window.cwnd += 1;
        }
    }
}

impl CongestionControl for HighSpeed {
    fn start(&mut self, window: &mut Window, _start: &Start) {
        window.clamp = window.clamp.min(LARGEST_WINDOW);
    }

    fn grow(&mut self, window: &mut Window, ack: &AckEvent) {
        if window.in_slow_start() {
            window.slow_start(ack.acked);
        } else {
            self.row = Self::find_row(window.cwnd);
            self.additive_increase(window);
        }
    }

    fn ssthresh(&mut self, window: &Window, _loss: &LossEvent) -> u32 {
        let cut = (u64::from(window.cwnd) * u64::from(table()[self.row].decrease)) >> 8;
        window
            .cwnd
            .saturating_sub(u32::try_from(cut).unwrap_or(u32::MAX))
            .max(2)
    }

    fn trace(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("increase", self.row as f64 + 1.0);
        out("decrease", f64::from(table()[self.row].decrease) / 256.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Window, increase and decrease as appendix B of RFC 3649 prints them.
    const PRINTED: [(u32, u32, f64); 12] = [
        (38, 1, 0.50),
        (118, 2, 0.44),
        (221, 3, 0.41),
        (347, 4, 0.38),
        (495, 5, 0.37),
        (663, 6, 0.35),
        (851, 7, 0.34),
        (1058, 8, 0.33),
        (1284, 9, 0.32),
        (1529, 10, 0.31),
        (1793, 11, 0.30),
        (2076, 12, 0.29),
    ];

    #[test]
    fn the_first_rows_are_those_the_rfc_prints() {
        for (row, (cwnd, increase, decrease)) in table().iter().zip(PRINTED) {
            assert_eq!(row.cwnd, cwnd);
            assert_eq!(
                table().iter().position(|r| r == row),
                Some(increase as usize - 1)
            );
            assert!(
                (f64::from(row.decrease) / 256.0 - decrease).abs() < 0.0075,
                "{row:?}"
            );
        }
    }

    #[test]
    fn the_last_rows_are_those_the_rfc_prints() {
        let last: Vec<u32> = table()[68..].iter().map(|row| row.cwnd).collect();
        assert_eq!(last, [75_401, 79_517, 84_035, 89_053]);
    }

    /// The straightforward twin, as in appendix B: tries every window in turn.
    #[test]
    fn bisection_finds_what_a_scan_of_all_windows_finds() {
        let mut rows = vec![38];
        let mut last = 1.0;
        for w in 38..90_000 {
            let a = increase(f64::from(w));
            if a > last + 1.0 {
                rows.push(w);
                last = a;
            }
        }
        assert_eq!(table().map(|row| row.cwnd).to_vec(), rows);
    }

    #[test]
    fn the_first_decreases_are_the_256ths_of_linux() {
        let first: Vec<u32> = table()[..8].iter().map(|row| row.decrease).collect();
        assert_eq!(first, [128, 112, 104, 98, 93, 89, 86, 83]);
    }
}
