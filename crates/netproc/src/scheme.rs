//! Ordering schemes: how threads get a position in the transmit buffer, and what keeps packets in order. Each is a net, the
//! file of its name in `nets`, and a line in [`SCHEMES`].

use crate::error::NetprocError;

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
}

/// All schemes.
pub static SCHEMES: &[Scheme] = &[
    Scheme {
        name: "contiguous",
        about: "every thread has its own slots; the threads of an engine are adjacent",
        source: "section 3.2",
        keeps_order: false,
    },
    Scheme {
        name: "strided",
        about: "every thread has its own slots; the engines alternate",
        source: "section 4.2",
        keeps_order: false,
    },
    Scheme {
        name: "local",
        about: "an engine's threads compete for its slots under a lock",
        source: "section 4.2",
        keeps_order: false,
    },
    Scheme {
        name: "global",
        about: "all threads compete for all slots under one lock",
        source: "section 4.2",
        keeps_order: false,
    },
    Scheme {
        name: "its",
        about: "inter-thread signalling: threads receive and transmit in turn",
        source: "section 4.1",
        keeps_order: true,
    },
    Scheme {
        name: "aisr",
        about: "asynchronous insert, synchronous remove: numbered on arrival, released by number",
        source: "section 4.1",
        keeps_order: true,
    },
    Scheme {
        name: "aisr-wide",
        about: "AISR with two engines receiving",
        source: "section 4.1",
        keeps_order: true,
    },
    Scheme {
        name: "aisr-receive",
        about: "the receiving stage of AISR alone, without numbering: an upper bound",
        source: "section 4.1",
        keeps_order: true,
    },
    Scheme {
        name: "packet-sort",
        about: "a pipeline with an engine that sorts each flow",
        source: "section 4.4",
        keeps_order: true,
    },
];

/// The scheme called `name`.
pub(crate) fn find(name: &str) -> Result<&'static Scheme, NetprocError> {
    let found = SCHEMES.iter().find(|scheme| scheme.name == name);
    found.ok_or_else(|| {
        let names = SCHEMES.iter().map(|scheme| scheme.name);
        NetprocError::Scheme {
            name: name.to_owned(),
            nearest: inorder_base::names::nearest(name, names),
        }
    })
}
