//! Random fates of segments, read from bytes: the check for the fuzz target and the property tests.
//!
//! The first bytes choose the configuration of both ends; each later byte is the fate of one segment. When the bytes
//! end, the path is perfect, so that every transfer can end. On a path that loses, repeats and reorders, every byte
//! arrives exactly once and in order, or the connection reports an error. On a path that also forges fields, there
//! must be no panic and no endless exchange.

use std::sync::{Arc, Mutex};

use crate::config::{
    Config, DelayedAck, EcnOptionUse, EcnUse, LimitedTransmit, MS, Nagle, Pacing, Reduction,
    SECOND, Unstamped,
};
use crate::pair::{Pair, Side};
use crate::{Ecn, EcnOption, Endpoint, Flags, Nanos, Segment, congestion, loss, profiles};

/// Maximum number of events of a regular exchange of this size.
const MAX_EVENTS: u64 = 400_000;
/// Virtual time by which all timers have given up.
const DEADLINE: Nanos = 100_000 * SECOND;

/// Reads the input byte by byte; zeros after its end.
#[derive(Debug, Clone)]
pub(crate) struct Bytes {
    data: Arc<[u8]>,
    at: usize,
}

impl Bytes {
    pub(crate) fn new(data: &[u8]) -> Self {
        Bytes {
            data: data.into(),
            at: 0,
        }
    }

    fn next(&mut self) -> u8 {
        let byte = self.data.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        byte
    }

    fn exhausted(&self) -> bool {
        self.at >= self.data.len()
    }
}

/// The parts of a stream that a side has received.
#[derive(Debug, Default)]
struct Arrived {
    ranges: crate::ranges::RangeSet,
    problems: Vec<String>,
}

impl Arrived {
    /// `range` was accepted from a segment whose payload is the sender's `offset..offset + payload`.
    fn store(&mut self, range: (u64, u64), offset: u64, payload: u64) {
        if range.0 < offset || range.1 > offset + payload {
            self.problems.push(format!(
                "bytes {range:?} taken from a segment of {offset}+{payload}"
            ));
        }
        let mut new = Vec::new();
        self.ranges.insert(range.0, range.1, &mut new);
        let fresh: u64 = new.iter().map(|(a, b)| b - a).sum();
        if fresh != range.1 - range.0 {
            self.problems
                .push(format!("bytes {range:?} accepted twice"));
        }
    }

    fn complete(&self, bytes: u64) -> bool {
        let mut copy = self.ranges.clone();
        bytes == 0
            || copy.insert(0, bytes, &mut Vec::new()) == (0, bytes) && {
                let mut new = Vec::new();
                self.ranges.clone().insert(0, bytes, &mut new);
                new.is_empty()
            }
    }
}

/// Checks one input.
///
/// # Panics
/// If a transfer ends incorrectly.
pub fn fuzz_one(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let forge = bytes.next() & 7 == 7;
    let client = endpoint(&mut bytes, 1);
    let server = endpoint(&mut bytes, 0x8000_0000);
    let size = 500 * u64::from(bytes.next()) + u64::from(bytes.next());
    let back = 100 * u64::from(bytes.next() & 63);
    let arrived = Arc::new([
        Mutex::new(Arrived::default()),
        Mutex::new(Arrived::default()),
    ]);
    let pair = Pair::new(client, server, 5 * MS);
    let mut pair = pair.with_fate(move |departure, copies| {
        fate(&mut bytes, forge, departure.segment, copies);
    });
    let seen = Arc::clone(&arrived);
    pair.on_arrival = Some(Box::new(move |side, end, segment, offset| {
        let payload = u64::from(segment.payload);
        for range in end.accepted() {
            if let Ok(mut arrived) = seen[side as usize].lock() {
                arrived.store(range, offset, payload);
            }
        }
    }));
    let mut sizes = [size, back];
    let events = run(&mut pair, &mut sizes);
    assert!(events < MAX_EVENTS, "livelock: {}", describe(&pair));
    if !forge {
        check(&pair, &arrived, sizes);
    }
}

/// Both sides write these sizes, which become what their buffers take at once, read and close; returns the number of events.
fn run(pair: &mut Pair, sizes: &mut [u64; 2]) -> u64 {
    pair.open();
    sizes[0] = pair.client.write(sizes[0]);
    pair.client.close_after_open();
    sizes[1] = pair.server.write(sizes[1]);
    let mut events = 0;
    while events < MAX_EVENTS && pair.step(DEADLINE) {
        events += 1;
        for side in [Side::Client, Side::Server] {
            let end = pair.endpoint(side);
            let readable = end.readable();
            if readable > 0 && events % 3 == 0 {
                end.read(readable.div_ceil(2));
                pair.flush(side);
            }
        }
        if pair.server.peer_closed() {
            pair.server.close();
            pair.flush(Side::Server);
        }
    }
    events
}

fn check(pair: &Pair, arrived: &[Mutex<Arrived>; 2], [size, back]: [u64; 2]) {
    let failed = pair.client.error().is_some() || pair.server.error().is_some();
    for (side, bytes) in [(Side::Server, size), (Side::Client, back)] {
        let Ok(stream) = arrived[side as usize].lock() else {
            continue;
        };
        assert!(stream.problems.is_empty(), "{:?}", stream.problems);
        assert!(
            failed || stream.complete(bytes),
            "{side:?} lacks some of {bytes} bytes: {:?} {}",
            stream.ranges,
            describe(pair)
        );
    }
    if !failed {
        let closed = pair.server.peer_closed() && pair.client.peer_closed();
        assert!(closed, "not closed: {}", describe(pair));
    }
}

/// The state to print for a failure.
fn describe(pair: &Pair) -> String {
    let side = |end: &Endpoint| {
        format!(
            "{:?} {:?} timer {:?} with {:?}: {:?} {:?} {:?}",
            end.state(),
            end.error(),
            end.next_timer(),
            end.congestion(),
            end.info(),
            end.counters(),
            end.config(),
        )
    };
    let (client, server) = (side(&pair.client), side(&pair.server));
    format!("at {} ns\nclient {client}\nserver {server}", pair.now)
}

/// An endpoint that the input chooses.
pub(crate) fn endpoint(bytes: &mut Bytes, isn: u32) -> Endpoint {
    let profile = &profiles::PROFILES[usize::from(bytes.next()) % profiles::PROFILES.len()];
    let control = &congestion::REGISTRY[usize::from(bytes.next()) % congestion::REGISTRY.len()];
    let detection = &loss::REGISTRY[usize::from(bytes.next()) % loss::REGISTRY.len()];
    let mut config = (profile.build)();
    vary(&mut config, bytes);
    // Just below a wrap of the sequence numbers on one side, and below a wrap of the sign on the other.
    config.isn = isn.wrapping_sub(u32::from(bytes.next()) * 16);
    Endpoint::new(&config, (control.build)(), (detection.build)())
}

fn vary(config: &mut Config, bytes: &mut Bytes) {
    let (a, b, c, d) = (bytes.next(), bytes.next(), bytes.next(), bytes.next());
    config.options.sack &= a & 1 == 0;
    config.options.dsack &= a & 2 == 0;
    config.options.timestamps &= a & 4 == 0;
    config.options.paws &= a & 8 == 0;
    config.recovery.undo.eifel ^= a & 16 != 0;
    config.recovery.undo.dsack ^= a & 32 != 0;
    config.recovery.undo.rfc4015 = a & 64 != 0;
    config.recovery.undo.partial_within_recovery ^= c & 64 != 0;
    config.recovery.undo.unstamped = match config.recovery.undo.partial_within_recovery {
        true => Unstamped::Original,
        false => Unstamped::Partial,
    };
    config.recovery.frto ^= a & 128 != 0;
    config.cwnd.reduction = [
        config.cwnd.reduction,
        Reduction::Immediate,
        Reduction::RateHalving,
        Reduction::PrrConservative,
        Reduction::PrrSlowStart,
        Reduction::PrrLinux,
        Reduction::Inflate,
    ][usize::from(b & 7) % 7];
    config.recovery.limited_transmit = [
        config.recovery.limited_transmit,
        LimitedTransmit::Off,
        LimitedTransmit::Rfc3042,
        LimitedTransmit::Pipe,
    ][usize::from(b >> 3 & 3)];
    config.send.nagle = [
        Nagle::Off,
        Nagle::Rfc896,
        Nagle::Minshall,
        config.send.nagle,
    ][usize::from(b >> 5 & 3)];
    config.send.tso_segments = if b & 128 != 0 { 8 } else { 0 };
    if c & 1 != 0 {
        config.receive.buffer = 700 + 100 * u64::from(c);
        config.receive.autotuning = (b & 64 != 0).then_some(700);
        config.options.window_scale = Some(c & 3);
    }
    config.receive.read_at_once = c & 2 == 0;
    if c & 4 != 0 {
        config.acks.delayed = DelayedAck::Off;
    }
    config.acks.challenge ^= c & 8 != 0;
    config.mss = if c & 16 != 0 { 100 } else { 1000 };
    config.send.buffer = if c & 32 != 0 { 1 << 20 } else { u64::MAX };
    config.send.autotuning = (c & 64 != 0).then_some(2_304);
    config.ecn.usage = [
        EcnUse::Accurate,
        EcnUse::AcceptAccurate,
        EcnUse::Accept,
        EcnUse::Request,
    ][usize::from(d & 3)];
    config.ecn.accurate.option = [
        EcnOptionUse::Always,
        EcnOptionUse::Demand,
        EcnOptionUse::Persist,
        EcnOptionUse::Never,
    ][usize::from(d >> 6 & 3)];
    config.send.pacing = (d & 4 != 0).then(|| Pacing {
        max_rate: [u64::MAX, 1_000, 100_000, 10_000][usize::from(d >> 3 & 3)],
        burst: u32::from(d >> 5 & 3),
    });
    config.rto.retries = config.rto.retries.min(10);
}

/// One byte per segment: mostly in order, sometimes late, lost, duplicated, or (if `forge`) changed.
pub(crate) fn fate(bytes: &mut Bytes, forge: bool, segment: &mut Segment, copies: &mut Vec<Nanos>) {
    if bytes.exhausted() {
        copies.push(0);
        return;
    }
    let byte = bytes.next();
    let low = Nanos::from(byte & 15);
    match byte >> 4 {
        // A damaged segment fails its checksum, which is a loss.
        0..=2 => {}
        3..=5 => copies.push(low * MS),
        6 => copies.push(low * 40 * MS),
        7 => copies.extend([0, low * MS]),
        8 => copies.extend([low * MS, low * 100 * MS, 0]),
        9 if !forge => {
            // A router under load marks ECN-capable segments.
            if segment.ecn != Ecn::NotCapable {
                segment.ecn = Ecn::Congestion;
            }
            copies.push(low * MS);
        }
        9 => {
            let (field, value) = (bytes.next(), bytes.next());
            alter(segment, field, value);
            copies.push(low * MS);
        }
        _ => copies.push(0),
    }
}

/// Changes that an attacker, or an error behind the checksum, may make to a segment.
fn alter(segment: &mut Segment, field: u8, value: u8) {
    let big = u32::from(value) << 24 | u32::from(value);
    match field % 13 {
        0 => segment.seq = segment.seq.wrapping_add(u32::from(value)),
        1 => segment.seq = big,
        2 => segment.ack = segment.ack.wrapping_add(u32::from(value)),
        3 => segment.ack = big,
        4 => segment.window = u16::from(value),
        5 => segment.flags = Flags::from_bits(value.into()),
        6 => segment.payload = u32::from(value) * 7,
        7 => segment.payload = u32::MAX - u32::from(value),
        8 => {
            segment
                .sack
                .push(segment.ack.wrapping_add(u32::from(value)), big);
        }
        9 => {
            let at = segment.ack.wrapping_sub(u32::from(value) * 3);
            segment.sack = [(at, at.wrapping_add(1000)), (at, at.wrapping_sub(9))]
                .into_iter()
                .collect();
        }
        10 => {
            if let Some(ts) = &mut segment.timestamps {
                ts.val = ts.val.wrapping_add(big);
                ts.ecr = ts.ecr.wrapping_sub(u32::from(value));
            }
        }
        11 => {
            let counters = [big, u32::from(value), 0];
            let option = EcnOption::new(value & 1 == 0, &counters[..usize::from(value & 3)]);
            segment.ecn_option = Some(option);
            segment.flags = segment.flags.with_ace(value);
        }
        _ => {
            segment.mss = Some(u16::from(value));
            segment.window_scale = Some(value);
        }
    }
}
