//! Ordering schemes: how threads get a position in the transmit buffer, and what keeps packets in order.
//!
//! Each scheme is one file and one line in [`SCHEMES`].

mod aisr;
mod apriori;
mod global;
mod its;
mod local;
mod packet_sort;

use inorder_petri::coloured::{Queue, TransitionBuilder};

use crate::hop::Hop;
use crate::job::Job;

/// A scheme that can be selected by name.
pub struct Scheme {
    /// Name, lower case.
    pub name: &'static str,
    /// One line for help texts.
    pub about: &'static str,
    /// Section of the paper.
    pub source: &'static str,
    /// Whether packets of a flow leave in the order of arrival.
    pub keeps_order: bool,
    /// Completes a processor whose packets leave to the queue.
    pub(crate) build: fn(&mut Hop<'_>, Queue),
}

/// All schemes.
pub static SCHEMES: &[Scheme] = &[
    Scheme {
        name: "contiguous",
        about: "every thread has its own slots; the threads of an engine are adjacent",
        source: "section 3.2",
        keeps_order: false,
        build: apriori::contiguous,
    },
    Scheme {
        name: "strided",
        about: "every thread has its own slots; the engines alternate",
        source: "section 4.2",
        keeps_order: false,
        build: apriori::strided,
    },
    Scheme {
        name: "local",
        about: "an engine's threads compete for its slots under a lock",
        source: "section 4.2",
        keeps_order: false,
        build: local::build,
    },
    Scheme {
        name: "global",
        about: "all threads compete for all slots under one lock",
        source: "section 4.2",
        keeps_order: false,
        build: global::build,
    },
    Scheme {
        name: "its",
        about: "inter-thread signalling: threads receive and transmit in turn",
        source: "section 4.1",
        keeps_order: true,
        build: its::build,
    },
    Scheme {
        name: "aisr",
        about: "asynchronous insert, synchronous remove: numbered on arrival, released by number",
        source: "section 4.1",
        keeps_order: true,
        build: aisr::build,
    },
    Scheme {
        name: "aisr-wide",
        about: "AISR with two engines receiving",
        source: "section 4.1",
        keeps_order: true,
        build: aisr::wide,
    },
    Scheme {
        name: "aisr-receive",
        about: "the receiving stage of AISR alone, without numbering: an upper bound",
        source: "section 4.1",
        keeps_order: true,
        build: aisr::receive_only,
    },
    Scheme {
        name: "packet-sort",
        about: "a pipeline with an engine that sorts each flow",
        source: "section 4.4",
        keeps_order: true,
        build: packet_sort::build,
    },
];

/// The scheme called `name`.
pub fn find(name: &str) -> Option<&'static Scheme> {
    SCHEMES.iter().find(|scheme| scheme.name == name)
}

/// Releases the mpackets of the receive buffer when a packet is in the transmit buffer.
fn frees<'b>(
    finish: TransitionBuilder<'b, Job>,
    hop_free: inorder_petri::coloured::Counter,
) -> TransitionBuilder<'b, Job> {
    finish.give_with(hop_free, |b| b[0].units())
}
