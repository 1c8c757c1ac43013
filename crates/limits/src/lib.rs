//! What limited a transfer, instant by instant.
//!
//! Each instant of a direction's life has one limit, or several where the capture cannot tell them apart, so the shares
//! sum to the life. Known work: T-RAT (Zhang, Breslau, Paxson, Shenker, SIGCOMM 2002), Siekkinen and others (2005, 2008),
//! and the chronographs of Linux's TCP (`tcpi_busy_time`, `tcpi_rwnd_limited`, `tcpi_sndbuf_limited`).
//!
//! A [`Recorder`] goes along with one direction of a connection and is told what passes: data that is new or comes again, and
//! acknowledgements ([`Answer`]). Whether something was lost is decided elsewhere. At the end these verdicts come with what else is known
//! of the direction ([`Life`]): its recoveries, each with a verdict and a cause, and the originals that were lost. From both follow
//! [`Limits`], and the [`Cost`] of unnecessary recoveries, which is no greater than the time that these may have held the transfer.
//!
//! ```
//! use inorder_base::vantage::Vantage;
//! use inorder_limits::{Answer, Life, Limit, Recorder};
//!
//! const MS: i64 = 1_000_000;
//! let mut recorder = Recorder::new(Vantage::Sender, None, 1_000);
//! // Six segments of 1,000 bytes each 40 ms, for which the receiver's window has just room.
//! let mut sent = 0;
//! for round in 0..20 {
//!     for _ in 0..6 {
//!         sent += 1_000;
//!         recorder.sent(40 * MS * round, sent, 1_000, (0, false));
//!     }
//!     recorder.acknowledged(&Answer {
//!         now: 40 * MS * (round + 1),
//!         una: sent,
//!         delivered: sent,
//!         edge: sent + 6_000,
//!         rtt_ns: Some(40 * MS),
//!         ..Answer::default()
//!     });
//! }
//! let (cost, limits) = recorder.finish(&Life {
//!     last_ns: 800 * MS,
//!     over_ns: 800 * MS,
//!     mss: 1_000,
//!     rtt_ns: Some(40 * MS),
//!     answered: true,
//!     ..Life::default()
//! });
//! assert!(limits.share_of(Limit::ReceiverWindow.into()) > 0.9);
//! assert_eq!(cost.goodput_bps, Some(1_200_000));
//! ```

#![forbid(unsafe_code)]

#[macro_use]
extern crate inorder_base;

mod bound;
pub mod columns;
mod growth;
mod held;
mod judge;
mod lag;
mod life;
mod one_rate;
mod overlays;
mod pieces;
mod policer;
mod recorder;
mod reduced;
mod result;
mod rounds;
mod rows;
mod set;
mod standing;
mod state;
mod steady;
mod unneeded;
mod window;

pub use inorder_base::limit::Limit;
pub use inorder_cost::{Cost, Reduction};
pub use life::{Life, Loss};
pub use recorder::{Answer, Recorder};
pub use result::{HeldShort, Limits, MAX_STRETCHES, Share, Stretch, Window};
pub use set::LimitSet;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
