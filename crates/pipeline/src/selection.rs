//! Which packets of a capture are analysed.

use std::sync::Arc;

use inorder_capture::Block;
use inorder_filter::Filter;
use inorder_wire::{Aside, Dir, FlowKey, Frame, Other, Packet, Service, StreamKey, parse_into};

/// Protocol number of TCP.
const TCP: u8 = 6;

/// A point in time, given by itself or from the first packet of the capture on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moment {
    /// Nanoseconds since the Unix epoch.
    At(i64),
    /// Nanoseconds after the first packet of the capture.
    After(i64),
}

impl Moment {
    fn since_epoch_ns(self, first_ns: i64) -> i64 {
        match self {
            Moment::At(ns) => ns,
            Moment::After(ns) => first_ns.saturating_add(ns),
        }
    }
}

/// Selects the packets that are analysed; the default selects all of them.
///
/// All other packets are treated as if they had not been captured: they cost neither memory nor tracking, and a
/// connection that was open before `from` is analysed like one whose start the capture lacks.
///
/// ```
/// use inorder_pipeline::{Analyzer, Moment, Selection};
///
/// let selection = Selection {
///     filter: Some("port 5001".parse().unwrap()),
///     from: Some(Moment::After(50_000_000)),
///     until: None,
/// };
/// let path = "../../testdata/captures/gro-jitter-a.rcv.pcap.gz";
/// let analysis = Analyzer::new().select(selection).run(path)?;
/// assert!(analysis.left_out > 0);
/// # Ok::<(), inorder_pipeline::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Selection {
    /// The connections and streams; all if `None`. Both directions of a connection, and echo requests with their replies, are
    /// analysed if one of them is selected, and only selected ones are reported.
    pub filter: Option<Filter>,
    /// The first instant that counts.
    pub from: Option<Moment>,
    /// The first instant that no longer counts.
    pub until: Option<Moment>,
}

impl Selection {
    /// True if the connection is selected.
    pub(crate) fn connection(&self, key: &FlowKey) -> bool {
        let filter = self.filter.as_ref();
        filter.is_none_or(|filter| filter.connection(key))
    }

    /// True if the stream is selected.
    pub(crate) fn stream(&self, key: &StreamKey) -> bool {
        let filter = self.filter.as_ref();
        filter.is_none_or(|filter| filter.stream(key))
    }

    /// True if every packet is selected.
    pub(crate) fn is_all(&self) -> bool {
        *self == Selection::default()
    }
}

/// A [`Selection`] applied to one capture, whose first packet is known.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    filter: Option<Arc<Filter>>,
    from_ns: i64,
    until_ns: i64,
}

impl Chosen {
    /// The selection for the capture that begins with `block`; `None` if everything is selected, or if the block is
    /// empty.
    pub(crate) fn of(selection: &Selection, block: &Block) -> Option<Self> {
        if selection.is_all() {
            return None;
        }
        let first_ns = block.frames().next()?.ts_ns;
        let ns = |moment: Option<Moment>| moment.map(|m| m.since_epoch_ns(first_ns));
        Some(Chosen {
            filter: selection.filter.clone().map(Arc::new),
            from_ns: ns(selection.from).unwrap_or(i64::MIN),
            until_ns: ns(selection.until).unwrap_or(i64::MAX),
        })
    }

    /// Parses a frame into `packet`, and what is wanted of the rest to the end of `asides`; false if it was not chosen.
    /// A packet that is not wanted itself becomes [`Other::Unselected`].
    #[inline]
    pub(crate) fn parse(
        &self,
        frame: &Frame<'_>,
        packet: &mut Packet,
        asides: &mut Vec<Aside>,
    ) -> bool {
        if !(self.from_ns..self.until_ns).contains(&frame.ts_ns) {
            return false;
        }
        let before = asides.len();
        if parse_into(frame, packet, asides) {
            let found = asides.split_off(before);
            asides.extend(
                found
                    .into_iter()
                    .filter(|aside| self.is_wanted_aside(aside)),
            );
        }
        if self.is_wanted(packet) {
            return true;
        }
        if !matches!(packet, Packet::Other(_)) {
            *packet = Packet::Other(Other::Unselected);
        }
        asides.len() > before
    }

    /// True if this is analysed. What belongs to the other direction of a stream is selected with the stream.
    fn is_wanted_aside(&self, aside: &Aside) -> bool {
        let Some(filter) = &self.filter else {
            return true;
        };
        match aside {
            Aside::Numbered(key, _) => reads_stream(filter, key),
            Aside::Report(key, _) => filter.stream(key),
            Aside::Expired(key) => reads_stream(filter, key),
            Aside::Complaint(key, ..) => filter.connection(key),
            // The datagrams' other fragments are not selected either.
            Aside::FirstPart(_) => false,
            // No expression is about packets that are not analysed.
            Aside::Quic(..) => false,
            Aside::Subflow(key, ..) => [Dir::LowToHigh, Dir::HighToLow].into_iter().any(|dir| {
                let (src, dst) = key.ends(dir);
                filter.stream(&StreamKey {
                    service: Service::Mptcp,
                    src,
                    dst,
                    id: 0,
                    overlay: key.overlay,
                })
            }),
        }
    }

    /// True if the packet is analysed. Fragments pass: only the first one has ports, and the whole datagram is
    /// selected when it is complete.
    fn is_wanted(&self, packet: &Packet) -> bool {
        let Some(filter) = &self.filter else {
            return true;
        };
        match packet {
            Packet::Tcp(key, ..) => filter.connection(key),
            Packet::Numbered(key, _) => reads_stream(filter, key),
            Packet::FirstFragment(..) => true,
            Packet::LaterFragment(part) => part.protocol == TCP,
            Packet::Other(_) => false,
        }
    }
}

/// True if the stream is analysed: it is selected, or what answers it is. Without the replies, all echo requests would seem unanswered.
fn reads_stream(filter: &Filter, key: &StreamKey) -> bool {
    filter.stream(key) || key.echo_back().is_some_and(|back| filter.stream(&back))
}

#[cfg(test)]
mod tests {
    use inorder_wire::{Endpoint, Numbered};

    use super::*;

    /// Of pings in a numbered tunnel the frame's packet is that of the tunnel.
    #[test]
    fn replies_in_a_tunnel_are_read_with_their_requests() {
        let chosen = Chosen {
            filter: Some(Arc::new("icmp-echo and src 10.0.0.1".parse().unwrap())),
            from_ns: i64::MIN,
            until_ns: i64::MAX,
        };
        let request = StreamKey {
            service: Service::IcmpEcho,
            src: Endpoint::v4(0x0a00_0001, 0),
            dst: Endpoint::v4(0x0a00_0002, 0),
            id: 7,
            overlay: 0,
        };
        let reply = request.echo_back().unwrap();
        let elsewhere = StreamKey {
            src: Endpoint::v4(0x0a00_0003, 0),
            ..request
        };
        for (key, wanted) in [(request, true), (reply, true), (elsewhere, false)] {
            let number = Numbered::default();
            let aside = Aside::Numbered(key, number);
            assert_eq!(chosen.is_wanted_aside(&aside), wanted, "{key:?}");
            assert_eq!(chosen.is_wanted(&Packet::Numbered(key, number)), wanted);
        }
    }
}
