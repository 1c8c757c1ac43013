//! One direction of a connection: its data, and the ACKs that answer it.

use inorder_wire::{Dir, FlowKey, Segment, TcpFlags};

use crate::arrival::{Arrival, Context, Piece};
use crate::config::Config;
use crate::copies::{IdCounter, Recent};
use crate::points::Points;
use crate::result::{AckPath, Event, Retransmission};
use crate::result::{
    Artefacts, Avoidance, FlowId, FlowReport, Half, PointKind, Recoveries, Reordering,
    Retransmissions, Vantage, VantageChoice,
};
use crate::sender::{Options, Sender, SenderEnd};
use crate::unwrap::Unwrapper;
use crate::what_if::{DataArrival, NamedReceivers, SortingReceivers, may_be_sorted};

/// Payloads up to this fit the usual Ethernet; larger ones are super-segments, unless jumbo.
const ETHERNET_PAYLOAD: u32 = 1_460;
/// Payloads of full segments on links with an MTU of 9,000.
const JUMBO: [u32; 4] = [8_948, 8_960, 8_928, 8_940];

/// What the SYN of one host said.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hello {
    pub(crate) isn: u32,
    pub(crate) mss: u16,
    pub(crate) sack: bool,
    pub(crate) timestamps: bool,
}

/// The two engines that follow one direction's data.
///
/// In this order, what every packet needs is in the first two lines of the cache.
#[derive(Debug)]
#[repr(C, align(64))]
struct Engines {
    unwrap: Unwrapper,
    una: i64,
    /// There is more to do with data than to follow its arrivals: any of the three below.
    more: bool,
    sender: Option<Box<Sender>>,
    what_if: Option<Box<SortingReceivers>>,
    /// The what-if of sorters by name.
    named: Option<Box<NamedReceivers>>,
    points: Option<Box<Points>>,
    arrival: Arrival,
    choice: VantageChoice,
}

/// Number of the first byte of data: a SYN takes one before it.
#[inline]
fn first_byte(seg: &Segment) -> u32 {
    let syn = u32::from(seg.flags.any(TcpFlags::SYN));
    seg.seq.wrapping_add(syn)
}

/// One direction.
///
/// In this order, what every packet needs is in the first line of the cache, but its print.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Side {
    ids: IdCounter,
    engines: Option<Box<Engines>>,
    /// Wire payload of a full segment as [`Shared::full`] says.
    full: u32,
    wire_mss: u16,
    timestamps: bool,
    sack_seen: bool,
    recent: Recent,
    max_payload: u32,
    pub(crate) hello: Option<Hello>,
    pub(crate) fin: bool,
    duplicated: u64,
    reversals: u64,
}

/// Least payload of a full segment, bytes: whatever MSS it is offered, Linux sends segments of 48 bytes
/// (`tcp_min_snd_mss`), options included, which are 40 at most.
const MIN_FULL_PAYLOAD: u32 = 8;

/// What both directions share, as seen when a segment is handled.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shared {
    /// SACK negotiated; `None` without handshake.
    pub(crate) sack: Option<bool>,
    pub(crate) timestamps: bool,
    /// Wire payload of a full segment, by the MSS option of the data's receiver; 0 if unknown.
    pub(crate) full: u32,
}

impl Shared {
    pub(crate) fn new(sack: Option<bool>, timestamps: bool, peer_mss: u16) -> Self {
        let mut shared = Shared {
            sack,
            timestamps,
            full: 0,
        };
        if peer_mss > 0 {
            let options = shared.option_len();
            let full = u32::from(peer_mss).saturating_sub(options);
            shared.full = full.max(MIN_FULL_PAYLOAD);
        }
        shared
    }

    /// Bytes of a full segment's options.
    #[inline]
    fn option_len(&self) -> u32 {
        if self.timestamps { 12 } else { 0 }
    }
}

/// Takes what the arrivals make of the data.
struct Heard<'a> {
    sender: &'a mut Option<Box<Sender>>,
    what_if: &'a mut Option<Box<SortingReceivers>>,
    named: &'a mut Option<Box<NamedReceivers>>,
    points: &'a mut Option<Box<Points>>,
    una: i64,
}

impl Heard<'_> {
    fn original(&mut self, seg: &Segment, at: i64, len: u32) {
        if let Some(sender) = self.sender {
            sender.sent(seg, at, len);
        }
        self.sort(seg, at, len, false);
        if let Some(points) = self.points {
            points.push(seg.ts_ns, at, PointKind::Data);
        }
    }

    fn again(&mut self, seg: &Segment, at: i64, len: u32) {
        if let Some(sender) = self.sender {
            sender.retransmitted(seg, at, len);
        }
        self.sort(seg, at, len, true);
        if let Some(points) = self.points {
            points.push(seg.ts_ns, at, PointKind::Retransmission);
        }
    }

    fn sort(&mut self, seg: &Segment, at: i64, len: u32, retransmission: bool) {
        let arrival = || data_arrival(seg, at, len, retransmission);
        if let Some(what_if) = self.what_if {
            what_if.push(&arrival(), self.una);
        }
        if let Some(named) = self.named {
            named.push(&arrival(), self.una);
        }
    }
}

#[inline(never)]
fn sort(what_if: &mut SortingReceivers, seg: &Segment, offset: i64, len: u32, una: i64) {
    what_if.push(&data_arrival(seg, offset, len, false), una);
}

fn data_arrival(seg: &Segment, offset: i64, len: u32, retransmission: bool) -> DataArrival {
    DataArrival {
        ts_ns: seg.ts_ns,
        offset,
        len,
        retransmission,
        suitable: may_be_sorted(seg),
    }
}

impl Side {
    /// Looks at a packet this host sent, before the engines do. False for a frame that was
    /// captured twice. The number is how many packets of the host vanished before it.
    #[inline(always)]
    pub(crate) fn observe(&mut self, seg: &Segment) -> (bool, u8) {
        let packets = match seg.payload_len {
            len if len > ETHERNET_PAYLOAD => len.div_ceil(u32::from(self.wire_mss.max(536))) as u16,
            _ => 1,
        };
        let (step, vanished) = self.ids.observe(seg, packets);
        if step.is_some_and(|s| s <= 0) && self.recent.contains(seg) {
            self.duplicated += 1;
            return (false, 0);
        }
        self.recent.push(seg);
        if seg.sack_len > 0 {
            self.sack_seen = true;
        }
        (true, vanished)
    }

    pub(crate) fn note_reversal(&mut self) {
        self.reversals += 1;
    }

    /// A packet of this host has carried timestamps.
    pub(crate) fn note_timestamps(&mut self) {
        self.timestamps = true;
    }

    /// What both directions share has become known.
    pub(crate) fn note_shared(&mut self, shared: &Shared) {
        self.full = shared.full;
    }

    pub(crate) fn speaks_timestamps(&self) -> bool {
        self.timestamps
    }

    /// Payload of a full segment on the wire.
    #[inline]
    fn mss(&mut self, seg: &Segment, shared: &Shared) -> u32 {
        if self.full > 0 {
            return self.full;
        }
        let len = seg.payload_len;
        if len > self.max_payload && (len <= ETHERNET_PAYLOAD || JUMBO.contains(&len)) {
            self.max_payload = len;
        }
        if len > ETHERNET_PAYLOAD && self.max_payload < 1_000 {
            return ETHERNET_PAYLOAD - shared.option_len();
        }
        self.max_payload.max(536)
    }

    /// Follows the data from `seg` on.
    pub(crate) fn follow(
        &mut self,
        seg: &Segment,
        choice: VantageChoice,
        config: &Config,
        shared: &Shared,
    ) {
        let base = self
            .hello
            .map_or(first_byte(seg), |h| h.isn.wrapping_add(1));
        self.engines = Some(Box::new(Engines::new(base, choice, config, shared)));
    }

    /// Data of this direction, once it is followed.
    #[inline]
    pub(crate) fn data(
        &mut self,
        seg: &Segment,
        vanished: u8,
        shared: &Shared,
        to_sender_ns: impl FnOnce() -> Option<i64>,
    ) {
        let mss = self.mss(seg, shared);
        // An MSS is no larger, and neither is a jumbo frame.
        self.wire_mss = mss as u16;
        let Some(engines) = self.engines.as_deref_mut() else {
            return;
        };
        let offset = engines.unwrap.offset(first_byte(seg));
        engines.unwrap.advance(offset + i64::from(seg.payload_len));
        let plain = vanished == 0 && engines.arrival.in_order(seg, offset, mss);
        if plain {
            if engines.more {
                engines.in_order(seg, offset);
            }
            return;
        }
        let mut heard = Heard {
            sender: &mut engines.sender,
            what_if: &mut engines.what_if,
            named: &mut engines.named,
            points: &mut engines.points,
            una: engines.una,
        };
        let cx = Context {
            mss,
            timestamps: shared.timestamps,
            sack: shared.sack.unwrap_or(true),
            ip_id: self.ids.trusted(),
            vanished,
            to_sender_ns: to_sender_ns(),
            una: engines.una,
            syn_seen: self.hello.is_some(),
        };
        engines
            .arrival
            .data(seg, offset, &cx, |piece, at, len| match piece {
                Piece::Again => heard.again(seg, at, len),
                Piece::New | Piece::Late => heard.original(seg, at, len),
            });
    }

    /// A packet of the host `from`, for this direction's data; `to_receiver_ns` says how soon
    /// that host answers at best.
    #[inline]
    pub(crate) fn acknowledged(
        &mut self,
        seg: &Segment,
        from: &Side,
        to_receiver_ns: impl FnOnce() -> Option<i64>,
    ) {
        let Some(engines) = self.engines.as_deref_mut() else {
            return;
        };
        if !seg.flags.any(TcpFlags::ACK) || seg.flags.any(TcpFlags::RST) {
            return;
        }
        let ack = engines.unwrap.offset(seg.ack);
        if ack > engines.una {
            engines.una = ack;
            engines.arrival.acknowledged(ack, seg.ts_ns);
            if let Some(points) = &mut engines.points {
                points.push(seg.ts_ns, ack, PointKind::Ack);
            }
        }
        if let Some(sender) = &mut engines.sender {
            if let Some(rtt) = to_receiver_ns() {
                sender.note_rtt(rtt);
            }
            sender.acknowledged(seg, from.ids_dense());
        }
    }

    /// True when a number missing in this host's identification is a packet missing.
    pub(crate) fn ids_dense(&self) -> bool {
        self.ids.dense()
    }

    /// The report on this direction, if it carried data.
    pub(crate) fn finish(mut self, key: &FlowKey, dir: Dir, end: &End) -> Option<FlowReport> {
        let engines = *self.engines.take()?;
        let (src, dst) = key.ends(dir);
        let flow = FlowId {
            src: src.socket_addr(),
            dst: dst.socket_addr(),
            overlay: key.overlay,
            reuse: end.reuse,
        };
        Some(self.report(engines, flow, end))
    }

    fn report(self, engines: Engines, flow: FlowId, end: &End) -> FlowReport {
        let mss = match end.shared.full {
            0 => self.max_payload,
            full => full,
        };
        let cx = Context {
            mss: mss.max(1),
            timestamps: end.shared.timestamps,
            sack: end.shared.sack.unwrap_or(true),
            ip_id: self.ids.trusted(),
            vanished: 0,
            to_sender_ns: end.choice.to_sender_ns,
            una: engines.una,
            syn_seen: self.hello.is_some(),
        };
        let vantage = engines.choice.vantage;
        let arrival = engines.arrival.finish(&cx);
        let sender = engines.sender.map(|sender| sender.finish());
        let points = engines.points.map(|points| points.finish());
        let mut what_if = engines.what_if.map(|what_if| what_if.finish());
        if let Some(named) = engines.named {
            what_if.get_or_insert_default().extend(named.finish());
        }
        let mut artefacts = Artefacts {
            duplicated_frames: self.duplicated,
            time_reversals: self.reversals,
            ..Artefacts::default()
        };
        let choice = VantageChoice {
            to_receiver_ns: end.choice.to_receiver_ns,
            to_sender_ns: end.choice.to_sender_ns,
            ..engines.choice
        };
        let ack_path = sender.as_ref().map_or_else(AckPath::default, |s| AckPath {
            acks: s.acks,
            reordered: s.acks_reordered,
            missing: s.acks_missing,
        });
        let mut upstream = None;
        let (rough, sack_used) = sender
            .as_ref()
            .map_or((false, self.sack_seen), |s| (s.rough, s.sack));
        let min_rtt_ns = sender
            .as_ref()
            .and_then(|s| s.min_rtt)
            .or(choice.to_sender_ns);
        let main = match sender {
            Some(s) => {
                artefacts.missing_segments = s.missing;
                let main = Main::from_sender(s);
                if vantage == Vantage::Middle {
                    upstream = Some(Box::new(arrival.collector.finish().0));
                } else {
                    artefacts.swapped_frames = arrival.collector.finish().0.reordered;
                }
                main
            }
            None => {
                artefacts.missing_segments = arrival.missing;
                Main::from_arrival(arrival)
            }
        };
        let (reordering, bursts, by_rate, events) = main.collector;
        FlowReport {
            flow,
            vantage: choice,
            first_ns: end.first_ns,
            last_ns: end.last_ns,
            syn_seen: self.hello.is_some(),
            sack: end.shared.sack.unwrap_or(sack_used),
            timestamps: end.shared.timestamps,
            mss: cx.mss,
            min_rtt_ns,
            data_packets: main.packets,
            data_bytes: main.bytes,
            retransmissions: main.retransmissions,
            losses: main.losses,
            undecided: main.undecided,
            avoidance: avoidance(&reordering),
            reordering,
            upstream,
            rough,
            bursts,
            by_rate,
            recoveries: main.recoveries,
            ack_path,
            artefacts,
            what_if: what_if.unwrap_or_default(),
            events,
            retransmission_list: main.list,
            points: points.unwrap_or_default(),
        }
    }
}

impl Engines {
    /// One segment, the next in order as it comes by, beyond its arrival.
    #[inline(always)]
    fn in_order(&mut self, seg: &Segment, at: i64) {
        let len = seg.payload_len;
        if let Some(sender) = &mut self.sender {
            sender.sent(seg, at, len);
        }
        if let Some(what_if) = &mut self.what_if
            && !(may_be_sorted(seg) && what_if.continues(seg.ts_ns, at, len))
        {
            sort(what_if, seg, at, len, self.una);
        }
        if let Some(named) = &mut self.named {
            named.push(&data_arrival(seg, at, len, false), self.una);
        }
        if let Some(points) = &mut self.points {
            points.push(seg.ts_ns, at, PointKind::Data);
        }
    }

    fn new(base: u32, choice: VantageChoice, config: &Config, shared: &Shared) -> Self {
        let at_receiver = choice.vantage == Vantage::Receiver;
        let half = if choice.vantage == Vantage::Middle {
            Half::Upstream
        } else {
            Half::EndToEnd
        };
        let unwrap = Unwrapper::new(base);
        let options = Options {
            sack: shared.sack,
            timestamps: shared.timestamps,
        };
        let sender = || Box::new(Sender::new(unwrap, options, config.keep_events));
        let what_if = || SortingReceivers::new(&config.block_sizes, &config.coalesce_ns);
        let named = || NamedReceivers::new(&config.sorters, &config.coalesce_ns);
        let keep = config.keep_events && choice.vantage != Vantage::Sender;
        let sort = config.what_if && choice.vantage != Vantage::Sender;
        Engines {
            unwrap,
            una: 0,
            more: !at_receiver || config.keep_points || sort,
            sender: (!at_receiver).then(sender),
            what_if: sort.then(|| Box::new(what_if())),
            named: (sort && !config.sorters.is_empty()).then(|| Box::new(named())),
            points: config.keep_points.then(|| Box::new(Points::new())),
            arrival: Arrival::new(half, keep),
            choice,
        }
    }
}

/// What the connection knows at its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub(crate) shared: Shared,
    pub(crate) choice: VantageChoice,
    pub(crate) reuse: u32,
    pub(crate) first_ns: i64,
    pub(crate) last_ns: i64,
}

type Collected = (
    Reordering,
    crate::result::Bursts,
    Vec<crate::result::RateClass>,
    Vec<Event>,
);

/// The half that speaks for the whole flow.
struct Main {
    collector: Collected,
    packets: u64,
    bytes: u64,
    retransmissions: Retransmissions,
    losses: u64,
    undecided: u64,
    recoveries: Recoveries,
    list: Vec<Retransmission>,
}

impl Main {
    fn from_sender(s: SenderEnd) -> Self {
        let losses = s.collector.losses();
        Main {
            packets: s.data_packets,
            bytes: s.data_bytes,
            retransmissions: split(s.retransmissions, s.needed, s.spurious),
            losses,
            undecided: s.undecided,
            recoveries: s.recoveries,
            list: s.list,
            collector: s.collector.finish(),
        }
    }

    fn from_arrival(a: crate::arrival::ArrivalEnd) -> Self {
        let losses = a.collector.losses();
        let (packets, bytes) = a.collector.all_sent();
        Main {
            // Originals, lost ones included: the flow's, not the capture's.
            packets: packets + losses,
            bytes,
            retransmissions: split(a.retransmissions, a.needed, a.spurious),
            losses,
            undecided: a.undecided,
            recoveries: a.recoveries,
            list: a.list,
            collector: a.collector.finish(),
        }
    }
}

/// Parts of one retransmission can fill several holes and meet different fates; it counts once,
/// as needed if any of it was.
fn split(total: u64, needed: u64, spurious: u64) -> Retransmissions {
    let needed = needed.min(total);
    let spurious = spurious.min(total - needed);
    let ambiguous = total - needed - spurious;
    Retransmissions {
        total,
        needed,
        spurious,
        ambiguous,
    }
}

fn avoidance(reordering: &Reordering) -> Avoidance {
    if reordering.extents.count() == 0 {
        return Avoidance::default();
    }
    Avoidance {
        dupthresh: u32::try_from(reordering.extents.max().unwrap_or(0) + 1).ok(),
        window_ns: i64::try_from(reordering.late_ns.max().unwrap_or(0)).ok(),
    }
}
