//! packetdrill scripts run against TCP endpoints in virtual time.
//!
//! ```
//! use inorder_packetdrill::parse;
//!
//! let script = parse("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 < S 0:0(0) win 1000 <mss 1460>\n").unwrap();
//! assert_eq!(script.events.len(), 2);
//! ```

pub mod code;
mod parse;
pub mod script;

pub use parse::{ParseError, parse};
