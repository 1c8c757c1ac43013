//! Arrival order of numbered services other than TCP: RTP, ESP, WireGuard, ICMP echo, GRE.

use std::collections::HashMap;

use inorder_metrics::{Config, Metrics, Unwrapper};
use inorder_report::StreamReport;
use inorder_wire::{Numbered, RtpGate, StreamKey};

/// Streams followed at most: what an address scan with pings makes is not worth more memory.
const MOST: usize = 1 << 16;

/// Follows every stream; feed packets in capture order.
#[derive(Default)]
pub struct Streams {
    gate: RtpGate,
    streams: HashMap<StreamKey, Stream>,
    /// Packets of streams beyond [`MOST`].
    left_out: u64,
}

/// One packet has no order; only the second one makes a stream of it.
enum Stream {
    One(Numbered),
    Many(Box<State>),
}

struct State {
    first: Numbered,
    unwrapper: Option<Unwrapper>,
    metrics: Metrics,
}

impl State {
    fn new(key: &StreamKey, first: Numbered) -> Self {
        let mut state = State {
            first,
            unwrapper: Unwrapper::new(key.service.bits()),
            metrics: Metrics::new(Config::default()),
        };
        state.update(&first);
        state
    }

    fn update(&mut self, packet: &Numbered) {
        let seq = match &mut self.unwrapper {
            Some(unwrapper) => unwrapper.extend(packet.seq),
            None => packet.seq,
        };
        self.metrics.update(seq, packet.ts_ns, packet.payload_len);
    }
}

impl Streams {
    /// The next packet, in capture order.
    pub fn push(&mut self, key: StreamKey, packet: &Numbered) {
        let Streams {
            gate,
            streams,
            left_out,
        } = self;
        gate.push(key, *packet, |key, packet| {
            if streams.len() >= MOST && !streams.contains_key(&key) {
                *left_out += 1;
                return;
            }
            match streams.get_mut(&key) {
                Some(Stream::Many(state)) => state.update(&packet),
                Some(one) => {
                    if let Stream::One(first) = *one {
                        let mut state = State::new(&key, first);
                        state.update(&packet);
                        *one = Stream::Many(Box::new(state));
                    }
                }
                None => {
                    streams.insert(key, Stream::One(packet));
                }
            }
        });
    }

    /// What there is to say of each stream, in the order of their first packets; and how many
    /// packets belong to streams that were not followed.
    pub fn finish(self) -> (Vec<StreamReport>, u64) {
        let mut many: Vec<(StreamKey, State)> = self
            .streams
            .into_iter()
            .filter_map(|(key, stream)| match stream {
                Stream::One(_) => None,
                Stream::Many(state) => Some((key, *state)),
            })
            .collect();
        many.sort_by_key(|(key, state)| (state.first.frame, *key));
        let reports = many.into_iter().map(|(key, state)| report(&key, state));
        (reports.collect(), self.left_out)
    }
}

fn report(key: &StreamKey, state: State) -> StreamReport {
    let summary = state.metrics.finish();
    let late_ns = summary.extents.late_ns().max().unwrap_or(0);
    StreamReport {
        service: key.service.name().to_owned(),
        src: key.src.socket_addr(),
        dst: key.dst.socket_addr(),
        id: key.id,
        received: summary.counts.received,
        reordered: summary.counts.reordered,
        ratio: summary.counts.reordered_ratio(),
        max_extent: summary.extents.extent().max().unwrap_or(0),
        mean_extent: summary.extents.extent().mean().unwrap_or(0.0),
        max_late_ns: i64::try_from(late_ns).unwrap_or(i64::MAX),
        duplicates: summary.counts.duplicates,
        missing: summary.counts.missing,
        mean_displacement: summary.displacements.mean_displacement(),
        entropy: summary.displacements.entropy(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inorder_wire::{Endpoint, Service};

    fn key(service: Service, id: u32) -> StreamKey {
        StreamKey {
            service,
            src: Endpoint::v4(0x0a00_0001, 0),
            dst: Endpoint::v4(0x0a00_0002, 0),
            id,
            overlay: 0,
        }
    }

    /// Packets with these numbers, a millisecond apart.
    fn feed(streams: &mut Streams, key: StreamKey, seqs: &[u64]) {
        for (i, &seq) in seqs.iter().enumerate() {
            let packet = Numbered {
                ts_ns: i as i64 * 1_000_000,
                frame: i as u64 + 1,
                seq,
                payload_len: 64,
            };
            streams.push(key, &packet);
        }
    }

    #[test]
    fn numbers_that_wrap_are_in_order_and_a_late_one_is_late() {
        let mut streams = Streams::default();
        feed(
            &mut streams,
            key(Service::IcmpEcho, 1),
            &[65_534, 65_535, 0, 1],
        );
        feed(
            &mut streams,
            key(Service::Esp, 2),
            &[1, 2, 4, 5, 6, 3, 7, 7, 9],
        );
        let (reports, left_out) = streams.finish();
        assert_eq!((reports.len(), left_out), (2, 0));
        let [esp, echo] = reports.as_slice() else {
            panic!("{reports:?}");
        };
        assert_eq!((echo.received, echo.reordered), (4, 0));
        assert_eq!(esp.service, "esp");
        assert_eq!(
            (esp.reordered, esp.max_extent, esp.max_late_ns),
            (1, 3, 3_000_000)
        );
        assert_eq!((esp.duplicates, esp.missing), (1, 1));
    }

    #[test]
    fn single_packets_are_no_streams_and_memory_is_bounded() {
        let mut streams = Streams::default();
        for id in 0..MOST as u32 + 10 {
            feed(&mut streams, key(Service::IcmpEcho, id), &[1]);
        }
        assert_eq!(streams.streams.len(), MOST);
        let (reports, left_out) = streams.finish();
        assert_eq!((reports.len(), left_out), (0, 10));
    }
}
