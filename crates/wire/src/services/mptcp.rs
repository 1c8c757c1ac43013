//! Multipath TCP: the data of a connection, whichever subflow carries it (RFC 8684).
//!
//! The packets are TCP segments, whose option is an aside ([`crate::Subflow`]): several segments are needed to find the
//! connection, so the numbers are made where the connections are known.

use super::Declared;

pub(super) static SERVICE: Declared = Declared {
    name: "mptcp",
    bits: 64,
    ..Declared::USUAL
};
