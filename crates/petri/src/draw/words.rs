//! Labels of places and transitions.

use crate::net::{Servers, Timing, Transition};

/// Width of a letter in pixels.
pub(super) const LETTER: f64 = 6.4;

/// Maximum number of letters of a name that are shown.
pub(super) const LETTERS: usize = 26;

/// A short description of the timing.
pub(super) fn timing(t: &Transition) -> String {
    let timing = match &t.timing {
        Timing::Immediate {
            priority: 1,
            weight,
        } if *weight == 1.0 => String::new(),
        Timing::Immediate {
            priority: 1,
            weight,
        } => format!("w {}", short(*weight)),
        Timing::Immediate { priority, weight } => format!("π {priority}, w {}", short(*weight)),
        Timing::Exponential { rate } => format!("λ {}", short(*rate)),
        Timing::Deterministic { delay } => format!("D {}", short(*delay)),
        Timing::Uniform { low, high } => format!("U {}..{}", short(*low), short(*high)),
        Timing::Erlang { stages, rate } => format!("E{stages} {}", short(*rate)),
        Timing::Drawn(drawn) => {
            let numbers: Vec<String> = drawn.parameters().map(|(_, x)| short(x)).collect();
            format!("{} {}", drawn.family().name, numbers.join(", "))
        }
        Timing::Empirical { values } if values.is_empty() => "computed".to_owned(),
        Timing::Empirical { values } => format!("{} values", values.len()),
    };
    match t.servers {
        Servers::Single => timing,
        Servers::Multiple(n) => format!("{timing} ×{n}"),
        Servers::Infinite => format!("{timing} ×∞"),
    }
}

/// A number with four digits.
fn short(x: f64) -> String {
    let rounded = format!("{x:.3e}").parse::<f64>().unwrap_or(x);
    if rounded == 0.0 || (1e-4..1e6).contains(&rounded.abs()) {
        rounded.to_string()
    } else {
        format!("{rounded:e}")
    }
}
