//! Estimates as text, with the digits that their intervals support.

use inorder_base::stats::Estimate;

/// Digits of a number that has no interval, and at most of any other.
const MOST_DIGITS: i32 = 10;

/// Numbers from `10^LOW` to below `10^HIGH` are written without an exponent.
const LOW: i32 = -4;
const HIGH: i32 = 9;

/// `4.37 ± 0.12`: half the width with two digits, and the mean up to the same place. What was never seen is distinguished from what
/// is 0 for certain, and a mean without an interval from one that is exact.
///
/// ```
/// use inorder_petri::statistics::{Estimate, with_digits};
///
/// let of = |mean, half_width| with_digits(Estimate { mean, half_width });
/// assert_eq!(of(0.369_423_1, 8.6e-5), "0.369423 ± 0.000086");
/// assert_eq!(of(948.602_7, 12.31), "949 ± 12");
/// assert_eq!(of(4.66e-10, 1.2e-11), "(4.66 ± 0.12)e-10");
/// assert_eq!(of(0.6000000000000001, 0.0), "0.6");
/// assert_eq!(of(0.0, 3.1e-6), "never seen: below 3.1e-6");
/// assert_eq!(of(4976.2, f64::INFINITY), "4976, interval unknown");
/// ```
pub fn with_digits(estimate: Estimate) -> String {
    let Estimate { mean, half_width } = estimate;
    if !mean.is_finite() {
        return "-".to_owned();
    }
    if !half_width.is_finite() {
        return format!("{}, interval unknown", plain(mean, 4));
    }
    if half_width == 0.0 {
        return plain(mean, MOST_DIGITS);
    }
    if mean == 0.0 {
        return format!("never seen: below {}", plain(half_width, 2));
    }
    let (size, width) = (exponent(mean.abs().max(half_width)), exponent(half_width));
    // The place of the last digit that is written.
    let last = (width - 1).max(size - MOST_DIGITS);
    let shift = if (LOW..HIGH).contains(&size) { 0 } else { size };
    let scale = libm::exp10(f64::from(-shift));
    let decimals = usize::try_from(shift - last).unwrap_or(0);
    let rounded = |value: f64| match last > shift {
        // 123456 ± 2345 is 123500 ± 2300.
        true => {
            let unit = libm::exp10(f64::from(last - shift));
            format!("{:.0}", libm::round(value * scale / unit) * unit)
        }
        false => format!("{:.decimals$}", value * scale),
    };
    let half = match width < last - 1 {
        true => plain(half_width * scale, 2),
        false => rounded(half_width),
    };
    match shift {
        0 => format!("{} ± {half}", rounded(mean)),
        _ => format!("({} ± {half})e{shift}", rounded(mean)),
    }
}

/// The exponent of the first digit.
fn exponent(value: f64) -> i32 {
    let text = format!("{value:.1e}");
    text.split_once('e')
        .and_then(|(_, exponent)| exponent.parse().ok())
        .unwrap_or(0)
}

/// With at most this number of digits, without zeros at the end.
pub fn plain(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0" } else { "-" }.to_owned();
    }
    let size = exponent(value);
    let decimals = usize::try_from(digits - 1 - size).unwrap_or(0);
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (LOW..HIGH).contains(&size) {
        return trimmed(&format!("{value:.decimals$}"));
    }
    let text = format!("{value:.*e}", usize::try_from(digits - 1).unwrap_or(0));
    match text.split_once('e') {
        Some((digits, exponent)) => format!("{}e{exponent}", trimmed(digits)),
        None => text,
    }
}
