//! Sorting Reordered Packets with Interrupt Coalescing (SRPIC).
//!
//! A network card hands packets over in batches: it waits a little after the first one before it
//! interrupts. Within such a batch the packets of a flow can be put in order before the stack
//! sees them, with no timer, no state between batches and nothing to tune: Wu, Demar and
//! Crawford, "Sorting Reordered Packets with Interrupt Coalescing", Computer Networks 53 (2009).
//! This crate is that sorter, with no I/O, no clock and no `std`.
//!
//! ```
//! use inorder_sort::srpic::{Config, Srpic};
//! use inorder_sort::{FourTuple, Meta};
//!
//! let flow = FourTuple::v4([192, 0, 2, 1], 80, [198, 51, 100, 7], 40000);
//! let mut sorter = Srpic::new(&Config::default())?;
//! let mut up = Vec::new(); // the stack; packets are any type, here one letter
//!
//! for (seq, packet) in [(2, 'b'), (3, 'c'), (1, 'a'), (4, 'd')] {
//!     sorter.push(&Meta::data(flow, seq, 1), packet, &mut |p| up.push(p));
//! }
//! assert!(up.is_empty()); // held until the ring is empty ...
//! sorter.end_of_batch(&mut |p| up.push(p));
//! assert_eq!(up, ['a', 'b', 'c', 'd']); // ... and not a moment longer
//! # Ok::<(), inorder_sort::srpic::ConfigError>(())
//! ```
//!
//! What holds always, whatever arrives: every packet comes out once; the packets of a flow come
//! out no more reordered than they came in; equal sequence numbers keep their order of arrival;
//! at most `ring_size` packets are held, and none past [`Srpic::end_of_batch`]; no memory is
//! taken after [`Srpic::new`].
//!
//! - [`Srpic`] is the sorter, [`Sorter`] what it has in common with other rules to come.
//! - [`classify`] tells which packets may be held at all.
//! - [`Batcher`] forms batches from arrival times where no card does it (captures, simulations).
//! - [`srpic::model`] holds the paper's equations 1 to 5: how large blocks become, how long they wait.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod classify;
pub mod srpic;

mod batch;
mod key;
mod meta;
mod sorter;
mod table;

pub use batch::{Batch, Batcher, Boundary};
pub use key::{FlowKey, FourTuple, Hashed};
pub use meta::Meta;
pub use sorter::Sorter;
pub use srpic::Srpic;
