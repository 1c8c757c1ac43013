//! Traces of delivery opportunities, as Mahimahi records and replays them.
//!
//! A file has one line for each opportunity to send 1,500 bytes: its time in whole milliseconds, not smaller than that of
//! the line before. The last line's time is the period after which the trace repeats (`mm-link(1)`).

use std::sync::Arc;

use crate::context::{Context, Kind};
use crate::error::Problem;
use crate::schema::Form;
use crate::value::Node;

/// Bytes that an opportunity carries.
pub const OPPORTUNITY_BYTES: u32 = 1500;

/// Times at which a link can send.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// The name of its file.
    pub name: String,
    /// Milliseconds since the start of each period, in order; the last one is the period and not 0.
    pub times_ms: Arc<[u32]>,
}

impl Trace {
    /// Reads the text of a file called `name`.
    ///
    /// # Errors
    /// What is wrong, with file and line, and what was expected.
    pub fn parse(name: &str, text: &str) -> Result<Self, (String, String)> {
        let mut times_ms: Vec<u32> = Vec::new();
        for (line, number) in text.lines().zip(1..) {
            let word = line.trim();
            if word.is_empty() {
                continue;
            }
            let wrong = |expected: &str| {
                let what = format!("{name}:{number}: {}", shown(word));
                Err((what, expected.to_owned()))
            };
            let Ok(time_ms) = word.parse::<u32>() else {
                return wrong("a time in whole milliseconds");
            };
            if times_ms.last().is_some_and(|&last_ms| time_ms < last_ms) {
                return wrong("a time that is not before that of the last line");
            }
            times_ms.push(time_ms);
        }
        match times_ms.last() {
            None => Err((
                format!("{name}: a trace without a line"),
                "a time in milliseconds on each line".to_owned(),
            )),
            Some(0) => Err((
                format!("{name}: a trace that ends at 0 ms"),
                "a later last time".to_owned(),
            )),
            Some(_) => Ok(Trace {
                name: name.to_owned(),
                times_ms: times_ms.into(),
            }),
        }
    }

    /// The period after which it repeats, milliseconds.
    pub fn period_ms(&self) -> u32 {
        self.times_ms.last().copied().unwrap_or(1).max(1)
    }

    /// Its mean rate, bit/s of IP packets.
    pub fn mean_bits_per_s(&self) -> u64 {
        let bits = self.times_ms.len() as u64 * u64::from(OPPORTUNITY_BYTES) * 8;
        bits.saturating_mul(1000) / u64::from(self.period_ms())
    }
}

/// The quoted line of a file that a scenario names, if it consists of numbers. Other text is not repeated: the scenario may
/// be a stranger's, and the file one that is nobody else's business.
pub(crate) fn shown(line: &str) -> String {
    let is_numeric = |c: char| c.is_ascii_digit() || "+-.e \t".contains(c);
    match line.len() <= 40 && line.chars().all(is_numeric) {
        true => format!("\"{line}\""),
        false => "other text".to_owned(),
    }
}

/// The name of a file with a trace, relative to the scenario.
#[derive(Clone, Copy, Debug)]
pub enum TraceFile {}

impl Kind for TraceFile {
    type Value = Trace;
    const FORM: Form = Form::Other("name of a file, relative to the scenario");
    fn read(node: &Node, context: &Context<'_>) -> Result<Trace, Problem> {
        let (name, text) = context.read_file(node)?;
        Trace::parse(&name, &text)
            .map_err(|(what, expected)| Problem::new(&node.place, what, expected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_a_line_for_each_opportunity() {
        let trace = Trace::parse("t", "1\n1\n4\n\n10\n").unwrap();
        assert_eq!(&*trace.times_ms, [1, 1, 4, 10]);
        // Four packets of 12,000 bits in 10 ms.
        assert_eq!(trace.mean_bits_per_s(), 4_800_000);
    }

    #[test]
    fn errors_have_file_and_line() {
        let wrong = |text| Trace::parse("cell.trace", text).unwrap_err().0;
        assert_eq!(wrong("1\nx\n"), "cell.trace:2: other text");
        assert_eq!(wrong("5\n4\n"), "cell.trace:2: \"4\"");
        assert_eq!(wrong("-1\n"), "cell.trace:1: \"-1\"");
        assert_eq!(wrong("\n"), "cell.trace: a trace without a line");
        assert_eq!(wrong("0\n0\n"), "cell.trace: a trace that ends at 0 ms");
    }
}
