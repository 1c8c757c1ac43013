//! Runs of small scenarios, and properties that hold for every run.

use std::sync::atomic::AtomicBool;

use inorder_scenario::{Cell, Scenario};
use inorder_sim::{
    Campaign, EventKind, Progress, RunResult, registries, run, run_all, run_all_with,
};

const MB: u64 = 1_000_000;

/// 100 Mbit/s, 10 ms in each direction, with jitter and loss; `more` is appended.
fn cells(more: &str) -> Vec<Cell> {
    let text = format!(
        "{more}\n\
         [[forward]]\nkind = \"link\"\nrate = \"100 Mbit/s\"\nqueue = \"200 packets\"\n\
         [[forward]]\nname = \"jitter\"\nkind = \"delay\"\ndelay = \"10 ms\"\njitter = \"0.3 ms\"\n\
         [[forward]]\nname = \"loss\"\nkind = \"loss\"\nprobability = \"0.1 %\"\n\
         [[reverse]]\nkind = \"delay\"\ndelay = \"10 ms\"\n"
    );
    let scenario = Scenario::load(&text, "test.toml", &registries()).unwrap();
    scenario.cells().unwrap()
}

fn one(more: &str) -> RunResult {
    let cell = cells(more).remove(0);
    run(&cell.config, cell.config.run.seed).unwrap()
}

#[test]
fn a_transfer_arrives_completely_and_closes() {
    let result = one(
        "[run]\nduration = \"30 s\"\n[[flow]]\nsize = \"5 MB\"\ncount = 3\nstagger = \"100 ms\"",
    );
    for flow in &result.flows {
        assert_eq!(flow.counts.delivered_bytes, 5 * MB, "{flow:?}");
        assert!(
            flow.completion_ns.is_some_and(|ns| ns < 20_000_000_000),
            "{flow:?}"
        );
        assert_eq!(flow.error, None);
        assert!(flow.counts.reordered_at_card > 0 && flow.counts.retransmissions > 0);
        assert!(flow.counts.spurious <= flow.counts.retransmissions);
    }
}

#[test]
fn the_bottleneck_is_filled_and_not_exceeded() {
    let text = "[run]\nduration = \"10 s\"\nwarm_up = \"2 s\"\n[[flow]]\ncount = 4";
    let result = one(&format!("{text}\nsender.loss_detection = \"linux\""));
    let total: f64 = result
        .flows
        .iter()
        .map(inorder_sim::FlowResult::throughput_bits_per_s)
        .sum();
    // 1448 of 1538 bytes on the wire are payload.
    assert!(total < 100e6 * 1448.0 / 1538.0, "{total}");
    assert!(total > 50e6, "{total}");
}

#[test]
fn without_impairment_nothing_is_retransmitted() {
    let text = "[run]\nduration = \"3 s\"\n[[flow]]\nsize = \"2 MB\"\n\
                [[forward]]\nkind = \"link\"\nrate = \"50 Mbit/s\"\ndelay = \"5 ms\"\n\
                [[reverse]]\nkind = \"link\"\nrate = \"50 Mbit/s\"\ndelay = \"5 ms\"\n";
    let scenario = Scenario::load(text, "test.toml", &registries()).unwrap();
    let result = run(&scenario.cells().unwrap()[0].config, 1).unwrap();
    let flow = &result.flows[0];
    let counts = flow.counts;
    assert_eq!(
        (
            counts.retransmissions,
            counts.duplicate_acks,
            counts.reordered_at_stack
        ),
        (0, 0, 0)
    );
    // 2 MB take 2e6 * 1538 / 1448 * 8 / 50e6 s = 340 ms, and round trips of 10 ms before.
    let ms = flow.completion_ns.unwrap() / 1_000_000;
    assert!((350..480).contains(&ms), "{ms} ms");
    assert!(counts.rtt_ns / counts.rtts >= 10 * MB);
}

#[test]
fn paced_and_interactive_applications_keep_their_rate() {
    let result = one("[run]\nduration = \"10 s\"\n\
         [[flow]]\nname = \"talk\"\napplication = { kind = \"interactive\", think = \"80 ms\" }\n\
         [[flow]]\nname = \"voice\"\napplication = { kind = \"paced\", rate = \"1 Mbit/s\" }\n");
    let [talk, voice] = result.flows.as_slice() else {
        panic!("two flows");
    };
    // A response takes a round trip of 20 ms, which gives ten requests per second.
    assert!(
        (90..=100).contains(&talk.counts.responses),
        "{:?}",
        talk.counts
    );
    let response_ms = talk.counts.response_ns as f64 / talk.counts.responses as f64 / 1e6;
    assert!((19.0..24.0).contains(&response_ms), "{response_ms}");
    let rate = voice.throughput_bits_per_s();
    assert!((0.98e6..1.0e6).contains(&rate), "{rate}");
}

#[test]
fn a_flow_with_its_own_path_shares_only_the_card() {
    let text = "[run]\nduration = \"5 s\"\n\
         [[flow]]\n\
         [[flow]]\nname = \"ssh\"\npath = \"own\"\naccess_delay = \"3 ms\"\nevents = true\n\
         application = { kind = \"interactive\", request = \"48 B\" }\n\
         [receiver_card]\ncoalesce = \"100 us\"";
    let result = one(text);
    let [bulk, ssh] = &result.flows[..] else {
        panic!("{:?}", result.flows);
    };
    // 3 ms in each direction, then up to 100 us until the interrupt and the service of other packets.
    let rtts: Vec<i64> = ssh
        .events
        .iter()
        .filter_map(|event| match event.kind {
            EventKind::Rtt(ns) => Some(ns),
            _ => None,
        })
        .collect();
    assert!(rtts.len() > 200, "{}", rtts.len());
    let within = |ns: &i64| (6_000_000..6_200_000).contains(ns);
    assert!(rtts.iter().all(within), "{rtts:?}");
    // It has neither the loss nor the jitter of the shared path.
    assert_eq!(
        (ssh.counts.retransmissions, ssh.counts.reordered_at_card),
        (0, 0)
    );
    assert!(bulk.counts.reordered_at_card > 0 && bulk.events.is_empty());
}

#[test]
fn counters_of_a_card_start_after_the_warm_up() {
    let frames = |warm_up: &str| {
        let text = format!(
            "[run]\nduration = \"5 s\"\nwarm_up = \"{warm_up}\"\n[[flow]]\n\
             [receiver_card]\ncoalesce = \"100 us\""
        );
        let result = one(&text);
        let account = result.lines[1].account.clone().expect("a card");
        assert!(account.block_packets.total() <= account.interrupts);
        (account.frames, result.flows[0].counts.at_card)
    };
    let (all, _) = frames("0 s");
    let (late, originals) = frames("4 s");
    assert!(late >= originals && late < all / 2, "{late} of {all}");
}

/// Probes of the warm-up do not count, nor what the path dropped of them: 100 a second for ten seconds, of which all are dropped until the sixth.
#[test]
fn probes_and_drops_count_after_the_warm_up() {
    let text = |warm_up: &str| {
        format!(
            "run = {{ duration = \"10 s\", warm_up = \"{warm_up}\" }}\n\
             [[probe]]\nrate = \"1 Mbit/s\"\nsize = \"1250 B\"\ncount = 1000\n\
             [[forward]]\nkind = \"outage\"\nfrom = \"0 s\"\nuntil = \"6 s\"\n"
        )
    };
    for (warm_up, sent, received, dropped) in [("0 s", 1000, 400, 600), ("4.995 s", 500, 400, 100)]
    {
        let scenario = Scenario::load(&text(warm_up), "x.toml", &registries()).unwrap();
        let cells = scenario.cells().unwrap();
        let result = run(&cells[0].config, 1).unwrap();
        let probes = &result.probes[0];
        assert_eq!(
            (probes.sent, probes.received),
            (sent, received),
            "{warm_up}"
        );
        let stages = result.lines.iter().flat_map(|line| &line.stages);
        let lost: u64 = stages.map(inorder_path::Counters::dropped).sum();
        assert_eq!(lost, dropped, "{warm_up}");
    }
}

#[test]
fn the_work_of_the_sender_is_counted() {
    let result = one("[run]\nduration = \"5 s\"\n[[flow]]");
    let counts = result.flows[0].counts;
    assert!(counts.acks_in > counts.duplicate_acks && counts.acks_in <= counts.acks);
    assert!(counts.frames_out > counts.retransmissions && counts.frames_out < counts.segments);
    // Every block received ends at least one segment above its acknowledgement, unless it is a DSACK.
    assert!(counts.sack_span > counts.duplicate_acks, "{counts:?}");
    let steady = "[run]\nduration = \"5 s\"\n[[flow]]\nsender.sack = false";
    assert_eq!(one(steady).flows[0].counts.sack_span, 0);
}

#[test]
fn a_flow_that_stops_closes() {
    let result = one(
        "[run]\nduration = \"5 s\"\n[[flow]]\nstop = \"2 s\"\noutput_is = 0"
            .replace("\noutput_is = 0", "")
            .as_str(),
    );
    let mib_at_most = 100 * MB / 8 * 5 / 2;
    assert!(result.flows[0].counts.delivered_bytes < mib_at_most);
}

#[test]
fn probes_are_reordered_as_their_path_defines() {
    let result = one("[run]\nduration = \"2 s\"\n[[probe]]\nrate = \"50 Mbit/s\"\ncount = 5000");
    let probe = &result.probes[0];
    assert_eq!(probe.sent, 5000);
    assert!((4960..5000).contains(&probe.received), "{}", probe.received);
    let ratio = probe.metrics.as_ref().unwrap().counts.reordered_ratio();
    // 0.24 ms apart with a standard deviation of 0.3 ms: about a third arrives late.
    assert!((0.2..0.5).contains(&ratio), "{ratio}");
}

#[test]
fn a_sorting_card_restores_the_order() {
    let card = |sorter: &str| {
        one(&format!(
            "[run]\nduration = \"3 s\"\n[[flow]]\n\
             [receiver_card]\ncoalesce = \"2 ms\"\n{sorter}"
        ))
    };
    let sorter = "sorter = \"srpic\"\nblock_size = 64";
    let (plain, sorted) = (card("").flows[0].counts, card(sorter).flows[0].counts);
    // Packets that are in the card at the end have not reached the stack.
    assert!(plain.reordered_at_card - plain.reordered_at_stack < 64);
    let share = |part: u64, whole: u64| part as f64 / whole as f64;
    let before = share(sorted.reordered_at_card, sorted.at_card);
    let after = share(sorted.reordered_at_stack, sorted.at_stack);
    assert!(after < before / 2.0, "{before} {after}");
}

/// A hash of all numbers of a run: FNV-1a over the printed text.
fn hash(result: &RunResult) -> u64 {
    let text = format!(
        "{:?} {:?} {:?} {}",
        result.flows, result.probes, result.samples, result.events
    );
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

const GRID: &str = "[run]\nduration = \"1 s\"\nrepetitions = 2\n\
    [output]\ntrace_interval = \"20 ms\"\nevents = true\nmetrics = true\n\
    [[flow]]\ncount = 2\narrivals = \"5 /s\"\n[[probe]]\nrate = \"1 Mbit/s\"\ngaps = \"exponential\"\n\
    [grid]\n\"flow.sender.loss_detection\" = [\"static\", \"linux\"]\n\"forward.jitter.jitter\" = [\"0 s\", \"1 ms\"]";

fn campaign<'a>(threads: usize, stop: &'a AtomicBool, progress: &'a dyn Progress) -> Campaign<'a> {
    Campaign {
        repetitions: 0,
        threads,
        progress,
        stop,
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let cells = cells(GRID);
    let stop = AtomicBool::new(false);
    let hashes = |threads| {
        run_all_with(&cells, &campaign(threads, &stop, &()), |_, run| hash(&run)).unwrap()
    };
    let alone = hashes(1);
    assert_eq!((alone.len(), alone[0].len()), (4, 2));
    assert_eq!(alone, hashes(2));
    assert_eq!(alone, hashes(5));
    let mut all = alone.concat();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 8, "every cell and repetition differs");
}

#[test]
fn an_interrupted_campaign_keeps_completed_runs() {
    struct StopAfter<'a>(usize, &'a AtomicBool);
    impl Progress for StopAfter<'_> {
        fn at(&self, done: usize, all: usize, share: f64) {
            assert_eq!(all, 8);
            assert!(
                (done as f64 / 8.0..=1.0).contains(&(share + 1e-6)),
                "{done}: {share}"
            );
            self.1
                .store(done >= self.0, std::sync::atomic::Ordering::Relaxed);
        }
    }
    let stop = AtomicBool::new(false);
    let progress = StopAfter(5, &stop);
    let results = run_all(&cells(GRID), &campaign(1, &stop, &progress)).unwrap();
    let runs: Vec<usize> = results.iter().map(|cell| cell.seeds.len()).collect();
    assert_eq!(runs, [2, 1, 1, 1]);
    assert!(results[0].estimate("throughput").unwrap().half.is_some());
}

/// A run of ten years must stop on request, and must not count.
#[test]
fn an_unfinished_run_can_be_stopped() {
    struct StopWithin<'a>(&'a AtomicBool);
    impl Progress for StopWithin<'_> {
        fn at(&self, done: usize, _all: usize, share: f64) {
            assert!(done == 0 && share < 0.01, "{share}");
            self.0.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    }
    let stop = AtomicBool::new(false);
    let progress = StopWithin(&stop);
    let long = "[run]\nduration = \"315360000 s\"\n[[probe]]\nrate = \"1 Mbit/s\"";
    let results = run_all(&cells(long), &campaign(1, &stop, &progress)).unwrap();
    assert!(results[0].seeds.is_empty());
}

#[test]
fn adding_a_probe_changes_no_random_stream_of_a_flow() {
    let base =
        "[run]\nduration = \"2 s\"\n[[flow]]\nsize = \"50 kB\"\narrivals = \"3 /s\"\ncount = 5";
    let starts = |result: &RunResult| result.flows.iter().map(|f| f.start_ns).collect::<Vec<_>>();
    let with_probe = format!("{base}\n[[probe]]\nrate = \"10 kbit/s\"");
    assert_eq!(starts(&one(base)), starts(&one(&with_probe)));
}
