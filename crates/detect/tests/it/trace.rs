//! One connection as a capture has it, packet by packet.

use inorder_detect::{Confidence, Config, FlowReport, Kind, Tracker, Vantage};
use inorder_wire::{Dir, Endpoint, FlowKey, Has, Segment, TcpFlags};

pub(crate) const MS: i64 = 1_000_000;
pub(crate) const ISN: u32 = 1_000;
pub(crate) const LEN: u32 = 1_000;

/// One connection as a capture has it; times in milliseconds.
pub(crate) struct Trace {
    pub(crate) key: FlowKey,
    pub(crate) dir: Dir,
    pub(crate) tracker: Tracker,
    pub(crate) frame: u64,
}

impl Trace {
    pub(crate) fn new(vantage: Option<Vantage>) -> Self {
        let (key, dir) = FlowKey::new(Endpoint::v4(9, 10), Endpoint::v4(2, 20), 0);
        let config = Config::default()
            .vantage(vantage)
            .keep_events(true)
            .what_if(false);
        Trace {
            key,
            dir,
            tracker: Tracker::new(config),
            frame: 0,
        }
    }

    pub(crate) fn push(&mut self, dir: Dir, at_us: i64, seg: Segment) {
        self.frame += 1;
        let (ts_ns, frame) = (at_us * MS / 1_000, self.frame);
        let seg = Segment {
            ts_ns,
            frame,
            ..seg
        };
        self.tracker.push(&self.key, dir, &seg);
    }

    /// SYN, SYN/ACK (as often as `answers` has times) and ACK.
    pub(crate) fn handshake(&mut self, syn_us: i64, answers: &[i64], ack_us: i64, sack: bool) {
        let option = if sack { Has::SACK_PERMITTED } else { 0 };
        self.handshake_with(syn_us, answers, ack_us, option);
    }

    pub(crate) fn handshake_with(&mut self, syn_us: i64, answers: &[i64], ack_us: i64, option: u8) {
        // The MSS counts the bytes of timestamps (RFC 6691).
        let stamps = if option & Has::TIMESTAMPS > 0 { 12 } else { 0 };
        let syn = |flags, seq, ack| Segment {
            seq,
            ack,
            mss: (LEN + stamps) as u16,
            flags: TcpFlags(flags),
            has: option,
            window: 60_000,
            ..Segment::default()
        };
        self.push(self.dir, syn_us, syn(TcpFlags::SYN, ISN, 0));
        for &at_us in answers {
            let both = TcpFlags::SYN | TcpFlags::ACK;
            self.push(self.dir.reverse(), at_us, syn(both, 0, ISN + 1));
        }
        let ack = Segment {
            seq: ISN + 1,
            ack: 1,
            flags: TcpFlags(TcpFlags::ACK),
            window: 60_000,
            ..Segment::default()
        };
        self.push(self.dir, ack_us, ack);
    }

    /// The `n`th segment of the data, with an identification if it is not 0.
    pub(crate) fn data(&mut self, at_us: i64, n: u32, ip_id: u16) {
        self.bytes(at_us, n * LEN, LEN, ip_id);
    }

    pub(crate) fn bytes(&mut self, at_us: i64, from: u32, len: u32, ip_id: u16) {
        let seg = Segment {
            seq: ISN + 1 + from,
            ack: 1,
            payload_len: len,
            ip_id,
            has: if ip_id > 0 { Has::IP_ID } else { 0 },
            flags: TcpFlags(TcpFlags::ACK),
            window: 60_000,
            ..Segment::default()
        };
        self.push(self.dir, at_us, seg);
    }

    /// The `n`th segment, stamped so.
    pub(crate) fn stamped(&mut self, at_us: i64, n: u32, tsval: u32) {
        let seg = Segment {
            seq: ISN + 1 + n * LEN,
            ack: 1,
            payload_len: LEN,
            tsval,
            has: Has::TIMESTAMPS,
            flags: TcpFlags(TcpFlags::ACK),
            window: 60_000,
            ..Segment::default()
        };
        self.push(self.dir, at_us, seg);
    }

    /// The receiver has everything below `bytes`, and `blocks` above.
    pub(crate) fn ack(
        &mut self,
        at_us: i64,
        bytes: u32,
        window: u16,
        blocks: &[(u32, u32)],
        has: u8,
    ) {
        let mut seg = Segment {
            seq: 1,
            ack: ISN + 1 + bytes,
            window,
            has,
            flags: TcpFlags(TcpFlags::ACK),
            sack_len: blocks.len() as u8,
            ..Segment::default()
        };
        for (place, &(from, to)) in seg.sack.iter_mut().zip(blocks) {
            *place = (ISN + 1 + from, ISN + 1 + to);
        }
        // Where options are cut, there was a block.
        self.push(self.dir.reverse(), at_us, seg.with_all_sack_blocks(1));
    }

    pub(crate) fn flow(self) -> FlowReport {
        let mut flows = self.tracker.finish();
        flows.retain(|flow| flow.originals.packets > 1);
        assert_eq!(flows.len(), 1);
        flows.remove(0)
    }
}

/// Events above ambiguous.
pub(crate) fn asserted(flow: &FlowReport) -> Vec<(Kind, Confidence)> {
    let events = flow.records.events.iter();
    let sure = events.filter(|e| e.confidence != Confidence::Ambiguous);
    sure.map(|e| (e.kind, e.confidence)).collect()
}

/// Pairs of segments, each acknowledged 20 ms later, as a file holds them; with an identification or none.
pub(crate) fn in_order(trace: &mut Trace, pairs: std::ops::Range<u32>, numbered: bool) {
    for pair in pairs {
        let (n, at_us) = (2 * pair, 30_000 + i64::from(pair) * 1_000);
        let id = |n: u32| if numbered { 1 + n as u16 } else { 0 };
        trace.data(at_us, n, id(n));
        trace.data(at_us + 10, n + 1, id(n + 1));
        trace.ack(at_us + 900, (n + 2) * LEN, 60_000, &[], 0);
    }
}
