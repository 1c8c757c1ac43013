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

/// Declares the schemes: of each its name, which is that of its file, the section of the paper, whether it `keeps` or `breaks` the order
/// of a flow, and what it is.
macro_rules! schemes {
    (@keeps) => { true };
    (@breaks) => { false };
    ($($name:literal, $source:literal, $order:ident: $about:literal;)+) => {
        /// All schemes.
        pub static SCHEMES: &[Scheme] = &[$(Scheme {
            name: $name,
            about: $about,
            source: $source,
            keeps_order: schemes!(@$order),
            net: include_str!(concat!("../nets/", $name, ".net")),
        }),+];
    };
}

schemes! {
    "contiguous", "section 3.2", breaks: "every thread has its own slots; the threads of an engine are adjacent";
    "strided", "section 4.2", breaks: "every thread has its own slots; the engines alternate";
    "local", "section 4.2", breaks: "an engine's threads compete for its slots under a lock";
    "global", "section 4.2", breaks: "all threads compete for all slots under one lock";
    "its", "section 4.1", keeps: "inter-thread signalling: threads receive and transmit in turn";
    "aisr", "section 4.1", keeps: "asynchronous insert, synchronous remove: numbered on arrival, released by number";
    "aisr-wide", "section 4.1", keeps: "AISR with two engines receiving";
    "aisr-receive", "section 4.1", keeps: "the receiving stage of AISR alone, without numbering: an upper bound";
    "packet-sort", "section 4.4", keeps: "a pipeline with an engine that sorts each flow";
}

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
