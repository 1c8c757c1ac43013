//! Runs packetdrill scripts against TCP endpoints in virtual time.
//!
//! A script ([`parse`]) injects segments, expects others, makes socket calls and asserts properties of the sender.
//! [`run`] executes it against endpoints of [`inorder_tcp`] and returns whether every statement held, which
//! statements failed, or which ones are unsupported; [`table`] prints the results of many scripts.
//!
//! ```
//! use inorder_packetdrill::{Options, Verdict, parse, run};
//! use inorder_tcp::profiles;
//!
//! let script = parse(
//!     "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
//!     +0 bind(3, ..., ...) = 0
//!     +0 listen(3, 1) = 0
//!     +0 < S 0:0(0) win 1000 <mss 1000>
//!     +0 > S. 0:0(0) ack 1 <mss 1460>
//!     +.1 < . 1:1(0) ack 1 win 1000
//!     +0 accept(3, ..., ...) = 4
//!     +0 %{ assert tcpi_snd_cwnd == 10 and tcpi_rtt == 100000 }%",
//! )?;
//! let profile = profiles::find("linux-6").expect("a profile of this name");
//! let outcome = run(&script, &Options { profile, set: &[], tolerance: None, trace: false });
//! assert_eq!(outcome.verdict, Verdict::Passed, "{outcome:?}");
//! # Ok::<(), inorder_packetdrill::ParseError>(())
//! ```

#![forbid(unsafe_code)]

pub mod code;
mod fast_open;
#[doc(hidden)]
pub mod fuzz;
mod outcome;
mod parse;
mod run;
pub mod script;
pub mod setup;
pub mod table;

pub use outcome::{Finding, Outcome, Verdict};
pub use parse::{ParseError, parse};
pub use run::{Options, run};

/// Parses and runs the text of a script; text that is not a script fails with its line.
pub fn run_text(text: &str, options: &Options<'_>) -> Outcome {
    match parse(text) {
        Ok(script) => run(&script, options),
        Err(error) => Outcome::unreadable(
            error.line,
            format!("expected {}, found {}", error.expected, error.found),
        ),
    }
}
