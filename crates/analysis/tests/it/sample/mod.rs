//! An invented analysis that uses every feature, for tests and for looking at the page. It is not a measurement: only
//! the shape of the numbers is realistic.
#![allow(dead_code)]

use inorder_metrics::Displacements;
use inorder_wire::{Service, StreamKey};
use std::net::SocketAddr;

use inorder_analysis::{
    Analysis, ExtentAgreement, PeerComparison, PeerCounts, PeerFlow, PeerFound, Score, StreamReport,
};
use inorder_detect::{
    AckPath, Avoidance, Cause, CauseCount, Confidence, Control, Cost, Distribution, Event,
    Evidence, FlowId, FlowReport, GoodputBin, Kind, Limit, Lost, Point, PointKind, RateClass,
    Reason, Recovery, RecoveryVerdict, Reordering, Retransmission, Vantage, VantageBasis,
    VantageChoice, Verdict, WhatIf,
};
use inorder_limits::{Limit as Phase, LimitSet, Limits, Share, Stretch};
use inorder_pairing::Matched;

/// 2024-01-01 00:00:00 UTC.
pub(crate) const START_NS: i64 = 1_704_067_200_000_000_000;
const MSS: u64 = 1448;

/// A linear congruential generator: the numbers look random and are the same in every run.
pub(crate) struct Dice(pub u64);

impl Dice {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        let multiplier = 6_364_136_223_846_793_005;
        self.0 = self
            .0
            .wrapping_mul(multiplier)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n.max(1)
    }
}

/// Two flows with late and lost packets, `quiet` flows without, and two numbered streams.
pub(crate) fn analysis(file: &str, quiet: u16) -> Analysis {
    let mut flows = vec![
        busy(43210, Vantage::Receiver, 7),
        busy(43212, Vantage::Sender, 8),
    ];
    flows.extend((0..quiet).map(|i| clean(50_000 + i)));
    Analysis {
        file: file.to_owned(),
        format: "pcapng, nanoseconds".to_owned(),
        frames: 25_800,
        left_out: 0,
        bytes: 18_400_000,
        first_ns: START_NS,
        last_ns: START_NS + 3_200_000_000,
        skipped: vec![("not IP".to_owned(), 12), ("fragment".to_owned(), 3)],
        warnings: vec!["the last block is cut off after 25,800 frames".to_owned()],
        flows,
        streams: vec![stream(Service::Rtp, 12), stream(Service::IcmpEcho, 0)],
        peer: Some(peer()),
        ..Analysis::default()
    }
}

pub(crate) fn id(port: u16) -> FlowId {
    FlowId {
        src: SocketAddr::from(([10, 1, 0, 2], port)),
        dst: SocketAddr::from(([192, 0, 2, 17], 5001)),
        overlay: 0,
        reuse: 0,
    }
}

/// A flow without late or lost packets.
pub(crate) fn clean(port: u16) -> FlowReport {
    let mut flow = FlowReport::new(id(port), choice(Vantage::Sender));
    flow.first_ns = START_NS;
    flow.last_ns = START_NS + 900_000_000;
    flow.endpoints.syn_seen = true;
    flow.endpoints.sack = true;
    flow.endpoints.timestamps = true;
    flow.endpoints.mss = MSS as u32;
    flow.min_rtt_ns = Some(42_100_000);
    flow.originals.packets = 640;
    flow.originals.bytes = 640 * MSS;
    flow.reordering.received = 640;
    flow.reordering.displacements = displaced([(0, 640)]);
    flow.ack_path.acks = 320;
    flow
}

fn choice(vantage: Vantage) -> VantageChoice {
    VantageChoice {
        vantage,
        basis: VantageBasis::Handshake,
        to_receiver_ns: Some(38_000),
        to_sender_ns: Some(42_062_000),
    }
}

/// A flow with late and lost packets, spurious retransmissions and unnecessary recoveries.
pub(crate) fn busy(port: u16, vantage: Vantage, seed: u64) -> FlowReport {
    let mut dice = Dice(seed);
    let mut flow = clean(port);
    flow.vantage = choice(vantage);
    flow.last_ns = START_NS + 3_200_000_000;
    flow.originals.packets = 12_000;
    flow.originals.bytes = 12_000 * MSS;
    flow.originals.undecided = 4;
    flow.upstream = Some(Box::default());
    flow.avoidance = Avoidance {
        dupthresh: Some(32),
        window_ns: Some(12_400_000),
    };
    flow.cost = cost();
    flow.limits = limits();
    flow.ack_path = AckPath {
        acks: 6_000,
        reordered: 14,
        missing: 3,
    };
    flow.artefacts.duplicated_frames = 2;
    flow.reordering.received = 11_992;
    transfer(&mut flow, &mut dice);
    spread(&mut flow);
    if vantage == Vantage::Receiver {
        flow.what_if = what_if();
    }
    flow
}

/// What the unnecessary reductions cost.
fn cost() -> Cost {
    let mut cost = Cost::default();
    cost.goodput_bps = Some(43_400_000);
    cost.bottleneck_bps = Some(94_000_000);
    cost.limit = Limit::Misled;
    (cost.control, cost.control_confidence) = (Control::Cubic, 0.9);
    (cost.unnecessary, cost.restored) = (40, 3);
    cost.lost = Some(Lost {
        share: 0.31,
        low: 0.27,
        high: 0.36,
    });
    (cost.timeout_ns, cost.recovery_ns) = (210_000_000, 640_000_000);
    cost.wasted_bytes = 58 * MSS;
    cost.goodput = (0..64)
        .map(|i| GoodputBin {
            start_ns: START_NS + i * 50_000_000,
            goodput_bps: 30_000_000 + 400_000 * (i as u64 * 7 % 64),
            again_bps: 200_000 * (i as u64 % 5),
        })
        .collect();
    cost
}

/// Start, line, a closed window, recoveries without need, and a wait of the application or for the send buffer.
fn limits() -> Limits {
    let either = LimitSet::of(&[Phase::Application, Phase::SendBuffer]);
    let mut all: Vec<(i64, LimitSet)> =
        vec![(40, Phase::Handshake.into()), (200, Phase::Start.into())];
    for n in 0..20 {
        all.push((40, Phase::Line.into()));
        all.push((2 + n % 3, Phase::RecoveryUnneeded.into()));
        all.push((38, Phase::WindowUnneeded.into()));
    }
    all.extend([
        (900, Phase::ReceiverWindow.into()),
        (250, either),
        (150, Phase::Unknown.into()),
    ]);
    let mut limits = Limits::default();
    limits.begun_ns = START_NS - 40_000_000;
    limits.ended_ns = limits.begun_ns;
    for (ms, set) in all {
        let start_ns = limits.ended_ns;
        limits.ended_ns += ms * 1_000_000;
        limits.stretches.push(Stretch {
            start_ns,
            end_ns: limits.ended_ns,
            limits: set,
        });
        let known = limits.shares.iter_mut().find(|share| share.limits == set);
        match known {
            Some(share) => share.ns += ms * 1_000_000,
            None => limits.shares.push(Share {
                limits: set,
                ns: ms * 1_000_000,
                confidence: Confidence::Likely,
            }),
        }
    }
    let unneeded = |share: &&Share| share.limits.only().is_some_and(Phase::is_unneeded);
    let ns = limits
        .shares
        .iter()
        .filter(unneeded)
        .map(|share| share.ns)
        .sum();
    limits.unnecessary = vec![(Cause::Reordering, ns)];
    limits.shares.sort_by_key(|share| -share.ns);
    limits
}

/// Sends 3,000 segments in windows of 60; some arrive late, some are lost.
fn transfer(flow: &mut FlowReport, dice: &mut Dice) {
    for n in 0..3_000u64 {
        let (window, place) = (n / 60, n % 60);
        let at_ns = START_NS + (window * 62_000_000 + place * 240_000) as i64;
        let seq_offset = n * MSS;
        point(flow, at_ns, seq_offset, PointKind::Data);
        if n % 2 == 1 {
            point(flow, at_ns + 300_000, seq_offset + MSS, PointKind::Ack);
        }
        match dice.below(1_000) {
            0..=26 => late(flow, dice, at_ns, n),
            27..=28 => lost(flow, at_ns, n),
            _ => {}
        }
    }
    flow.originals.lost = flow.retransmissions.needed;
}

fn point(flow: &mut FlowReport, at_ns: i64, seq_offset: u64, kind: PointKind) {
    flow.records.points.push(Point {
        at_ns,
        seq_offset,
        kind,
    });
}

fn late(flow: &mut FlowReport, dice: &mut Dice, at_ns: i64, n: u64) {
    let extent = 1 + dice.below(8) * dice.below(5);
    let late_ns = extent as i64 * 240_000 + dice.below(90_000) as i64;
    let clear = dice.below(20) > 0;
    let confidence = [Confidence::Ambiguous, Confidence::Certain][usize::from(clear)];
    let mut event = Event::new(Kind::Reordered, confidence, Evidence::ArrivalTimestamps);
    event.reason = (!clear).then_some(Reason::WhichCopy);
    event.at_ns = at_ns + late_ns;
    event.frame = 10 + n * 2;
    event.proof_frame = 11 + n * 2;
    event.seq_offset = n * MSS;
    event.len = MSS as u32;
    event.extent = Some(extent as u32);
    event.extent_bytes = Some(extent * MSS);
    event.late_ns = Some(late_ns);
    flow.records.events.push(event);
    if !clear {
        flow.reordering.ambiguous += 1;
        return;
    }
    flow.reordering.reordered += 1;
    flow.reordering.extents.update(extent);
    flow.reordering.late_ns.update(late_ns as u64);
    flow.reordering.extent_bytes.update(extent * MSS);
    flow.bursts.count += 1;
    flow.bursts.lengths.update(1);
    if extent > 3 {
        resend(flow, at_ns + late_ns + 42_000_000, n, Verdict::Spurious);
    }
}

fn lost(flow: &mut FlowReport, at_ns: i64, n: u64) {
    let mut event = Event::new(Kind::Lost, Confidence::Likely, Evidence::Dsack);
    event.reason = Some(Reason::AcksMissing);
    event.at_ns = at_ns + 43_000_000;
    event.frame = 10 + n * 2;
    event.proof_frame = 99 + n * 2;
    event.seq_offset = n * MSS;
    event.len = MSS as u32;
    flow.records.events.push(event);
    resend(flow, at_ns + 43_000_000, n, Verdict::Needed);
}

fn resend(flow: &mut FlowReport, at_ns: i64, n: u64, verdict: Verdict) {
    point(flow, at_ns, n * MSS, PointKind::Retransmission);
    let spurious = verdict == Verdict::Spurious;
    flow.records.retransmissions.push(Retransmission {
        frame: 50 + n * 2,
        at_ns,
        seq_offset: n * MSS,
        len: MSS as u32,
        verdict,
        confidence: Confidence::Certain,
        cause: [Cause::RandomLoss, Cause::Reordering][usize::from(spurious)],
    });
    flow.retransmissions.total += 1;
    flow.retransmissions.spurious += u64::from(spurious);
    flow.retransmissions.needed += u64::from(!spurious);
    flow.recoveries.total += 1;
    flow.recoveries.spurious += u64::from(spurious);
    let verdict = [RecoveryVerdict::Loss, RecoveryVerdict::Spurious][usize::from(spurious)];
    let cause = [Cause::RandomLoss, Cause::Reordering][usize::from(spurious)];
    let mut recovery = Recovery::new(at_ns, n * MSS, verdict);
    recovery.cause = cause;
    flow.recoveries.list.push(recovery);
    if !flow.recoveries.by_cause.iter().any(|c| c.cause == cause) {
        flow.recoveries.by_cause.push(CauseCount::new(cause));
        flow.recoveries.by_cause.sort_by_key(|c| c.cause);
    }
    let mut counts = flow.recoveries.by_cause.iter_mut();
    if let Some(count) = counts.find(|c| c.cause == cause) {
        count.recoveries += 1;
        count.retransmissions += 1;
    }
}

/// Reorder density and reordering by rate.
fn spread(flow: &mut FlowReport) {
    flow.reordering.displacements = displaced((-12..=12i64).map(|d| match d {
        0 => (d, 10_560),
        _ => (d, 720 / d.unsigned_abs().pow(2)),
    }));
    flow.by_rate = (0..9u32)
        .map(|i| RateClass {
            rate_bps: (1_000_000.0 * 2f64.powf(f64::from(i) / 2.0)) as u64,
            intervals: 12 + u64::from(i),
            packets: 1_000,
            reordered: u64::from(i * i),
            mean_extent: 1.0 + f64::from(i) / 2.0,
            mean_late_ns: 300_000.0 * f64::from(i + 1),
            extent_bytes: Vec::new(),
        })
        .collect();
}

fn what_if() -> Vec<WhatIf> {
    let delays = [20_000u64, 50_000, 100_000, 200_000];
    let blocks = [8u32, 16, 32, 64];
    let mut rows = Vec::new();
    for (i, &block_size) in blocks.iter().enumerate() {
        for (j, &coalesce_ns) in delays.iter().enumerate() {
            let left = 320u64.saturating_sub(40 * (i + 1) as u64 * (j + 1) as u64 / 2);
            rows.push(WhatIf {
                sorter: None,
                block_size,
                coalesce_ns,
                reordered: left,
                reordered_ratio: left as f64 / 11_992.0,
                max_extent: 31 / (i as u32 + 1),
                dupacks_saved: 900 - left,
                mean_added_delay_ns: coalesce_ns / 3,
                p50_added_delay_ns: None,
                p99_added_delay_ns: None,
                max_added_delay_ns: coalesce_ns,
                bound_ns: None,
            });
        }
    }
    rows
}

pub(crate) fn stream(service: Service, reordered: u64) -> StreamReport {
    let key = StreamKey {
        service,
        src: SocketAddr::from(([10, 1, 0, 9], 4_000)).into(),
        dst: SocketAddr::from(([192, 0, 2, 18], if reordered > 0 { 4_002 } else { 0 })).into(),
        id: 0xbeef,
        overlay: 0,
    };
    let mut stream = StreamReport::new(key, (0, 5_000_000_000), stream_order(reordered));
    stream.twice.duplicates = 1;
    stream.skipped.missing = 2;
    stream.skipped.skips = 2;
    stream
}

/// The order of a stream of 5,000 packets, `reordered` of which are late, each by up to a third of `reordered` packets.
fn stream_order(reordered: u64) -> Reordering {
    let mut order = Reordering {
        received: 5_000,
        reordered,
        displacements: displaced([(0, 5_000 - 2 * reordered), (-1, reordered), (1, reordered)]),
        ..Reordering::default()
    };
    for late in 0..reordered {
        order.extents.update(late / 3 + 1);
        order.late_ns.update(1_000_000 * (late + 1));
    }
    order
}

/// Displacements and how many packets have each.
fn displaced(counts: impl IntoIterator<Item = (i64, u64)>) -> Displacements {
    let mut all = Displacements::new(200);
    for (displacement, packets) in counts {
        all.count(displacement, packets);
    }
    all
}

fn peer() -> PeerComparison {
    let score = |true_positives| Score {
        true_positives,
        false_positives: 1,
        false_negatives: 2,
    };
    let counts = PeerCounts {
        originals: 12_000,
        reordered: 82,
        lost: 6,
        refused: 3,
        spurious: 40,
    };
    PeerComparison {
        file: "other-end.pcapng".to_owned(),
        flows: vec![PeerFlow {
            flow: id(43210),
            there: id(1024),
            matched: Matched::Numbers,
            found: PeerFound {
                truth: counts,
                inferred: PeerCounts {
                    reordered: 81,
                    ..counts
                },
                reordered: score(80),
                lost: score(5),
                refused: score(2),
                spurious: score(38),
                extents: ExtentAgreement {
                    compared: 80,
                    exact: 71,
                    within_one: 78,
                },
            },
        }],
        only_here: vec![id(50_000)],
        only_there: Vec::new(),
        ambiguous: Vec::new(),
    }
}

/// A distribution of the given values.
pub(crate) fn distribution(values: &[u64]) -> Distribution {
    let mut d = Distribution::default();
    values.iter().for_each(|&v| d.update(v));
    d
}

/// `flow` recovered so often by `cause`, with one packet sent again each time.
pub(crate) fn recovered(flow: &mut FlowReport, cause: Cause, recoveries: u64, timeouts: u64) {
    let mut count = CauseCount::new(cause);
    count.recoveries = recoveries;
    (count.timeouts, count.expiries) = (timeouts, timeouts);
    count.retransmissions = recoveries;
    flow.recoveries.total += recoveries;
    flow.recoveries.by_cause.push(count);
    flow.retransmissions.total += recoveries;
}
