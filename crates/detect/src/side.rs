//! One direction of a connection: its data, and the ACKs that answer it.

mod engines;
mod report;

use inorder_sequence::Offsets;
use inorder_wire::{Dir, FlowKey, Has, NO_WSCALE, Segment, TcpFlags};

use crate::arrival::{Context, Piece};
use crate::config::Config;
use crate::copies::{IdCounter, Numbering, Recent};
use crate::cost::Answer;
use crate::flow_table::FlowTable;
use crate::merged::Merged;
use crate::result::{FlowId, PointKind, VantageChoice};
use engines::{Engines, Heard};

pub(crate) use report::End;

/// Payloads up to this fit the usual Ethernet; larger ones are super-segments, unless jumbo.
const MAX_ETHERNET_PAYLOAD: u32 = 1_460;
/// Payloads of full segments on links with an MTU of 9,000.
const FULL_PAYLOADS_OF_JUMBO_FRAMES: [u32; 4] = [8_948, 8_960, 8_928, 8_940];

/// Greatest shift of the window (RFC 7323 section 2.3).
const MAX_WSCALE: u8 = 14;

/// What the SYN of one host said.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hello {
    pub(crate) isn: u32,
    pub(crate) mss: u16,
    pub(crate) sack: bool,
    pub(crate) timestamps: bool,
    /// Shift of the window field; `NO_WSCALE` if it was not offered.
    pub(crate) wscale: u8,
}

impl Hello {
    /// Shift of the windows that this host tells, where `other` is what the other host's SYN said: they are scaled only
    /// if both offer it (RFC 7323 section 2.2).
    pub(crate) fn window_shift(&self, other: &Hello) -> u8 {
        if self.wscale == NO_WSCALE || other.wscale == NO_WSCALE {
            0
        } else {
            self.wscale.min(MAX_WSCALE)
        }
    }

    /// What the SYN or SYN/ACK `seg` says.
    pub(crate) fn of(seg: &Segment) -> Self {
        Hello {
            isn: seg.seq,
            mss: seg.mss,
            sack: seg.has(Has::SACK_PERMITTED),
            timestamps: seg.has(Has::TIMESTAMPS),
            wscale: seg.wscale,
        }
    }
}

/// Bytes that the first SACK block of `seg`, which acknowledges `ack`, reports as duplicates: it lies below, or within the
/// second block (RFC 2883 section 4).
#[inline]
fn repeated_by(seg: &Segment, unwrap: &Offsets, ack: i64) -> i64 {
    let Some((&(left, right), more)) = seg.sack_blocks().split_first() else {
        return 0;
    };
    let (left, right) = (unwrap.offset(left), unwrap.offset(right));
    let within =
        |&(from, to): &(u32, u32)| unwrap.offset(from) <= left && right <= unwrap.offset(to);
    let repeated = right <= ack || more.first().is_some_and(within);
    if repeated && left < right {
        (right - left).min(MAX_REPEATED)
    } else {
        0
    }
}

/// `packets` packets of a merged frame from the `nth` on, each with `len` bytes: merging takes packets with the same
/// acknowledgement and timestamps, and a push ends it.
fn part(seg: &Segment, nth: u16, packets: u16, len: u32) -> Segment {
    let before = u32::from(nth) * len;
    let left = seg.payload_len.saturating_sub(before);
    let payload_len = left.min(u32::from(packets).saturating_mul(len));
    let flags = match payload_len < left {
        true => TcpFlags(seg.flags.0 & !TcpFlags::PSH),
        false => seg.flags,
    };
    Segment {
        seq: seg.seq.wrapping_add(before),
        payload_len,
        ip_id: seg.ip_id.wrapping_add(nth),
        flags,
        ..*seg
    }
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
    duplicated: u64,
    /// Packets whose TCP options the capture does not hold whole.
    cut: u64,
    /// Packets without data, SYN and FIN included.
    bare: u32,
    /// One past the highest byte of the other host that this one acknowledged or SACKed before any of it was captured.
    reported: Option<u32>,
    /// Frames of several packets, if there were any.
    merged: Option<Box<Merged>>,
}

/// One duplicate is no longer than this, bytes: a super-segment.
const MAX_REPEATED: i64 = 65_536;

/// A host that only sends data sends so many packets without data: a SYN, perhaps again, and its acknowledgement.
const MAX_EMPTY_PACKETS_OF_HANDSHAKE: u32 = 4;

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
    /// Shift of the windows that the data's receiver tells; `None` without handshake.
    pub(crate) window_shift: Option<u8>,
}

/// What is known of one direction's data when the first of it is seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    /// The SYN of its sender, if it was captured.
    pub(crate) hello: Option<Hello>,
    /// As [`Side::reported`] of its receiver.
    pub(crate) reported: Option<u32>,
}

/// What else the connection knows of the sender of data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// How soon it answers at best, nanoseconds.
    pub(crate) to_sender_ns: Option<i64>,
    /// Its SYN was captured.
    pub(crate) syn_seen: bool,
}

impl Shared {
    pub(crate) fn new(sack: Option<bool>, timestamps: bool, peer_mss: u16) -> Self {
        let mut shared = Shared {
            sack,
            timestamps,
            full: 0,
            window_shift: None,
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

impl Side {
    /// Looks at a packet this host sent, before the engines do. `None` for a frame that was captured twice.
    #[inline(always)]
    pub(crate) fn observe(&mut self, seg: &Segment) -> Option<Numbering> {
        let packets = match seg.payload_len {
            len if len > MAX_ETHERNET_PAYLOAD => {
                len.div_ceil(u32::from(self.wire_mss.max(536))) as u16
            }
            _ => 1,
        };
        let seen = self.ids.observe(seg, packets);
        if self.recent.take_twin(seg) {
            self.duplicated += 1;
            return None;
        }
        let seen = match seen.unusual {
            true => self.look_closer(seg, seen, packets)?,
            false => seen,
        };
        self.recent.push(seg);
        if packets > 1 {
            self.merged.get_or_insert_default().push(seg);
        }
        self.cut += u64::from(seg.has(Has::OPTIONS_CUT));
        self.bare = self.bare.saturating_add(u32::from(seg.payload_len == 0));
        if seg.sack_len > 0 {
            self.sack_seen = true;
        }
        Some(seen)
    }

    /// As [`Side::observe`], where the identification does not just follow on the one before.
    #[cold]
    #[inline(never)]
    fn look_closer(&mut self, seg: &Segment, seen: Numbering, packets: u16) -> Option<Numbering> {
        let overlaps = seen.overlaps();
        if overlaps && (self.recent.contains(seg) || self.was_merged(seg)) {
            self.duplicated += 1;
            return None;
        }
        let seen = match packets {
            2.. if overlaps => self.without_twins(seg, seen, packets),
            _ => seen,
        };
        if seen.repeated == 0 {
            self.ids.repeats(seen);
        }
        if seen.gap {
            self.note_vanished(seg);
        }
        Some(seen)
    }

    /// An earlier frame holds this packet, merged with its neighbours.
    fn was_merged(&self, seg: &Segment) -> bool {
        let merged = self.merged.as_ref();
        self.ids.trusted() && merged.is_some_and(|merged| merged.holds(seg))
    }

    /// A merged frame may begin with packets that the network delivered twice, and whose first copies came before it.
    fn without_twins(&mut self, seg: &Segment, seen: Numbering, packets: u16) -> Numbering {
        let len = u32::from(self.wire_mss.max(536));
        let came = |nth: &u16| {
            let packet = part(seg, *nth, 1, len);
            self.recent.contains(&packet) || self.was_merged(&packet)
        };
        let repeated = (0..packets - 1).take_while(came).count() as u16;
        if repeated == 0 {
            return seen;
        }
        self.duplicated += u64::from(repeated);
        seen.behind(repeated)
    }

    /// What is left of a frame without the packets that it repeats.
    #[cold]
    pub(crate) fn behind_twins(&self, seg: &Segment, repeated: u16) -> Segment {
        part(seg, repeated, u16::MAX, u32::from(self.wire_mss.max(536)))
    }

    /// The capture holds each frame twice, as its first ones show.
    pub(crate) fn note_doubled(&mut self) {
        self.recent.note_doubled();
    }

    /// Packets of this host were not captured just before `seg`.
    fn note_vanished(&mut self, seg: &Segment) {
        let sender = self.engines.as_mut().and_then(|e| e.sender.as_mut());
        if let Some(sender) = sender {
            sender.note_unseen(seg.ts_ns);
        }
    }

    /// The capture's clock was set back just before `now`.
    pub(crate) fn note_clock_set(&mut self, now: i64) {
        let sender = self.engines.as_mut().and_then(|e| e.sender.as_mut());
        if let Some(sender) = sender {
            sender.note_clock_set(now);
        }
    }

    /// A packet of this host has carried timestamps.
    pub(crate) fn note_timestamps(&mut self) {
        self.timestamps = true;
    }

    /// What both directions share has become known.
    pub(crate) fn note_shared(&mut self, shared: &Shared) {
        self.full = shared.full;
        let Some(engines) = &mut self.engines else {
            return;
        };
        engines.window_shift = shared.window_shift;
        let sender = engines.sender.as_mut();
        if let Some(sender) = sender.filter(|_| shared.timestamps) {
            sender.note_timestamps();
        }
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
        if len > self.max_payload
            && (len <= MAX_ETHERNET_PAYLOAD || FULL_PAYLOADS_OF_JUMBO_FRAMES.contains(&len))
        {
            self.max_payload = len;
        }
        if len > MAX_ETHERNET_PAYLOAD && self.max_payload < 1_000 {
            return MAX_ETHERNET_PAYLOAD - shared.option_len();
        }
        self.max_payload.max(536)
    }

    /// Notes what this host reports to have, while no data of the other one has been captured.
    #[inline]
    pub(crate) fn note_reported(&mut self, seg: &Segment) {
        if !seg.flags.any(TcpFlags::ACK) || seg.flags.any(TcpFlags::RST) {
            return;
        }
        let edges = seg.sack_blocks().iter().map(|block| block.1);
        let later = |a: u32, b: u32| if (b.wrapping_sub(a) as i32) > 0 { b } else { a };
        let known = self.reported.unwrap_or(seg.ack);
        self.reported = Some(edges.fold(later(known, seg.ack), later));
    }

    /// See [`Side::reported`](field@Side::reported).
    pub(crate) fn reported(&self) -> Option<u32> {
        self.reported
    }

    /// Follows the data from `seg` on.
    pub(crate) fn follow(
        &mut self,
        seg: &Segment,
        start: &Start,
        (choice, config, shared): (VantageChoice, &Config, &Shared),
    ) {
        let base = start
            .hello
            .map_or(first_byte(seg), |h| h.isn.wrapping_add(1));
        let mut engines = Engines::new(base, choice, config, shared);
        if start.hello.is_none() {
            let ahead = start
                .reported
                .map_or(0, |edge| edge.wrapping_sub(base) as i32);
            engines.begins_without_syn(seg, i64::from(ahead.max(0)));
        }
        self.engines = Some(Box::new(engines));
    }

    /// Data of this direction, once it is followed.
    #[inline(always)]
    pub(crate) fn data(
        &mut self,
        seg: &Segment,
        seen: Numbering,
        shared: &Shared,
        known: impl FnOnce() -> Known,
    ) {
        let mss = self.mss(seg, shared);
        // An MSS is no larger, and neither is a jumbo frame.
        self.wire_mss = mss as u16;
        let Some(engines) = self.engines.as_deref_mut() else {
            return;
        };
        let offset = engines.unwrap.offset(first_byte(seg));
        engines.unwrap.advance(offset + i64::from(seg.payload_len));
        if engines.closed && seg.payload_len == 1 && offset == engines.una {
            // A probe of the closed window (RFC 9293 section 3.8.6.1): data only if the receiver takes it.
            engines.probe = Some(Box::new(*seg));
            return;
        }
        if seen.unusual && seen.step.is_some_and(|s| s < 0) {
            engines.arrival.note_late_number(seg);
        }
        let plain = seen.vanished == 0 && engines.arrival.in_order(seg, offset, mss);
        if plain {
            let len = seg.payload_len;
            engines.cost.sent(seg.ts_ns, offset + i64::from(len), len);
            if engines.more {
                engines.in_order(seg, offset);
            }
            return;
        }
        let mut heard = Heard {
            sender: &mut engines.sender,
            rtts: &mut engines.rtts,
            what_if: &mut engines.what_if,
            usual: &mut engines.usual,
            named: &mut engines.named,
            points: &mut engines.points,
            cost: &mut engines.cost,
            una: engines.una,
        };
        let known = known();
        let cx = Context {
            mss,
            timestamps: shared.timestamps,
            sack: shared.sack.unwrap_or(true),
            ip_id: self.ids.trusted(),
            follows: seen.step == Some(1),
            // Where this host acknowledges data of the other one, too, it may have been an acknowledgement.
            vanished: if self.bare > MAX_EMPTY_PACKETS_OF_HANDSHAKE {
                0
            } else {
                seen.vanished
            },
            step: if self.ids.perhaps_dense() {
                seen.packets_ahead()
            } else {
                0
            },
            to_sender_ns: known.to_sender_ns,
            una: engines.una,
            syn_seen: known.syn_seen,
        };
        engines
            .arrival
            .data(seg, offset, &cx, |piece, at, len| match piece {
                Piece::Again => heard.again(seg, at, len),
                Piece::New => {
                    heard.rtts.sent(at + i64::from(len), seg.ts_ns);
                    heard.original(seg, at, len);
                }
                Piece::Late => heard.original(seg, at, len),
            });
    }

    /// A packet of the host `from`, for this direction's data; `to_receiver_ns` says how soon
    /// that host answers at best.
    #[inline(always)]
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
        if engines.sender.is_none() && engines.arrival.has_just_begun(seg.ts_ns) {
            let edges = seg.sack_blocks().iter();
            let edges = edges.map(|block| engines.unwrap.offset(block.1));
            engines.arrival.reported(edges.fold(ack, i64::max));
        }
        if engines.arrival.suspects_refusal() {
            let unwrap = &engines.unwrap;
            let sacked = |from, to| {
                let mut blocks = seg.sack_blocks().iter();
                blocks.any(|&(a, b)| unwrap.offset(a) < to && from < unwrap.offset(b))
            };
            engines.arrival.answered(ack, sacked);
        }
        if engines.sender.is_none()
            && repeated_by(seg, &engines.unwrap, ack) > 0
            && let Some(&(left, right)) = seg.sack_blocks().first()
        {
            let (left, right) = (engines.unwrap.offset(left), engines.unwrap.offset(right));
            engines.arrival.reported_twice(left, right);
        }
        let advances = ack > engines.una;
        if advances {
            engines.una = ack;
        }
        if engines.closed || seg.window == 0 || engines.probe.is_some() {
            engines.window_told(seg, advances);
        }
        let mut unseen = false;
        if engines.arrival.has_holes() {
            let unwrap = &engines.unwrap;
            let blocks = seg.sack_blocks().iter();
            let blocks = blocks.map(|b| (unwrap.offset(b.0), unwrap.offset(b.1)));
            unseen = engines.arrival.lacks(engines.una, blocks);
        }
        if advances {
            engines.arrival.acknowledged(ack, seg.ts_ns);
            engines.rtts.acknowledged(ack, seg.ts_ns);
            if let Some(points) = &mut engines.points {
                points.push(seg.ts_ns, ack, PointKind::Ack);
            }
        }
        if let Some(sender) = &mut engines.sender {
            if let Some(rtt) = to_receiver_ns() {
                sender.note_rtt(rtt);
            }
            if unseen {
                sender.note_unseen_arrival(seg.frame);
            }
            sender.acknowledged(seg, from.ids_dense());
        }
        match engines.sender.as_deref() {
            None => engines
                .cost
                .acknowledged_at_receiver(seg.ts_ns, engines.una),
            Some(sender) => engines.cost.acknowledged(&Answer {
                now: seg.ts_ns,
                una: engines.una,
                delivered: sender.delivered().max(engines.una),
                repeated: repeated_by(seg, &engines.unwrap, ack),
                edge: engines.window_edge(seg),
                rtt_ns: sender.usual_rtt(),
            }),
        }
    }

    /// Frames of this host that were captured twice.
    pub(crate) fn duplicated(&self) -> u64 {
        self.duplicated
    }

    /// Packets of this host whose options the capture does not hold whole.
    pub(crate) fn options_cut(&self) -> u64 {
        self.cut
    }

    /// True when a number missing in this host's identification is a packet missing.
    pub(crate) fn ids_dense(&self) -> bool {
        self.ids.dense()
    }

    /// Reports on this direction to `out`, if it carried data.
    pub(crate) fn finish(&mut self, key: &FlowKey, dir: Dir, end: &End, out: &mut FlowTable) {
        let Some(engines) = self.engines.take() else {
            return;
        };
        let (src, dst) = key.ends(dir);
        let flow = FlowId {
            src: src.socket_addr(),
            dst: dst.socket_addr(),
            overlay: key.overlay,
            reuse: end.reuse,
        };
        out.push(self.report(engines, flow, end));
    }
}
