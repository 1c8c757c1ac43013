//! A line-oriented text format for place/transition and stochastic nets.
//!
//! ```text
//! # Two machines, one repairman.
//! net repair
//!
//! place working 2
//! place broken
//!
//! transition fail exponential rate 0.1 servers infinite
//!   in working
//!   out broken
//! transition repair exponential mean 2.5
//!   in broken
//!   out working
//! ```
//!
//! Each line defines one item; `#` starts a comment, indentation is free. Parts in `[...]` are optional.
//!
//! | line | meaning |
//! |---|---|
//! | `net NAME` | the name of the net |
//! | `parameter NAME VALUE` | a number that later lines may name, and that a user may replace |
//! | `place NAME [TOKENS] [capacity MOST]` | a place; the defaults are 0 tokens and no capacity |
//! | `transition NAME TIMING [servers N\|infinite]` | a transition; the arcs on the following lines belong to it |
//! | `in PLACE [N]` | takes N tokens, by default 1 |
//! | `out PLACE [N]` | adds N tokens |
//! | `inhibit PLACE [N]` | may not fire while PLACE holds N or more |
//! | `read PLACE [N]` | requires N tokens without taking them |
//! | `reset PLACE` | empties PLACE |
//!
//! | timing | delay |
//! |---|---|
//! | `immediate [priority N] [weight W]` | none; both are 1 by default |
//! | `exponential rate R`, `exponential mean M` | exponential |
//! | `deterministic D` | constant D |
//! | `uniform LOW HIGH` | uniform between LOW and HIGH |
//! | `erlang STAGES rate R` | the sum of STAGES exponentials of rate R |
//! | `normal mean M sd S` | normal; values below 0 are drawn again, so that the mean is somewhat above M |
//! | `lognormal mean M sd S` | lognormal with this mean and standard deviation |
//! | `weibull shape K scale L` | Weibull: longer than t with probability exp(-(t / L)^K) |
//! | `triangular low A mode B high C` | triangular between A and C |
//! | `empirical D[:W] D[:W] ...` | one of the values D, with weights W, by default 1 |
//!
//! A number may be an expression of parameters, numbers, `+ - * /` and parentheses, written without spaces or in double
//! quotes: `rate 2*load`, `in slots "n - 1"`.
//!
//! Places may be used before their definition. A name is a word, or printable text in double quotes, in which `\"`
//! and `\\` represent a quote and a backslash.

mod error;
mod line;
mod parse;
mod print;

pub use error::{Mistake, ReadError};
pub(crate) use error::{beginning, validated};
pub use print::print;

use crate::net::Net;
use crate::parameters::Parameters;

/// Reads a net from `text` and validates it. `file` is used in error messages.
///
/// ```
/// use inorder_petri::text::read;
///
/// let error = read("queue.net", "place queue\ntransition serve exponential rate 2\n  in qeue\n").unwrap_err();
/// assert_eq!(error.to_string(), "queue.net:3: expected a place, found qeue; did you mean queue?");
/// ```
pub fn read(file: &str, text: &str) -> Result<Net, ReadError> {
    read_with(file, text, &mut Parameters::default())
}

/// Reads a net with values of its parameters, which then hold what the text declares.
pub fn read_with(file: &str, text: &str, parameters: &mut Parameters) -> Result<Net, ReadError> {
    let read = parse::Parser::new(parameters).net(text);
    let valid = read.and_then(validated);
    valid.map_err(|error| error.in_file(file))
}

/// Reads a net from `text` without validating it.
pub fn parse(file: &str, text: &str) -> Result<Net, ReadError> {
    let read = parse::Parser::new(&mut Parameters::default()).net(text);
    read.map_err(|error| error.in_file(file))
}

/// Reads any bytes; a valid net is printed and read again.
#[doc(hidden)]
pub fn fuzz_one(data: &[u8]) {
    let Ok(net) = read("fuzz", &String::from_utf8_lossy(data)) else {
        return;
    };
    let again = parse("again", &print(&net));
    assert_eq!(again.map(Net::without_lines), Ok(net.without_lines()));
}
