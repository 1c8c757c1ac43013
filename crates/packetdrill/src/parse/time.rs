//! Times: `0.1`, `+.01`, `0.1~0.2`, `+0~+.05`, `*`, and `0...0.2` for blocking calls.

use super::{ParseError, scanner::Scanner};
use crate::script::{Moment, When};

/// Parses a time, and the end of a blocking call if there is one.
pub(super) fn when(scanner: &mut Scanner<'_>) -> Result<(When, Option<Moment>), ParseError> {
    if scanner.take("*") {
        return Ok((When::Any, None));
    }
    let first = moment(scanner)?;
    let end = scanner.clone();
    scanner.skip_space();
    if scanner.take("~") {
        scanner.skip_space();
        return Ok((When::Between(first, moment(scanner)?), None));
    }
    if scanner.take("...") {
        scanner.skip_space();
        return Ok((When::At(first), Some(moment(scanner)?)));
    }
    *scanner = end;
    Ok((When::At(first), None))
}

fn moment(scanner: &mut Scanner<'_>) -> Result<Moment, ParseError> {
    let relative = scanner.take("+");
    let before = scanner.clone();
    let whole = scanner.run(|c| c.is_ascii_digit());
    // Three dots are the end of a blocking call, not a fraction.
    let dotted = !scanner.rest().starts_with("...") && scanner.take(".");
    let part = if dotted {
        scanner.run(|c| c.is_ascii_digit())
    } else {
        ""
    };
    let ns = nanoseconds(whole, part).ok_or_else(|| before.error("a time in seconds"))?;
    Ok(if relative {
        Moment::Relative(ns)
    } else {
        Moment::Absolute(ns)
    })
}

/// Seconds written as `whole.part`; `None` without digits, or above 292 years.
fn nanoseconds(whole: &str, part: &str) -> Option<i64> {
    if whole.is_empty() && part.is_empty() {
        return None;
    }
    let whole: i64 = if whole.is_empty() {
        0
    } else {
        whole.parse().ok()?
    };
    let digits: String = part.chars().chain(std::iter::repeat('0')).take(9).collect();
    whole
        .checked_mul(1_000_000_000)?
        .checked_add(digits.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (When, Option<Moment>) {
        when(&mut Scanner::new(text)).expect("reads")
    }

    #[test]
    fn all_notations_of_times() {
        use Moment::{Absolute, Relative};
        assert_eq!(read("0.1 "), (When::At(Absolute(100_000_000)), None));
        assert_eq!(read("+.01 "), (When::At(Relative(10_000_000)), None));
        assert_eq!(
            read("1.000000001"),
            (When::At(Absolute(1_000_000_001)), None)
        );
        assert_eq!(
            read("+0~+.05"),
            (When::Between(Relative(0), Relative(50_000_000)), None)
        );
        assert_eq!(read("+0 ~ +.05"), read("+0~+.05"));
        assert_eq!(
            read("0...0.2"),
            (When::At(Absolute(0)), Some(Absolute(200_000_000)))
        );
        assert_eq!(
            read("+.1 ... 0.2 read"),
            (When::At(Relative(100_000_000)), Some(Absolute(200_000_000)))
        );
        assert_eq!(
            read("+0...1"),
            (When::At(Relative(0)), Some(Absolute(1_000_000_000)))
        );
        assert_eq!(read("*"), (When::Any, None));
        assert!(when(&mut Scanner::new("soon")).is_err());
        assert!(when(&mut Scanner::new("99999999999999999999")).is_err());
    }
}
