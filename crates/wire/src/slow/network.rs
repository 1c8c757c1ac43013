//! The information of the network layer that the layers above need.

use super::Ends;
use crate::flow::Endpoint;

/// The fields of the network layer.
#[derive(Clone, Copy)]
pub(super) struct Network {
    pub(super) ends: Ends,
    pub(super) ip_id: u16,
    pub(super) ttl: u8,
    pub(super) ecn: u8,
    /// Bits of [`Has`](crate::segment::Has).
    pub(super) has: u8,
    /// More fragments of the datagram follow.
    pub(super) first_fragment: bool,
}

impl Network {
    /// The two ends with their ports.
    pub(super) fn with_ports(&self, src: u16, dst: u16) -> Ends {
        let Ends { src: from, dst: to } = self.ends;
        Ends {
            src: Endpoint { port: src, ..from },
            dst: Endpoint { port: dst, ..to },
        }
    }
}
