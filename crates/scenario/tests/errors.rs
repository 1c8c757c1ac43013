//! Wrong scenarios, each with the one line its author gets.

use inorder_scenario::{Registries, Scenario};

fn names() -> Registries {
    let list = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    Registries {
        congestion: list(&["reno", "cubic", "cubic-2008"]),
        loss_detection: list(&["static", "linux", "rack"]),
        profiles: list(&["linux-6", "rfc"]),
    }
}

fn message(text: &str) -> String {
    let loaded = Scenario::load(text, "x.toml", &names());
    match loaded.and_then(|scenario| scenario.cells()) {
        Ok(_) => "nothing wrong".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn one_line_each() {
    let cases = [
        (
            "[[flow]]\ncuont = 3",
            "x.toml:2:1: unknown key \"cuont\" in flow, expected one of name, count,",
            "nearest valid name \"count\"",
        ),
        (
            "[[flow]]\ncount = 0",
            "x.toml:2:9: no flow, expected 1 or more",
            "",
        ),
        (
            "[[flow]]\nstart = 5",
            "x.toml:2:9: start: 5 has no unit, expected a time as \"2.5 ms\"",
            "",
        ),
        (
            "[[flow]]\nstart = \"5 MB\"",
            "x.toml:2:9: start: \"5 MB\", expected a time",
            "",
        ),
        (
            "[[flow]]\nsender.profile = \"linux6\"",
            "x.toml:2:18: profile: unknown profile \"linux6\"",
            "nearest valid name \"linux-6\"",
        ),
        (
            "[[flow]]\n[flow.sender]\nsack = \"yes\"",
            "x.toml:3:8: sack: \"yes\", expected true or false",
            "",
        ),
        (
            "[[flow]]\n[[forward]]\nrate = \"1 Mbit/s\"",
            "x.toml:2:1: a stage without kind, expected kind = one of link, delay",
            "",
        ),
        (
            "[[flow]]\n[[forward]]\nkind = \"dealy\"",
            "x.toml:3:8: unknown kind of stage \"dealy\"",
            "nearest valid name \"delay\"",
        ),
        (
            "[[flow]]\n[[forward]]\nkind = \"link\"\nrate = \"1 Mbit/s\"\nqueue = \"1 BDP\"",
            "x.toml:2:1: link has no rtt",
            "",
        ),
        (
            "[[flow]]\n[[forward]]\nkind = \"loss\"\nprobability = \"120 %\"",
            "x.toml:4:15: probability: 120 % is impossible here",
            "",
        ),
        (
            "[run]\nduration = \"1 s\"\nwarm_up = \"2 s\"\n[[flow]]",
            "x.toml:3:11: the run ends before its warm-up",
            "",
        ),
        (
            "[run]\nduration = \"1 s\"",
            "x.toml:1:1: nothing is sent, expected at least one [[flow]] or [[probe]]",
            "",
        ),
        (
            "[[flwo]]",
            "x.toml:1:3: unknown key \"flwo\" in scenario",
            "nearest valid name \"flow\"",
        ),
        (
            "[[flow]]\n[grid]\nflow.count = [1, \"two\"]",
            "x.toml:3:18: count: \"two\", expected a whole number",
            "",
        ),
        (
            "[[flow]]\n[[flow]]\n[grid]\n\"flow.count\" = [1, 2]",
            "x.toml:4:1: \"flow.count\": which of 2 elements is \"count\"?",
            "",
        ),
        (
            "flow = 3",
            "x.toml:1:8: this is a number, expected a list of tables",
            "",
        ),
        ("[[flow]", "x.toml:1:", ""),
    ];
    for (text, start, end) in cases {
        let message = message(text);
        assert!(
            message.starts_with(start),
            "{text}\n  gave  {message}\n  wants {start}"
        );
        assert!(
            message.ends_with(end),
            "{text}\n  gave  {message}\n  wants {end}"
        );
        assert_eq!(message.lines().count(), 1, "{message}");
    }
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
fn a_receiver_is_like_its_sender_but_for_what_is_said() {
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
        ("delay", "delay = \"1 ms\""),
        ("loss", "probability = \"1 %\""),
        ("duplicate", "probability = \"1 %\""),
        ("corrupt", "probability = \"1 %\""),
        ("reorder", "delay = \"1 ms\""),
        ("late", "probability = \"1 %\"\ndelay = \"1 ms\""),
        ("batch", ""),
        ("periodic", "interval = 8\nrate = \"1 Mbit/s\""),
        ("spray", "lane = [{ rate = \"1 Mbit/s\" }]"),
        ("radio", ""),
        (
            "shared-link",
            "rate = \"1 Mbit/s\"\ncross = [{ rate = \"1 kbit/s\" }]",
        ),
        ("token-bucket", "rate = \"1 Mbit/s\"\nburst = \"10 kB\""),
        ("netem", ""),
    ];
    let kinds = inorder_scenario::schema::STAGES.iter().map(|s| s.name);
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
