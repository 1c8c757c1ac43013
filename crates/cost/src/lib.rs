//! Throughput, and what unnecessary reductions of the window cost.
//!
//! Whoever follows a flow records bytes over time ([`Series`]), the rate of the bottleneck ([`Dispersion`]), the window before and
//! after reductions ([`Episodes`]) and in each round trip ([`Flights`]), and the time for which the receiver's window was closed
//! ([`Closures`]). At the flow's end [`Flow::cost`] recognises the congestion control ([`Recognised`]) and lets the rest of the flow go
//! by once more ([`Rest`]) with the window that the control would have had without the reductions that nothing lost had caused
//! ([`OnceMore`]).

#![forbid(unsafe_code)]

#[macro_use]
extern crate inorder_base;

mod closure;
pub mod columns;
mod control;
mod episodes;
mod estimate;
mod evolution;
mod flights;
mod growth;
mod once_more;
mod probing;
mod replay;
mod result;
mod series;
mod trains;

pub use closure::Closures;
pub use control::{Recognised, by_factors, restored};
pub use episodes::{Episode, Episodes};
pub use estimate::{Flow, Reduction};
pub use flights::{Flights, Round};
pub use once_more::OnceMore;
pub use replay::Rest;
pub use result::{Control, Cost, GoodputBin, Limit, Lost, RecoveryVerdict};
pub use series::{Bin, Series};
pub use trains::{Dispersion, LineRate};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
