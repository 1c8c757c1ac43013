//! Wrong scenarios, each with the one line that its author reads.

use inorder_scenario::{Profile, Registries, Scenario};

fn names() -> Registries {
    let list = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    Registries {
        congestion: list(&["reno", "cubic", "cubic-2008"]),
        loss_detection: list(&["static", "linux", "rack"]),
        profiles: [("linux-6", "linux"), ("rfc", "static")]
            .map(|(name, loss)| Profile {
                name: name.to_owned(),
                loss_detection: loss.to_owned(),
            })
            .to_vec(),
        dialects: vec![Profile {
            name: "bsd-like".to_owned(),
            loss_detection: "static".to_owned(),
        }],
        sorters: list(&["none", "srpic"]),
        check_sorter: Some(|text| match text {
            "srpic:block_size=8" => Ok(()),
            _ => Err("srpic has no such setting".to_owned()),
        }),
        read_file: Some(|_, name| match name {
            "good.trace" => Ok("1\n7\n".to_owned()),
            "bad.trace" => Ok("1\nseven\n".to_owned()),
            "bad.cdf" => Ok("1000 0.5\n100 1\n".to_owned()),
            _ => Err(format!("{name}: not found")),
        }),
    }
}

fn message(text: &str) -> String {
    let loaded = Scenario::load(text, "x.toml", &names());
    match loaded.and_then(|scenario| scenario.cells()) {
        Ok(_) => "nothing wrong".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// A scenario with one flow, and the lines after `[[flow]]`.
fn flow(lines: &str) -> String {
    format!("[[flow]]\n{lines}")
}

/// The lines of a stage; they begin at line 3.
fn stage(lines: &str) -> String {
    format!("[[flow]]\n[[forward]]\n{lines}")
}

/// Each message in full: position, what is wrong, what was expected, the nearest valid name.
#[test]
fn each_error_is_one_line_with_its_position() {
    let congestion = "expected one of the congestion controls reno, cubic, cubic-2008";
    let cases = [
        // Names.
        (flow("direction = \"forwards\""), "x.toml:2:13: direction: \"forwards\", expected \"forward\", \"reverse\", nearest valid name \"forward\"".to_owned()),
        (flow("sender.profile = \"linux6\""), "x.toml:2:18: profile: unknown profile \"linux6\", expected one of the profiles linux-6, rfc, nearest valid name \"linux-6\"".into()),
        (flow("sender.congestion = \"cubik\""), format!("x.toml:2:21: congestion: unknown congestion control \"cubik\", {congestion}, nearest valid name \"cubic\"")),
        (flow("sender.congestion = \"vegas\""), format!("x.toml:2:21: congestion: unknown congestion control \"vegas\", {congestion}")),
        (flow("[receiver_card]\nsorter = \"srpic:block_size=8\""), "nothing wrong".into()),
        (flow("[receiver_card]\nsorter = \"srpic:block=8\""), "x.toml:3:10: sorter: srpic has no such setting, expected \"srpic\" or \"srpic:SETTING=VALUE,...\"".into()),
        (flow("[receiver_card]\nsorter = \"srpik\""), "x.toml:3:10: sorter: unknown sorter \"srpik\", expected one of the sorters none, srpic, nearest valid name \"srpic\"".into()),
        (stage("kind = \"batch\"\ngapp = \"1 ms\""), "x.toml:4:1: unknown key \"gapp\" in batch, expected one of kind, name, delay, gap, packet_time, nearest valid name \"gap\"".into()),
        ("[[flwo]]".into(), "x.toml:1:3: unknown key \"flwo\" in scenario, expected one of title, run, flow, probe, forward, reverse, line, receiver_card, sender_card, lab, capture, output, grid, nearest valid name \"flow\"".into()),
        // Files beside the scenario.
        (stage("kind = \"link\"\ntrace = \"good.trace\""), "nothing wrong".into()),
        (stage("kind = \"link\"\ntrace = \"bad.trace\""), "x.toml:4:9: trace: bad.trace:2: other text, expected a time in whole milliseconds".into()),
        (stage("kind = \"link\"\nrate = \"1 Mbit/s\"\ntrace = \"good.trace\""), "x.toml:4:8: rate has no effect with a trace, expected either a rate or a trace".into()),
        (flow("size_file = \"bad.cdf\""), "x.toml:2:13: size_file: bad.cdf:2: \"100 1\", expected values and probabilities that do not decrease".into()),
        (flow("intervals = \"none\""), "x.toml:2:13: intervals: none: not found, expected a file that can be read".into()),
        // Forms and bounds.
        (flow("count = 0"), "x.toml:2:9: count: 0 is too small, expected 1 to 10000".into()),
        (flow("count = 20000"), "x.toml:2:9: count: 20000 is too large, expected 1 to 10000".into()),
        (flow("count = -1"), "x.toml:2:9: count: -1 is impossible here, expected a whole number from 0 on".into()),
        (flow("arrivals = \"0 /s\""), "x.toml:2:12: arrivals: 0 /s is too small, expected more than 0 /s".into()),
        (flow("start = 5"), "x.toml:2:9: start: 5 has no unit, expected a time as \"2.5 ms\" (ns, us, ms, s, min)".into()),
        (flow("start = \"5 MB\""), "x.toml:2:9: start: \"5 MB\", expected a time as \"2.5 ms\" (ns, us, ms, s, min)".into()),
        (flow("start = \"0.3 ns\""), "x.toml:2:9: start: 0.3 ns is not a whole number of ns, expected a time as \"2.5 ms\" (ns, us, ms, s, min)".into()),
        (flow("start = \"999999999999 min\""), "x.toml:2:9: start: 999999999999 min is impossible here, expected a time as \"2.5 ms\" (ns, us, ms, s, min)".into()),
        (flow("[flow.sender]\nsack = \"yes\""), "x.toml:3:8: sack: \"yes\", expected true or false".into()),
        (flow("[flow.sender]\nmss = \"10 B\""), "x.toml:3:7: mss: 10 B is too small, expected 64 B to 65495 B".into()),
        (flow("[flow.sender]\npacing = \"fast\""), "x.toml:3:10: pacing: \"fast\", expected true, false, or a rate as \"10 Mbit/s\" (bit/s, kbit/s, Mbit/s, Gbit/s, MB/s)".into()),
        (flow("[flow.sender]\necn = true"), "x.toml:3:7: ecn: true, expected \"off\", \"accept\", \"on\", \"accurate\", \"accept-accurate\"".into()),
        (flow("[run]\nconfidence = 1"), "x.toml:3:14: confidence: 1 is too large, expected more than 0 % and less than 100 %".into()),
        (flow("[run]\nrepetitions = 0"), "x.toml:3:15: repetitions: 0 is too small, expected 1 or more".into()),
        (flow("[output]\ntrace_interval = \"0 s\""), "x.toml:3:18: trace_interval: 0 s is too small, expected more than 0 s".into()),
        (stage("kind = \"loss\"\nprobability = \"120 %\""), "x.toml:4:15: probability: 120 % is impossible here, expected a share as \"10 %\", or a number from 0 to 1".into()),
        (stage("kind = \"link\"\nrate = \"1 Mbit/s\"\nrate_changes = [[\"2 s\", \"1 Mbit/s\"], [\"1 s\", \"1 Mbit/s\"]]"), "x.toml:5:39: rate_changes: a change before the last one, expected later and later times".into()),
        ("flow = 3".into(), "x.toml:1:8: this is a number, expected a list of tables, `[[...]]`".into()),
        // What is missing.
        (stage("rate = \"1 Mbit/s\""), "x.toml:2:1: a stage without kind, expected kind = one of link, device, delay, loss, outage, duplicate, corrupt, reorder, late, batch, periodic, processor, spray, radio, shared-link, token-bucket, netem".into()),
        (stage("kind = \"dealy\""), "x.toml:3:8: unknown kind of stage \"dealy\", expected one of link, device, delay, loss, outage, duplicate, corrupt, reorder, late, batch, periodic, processor, spray, radio, shared-link, token-bucket, netem, nearest valid name \"delay\"".into()),
        (stage("kind = \"link\""), "x.toml:2:1: link has no rate, expected rate: Bits per second on the wire, or a trace".into()),
        (stage("kind = \"link\"\nrate = \"1 Mbit/s\"\nqueue = \"1 BDP\""), "x.toml:2:1: link has no rtt, expected rtt: the round-trip time of its queue in BDP".into()),
        (stage("kind = \"loss\"\nmodel = \"markov\""), "x.toml:2:1: loss has no p13, expected p13: Probability that a burst of losses begins.".into()),
        (flow("application.kind = \"paced\""), "x.toml:2:1: flow.application has no rate, expected rate: Payload written per second.".into()),
        ("[run]\nduration = \"1 s\"".into(), "x.toml:1:1: nothing is sent, expected at least one [[flow]] or [[probe]]".into()),
        // What contradicts itself.
        (flow("[run]\nduration = \"1 s\"\nwarm_up = \"2 s\""), "x.toml:4:11: the run ends before its warm-up, expected warm_up shorter than duration".into()),
        (flow("sender = { rto_min = \"2 s\", rto_max = \"1 s\" }"), "x.toml:2:22: rto_min above rto_max, expected a smaller rto_min".into()),
        (flow("[receiver_card]\nsorter = \"srpic\"\nring = 8\nblock_size = 9"), "x.toml:5:14: a block larger than the ring, expected 1 packet up to the ring".into()),
        (stage("kind = \"batch\"\nname = \"b\"\n[[forward]]\nkind = \"batch\"\nname = \"b\""), "x.toml:7:8: name: a second stage of [[forward]] is called \"b\", expected a name of its own".into()),
        (stage("kind = \"processor\"\nscheme = \"strided\""), "x.toml:4:10: slots that are emptied in turn, without other traffic that fills those of idle threads, expected a background rate, or dequeue = \"completion\"".into()),
        (stage("kind = \"processor\"\nscheme = \"local\"\ndequeue = \"strict\"\nbackground = \"1 Gbit/s\""), "nothing wrong".into()),
        (stage("kind = \"processor\"\nscheme = \"its\"\nlongest = \"512 B\"\nbackground = \"1 Gbit/s\"\nbackground_size = \"513 B\""), "x.toml:7:19: packets longer than the longest, expected at most longest".into()),
        (stage("kind = \"processor\"\nscheme = \"strded\""), "x.toml:4:10: scheme: \"strded\", expected \"contiguous\", \"strided\", \"local\", \"global\", \"its\", \"aisr\", \"aisr-wide\", \"packet-sort\", nearest valid name \"strided\"".into()),
        (stage("kind = \"processor\""), "x.toml:2:1: processor has no scheme, expected scheme: How threads get positions in the transmit buffer, and what keeps packets in order.".into()),
        (stage("kind = \"processor\"\nscheme = \"its\"\nengines = 9"), "x.toml:5:11: engines: 9 is too large, expected 1 to 8".into()),
        (stage("kind = \"loss\"\nmodel = \"markov\"\np13 = \"60 %\"\np14 = \"50 %\""), "x.toml:6:7: p13 and p14 are more than 100 % together, expected at most 100 %".into()),
        (stage("kind = \"loss\"\nmodel = \"markov\"\np13 = \"1 %\"\np32 = \"10 %\""), "x.toml:6:7: p31 (1 - p13 unless it is given) and p32 are more than 100 % together, expected at most 100 %".into()),
        (stage("kind = \"loss\"\nmodel = \"markov\"\np13 = \"60 %\"\np14 = \"40 %\"\np31 = \"70 %\"\np32 = \"30 %\""), "nothing wrong".into()),
        (stage("kind = \"late\"\nprobability = 1\ndelay = \"1 ms\"\nfrom = \"3 s\"\nuntil = \"2 s\""), "x.toml:7:9: a time of lateness that ends before it begins, expected until after from".into()),
        (stage("kind = \"outage\"\nfrom = \"1 s\"\nuntil = \"3 s\"\nevery = \"2 s\""), "x.toml:6:9: an outage that begins again before it ends, expected more than the time from `from` to `until`".into()),
        (stage("kind = \"link\"\nrate = \"1 Mbit/s\"\nrate_changes = [[\"5 s\", \"2 Mbit/s\"]]\nrate_period = \"5 s\""), "x.toml:6:15: rate_period ends before the last of rate_changes, which never comes, expected a period that contains all changes".into()),
        (flow("[[capture]]\nname = \"x\"\n[[capture]]\nname = \"x\""), "x.toml:5:8: name: a second capture is called \"x\", expected a name of its own".into()),
        (flow("[[capture]]\nname = \"../x\""), "x.toml:3:8: name: a capture is called by it in a file's name, which has no / and no \\, expected a name without them".into()),
        // Keys without effect.
        (stage("kind = \"loss\"\nmodel = \"gilbert-elliott\"\nto_bad = \"1 %\"\np13 = \"2 %\""), "x.toml:6:7: p13 has no effect with model = \"gilbert-elliott\", expected model = \"markov\"".into()),
        (stage("kind = \"loss\"\nprobability = \"1 %\"\nto_bad = \"2 %\""), "x.toml:5:10: to_bad has no effect with model = \"uniform\", expected model = \"gilbert-elliott\"".into()),
        (stage("kind = \"link\"\nrate = \"1 Mbit/s\"\nrtt = \"1 s\""), "x.toml:5:7: rtt has no effect without a queue in BDP, expected queue = \"1 BDP\"".into()),
        (stage("kind = \"link\"\nrate = \"1 Mbit/s\"\nrate_period = \"1 s\""), "x.toml:5:15: rate_period has no effect without rate_changes, expected rate_changes".into()),
        (flow("application.think = \"1 s\""), "x.toml:2:21: think has no effect with kind = \"bulk\", expected kind = \"interactive\"".into()),
        (flow("arrivals = \"2 /s\"\nstagger = \"1 s\""), "x.toml:3:11: stagger has no effect with arrivals, expected either stagger or arrivals".into()),
        (flow("[receiver_card]\nblock_size = 16"), "x.toml:3:14: block_size has no effect with sorter = \"none\", expected sorter = \"srpic\"".into()),
        (flow("[receiver_card]\nmerge_limit = \"9 kB\""), "x.toml:3:15: merge_limit has no effect with merge = false, expected merge = true".into()),
        (flow("sender.dupthresh = 5"), "x.toml:2:20: dupthresh has no effect with loss_detection = \"linux\", expected loss_detection = \"static\"".into()),
        (flow("sender.delayed_ack_timeout = \"1 s\""), "x.toml:2:30: delayed_ack_timeout has no effect without delayed_ack, expected delayed_ack = \"rfc\" or \"linux\"".into()),
        // The grid.
        (flow("[grid]\nflow.count = [1, \"two\"]"), "x.toml:3:18: count: \"two\", expected a whole number from 0 on".into()),
        ("[[flow]]\n[[flow]]\n[grid]\n\"flow.count\" = [1, 2]".into(), "x.toml:4:1: \"flow.count\": which of 2 elements is \"count\"?, expected a position from 0, *, or a name".into()),
        ("[[flow]]\nname = \"a\"\n[grid]\n\"flow.a.count\" = [1, 2]\n\"flow.count\" = [3]".into(), "x.toml:4:1: \"flow.a.count\" has no effect, because another axis sets the same, expected one axis for it".into()),
        (flow("[grid]\n\"grid.x\" = [1, 2]"), "x.toml:3:1: the axis \"grid.x\" is of the grid itself, expected a key outside of [grid]".into()),
    ];
    let wrong = cases.into_iter().filter_map(|(text, expected)| {
        let message = message(&text);
        (message != expected).then(|| format!("{text}\n  gave  {message}\n  wants {expected}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(message("[[flow]").starts_with("x.toml:1:8: "));
}

/// What `--set` changes and the grid sets again would only seem to be changed.
#[test]
fn an_override_that_the_grid_replaces_is_an_error() {
    let grid = "[[flow]]\nname = \"a\"\n[grid]\n\"flow.a.count\" = [1, 2]";
    let variants = "[[flow]]\n[grid.variants.flows.few]\n\"flow.count\" = 1\n[grid.variants.flows.many]\n\"flow.count\" = 9";
    let given = "[[flow]]\nsender.congestion = \"reno\"\n[grid.variants.sender.new]\n\"flow.sender.congestion\" = \"cubic\"\n[grid.variants.sender.given]\n\"flow.sender.mss\" = \"1000 B\"";
    let refused = "no effect, because the grid sets the same, expected a key that the grid does not set, or an axis by its name";
    for (text, key, expected) in [
        (grid, "flow.count=5", Some(refused)),
        (grid, "flow.a.count=5", None),
        (variants, "flow.count=5", Some(refused)),
        // Some cells have the value of the override.
        (given, "flow.sender.congestion=reno", None),
    ] {
        let mut scenario = Scenario::load(text, "x.toml", &names()).unwrap();
        scenario.set(key).unwrap();
        let error = scenario.cells().err().map(|error| error.to_string());
        let expected = expected.map(|expected| format!("{key}: {expected}"));
        assert_eq!(error, expected, "{text}");
    }
}

/// A key that only some cells of the grid use is valid.
#[test]
fn a_key_without_effect_in_some_cells_is_no_error() {
    for text in [
        "[[flow]]\n[receiver_card]\nblock_size = 16\n[grid]\nreceiver_card.sorter = [\"none\", \"srpic\"]",
        "[[flow]]\nsender.dupthresh = 5\n[grid]\nflow.sender.loss_detection = [\"rack\", \"static\"]",
        "[[flow]]\nsender.dupthresh = 5\nsender.profile = \"rfc\"",
        "[[flow]]\n[[forward]]\nkind = \"link\"\nrate = \"1 Mbit/s\"\nrtt = \"1 s\"\n[grid]\nforward.queue = [\"1 BDP\", \"9 packets\"]",
    ] {
        assert_eq!(message(text), "nothing wrong", "{text}");
    }
}

/// An override may switch off a setting whose options remain in the file; an override of an option without its
/// setting is an error.
#[test]
fn an_override_may_switch_off_what_the_file_sets() {
    let text = "[[flow]]\n[receiver_card]\nsorter = \"srpic\"\nblock_size = 16";
    let mut scenario = Scenario::load(text, "x.toml", &names()).unwrap();
    scenario.set("receiver_card.sorter=none").unwrap();
    assert_eq!(scenario.cells().map(|cells| cells.len()), Ok(1));
    scenario.set("receiver_card.merge_packets=4").unwrap();
    assert_eq!(
        scenario.cells().unwrap_err().to_string(),
        "receiver_card.merge_packets=4: merge_packets has no effect with merge = false, expected merge = true"
    );
}

#[test]
fn an_override_is_shown_as_it_was_given() {
    let mut scenario = Scenario::load("[[flow]]", "x.toml", &names()).unwrap();
    scenario.set("flow.start=5 apples").unwrap();
    let message = scenario.cells().unwrap_err().to_string();
    assert!(
        message.starts_with("flow.start=5 apples: start: \"5 apples\""),
        "{message}"
    );
    assert!(scenario.set("nonsense").is_err());
}

#[test]
fn an_override_replaces_an_axis() {
    let text = "[[flow]]\n[grid]\nflow.count = [1, 2]\n\"flow.start\" = [\"0 s\", \"1 s\"]";
    let mut scenario = Scenario::load(text, "x.toml", &names()).unwrap();
    assert_eq!(scenario.cells().unwrap().len(), 4);
    scenario.set("flow.count = 7").unwrap();
    scenario.set("flow.start = 2 s").unwrap();
    let cells = scenario.cells().unwrap();
    let flow = &cells[0].config.flows[0];
    assert_eq!(
        (cells.len(), flow.count, flow.start_ns),
        (1, 7, 2_000_000_000)
    );
}

#[test]
fn a_receiver_has_the_settings_of_its_sender_unless_given() {
    let text = "[[flow]]\nsender = { mss = \"536 B\", sack = false }\nreceiver = { sack = true }";
    let scenario = Scenario::load(text, "x.toml", &names()).unwrap();
    let flow = &scenario.cells().unwrap()[0].config.flows[0];
    assert_eq!(
        (flow.receiver.mss, flow.receiver.sack),
        (Some(536), Some(true))
    );
}

#[test]
fn every_kind_of_stage_is_read_with_its_defaults() {
    let needed = [
        ("link", "rate = \"1 Mbit/s\""),
        ("device", "rate = \"1 Mbit/s\""),
        ("delay", "delay = \"1 ms\""),
        ("loss", "probability = \"1 %\""),
        ("outage", "from = \"1 s\"\nuntil = \"2 s\""),
        ("duplicate", "probability = \"1 %\""),
        ("corrupt", "probability = \"1 %\""),
        ("reorder", "delay = \"1 ms\""),
        ("late", "probability = \"1 %\"\ndelay = \"1 ms\""),
        ("batch", ""),
        ("periodic", "interval = 8\nrate = \"1 Mbit/s\""),
        ("processor", "scheme = \"its\""),
        ("spray", "lane = [{ rate = \"1 Mbit/s\" }]"),
        ("radio", ""),
        (
            "shared-link",
            "rate = \"1 Mbit/s\"\ncross = [{ rate = \"1 kbit/s\" }]",
        ),
        ("token-bucket", "rate = \"1 Mbit/s\"\nburst = \"10 kB\""),
        ("netem", ""),
    ];
    let kinds = inorder_scenario::config::STAGES.iter().map(|s| s.name);
    assert_eq!(
        needed.map(|(kind, _)| kind).to_vec(),
        kinds.collect::<Vec<_>>()
    );
    for (kind, keys) in needed {
        let text = format!("[[flow]]\n[[forward]]\nkind = \"{kind}\"\n{keys}");
        assert_eq!(message(&text), "nothing wrong", "{text}");
    }
}

#[test]
fn the_printed_defaults_are_a_scenario() {
    let scenario = Scenario::load(&inorder_scenario::defaults(), "defaults", &names()).unwrap();
    assert_eq!(scenario.cells().map(|cells| cells.len()), Ok(1));
}
