//! Coloured timed Petri nets: simulation, exact solutions, invariants, PNML.
//!
//! Two kinds of nets:
//!
//! - **Coloured timed nets**, written in Rust: tokens are records; guards, delays and outputs are closures
//!   ([`coloured`]). The engine executes millions of firings per second without allocations.
//! - **Place/transition and generalised stochastic nets** as plain data ([`net`]), from a [`text`] file, from
//!   [`pnml`] or [`tina`], or built in Rust. They can be simulated ([`race`]), played step by step ([`game`]), solved exactly ([`markov`]), analysed
//!   ([`invariants`], [`reachability`], formulas and rewards in [`query`]) and drawn ([`draw`]).
//!
//! [`statistics`] estimates throughputs, utilisations, numbers of tokens and sojourn times of both kinds, with
//! confidence intervals. Every run is a function of the net and a seed, on every machine and for any number of
//! threads.
//!
//! ```
//! use inorder_petri::markov::Chain;
//! use inorder_petri::net::PlaceId;
//! use inorder_petri::race::{Memory, Race};
//! use inorder_petri::statistics::{Steady, steady_state};
//!
//! // M/M/1 with room for ten.
//! let net = inorder_petri::text::read("queue.net", "
//!     place queue 0 capacity 10
//!     transition arrive exponential rate 0.9
//!       out queue
//!     transition serve exponential rate 1
//!       in queue")?;
//!
//! let chain = Chain::new(&net, 1000)?;
//! let exact = chain.steady_state()?.mean_tokens(PlaceId(0));
//!
//! let mut race = Race::new(&net, Memory::Enabling, 1)?;
//! let ticks_per_unit = race.ticks_per_unit();
//! let ticks = |units: f64| (units * ticks_per_unit) as u64;
//! let plan = Steady {
//!     ticks_per_unit,
//!     warm_up: Some(ticks(1e3)),
//!     batch: ticks(1e3),
//!     end: ticks(1e7),
//!     most_firings: u64::MAX,
//!     precision: 0.02,
//!     confidence: 0.99,
//! };
//! let result = steady_state(&mut race, &plan, |_, _| true)?;
//! assert!(result.is_precise);
//! assert!(result.measures.places[0].tokens.covers(exact));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod arithmetic;
pub mod coloured;
pub mod draw;
pub mod game;
pub mod inspect;
pub mod invariants;
pub mod lower;
pub mod markov;
pub mod net;
pub mod parameters;
pub mod pnml;
pub mod query;
pub mod race;
pub mod reachability;
mod schedule;
pub mod statistics;
pub mod text;
pub mod tina;
