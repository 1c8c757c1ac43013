//! The information of the network layer that the layers above need.

use super::Ends;
use crate::flow::Endpoint;

/// The fields of the network layer.
#[derive(Clone, Copy)]
pub(crate) struct Network {
    pub(crate) ends: Ends,
    pub(crate) ip_id: u16,
    pub(crate) ttl: u8,
    pub(crate) ecn: u8,
    /// Bits of [`Has`](crate::segment::Has).
    pub(crate) has: u8,
    /// More fragments of the datagram follow.
    pub(crate) first_fragment: bool,
}

impl Network {
    /// The two ends with their ports.
    pub(crate) fn with_ports(&self, src: u16, dst: u16) -> Ends {
        let Ends { src: from, dst: to } = self.ends;
        Ends {
            src: Endpoint { port: src, ..from },
            dst: Endpoint { port: dst, ..to },
        }
    }
}
