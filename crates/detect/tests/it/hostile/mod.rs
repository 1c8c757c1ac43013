//! Captures as they should not be: nothing is asserted that rests on what they do not show.
//!
//! Every shape of [`shapes::SHAPES`] is made from recordings whose truth is known (`testdata/kinds`, or the folder
//! `HOSTILE_SET`), at both ends, and what is asserted is held against that truth. `HOSTILE_SHAPE=TEXT` takes the
//! shapes whose name contains the text, `HOSTILE_KIND=TEXT` the recordings whose name begins with it.

mod shapes;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use inorder_capture::{Block, Capture};
use inorder_detect::{Config, FlowReport, Tracker};
use inorder_wire::{Frame, LinkType, Packet, TcpFlags, parse};

use crate::lab::count::{About, Counts, Sure};
use crate::lab::recording::{Recording, recordings};
use crate::lab::score::Scored;
use crate::lab::truth;
use shapes::{DIRS, Item, Rough, SHAPES, Shape, Way, way};

/// A frame of a capture file.
struct Captured {
    ts_ns: i64,
    number: u64,
    link: LinkType,
    orig_len: u32,
    data: Vec<u8>,
}

/// Longer frames than this are kept up to here: no header is longer.
const MAX_KEPT: usize = 160;

fn frames(path: &Path) -> Vec<Captured> {
    let mut capture = Capture::open(path).expect("a capture");
    let (mut block, mut out) = (Block::default(), Vec::new());
    while capture.read_block(&mut block).expect("a whole capture") {
        out.extend(block.frames().map(|f| Captured {
            ts_ns: f.ts_ns,
            number: f.number,
            link: f.link,
            orig_len: f.orig_len,
            data: f.data[..f.data.len().min(MAX_KEPT)].to_vec(),
        }));
    }
    out
}

fn packets(frames: &[Captured], snap: usize) -> Vec<Item> {
    let one = |f: &Captured| {
        let frame = Frame {
            ts_ns: f.ts_ns,
            number: f.number,
            link: f.link,
            orig_len: f.orig_len,
            data: &f.data[..f.data.len().min(snap)],
        };
        match parse(&frame) {
            Packet::Tcp(key, dir, seg) => Some(Item { key, dir, seg }),
            _ => None,
        }
    };
    frames.iter().filter_map(one).collect()
}

/// How far the bytes of a report are from the first data byte: a capture that begins in the middle counts from the
/// first it has. By connection with the same ports, direction; in the order of the connections.
fn bases(all: &[Item], isn: &BTreeMap<Way, u32>) -> Vec<BTreeMap<Way, i64>> {
    let mut out: Vec<BTreeMap<Way, i64>> = Vec::new();
    let mut seen: BTreeMap<Way, (usize, Option<u32>)> = BTreeMap::new();
    for item in all {
        let id = way(item);
        let state = seen.entry(id).or_default();
        if item.seg.flags.any(TcpFlags::SYN) {
            if state.1.is_some_and(|old| old != item.seg.seq)
                && out.get(state.0).is_some_and(|b| b.contains_key(&id))
            {
                state.0 += 1;
            }
            state.1 = Some(item.seg.seq);
        }
        if item.seg.payload_len == 0 {
            continue;
        }
        if out.len() <= state.0 {
            out.resize(state.0 + 1, BTreeMap::new());
        }
        let first = match (state.1, isn.get(&id)) {
            (None, Some(isn)) => i64::from(item.seg.seq.wrapping_sub(isn.wrapping_add(1)) as i32),
            _ => 0,
        };
        out[state.0].entry(id).or_insert(first);
    }
    out
}

fn analyse(all: &[Item]) -> Vec<FlowReport> {
    let config = Config::default().keep_events(true).what_if(false);
    let mut tracker = Tracker::new(config);
    for item in all {
        tracker.push(&item.key, item.dir, &item.seg);
    }
    tracker.finish()
}

/// What was said of one shape.
#[derive(Default)]
struct Said {
    sides: [Counts; 2],
    /// Flows with some data, and those of them that are called approximate.
    flows: [(u64, u64); 2],
    wrong: Vec<String>,
}

/// Flows of fewer packets show little of what is hidden.
const MIN_PACKETS: u64 = 100;

impl Said {
    fn of(
        recording: &Recording,
        truth: &HashMap<String, truth::Flow>,
        ends: &Ends,
        shape: &Shape,
    ) -> Said {
        let (mut scored, mut said) = (Scored::default(), Said::default());
        for (side, frames) in ends.iter().enumerate() {
            let mut isn = shapes::hellos(&packets(frames, usize::MAX));
            let mut all = packets(frames, shape.snap);
            (shape.change)(&mut all);
            isn.extend(shapes::hellos(&all)); // They may have been moved.
            let bases = bases(&all, &isn);
            let mut told = analyse(&all);
            for flow in told.iter().filter(|f| f.originals.packets >= MIN_PACKETS) {
                said.flows[side].0 += 1;
                said.flows[side].1 += u64::from(flow.rough);
            }
            let most = told.iter().map(|f| f.flow.reuse).max().unwrap_or(0);
            for n in 0..=most {
                let of_these = told.extract_if(.., |f| f.flow.reuse == n);
                let of_these: Vec<FlowReport> = of_these.map(|f| moved(f, &bases, n)).collect();
                scored.judge(&recording.name, truth, &of_these, side == 0);
            }
        }
        said.sides = [scored.sender, scored.receiver];
        said.wrong = scored.wrong;
        said
    }

    fn add(&mut self, other: Said) {
        for (sum, more) in self.sides.iter_mut().zip(&other.sides) {
            *sum += more;
        }
        for (sum, more) in self.flows.iter_mut().zip(other.flows) {
            *sum = (sum.0 + more.0, sum.1 + more.1);
        }
        self.wrong.extend(other.wrong);
    }

    /// What is wrong with it, in words.
    fn faults(&self, shape: &Shape) -> Vec<String> {
        let mut out = Vec::new();
        for (name, counts) in ["sender", "receiver"].iter().zip(&self.sides) {
            for (sure, one_in) in [(Sure::Certain, 1_000), (Sure::Likely, 20)] {
                let (told, wrong) = sum(counts, sure);
                if wrong > (told / one_in).max(MAX_WRONG_OF_FEW) {
                    out.push(format!(
                        "{}, {name}: {wrong} of {told} {sure:?} are false",
                        shape.name
                    ));
                }
            }
            let (told, wrong) = extents(counts);
            if wrong > (told / EXTENTS_PER_WRONG_ONE).max(MAX_WRONG_OF_FEW) {
                out.push(format!(
                    "{}, {name}: {wrong} of {told} certain extents are wrong",
                    shape.name
                ));
            }
        }
        let hidden = match shape.rough {
            Rough::Neither => &self.flows[..0],
            Rough::Sender => &self.flows[..1],
            Rough::Both => &self.flows[..],
        };
        if hidden.iter().any(|&(all, rough)| rough * 10 < all * 9) {
            out.push(format!(
                "{}: approximate are {:?} of the flows at sender and receiver",
                shape.name, self.flows
            ));
        }
        out
    }
}

/// Number of false statements tolerated where there are too few statements for a share.
const MAX_WRONG_OF_FEW: u64 = 3;

/// Number of certain extents for each one that may be wrong: a frame that the capture lacks may leave no trace.
const EXTENTS_PER_WRONG_ONE: u64 = 25;

/// The frames of both captures, the sender's first.
type Ends = [Vec<Captured>; 2];

/// A report whose bytes count from the first data byte: the `n`th with its ports.
fn moved(mut flow: FlowReport, bases: &[BTreeMap<Way, i64>], n: u32) -> FlowReport {
    let of = bases.get(n as usize).into_iter().flatten();
    let name = flow.flow.to_string();
    let mut of = of.filter(|((key, dir), _)| {
        let (src, dst) = key.ends(DIRS[*dir]);
        format!("{}->{}", src.socket_addr(), dst.socket_addr()) == name
    });
    let base = of.next().map_or(0, |(_, &base)| base);
    for event in &mut flow.records.events {
        event.seq_offset = event.seq_offset.wrapping_add_signed(base);
    }
    for copy in &mut flow.records.retransmissions {
        copy.seq_offset = copy.seq_offset.wrapping_add_signed(base);
    }
    flow
}

/// Sums by shape.
fn all_shapes() -> Vec<Said> {
    let named = |variable: &str| std::env::var(variable).unwrap_or_default();
    let set = std::env::var_os("HOSTILE_SET");
    let (kind, wanted) = (named("HOSTILE_KIND"), named("HOSTILE_SHAPE"));
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/kinds");
    let mut all = recordings(&set.map_or(own, PathBuf::from)).expect("the recordings");
    all.retain(|r| r.name.starts_with(&kind));
    let sums: Mutex<Vec<Said>> = Mutex::new(SHAPES.iter().map(|_| Said::default()).collect());
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(recording) = all.get(at) else { break };
            let truth = truth::read(&recording.truth).expect("the truth");
            // A capture on the path has no second end.
            let Some(receiver) = &recording.receiver else {
                continue;
            };
            let ends = [frames(&recording.sender), frames(receiver)];
            for (n, shape) in SHAPES.iter().enumerate() {
                if shape.name.contains(&wanted) {
                    let said = Said::of(recording, &truth, &ends, shape);
                    sums.lock().expect("no thread panics while it holds this")[n].add(said);
                }
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    sums.into_inner().expect("all threads have ended")
}

/// Told as surely as this, and of these false. How far a packet came behind is counted apart: frames that are missing
/// are missing from every extent across them, and not all of them show.
fn sum(counts: &Counts, sure: Sure) -> (u64, u64) {
    let of_it = |(about, s): &(About, Sure)| *s == sure && *about != About::Extent;
    let all = counts.trust.iter().filter(|(key, _)| of_it(key));
    all.fold((0, 0), |(told, wrong), (_, t)| {
        (told + t.told, wrong + t.told - t.right)
    })
}

/// Extents called certain, and of these not exact.
fn extents(counts: &Counts) -> (u64, u64) {
    let trust = counts.trust.get(&(About::Extent, Sure::Certain));
    trust.map_or((0, 0), |t| (t.told, t.told - t.right))
}

/// A line of the table.
fn row(shape: &Shape, said: &Said) -> String {
    let cell = |counts: &Counts| {
        let of = |sure| sum(counts, sure);
        let (certain, likely, open) = (of(Sure::Certain), of(Sure::Likely), of(Sure::Ambiguous));
        let extents = extents(counts);
        format!(
            "certain {:6} ({} false, {} of {} extents) likely {:5} ({} false) ambiguous {:5}",
            certain.0, certain.1, extents.1, extents.0, likely.0, likely.1, open.0
        )
    };
    format!(
        "{:50} {} | {} approximate {:?}",
        shape.name,
        cell(&said.sides[0]),
        cell(&said.sides[1]),
        said.flows
    )
}

/// The table is shown with `--nocapture`, and with `HOSTILE_WRONG` set every false statement.
#[test]
fn nothing_false_is_asserted_of_captures_as_they_should_not_be() {
    let mut faults = Vec::new();
    for (shape, said) in SHAPES.iter().zip(all_shapes()) {
        println!("{}", row(shape, &said));
        if std::env::var_os("HOSTILE_WRONG").is_some() {
            said.wrong.iter().for_each(|line| println!("    {line}"));
        }
        faults.extend(said.faults(shape));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}
