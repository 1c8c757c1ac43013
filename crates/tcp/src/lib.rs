//! TCP endpoints without I/O: congestion controls, loss detection and tolerance of reordering.
//!
//! An [`Endpoint`] is one end of a connection: a state machine that takes the time and segments and returns segments
//! and the time of its next call. It has no socket and no clock, random numbers come from the seed in its
//! configuration, and payload is counted, not transported. Three things are chosen at creation: a [`Config`] (or one
//! of the named [`profiles`]), a congestion control (how much may be in flight: [`congestion`]) and a loss detection
//! (what counts as lost, and how much reordering is tolerated before that: [`loss`]). [`Pair`] connects two endpoints
//! by configurable paths in virtual time.
//!
//! ```
//! use inorder_tcp::{Config, Endpoint, Pair, config::{MS, SECOND}};
//!
//! let config = Config::default();
//! let client = Endpoint::with_names(&config, "cubic", "linux")?;
//! let server = Endpoint::with_names(&config, "cubic", "linux")?;
//! // Every hundredth segment of data comes 3 ms late.
//! let mut pair = Pair::new(client, server, 10 * MS).with_fate(|departure, copies| {
//!     let late = departure.segment.payload > 0 && departure.data_index % 100 == 99;
//!     copies.push(if late { 3 * MS } else { 0 });
//! });
//! assert_eq!(pair.transfer(1_000_000, 60 * SECOND), 1_000_000);
//! println!("{} retransmissions", pair.client.counters().sent.retrans_segs);
//! # Ok::<(), inorder_tcp::UnknownAlgorithm>(())
//! ```

#![forbid(unsafe_code)]

mod accurate_ecn;
mod board;
pub mod config;
pub mod congestion;
pub mod counters;
mod destination;
pub mod dialects;
mod endpoint;
mod entry;
#[doc(hidden)]
pub mod fuzz;
pub mod habits;
pub mod info;
pub mod loss;
pub mod observe;
mod pair;
pub mod profiles;
mod ranges;
mod receiver;
mod segment;
mod sender;
mod seq;
mod state;
mod time;

pub use accurate_ecn::EcnOption;
pub use config::Config;
pub use counters::Counters;
pub use destination::Destination;
pub use endpoint::{Endpoint, Error, State, UnknownAlgorithm};
pub use entry::Entry;
pub use info::Info;
pub use observe::Observer;
pub use pair::{ArrivalHook, Departure, Fate, Pair, Side};
pub use segment::{Ecn, Flags, SackBlocks, Segment, Timestamps};
pub use sender::{Held, Standing};
pub use seq::Seq;
pub use state::CaState;
pub use time::Nanos;
