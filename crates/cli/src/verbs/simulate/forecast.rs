//! Announces simulations that will take long.

use inorder_sim::Cost;

/// Simulations estimated to take less processor time than this are not announced, seconds.
const MIN_ANNOUNCED_S: f64 = 60.0;

/// The announcement of a long simulation.
pub(super) fn forecast(cost: &Cost) -> Option<String> {
    if cost.processor_s <= MIN_ANNOUNCED_S {
        return None;
    }
    let runs = inorder_report::number::plural(cost.runs, "run");
    Some(format!(
        "{runs}, {} packets: up to about {} of processor time (a rough estimate for paths that are always full; \
         --quick gives a first look)",
        count(cost.packets),
        time(cost.processor_s),
    ))
}

/// A count in words: "40 million".
fn count(number: f64) -> String {
    for (size, name) in [(1e12, "trillion"), (1e9, "billion"), (1e6, "million")] {
        if number >= size {
            return format!("{} {name}", rounded(number / size));
        }
    }
    rounded(number)
}

/// A duration in words: "3 minutes".
fn time(seconds: f64) -> String {
    const UNITS: [(f64, &str); 4] = [
        (365.25 * 86_400.0, "years"),
        (86_400.0, "days"),
        (3_600.0, "hours"),
        (60.0, "minutes"),
    ];
    // A unit is used from two of it on: "90 minutes", not "1.5 hours".
    let unit = UNITS.iter().find(|(size, _)| seconds >= 2.0 * size);
    let (size, name) = unit.unwrap_or(&(1.0, "seconds"));
    format!("{} {name}", rounded(seconds / size))
}

/// Rounds to two digits: the estimate is not more precise.
fn rounded(number: f64) -> String {
    let digits = number.max(1.0).log10().floor() as i32;
    let step = 10f64.powi(digits - 1);
    let value = (number / step).round() * step;
    format!("{}", value.round())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_simulations_are_announced() {
        let cost = |processor_s| Cost {
            runs: 1,
            packets: 123_456_789.0,
            processor_s,
        };
        assert_eq!(forecast(&cost(59.0)), None);
        assert_eq!(
            forecast(&cost(137.0)).unwrap_or_default(),
            "1 run, 120 million packets: up to about 2 minutes of processor time (a rough estimate for paths that \
             are always full; --quick gives a first look)"
        );
    }

    #[test]
    fn figures_are_round() {
        for (seconds, text) in [
            (61.0, "61 seconds"),
            (5_321.0, "89 minutes"),
            (7_300.0, "2 hours"),
            (1e6, "12 days"),
            (6.7e9, "210 years"),
        ] {
            assert_eq!(time(seconds), text);
        }
        for (number, text) in [
            (7.0, "7"),
            (1_234.0, "1200"),
            (8.26e9, "8 billion"),
            (8.27e13, "83 trillion"),
        ] {
            assert_eq!(count(number), text);
        }
    }
}
