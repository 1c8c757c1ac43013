//! Puts packets that arrive out of order back in order before the stack sees them.
//!
//! A [`Sorter`] takes packets as they arrive and delivers them in a better order. There are several, each with its
//! own rule; [`SORTERS`] lists them, and a [`SorterConfig`] names one of them with its settings. The crate has no
//! I/O, no clock and no `std`.
//!
//! ```
//! use inorder_sort::{FourTuple, Meta, Sorter, SorterConfig, Surroundings};
//!
//! let flow = FourTuple::v4([192, 0, 2, 1], 80, [198, 51, 100, 7], 40000);
//! let mut sorter = SorterConfig::named("srpic")?.build(&Surroundings::default())?;
//! let mut up = Vec::new(); // the stack; packets are any type, here one letter
//!
//! for (seq, packet) in [(2, 'b'), (3, 'c'), (1, 'a'), (4, 'd')] {
//!     sorter.push(&Meta::data(flow, seq, 1), packet, 0, &mut |p| up.push(p));
//! }
//! assert!(up.is_empty()); // held until the ring is empty ...
//! sorter.end_of_batch(0, &mut |p| up.push(p));
//! assert_eq!(up, ['a', 'b', 'c', 'd']); // ... and not a moment longer
//! # Ok::<(), inorder_sort::ConfigError>(())
//! ```
//!
//! Guarantees of every sorter for any input: every packet comes out once; the packets of a flow come out no more
//! reordered than they were pushed; equal sequence numbers keep their order of arrival; no packet is held past its
//! deadline; no memory is allocated after the sorter is made.
//!
//! - Each sorter is a module of its own, for example [`srpic`].
//! - [`classify`] decides which packets may be held.
//! - [`Batcher`] forms batches from arrival times where there is no card (captures, simulations), and [`BatchCard`] is a card
//!   with a sorter for them.
#![forbid(unsafe_code)]
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod classify;

mod batch;
mod card;
#[cfg(any(test, feature = "fuzz"))]
mod checks;
#[cfg(any(test, feature = "fuzz"))]
#[doc(hidden)]
pub mod fuzz;
mod key;
mod meta;
mod out;
mod place;
mod siphash;
mod sorter;
mod sorters;
mod table;

pub use batch::{Batch, Batcher, Boundary};
pub use card::BatchCard;
pub use key::{FlowKey, FourTuple, Hashed};
pub use meta::{Kind, Meta};
pub use out::Out;
pub use place::Order;
pub use siphash::hash_words;
pub use sorter::{Counters, Sorter};
pub use sorters::*;
