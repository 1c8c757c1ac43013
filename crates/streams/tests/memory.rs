//! What streams hold: the account by which `--memory` is kept, beside what is really allocated.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use inorder_streams::Streams;
use inorder_wire::{Aside, Endpoint, FlowKey, Multipath, Numbered, Service, StreamKey, Subflow};

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

fn key(service: Service, n: u32) -> StreamKey {
    StreamKey {
        service,
        src: Endpoint::v4(0x0a00_0000 + n / 50_000, 1_024 + (n % 50_000) as u16),
        dst: Endpoint::v4(0xc000_0201, 443),
        id: n,
        overlay: 0,
    }
}

/// The packets of `count` streams, each with these numbers, one stream after the other.
fn push(streams: &mut Streams, service: Service, count: u32, numbers: &[u64]) {
    let mut frame = 0;
    for n in 0..count {
        for &seq in numbers {
            frame += 1;
            let packet = Numbered {
                ts_ns: frame as i64 * 1_000,
                frame,
                seq,
                payload_len: 100,
                ..Numbered::default()
            };
            streams.push(&key(service, n), &packet);
        }
    }
}

/// What streams take, how many there are, and the numbers of each.
type Kind = (&'static str, Service, u32, Vec<u64>);

fn kinds() -> Vec<Kind> {
    // Three thousand holes, which are filled later: a thousand are remembered.
    let even = (0..3_000).map(|i| 2 * i);
    let holes: Vec<u64> = even.clone().chain(even.map(|seq| seq + 1)).collect();
    let reversed: Vec<u64> = (1..3_000).rev().collect();
    vec![
        ("in order", Service::Esp, 20_000, vec![1, 2]),
        ("in order", Service::IcmpEcho, 20_000, vec![1, 2, 3]),
        ("with a late packet", Service::Esp, 4_000, vec![1, 3, 4, 2]),
        ("with a late packet", Service::Sctp, 4_000, vec![1, 3, 4, 2]),
        ("with many holes", Service::Esp, 60, holes.clone()),
        ("with many holes", Service::RoceV2, 60, holes),
        ("backwards", Service::WireGuard, 200, reversed),
    ]
}

/// One test at a time: they share the counters.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

const MEMORY: usize = 48 << 20;
/// What streams may have, and connections of multipath TCP: a sixteenth those in order, and as much what those out of order hold besides.
const SHARE: usize = MEMORY / 8;

#[test]
fn streams_take_no_more_than_their_share_of_the_memory() {
    let _alone = alone();
    let mut wrong = Vec::new();
    for (name, service, count, numbers) in kinds() {
        let before = HELD.load(Relaxed);
        PEAK.store(before, Relaxed);
        let mut streams = Streams::new().within(Some(MEMORY));
        push(&mut streams, service, count, &numbers);
        let left_out = streams.left_out();
        let reports = streams.finish();
        let peak = PEAK.load(Relaxed) - before;
        let line = format!(
            "{service:?} {name}: {:.2} of the share, {} reports, {left_out} packets left out",
            peak as f64 / SHARE as f64,
            reports.len()
        );
        println!("{line}");
        // More streams than there is room for: some are followed, and the memory is kept.
        let fits = (SHARE / 8..=SHARE).contains(&peak);
        if !fits || left_out == 0 || reports.is_empty() {
            wrong.push(line);
        }
        // What was followed to its end is reported as without a limit, and so is the beginning of what was not.
        let mut unlimited = Streams::new();
        push(&mut unlimited, service, 1, &numbers);
        let first = unlimited.finish();
        if reports.first() != first.first() {
            wrong.push(format!("{service:?} {name}: another report"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The handshake of `count` connections, and pieces of 100 bytes with these numbers.
fn push_multipath(streams: &mut Streams, count: u32, pieces: &[u32]) {
    for n in 0..count {
        let ends = key(Service::Mptcp, n);
        let (flow, dir) = FlowKey::new(ends.src, ends.dst, 0);
        let mut push = |seq, payload_len, syn, option| {
            let segment = Subflow {
                ts_ns: i64::from(n),
                frame: u64::from(n),
                seq,
                payload_len,
                syn,
                option,
            };
            streams.aside(&Aside::Subflow(flow, dir, segment));
        };
        let capable = |key| Multipath::Capable { version: 1, key };
        push(0, 0, true, capable(Some(u64::from(n))));
        for piece in pieces {
            let data = Multipath::Data {
                number: u64::from(100 * piece),
                bits: 32,
                subflow: 1 + 100 * piece,
                len: 100,
            };
            push(1 + 100 * piece, 100, false, data);
        }
    }
}

#[test]
fn connections_of_multipath_tcp_take_no_more_than_their_share_of_the_memory() {
    let _alone = alone();
    let every_second: Vec<u32> = (0..5_000).map(|piece| 2 * piece).collect();
    for (name, count, pieces) in [
        ("in order", 20_000, &[0, 1, 2][..]),
        ("with holes", 40, &every_second),
    ] {
        let before = HELD.load(Relaxed);
        PEAK.store(before, Relaxed);
        let mut streams = Streams::new().within(Some(MEMORY));
        push_multipath(&mut streams, count, pieces);
        let left_out = streams.left_out();
        let reports = streams.finish().len();
        let share = (PEAK.load(Relaxed) - before) as f64 / SHARE as f64;
        println!(
            "multipath {name}: {share:.2} of the share, {reports} reports, {left_out} left out"
        );
        assert!((0.125..=1.0).contains(&share) && left_out > 0 && reports > 0);
    }
}
