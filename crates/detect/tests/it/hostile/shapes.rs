//! Captures as they should not be, made from recordings: each shape takes away or falsifies what captures lack or
//! have wrong.

use std::collections::BTreeMap;

use inorder_wire::{Dir, FlowKey, Has, Segment, TcpFlags};

const MS: i64 = 1_000_000;

/// One captured packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub key: FlowKey,
    pub dir: Dir,
    pub seg: Segment,
}

/// A direction of a connection.
pub(crate) type Way = (FlowKey, usize);

/// By [`Dir::index`].
pub(crate) const DIRS: [Dir; 2] = [Dir::LowToHigh, Dir::HighToLow];

pub(crate) fn way(item: &Item) -> Way {
    (item.key, item.dir.index())
}

/// Packets that no recording has bear numbers from here on, so that no truth speaks of them.
const INVENTED: u64 = 1 << 40;

/// What is done to a capture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub name: &'static str,
    /// Bytes of each frame that are kept.
    pub snap: usize,
    pub change: fn(&mut Vec<Item>),
    /// From which sides most flows must be called approximate.
    pub rough: Rough,
}

/// Sides from which a shape hides what verdicts rest on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Rough {
    Neither,
    Sender,
    Both,
}

const fn shape(name: &'static str, change: fn(&mut Vec<Item>)) -> Shape {
    Shape {
        name,
        snap: usize::MAX,
        change,
        rough: Rough::Neither,
    }
}

const fn hides(rough: Rough, shape: Shape) -> Shape {
    Shape { rough, ..shape }
}

const fn snap(name: &'static str, snap: usize) -> Shape {
    Shape {
        name,
        snap,
        change: |_| {},
        rough: Rough::Neither,
    }
}

pub(crate) const SHAPES: &[Shape] = &[
    shape("as recorded", |_| {}),
    hides(Rough::Sender, snap("54 bytes of each frame", 54)),
    hides(Rough::Sender, snap("66 bytes of each frame", 66)),
    hides(Rough::Sender, snap("68 bytes of each frame", 68)),
    snap("80 bytes of each frame", 80),
    snap("96 bytes of each frame", 96),
    hides(
        Rough::Both,
        shape("only what the data's sender sends", |all| {
            one_way(all, true);
        }),
    ),
    shape("only what the data's receiver sends", |all| {
        one_way(all, false);
    }),
    shape("begins after a fiftieth", |all| {
        drop(all.drain(..all.len() / 50));
    }),
    shape("begins after a third", |all| {
        drop(all.drain(..all.len() / 3));
    }),
    shape("begins after a half", |all| {
        drop(all.drain(..all.len() / 2));
    }),
    shape("begins after two thirds", |all| {
        drop(all.drain(..all.len() * 2 / 3));
    }),
    shape("begins after four fifths", |all| {
        drop(all.drain(..all.len() * 4 / 5));
    }),
    shape("ends after a third", |all| all.truncate(all.len() / 3)),
    shape("ends nine tenths on", |all| {
        all.truncate(all.len() * 9 / 10);
    }),
    shape("every frame twice, at once", |all| twice(all, 1, 0, 0)),
    shape("every frame twice, 20 us later, one hop on", |all| {
        twice(all, 1, 20_000, 1);
    }),
    shape("every frame twice, 500 us later, one hop on", |all| {
        twice(all, 1, MS / 2, 1);
    }),
    shape("every frame twice, 5 ms later, one hop on", |all| {
        twice(all, 1, 5 * MS, 1);
    }),
    shape("every tenth frame twice, at once", |all| {
        twice(all, 10, 0, 0);
    }),
    shape("every tenth frame twice, 300 us later", |all| {
        twice(all, 10, MS * 3 / 10, 0);
    }),
    shape("the first frame with data twice", first_twice),
    shape("no identifications", |all| unnumbered(all)),
    shape("IPv6's lack of identifications", |all| as_ipv6(all)),
    shape("no identifications, every frame twice, at once", |all| {
        unnumbered(all);
        twice(all, 1, 0, 0);
    }),
    shape(
        "no identifications, every frame twice, 20 us later",
        |all| {
            unnumbered(all);
            twice(all, 1, 20_000, 1);
        },
    ),
    shape("as IPv6, every frame twice, at once", |all| {
        as_ipv6(all);
        twice(all, 1, 0, 0);
    }),
    shape(
        "as IPv6, every frame twice, 20 us later, one hop on",
        |all| {
            as_ipv6(all);
            twice(all, 1, 20_000, 1);
        },
    ),
    shape("as IPv6, SYN and SYN/ACK delivered twice", |all| {
        as_ipv6(all);
        hello_twice(all);
    }),
    shape("the SYN repeated after a second", |all| {
        repeat_hello(all, false, 1_000 * MS);
    }),
    shape("SYN and SYN/ACK repeated after a second", |all| {
        repeat_hello(all, true, 1_000 * MS);
    }),
    shape(
        "the SYN repeated after a second, its ISN another",
        other_syn,
    ),
    shape("the same ports again", |all| again(all, usize::MAX)),
    shape("the same ports again, the first without its end", |all| {
        again(all, 2);
    }),
    shape("sequence numbers wrap", |all| wrap(all, 0)),
    shape("sequence numbers pass half of their range", |all| {
        wrap(all, 1 << 31);
    }),
    shape("timestamps wrap", |all| wrap_timestamps(all)),
    shape("every 1000th frame missing", |all| {
        miss(all, 1_000, 1, |_| true);
    }),
    shape("every 40th frame missing", |all| miss(all, 40, 1, |_| true)),
    shape("30 frames of every 600 missing", |all| {
        miss(all, 600, 30, |_| true);
    }),
    shape("every 40th frame with data missing", |all| {
        miss(all, 40, 1, |s| s.payload_len > 0);
    }),
    shape("every 40th answer missing", |all| {
        miss(all, 40, 1, |s| s.payload_len == 0);
    }),
    shape("the clock goes back 2 ms", |all| clock(all, -2 * MS)),
    shape("the clock goes back 40 ms", |all| clock(all, -40 * MS)),
    shape("the clock goes back 3 s", |all| clock(all, -3_000 * MS)),
    shape("the clock goes forward 3 s", |all| clock(all, 3_000 * MS)),
    shape("some times 200 us too early", |all| early(all, 200_000)),
    shape("answers 1 ms behind by their clock", |all| {
        other_clock(all, MS);
    }),
    shape("answers 30 ms behind by their clock", |all| {
        other_clock(all, 30 * MS);
    }),
    shape("answers 300 us ahead by their clock", |all| {
        other_clock(all, -MS * 3 / 10);
    }),
    shape("answers 8 ms ahead by their clock", |all| {
        other_clock(all, -8 * MS);
    }),
    hides(
        Rough::Both,
        shape("answers 70 ms ahead by their clock", |all| {
            other_clock(all, -70 * MS);
        }),
    ),
    shape("blocks of 16, data first", |all| blocks(all, 16, true)),
    hides(
        Rough::Both,
        shape("blocks of 16, answers first", |all| blocks(all, 16, false)),
    ),
    hides(
        Rough::Both,
        shape("blocks of 200, answers first", |all| {
            blocks(all, 200, false);
        }),
    ),
    shape("some neighbours changed places", |all| neighbours(all)),
];

/// Scatters `n`, the same way every time.
fn scatter(n: u64) -> u64 {
    let mut x = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn in_order_of_time(all: &mut [Item]) {
    all.sort_by_key(|i| i.seg.ts_ns);
}

/// The direction in which most data goes, by connection.
fn with_data(all: &[Item]) -> BTreeMap<FlowKey, Dir> {
    let mut bytes: BTreeMap<FlowKey, [u64; 2]> = BTreeMap::new();
    for i in all {
        bytes.entry(i.key).or_default()[i.dir.index()] += u64::from(i.seg.payload_len);
    }
    let main = |[low, high]: [u64; 2]| {
        if low >= high {
            Dir::LowToHigh
        } else {
            Dir::HighToLow
        }
    };
    bytes.into_iter().map(|(key, b)| (key, main(b))).collect()
}

fn one_way(all: &mut Vec<Item>, sender: bool) {
    let with_data = with_data(all);
    all.retain(|i| (with_data[&i.key] == i.dir) == sender);
}

fn twice(all: &mut Vec<Item>, every: usize, later_ns: i64, hops: u8) {
    let chosen = |n: usize| every == 1 || scatter(n as u64).is_multiple_of(every as u64);
    let mut out = Vec::new();
    for (n, &item) in all.iter().enumerate() {
        out.push(item);
        if chosen(n) {
            let mut copy = item;
            copy.seg.frame += INVENTED;
            copy.seg.ts_ns += later_ns;
            copy.seg.ttl -= hops;
            out.push(copy);
        }
    }
    *all = out;
    in_order_of_time(all);
}

/// Hosts that never fragment may leave the identification at 0.
fn unnumbered(all: &mut [Item]) {
    for item in all {
        item.seg.ip_id = 0;
    }
}

/// There is no identification.
fn as_ipv6(all: &mut [Item]) {
    for item in all {
        item.seg.ip_id = 0;
        item.seg.has &= !Has::IP_ID;
    }
}

fn hello_twice(all: &mut Vec<Item>) {
    let twice = |item: &Item| {
        let mut copy = *item;
        copy.seg.frame += INVENTED;
        let again = is_syn(item).then_some(copy);
        std::iter::once(*item).chain(again)
    };
    *all = all.iter().flat_map(twice).collect();
}

fn first_twice(all: &mut Vec<Item>) {
    let mut seen = Vec::new();
    let mut out = Vec::new();
    for &item in all.iter() {
        out.push(item);
        if item.seg.payload_len > 0 && !seen.contains(&(item.key, item.dir)) {
            seen.push((item.key, item.dir));
            let mut copy = item;
            copy.seg.frame += INVENTED;
            out.push(copy);
        }
    }
    *all = out;
}

fn is_syn(item: &Item) -> bool {
    item.seg.flags.any(TcpFlags::SYN)
}

/// The SYN, and perhaps its answer, `before_ns` before it came.
fn repeat_hello(all: &mut Vec<Item>, answered: bool, before_ns: i64) {
    let hellos: Vec<Item> = all.iter().copied().filter(is_syn).collect();
    for mut first in hellos {
        if first.seg.flags.any(TcpFlags::ACK) && !answered {
            continue;
        }
        first.seg.frame += INVENTED;
        first.seg.ts_ns -= before_ns;
        first.seg.ip_id = first.seg.ip_id.wrapping_sub(1);
        first.seg.tsval = first.seg.tsval.wrapping_sub((before_ns / MS) as u32);
        all.push(first);
    }
    in_order_of_time(all);
}

/// A SYN without an answer, then another with another number: an attempt that was given up.
fn other_syn(all: &mut Vec<Item>) {
    repeat_hello(all, false, 1_000 * MS);
    for item in all.iter_mut().filter(|i| i.seg.frame > INVENTED) {
        item.seg.seq = item.seg.seq.wrapping_sub(123_456_789);
    }
}

/// Adds `by` to the sequence numbers of `dir`, and to what acknowledges them.
fn shift(item: &mut Item, dir: Dir, by: u32) {
    if item.dir == dir {
        item.seg.seq = item.seg.seq.wrapping_add(by);
        return;
    }
    item.seg.ack = item.seg.ack.wrapping_add(by);
    let blocks = usize::from(item.seg.sack_len);
    for (left, right) in &mut item.seg.sack[..blocks] {
        (*left, *right) = (left.wrapping_add(by), right.wrapping_add(by));
    }
}

/// All again ten seconds later; of the first one part of `part` is there.
fn again(all: &mut Vec<Item>, part: usize) {
    let last = all.iter().map(|i| i.seg.ts_ns).max().unwrap_or(0);
    let first = all.iter().map(|i| i.seg.ts_ns).min().unwrap_or(0);
    let mut second = all.clone();
    for item in &mut second {
        item.seg.ts_ns += last - first + 10_000 * MS;
        item.seg.tsval = item.seg.tsval.wrapping_add(0x0123_4567);
        item.seg.tsecr = item.seg.tsecr.wrapping_add(0x0123_4567);
        item.seg.ip_id = item.seg.ip_id.wrapping_add(20_000);
        shift(item, Dir::LowToHigh, 0x1357_9bdf);
        shift(item, Dir::HighToLow, 0x4567_1234);
    }
    if part < usize::MAX {
        all.truncate(all.len() / part);
    }
    all.extend(second);
}

/// Moves the sequence numbers so that the data is half through where they reach `at`.
fn wrap(all: &mut [Item], at: u32) {
    let isn = hellos(all);
    for ((key, dir), isn) in isn {
        let dir = DIRS[dir];
        let mine = |i: &&Item| i.key == key && i.dir == dir && i.seg.payload_len > 0;
        let data: Vec<u32> = all.iter().filter(mine).map(|i| i.seg.seq).collect();
        let Some(middle) = data.get(data.len() / 2) else {
            continue;
        };
        let half = middle.wrapping_sub(isn);
        let by = at.wrapping_sub(isn).wrapping_sub(half);
        let of_it = all.iter_mut().filter(|i| i.key == key);
        of_it.for_each(|item| shift(item, dir, by));
    }
}

/// The number of each SYN.
pub(crate) fn hellos(all: &[Item]) -> BTreeMap<Way, u32> {
    let syns = all.iter().filter(|i| is_syn(i));
    syns.map(|i| (way(i), i.seg.seq)).collect()
}

fn wrap_timestamps(all: &mut [Item]) {
    let Some(middle) = all.get(all.len() / 2).copied() else {
        return;
    };
    let by = [middle.seg.tsval, middle.seg.tsecr].map(|t| 0u32.wrapping_sub(t));
    for item in all.iter_mut().filter(|i| i.seg.tsval > 0) {
        let same = item.dir == middle.dir;
        let (ours, theirs) = if same { (by[0], by[1]) } else { (by[1], by[0]) };
        item.seg.tsval = item.seg.tsval.wrapping_add(ours);
        if item.seg.tsecr > 0 {
            item.seg.tsecr = item.seg.tsecr.wrapping_add(theirs);
        }
    }
}

/// Of `every` frames `run` in a row are missing; SYNs are there.
fn miss(all: &mut Vec<Item>, every: u64, run: u64, of: fn(&Segment) -> bool) {
    let mut n = 0;
    all.retain(|item| {
        if is_syn(item) || !of(&item.seg) {
            return true;
        }
        n += 1;
        let start = scatter(n / every) % (every - run + 1);
        !(start..start + run).contains(&(n % every))
    });
}

fn clock(all: &mut [Item], by: i64) {
    let half = all.len() / 2;
    all[half..].iter_mut().for_each(|i| i.seg.ts_ns += by);
}

fn early(all: &mut [Item], by: i64) {
    for (n, item) in all.iter_mut().enumerate() {
        if scatter(n as u64).is_multiple_of(40) {
            item.seg.ts_ns -= by;
        }
    }
}

fn other_clock(all: &mut [Item], by: i64) {
    let with_data = with_data(all);
    let answers = all.iter_mut().filter(|i| with_data[&i.key] != i.dir);
    answers.for_each(|i| i.seg.ts_ns += by);
    in_order_of_time(all);
}

fn blocks(all: &mut [Item], len: usize, data_first: bool) {
    let with_data = with_data(all);
    for block in all.chunks_mut(len) {
        block.sort_by_key(|i| (with_data[&i.key] == i.dir) != data_first);
    }
}

/// Of two packets with the same time, only their order in the capture tells which came first: they keep it.
fn neighbours(all: &mut [Item]) {
    for n in 0..all.len() / 2 {
        let apart = all[2 * n].seg.ts_ns != all[2 * n + 1].seg.ts_ns;
        if apart && scatter(n as u64).is_multiple_of(20) {
            all.swap(2 * n, 2 * n + 1);
        }
    }
}
