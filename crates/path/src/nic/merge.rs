//! LRO and GRO: consecutive packets of a flow are passed to the stack as one.

use crate::packet::Packet;

/// Settings of merging.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MergeConfig {
    /// Maximum length of a merged packet, bytes.
    pub max_bytes: u32,
    /// Maximum number of frames in a merged packet.
    pub max_frames: u32,
    /// Maximum number of flows merged at the same time; a further flow sends the oldest one to the stack.
    pub max_flows: usize,
    /// A packet that does not continue what is held of its flow begins the next merged packet (GRO). Without, it passes
    /// alone, and the one behind it begins (`inet_lro` of Linux, which drivers used before GRO).
    pub restarts: bool,
}

impl Default for MergeConfig {
    /// 64 kB or 17 frames, whichever comes first (a page each and the head, `MAX_SKB_FRAGS` in
    /// Linux), of up to 8 flows (`MAX_GRO_SKBS`).
    fn default() -> Self {
        MergeConfig {
            max_bytes: 65_535,
            max_frames: 17,
            max_flows: 8,
            restarts: true,
        }
    }
}

/// Merges packets until the end of the cycle. A packet that does not continue its flow sends the held packets of that
/// flow to the stack, so merging never reorders.
pub(crate) struct Merger<P> {
    config: MergeConfig,
    /// One packet per flow, the oldest first.
    held: Vec<P>,
}

impl<P: Packet> Merger<P> {
    pub(crate) fn new(config: MergeConfig) -> Self {
        Merger {
            config,
            held: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, packet: P, up: &mut impl FnMut(P)) {
        let flow = packet.flow();
        let known = self.held.iter().position(|held| held.flow() == flow);
        if let Some(at) = known {
            if self.absorb(at, &packet) {
                self.release_if_full(at, up);
                return;
            }
            up(self.held.remove(at));
            if !self.config.restarts {
                return up(packet);
            }
        }
        if !packet.meta().is_suitable() || self.config.max_flows == 0 {
            return up(packet);
        }
        if self.held.len() >= self.config.max_flows {
            up(self.held.remove(0));
        }
        self.held.push(packet);
    }

    pub(crate) fn flush(&mut self, up: &mut impl FnMut(P)) {
        self.held.drain(..).for_each(up);
    }

    fn absorb(&mut self, at: usize, packet: &P) -> bool {
        let Some(held) = self.held.get_mut(at) else {
            return false;
        };
        let frames = held.frames().saturating_add(packet.frames());
        let bytes = held.wire_bytes().saturating_add(packet.wire_bytes());
        packet.meta().is_suitable()
            && frames <= self.config.max_frames
            && bytes <= self.config.max_bytes
            && held.absorb(packet)
    }

    fn release_if_full(&mut self, at: usize, up: &mut impl FnMut(P)) {
        let full = |held: &P| held.frames() >= self.config.max_frames;
        if self.held.get(at).is_some_and(full) {
            up(self.held.remove(at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probe;

    /// Flow, first number and number of frames of the packets passed to the stack; the flush at the end is not
    /// marked.
    fn merge(config: MergeConfig, packets: &[(u32, u64)]) -> Vec<(u32, u64, u32)> {
        let mut merger = Merger::new(config);
        let mut gone = Vec::new();
        let mut up = |p: Probe| gone.push((p.flow, p.number, p.frames));
        for &(flow, number) in packets {
            merger.push(Probe::of_flow(flow, number, 1500), &mut up);
        }
        merger.flush(&mut up);
        gone
    }

    #[test]
    fn packets_in_order_are_merged() {
        let gone = merge(
            MergeConfig::default(),
            &[(1, 1), (2, 9), (1, 2), (1, 3), (2, 10)],
        );
        assert_eq!(gone, [(1, 1, 3), (2, 9, 2)]);
    }

    #[test]
    fn a_packet_out_of_order_ends_merging() {
        let gone = merge(
            MergeConfig::default(),
            &[(1, 1), (1, 3), (1, 2), (1, 4), (1, 5)],
        );
        assert_eq!(gone, [(1, 1, 1), (1, 3, 1), (1, 2, 1), (1, 4, 2)]);
    }

    #[test]
    fn a_packet_out_of_order_passes_alone_if_it_does_not_begin_the_next() {
        let alone = MergeConfig {
            restarts: false,
            ..MergeConfig::default()
        };
        let gone = merge(alone, &[(1, 1), (1, 2), (1, 4), (1, 5), (1, 6), (1, 3)]);
        assert_eq!(gone, [(1, 1, 2), (1, 4, 1), (1, 5, 2), (1, 3, 1)]);
    }

    #[test]
    fn seventeen_frames_or_64_kilobytes() {
        let packets: Vec<_> = (0..40).map(|n| (1, n)).collect();
        let gone = merge(MergeConfig::default(), &packets);
        assert_eq!(gone, [(1, 0, 17), (1, 17, 17), (1, 34, 6)]);
        let small = MergeConfig {
            max_bytes: 5000,
            ..MergeConfig::default()
        };
        let gone = merge(small, &packets[..7]);
        assert_eq!(gone, [(1, 0, 3), (1, 3, 3), (1, 6, 1)]);
    }

    #[test]
    fn a_further_flow_sends_the_oldest_to_the_stack() {
        let config = MergeConfig {
            max_flows: 2,
            ..MergeConfig::default()
        };
        let gone = merge(config, &[(1, 1), (2, 1), (3, 1), (1, 2), (3, 2)]);
        assert_eq!(gone, [(1, 1, 1), (2, 1, 1), (3, 1, 2), (1, 2, 1)]);
    }
}
