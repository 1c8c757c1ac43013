//! Selects connections and streams by an expression over addresses, ports and services.
//!
//! An expression is asked of a *flow*: the packets from one end to the other. Unless it says otherwise, a term holds
//! for both directions of a connection.
//!
//! | term | flows it selects |
//! |---|---|
//! | `10.0.0.1`, `10.0.0.0/8`, `2001:db8::/32` | to or from this address or prefix |
//! | `port 80`, `port 8000-8999`, `:80` | to or from this port |
//! | `10.0.0.1:80`, `[2001:db8::1]:80` | to or from this address and port |
//! | `src 10.0.0.1`, `dst port 80` | only from there, only to there |
//! | `A:p -> B:q` | from `A:p` to `B:q`; either may lack its address or its port, `*` is anything |
//! | `A:p <-> B:q` | between `A:p` and `B:q`, in both directions |
//! | `tcp`, `udp`, `rtp`, `esp`, ... | of this protocol or numbered service |
//! | `ipv4`, `ipv6` | between addresses of this kind |
//! | `overlay 7` | inside this overlay network (VXLAN or GENEVE VNI, GRE key, MPLS label, GTP-U TEID, ...); 0 in no tunnel |
//! | `vlan 10` | TCP outside of tunnels that bears this VLAN tag, as the inner or the outer one |
//!
//! Terms are combined with `not`, `and`, `or` and parentheses; `not` binds most, `or` least. `host` and `net` may
//! precede an address or prefix, as in tcpdump.
//!
//! ```
//! use inorder_filter::Filter;
//!
//! let filter: Filter = "tcp and (10.0.0.0/8 or [2001:db8::1]) and not port 22".parse()?;
//! assert!(filter.flow("10.1.2.3:40000".parse().unwrap(), "192.0.2.1:443".parse().unwrap(), 0));
//! assert!(!filter.flow("10.1.2.3:40000".parse().unwrap(), "192.0.2.1:22".parse().unwrap(), 0));
//! # Ok::<(), inorder_filter::FilterError>(())
//! ```

#![forbid(unsafe_code)]

mod check;
mod expr;
mod parse;
mod prefix;
mod token;

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use inorder_wire::{Dir, Endpoint, FlowKey, StreamKey};

#[doc(hidden)]
pub use check::fuzz_one;
use expr::{Expr, Facts};

/// An expression that selects flows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Filter {
    text: String,
    expr: Expr,
}

impl Filter {
    /// True if the filter selects at least one direction of a TCP connection. The analysis of one direction needs the
    /// packets of both, so this decides which packets are analysed; [`flow`](Filter::flow) decides what is reported.
    #[inline]
    pub fn connection(&self, key: &FlowKey) -> bool {
        self.direction(key, Dir::LowToHigh) || self.direction(key, Dir::HighToLow)
    }

    /// True if the filter selects this direction of a TCP connection.
    #[inline]
    pub fn direction(&self, key: &FlowKey, dir: Dir) -> bool {
        let (src, dst) = key.ends(dir);
        self.expr.holds(&Facts::tcp(src, dst, key.overlay))
    }

    /// True if the filter selects this stream of a numbered service, which has one direction.
    #[inline]
    pub fn stream(&self, key: &StreamKey) -> bool {
        self.expr.holds(&Facts {
            service: Some(key.service),
            protocol: None,
            src: key.src,
            dst: key.dst,
            overlay: key.overlay,
        })
    }

    /// True if the filter selects packets of this protocol of IP from `src` to `dst`, whatever they carry: `tcp` and `udp`
    /// go by the protocol, and names of services select none.
    pub fn packets(&self, src: Endpoint, dst: Endpoint, protocol: u8) -> bool {
        let facts = Facts::tcp(src, dst, 0);
        self.expr.holds(&Facts {
            protocol: Some(protocol),
            ..facts
        })
    }

    /// True if the filter selects the data that TCP carries from `src` to `dst`.
    pub fn flow(&self, src: SocketAddr, dst: SocketAddr, overlay: u32) -> bool {
        self.expr
            .holds(&Facts::tcp(src.into(), dst.into(), overlay))
    }
}

impl FromStr for Filter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        Ok(Filter {
            expr: parse::parse(text)?,
            text: text.trim().to_owned(),
        })
    }
}

impl fmt::Display for Filter {
    /// The expression as it was written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Why a text is no filter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FilterError {
    /// Where, counted in characters from 1.
    pub position: usize,
    /// What was found and what was expected, as one line.
    pub problem: String,
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "character {}: {}", self.position, self.problem)
    }
}

impl std::error::Error for FilterError {}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
