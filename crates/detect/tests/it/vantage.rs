//! Where the capture was made, inferred from drawn transfers: round trips from 0.1 to 300 ms, hosts with delays of their own,
//! capture points anywhere on the path, packets lost or late before or behind them.
//!
//! `VANTAGE_SEED=7 cargo test -p inorder-detect --test it vantage:: -- --nocapture` draws others.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use inorder_detect::{Config, FlowReport, Tracker, Vantage, VantageBasis};
use inorder_tcp::config::SECOND;
use inorder_tcp::{Departure, Endpoint, Nanos, Pair, Side, profiles};
use inorder_wire::{FlowKey, Segment};

use crate::forward::model;

const CASES: u64 = 1_000;

/// Random numbers (splitmix64).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.share() < probability
    }

    /// Every order of magnitude as likely as another.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.share())
    }
}

/// One transfer from client to server, and who captures it.
#[derive(Clone, Debug)]
struct Case {
    rtt_ns: f64,
    /// Where on the path it is captured: 0 at the client, 1 at the server.
    place: f64,
    /// Where on the path packets with data are lost or late.
    trouble: f64,
    /// Shares of them.
    lost: f64,
    late: f64,
    profile: &'static str,
    timestamps: bool,
    sack: bool,
    kilobytes: u64,
    /// Usual time that the hosts take for an answer, and by how much more for the first ones.
    own_ns: [f64; 2],
    slow_ns: [f64; 2],
    /// Routers on the path; each takes one from the TTL.
    hops: f64,
    ttl: [u8; 2],
    handshake_seen: bool,
    seed: u64,
}

impl Case {
    fn draw(seed: u64) -> Case {
        let mut draw = Draw(seed);
        let d = &mut draw;
        let rtt_ns = d.between(1e5, 3e8);
        let place = match d.next() % 5 {
            0 | 1 => 0.0,
            2 | 3 => 1.0,
            // In between, but not where it is a matter of taste whether it is next to an end.
            _ => 0.25 + d.share() * 0.5,
        };
        let troubled = d.chance(0.7);
        let share = |d: &mut Draw| {
            if troubled && d.chance(0.6) {
                d.between(0.003, 0.05)
            } else {
                0.0
            }
        };
        let slow = |d: &mut Draw| {
            if d.chance(0.25) {
                d.between(2e5, 3e6)
            } else {
                0.0
            }
        };
        Case {
            rtt_ns,
            place,
            trouble: d.share(),
            lost: share(d),
            late: share(d),
            profile: if d.chance(0.7) { "linux-6" } else { "rfc" },
            timestamps: d.chance(0.6),
            sack: d.chance(0.8),
            kilobytes: d.between(2.0, 2_000.0) as u64,
            own_ns: [d.between(5e3, 1e5), d.between(5e3, 1e5)],
            slow_ns: [slow(d), slow(d)],
            hops: if rtt_ns < 1e6 {
                0.0
            } else {
                2.0 + d.share() * 12.0
            },
            ttl: [
                if d.chance(0.7) { 64 } else { 128 },
                if d.chance(0.7) { 64 } else { 255 },
            ],
            handshake_seen: d.chance(0.8),
            seed: d.next(),
        }
    }

    fn truth(&self) -> Vantage {
        match self.place {
            0.0 => Vantage::Sender,
            1.0 => Vantage::Receiver,
            _ => Vantage::Middle,
        }
    }

    /// The transfer as it was captured.
    fn capture(&self) -> Vec<(Side, Segment)> {
        let profile = profiles::find(self.profile).unwrap();
        let mut config = (profile.build)();
        (config.options.sack, config.options.timestamps) = (self.sack, self.timestamps);
        let make = || Endpoint::with_names(&config, profile.congestion, profile.loss).unwrap();
        let captured = Arc::new(Mutex::new(Vec::new()));
        let (case, out) = (self.clone(), Arc::clone(&captured));
        let mut draw = Draw(self.seed);
        let mut left = [0; 2];
        let mut pair = Pair::new(make(), make(), (self.rtt_ns / 2.0) as i64).with_fate(
            move |departure, copies| {
                if let Some((at, seg)) = case.passes(&mut draw, &mut left, &departure, copies) {
                    out.lock().unwrap().push((at, departure.from, seg));
                }
            },
        );
        pair.transfer(self.kilobytes * 1_000, 120 * SECOND);
        drop(pair);
        let mut all = Arc::try_unwrap(captured).unwrap().into_inner().unwrap();
        all.sort_by_key(|&(at, ..)| at);
        let skipped = if self.handshake_seen {
            0
        } else {
            all.len() / 4
        };
        let all = all.into_iter().skip(skipped);
        let numbered = all.zip(1..).map(|((at, from, mut seg), frame)| {
            (seg.ts_ns, seg.frame) = (at, frame);
            (from, seg)
        });
        numbered.collect()
    }

    /// A packet leaves its host and passes the capture point, if it gets there.
    fn passes(
        &self,
        draw: &mut Draw,
        left: &mut [Nanos; 2],
        d: &Departure<'_>,
        copies: &mut Vec<Nanos>,
    ) -> Option<(Nanos, Segment)> {
        let side = d.from as usize;
        let mut own = self.own_ns[side] * (0.3 - (1.0 - draw.share()).ln());
        if d.index < 2 {
            own += self.slow_ns[side];
        }
        // What a host sends stays in order.
        left[side] = left[side].max(d.now + own as i64);
        let waited = left[side] - d.now;
        let data = d.from == Side::Client && d.segment.payload > 0;
        let (lost, late) = (draw.chance(self.lost), draw.chance(self.late));
        let extra = if data && late {
            (self.rtt_ns * draw.between(0.02, 1.5)) as i64
        } else {
            0
        };
        if !(data && lost) {
            copies.push(waited + extra);
        }
        let passed = match d.from {
            Side::Client => self.place,
            Side::Server => 1.0 - self.place,
        };
        let behind = data && self.place > self.trouble;
        if behind && lost {
            return None;
        }
        let extra = if behind { extra } else { 0 };
        let mut seg = model::on_the_wire(d.segment, Some(d.index as u16));
        seg.ttl = self.ttl[side] - (self.hops * passed).round() as u8;
        let at = left[side] + (self.rtt_ns / 2.0 * passed) as i64 + extra;
        Some((at, seg))
    }

    fn analyse(&self) -> Option<FlowReport> {
        let client = inorder_wire::Endpoint::v4(0x0a00_0001, 40_000);
        let server = inorder_wire::Endpoint::v4(0x0a00_0002, 443);
        let mut tracker = Tracker::new(Config::default().what_if(false));
        for (from, seg) in &self.capture() {
            let (src, dst) = match from {
                Side::Client => (client, server),
                Side::Server => (server, client),
            };
            let (key, dir) = FlowKey::new(src, dst, 0);
            tracker.push(&key, dir, seg);
        }
        let mut flows = tracker.finish().into_iter();
        flows.find(|f| f.flow.src == client.socket_addr())
    }
}

/// Right and all, by what was asked.
#[derive(Default)]
struct Counts(BTreeMap<&'static str, (u32, u32)>);

impl Counts {
    fn add(&mut self, kind: &'static str, right: bool) {
        let count = self.0.entry(kind).or_default();
        count.0 += u32::from(right);
        count.1 += 1;
    }

    fn share(&self, kind: &str) -> f64 {
        let (right, all) = self.0[kind];
        f64::from(right) / f64::from(all)
    }
}

#[test]
fn drawn_capture_points_are_found() {
    let seed = std::env::var("VANTAGE_SEED").ok();
    let seed: u64 = seed.and_then(|n| n.parse().ok()).unwrap_or(1);
    let mut counts = Counts::default();
    for number in 0..CASES {
        let case = Case::draw(seed << 32 | number);
        let Some(flow) = case.analyse() else {
            continue;
        };
        let choice = flow.vantage;
        let right = choice.vantage == case.truth();
        counts.add("all", right);
        counts.add(
            match case.rtt_ns {
                ..1e6 => "round trip below 1 ms",
                1e6..1e7 => "round trip below 10 ms",
                _ => "longer round trip",
            },
            right,
        );
        counts.add(
            match case.truth() {
                Vantage::Sender => "at the sender",
                Vantage::Receiver => "at the receiver",
                Vantage::Middle => "in between",
            },
            right,
        );
        // Where trouble behind the capture point is taken for trouble before it, verdicts are wrong.
        let behind = case.place <= case.trouble && case.lost + case.late > 0.0;
        let before = case.place > case.trouble && case.lost + case.late > 0.0;
        let said = choice.basis != VantageBasis::Unknown;
        if behind {
            counts.add(
                "trouble behind it",
                !said || choice.vantage != Vantage::Receiver,
            );
        }
        if before {
            counts.add(
                "trouble before it",
                !said || choice.vantage != Vantage::Sender,
            );
        }
        if !right && std::env::var_os("VANTAGE_WRONG").is_some() {
            eprintln!("{choice:?} {} packets {case:?}", flow.originals.packets);
        }
    }
    for (kind, (right, all)) in &counts.0 {
        eprintln!("{kind}: {right} of {all}");
    }
    // On short paths the hosts' own delays are as long as the path, and some transfers have a handful of packets.
    for (kind, floor) in [
        ("longer round trip", 0.99),
        ("round trip below 10 ms", 0.97),
        ("round trip below 1 ms", 0.78),
        ("trouble behind it", 0.98),
        ("trouble before it", 0.97),
    ] {
        let share = counts.share(kind);
        assert!(share >= floor, "{kind}: {share}");
    }
}
