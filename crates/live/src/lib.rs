//! Probes, an emulator, sorters and the analyser on live interfaces of Linux.
//!
//! All rules are pure functions of bytes and times. Only [`os`] uses sockets and the clock; it needs Linux, and on
//! other systems its functions return an error that says so.
//!
//! | module | contents |
//! |---|---|
//! | [`stamp`], [`icmp`] | packets of probes: STAMP (RFC 8762) and ICMP echo |
//! | [`reflector`] | the other end of STAMP, which counts the packets of each session |
//! | [`probe`] | what to send when, and the order of both directions |
//! | [`frame`] | frames with virtio's header: split into segments, merged into super-packets |
//! | [`emulator`] | the path of a scenario between two interfaces |
//! | [`sorting`] | a sorter with its batches and deadlines |
//! | [`lane`] | what stands between two interfaces in one direction |
//! | [`xdp_program`] | which received frames an interface hands to us |
//! | [`watched`] | what a watched interface showed so far |
//! | [`os`] | sockets, the clock |

// Files that need it say so at their head.
#![deny(unsafe_code)]

pub mod checksum;
pub mod emulator;
pub mod frame;
mod fuzz;
pub mod icmp;
pub mod lane;
pub mod os;
pub mod probe;
pub mod reflector;
pub mod sorting;
pub mod stamp;
pub mod watched;
pub mod xdp_program;

#[doc(hidden)]
pub use fuzz::{fuzz_one, fuzz_stamp, fuzz_virtio};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
