//! The same connections captured at both ends, matched packet by packet: truth instead of
//! inference, and the inference from one end scored against it.
//!
//! Definitions, per flow (one direction of a connection), in segments as on the wire:
//! - *original*: the first transmission of its bytes in the sender's capture; everything else is
//!   a retransmission.
//! - *reordered*: RFC 4737 section 3.3 on the arrivals of originals alone.
//! - *refused*: an original that arrived and that the receiver discarded although it lacked its bytes:
//!   too old by its timestamp (PAWS), or outside the window. It keeps its place among the arrivals,
//!   but is not counted as reordered.
//! - *lost*: an original that never arrived although its bytes were acknowledged while both
//!   captures ran; *undecided* if they were not. What vanished before the sender's capture point, so
//!   that only its retransmission was captured, is counted separately, and so is what one capture lacks.
//! - a retransmission is *spurious* if earlier transmissions of all its bytes arrived at any
//!   time and were not refused, *needed* if not.
//!
//! A transmission and an arrival are the same packet if sequence number, length, timestamp value
//! and IPv4 identification agree; of equal ones the first sent is the first to arrive. Fields
//! that something on the path rewrites are left out, super-segments are cut, and what was cut
//! differently at both ends is compared byte by byte.
//!
//! Connections are the same by their addresses and ports. Those that this leaves over are matched
//! whatever a translator, a tunnel or a firewall made of them ([`Matched`]), if one partner stands out:
//! by packets that agree in all numbers, by both initial sequence numbers, or, where something
//! numbers anew, by distances from those and timestamps.
//!
//! ```
//! use inorder_pairing::{PeerRecorder, compare};
//! use inorder_wire::{Endpoint, FlowKey, Segment, TcpFlags};
//!
//! let (key, dir) = FlowKey::new(Endpoint::v4(1, 10), Endpoint::v4(2, 20), 0);
//! let data = |ts_ns, seq| Segment { ts_ns, seq, payload_len: 100, ..Segment::default() };
//! let ack = |ts_ns| Segment {
//!     ts_ns,
//!     ack: 300,
//!     flags: TcpFlags(TcpFlags::ACK),
//!     ..Segment::default()
//! };
//! let (mut sender, mut receiver) = (PeerRecorder::new(), PeerRecorder::new());
//! // Bytes 0-99, 100-199, 200-299 leave in this order; the second comes last.
//! for (ts_ns, seq) in [(0, 0), (10, 100), (20, 200)] {
//!     sender.push(&key, dir, &data(ts_ns, seq));
//! }
//! sender.push(&key, dir.reverse(), &ack(2_050));
//! for (ts_ns, seq) in [(1_000, 0), (1_020, 200), (1_030, 100)] {
//!     receiver.push(&key, dir, &data(ts_ns, seq));
//! }
//! receiver.push(&key, dir.reverse(), &ack(1_040));
//!
//! let report = compare(&sender, &receiver, &[]);
//! let truth = &report.flows[0].truth;
//! assert_eq!((truth.data_packets, truth.reordering.reordered), (3, 1));
//! assert_eq!((truth.events[0].extent, truth.events[0].late_ns), (Some(1), Some(10)));
//! ```

mod columns;
mod flow_truth;
mod matching;
mod once;
mod pair;
mod pairing;
mod ranges;
mod recorder;
mod result;
mod sample;
mod score;
mod split;
mod stretch;
#[cfg(test)]
mod tests;
mod translated;
mod truth;
#[cfg(test)]
mod twin;

use std::borrow::Cow;
use std::collections::HashMap;
use std::net::SocketAddr;

use inorder_base::sequence::Offsets;
use inorder_wire::{Dir, Overlay};

use inorder_detect::{FlowId, FlowReport, Vantage};
use matching::{Ends, Matching, frame_of};
use pair::Pair;
use pairing::Bounds;
use recorder::{DataFrame, Recorded, Way};
use split::Piece;
use truth::Scene;

pub use columns::{AGREEMENT, COUNTS};
pub use flow_truth::FlowTruth;
pub use recorder::PeerRecorder;
pub use result::{ClockOffset, ExtentAgreement, Matched, PeerCounts, PeerFlow, PeerReport, Score};

/// Compares two recordings of the same traffic, `here` being the analysed capture and `inferred`
/// what a [`Tracker`](inorder_detect::Tracker) made of it (with events kept; may be empty).
///
/// Which recording is nearer to a flow's sender is found out for each flow; either order will do.
/// The clocks need not agree. Swapping the recordings leaves the truth as it is and changes
/// whose frame numbers and times it uses.
pub fn compare(here: &PeerRecorder, there: &PeerRecorder, inferred: &[FlowReport]) -> PeerReport {
    let reports = Reports::new(inferred);
    let pairs = pairing::pair(here, there);
    let mut report = PeerReport::default();
    let mut bounds = Bounds::default();
    let mut flows = Vec::new();
    for pair in &pairs.both {
        for dir in [Dir::LowToHigh, Dir::HighToLow] {
            if pair.here(dir).frames.is_empty() && pair.there(dir).frames.is_empty() {
                continue;
            }
            let vantage = pairing::orient(pair, dir);
            if let Some(vantage) = vantage {
                pairing::bound(&mut bounds, pair, dir, vantage);
            }
            flows.push((pair, dir, vantage));
        }
    }
    report.clock = bounds.offset();
    let guess_ns = bounds.guess();
    for (pair, dir, vantage) in flows {
        let flow = reports.flow_id(pair.here, dir);
        let own = reports.find(pair.here, dir);
        let vantage =
            vantage.unwrap_or_else(|| pairing::orient_by_clock(pair, dir, report.clock, own));
        let lane = Lane::new((here, there), pair, dir, vantage, guess_ns);
        if lane.sent.frames.is_empty() {
            if pair.here(dir).frames.is_empty() {
                let named_there = flow_id(pair.there, pair.dir_there(dir));
                report.only_there.push(named_there);
            } else {
                report.only_here.push(flow);
            }
            continue;
        }
        report.flows.push(lane.compare(flow, report.clock, own));
    }
    for connection in pairs.ambiguous {
        let flows = with_data(connection).map(|dir| reports.flow_id(connection, dir));
        report.ambiguous.extend(flows);
    }
    for connection in pairs.only_here {
        report
            .only_here
            .extend(with_data(connection).map(|dir| reports.flow_id(connection, dir)));
    }
    for connection in pairs.only_there {
        report
            .only_there
            .extend(with_data(connection).map(|dir| flow_id(connection, dir)));
    }
    report
}

fn with_data(connection: &Recorded) -> impl Iterator<Item = Dir> {
    let dirs = [Dir::LowToHigh, Dir::HighToLow].into_iter();
    dirs.filter(|&dir| !connection.way(dir).frames.is_empty())
}

fn flow_id(connection: &Recorded, dir: Dir) -> FlowId {
    let (src, dst) = connection.key.ends(dir);
    FlowId {
        src: src.socket_addr(),
        dst: dst.socket_addr(),
        overlay: connection.key.overlay,
        reuse: connection.reuse,
    }
}

/// The analysed capture's reports, by what names their flows.
struct Reports<'a> {
    by_ends: HashMap<(SocketAddr, SocketAddr, u32), Vec<&'a FlowReport>>,
}

impl<'a> Reports<'a> {
    fn new(inferred: &'a [FlowReport]) -> Self {
        let mut by_ends: HashMap<_, Vec<_>> = HashMap::default();
        for report in inferred {
            let FlowId {
                src, dst, overlay, ..
            } = report.flow;
            // As the recorder does, which forgets VLANs and labels.
            let overlay = Overlay::on_any_path(overlay);
            by_ends.entry((src, dst, overlay)).or_default().push(report);
        }
        Reports { by_ends }
    }

    /// The report that shares most of the connection's time: a tracker forgets closed
    /// connections, so its count of reuses may differ.
    fn find(&self, connection: &Recorded, dir: Dir) -> Option<&'a FlowReport> {
        let FlowId {
            src, dst, overlay, ..
        } = flow_id(connection, dir);
        let all = self.by_ends.get(&(src, dst, overlay))?;
        let shared = |r: &&&FlowReport| {
            let end = r.last_ns.min(connection.last_ns);
            end.saturating_sub(r.first_ns.max(connection.first_ns))
        };
        all.iter()
            .filter(|r| shared(r) >= 0)
            .max_by_key(shared)
            .copied()
    }

    fn flow_id(&self, connection: &Recorded, dir: Dir) -> FlowId {
        let found = self.find(connection, dir);
        found.map_or_else(|| flow_id(connection, dir), |r| r.flow)
    }
}

/// One flow; which recording is its sender's is known.
struct Lane<'a> {
    sent: Cow<'a, Way>,
    arrived: Cow<'a, Way>,
    /// The way back, for the MSS option of the receiver.
    offers: [u16; 2],
    pair: &'a Pair<'a>,
    dir: Dir,
    here: Vantage,
    here_base: Option<u32>,
    /// Receiver's clock minus sender's, nanoseconds, as far as known.
    offset_ns: i64,
    /// An arrival's time minus its sending time is at least this, nanoseconds.
    earliest_ns: i64,
    /// First and last packet of the receiver's whole capture.
    receiver_ns: (i64, i64),
}

impl<'a> Lane<'a> {
    fn new(
        (here, there): (&PeerRecorder, &PeerRecorder),
        pair: &'a Pair<'a>,
        dir: Dir,
        vantage: Vantage,
        guess_ns: i64,
    ) -> Self {
        let own = Cow::Borrowed(pair.here(dir));
        let other = match pair.shift(dir) {
            0 => Cow::Borrowed(pair.there(dir)),
            shift => Cow::Owned(pair.there(dir).renumbered(shift)),
        };
        // Shortest time from the sender's capture to the receiver's, of the packets sampled.
        let sampled = pair.differences(dir);
        let at_receiver = vantage == Vantage::Receiver;
        let (sent, arrived, capture, offset_ns, least_ns) = if at_receiver {
            let least = sampled.last().map(|d| d.saturating_neg());
            (other, own, here, guess_ns.saturating_neg(), least)
        } else {
            (own, other, there, guess_ns, sampled.first().copied())
        };
        let (sent, arrived) = (once::once(sent), once::once(arrived));
        let mss = |d: Dir| {
            let (here, there) = (pair.here(d).mss, pair.there(d).mss);
            let (sent, arrived) = if at_receiver {
                (there, here)
            } else {
                (here, there)
            };
            if sent == 0 { arrived } else { sent }
        };
        Lane {
            sent,
            arrived,
            offers: [mss(dir), mss(dir.reverse())],
            pair,
            dir,
            here: vantage,
            here_base: pair.here(dir).base,
            offset_ns,
            earliest_ns: least_ns.map_or(offset_ns, |least| least.min(offset_ns)),
            receiver_ns: (
                capture.first_ns.unwrap_or(i64::MIN),
                capture.last_ns.unwrap_or(i64::MAX),
            ),
        }
    }

    /// The FIN as it arrived, if that is its first transmission.
    fn end(&self) -> Option<DataFrame> {
        let (sent, arrived) = (self.sent.end?, self.arrived.end?);
        (sent.tsval == arrived.tsval).then_some(arrived)
    }

    /// Sequence number of the first data byte, or of the first that was captured.
    fn base(&self) -> u32 {
        let isn = self.sent.isn.or(self.arrived.isn);
        let first = self.sent.frames.first().map_or(0, |f| f.seq);
        isn.map_or(first, |isn| isn.wrapping_add(1))
    }

    fn compare(
        &self,
        flow: FlowId,
        clock: Option<ClockOffset>,
        own: Option<&FlowReport>,
    ) -> PeerFlow {
        let base = self.base();
        let ends = Ends {
            sent: &self.sent.frames,
            arrived: &self.arrived.frames,
            base,
            earliest_ns: self.earliest_ns,
        };
        let found = ends.matching(&split::limits(&self.sent, &self.arrived, self.offers));
        let least_ns = self.least_ns(&found);
        let delay_ns = least_ns.unwrap_or(self.offset_ns);
        let (first, last) = self.receiver_ns;
        let shift = self
            .here_base
            .map_or(0, |b| i64::from(base.wrapping_sub(b) as i32));
        let scene = Scene {
            sent: ends.sent,
            arrived: ends.arrived,
            end: self.end(),
            here: self.here,
            offset_ns: self.offset_ns,
            acked: self.acked(base, &found),
            window: (
                first.saturating_sub(delay_ns),
                last.saturating_sub(delay_ns),
            ),
            shift,
        };
        let mut flow = PeerFlow {
            flow,
            there: flow_id(self.pair.there, self.pair.dir_there(self.dir)),
            matched: self.pair.matched,
            here: self.here,
            truth: truth::tell(&found, &scene),
            inferred: None,
            reordered: Score::default(),
            lost: Score::default(),
            refused: Score::default(),
            spurious: Score::default(),
            reordered_with_ambiguous: Score::default(),
            lost_with_ambiguous: Score::default(),
            refused_with_ambiguous: Score::default(),
            extents: ExtentAgreement::default(),
            extents_certain: ExtentAgreement::default(),
            spurious_certain: Score::default(),
            one_way_ns: least_ns
                .filter(|_| clock.is_some())
                .map(|d| d.saturating_sub(self.offset_ns)),
        };
        if let Some(own) = own {
            score::score(&mut flow, own);
        }
        flow
    }

    /// Smallest arrival time minus sending time, by the clocks as they are.
    fn least_ns(&self, found: &Matching) -> Option<i64> {
        let pairs = found.sent.iter().zip(&found.arrival);
        let matched = pairs.filter_map(|(s, a)| Some((s, found.arrived.get((*a)? as usize)?)));
        let times = matched.map(|(s, a)| {
            let (sent, arrived) = (
                frame_of(&self.sent.frames, s),
                frame_of(&self.arrived.frames, a),
            );
            arrived.ts_ns.saturating_sub(sent.ts_ns)
        });
        times.min()
    }

    /// Acknowledged as both captures know: what the receiver acknowledged after the other
    /// capture's end, or arrived there after its own, decides nothing.
    fn acked(&self, base: u32, found: &Matching) -> Option<i64> {
        let mut unwrap = Offsets::new(base);
        unwrap.advance(found.sent.iter().map(Piece::end).max().unwrap_or(0));
        let known = [self.sent.acked, self.arrived.acked].into_iter().flatten();
        known.map(|ack| unwrap.offset(ack)).min()
    }
}
