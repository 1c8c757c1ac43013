//! Link-layer types, numbered as in the pcap registry.

/// A pcap LINKTYPE number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct LinkType(pub u16);
