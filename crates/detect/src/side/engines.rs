//! What follows one direction's data: the arrivals, the sender's view, and what is laid over them.

use inorder_base::sequence::Offsets;
use inorder_limits::Recorder;
use inorder_wire::{Segment, TcpFlags};

use super::known::TheEnd;
use super::{Reported, Shared};
use crate::arrival::{Arrival, Repeat};
use crate::cause::RttTrace;
use crate::collect::Basis;
use crate::config::Config;
use crate::points::Points;
use crate::result::{Half, PointKind, Vantage, VantageChoice, WhatIf};
use crate::sender::{Options, Sender};
use inorder_whatif::{
    DataArrival, NamedReceivers, SortingReceivers, UsualReceivers, may_be_sorted,
};

/// The two engines that follow one direction's data.
///
/// In this order, what every packet needs is in the first two lines of the cache.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Engines {
    pub(super) unwrap: Offsets,
    pub(super) una: i64,
    /// There is more to do with data than to follow its arrivals: any of the four below.
    pub(super) more: bool,
    /// The receiver's window was closed when it last spoke.
    pub(super) closed: bool,
    /// As [`Shared::window_shift`].
    pub(super) window_shift: Option<u8>,
    pub(super) sender: Option<Box<Sender>>,
    pub(super) what_if: Option<Box<SortingReceivers>>,
    /// The what-if without a sorter and with the resequencer.
    pub(super) usual: Option<Box<UsualReceivers>>,
    /// The what-if of sorters by name.
    pub(super) named: Option<Box<NamedReceivers>>,
    pub(super) points: Option<Box<Points>>,
    /// Throughput, and what limits the transfer.
    pub(super) recorder: Recorder,
    pub(super) arrival: Arrival,
    /// Round-trip times of the data, at its sender.
    pub(super) rtts: RttTrace,
    pub(super) choice: VantageChoice,
    pub(super) keep_events: bool,
    /// Duplicates that the receiver has reported (RFC 2883 section 4), where the capture was not made next to the sender.
    pub(super) reported_twice: u64,
    /// A byte sent into the closed window, until the receiver says whether it took it.
    pub(super) probe: Option<Box<Segment>>,
}

heap!(Engines: sender, what_if, usual, named, points, recorder, arrival, rtts);

/// Data that a first ACK reports as missing reaches back no further than this before the first data captured, bytes.
const MAX_BEFORE_FIRST: i64 = 1 << 24;

/// A receiver acknowledges what has arrived within this, nanoseconds (RFC 9293 section 3.8.6.3).
const MAX_ACK_DELAY_NS: i64 = 500_000_000;

/// Takes what the arrivals make of the data.
pub(super) struct Heard<'a> {
    pub(super) sender: &'a mut Option<Box<Sender>>,
    pub(super) rtts: &'a mut RttTrace,
    pub(super) what_if: &'a mut Option<Box<SortingReceivers>>,
    pub(super) usual: &'a mut Option<Box<UsualReceivers>>,
    pub(super) named: &'a mut Option<Box<NamedReceivers>>,
    pub(super) points: &'a mut Option<Box<Points>>,
    pub(super) recorder: &'a mut Recorder,
    pub(super) una: i64,
    /// The sender sent nothing between the packet before and this one.
    pub(super) in_turn: bool,
}

impl Heard<'_> {
    pub(super) fn original(&mut self, seg: &Segment, at: i64, len: u32) {
        self.recorder.sent(
            seg.ts_ns,
            at + i64::from(len),
            len,
            (seg.tsecr, self.in_turn),
        );
        if let Some(sender) = self.sender {
            sender.sent(seg, at, len);
        }
        self.sort(seg, at, len, false);
        if let Some(points) = self.points {
            points.push(seg.ts_ns, at, PointKind::Data);
        }
    }

    /// What came by behind higher data and is an original, as sure as `basis` is.
    pub(super) fn late(&mut self, seg: &Segment, at: i64, len: u32, basis: Basis) {
        self.original(seg, at, len);
        if let Some(sender) = self.sender {
            sender.perhaps_sent_before(at, basis);
        }
    }

    /// On the path, which of two packets is the retransmission goes by `repeat`; at the sender it is the later one.
    pub(super) fn again(&mut self, seg: &Segment, (at, len): (i64, u32), repeat: Option<Repeat>) {
        self.recorder.sent_again(seg.ts_ns, len);
        if let Some(sender) = self.sender {
            sender.retransmitted(seg, at, len);
            if let Some(repeat) = repeat {
                sender.note_which(&repeat);
            }
        }
        self.rtts.sent_again();
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
        if let Some(usual) = self.usual {
            usual.push(&arrival(), self.una);
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

impl Engines {
    /// The capture begins with `seg` in the middle of the connection, whose receiver had `known`.
    pub(super) fn begins_without_syn(&mut self, seg: &Segment, known: Option<&Reported>) {
        let edge = known.map_or(0, |known| self.unwrap.offset(known.edge).max(0));
        let blocks = known.map_or_else(Vec::new, |known| known.blocks(&self.unwrap));
        let since_ns = known.map_or(seg.ts_ns, |known| known.at_ns);
        let at_sender = self.choice.vantage == Vantage::Sender;
        self.arrival
            .begins_without_syn(seg, edge, self.choice.to_sender_ns, at_sender);
        let una = known.map_or(0, |known| self.unwrap.offset(known.ack));
        if let Some(sender) = &mut self.sender {
            let una = match at_sender && una > -MAX_BEFORE_FIRST {
                true => una.min(0),
                false => 0,
            };
            self.una = una;
            sender.begins_without_syn(una);
        } else {
            // What it has not acknowledged until then has not arrived.
            let lacks = seg.ts_ns.saturating_sub(since_ns) >= MAX_ACK_DELAY_NS;
            if una > -MAX_BEFORE_FIRST {
                self.una = una;
                if !blocks.is_empty() || lacks && una < 0 {
                    self.arrival.begins_with_holes(una, &blocks, since_ns);
                }
            }
        }
    }

    /// The end of the data comes by, as a packet of its own.
    pub(super) fn note_end(&mut self, end: &TheEnd) {
        if let Some(sender) = &mut self.sender {
            sender.note_end();
        }
        if self.choice.vantage != Vantage::Sender {
            let at = self.unwrap.offset(end.number);
            self.arrival.end_arrives(end.above, at);
        }
    }

    /// The sender of the data sends `seg`, an acknowledgement without any.
    pub(super) fn note_number(&mut self, seg: &Segment) {
        // Beside the sender all packets are captured as they are sent.
        let away = self.choice.vantage != Vantage::Sender;
        let at = self.unwrap.offset(seg.seq);
        if away && at > self.unwrap.highest() {
            self.arrival.announces(seg, at);
        }
    }

    /// Packets that were late, lost or sent again, and the recoveries.
    pub(super) fn troubles(&self) -> u64 {
        let sender = self.sender.as_ref().map_or(0, |sender| sender.troubles());
        self.arrival.troubles() + sender
    }

    /// One segment, the next in order as it comes by, beyond its arrival.
    #[inline(always)]
    pub(super) fn in_order(&mut self, seg: &Segment, at: i64) {
        let len = seg.payload_len;
        if let Some(sender) = &mut self.sender {
            sender.sent(seg, at, len);
            self.rtts.sent(at + i64::from(len), seg.ts_ns);
        }
        if let Some(what_if) = &mut self.what_if
            && !(may_be_sorted(seg) && what_if.continues(seg.ts_ns, at, len))
        {
            sort(what_if, seg, at, len, self.una);
        }
        if let Some(usual) = &mut self.usual
            && !usual.continues(seg.ts_ns, (at, len), || may_be_sorted(seg))
        {
            usual.push(&data_arrival(seg, at, len, false), self.una);
        }
        if let Some(named) = &mut self.named {
            named.push(&data_arrival(seg, at, len, false), self.una);
        }
        if let Some(points) = &mut self.points {
            points.push(seg.ts_ns, at, PointKind::Data);
        }
    }

    /// What sorting would have left, in a list with no room for more: very many reports may be kept.
    pub(super) fn take_what_if(&mut self) -> Vec<WhatIf> {
        let (what_if, usual, named) = (self.what_if.take(), self.usual.take(), self.named.take());
        let usual_rows = usual.as_ref().map_or(0, |_| UsualReceivers::ROWS);
        let rows = what_if.as_ref().map_or(0, |what_if| what_if.rows())
            + usual_rows
            + named.as_ref().map_or(0, |named| named.rows());
        let mut all = Vec::with_capacity(rows);
        if let Some(what_if) = what_if {
            what_if.finish_into(&mut all);
        }
        if let Some(usual) = usual {
            usual.finish_into(&mut all);
        }
        if let Some(named) = named {
            all.extend(named.finish());
        }
        all
    }

    /// One past what the window that `seg` tells allows to be sent; the greatest number if the handshake was not seen. A closed window
    /// is closed whatever its scale. The window of a SYN is not scaled (RFC 7323 section 2.2).
    #[inline]
    pub(super) fn window_edge(&self, seg: &Segment) -> i64 {
        let Some(shift) = self.window_shift else {
            return match seg.window {
                0 => self.una,
                _ => i64::MAX,
            };
        };
        let shift = if seg.flags.any(TcpFlags::SYN) {
            0
        } else {
            shift
        };
        self.una.saturating_add(i64::from(seg.window) << shift)
    }

    /// The receiver's window is closed, or was until now. An acknowledgement that `advances` took the byte that
    /// probed it: that was data.
    #[cold]
    pub(super) fn window_told(&mut self, seg: &Segment, advances: bool) {
        self.closed = seg.window == 0 && !seg.flags.any(TcpFlags::SYN);
        self.recorder.window_told(seg.ts_ns, self.closed);
        let Some(probe) = self.probe.take_if(|_| advances) else {
            return;
        };
        let at = self.unwrap.offset(probe.seq);
        if self.arrival.in_order(&probe, at, probe.payload_len) && self.more {
            self.in_order(&probe, at);
        }
    }

    #[inline(always)] // Made where it stays, instead of copied there.
    pub(super) fn new(base: u32, choice: VantageChoice, config: &Config, shared: &Shared) -> Self {
        let at_receiver = choice.vantage == Vantage::Receiver;
        let half = if choice.vantage == Vantage::Middle {
            Half::Upstream
        } else {
            Half::EndToEnd
        };
        let away = choice.vantage != Vantage::Sender;
        let lag_ns = choice.to_sender_ns.filter(|_| away);
        let unwrap = Offsets::new(base);
        let options = Options {
            sack: shared.sack,
            handshake: shared.handshake,
            timestamps: shared.timestamps,
            explanations: config.explanations,
            assumed: config.assumed,
        };
        let sender = || {
            let mut sender = Sender::new(unwrap, options, config.keep_events);
            if let Some(ns) = choice.to_receiver_ns {
                sender.note_rtt(ns);
            }
            if let Some(ns) = lag_ns {
                sender.note_away(ns);
            }
            Box::new(sender)
        };
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
            usual: sort.then(|| Box::new(UsualReceivers::new(choice.to_sender_ns))),
            named: (sort && !config.sorters.is_empty()).then(|| Box::new(named())),
            points: config.keep_points.then(|| Box::new(Points::new())),
            rtts: RttTrace::default(),
            arrival: Arrival::new(half, keep, at_receiver, config.explanations),
            recorder: Recorder::new(choice.vantage, lag_ns, shared.full),
            choice,
            keep_events: config.keep_events,
            closed: false,
            window_shift: shared.window_shift,
            probe: None,
            reported_twice: 0,
        }
    }
}
