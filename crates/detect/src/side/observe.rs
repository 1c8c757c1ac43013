//! A packet of one host before the engines see it: what its identification tells, and whether it was captured before.

use inorder_twice::{MAX_APART_NS, Requests};
use inorder_wire::{Has, Segment, TcpFlags};

use super::{MAX_ETHERNET_PAYLOAD, Side};
use crate::kept::Kept;
use crate::numbering::Numbering;

/// The same for frames without an identification, nanoseconds: a sender repeats nothing so soon, and what several
/// interfaces of a host or both ends of a bridge capture is microseconds apart.
const MAX_APART_WITHOUT_ID_NS: i64 = 1_000_000;
/// The same where no acknowledgement can have asked for the data meanwhile, as a known round trip or equal timestamps show, nanoseconds: what the
/// network delivers twice is milliseconds apart, and the copies that senders make in advance are 10 ms apart.
const MAX_APART_UNASKED_NS: i64 = 5_000_000;
/// A retransmission comes no more than this number of round trips after the receiver last asked for it: later, a timer has expired.
const LOOPS: i64 = 4;
/// Maximum time between two acknowledgements of one identification for the second to be a duplicate frame whatever was said between them,
/// nanoseconds.
const MAX_APART_OF_ACKS_NS: i64 = 10_000_000;

/// Duplicate frames that come as late as retransmissions, where none came sooner, before they are taken for retransmissions that keep their
/// identifications: what captures a frame twice does so each time, and within what a switch or a host takes.
const MAX_FAR_TWINS: u8 = 2;

/// Minimum length of the packets that a merged frame consists of, bytes: the MSS where none is offered (RFC 9293 section 3.7.1).
const MIN_PACKET_LEN: u16 = 536;

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

/// Whether data that came before was asked for meanwhile.
#[derive(Clone, Copy)]
struct Wanted {
    asked: bool,
    /// A retransmission that was asked for takes longer.
    soon: bool,
    /// That is known by the round trip, and nothing was missing in the last ones: what comes soon behind what filled a hole may be its late
    /// original.
    unasked: bool,
}

impl Wanted {
    /// `seg` came `apart_ns` before; its receiver asks by `requests`, and a retransmission takes `loop_ns`.
    fn of(seg: &Segment, apart_ns: i64, requests: &Requests, loop_ns: Option<i64>) -> Self {
        let soon = apart_ns < loop_ns.map_or(MAX_APART_WITHOUT_ID_NS, |ns| ns - ns / 4);
        let complete = |ns: i64| !requests.lacked_within(ns.saturating_mul(LOOPS), seg.ts_ns);
        Wanted {
            asked: requests.are_for(seg, apart_ns),
            soon,
            unasked: soon && loop_ns.is_some_and(complete),
        }
    }
}

impl Side {
    /// Looks at a packet this host sent to `other`, before the engines do. `None` for a frame that was captured twice. A retransmission
    /// that was asked for passes no sooner than `loop_ns` after what it repeats.
    #[inline(always)]
    pub(crate) fn observe(
        &mut self,
        seg: &Segment,
        other: &Side,
        loop_ns: impl Fn() -> Option<i64>,
    ) -> Option<Numbering> {
        let packets = match seg.payload_len {
            len if len > MAX_ETHERNET_PAYLOAD => len.div_ceil(self.packet_len()) as u16,
            _ => 1,
        };
        let seen = self.ids.observe(seg, packets);
        if self.recent.take_twin(seg) {
            self.duplicated += 1;
            return None;
        }
        let search = seen.unusual || !self.ids.trusted();
        let came_before = self.recent.push(seg, search);
        if let Some(apart_ns) = came_before {
            if self.captured_twice(seg, apart_ns, other, loop_ns()) {
                self.duplicated += 1;
                return None;
            }
            self.recent.renew(seg);
        }
        let unnumbered = self.merged.is_some() && seg.ip_id == 0 && packets == 1;
        let seen = match seen.unusual || unnumbered {
            true => self.look_closer(seg, seen, packets, (other, &loop_ns))?,
            false => seen,
        };
        self.recent.note_ttl(seg);
        if packets > 1 {
            self.merged.get_or_insert_default().push(seg);
        }
        if seg.has & (Has::OPTIONS_CUT | Has::TIMESTAMPS) == 0 {
            self.cut.note_plain(seg);
        }
        self.requests.note(seg);
        self.sack_seen |= seg.sack_len > 0;
        Some(seen)
    }

    /// The same packet came `apart_ns` before: is this a duplicate frame made by the capture, or a second delivery? A retransmission has
    /// an identification of its own, unless the host keeps those it gave or gives none. Then what was asked for meanwhile is
    /// a retransmission, if that can have passed within the time (`loop_ns`), and duplicate frames are not known to be as far apart.
    #[cold]
    #[inline(never)]
    fn captured_twice(
        &mut self,
        seg: &Segment,
        apart_ns: i64,
        other: &Side,
        loop_ns: Option<i64>,
    ) -> bool {
        // A retransmission with its old identification may take another of several paths.
        let keeps = self.repeating.kept() == Kept::Yes || seg.ip_id == 0;
        if let Some(hops) = self.recent.passed_more_routers(seg).filter(|_| !keeps) {
            // A router that held it for long takes as much of its time to live as it did from the others.
            let usual = hops == self.twins.hops || hops == other.twins.hops;
            if usual || apart_ns <= MAX_APART_NS {
                self.twins.hops = hops;
                return self.note_twin(apart_ns <= MAX_APART_NS, apart_ns) || usual;
            }
        }
        let asked = other.requests.are_for(seg, apart_ns);
        if seg.payload_len == 0 {
            let most_ns = match (seg.ip_id, asked) {
                (0, true) => return false,
                (0, false) => MAX_APART_WITHOUT_ID_NS,
                (_, true) => MAX_APART_OF_ACKS_NS,
                (_, false) => MAX_APART_NS,
            };
            return self.note_twin(apart_ns <= most_ns, apart_ns);
        }
        let wanted = Wanted::of(seg, apart_ns, &other.requests, loop_ns);
        // What comes behind a probe of the tail may be its late original.
        if seg.ip_id == 0
            && !seg.has(Has::TIMESTAMPS)
            && !(wanted.unasked && self.is_overtaken(seg))
        {
            return false;
        }
        let soon = wanted.soon;
        let twice = self.is_data_twice(seg, apart_ns, wanted) && !self.seems_sent_again(seg, soon);
        if seg.ip_id != 0 && !twice {
            self.repeating.seen();
        }
        if seg.ip_id != 0 && !soon {
            self.repeating.suspect();
        }
        self.note_twin(twice && soon, apart_ns);
        twice
    }

    /// Nobody was seen to ask for `seg`, which came before with the same identification. No duplicate frame has come as soon as all others do, and
    /// these come no sooner than retransmissions: as long as they are few, they are duplicate frames all the same.
    fn seems_sent_again(&mut self, seg: &Segment, soon: bool) -> bool {
        if soon
            || seg.ip_id == 0
            || self.repeating.kept() != Kept::Unknown
            || self.twins.apart_ns > 0
        {
            return false;
        }
        self.twins.far = self.twins.far.saturating_add(1);
        self.twins.far > MAX_FAR_TWINS
    }

    /// Data that came `apart_ns` before, and that the other host may have `wanted` meanwhile, is a duplicate frame.
    fn is_data_twice(&self, seg: &Segment, apart_ns: i64, wanted: Wanted) -> bool {
        let usual = apart_ns <= self.twins.apart_ns.saturating_mul(2);
        let Wanted {
            asked,
            soon,
            unasked,
        } = wanted;
        let stamped = seg.has(Has::TIMESTAMPS);
        match self.repeating.kept() {
            Kept::No | Kept::Unknown if stamped && self.clock.moves_within(apart_ns) => {
                // Whoever asked for it, its sender would have stamped it anew (RFC 7323 section 4.1).
                apart_ns <= MAX_APART_NS
            }
            _ if seg.ip_id == 0 => {
                let most_ns = match unasked || soon && stamped {
                    true => MAX_APART_UNASKED_NS,
                    false => MAX_APART_WITHOUT_ID_NS,
                };
                apart_ns <= most_ns && (unasked || !asked)
            }
            Kept::No => apart_ns <= MAX_APART_NS,
            _ if asked => soon || usual,
            Kept::Yes => apart_ns <= MAX_APART_WITHOUT_ID_NS || usual,
            Kept::Unknown => apart_ns <= MAX_APART_NS,
        }
    }

    /// Where `twice`, a duplicate frame of the capture came `apart_ns` after its first one.
    fn note_twin(&mut self, twice: bool, apart_ns: i64) -> bool {
        if twice {
            self.twins.apart_ns = self.twins.apart_ns.max(apart_ns);
        }
        twice
    }

    /// As [`Side::observe`], where the identification does not just follow on the one before, or tells nothing.
    #[cold]
    #[inline(never)]
    fn look_closer(
        &mut self,
        seg: &Segment,
        seen: Numbering,
        packets: u16,
        (other, loop_ns): (&Side, &impl Fn() -> Option<i64>),
    ) -> Option<Numbering> {
        let overlaps = seen.overlaps();
        if (overlaps || seg.ip_id == 0) && self.was_merged(seg, other, loop_ns) {
            self.duplicated += 1;
            return None;
        }
        let seen = match packets {
            2.. if overlaps => self.without_twins(seg, seen, packets, (other, loop_ns)),
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

    /// Payload of each packet of a merged frame but the last, bytes.
    #[inline]
    fn packet_len(&self) -> u32 {
        u32::from(self.wire_mss.max(MIN_PACKET_LEN))
    }

    /// An earlier frame holds this packet, merged with its neighbours, and it is no retransmission.
    fn was_merged(&self, seg: &Segment, other: &Side, loop_ns: &impl Fn() -> Option<i64>) -> bool {
        let merged = self.merged.as_ref();
        let Some(age_ns) = merged.and_then(|merged| merged.age_ns(seg)) else {
            return false;
        };
        let wanted = Wanted::of(seg, age_ns, &other.requests, loop_ns());
        self.is_data_twice(seg, age_ns, wanted)
    }

    /// A merged frame may begin with packets that the network delivered twice, and whose first copies came before it.
    fn without_twins(
        &mut self,
        seg: &Segment,
        seen: Numbering,
        packets: u16,
        (other, loop_ns): (&Side, &impl Fn() -> Option<i64>),
    ) -> Numbering {
        let len = self.packet_len();
        let came = |nth: &u16| {
            let packet = part(seg, *nth, 1, len);
            self.recent.contains(&packet) || self.was_merged(&packet, other, loop_ns)
        };
        let repeated = (0..packets - 1).take_while(came).count() as u16;
        if repeated == 0 {
            return seen;
        }
        self.duplicated += u64::from(repeated);
        Numbering::behind(repeated)
    }

    /// What is left of a frame without the packets that it repeats.
    #[cold]
    pub(crate) fn behind_twins(&self, seg: &Segment, repeated: u16) -> Segment {
        part(seg, repeated, u16::MAX, self.packet_len())
    }

    /// A packet like `seg` came at the time that `seg` has.
    pub(crate) fn came_at_this_time(&self, seg: &Segment) -> bool {
        self.recent.came_at_this_time(seg)
    }

    /// Data above it has come.
    fn is_overtaken(&self, seg: &Segment) -> bool {
        let end = seg.seq.wrapping_add(seg.payload_len);
        self.distance(end).is_some_and(|distance| distance < 0)
    }

    /// It carries nothing above the highest data so far.
    pub(crate) fn is_below(&self, seg: &Segment) -> bool {
        let end = seg.seq.wrapping_add(seg.payload_len);
        self.distance(end).is_none_or(|distance| distance <= 0)
    }

    /// The last timestamp of its data in order.
    pub(crate) fn last_stamp(&self) -> Option<u32> {
        self.clock.last()
    }

    /// Its data was sent and has not been acknowledged.
    pub(crate) fn waits(&self) -> bool {
        self.engines
            .as_ref()
            .is_some_and(|engines| engines.unwrap.highest() > engines.una)
    }

    /// Some of that would be acknowledged by `ack`.
    pub(crate) fn waits_for(&self, ack: u32) -> bool {
        let engines = self.engines.as_ref().filter(|_| self.waits());
        engines.is_some_and(|engines| engines.unwrap.offset(ack) > engines.una)
    }

    /// The file holds `frames` of this host's frames again.
    pub(crate) fn note_captured_again(&mut self, frames: u64) {
        self.duplicated += frames;
    }

    /// The capture holds each frame `copies` times, as its first ones show.
    pub(crate) fn note_copied(&mut self, copies: u8) {
        self.recent.note_copied(copies);
    }

    /// Packets of this host were not captured just before `seg`.
    fn note_vanished(&mut self, seg: &Segment) {
        let sender = self.engines.as_mut().and_then(|e| e.sender.as_mut());
        if let Some(sender) = sender {
            sender.note_unseen(seg.ts_ns);
        }
    }
}
