//! The resequencer: traces of ten packets, what it learns from them, and its dumb twin.

use inorder_sort::resequence::{Gaps, Resequencer};
use inorder_sort::{AnySorter, Kind, Meta, Sorter, SorterConfig, Surroundings};

const US: i64 = 1_000;
const MS: i64 = 1_000_000;

type Sorted = Resequencer<u32, u32>;

fn sorter(text: &str) -> Sorted {
    let config: SorterConfig = text.parse().unwrap();
    Sorted::build(&config, &Surroundings::default()).unwrap()
}

/// A driver with a timer: pushes packets of one number each and wakes when it is due.
struct Driver {
    sorter: Sorted,
    up: Vec<(i64, u32)>,
}

impl Driver {
    fn new(text: &str) -> Self {
        Driver {
            sorter: sorter(text),
            up: Vec::new(),
        }
    }

    /// A handshake that shows this round trip, ending at time 0.
    fn with_round_trip(text: &str, rtt_ns: i64) -> Self {
        let mut driver = Driver::new(text);
        driver.packet(-rtt_ns, Kind::Open, 0, 0);
        driver.packet(0, Kind::Ack, 1, 0);
        driver.up.clear();
        driver
    }

    fn packet(&mut self, at_ns: i64, kind: Kind, seq: u32, len: u32) {
        self.wake_until(at_ns);
        let meta = Meta {
            flow: 7,
            seq,
            len,
            kind,
        };
        let up = &mut self.up;
        self.sorter
            .push(&meta, seq, at_ns, &mut |seq| up.push((at_ns, seq)));
    }

    fn data(&mut self, at_ns: i64, seq: u32) {
        self.packet(at_ns, Kind::Data, seq, 1);
    }

    fn wake_until(&mut self, at_ns: i64) {
        while let Some(due_ns) = self.sorter.next_deadline_ns()
            && due_ns <= at_ns
        {
            let up = &mut self.up;
            self.sorter
                .on_deadline(due_ns, &mut |seq| up.push((due_ns, seq)));
        }
    }

    /// `gaps` times: packet n late by `late_ns`, with three behind it, 100 us apart; the next begins at the end.
    fn late_ones(&mut self, from_ns: i64, from_seq: u32, gaps: u32, late_ns: i64) -> (i64, u32) {
        let (mut at_ns, mut seq) = (from_ns, from_seq);
        for _ in 0..gaps {
            let due = [(at_ns + late_ns, seq)];
            let rest = (1..4).map(|i| (at_ns + i64::from(i) * 100 * US, seq + i));
            let mut all: Vec<(i64, u32)> = rest.chain(due).collect();
            all.sort_unstable();
            all.iter().for_each(|&(at_ns, seq)| self.data(at_ns, seq));
            at_ns += late_ns.max(400 * US);
            seq += 4;
        }
        (at_ns, seq)
    }

    fn order(&self) -> Vec<u32> {
        self.up.iter().map(|&(_, seq)| seq).collect()
    }
}

#[test]
fn in_order_nothing_waits_and_nothing_is_counted() {
    let mut driver = Driver::with_round_trip("resequence", 10 * MS);
    (1..=10).for_each(|seq| driver.data(i64::from(seq), seq));
    let expected: Vec<(i64, u32)> = (1..=10).map(|seq| (i64::from(seq), seq)).collect();
    assert_eq!(driver.up, expected);
    assert_eq!(driver.sorter.gaps(), Gaps::default());
}

#[test]
fn the_first_late_packet_is_waited_for_half_of_a_round_trip() {
    let mut driver = Driver::with_round_trip("resequence", 40 * MS);
    for (at_ns, seq) in [(1, 1), (3, 3), (MS, 2), (2 * MS, 5)] {
        driver.data(at_ns, seq);
    }
    driver.wake_until(40 * MS);
    assert_eq!(driver.up[1..3], [(MS, 2), (MS, 3)]);
    // 4 never comes.
    assert_eq!(driver.up[3..], [(22 * MS, 5)]);
}

#[test]
fn without_a_start_the_first_late_packet_is_watched_and_the_next_is_waited_for() {
    let mut driver = Driver::with_round_trip("resequence:start=0us", 40 * MS);
    // 5 comes 1 ms late: what is behind it goes up at once, and 5 late.
    for (at_ns, seq) in [(1, 1), (2, 2), (3, 3), (4, 4), (6, 6), (7, 7), (MS, 5)] {
        driver.data(at_ns, seq);
    }
    assert_eq!(driver.order(), [1, 2, 3, 4, 6, 7, 5]);
    // 8 comes 1 ms late, too: 9 and 10 wait for it.
    for (at_ns, seq) in [(2 * MS, 9), (2 * MS + 1, 10), (3 * MS, 8)] {
        driver.data(at_ns, seq);
    }
    assert_eq!(driver.order()[7..], [8, 9, 10]);
    let gaps = driver.sorter.gaps();
    assert_eq!(
        (gaps.opened, gaps.passed, gaps.filled, gaps.open()),
        (2, 1, 1, 0)
    );
}

/// What the README draws: 5 comes in the second interrupt, 9 never.
#[test]
fn the_readmes_ten_packets() {
    let story = |text: &str| {
        let config: SorterConfig = text.parse().unwrap();
        let mut sorter = config.build::<u32, u32>(&Surroundings::default()).unwrap();
        let mut up = Vec::new();
        let path_is_known = [
            (-40 * MS, Kind::Open, 0),
            (0, Kind::Ack, 1),
            (0, Kind::Data, 1),
        ];
        let late_before = [(US, Kind::Data, 3), (2 * MS, Kind::Data, 2)];
        for (at_ns, kind, seq) in path_is_known.into_iter().chain(late_before) {
            let (flow, len) = (7, u32::from(kind == Kind::Data));
            let meta = Meta {
                flow,
                seq,
                len,
                kind,
            };
            sorter.push(&meta, seq, at_ns, &mut |_| ());
        }
        sorter.flush(2 * MS, &mut |_| ());
        let mut batch = |at_ns, packets: &[u32]| {
            for &n in packets {
                sorter.push(&Meta::data(7, 3 + n, 1), n, at_ns, &mut |n| up.push(n));
            }
            sorter.end_of_batch(at_ns, &mut |n| up.push(n));
            core::mem::take(&mut up)
        };
        let first = batch(3 * MS, &[1, 2, 3, 4, 6]);
        let second = batch(3 * MS + 75 * US, &[7, 5, 8, 10]);
        let mut third = Vec::new();
        while let Some(due_ns) = sorter.next_deadline_ns() {
            sorter.on_deadline(due_ns, &mut |n| third.push(n));
        }
        [first, second, third]
    };
    let rows = ["none", "srpic", "window", "resequence"].map(story);
    let batches = |first: &[u32], second: &[u32], third: &[u32]| {
        [first.to_vec(), second.to_vec(), third.to_vec()]
    };
    assert_eq!(rows[0], batches(&[1, 2, 3, 4, 6], &[7, 5, 8, 10], &[]));
    assert_eq!(rows[1], batches(&[1, 2, 3, 4, 6], &[5, 7, 8, 10], &[]));
    assert_eq!(rows[2], batches(&[1, 2, 3, 4], &[5, 6, 7, 8], &[10]));
    assert_eq!(rows[3], batches(&[1, 2, 3, 4], &[5, 6, 7, 8], &[10]));
}

#[test]
fn a_loss_is_waited_for_once_and_no_longer_than_late_ones_deserve() {
    let mut driver = Driver::with_round_trip("resequence", 40 * MS);
    let (at_ns, seq) = driver.late_ones(0, 1, 64, MS);
    // `seq` never comes.
    driver.data(at_ns, seq + 1);
    driver.wake_until(at_ns + 40 * MS);
    let &(up_ns, last) = driver.up.last().unwrap();
    assert_eq!(last, seq + 1);
    let held_ns = up_ns - at_ns;
    assert!((MS..2 * MS).contains(&held_ns), "held for {held_ns} ns");
}

#[test]
fn nothing_is_held_on_a_path_that_only_loses() {
    let mut driver = Driver::with_round_trip("resequence", 10 * MS);
    let mut at_ns = 0;
    for loss in 0..100 {
        // Of ten one is lost and comes again after a round trip.
        let from = 1 + loss * 10;
        (1..10).for_each(|i| driver.data(at_ns + i64::from(i), from + i));
        at_ns += 11 * MS;
        driver.data(at_ns, from);
    }
    assert_eq!(driver.up.len(), 1000);
    let gaps = driver.sorter.gaps();
    // The first is waited for, in vain.
    assert_eq!((gaps.timed_out, gaps.passed), (1, 99));
    assert_eq!(driver.sorter.held(), 0);
}

/// A retransmission was sent after what is held, so that a receiver that had seen its timestamp would refuse them.
#[test]
fn a_retransmission_does_not_overtake_what_is_held() {
    let mut driver = Driver::with_round_trip("resequence", 8 * MS);
    // Waiting works here, so that one gap in vain does not end it.
    let (at_ns, seq) = driver.late_ones(0, 1, 64, 2 * MS);
    driver.up.clear();
    // The first and the fourth are lost; the first is given up after some 3 ms and comes again while the fifth waits for the fourth.
    let (lost, after_ns) = (seq, at_ns + 9 * MS);
    for (at_ns, seq) in [
        (at_ns, lost + 1),
        (after_ns, lost + 2),
        (after_ns, lost + 4),
    ] {
        driver.data(at_ns, seq);
    }
    driver.data(after_ns + MS, lost);
    assert_eq!(driver.order(), [lost + 1, lost + 2, lost + 4, lost]);
    let together_ns = after_ns + MS;
    assert_eq!(
        driver.up[2..],
        [(together_ns, lost + 4), (together_ns, lost)]
    );
    assert_eq!(driver.sorter.gaps().flushed, 1);
}

/// What ends the handshake was lost, so that the first packet after the SYN comes much later than after a round trip.
#[test]
fn a_round_trip_that_is_too_long_is_corrected_by_those_of_other_flows() {
    let mut driver = Driver::new("resequence");
    for (flow, rtt_ns) in [(1, 10 * MS), (2, 250 * MS)] {
        let meta = |kind, seq| Meta {
            flow,
            seq,
            len: u32::from(kind == Kind::Data),
            kind,
        };
        for (at_ns, meta) in [(0, meta(Kind::Open, 0)), (rtt_ns, meta(Kind::Data, 1))] {
            driver.sorter.push(&meta, 0, at_ns, &mut |_| ());
        }
    }
    assert_eq!(driver.sorter.hold_ns(2), Some(5 * MS));
}

/// Which of two SYNs is answered cannot be told.
#[test]
fn a_repeated_syn_shows_no_round_trip() {
    let mut driver = Driver::new("resequence");
    for (at_ns, kind) in [
        (0, Kind::Open),
        (1000 * MS, Kind::Open),
        (1002 * MS, Kind::Ack),
    ] {
        driver.packet(at_ns, kind, 0, 0);
    }
    // That of `blind`.
    assert_eq!(driver.sorter.hold_ns(7), Some(MS));
}

/// A loss long after the beginning of a tunnel is waited for as shortly as where nothing is known of the way.
#[test]
fn a_tunnel_in_order_does_not_wait_long_for_its_first_loss() {
    let held_ns = |in_order: u32| {
        let mut driver = Driver::new("resequence:tunnel=true");
        (0..in_order).for_each(|seq| driver.data(i64::from(seq), seq));
        driver.data(MS, in_order + 1);
        driver.sorter.next_deadline_ns().map(|due_ns| due_ns - MS)
    };
    assert_eq!(held_ns(1), Some(50 * MS));
    assert_eq!(held_ns(1000), Some(MS));
}

#[test]
fn a_sender_that_resends_late_packets_is_held_longer() {
    let story = |resent: bool| {
        let mut driver = Driver::with_round_trip("resequence:start=0us", 40 * MS);
        let (mut at_ns, mut seq) = (0, 1);
        // The first two come when they are not waited for any more. RACK would wait for them, so that who resends them
        // is strict. The others are later than half of the round trip.
        for late_ms in [4, 9, 25, 25, 25, 25] {
            (at_ns, seq) = driver.late_ones(at_ns, seq, 1, late_ms * MS);
            at_ns += 41 * MS;
            if resent {
                driver.data(at_ns, seq - 4);
            }
            at_ns += 60 * MS;
        }
        driver.sorter.gaps()
    };
    let (strict, tolerant) = (story(true), story(false));
    assert!(strict.filled >= 2, "{strict:?}");
    assert_eq!(tolerant.filled, 0, "{tolerant:?}");
}

#[test]
fn a_new_flow_starts_with_what_its_path_has_shown() {
    let mut driver = Driver::with_round_trip("resequence", 40 * MS);
    let (at_ns, _) = driver.late_ones(0, 1, 20, MS);
    let mut up = Vec::new();
    for (after_ns, seq) in [(0, 1), (1, 3), (MS, 2)] {
        let meta = Meta::data(99, seq, 1);
        driver
            .sorter
            .push(&meta, seq, at_ns + after_ns, &mut |seq| up.push(seq));
    }
    assert_eq!(up, [1, 2, 3]);
}

#[test]
fn a_fin_goes_behind_what_is_held() {
    let mut driver = Driver::with_round_trip("resequence:start=1ms", 40 * MS);
    driver.data(1, 1);
    driver.data(2, 3);
    assert_eq!(driver.order(), [1]);
    driver.packet(3, Kind::Close, 4, 0);
    assert_eq!(driver.order(), [1, 3, 4]);
}

#[test]
fn one_stray_number_does_not_end_the_sorting_of_a_flow() {
    let mut driver = Driver::with_round_trip("resequence", 40 * MS);
    let (at_ns, seq) = driver.late_ones(0, 1, 20, MS);
    driver.data(at_ns, seq + 1_000_000);
    let mut at_ns = at_ns + 50 * MS;
    for i in 0..1100 {
        driver.data(at_ns + i64::from(i), seq + i);
    }
    at_ns += MS;
    driver.up.clear();
    let next = seq + 1100;
    for (after_ns, seq) in [(0, next + 1), (MS, next)] {
        driver.data(at_ns + after_ns, seq);
    }
    assert_eq!(driver.order(), [next, next + 1]);
}

#[test]
fn in_a_tunnel_the_bound_alone_limits_a_hold() {
    // No handshake, 30 ms late.
    let run = |text: &str| {
        let mut driver = Driver::new(text);
        driver.late_ones(0, 1, 10, 30 * MS);
        driver.sorter.gaps().filled
    };
    assert_eq!(run("resequence"), 0);
    assert!(run("resequence:tunnel=true") >= 8);
}

/// A million flows, each packet above a gap: the flows that behave pass as without a sorter.
#[test]
fn under_attack_it_passes_through_within_its_memory() {
    let config: SorterConfig = "resequence:start=1ms,window=64".parse().unwrap();
    let around = Surroundings {
        flows: 64,
        ..Surroundings::default()
    };
    let mut any: AnySorter<u32, u32> = config.build(&around).unwrap();
    let before = any.memory_footprint();
    let mut good = Vec::new();
    let mut pushed = 0;
    let mut came = 0;
    for i in 0..100_000u32 {
        let now_ns = i64::from(i) * US;
        let hostile = Meta::data(1 + i % 5000, i.wrapping_mul(2_654_435_761), 1);
        any.push(&hostile, u32::MAX, now_ns, &mut |p| {
            came += u32::from(p == u32::MAX);
        });
        if i % 10 == 0 {
            any.push(&Meta::data(0, pushed, 1), pushed, now_ns, &mut |p| {
                if p != u32::MAX {
                    good.push(p);
                } else {
                    came += 1;
                }
            });
            pushed += 1;
        }
    }
    assert_eq!(good, (0..pushed).collect::<Vec<u32>>());
    assert_eq!(before, any.memory_footprint());
    any.flush(i64::MAX, &mut |_| came += 1);
    assert_eq!(came, 100_000);
}

/// The longest that a packet of the driver's flow would be held now.
fn hold_ns(driver: &Driver) -> i64 {
    driver.sorter.hold_ns(7).unwrap()
}

/// The path changes: late by a quarter of a millisecond, then 2 ms, then nothing, then losses. The hold has followed within fifty late packets
/// or a second each time.
#[test]
fn it_follows_a_path_that_changes() {
    let mut driver = Driver::with_round_trip("resequence", 20 * MS);
    // A gap opens with the packet behind, 100 us after the one that is missing was due.
    let (at_ns, seq) = driver.late_ones(0, 1, 100, 350 * US);
    let short_ns = hold_ns(&driver);
    assert!((250 * US..450 * US).contains(&short_ns), "{short_ns}");

    let (at_ns, seq) = driver.late_ones(at_ns, seq, 50, 2 * MS);
    let long_ns = hold_ns(&driver);
    assert!((1900 * US..3 * MS).contains(&long_ns), "{long_ns}");
    // The next late one is waited for.
    let before = driver.sorter.gaps();
    let (at_ns, mut seq) = driver.late_ones(at_ns, seq, 1, 2 * MS);
    assert_eq!(driver.sorter.gaps().filled, before.filled + 1);

    // In order for a second: nothing waits, whatever the bound is.
    driver.up.clear();
    let mut at_ns = at_ns + MS;
    for _ in 0..1000 {
        driver.data(at_ns, seq);
        assert_eq!(driver.up.last(), Some(&(at_ns, seq)));
        (at_ns, seq) = (at_ns + MS, seq + 1);
    }

    // Losses set in: one each 20 ms, repaired after a round trip.
    let began_ns = at_ns;
    while hold_ns(&driver) > 0 {
        driver.data(at_ns, seq + 1);
        driver.data(at_ns + 20 * MS, seq);
        (at_ns, seq) = (at_ns + 21 * MS, seq + 2);
        let losses = (at_ns - began_ns) / (21 * MS);
        assert!(losses <= 51, "still held after {losses} losses");
    }
    // And then nothing is delayed for a loss any more.
    driver.up.clear();
    driver.data(at_ns, seq + 1);
    assert_eq!(driver.up, [(at_ns, seq + 1)]);
}

/// Twenty flows, of whose packets one in fifty is late by 300 us, alone or beside an attacker.
struct Town {
    any: AnySorter<u32, u64>,
    now_ns: i64,
    delay_ns: i64,
    late: u32,
    top: [u32; 20],
    hostile: u32,
}

/// A packet as it is delivered: whose it is, and its number. The attacker's are of flow 20.
fn ticket(flow: u32, seq: u32) -> u64 {
    u64::from(flow) << 32 | u64::from(seq)
}

impl Town {
    fn new(sorter: &str) -> Self {
        let config: SorterConfig = sorter.parse().unwrap();
        let around = Surroundings {
            flows: 1024,
            ..Surroundings::default()
        };
        Town {
            any: config.build(&around).unwrap(),
            now_ns: 0,
            delay_ns: 0,
            late: 0,
            top: [0; 20],
            hostile: 0,
        }
    }

    /// Something goes up: the delay of a good flow's packet, whose time of arrival its number tells, and its order.
    fn up(&mut self, ticket: u64) {
        let (flow, seq) = ((ticket >> 32) as usize, ticket as u32);
        let Some(top) = self.top.get_mut(flow) else {
            return;
        };
        self.delay_ns += self.now_ns - Self::arrival_ns(seq);
        self.late += u32::from(seq < *top);
        *top = seq.max(*top);
    }

    /// Packet `seq` of every good flow is sent each 20 us.
    fn arrival_ns(seq: u32) -> i64 {
        let late = if seq % 50 == 13 { 300 * US } else { 0 };
        i64::from(seq) * 20 * US + late
    }

    fn push(&mut self, meta: &Meta<u32>, ticket: u64) {
        let mut out = Vec::new();
        while let Some(due_ns) = self.any.next_deadline_ns()
            && due_ns <= self.now_ns
        {
            self.any.on_deadline(due_ns, &mut |p| out.push(p));
        }
        self.any
            .push(meta, ticket, self.now_ns, &mut |p| out.push(p));
        // The driver's contract: what is due is delivered, so that no deadline lies in the past.
        assert!(
            self.any
                .next_deadline_ns()
                .is_none_or(|due_ns| due_ns > self.now_ns)
        );
        out.into_iter().for_each(|p| self.up(p));
    }

    /// One packet of the attacker: any of a million flows, a number far from the last, every tenth a SYN, FIN or RST.
    fn attack(&mut self) {
        self.hostile += 1;
        let random = self.hostile.wrapping_mul(2_654_435_761);
        let meta = Meta {
            flow: 100 + random % 1_000_000,
            seq: random.rotate_left(13),
            len: 1,
            kind: match random >> 8 & 31 {
                0 => Kind::Open,
                1 | 2 => Kind::Close,
                _ => Kind::Data,
            },
        };
        self.push(&meta, ticket(20, 0));
    }

    /// So many packets of each good flow, `attacks` packets of the attacker for each of them.
    fn run(mut self, packets: u32, attacks: u32) -> (f64, f64) {
        let before = self.any.memory_footprint();
        let mut arrivals: Vec<(i64, u32)> =
            (1..packets).map(|s| (Self::arrival_ns(s), s)).collect();
        arrivals.sort_unstable();
        for &(at_ns, seq) in &arrivals {
            self.now_ns = at_ns;
            for flow in 0..20 {
                self.push(&Meta::data(flow, seq, 1), ticket(flow, seq));
                (0..attacks).for_each(|_| self.attack());
            }
        }
        assert_eq!(before, self.any.memory_footprint());
        let all = 20.0 * f64::from(packets - 1);
        (self.delay_ns as f64 / all, f64::from(self.late) / all)
    }
}

/// Beside the attacker a good flow's packets are delayed by no more than alone, up to 5 % of their spacing, and are
/// no more out of order than without a sorter.
#[test]
fn flows_that_behave_are_not_harmed_by_an_attacker() {
    let (_, unsorted) = Town::new("none").run(2000, 0);
    let (alone_ns, alone) = Town::new("resequence").run(2000, 0);
    assert!(alone < unsorted / 10.0, "{alone} of {unsorted}");
    for attacks in [1, 3] {
        let (delay_ns, late) = Town::new("resequence").run(2000, attacks);
        println!(
            "{attacks} for each: {delay_ns:.0} ns and {late:.4} late, alone {alone_ns:.0} ns and {alone:.4}"
        );
        assert!(
            delay_ns <= alone_ns + 1_000.0,
            "{delay_ns} ns, alone {alone_ns} ns"
        );
        assert!(late <= unsorted, "{late} of {unsorted}");
    }
}

/// Two sorters, one of which is given bursts and the other their packets one after another.
struct Twins {
    one: Sorted,
    whole: Sorted,
    up_one: Vec<u32>,
    up_whole: Vec<u32>,
}

impl Twins {
    fn new(text: &str) -> Self {
        Twins {
            one: sorter(text),
            whole: sorter(text),
            up_one: Vec::new(),
            up_whole: Vec::new(),
        }
    }

    /// The same goes up, the same is held, the same is counted.
    fn burst(&mut self, burst: &[Meta<u32>], now_ns: i64) {
        let (up_one, up_whole) = (&mut self.up_one, &mut self.up_whole);
        for meta in burst {
            self.one
                .push(meta, meta.seq, now_ns, &mut |seq| up_one.push(seq));
        }
        self.whole
            .push_burst(burst, |m| *m, |m| m.seq, now_ns, &mut |seq| {
                up_whole.push(seq);
            });
        self.one.end_of_batch(now_ns, &mut |seq| up_one.push(seq));
        self.whole
            .end_of_batch(now_ns, &mut |seq| up_whole.push(seq));
        assert_eq!(self.up_one, self.up_whole);
        assert_eq!(self.one.next_deadline_ns(), self.whole.next_deadline_ns());
        assert_eq!(
            (self.one.gaps(), self.one.counters()),
            (self.whole.gaps(), self.whole.counters())
        );
        for flow in 0..3 {
            assert_eq!(self.one.hold_ns(flow), self.whole.hold_ns(flow));
        }
    }
}

/// Whole numbers below a limit, one after another.
fn randoms(mut random: u32) -> impl FnMut(u32) -> u32 {
    move |limit| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) % limit
    }
}

#[test]
fn a_burst_is_its_packets_one_after_another() {
    let mut below = randoms(1);
    let mut twins = Twins::new("resequence");
    let mut next = [0u32; 3];
    for batch in 0..2000i64 {
        let mut burst = Vec::new();
        for _ in 0..1 + below(12) {
            let flow = below(3);
            let at = &mut next[flow as usize];
            let kind = match below(200) {
                0 => Kind::Open,
                1 => Kind::Close,
                2 => Kind::Ack,
                _ => Kind::Data,
            };
            // Trains in order, and now and then a hole or a step back.
            for _ in 0..1 + below(6) {
                let seq = at
                    .wrapping_add(below(40) / 38)
                    .wrapping_sub(below(40) / 38 * 2);
                burst.push(Meta {
                    flow,
                    seq,
                    len: u32::from(kind == Kind::Data),
                    kind,
                });
                *at = seq.wrapping_add(1);
            }
        }
        twins.burst(&burst, batch * 50 * US);
    }
    assert!(twins.one.gaps().opened > 100, "{:?}", twins.one.gaps());
}

/// Packets that are late by a few places, within a burst and across its end, also twice and never, in bursts of all sizes.
#[test]
fn a_burst_that_is_out_of_order_is_its_packets_one_after_another() {
    for seed in 0..40 {
        let mut below = randoms(seed);
        let mut twins = Twins::new(["resequence", "resequence:window=40"][seed as usize % 2]);
        let late_in = 2 + below(30);
        // Half a place more than the packet that each comes behind.
        let mut places: Vec<(u32, u32)> = (0..4000)
            .map(|i| match below(late_in) {
                0 => (2 * (i + 1 + below(9)) + 1, i),
                _ => (2 * i, i),
            })
            .collect();
        places.sort_unstable();
        let mut numbers = places
            .into_iter()
            .map(|(_, i)| i)
            .filter(|_| below(500) > 0);
        let mut sizes = randoms(seed + 100);
        let mut now_ns = 0;
        loop {
            let size = 1 + sizes(90) as usize;
            let burst: Vec<Meta<u32>> = numbers
                .by_ref()
                .take(size)
                .map(|i| Meta::data(1, (u32::MAX - 7000).wrapping_add(i * 3), 3))
                .collect();
            if burst.is_empty() {
                break;
            }
            now_ns += i64::from(sizes(200)) * US;
            twins.burst(&burst, now_ns);
        }
        assert!(twins.one.gaps().filled > 10, "{:?}", twins.one.gaps());
    }
}
