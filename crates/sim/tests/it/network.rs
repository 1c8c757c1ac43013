//! Networks of several lines: conservation of packets, and equality of a chain of lines with a single line.

use inorder_path::Counters;
use inorder_scenario::Scenario;
use inorder_sim::{FlowResult, LineResult, RunResult, registries, run};

/// Runs the only cell of a scenario.
fn one(text: &str) -> RunResult {
    let scenario = Scenario::load(text, "network.toml", &registries()).unwrap();
    let cell = scenario.cells().unwrap().remove(0);
    run(&cell.config, 1).unwrap()
}

fn line<'a>(result: &'a RunResult, name: &str) -> &'a LineResult {
    let found = result.lines.iter().find(|line| line.name == name);
    found.unwrap_or_else(|| panic!("no line {name}"))
}

/// Packets that entered the first stage of a line, and packets that left its last stage.
fn through(result: &RunResult, name: &str) -> (u64, u64) {
    let stages = &line(result, name).stages;
    let first = stages.first().expect("a stage");
    (first.arrived, stages.last().expect("a stage").sent)
}

const PROBES: &str = "[run]\nduration = \"3 s\"\n\
    [[probe]]\nrate = \"20 Mbit/s\"\nsize = \"1250 B\"\ncount = 1000\n";

const TWO_HOPS: &str = "\
    [[line]]\nname = \"access\"\nfrom = \"A\"\nto = \"edge\"\n\
    stage = [{ kind = \"link\", rate = \"100 Mbit/s\", queue = \"50 packets\" }]\n\
    [[line]]\nname = \"core\"\nfrom = \"edge\"\nto = \"core\"\n\
    stage = [{ kind = \"loss\", probability = \"3 %\" }, { kind = \"delay\", delay = \"7 ms\" }]\n\
    [[line]]\nname = \"exit\"\nfrom = \"core\"\nto = \"B\"\n\
    stage = [{ kind = \"duplicate\", probability = \"2 %\" }, { kind = \"delay\", delay = \"4 ms\", jitter = \"1 ms\" }]\n";

#[test]
fn no_packet_is_lost_or_created_between_lines() {
    let probes = PROBES.replace("count", "route = [\"access\", \"core\", \"exit\"]\ncount");
    let result = one(&format!("{probes}{TWO_HOPS}"));
    for line in &result.lines {
        for stage in &line.stages {
            let gone = stage.sent + Counters::dropped(stage);
            assert_eq!(stage.arrived + stage.duplicated, gone, "{}", line.name);
        }
    }
    let [access, core, exit] = ["access", "core", "exit"].map(|name| through(&result, name));
    assert_eq!(access.0, result.probes[0].sent);
    assert_eq!((access.1, core.1), (core.0, exit.0));
    assert_eq!(exit.1, result.probes[0].received);
    assert!(core.1 < core.0, "some are lost");
    assert!(exit.1 > exit.0, "some come twice");
}

#[test]
fn delays_add_over_hops() {
    let delay = |from: &str, to: &str, ms: u32| {
        format!(
            "[[line]]\nname = \"{from}-{to}\"\nfrom = \"{from}\"\nto = \"{to}\"\n\
             stage = [{{ kind = \"delay\", delay = \"{ms} ms\" }}]\n"
        )
    };
    let lines = [delay("A", "x", 3), delay("x", "y", 5), delay("y", "B", 11)].concat();
    let probes = PROBES.replace("count", "route = [\"A-x\", \"x-y\", \"y-B\"]\ncount");
    let result = one(&format!("{probes}{lines}"));
    let probe = &result.probes[0];
    assert_eq!((probe.sent, probe.received), (1000, 1000));
    assert_eq!(probe.delay_ns, 1000 * (3 + 5 + 11) * 1_000_000);
}

/// The results of a flow that must be the same over one line with two stages and over two lines with one stage each.
fn told(flow: &FlowResult) -> impl PartialEq + std::fmt::Debug {
    (flow.counts, flow.completion_ns, flow.measured_ns)
}

/// Stages that are not random and keep the order: a chain of lines then gives exactly the same result as one line
/// with all the stages.
#[test]
fn a_chain_of_lines_is_one_line_with_all_stages() {
    let link = "kind = \"link\", rate = \"20 Mbit/s\", queue = \"30 packets\"";
    let slower = "kind = \"link\", rate = \"10 Mbit/s\", queue = \"20 packets\", delay = \"15 ms\"";
    let head =
        "[run]\nduration = \"20 s\"\n[[flow]]\nsize = \"4 MB\"\ncount = 2\nstagger = \"200 ms\"\n";
    let back = "[[reverse]]\nkind = \"delay\"\ndelay = \"5 ms\"\n";
    let one_line = one(&format!(
        "{head}{back}[[forward]]\n{}\n[[forward]]\n{}\n",
        link.replace(", ", "\n"),
        slower.replace(", ", "\n")
    ));
    let chain = one(&format!(
        "{head}route = [\"first\", \"second\"]\n{back}\
         [[line]]\nname = \"first\"\nfrom = \"A\"\nto = \"hop\"\nstage = [{{ {link} }}]\n\
         [[line]]\nname = \"second\"\nfrom = \"hop\"\nto = \"B\"\nstage = [{{ {slower} }}]\n"
    ));
    assert!(
        one_line
            .flows
            .iter()
            .all(|flow| flow.completion_ns.is_some())
    );
    assert!(
        one_line
            .flows
            .iter()
            .any(|flow| flow.counts.retransmissions > 0),
        "the queue overflows"
    );
    for (one, other) in one_line.flows.iter().zip(&chain.flows) {
        assert_eq!(told(one), told(other));
    }
    let stages = [
        &line(&chain, "first").stages[0],
        &line(&chain, "second").stages[0],
    ];
    let same = &line(&one_line, "forward").stages;
    assert_eq!(stages, [&same[0], &same[1]]);
}

#[test]
fn flows_of_different_routes_meet_only_where_their_routes_do() {
    let path = |name: &str, ms: u32| {
        format!(
            "[[line]]\nname = \"{name}\"\nfrom = \"A\"\nto = \"B\"\nstage = [\
             {{ kind = \"link\", rate = \"50 Mbit/s\", queue = \"100 packets\", delay = \"{ms} ms\" }}]\n"
        )
    };
    let flow = |name: &str| {
        format!("[[flow]]\nname = \"{name}\"\nsize = \"3 MB\"\nroute = [\"{name}\"]\n")
    };
    let head = "[run]\nduration = \"20 s\"\n";
    let back = "[[reverse]]\nkind = \"delay\"\ndelay = \"1 ms\"\n";
    let lines = [path("north", 10), path("south", 40)].concat();
    let both = one(&format!(
        "{head}{}{}{back}{lines}",
        flow("north"),
        flow("south")
    ));
    let alone = one(&format!("{head}{}{back}{lines}", flow("north")));
    let [north, south] = &both.flows[..] else {
        panic!("two flows");
    };
    // The other flow takes another path, so it has no effect here.
    assert_eq!(told(north), told(&alone.flows[0]));
    let rtt_ms = |flow: &FlowResult| flow.counts.rtt_ns as f64 / flow.counts.rtts as f64 / 1e6;
    assert!(rtt_ms(north) >= 11.0 && rtt_ms(south) >= 41.0);
    let least = south.completion_ns.unwrap();
    assert!(north.completion_ns.unwrap() < least);
    assert!(line(&both, "forward").stages.is_empty());
}

#[test]
fn wrong_routes_are_refused_with_their_place() {
    let lines = "[[line]]\nname = \"up\"\nfrom = \"A\"\nto = \"hop\"\n\
        [[line]]\nname = \"down\"\nfrom = \"hop\"\nto = \"B\"\n";
    for (route, expected) in [
        ("[\"upp\"]", "2:10: route: no line is called \"upp\""),
        (
            "[\"down\"]",
            "2:10: route: line down begins at hop, expected a line that begins at A",
        ),
        (
            "[\"up\"]",
            "2:9: the route ends at hop, expected its end at B",
        ),
        ("[]", "2:9: a route of 0 lines, expected 1 to 250 lines"),
        ("\"up\"", "expected a list of names"),
        ("[\"up\", \"down\"]", ""),
    ] {
        let text = format!("[[flow]]\nroute = {route}\n{lines}");
        let loaded = Scenario::load(&text, "x.toml", &registries());
        let message = match loaded.and_then(|scenario| scenario.cells()) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        };
        assert!(message.contains(expected), "{route}: {message}");
        assert_eq!(message.is_empty(), expected.is_empty(), "{message}");
    }
}
