//! Traces of what holds a sender, as they pass a capture point, and what is said of them.

mod open;
mod reduced;
mod silent;

use inorder_detect::{Config, FlowReport, Tracker, Vantage};
use inorder_limits::{Limit, LimitSet, MAX_STRETCHES};
use inorder_wire::{Dir, Endpoint, FlowKey, Has, NO_WSCALE, Segment, TcpFlags, segment};
use proptest::prelude::*;

const MS: i64 = 1_000_000;
const MSS: u32 = 1_000;
const WAY_MS: i64 = 20;

/// A transfer of one host to another, 40 ms away and back, captured at one of them.
struct Trace {
    at: Vantage,
    packets: Vec<(Dir, Segment)>,
    sent: u32,
    asked: u32,
}

impl Trace {
    fn new(at: Vantage) -> Self {
        Trace {
            at,
            packets: Vec::new(),
            sent: 0,
            asked: 0,
        }
    }

    /// When what leaves the sender at `ms` passes.
    fn out(&self, ms: i64) -> i64 {
        match self.at {
            Vantage::Receiver => ms + WAY_MS,
            _ => ms,
        }
    }

    /// When what reaches the sender at `ms` passes.
    fn back(&self, ms: i64) -> i64 {
        match self.at {
            Vantage::Receiver => ms - WAY_MS,
            _ => ms,
        }
    }

    fn push(&mut self, ms: i64, dir: Dir, seg: Segment) {
        let ts_ns = ms * MS + self.packets.len() as i64;
        self.packets.push((dir, Segment { ts_ns, ..seg }));
    }

    /// SYN at 0; the sender may send from 40 ms on. Windows are not scaled.
    fn open(mut self) -> Self {
        let hello = |seq, flags| {
            segment!(
                seq, flags: TcpFlags(flags), mss: MSS as u16, window: 60_000, wscale: NO_WSCALE,
                has: Has::SACK_PERMITTED
            )
        };
        self.push(self.out(0), Dir::LowToHigh, hello(u32::MAX, TcpFlags::SYN));
        let both = Segment {
            ack: 0,
            ..hello(499, TcpFlags::SYN | TcpFlags::ACK)
        };
        self.push(self.back(40), Dir::HighToLow, both);
        let third = segment!(seq: 0, ack: 500, flags: TcpFlags(TcpFlags::ACK));
        self.push(self.out(40), Dir::LowToHigh, third);
        self
    }

    fn data(&mut self, ms: i64, seq: u32, len: u32) {
        let seg = segment!(
            seq, ack: 500 + self.asked, payload_len: len, flags: TcpFlags(TcpFlags::ACK)
        );
        self.push(self.out(ms), Dir::LowToHigh, seg);
    }

    /// `count` new segments leave at `ms`, the last one of `last` bytes.
    fn send(&mut self, ms: i64, count: u32, last: u32) {
        for i in 0..count {
            let len = if i + 1 == count { last } else { MSS };
            self.data(ms, self.sent, len);
            self.sent += len;
        }
    }

    /// All that was sent is acknowledged, as the sender hears at `ms`, with this window.
    fn acknowledge(&mut self, ms: i64, window: u16) {
        let seg = segment!(
            seq: 500 + self.asked, ack: self.sent, window, flags: TcpFlags(TcpFlags::ACK)
        );
        self.push(self.back(ms), Dir::HighToLow, seg);
    }

    /// From 40 ms on each of these numbers of segments is `sent` at once, the last one of `last` bytes, and acknowledged 40 ms later.
    fn rounds(
        &mut self,
        apart_ms: i64,
        sent: impl IntoIterator<Item = u32>,
        last: u32,
        window: u16,
    ) {
        for (ms, count) in (40..).step_by(apart_ms as usize).zip(sent) {
            self.send(ms, count, last);
            self.acknowledge(ms + 40, window);
        }
    }

    /// The other end's data, 10 bytes each time, reaches the sender at `ms`.
    fn ask(&mut self, ms: i64) {
        let seg = segment!(
            seq: 500 + self.asked, ack: self.sent, payload_len: 10, window: 60_000,
            flags: TcpFlags(TcpFlags::ACK)
        );
        self.asked += 10;
        self.push(self.back(ms), Dir::HighToLow, seg);
    }

    fn report(mut self) -> FlowReport {
        self.packets.sort_by_key(|(_, seg)| seg.ts_ns);
        reports(&self.packets).swap_remove(0)
    }
}

fn reports(packets: &[(Dir, Segment)]) -> Vec<FlowReport> {
    reports_at(packets, None)
}

/// Of a capture that was made at `place`, or at a place to be inferred.
fn reports_at(packets: &[(Dir, Segment)], place: Option<Vantage>) -> Vec<FlowReport> {
    let end = Endpoint::v4;
    let (key, _) = FlowKey::new(end(1, 1_000), end(2, 2_000), 0);
    let mut tracker = Tracker::new(Config::default().vantage(place));
    for (frame, (dir, seg)) in packets.iter().enumerate() {
        let frame = frame as u64 + 1;
        tracker.push(&key, *dir, &Segment { frame, ..*seg });
    }
    tracker.finish()
}

/// What holds the transfer at each of the given milliseconds.
fn at(report: &FlowReport, ms: impl IntoIterator<Item = i64>) -> Vec<String> {
    let limits = &report.limits;
    let of = |ms: i64| {
        let ns = limits.begun_ns + ms * MS;
        let stretch = limits.stretches.iter().find(|s| ns < s.end_ns);
        stretch.map_or_else(String::new, |s| s.limits.to_string())
    };
    ms.into_iter().map(of).collect()
}

const BOTH: [Vantage; 2] = [Vantage::Sender, Vantage::Receiver];

#[test]
fn a_full_window_of_the_receiver_holds_all_of_each_round_trip() {
    for vantage in BOTH {
        let mut trace = Trace::new(vantage).open();
        trace.rounds(40, [6; 20], MSS, 6_000);
        let report = trace.report();
        assert_eq!(report.vantage.vantage, vantage);
        assert_eq!(at(&report, [10]), ["handshake"], "{vantage:?}");
        let held = report.limits.share_of(Limit::ReceiverWindow.into());
        assert!(held > 0.85, "{vantage:?}: {:?}", report.limits.shares);
        let window = report.limits.window.unwrap();
        assert_eq!((window.largest_bytes, window.unscaled), (6_000, true));
    }
}

/// Next to the sender, begun in the middle, where nothing tells the scale of the windows: 0 is 0 in each.
#[test]
fn a_closed_window_holds_a_transfer_whose_handshake_was_not_captured() {
    let mut trace = Trace::new(Vantage::Sender);
    for round in 0..10 {
        trace.send(40 * round, 4, MSS);
        trace.acknowledge(40 * round + 40, if round < 9 { 4_000 } else { 0 });
    }
    trace.acknowledge(2_400, 4_000);
    for round in 0..10 {
        trace.send(2_400 + 40 * round, 4, MSS);
        trace.acknowledge(2_440 + 40 * round, 4_000);
    }
    trace.packets.sort_by_key(|(_, seg)| seg.ts_ns);
    let report = reports_at(&trace.packets, Some(Vantage::Sender)).swap_remove(0);
    assert_eq!(at(&report, [1_400]), ["receiver-window"]);
    let held = report.limits.share_of(Limit::ReceiverWindow.into());
    assert!(held > 0.6, "{:?}", report.limits.shares);
}

/// The largest segment of a loopback interface is as large as the window: that no second one would fit says nothing.
#[test]
fn a_window_that_holds_one_segment_of_loopback_is_not_full_of_a_small_answer() {
    let mut trace = Trace::new(Vantage::Sender).open();
    for (_, hello) in &mut trace.packets[..2] {
        hello.mss = 65_483;
    }
    for round in 0..4 {
        trace.send(100 + 100 * round, 1, 323);
        trace.acknowledge(142 + 100 * round, 60_000);
    }
    assert_eq!(at(&trace.report(), [120, 330]), ["application"; 2]);
}

#[test]
fn an_application_that_writes_seldom_holds_the_transfer() {
    for vantage in BOTH {
        let mut trace = Trace::new(vantage).open();
        trace.rounds(300, [3; 20], 700, 60_000);
        let report = trace.report();
        let held = report.limits.share_of(Limit::Application.into());
        assert!(held > 0.95, "{vantage:?}: {:?}", report.limits.shares);
    }
}

#[test]
fn a_window_that_grows_is_at_its_start() {
    for vantage in BOTH {
        let mut trace = Trace::new(vantage).open();
        trace.rounds(40, (0..5).map(|n| 3 << n), MSS, 60_000);
        let report = trace.report();
        assert_eq!(at(&report, [10, 60, 140]), ["handshake", "start", "start"]);
    }
}

#[test]
fn a_flight_that_stays_the_same_below_the_window_fills_the_senders_buffer() {
    let mut trace = Trace::new(Vantage::Sender).open();
    trace.rounds(40, [8; 20], MSS, 60_000);
    let report = trace.report();
    let held = report.limits.share_of(Limit::SendBuffer.into());
    assert!(held > 0.85, "{:?}", report.limits.shares);
    assert_eq!(report.limits.send_buffer_bytes, Some(8_000));
}

#[test]
fn what_a_timer_ends_is_its_wait() {
    for vantage in BOTH {
        let mut trace = Trace::new(vantage).open();
        trace.rounds(40, (0..4).map(|n| 3 << n), MSS, 60_000);
        let lost = trace.sent;
        if vantage == Vantage::Sender {
            trace.data(200, lost, MSS);
        }
        trace.data(200, lost + MSS, MSS);
        trace.sent += 2 * MSS;
        trace.data(600, lost, MSS);
        trace.acknowledge(640, 60_000);
        for round in 0..3 {
            trace.send(640 + 40 * round, 2 + round as u32, MSS);
            trace.acknowledge(680 + 40 * round, 60_000);
        }
        let report = trace.report();
        let told = at(&report, [400, 660]);
        match vantage {
            Vantage::Sender => assert_eq!(told, ["timer-needed", "window-needed"]),
            // It may have been late and not lost: nothing tells a copy from its original.
            _ => assert_eq!(told[0], "timer-needed+timer-unneeded"),
        }
    }
}

#[test]
fn a_path_that_swallows_a_flight_and_two_timeouts_is_dead() {
    let mut trace = Trace::new(Vantage::Sender).open();
    trace.send(40, 12, MSS);
    trace.acknowledge(80, 60_000);
    let lost = trace.sent;
    trace.send(80, 24, MSS);
    for ms in [400, 1_000, 2_200] {
        trace.data(ms, lost, MSS);
    }
    trace.acknowledge(2_240, 60_000);
    let report = trace.report();
    let told = at(&report, [300, 700, 2_000]);
    assert_eq!(told, ["path-dead", "path-dead", "timer-needed+path-dead"]);
}

/// The other end asks again just before the timer expires, and acknowledges nothing new: that is no duplicate acknowledgement.
#[test]
fn data_that_acknowledges_nothing_new_prompts_nothing() {
    let mut trace = Trace::new(Vantage::Sender).open();
    trace.send(40, 12, MSS);
    trace.acknowledge(80, 60_000);
    let lost = trace.sent;
    trace.send(80, 2, MSS);
    let request = segment!(
        seq: 500, ack: lost, payload_len: 10, window: 60_000, flags: TcpFlags(TcpFlags::ACK)
    );
    trace.push(599, Dir::HighToLow, request);
    trace.asked = 10;
    trace.data(600, lost, MSS);
    trace.acknowledge(640, 60_000);
    assert_eq!(at(&trace.report(), [300]), ["timer-needed"]);
}

/// The sender repeats its data three times, then gives up; the other end closes much later, which is no answer.
#[test]
fn after_its_last_timer_a_sender_that_gave_up_still_waits() {
    for closed in [true, false] {
        let mut trace = Trace::new(Vantage::Sender).open();
        trace.send(40, 12, MSS);
        trace.acknowledge(80, 60_000);
        let lost = trace.sent;
        trace.send(80, 4, MSS);
        for ms in [400, 1_000, 2_200] {
            trace.data(ms, lost, MSS);
        }
        let mut last = segment!(
            seq: 500, ack: lost, window: 60_000, flags: TcpFlags(TcpFlags::ACK | TcpFlags::FIN)
        );
        let mut dir = Dir::HighToLow;
        if !closed {
            (last.seq, last.ack) = (trace.sent, 500);
            (last.flags, dir) = (TcpFlags(TcpFlags::ACK | TcpFlags::RST), Dir::LowToHigh);
        }
        trace.push(9_000, dir, last);
        assert_eq!(
            at(&trace.report(), [1_500, 6_000]),
            ["timer-needed+path-dead"; 2],
            "{closed}"
        );
    }
}

#[test]
fn where_nothing_was_ever_lost_a_silence_at_the_receiver_may_be_the_applications() {
    let mut trace = Trace::new(Vantage::Receiver).open();
    trace.rounds(40, [10; 5], MSS, 60_000);
    // The capture lacks the acknowledgement of these.
    trace.send(240, 10, MSS);
    trace.send(5_000, 10, MSS);
    trace.acknowledge(5_040, 60_000);
    assert_eq!(
        at(&trace.report(), [3_000]),
        ["application+timer-needed+path-dead"]
    );
}

/// Any packets whatever, of both directions.
fn packets() -> impl Strategy<Value = Vec<(Dir, Segment)>> {
    let one = (
        prop::bool::weighted(0.6),
        -2 * MS..300 * MS,
        0..60u32,
        0..60u32,
        prop::sample::select(vec![0u32, 0, 400, 1_000, 1_000, 1_000, 3_000]),
        any::<u16>(),
        prop::option::weighted(0.2, (0..60u32, 1..5u32)),
        prop::sample::select(vec![
            TcpFlags::ACK,
            TcpFlags::ACK,
            TcpFlags::ACK,
            TcpFlags::ACK,
            TcpFlags::SYN,
            TcpFlags::ACK | TcpFlags::FIN,
        ]),
    );
    prop::collection::vec(one, 1..300).prop_map(|all| {
        let mut ts_ns = 5_000 * MS;
        let packet = |(up, wait, seq, ack, len, window, sack, flags)| {
            ts_ns += wait;
            let mut seg = segment!(
                ts_ns, seq: seq * 1_000, ack: ack * 1_000, payload_len: len, window,
                flags: TcpFlags(flags)
            );
            if let Some((left, len)) = sack {
                seg.sack[0] = (left * 1_000, (left + len) * 1_000);
                seg.sack_len = 1;
            }
            let dir = if up { Dir::LowToHigh } else { Dir::HighToLow };
            (dir, seg)
        };
        all.into_iter().map(packet).collect()
    })
}

proptest! {
    #[test]
    fn shares_and_stretches_are_the_life(packets in packets()) {
        for report in reports(&packets) {
            let limits = &report.limits;
            let sum: i64 = limits.shares.iter().map(|share| share.ns).sum();
            prop_assert_eq!(sum, limits.life_ns());
            prop_assert!(limits.stretches.len() <= MAX_STRETCHES);
            let mut at = limits.begun_ns;
            for stretch in &limits.stretches {
                prop_assert_eq!(stretch.start_ns, at);
                prop_assert!(stretch.end_ns > at);
                at = stretch.end_ns;
            }
            prop_assert!(at == limits.ended_ns || limits.life_ns() == 0);
        }
    }
}

/// The other end asks at `ms`; eleven full segments answer at once, and their rest once they are acknowledged, 40 ms later and after a
/// delay of 100 ms.
#[test]
fn ends_of_answers_that_wait_for_acknowledgements_are_counted() {
    for vantage in BOTH {
        let mut trace = Trace::new(vantage).open();
        for round in 0..6 {
            let ms = 100 + 500 * round;
            trace.ask(ms);
            trace.send(ms, 11, MSS);
            trace.acknowledge(ms + 140, 60_000);
            trace.send(ms + 140, 1, 300);
            trace.acknowledge(ms + 180, 60_000);
        }
        let report = trace.report();
        let held = report.limits.held_short;
        // What came before the first data of all is not remembered.
        assert_eq!((held.times, held.ns / MS), (5, 5 * 140), "{vantage:?}");
        let idle = report.limits.share_of(Limit::Application.into());
        // What a small buffer may have held before the first question is left open.
        assert!(idle > 0.92, "{vantage:?}: {:?}", report.limits.shares);
    }
}

/// Three segments of which the last is not full, each time that all before is acknowledged: the other end asks for nothing, so a small
/// buffer of the socket may be what holds them.
#[test]
fn what_nobody_asked_for_is_no_end_of_an_answer() {
    let mut trace = Trace::new(Vantage::Sender).open();
    for round in 0..20 {
        trace.send(100 + 40 * round, 3, 500);
        trace.acknowledge(140 + 40 * round, 60_000);
    }
    let limits = trace.report().limits;
    assert_eq!(limits.held_short.times, 0);
    let either = LimitSet::of(&[Limit::Application, Limit::SendBuffer]);
    assert!(limits.share_of(either) > 0.8, "{:?}", limits.shares);
}

/// A congestion window of eight segments, of which the first comes late each time: two duplicate acknowledgements release a new segment
/// each (RFC 3042), though they make no room.
#[test]
fn what_duplicate_acknowledgements_release_is_not_the_applications() {
    let mut trace = Trace::new(Vantage::Sender).open();
    for round in 0..20 {
        let (ms, before) = (40 + 100 * round, trace.sent);
        trace.send(ms, 8, MSS);
        for late in [60, 80] {
            let sent = std::mem::replace(&mut trace.sent, before);
            trace.acknowledge(ms + late, 60_000);
            trace.sent = sent;
            trace.send(ms + late, 1, MSS);
        }
        trace.acknowledge(ms + 100, 60_000);
    }
    let report = trace.report();
    let idle = report.limits.share_of(Limit::Application.into());
    assert!(idle < 0.3, "{:?}", report.limits.shares);
}

/// Eight segments in each of five round trips: too few for a plateau, but no window that doubles.
#[test]
fn a_level_flight_is_the_start_or_the_senders_buffer() {
    for vantage in BOTH {
        let mut trace = Trace::new(vantage).open();
        trace.rounds(40, [8; 5], MSS, 60_000);
        let report = trace.report();
        assert_eq!(at(&report, [140]), ["start+send-buffer"], "{vantage:?}");
    }
}

/// A write of four segments every 100 ms, over a round trip of 40 ms; two of them wait for the acknowledgement of the other two.
#[test]
fn an_application_that_writes_steadily_sets_the_pace_whatever_releases_its_data() {
    let mut trace = Trace::new(Vantage::Sender).open();
    for round in 0..60 {
        let ms = 40 + 100 * round;
        trace.send(ms, 2, MSS);
        trace.acknowledge(ms + 40, 60_000);
        trace.send(ms + 40, 2, MSS);
        trace.acknowledge(ms + 80, 60_000);
    }
    let report = trace.report();
    let held = report.limits.share_of(Limit::Application.into());
    assert!(held > 0.95, "{:?}", report.limits.shares);
}
