//! Order, loss and delay between two captures of any traffic.
//!
//! A packet is the same in both captures if its bytes are, except for those that a path changes ([`fingerprint`] lists
//! them). In each direction the packets are numbered in the order in which the first capture on their way has them, and
//! their order in the other capture is measured by the metrics of RFC 4737 and RFC 5236.
//!
//! Memory grows with the number of packets: about 361 bytes for each of either capture ([`Trace::room`]).

mod columns;
mod direction;
mod fingerprint;
mod flow;
mod headline;
pub mod html;
mod measure;
mod one_way;
mod pairs;
mod pieces;
mod result;
mod trace;
mod tunnels;
mod twice;

pub use columns::{DOCUMENT, FLOW, PACKET, RESULT};
pub use fingerprint::{Fingerprint, Keep, Layer, Range, fingerprint};
pub use flow::Flow;
pub use measure::{Settings, compare, in_common};
pub use result::{Basis, Difference, Fate, Matched, PacketRow};
pub use trace::{Cuts, Trace};
