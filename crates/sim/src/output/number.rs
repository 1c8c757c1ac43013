//! Numbers as people read them.

/// Four significant digits; whole numbers from 1000 on with separators.
pub fn short(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return "-".to_owned();
    }
    if size >= 999.95 {
        return grouped(value);
    }
    let decimals = match size {
        s if s >= 99.995 => 1,
        s if s >= 9.9995 => 2,
        _ => 3,
    };
    let text = format!("{value:.decimals$}");
    let trimmed = text.trim_end_matches('0').trim_end_matches('.');
    if size > 0.0 && matches!(trimmed, "0" | "-0") {
        format!("{value:.1e}")
    } else {
        trimmed.to_owned()
    }
}

/// Rounded, in groups of three digits.
fn grouped(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if value < 0.0 { format!("-{out}") } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (12.0, "12"),
            (936.66, "936.7"),
            (12.345, "12.35"),
            (1.0 / 3.0, "0.333"),
            (25_194.4, "25,194"),
            (-1_234_567.0, "-1,234,567"),
            (0.000_02, "2.0e-5"),
            (f64::NAN, "-"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
    }
}
