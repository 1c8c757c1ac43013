//! What the readers of all headers share: the rest of the frame, what is known of the headers around, and how to go on.

mod context;
mod network;
mod rest;

pub(crate) use context::{Context, Ends, GTP_U, Header, Inner, Parsed, kind, kind_udp};
pub(crate) use network::Network;
pub(crate) use rest::{Rest, be16, be32, field16};
