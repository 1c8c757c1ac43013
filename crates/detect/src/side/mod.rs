//! One direction of a connection: its data, and the ACKs that answer it.

mod answers;
mod cut;
mod engines;
mod findings;
mod known;
mod observe;
mod repeating;
mod report;

use inorder_twice::{Merged, Recent, Requests};
use inorder_wire::{Complaint, Dir, FlowKey, Has, Segment, TcpFlags};

use crate::arrival::{Context, Piece};
use crate::complaints::Complaints;
use crate::config::Config;
use crate::copies::{Above, Marks, RoundTrip};
use crate::flow_table::FlowTable;
use crate::habits::Identification;
use crate::kept::Kept;
use crate::numbering::{IdCounter, Numbering, first_byte};
use crate::result::{FlowId, Vantage, VantageBasis, VantageChoice};
use crate::stamps::StampClock;
use cut::Cut;
use engines::{Engines, Heard};
use known::TheEnd;
use repeating::Repeating;

pub(crate) use known::{Hello, Known, MAX_WSCALE, Reported, Shared, Start};
pub(crate) use report::{End, Times};

/// Payloads up to this fit the usual Ethernet; larger ones are super-segments, unless jumbo.
const MAX_ETHERNET_PAYLOAD: u32 = 1_460;
/// Maximum number of segments in one frame.
const MAX_PIECES: u32 = 512;
/// Payloads of full segments on links with an MTU of 9,000.
const FULL_PAYLOADS_OF_JUMBO_FRAMES: [u32; 4] = [8_948, 8_960, 8_928, 8_940];

/// `seg` without its first `bytes`, which lie before the first byte there is: a keep-alive may carry one of them before any data
/// (RFC 9293 section 3.8.4), and none was sent before.
#[cold]
fn behind_the_syn(seg: &Segment, bytes: u32) -> Segment {
    Segment {
        seq: seg.seq.wrapping_add(bytes),
        payload_len: seg.payload_len.saturating_sub(bytes),
        ..*seg
    }
}

/// What the duplicate frames of one host have in common.
#[derive(Clone, Copy, Debug, Default)]
struct TwinHabit {
    /// The longest time between a frame and its duplicate frame that can have been nothing else, nanoseconds.
    apart_ns: i64,
    /// Those that came no sooner than retransmissions, while no other had come.
    far: u8,
    /// How many routers the last one had passed beyond its first one, modulo 256; 0 where there was none that had.
    hops: u8,
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
    /// Largest payload of a packet on the wire so far.
    max_payload: u32,
    duplicated: u64,
    /// What the capture holds of TCP options that are not whole.
    cut: Cut,
    requests: Requests,
    /// What it does when it sends data again.
    repeating: Repeating,
    /// What its duplicate frames have in common.
    twins: TwinHabit,
    clock: StampClock,
    /// What this host said it had before any data of the other one was captured.
    reported: Option<Box<Reported>>,
    /// The FIN that was captured before any of its data.
    early_end: Option<Box<TheEnd>>,
    /// Its segments without data that told of some before any was captured.
    #[allow(clippy::box_collection)] // Rare, and a vector takes three words.
    early_numbers: Option<Box<Vec<Segment>>>,
    /// The number of its last segment without data.
    number: u32,
    /// Frames of several packets, if there were any.
    merged: Option<Box<Merged>>,
    /// Its SYN was captured before its data: no byte lies before the first one.
    opened: bool,
    /// The capture was made beside it, as other connections show.
    beside: bool,
}

heap!(Side: engines, recent, reported, early_end, early_numbers, merged);

/// Segments without data that are remembered before any data was captured.
const MAX_EARLY_NUMBERS: usize = 4;

impl Side {
    /// Both directions, with what is known of their hosts. An array's default would copy each of them twice.
    #[inline(always)]
    pub(crate) fn both(key: &FlowKey, config: &Config) -> Box<[Side; 2]> {
        let mut both = Box::new([Side::default(), Side::default()]);
        let assumed = config.assumed.sender_identification;
        if assumed != Identification::Unknown || !config.hosts.is_empty() {
            for dir in [Dir::LowToHigh, Dir::HighToLow] {
                let side = &mut both[dir.index()];
                let known = config.hosts.known(key, dir);
                side.beside = known.beside;
                side.repeating = Repeating::new(known, assumed);
                side.ids.assume(assumed);
            }
        }
        both
    }

    /// The place of the capture by this host's and the `receiver`'s other connections, where the times of this one leave it between the two.
    pub(crate) fn placed(&self, receiver: &Side, choice: VantageChoice) -> VantageChoice {
        let timed = matches!(choice.basis, VantageBasis::Handshake | VantageBasis::Timing);
        let open = timed && choice.vantage == Vantage::Middle;
        let vantage = match (self.beside, receiver.beside) {
            (true, false) if open => Vantage::Sender,
            (false, true) if open => Vantage::Receiver,
            _ => return choice,
        };
        VantageChoice {
            vantage,
            basis: VantageBasis::Others,
            ..choice
        }
    }

    /// The capture's clock was set back just before `now`.
    pub(crate) fn note_clock_set(&mut self, now: i64) {
        let sender = self.engines.as_mut().and_then(|e| e.sender.as_mut());
        if let Some(sender) = sender {
            sender.note_clock_set(now);
        }
    }

    /// The end of the data comes by, as a packet of its own: the FIN `seg`.
    #[cold]
    pub(crate) fn note_end(&mut self, seg: &Segment) {
        let end = TheEnd {
            number: seg.seq,
            above: Above::of(seg),
        };
        match &mut self.engines {
            Some(engines) => engines.note_end(&end),
            None => _ = self.early_end.get_or_insert_with(|| Box::new(end)),
        }
    }

    /// The host sends `seg`, an acknowledgement without data. What lies below its number has been sent; `hello` is the host's SYN, if that was
    /// captured. True if it is a keep-alive.
    #[inline(always)]
    pub(crate) fn note_number(&mut self, seg: &Segment, hello: Option<&Hello>) -> bool {
        seg.seq != self.number && self.note_other_number(seg, hello)
    }

    /// `seg`, without new data, repeats the number before the next one, and the other host lacks nothing (RFC 9293 section 3.8.4).
    pub(crate) fn is_keep_alive(&self, seg: &Segment, hello: Option<&Hello>) -> bool {
        match &self.engines {
            Some(engines) => !engines.closed && !self.waits() && self.distance(seg.seq) == Some(-1),
            None => hello.is_some_and(|hello| hello.isn == seg.seq),
        }
    }

    #[cold]
    #[inline(never)]
    fn note_other_number(&mut self, seg: &Segment, hello: Option<&Hello>) -> bool {
        if self.is_keep_alive(seg, hello) {
            return true;
        }
        self.number = seg.seq;
        match (&mut self.engines, hello) {
            (Some(engines), _) => engines.note_number(seg),
            // Before the SYN comes what belongs to another connection with these ports.
            (None, Some(hello))
                if seg.seq != hello.isn.wrapping_add(1) && seg.ts_ns >= hello.at_ns =>
            {
                let early = self.early_numbers.get_or_insert_default();
                if early.len() < MAX_EARLY_NUMBERS {
                    early.push(*seg);
                }
            }
            (None, _) => {}
        }
        false
    }

    /// Its data said at `now` that it had reduced its window for a congestion mark.
    #[cold]
    pub(crate) fn note_marked(&mut self, now: i64) {
        if let Some(engines) = &mut self.engines {
            engines.recorder.note_marked(now);
        }
    }

    /// A packet of this host behind its SYN has carried timestamps.
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
        let len = seg.payload_len;
        if self.full > 0 {
            if len > self.full && len <= shared.allowed {
                // It sends longer ones than it takes.
                self.full = shared.allowed;
            }
            // A longer one is several, which a card or the kernel has joined.
            self.max_payload = self.max_payload.max(len.min(self.full));
            // Hosts may offer to take 8 bytes: no frame is cut into more pieces than the largest ones are (Linux's BIG TCP, 512 kB).
            return self.full.max(len / MAX_PIECES);
        }
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
        if seg.flags.any(TcpFlags::ACK) && !seg.flags.any(TcpFlags::RST) {
            match &mut self.reported {
                Some(known) => known.add(seg),
                None => self.reported = Some(Box::new(Reported::new(seg))),
            }
        }
    }

    /// From the highest data so far to `number`, bytes; `None` if no data is followed.
    pub(crate) fn distance(&self, number: u32) -> Option<i64> {
        let unwrap = &self.engines.as_ref()?.unwrap;
        Some(unwrap.offset(number).saturating_sub(unwrap.highest()))
    }

    /// See [`Side::reported`](field@Side::reported).
    pub(crate) fn reported(&self) -> Option<Reported> {
        self.reported.as_deref().copied()
    }

    /// Follows the data from `seg` on.
    pub(crate) fn follow(
        &mut self,
        seg: &Segment,
        start: &Start,
        (choice, config, shared): (VantageChoice, &Config, &Shared),
    ) {
        self.opened = start.hello.is_some();
        let end = self.early_end.take();
        let known = start.reported.filter(|_| start.hello.is_none());
        let known = known.map(|known| match &end {
            Some(end) => known.without_end(end.number),
            None => known,
        });
        let base = start
            .hello
            .map_or(first_byte(seg), |h| h.isn.wrapping_add(1));
        // Boxed at once: it is large.
        let engines = Box::new(Engines::new(base, choice, config, shared));
        let engines = self.engines.insert(engines);
        if start.hello.is_none() {
            engines.begins_without_syn(seg, known.as_ref());
        }
        let early = self.early_numbers.take();
        for seg in early.iter().flat_map(|early| early.iter()) {
            engines.note_number(seg);
        }
        if let Some(end) = end {
            engines.note_end(&end);
        }
    }

    /// Data of this direction, once it is followed. True if it was the next in order, and nothing else.
    #[inline(always)]
    pub(crate) fn data(
        &mut self,
        seg: &Segment,
        seen: Numbering,
        shared: &Shared,
        known: impl FnOnce() -> Known,
    ) -> bool {
        let mss = self.mss(seg, shared);
        // An MSS is no larger, and neither is a jumbo frame.
        self.wire_mss = mss as u16;
        let Some(engines) = self.engines.as_deref_mut() else {
            return true;
        };
        let offset = engines.unwrap.offset(first_byte(seg));
        engines.unwrap.advance(offset + i64::from(seg.payload_len));
        if engines.closed && seg.payload_len == 1 && offset == engines.una {
            // A probe of the closed window (RFC 9293 section 3.8.6.1): data only if the receiver takes it.
            engines.probe = Some(Box::new(*seg));
            return true;
        }
        if seen.unusual && seen.step.is_some_and(|s| s < 0) {
            engines.arrival.note_late_number(seg);
        }
        let plain = engines.arrival.in_order(seg, offset, mss);
        if plain {
            self.clock.note(seg);
            let len = seg.payload_len;
            engines.recorder.sent(
                seg.ts_ns,
                offset + i64::from(len),
                len,
                (seg.tsecr, seen.follows()),
            );
            if engines.more {
                engines.in_order(seg, offset);
            }
            return true;
        }
        let behind;
        let (seg, offset) = match offset < 0 && self.opened {
            true if -offset >= i64::from(seg.payload_len) => return true,
            true => {
                behind = behind_the_syn(seg, offset.unsigned_abs() as u32);
                (&behind, 0)
            }
            false => (seg, offset),
        };
        let cx = Context {
            mss,
            una: engines.una,
            ..self.context(seg, seen, shared, known())
        };
        self.stray(seg, offset, &cx);
        false
    }

    /// What is known when `seg`, not the next in order, comes by, but where the other host is.
    #[inline(always)]
    fn context(
        &mut self,
        seg: &Segment,
        seen: Numbering,
        shared: &Shared,
        known: Known,
    ) -> Context {
        let sent_behind_ns = match shared.timestamps && seg.has(Has::TIMESTAMPS) {
            true => self.clock.note_stray(seg),
            false => 0,
        };
        Context {
            sack: shared.sack.unwrap_or(true),
            marks: Marks {
                follows: seen.step == Some(1),
                ..self.marks(shared.timestamps, known.to_sender)
            },
            counts: self.ids.trusted(),
            newest: seen.step.is_some_and(|step| step > 0),
            step: if self.ids.perhaps_dense() {
                seen.packets_ahead()
            } else {
                0
            },
            sent_behind_ns,
            syn_seen: known.syn_seen,
            ..Context::default()
        }
    }

    /// What its packets bear that tells originals from copies.
    #[inline]
    fn marks(&self, timestamps: bool, to_sender: Option<RoundTrip>) -> Marks {
        let kept = self.repeating.kept();
        Marks {
            ip_id: self.ids.trusted() && kept != Kept::Yes,
            kept,
            follows: false,
            timestamps,
            tick_ns: self.clock.tick_ns(),
            to_sender: self.repeating.round_trip(to_sender),
        }
    }

    /// Data that is not the next in order, its first byte at `offset`.
    #[inline(always)]
    fn stray(&mut self, seg: &Segment, offset: i64, cx: &Context) {
        let Some(engines) = self.engines.as_deref_mut() else {
            return;
        };
        let mut heard = Heard {
            sender: &mut engines.sender,
            rtts: &mut engines.rtts,
            what_if: &mut engines.what_if,
            usual: &mut engines.usual,
            named: &mut engines.named,
            points: &mut engines.points,
            recorder: &mut engines.recorder,
            una: engines.una,
            in_turn: cx.marks.follows,
        };
        let on_path = engines.choice.vantage == Vantage::Middle;
        engines
            .arrival
            .data(seg, offset, cx, |piece, at, len| match piece {
                Piece::Again(repeat) => heard.again(seg, (at, len), on_path.then_some(repeat)),
                Piece::New => {
                    heard.rtts.sent(at + i64::from(len), seg.ts_ns);
                    heard.original(seg, at, len);
                }
                Piece::Late(basis) => heard.late(seg, at, len, basis),
            });
        self.repeating.learn(&engines.arrival);
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
        if seg.flags.any(TcpFlags::RST) {
            if let Some(sender) = &mut engines.sender {
                sender.reset(seg, from.ids_dense());
            }
        } else if seg.flags.any(TcpFlags::ACK) {
            engines.answered(seg, from, to_receiver_ns);
        }
    }

    /// How much came of its data that was late, lost or sent again.
    pub(crate) fn troubles(&self) -> u64 {
        self.engines
            .as_ref()
            .map_or(0, |engines| engines.troubles())
    }

    /// Frames of this host that were captured twice.
    pub(crate) fn duplicated(&self) -> u64 {
        self.duplicated
    }

    /// True when a number missing in this host's identification is a packet missing.
    pub(crate) fn ids_dense(&self) -> bool {
        self.ids.dense()
    }

    /// Its identifications are to be read in the other byte order.
    #[inline]
    pub(crate) fn ids_swapped(&self) -> bool {
        self.ids.is_swapped()
    }

    /// How this host numbers its packets.
    pub(crate) fn identification(&self) -> Identification {
        match self.repeating.kept() {
            Kept::Yes => Identification::Kept,
            _ => self.ids.habit(),
        }
    }

    /// What ICMP says of this direction's data.
    pub(crate) fn note_complaints(&mut self, about: &[Complaint]) {
        let Some(engines) = &mut self.engines else {
            return;
        };
        if let Some(sender) = &mut engines.sender {
            sender.note_complaints(Complaints::new(about, &engines.unwrap));
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The receiver takes packets of 1,460 bytes, and the sender itself none of more than `own_mss`: into which lengths are frames of these
    /// cut, one after the other?
    fn cuts(own_mss: u16, frames: &[u32]) -> Vec<u32> {
        let shared = Shared::new(None, true, true, (1_460, own_mss));
        let mut side = Side::default();
        side.note_shared(&shared);
        let frames = frames.iter().map(|&payload_len| segment!(payload_len));
        frames.map(|seg| side.mss(&seg, &shared)).collect()
    }

    #[test]
    fn a_merged_frame_is_of_packets_that_its_sender_could_take_itself() {
        assert_eq!(cuts(1_400, &[5_552, 1_388, 2_776]), [1_388; 3]);
        assert_eq!(cuts(0, &[5_552]), [1_448], "not known");
        assert_eq!(cuts(9_000, &[5_552]), [1_448]);
        // It sends longer ones than it takes.
        assert_eq!(cuts(1_200, &[2_896, 1_448, 2_896]), [1_188, 1_448, 1_448]);
    }
}
