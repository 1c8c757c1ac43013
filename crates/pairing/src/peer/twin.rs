//! The dumb twin: every definition read aloud, each packet against each, and flows whose every
//! transmission carries a number of its own, so that the truth is known beforehand.

use inorder_wire::{Dir, Endpoint, FlowKey, Has, Segment, TcpFlags};
use proptest::prelude::*;

use super::compare;
use super::recorder::PeerRecorder;
use super::result::PeerReport;
use super::truth::Measure;
use inorder_detect::{Kind, Vantage};

const LEN: u32 = 100;
const TRIP_NS: i64 = 1_000_000;

/// One transmission of the `segment`th 100 bytes, `delay` late; `None` if the network loses it.
#[derive(Clone, Copy, Debug)]
struct Sent {
    segment: u32,
    delay: Option<u16>,
    twice: bool,
}

/// What a flow did, with a position in the order of arrival for each that arrived.
struct Story {
    sent: Vec<Sent>,
    arrivals: Vec<(i64, usize)>,
}

impl Story {
    fn new(sent: Vec<Sent>) -> Self {
        let mut arrivals = Vec::new();
        for (i, s) in sent.iter().enumerate() {
            let Some(delay) = s.delay else { continue };
            let at = send_ns(i) + TRIP_NS + i64::from(delay);
            arrivals.push((at, i));
            if s.twice {
                arrivals.push((at + 7, i));
            }
        }
        arrivals.sort_unstable();
        Story { sent, arrivals }
    }

    fn is_original(&self, i: usize) -> bool {
        self.sent[..i]
            .iter()
            .all(|s| s.segment != self.sent[i].segment)
    }

    /// First arrivals of originals, in order: `(segment, time)`.
    fn original_arrivals(&self) -> Vec<(u32, i64)> {
        let mut seen = Vec::new();
        for &(at, i) in &self.arrivals {
            let segment = self.sent[i].segment;
            if self.is_original(i) && seen.iter().all(|&(s, _)| s != segment) {
                seen.push((segment, at));
            }
        }
        seen
    }

    /// RFC 4737 sections 3, 4.2, 4.3 and 4.4: `(offset, extent, late time, byte offset)`.
    fn reordered(&self) -> Vec<(u64, u32, i64, u64)> {
        let order = self.original_arrivals();
        let mut all = Vec::new();
        for (i, &(segment, at)) in order.iter().enumerate() {
            let Some(j) = (0..i).find(|&j| order[j].0 > segment) else {
                continue;
            };
            let larger = order[j..i].iter().filter(|o| o.0 > segment).count() as u64;
            let offset = u64::from(segment * LEN);
            all.push((
                offset,
                (i - j) as u32,
                at - order[j].1,
                larger * u64::from(LEN),
            ));
        }
        all.sort_unstable();
        all
    }

    /// Originals that did not arrive, told by whether another transmission of theirs did: everything
    /// is acknowledged in the end, so one must have.
    fn gone(&self, another_came: bool) -> Vec<u64> {
        let all = self.sent.iter().enumerate();
        let gone = all.filter(|(i, s)| self.is_original(*i) && s.delay.is_none());
        let came = |s: &Sent| {
            let mut same = self.sent.iter().filter(|other| other.segment == s.segment);
            same.any(|other| other.delay.is_some())
        };
        let gone = gone.filter(|(_, s)| came(s) == another_came);
        let mut offsets: Vec<u64> = gone.map(|(_, s)| u64::from(s.segment * LEN)).collect();
        offsets.sort_unstable();
        offsets
    }

    /// Retransmissions of which an earlier transmission arrived, and those of which none did.
    fn spurious_needed(&self) -> (u64, u64) {
        let (mut spurious, mut needed) = (0, 0);
        for (i, s) in self.sent.iter().enumerate() {
            if self.is_original(i) {
                continue;
            }
            let before = self.sent[..i].iter().filter(|e| e.segment == s.segment);
            if before.clone().any(|e| e.delay.is_some()) {
                spurious += 1;
            } else {
                needed += 1;
            }
        }
        (spurious, needed)
    }
}

fn send_ns(i: usize) -> i64 {
    1_000 + 10 * i as i64
}

/// How the flow is captured.
#[derive(Clone, Copy, Debug)]
struct Setting {
    isn: u32,
    offset_ns: i64,
    handshake: bool,
    /// Only the identification tells copies apart; without, only the timestamps.
    ip_id: bool,
}

fn captures(story: &Story, setting: &Setting) -> (FlowKey, Dir, PeerRecorder, PeerRecorder) {
    let (key, dir) = FlowKey::new(Endpoint::v4(9, 10), Endpoint::v4(2, 20), 0);
    let (mut sender, mut receiver) = (PeerRecorder::new(), PeerRecorder::new());
    let has = if setting.ip_id {
        Has::IP_ID
    } else {
        Has::TIMESTAMPS
    };
    let ack_of = |ts_ns, upto: u32| Segment {
        ts_ns,
        ack: setting.isn.wrapping_add(1 + upto * LEN),
        flags: TcpFlags(TcpFlags::ACK),
        ..Segment::default()
    };
    let mut both = |towards: Dir, at_sender: i64, at_receiver: i64, seg: Segment| {
        sender.push(
            &key,
            towards,
            &Segment {
                ts_ns: at_sender,
                ..seg
            },
        );
        let ts_ns = at_receiver + setting.offset_ns;
        receiver.push(&key, towards, &Segment { ts_ns, ..seg });
    };
    if setting.handshake {
        let syn = Segment {
            seq: setting.isn,
            flags: TcpFlags(TcpFlags::SYN),
            ..Segment::default()
        };
        both(dir, 0, TRIP_NS, syn);
        both(
            dir.reverse(),
            500 + 2 * TRIP_NS,
            500 + TRIP_NS,
            ack_of(0, 0),
        );
    } else {
        // Something must bound what was sent before the receiver's capture began.
        both(dir.reverse(), 2 * TRIP_NS, 500, ack_of(0, 0));
    }
    let data = |i: usize, ts_ns| Segment {
        ts_ns,
        frame: i as u64 + 1,
        seq: setting.isn.wrapping_add(1 + story.sent[i].segment * LEN),
        payload_len: LEN,
        ip_id: 500 + i as u16,
        tsval: 90_000 + i as u32,
        has,
        ..Segment::default()
    };
    for i in 0..story.sent.len() {
        sender.push(&key, dir, &data(i, send_ns(i)));
    }
    for &(at, i) in &story.arrivals {
        let ts_ns = at + setting.offset_ns;
        let arrival = data(i, ts_ns);
        receiver.push(&key, dir, &arrival);
        // This receiver refuses nothing, however old it is, and says so.
        let mut answer = ack_of(ts_ns, 0);
        let end = arrival.seq.wrapping_add(LEN);
        (answer.sack_len, answer.sack[0]) = (1, (arrival.seq, end));
        receiver.push(&key, dir.reverse(), &answer);
    }
    let end = TRIP_NS * 3;
    let upto = story.sent.iter().map(|s| s.segment + 1).max().unwrap_or(0);
    receiver.push(&key, dir.reverse(), &ack_of(end + setting.offset_ns, upto));
    sender.push(&key, dir.reverse(), &ack_of(end + TRIP_NS, upto));
    (key, dir, sender, receiver)
}

fn check(story: &Story, report: &PeerReport, here: Vantage) -> Result<(), TestCaseError> {
    prop_assert_eq!(report.flows.len(), 1);
    let flow = &report.flows[0];
    prop_assert_eq!(flow.here, here);
    let truth = &flow.truth;
    let of_kind = |kind| truth.events.iter().filter(move |e| e.kind == kind);
    let mut late: Vec<_> = of_kind(Kind::Reordered)
        .map(|e| {
            let measured = (e.extent, e.late_ns, e.extent_bytes);
            let (Some(extent), Some(late_ns), Some(bytes)) = measured else {
                unreachable!("both ends measure everything");
            };
            (e.seq_offset, extent, late_ns, bytes)
        })
        .collect();
    late.sort_unstable();
    prop_assert_eq!(late, story.reordered());
    let mut lost: Vec<u64> = of_kind(Kind::Lost).map(|e| e.seq_offset).collect();
    lost.sort_unstable();
    prop_assert_eq!(lost, story.gone(true));
    prop_assert_eq!(truth.not_captured, story.gone(false).len() as u64);
    let r = &truth.retransmissions;
    prop_assert_eq!((r.spurious, r.needed), story.spurious_needed());
    let copies = story
        .sent
        .iter()
        .filter(|s| s.twice && s.delay.is_some())
        .count() as u64;
    prop_assert_eq!(truth.network_duplicates, copies);
    prop_assert_eq!((truth.undecided, truth.unmatched), (0, 0));
    Ok(())
}

/// Numbers rise, with retransmissions of anything in between.
fn stories() -> impl Strategy<Value = Vec<Sent>> {
    let one = (
        prop::bool::weighted(0.25),
        any::<prop::sample::Index>(),
        prop::option::weighted(0.85, 0u16..300),
        prop::bool::weighted(0.05),
    );
    prop::collection::vec(one, 3..60).prop_map(|draws| {
        let mut next = 0;
        let sent = draws.into_iter().map(|(again, which, delay, twice)| {
            let segment = if again && next > 0 {
                which.index(next as usize) as u32
            } else {
                next += 1;
                next - 1
            };
            // The first gets through at once: it marks where the receiver's capture begins. And alone:
            // were it the only one to arrive, and that twice, nothing would tell the ends apart.
            let first = segment == 0 && next == 1;
            Sent {
                segment,
                delay: if first { Some(0) } else { delay },
                twice: twice && !first,
            }
        });
        sent.collect()
    })
}

proptest! {
    #[test]
    fn two_captures_tell_what_happened_whichever_comes_first_and_whatever_the_clocks(
        sent in stories(),
        isn in any::<u32>(),
        offset_ns in -1_000_000_000_000i64..1_000_000_000_000,
        handshake in any::<bool>(),
        ip_id in any::<bool>(),
    ) {
        let story = Story::new(sent);
        let setting = Setting { isn, offset_ns, handshake, ip_id };
        let (_, _, sender, receiver) = captures(&story, &setting);
        check(&story, &compare(&sender, &receiver, &[]), Vantage::Sender)?;
        check(&story, &compare(&receiver, &sender, &[]), Vantage::Receiver)?;
        let clock = compare(&sender, &receiver, &[]).clock.expect("packets both ways");
        prop_assert!((clock.offset_ns - offset_ns).abs() <= clock.error_ns + 1);
    }

    #[test]
    fn extents_in_logarithmic_time_are_those_of_the_definition(
        order in Just((0..40u32).collect::<Vec<_>>()).prop_shuffle(),
        sizes in prop::collection::vec(1u64..2_000, 40),
    ) {
        let mut measure = Measure::new(order.len());
        for (i, &number) in order.iter().enumerate() {
            let told = measure.arrive(number, 10 * i as i64, sizes[number as usize]);
            let first = (0..i).find(|&j| order[j] > number);
            prop_assert_eq!(told.map(|l| l.extent), first.map(|j| (i - j) as u32));
            prop_assert_eq!(told.map(|l| l.late_ns), first.map(|j| 10 * (i - j) as i64));
            let larger = order[..i].iter().filter(|&&o| o > number);
            let bytes: u64 = larger.map(|&o| sizes[o as usize]).sum();
            prop_assert_eq!(told.map_or(0, |l| l.bytes), bytes);
        }
    }

    #[test]
    fn nonsense_is_survived_and_every_packet_accounted_for(
        packets in prop::collection::vec(nonsense(), 0..80),
    ) {
        let (key, _) = FlowKey::new(Endpoint::v4(9, 10), Endpoint::v4(2, 20), 0);
        let (mut one, mut other) = (PeerRecorder::new(), PeerRecorder::new());
        for (here, dir, seg) in packets {
            let recorder = if here { &mut one } else { &mut other };
            recorder.push(&key, dir, &seg);
        }
        for report in [compare(&one, &other, &[]), compare(&other, &one, &[])] {
            for flow in report.flows {
                let t = flow.truth;
                let missing = t.losses + t.undecided + t.not_captured;
                let told = t.reordering.received + t.refused + missing;
                prop_assert_eq!(told, t.data_packets);
                let r = t.retransmissions;
                prop_assert_eq!(r.needed + r.spurious + r.ambiguous, r.total);
                prop_assert_eq!(t.retransmission_list.len() as u64, r.total);
            }
        }
    }
}

/// A packet of either capture with numbers from few and from all.
fn nonsense() -> impl Strategy<Value = (bool, Dir, Segment)> {
    let number = prop_oneof![0u32..5_000, any::<u32>(), Just(u32::MAX)];
    let len = prop_oneof![Just(0u32), 1u32..3_000, 1u32..200_000, any::<u32>()];
    let times = -1_000_000_000_000_000i64..1_000_000_000_000_000;
    let flags = prop_oneof![3 => Just(TcpFlags::ACK), 1 => any::<u8>()];
    let ends = (any::<bool>(), any::<bool>());
    let header = (number.clone(), number, len, flags, any::<u8>());
    let options = (0u16..4, 0u32..4, 0u16..2_000, 0u8..5);
    (ends, times, header, options).prop_map(|((here, way), ts_ns, header, options)| {
        let (seq, ack, payload_len, flags, has) = header;
        let (ip_id, tsval, mss, sack_len) = options;
        let dir = if way { Dir::LowToHigh } else { Dir::HighToLow };
        let seg = Segment {
            ts_ns,
            seq,
            ack,
            payload_len,
            flags: TcpFlags(flags),
            has,
            ip_id,
            tsval,
            mss,
            sack_len,
            ..Segment::default()
        };
        (here, dir, seg)
    })
}
