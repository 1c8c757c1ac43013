//! What logs take: the account by which [`Room`] is kept, beside what is really allocated; and logs that are made to take much.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Read;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use inorder_qlog::{Connection, Report, Room, join, read_within};

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

const MEMORY: usize = 4 << 20;

/// Text that goes on without an end: its header, then one piece for each number.
struct Endless<F> {
    piece: F,
    next: u64,
    text: Vec<u8>,
}

impl<F: FnMut(u64) -> String> Endless<F> {
    fn new(piece: F) -> Self {
        let header = r#"{"qlog_version":"0.3","trace":{"vantage_point":{"type":"client"},"common_fields":{"ODCID":"ab"}}}"#;
        Endless {
            piece,
            next: 0,
            text: header.into(),
        }
    }
}

impl<F: FnMut(u64) -> String> Read for Endless<F> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.text.is_empty() {
            self.text = (self.piece)(self.next).into_bytes();
            self.next += 1;
        }
        let len = self.text.len().min(buffer.len());
        buffer[..len].copy_from_slice(&self.text[..len]);
        self.text.drain(..len);
        Ok(len)
    }
}

fn event(time: u64, name: &str, data: &str) -> String {
    format!(r#"{{"time":{time},"name":"{name}","data":{data}}}"#)
}

fn packet(number: u64, frames: &str) -> String {
    format!(
        r#"{{"header":{{"packet_type":"1RTT","packet_number":{number}}},"raw":{{"length":1200}},"frames":[{frames}]}}"#
    )
}

fn sent(n: u64, frames: &str) -> String {
    event(n, "transport:packet_sent", &packet(n, frames))
}

fn stream(id: u64, offset: u64, length: u64) -> String {
    format!(r#"{{"frame_type":"stream","stream_id":{id},"offset":{offset},"length":{length}}}"#)
}

type Piece = fn(u64) -> String;

/// Logs without an end, each of which makes something else grow.
const ENDLESS: &[(&str, Piece)] = &[
    ("packets sent", |n| sent(n, "")),
    ("in any order", |n| sent(n.reverse_bits() >> 20, "")),
    ("packets received", |n| {
        event(n, "transport:packet_received", &packet(n, ""))
    }),
    ("losses", |n| {
        let lost = format!(r#"{{"header":{{"packet_number":{n}}}}}"#);
        sent(n, "") + &event(n, "recovery:packet_lost", &lost)
    }),
    ("acknowledgements", |n| {
        let ack = format!(r#"{{"frame_type":"ack","acked_ranges":[[0,{n}]]}}"#);
        sent(n, "") + &event(n, "transport:packet_received", &packet(n, &ack))
    }),
    ("the window", |n| {
        let metrics = format!(
            r#"{{"congestion_window":{},"smoothed_rtt":9,"latest_rtt":8}}"#,
            n % 9
        );
        event(n, "recovery:metrics_updated", &metrics)
    }),
    ("streams", |n| sent(n, &stream(4 * n, 0, 1))),
    ("the same data", |n| sent(n, &stream(4, 0, 60_000))),
    ("data a byte further each time", |n| {
        sent(n, &stream(4, n, 60_000))
    }),
    ("connections", |n| {
        let first = r#"{"header":{"packet_type":"initial","packet_number":0}}"#;
        format!(r#"{{"time":{n},"name":"transport:packet_sent","group_id":"{n}","data":{first}}}"#)
    }),
    ("traces", |n| match n {
        0 => r#"{"traces":[{}"#.to_owned(),
        _ => ",{}".to_owned(),
    }),
    ("titles", |n| {
        let title = "t".repeat(10_000);
        let from = if n == 0 { r#"{"traces":["# } else { "," };
        format!(r#"{from}{{"title":"{title}"}}"#)
    }),
];

/// Logs whose one event has no end.
const ONE_EVENT: &[(&str, Piece)] = &[
    ("a name", |n| match n {
        0 => r#"{"name":""#.to_owned(),
        _ => "n".repeat(1_000),
    }),
    ("lists of lists", |n| match n {
        0 => r#"{"name":"a","data":["#.to_owned(),
        _ => "[0],".repeat(100),
    }),
    ("objects with a member", |n| match n {
        0 => r#"{"name":"a","data":["#.to_owned(),
        _ => r#"{"":0},"#.repeat(100),
    }),
    ("what nobody reads", |n| match n {
        0 => r#"{"unknown":["#.to_owned(),
        _ => "[".repeat(1_000),
    }),
    ("nothing", |_| " ".repeat(1_000)),
];

/// Reads until the memory is used up or an event is too long. Returns what it took at most, with all reports, and whether it was used up.
fn peak_of(piece: Piece) -> (usize, bool) {
    let before = HELD.load(Relaxed);
    PEAK.store(before, Relaxed);
    let mut room = Room::new(Some(MEMORY));
    let mut connections: Vec<Connection> = match read_within(Endless::new(piece), &mut room) {
        Ok(connections) => connections,
        Err(error) => error.connections,
    };
    join(&mut connections);
    let reports: Vec<Report> = connections.iter().map(Connection::report).collect();
    assert!(reports.len() <= connections.len());
    (PEAK.load(Relaxed) - before, room.is_used_up())
}

#[test]
fn no_log_takes_more_than_the_memory() {
    let _alone = ALONE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut wrong = Vec::new();
    let many = ENDLESS.iter().map(|(name, piece)| (name, piece, true));
    let one = ONE_EVENT.iter().map(|(name, piece)| (name, piece, false));
    for (name, piece, by_account) in many.chain(one) {
        let (peak, used_up) = peak_of(*piece);
        let share = peak as f64 / MEMORY as f64;
        let line = format!("{name}: {share:.2} of the memory, used up: {used_up}");
        println!("{line}");
        // What is counted too high would leave memory unused.
        let is_near = share <= 1.0 && (share >= 0.3 || !by_account);
        if !is_near || used_up != by_account {
            wrong.push(line);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
