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
    /// Text of the net.
    pub(crate) net: &'static str,
}

/// The scheme with the file of its name, which says where the paper has it, whether it keeps the order, and what it is.
macro_rules! scheme {
    ($name:literal, $source:literal, $keeps_order:literal, $about:literal) => {
        Scheme {
            name: $name,
            about: $about,
            source: $source,
            keeps_order: $keeps_order,
            net: include_str!(concat!("../nets/", $name, ".net")),
        }
    };
}

/// All schemes.
pub static SCHEMES: &[Scheme] = &[
    scheme!(
        "contiguous",
        "section 3.2",
        false,
        "every thread has its own slots; the threads of an engine are adjacent"
    ),
    scheme!(
        "strided",
        "section 4.2",
        false,
        "every thread has its own slots; the engines alternate"
    ),
    scheme!(
        "local",
        "section 4.2",
        false,
        "an engine's threads compete for its slots under a lock"
    ),
    scheme!(
        "global",
        "section 4.2",
        false,
        "all threads compete for all slots under one lock"
    ),
    scheme!(
        "its",
        "section 4.1",
        true,
        "inter-thread signalling: threads receive and transmit in turn"
    ),
    scheme!(
        "aisr",
        "section 4.1",
        true,
        "asynchronous insert, synchronous remove: numbered on arrival, released by number"
    ),
    scheme!(
        "aisr-wide",
        "section 4.1",
        true,
        "AISR with two engines receiving"
    ),
    scheme!(
        "aisr-receive",
        "section 4.1",
        true,
        "the receiving stage of AISR alone, without numbering: an upper bound"
    ),
    scheme!(
        "packet-sort",
        "section 4.4",
        true,
        "a pipeline with an engine that sorts each flow"
    ),
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
