//! What connections hold: the estimate beside what is really allocated, and the limit by that estimate.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use inorder_detect::{Config, FlowReport, FlowTable, Tracker, Vantage};
use inorder_sort::SorterConfig;
use inorder_wire::{Dir, Endpoint, FlowKey, Has, NO_WSCALE, Segment, TcpFlags};

/// The system's allocator, which counts the bytes that were asked for.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is the system allocator's own; the counters touch no memory of its.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(held, Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One test at a time: they share the counters.
static ALONE: Mutex<()> = Mutex::new(());

/// Largest factor between what is estimated and what is allocated, either way.
const MAX_FACTOR: f64 = 1.2;

fn ends(n: u32) -> (FlowKey, Dir) {
    let client = Endpoint::v4(0x0a00_0000 + n / 50_000, 1_024 + (n % 50_000) as u16);
    FlowKey::new(client, Endpoint::v4(0xc000_0201, 443), 0)
}

/// One connection's packets, for a client that sends and a server that acknowledges.
struct Talk {
    key: FlowKey,
    dir: Dir,
    ns: i64,
    frame: u64,
}

impl Talk {
    fn new(n: u32, ns: i64) -> Talk {
        let (key, dir) = ends(n);
        let frame = u64::from(n);
        Talk {
            key,
            dir,
            ns,
            frame,
        }
    }

    fn push(&mut self, tracker: &mut Tracker, forth: bool, seg: Segment) {
        self.ns += 50_000;
        self.frame += 1;
        let dir = if forth { self.dir } else { self.dir.reverse() };
        let (ts_ns, frame) = (self.ns, self.frame);
        let seg = Segment {
            ts_ns,
            frame,
            window: 60_000,
            wscale: NO_WSCALE,
            ip_id: frame as u16,
            has: Has::DF | Has::IP_ID,
            ttl: 64,
            ..seg
        };
        tracker.push(&self.key, dir, &seg);
    }

    fn open(&mut self, tracker: &mut Tracker) {
        let flags = |bits| TcpFlags(bits);
        let segment = |flags, seq, ack| Segment {
            flags,
            seq,
            ack,
            mss: 1_460,
            ..Segment::default()
        };
        self.push(tracker, true, segment(flags(TcpFlags::SYN), 0, 0));
        let both = TcpFlags::SYN | TcpFlags::ACK;
        self.push(tracker, false, segment(flags(both), 0, 1));
        self.push(tracker, true, segment(flags(TcpFlags::ACK), 1, 1));
    }

    fn data(&mut self, tracker: &mut Tracker, nth: u32) {
        let seg = Segment {
            flags: TcpFlags(TcpFlags::ACK),
            seq: 1 + nth * 1_000,
            ack: 1,
            payload_len: 1_000,
            ..Segment::default()
        };
        self.push(tracker, true, seg);
    }

    /// Everything below the `nth` segment has come, and those from `above.0` to before `above.1`.
    fn ack(&mut self, tracker: &mut Tracker, nth: u32, above: Option<(u32, u32)>) {
        let mut seg = Segment {
            flags: TcpFlags(TcpFlags::ACK),
            seq: 1,
            ack: 1 + nth * 1_000,
            ..Segment::default()
        };
        if let Some((from, to)) = above {
            seg.sack_len = 1;
            seg.sack[0] = (1 + from * 1_000, 1 + to * 1_000);
        }
        self.push(tracker, false, seg);
    }

    /// In order, with an acknowledgement for two segments.
    fn in_order(&mut self, tracker: &mut Tracker, segments: std::ops::Range<u32>) {
        for nth in segments {
            self.data(tracker, nth);
            if nth % 2 == 1 {
                self.ack(tracker, nth + 1, None);
            }
        }
    }

    /// Ten segments from `nth` on, of which the second comes or arrives behind the sixth.
    fn displaced(&mut self, tracker: &mut Tracker, nth: u32, at_sender: bool) {
        let arrivals = [0, 2, 3, 4, 5, 1, 6, 7, 8, 9];
        for (place, arrival) in arrivals.into_iter().enumerate() {
            self.data(
                tracker,
                nth + if at_sender { place as u32 } else { arrival },
            );
        }
        for highest in 2..6 {
            self.ack(tracker, nth + 1, Some((nth + 2, nth + highest + 1)));
        }
        self.ack(tracker, nth + 6, None);
        self.ack(tracker, nth + 10, None);
    }
}

/// Estimated and allocated bytes of `connections` that `talk` makes.
fn measure(
    config: Config,
    connections: u32,
    talk: impl Fn(&mut Talk, &mut Tracker),
) -> (usize, usize) {
    let mut tracker = Tracker::new(config);
    // What no connection holds, as the places for first packets, is there with 2,000 of them.
    (70_000..72_000).for_each(|n| Talk::new(n, 0).data(&mut tracker, 0));
    let others = tracker.held_bytes();
    let before = HELD.load(Relaxed);
    for n in 0..connections {
        talk(&mut Talk::new(n, i64::from(n) * 1_000), &mut tracker);
    }
    (tracker.held_bytes() - others, HELD.load(Relaxed) - before)
}

#[test]
fn what_is_estimated_is_near_what_is_allocated() {
    let _alone = ALONE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let plain = Config::default;
    let at = |vantage| plain().vantage(Some(vantage));
    let named = ["window:hold=300us"].map(|text| text.parse::<SorterConfig>().expect("a sorter"));
    type Kind = (&'static str, Config, u32, fn(&mut Talk, &mut Tracker));
    let kinds: Vec<Kind> = vec![
        ("that wait, short", plain(), 3_000, |talk, tracker| {
            talk.open(tracker);
            talk.in_order(tracker, 0..4);
        }),
        ("that wait, longer", plain(), 1_000, |talk, tracker| {
            talk.open(tracker);
            talk.in_order(tracker, 0..60);
        }),
        ("in order, settled", plain(), 200, |talk, tracker| {
            talk.open(tracker);
            talk.in_order(tracker, 0..400);
        }),
        (
            "in order, at the sender",
            at(Vantage::Sender),
            200,
            |talk, tracker| {
                talk.open(tracker);
                talk.in_order(tracker, 0..40);
            },
        ),
        (
            "in order, at the receiver",
            at(Vantage::Receiver),
            200,
            |talk, tracker| {
                talk.open(tracker);
                talk.in_order(tracker, 0..40);
            },
        ),
        (
            "in the middle",
            at(Vantage::Middle),
            100,
            |talk, tracker| {
                talk.open(tracker);
                (0..20).for_each(|nth| talk.displaced(tracker, nth * 10, false));
            },
        ),
        (
            "late at the receiver",
            at(Vantage::Receiver),
            100,
            |talk, tracker| {
                talk.open(tracker);
                (0..20).for_each(|nth| talk.displaced(tracker, nth * 10, false));
            },
        ),
        ("late by SACK", at(Vantage::Sender), 100, |talk, tracker| {
            talk.open(tracker);
            (0..20).for_each(|nth| talk.displaced(tracker, nth * 10, true));
        }),
        (
            "a hole that stays",
            at(Vantage::Sender),
            50,
            |talk, tracker| {
                talk.open(tracker);
                (0..300).for_each(|nth| talk.data(tracker, nth));
                (2..300).for_each(|nth| talk.ack(tracker, 1, Some((2, nth + 1))));
            },
        ),
        (
            "with events and points",
            at(Vantage::Receiver).keep_events(true).keep_points(true),
            50,
            |talk, tracker| {
                talk.open(tracker);
                (0..100).for_each(|nth| talk.displaced(tracker, nth * 10, false));
            },
        ),
        (
            "with a sorter by name",
            at(Vantage::Receiver).sorters(named.to_vec()),
            50,
            |talk, tracker| {
                talk.open(tracker);
                (0..20).for_each(|nth| talk.displaced(tracker, nth * 10, false));
            },
        ),
    ];
    let mut wrong = Vec::new();
    for (name, config, connections, talk) in kinds {
        let (estimated, allocated) = measure(config, connections, talk);
        let each = |bytes: usize| bytes / connections as usize;
        let factor = estimated as f64 / allocated as f64;
        let line = format!(
            "{name}: {} bytes a connection, estimated {}, {factor:.2}",
            each(allocated),
            each(estimated)
        );
        println!("{line}");
        if !(1.0 / MAX_FACTOR..=MAX_FACTOR).contains(&factor) {
            wrong.push(line);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Connections of the crowd below; every two-hundredth has a late packet, and as many lost ones.
const CROWD: u32 = 200_000;
const MEMORY: usize = 64 << 20;

fn is_interesting(n: u32) -> bool {
    [7, 9].contains(&(n % 200))
}

/// Each opens with a few packets and stays open, and all of them send once more in turns.
fn crowd(tracker: &mut Tracker, wanted: impl Fn(u32) -> bool) {
    let wanted = || (0..CROWD).filter(|n| wanted(*n));
    for n in wanted() {
        let mut talk = Talk::new(n, i64::from(n) * 20_000);
        talk.open(tracker);
        match n % 200 {
            7 => talk.displaced(tracker, 0, false),
            9 => {
                for nth in [0, 2, 3, 4] {
                    talk.data(tracker, nth);
                }
                (2..5).for_each(|nth| talk.ack(tracker, 1, Some((2, nth + 1))));
                talk.data(tracker, 1);
                talk.ack(tracker, 5, None);
            }
            _ => talk.in_order(tracker, 0..4),
        }
    }
    for n in wanted() {
        let mut talk = Talk::new(n, i64::from(CROWD + n) * 20_000);
        talk.data(tracker, if n % 200 == 7 { 10 } else { 5 });
    }
}

/// The number of the connection that a flow belongs to, by its addresses.
fn number_of(flow: &FlowReport) -> u32 {
    let address = match flow.flow.src.ip() {
        std::net::IpAddr::V4(address) => u32::from(address),
        std::net::IpAddr::V6(_) => 0,
    };
    (address - 0x0a00_0000) * 50_000 + u32::from(flow.flow.src.port()) - 1_024
}

#[test]
fn of_more_connections_than_fit_the_interesting_ones_are_followed_and_the_others_summed() {
    let _alone = ALONE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let before = HELD.load(Relaxed);
    PEAK.store(before, Relaxed);
    let mut tracker = Tracker::new(Config::default().memory(Some(MEMORY)).max_flows(10_000));
    crowd(&mut tracker, |_| true);
    let peak = PEAK.load(Relaxed) - before;
    assert!(tracker.held_bytes() <= MEMORY / 16 * 11);
    let mut table = tracker.finish_table();
    let early = table.take_ended_early();
    let (flows, summed) = table.finish();
    let whole = PEAK.load(Relaxed) - before;
    println!(
        "{} MiB at most, {} with the reports; {early:?}",
        peak >> 20,
        whole >> 20
    );
    assert!(peak <= MEMORY && whole <= MEMORY, "{peak}, {whole}");

    // Nothing is lost: each packet of those in order is reported, summed or counted.
    assert!(early.connections > u64::from(CROWD / 2) && early.connections < u64::from(CROWD));
    let in_order = |flow: &&FlowReport| !is_interesting(number_of(flow));
    let reported: u64 = flows
        .iter()
        .filter(in_order)
        .map(|flow| flow.originals.packets)
        .sum();
    let all = u64::from(CROWD / 200 * 198 * 5);
    assert_eq!(
        reported + summed.originals.packets + early.later_packets,
        all
    );
    // And hardly a connection is taken for two: its name is forgotten where very many were ended.
    let flows_in_all = flows.len() as u64 + summed.flows;
    assert!(
        (CROWD..=CROWD + CROWD / 200).contains(&(flows_in_all as u32)),
        "{flows_in_all}"
    );
    // Of every connection to which something happened the same is reported as without a limit.
    let mut unlimited = Tracker::new(Config::default());
    crowd(&mut unlimited, is_interesting);
    let expected = unlimited.finish();
    let troubled = flows.iter().filter(|flow| is_interesting(number_of(flow)));
    assert!(troubled.eq(&expected));
    assert_eq!(expected.len(), CROWD as usize / 100);
    assert!(expected.iter().all(FlowReport::has_problems));
}

#[test]
fn the_same_connections_are_ended_whether_one_tracker_or_several_follow_them() {
    let _alone = ALONE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let config = Config::default()
        .memory(Some(MEMORY / 4))
        .max_flows(100_000);
    let part = |key: &FlowKey| (key.rough_hash() >> 40) as usize % 8;
    let talks = |tracker: &mut Tracker, wanted: Option<usize>| {
        for n in 0..30_000 {
            let mut talk = Talk::new(n, i64::from(n) * 20_000);
            if wanted.is_none_or(|wanted| part(&talk.key) == wanted) {
                talk.open(tracker);
                talk.in_order(tracker, 0..4 + n % 5);
            }
        }
    };
    let mut one = Tracker::new(config.clone());
    talks(&mut one, None);
    let mut one = one.finish_table();
    let mut several = FlowTable::new(&config);
    for wanted in 0..8 {
        let mut tracker = Tracker::new(config.clone());
        talks(&mut tracker, Some(wanted));
        several.merge(tracker.finish_table());
    }
    let early = several.take_ended_early();
    assert!(early.connections > 1_000, "{early:?}");
    assert_eq!(one.take_ended_early(), early);
    assert_eq!(one.finish(), several.finish());
}
