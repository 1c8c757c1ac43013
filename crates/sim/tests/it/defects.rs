//! Captures with defects hold what their plans say, and say which frame of the whole captures each of theirs is.

use std::collections::HashMap;

use inorder_scenario::Scenario;
use inorder_sim::{Captured, Captures, registries, run_tapped};
use inorder_wire::{Frame, LinkType, Packet, parse};

/// Two connections over two lines, 20 Mbit/s.
const PATH: &str = r#"
run.duration = "2 s"
flow = [{ count = 2, size = "1 MB", route = ["near", "far"], return_route = ["back", "home"] }]
line = [
  { name = "near", from = "A", to = "M", stage = [{ kind = "link", rate = "20 Mbit/s", delay = "5 ms" }] },
  { name = "far", from = "M", to = "B", stage = [{ kind = "delay", delay = "3 ms", jitter = "1 ms" }] },
  { name = "back", from = "B", to = "M", stage = [{ kind = "delay", delay = "3 ms" }] },
  { name = "home", from = "M", to = "A", stage = [{ kind = "delay", delay = "5 ms" }] },
]
"#;

/// The frames of captures with these keys, in their order.
fn captures(plans: &[&str]) -> Vec<Vec<Captured>> {
    captures_over(PATH.to_owned(), plans)
}

fn captures_over(mut text: String, plans: &[&str]) -> Vec<Vec<Captured>> {
    for (number, plan) in plans.iter().enumerate() {
        text += &format!("[[capture]]\nname = \"c{number}\"\n{plan}\n");
    }
    let scenario = Scenario::load(&text, "test.toml", &registries()).unwrap();
    let cell = scenario.cells().unwrap().remove(0);
    let mut tap = Captures::new(Vec::new(), Vec::new(), 2, 128)
        .unwrap()
        .of_run(&cell.config, 1)
        .unwrap();
    run_tapped(&cell.config, 1, &mut tap).unwrap();
    tap.damaged()
        .into_iter()
        .map(|capture| capture.frames)
        .collect()
}

fn capture(plan: &str) -> Vec<Captured> {
    captures(&[plan]).remove(0)
}

/// What is in a frame: source port, sequence number and payload of its segment.
fn content(frame: &Captured) -> Option<(u16, u32, u32)> {
    let parsed = parse(&Frame {
        ts_ns: frame.ts_ns,
        number: 1,
        link: LinkType::ETHERNET,
        orig_len: frame.length,
        data: &frame.bytes,
    });
    match parsed {
        Packet::Tcp(key, dir, segment) => {
            Some((key.ends(dir).0.port, segment.seq, segment.payload_len))
        }
        _ => None,
    }
}

fn contents(frames: &[Captured]) -> Vec<(u16, u32, u32)> {
    let all = frames
        .iter()
        .map(|frame| content(frame).expect("a TCP segment"));
    all.collect()
}

fn bytes_of(frames: &[Captured]) -> u64 {
    contents(frames).iter().map(|c| u64::from(c.2)).sum()
}

#[test]
fn begin_end_and_direction() {
    let frames = capture("begin = \"200 ms\"\nend = \"500 ms\"\ndirection = \"forward\"");
    assert!(frames.len() > 100);
    assert!(
        frames
            .iter()
            .all(|f| (200_000_000..500_000_000).contains(&f.ts_ns))
    );
    assert!(contents(&frames).iter().all(|c| c.0 != 5001));
}

#[test]
fn frames_are_missing_alone_in_runs_or_by_size() {
    let [whole, alone, runs, large] = captures(&[
        "",
        "missing = \"10 %\"",
        "missing = \"10 %\"\nmissing_run = \"20 packets\"",
        "missing = \"50 %\"\nmissing_above = \"1000 B\"",
    ])
    .try_into()
    .unwrap();
    let share = |frames: &[Captured]| 1.0 - frames.len() as f64 / whole.len() as f64;
    assert!((0.06..0.14).contains(&share(&alone)), "{}", share(&alone));
    assert!((0.02..0.3).contains(&share(&runs)), "{}", share(&runs));
    let gaps = |frames: &[Captured]| {
        let next = frames.windows(2);
        next.filter(|two| two[1].originals[0] > two[0].originals[0] + 1)
            .count()
    };
    assert!(
        gaps(&runs) * 3 < gaps(&alone),
        "{} {}",
        gaps(&runs),
        gaps(&alone)
    );
    let small = |frames: &[Captured]| frames.iter().filter(|f| f.length <= 1000).count();
    assert_eq!(small(&large), small(&whole));
    assert!(large.len() < whole.len());
}

#[test]
fn copies_are_alike_routed_or_tagged() {
    let [whole, mirror, routed, tagged] = captures(&[
        "",
        "copies = 2\ncopies_delay = \"0 us\"",
        "copies = 3\ncopies_as = \"routed\"",
        "copies = 2\ncopies_as = \"tagged\"",
    ])
    .try_into()
    .unwrap();
    assert_eq!(mirror.len(), 2 * whole.len());
    assert_eq!(routed.len(), 3 * whole.len());
    assert!(mirror.chunks(2).all(|two| two[0] == two[1]));
    let ttl = |frame: &Captured| frame.bytes[22];
    assert_eq!(
        routed.iter().filter(|f| ttl(f) == 63).count(),
        2 * whole.len()
    );
    let tags = tagged.iter().filter(|f| f.bytes[12..14] == [0x81, 0x00]);
    assert_eq!(tags.count(), whole.len());
    for frames in [&mirror, &routed, &tagged] {
        let times = bytes_of(frames) / bytes_of(&whole);
        assert_eq!(times, frames.len() as u64 / whole.len() as u64);
        assert!(frames.is_sorted_by_key(|f| f.ts_ns));
    }
}

#[test]
fn directions_change_places_and_each_keeps_its_order() {
    let [whole, swapped] = captures(&["", "swap = \"5 ms\""]).try_into().unwrap();
    assert_ne!(contents(&whole), contents(&swapped));
    assert!(swapped.is_sorted_by_key(|f| f.ts_ns));
    for port in [5001, 10_000, 10_001] {
        let of = |frames: &[Captured]| {
            let mut all = contents(frames);
            all.retain(|c| c.0 == port);
            all
        };
        assert_eq!(of(&whole), of(&swapped));
    }
}

#[test]
fn a_clock_may_step_and_frames_may_be_cut() {
    let [whole, stepped, cut] = captures(&[
        "",
        "step = \"300 ms\"\nstep_back = true\nstep_at = \"500 ms\"",
        "cut = \"60 B\"",
    ])
    .try_into()
    .unwrap();
    for (before, after) in whole.iter().zip(&stepped) {
        let step = if before.ts_ns >= 500_000_000 {
            -300_000_000
        } else {
            0
        };
        assert_eq!(after.ts_ns - before.ts_ns, step);
    }
    assert!(cut.iter().all(|f| f.bytes.len() <= 60));
    assert!(whole.iter().zip(&cut).all(|(a, b)| a.length == b.length));
}

#[test]
fn merged_frames_hold_the_same_bytes() {
    let plan = "merge = \"8 packets\"\nmerge_gap = \"2 ms\"";
    let [whole, merged] = captures(&["", plan]).try_into().unwrap();
    let saved = whole.len() - merged.len();
    assert!(saved > whole.len() / 10, "{} {}", merged.len(), whole.len());
    assert_eq!(bytes_of(&whole), bytes_of(&merged));
    assert!(merged.iter().all(|f| f.originals.len() <= 8));
    let numbers = |frames: &[Captured]| {
        let mut all: Vec<u64> = frames.iter().flat_map(|f| f.originals.clone()).collect();
        all.sort_unstable();
        all
    };
    assert_eq!(numbers(&whole), numbers(&merged));
}

#[test]
fn a_filter_lets_one_connection_pass() {
    let frames = capture("only = 1");
    assert!(!frames.is_empty());
    assert!(
        contents(&frames)
            .iter()
            .all(|c| c.0 == 5001 || c.0 == 10_001)
    );
}

#[test]
fn what_is_in_a_tunnel_is_the_same() {
    let plans = ["vxlan", "gtp-u", "gre"].map(|kind| format!("tunnel = \"{kind}\""));
    let plans = plans.each_ref().map(String::as_str);
    let mut all = captures(&[&[""][..], &plans].concat());
    let whole = all.remove(0);
    for tunnelled in all {
        assert_eq!(contents(&whole), contents(&tunnelled));
    }
    // The number stands behind the first four bytes of the GRE header (RFC 2890).
    let part = capture("tunnel = \"gre\"\ntunnel_part = \"10 %\"\ndirection = \"forward\"");
    let number = |frame: &Captured| u32::from_be_bytes(frame.bytes[38..42].try_into().unwrap());
    let last = number(part.last().unwrap());
    let seen = f64::from(part.len() as u32) / f64::from(last);
    assert!((0.08..0.12).contains(&seen), "{seen}");
}

#[test]
fn connections_in_vlans_have_equal_ports() {
    let frames = capture("vlans = true");
    let mut ports: HashMap<u16, usize> = HashMap::new();
    contents(&frames)
        .iter()
        .for_each(|c| *ports.entry(c.0).or_default() += 1);
    assert_eq!(ports.len(), 2, "{ports:?}");
    let vlan = |frame: &Captured| u16::from_be_bytes([frame.bytes[14], frame.bytes[15]]);
    let mut vlans: Vec<u16> = frames.iter().map(vlan).collect();
    vlans.sort_unstable();
    vlans.dedup();
    assert_eq!(vlans, [100, 101]);
}

#[test]
fn a_capture_on_the_path_lies_between_those_of_the_ends() {
    let [a, between, b] = captures(&["", "at = \"between\"", "at = \"B\""])
        .try_into()
        .unwrap();
    let first = |frames: &[Captured]| {
        let data = frames.iter().find(|f| content(f).is_some_and(|c| c.2 > 0));
        data.expect("data").ts_ns
    };
    assert!(first(&a) + 5_000_000 < first(&between));
    assert!(first(&between) + 1_000_000 < first(&b));
}

/// The identifications of what each end sends, in its order.
fn identifications(habit: &str) -> [Vec<u16>; 2] {
    let text = PATH.replace(
        "count = 2",
        &format!("count = 2, sender.identification = \"{habit}\""),
    );
    let text = format!("{text}[[capture]]\nname = \"c\"\n");
    let scenario = Scenario::load(&text, "test.toml", &registries()).unwrap();
    let cell = scenario.cells().unwrap().remove(0);
    let mut tap = Captures::new(Vec::new(), Vec::new(), 2, 128).unwrap();
    tap = tap.of_run(&cell.config, 1).unwrap();
    run_tapped(&cell.config, 1, &mut tap).unwrap();
    let frames = tap.damaged().remove(0).frames;
    let of = |port: fn(u16) -> bool| {
        let mine = frames.iter().filter(|f| port(content(f).unwrap().0));
        mine.map(|f| u16::from_be_bytes([f.bytes[18], f.bytes[19]]))
            .collect()
    };
    [of(|port| port != 5001), of(|port| port == 5001)]
}

#[test]
fn identifications_follow_the_habit_of_the_host() {
    let steps = |numbers: &[u16]| -> Vec<u16> {
        numbers
            .windows(2)
            .map(|two| two[1].wrapping_sub(two[0]))
            .collect()
    };
    // Both connections of the host count together; A's capture shows all that it sends, in its order.
    let [host, _] = identifications("host");
    assert!(steps(&host).iter().all(|&step| step == 1));
    let [swapped, _] = identifications("host-swapped");
    let back: Vec<u16> = swapped.iter().map(|number| number.swap_bytes()).collect();
    assert!(steps(&back).iter().all(|&step| step == 1));
    let [zero, _] = identifications("zero");
    assert!(zero.iter().all(|&number| number == 0));
    let [random, _] = identifications("random");
    assert!(steps(&random).iter().filter(|&&step| step == 1).count() < 3);
    let [_, answers] = identifications("own");
    assert_eq!(
        answers.iter().filter(|&&number| number == 0).count(),
        2,
        "the SYN-ACKs"
    );
}

/// The times to live of what A, or B, sent, in a capture at `at`.
fn times_to_live(at: &str) -> [Vec<u8>; 2] {
    const AT: usize = 14 + 8;
    let mut path = PATH.to_owned();
    for (name, routers) in [("far", 3), ("back", 3), ("home", 5)] {
        let name = format!("name = \"{name}\"");
        path = path.replace(&name, &format!("{name}, routers = {routers}"));
    }
    let mut found = [Vec::new(), Vec::new()];
    for frame in captures_over(path, &[&format!("at = \"{at}\"")]).remove(0) {
        let (from, ttl) = (frame.from as usize, frame.bytes[AT]);
        if !found[from].contains(&ttl) {
            found[from].push(ttl);
        }
    }
    found
}

#[test]
fn routers_count_the_time_to_live_down() {
    assert_eq!(times_to_live("A"), [vec![64], vec![56]]);
    assert_eq!(times_to_live("between"), [vec![64], vec![61]]);
    assert_eq!(times_to_live("B"), [vec![61], vec![64]]);
}
