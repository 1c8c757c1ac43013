//! Connections that could not be followed to their end.

/// Connections that were ended early because the memory was used up ([`Config::memory`](crate::Config::memory)): of each part
/// of the connections those without trouble first, then those of which nothing had come for the longest time.
///
/// Where something had happened in their flows, these are reported as far as they were followed; the others are only
/// summed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct EndedEarly {
    /// Connections.
    pub connections: u64,
    /// Their flows that are only summed.
    pub flows: u64,
    /// The data packets of these flows until then.
    pub packets: u64,
    /// Packets of any of the connections that came later, which were only counted.
    pub later_packets: u64,
}

sums!(EndedEarly: connections, flows, packets, later_packets);
