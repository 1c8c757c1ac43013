//! The text format: valid nets, and error messages.

use crate::common;

use inorder_petri::net::{ArcKind, Servers, Timing};
use inorder_petri::parameters::Parameters;
use inorder_petri::text::{parse, print, read, read_with};
use proptest::prelude::*;

#[test]
fn a_net_with_everything() {
    let text = r#"
# comment
net "the net"
place a 3 capacity 7
place "b c" 2 # another
place d
transition t1 immediate weight 0.25 priority 4
  in a 2
  out "b c"
transition t2 exponential mean 4 servers infinite
  in later
  read d 2
place later
transition t3 erlang 3 rate 1.5
  inhibit a 5
  reset d
transition t4 uniform 1 2 servers 3
transition t5 deterministic 1e-3
transition t6 empirical 1 2:0.5 3e2:7 servers 2
"#;
    let net = parse("x.net", text).unwrap();
    assert_eq!(net.name, "the net");
    assert_eq!((net.places[0].tokens, net.places[0].capacity), (3, Some(7)));
    assert_eq!(
        (net.places[1].name.as_str(), net.places[1].line),
        ("b c", 5)
    );
    assert_eq!(net.transitions[0].timing, Timing::weighted(4, 0.25));
    assert_eq!(net.transitions[0].arcs[0].multiplicity, 2);
    assert_eq!(net.transitions[1].timing, Timing::exponential(0.25));
    assert_eq!(net.transitions[1].servers, Servers::Infinite);
    assert_eq!(net.transitions[1].arcs[0].place.0, 3);
    assert_eq!(net.transitions[1].arcs[1].kind, ArcKind::Read);
    assert_eq!(net.transitions[2].arcs[0].line, 15);
    assert_eq!(net.transitions[5].servers, Servers::Multiple(2));
    assert_eq!(net.transitions[5].timing.mean(), (1.0 + 1.0 + 2100.0) / 8.5);
}

/// The error message for `text`.
fn message(text: &str) -> String {
    read("f.net", text).unwrap_err().to_string()
}

#[test]
fn errors_contain_file_and_line() {
    let cases = [
        (
            "plaice a",
            "f.net:1: expected one of net, parameter, place, transition, in, out, inhibit, read, reset, found plaice; did you mean place?",
        ),
        (
            "place",
            "f.net:1: expected the name of a place, found the end of the line",
        ),
        (
            "place a -1",
            "f.net:1: expected a number of tokens, found -1",
        ),
        (
            "place a 1 limit 3",
            "f.net:1: expected capacity or the end of the line, found limit",
        ),
        (
            "place a 5000000000",
            "f.net:1: expected a number of tokens, found 5000000000",
        ),
        (
            "in a",
            "f.net:1: expected a transition before its arcs, found an input arc",
        ),
        (
            "place a\n\ntransition t expnential rate 1",
            "f.net:3: expected one of immediate, exponential, deterministic, uniform, erlang, empirical, normal, lognormal, weibull, triangular, found expnential; did you mean exponential?",
        ),
        (
            "transition t exponential 3",
            "f.net:1: expected rate or mean, found 3",
        ),
        (
            "transition t exponential rate fast",
            "f.net:1: expected a rate, found fast",
        ),
        (
            "place \"a",
            "f.net:1: expected a closing quote, found the end of the line",
        ),
        (
            "place queue\ntransition t immediate\n in quue",
            "f.net:3: expected a place, found quue; did you mean queue?",
        ),
        (
            "place queue\ntransition t immediate\n in xyz",
            "f.net:3: expected a place, found xyz",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(message(text), expected, "{text}");
    }
}

#[test]
fn invalid_nets_are_refused_with_their_line() {
    let cases = [
        (
            "place a\nplace a",
            "f.net:2: the name a is used twice, first by the place of line 1; expected names of their own",
        ),
        (
            "place a 3 capacity 2",
            "f.net:1: place a: 3 tokens at the start, above its capacity of 2",
        ),
        (
            "transition t exponential rate -1",
            "f.net:1: transition t: rate -1; expected a finite number above 0",
        ),
        (
            "transition t immediate weight -0.5",
            "f.net:1: transition t: weight -0.5; expected a finite number above 0",
        ),
        (
            "transition t exponential rate NaN",
            "f.net:1: transition t: rate NaN; expected a finite number above 0",
        ),
        (
            "transition t exponential mean 0",
            "f.net:1: expected a finite mean delay above 0, found 0",
        ),
        (
            "transition t uniform 3 2",
            "f.net:1: transition t: upper bound 2; expected a number not below the lower bound",
        ),
        (
            "transition t exponential rate 1 servers 0",
            "f.net:1: transition t: servers 0; expected 1 or more",
        ),
        (
            "transition t exponential rate 1 servers infinite",
            "f.net:1: transition t: servers infinite; expected an input arc, or a number of servers",
        ),
        (
            "place a\ntransition t exponential rate 1\nin a 0",
            "f.net:3: transition t: the input arc to a has multiplicity 0; expected 1 or more",
        ),
        (
            "place a\ntransition t exponential rate 1\nin a\nin a",
            "f.net:4: transition t: two input arcs to a; expected one, with a multiplicity",
        ),
        (
            "place a\ntransition t exponential rate 1\nin a 2\ninhibit a 2",
            "f.net:4: transition t can never fire: it needs 2 tokens in a and forbids more than 1",
        ),
        (
            "place a 1 capacity 1\ntransition t exponential rate 1\nread a 2",
            "f.net:3: transition t can never fire: it needs 2 tokens in a, which holds at most 1",
        ),
        (
            "place a 1 capacity 1\ntransition t exponential rate 1\nout a 2",
            "f.net:3: transition t can never fire: it gives 2 tokens to a, which holds at most 1",
        ),
        (
            "place a\ntransition t immediate\nout a",
            "f.net:2: zero-time loop: immediate t would fire for ever without needing a token; expected a timed transition, or a way out",
        ),
        (
            "place a 1\nplace b\ntransition t immediate\nin a\nout b\ntransition u immediate\nin b\nout a",
            "f.net:3: zero-time loop: immediate t, u would fire for ever through a, b; expected a timed transition, or a way out",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(message(text), expected, "{text}");
    }
}

#[test]
fn immediate_cycles_with_an_exit_are_valid() {
    let text = "place a 1\nplace b\nplace c\n\
        transition t immediate\nin a\nout b\ntransition back immediate\nin b\nout a\n\
        transition leave immediate weight 0.1\nin b\nout c\n\
        transition again exponential rate 1\nin c\nout a";
    read("f.net", text).unwrap();
}

const PARAMETERS: &str = "net repair
parameter n 4
parameter rate 0.5
parameter fast 2*rate
place up n capacity n+1
place down \"n - 4\"
transition fail exponential rate rate servers n
  in up n/2
  out down n/2
transition mend empirical fast:3 1:rate
  in down
  out up
";

#[test]
fn numbers_may_be_expressions_of_parameters() {
    let net = read("x.net", PARAMETERS).unwrap();
    let places: Vec<_> = net.places.iter().map(|p| (p.tokens, p.capacity)).collect();
    assert_eq!(places, [(4, Some(5)), (0, None)]);
    assert_eq!(net.transitions[0].timing, Timing::exponential(0.5));
    assert_eq!(net.transitions[0].servers, Servers::Multiple(4));
    assert_eq!(net.transitions[0].arcs[0].multiplicity, 2);
    // What is given holds for what is computed from it.
    let mut given = Parameters::new([("n".to_owned(), 6.0), ("rate".to_owned(), 1.5)]);
    let net = read_with("x.net", PARAMETERS, &mut given).unwrap();
    assert_eq!((net.places[0].tokens, net.places[1].tokens), (6, 2));
    let Timing::Empirical { values } = &net.transitions[1].timing else {
        panic!("an empirical delay");
    };
    assert_eq!((values[0].delay, values[1].weight), (3.0, 1.5));
    let declared: Vec<_> = given
        .declared()
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(
        (declared, given.unknown()),
        (vec!["n", "rate", "fast"], None)
    );
    let mut unknown = Parameters::new([("m".to_owned(), 1.0)]);
    read_with("x.net", PARAMETERS, &mut unknown).unwrap();
    assert_eq!(unknown.unknown(), Some("m"));
}

#[test]
fn wrong_parameters_are_reported_with_their_line() {
    for (from, to, message) in [
        (
            "2*rate",
            "rat",
            "x.net:4: expected a number or the name of a constant, found rat; did you mean rate?",
        ),
        (
            "parameter fast 2*rate",
            "parameter rate 2",
            "x.net:4: expected a name of its own, found rate, which is declared before",
        ),
        (
            "parameter fast 2*rate",
            "parameter 2fast 2",
            "x.net:4: expected the name of a parameter: letters, digits and _, found 2fast",
        ),
        (
            "parameter fast 2*rate",
            "parameter fast",
            "x.net:4: expected its value, found the end of the line",
        ),
        (
            "in up n/2",
            "in up n/3",
            "x.net:8: expected a number of tokens (a whole number, at most 4294967295), found 1.3333333333333333",
        ),
        (
            "servers n",
            "servers m",
            "x.net:7: expected a number of servers, or infinite (a number or the name of a constant), found m; did you mean n?",
        ),
    ] {
        let text = PARAMETERS.replacen(from, to, 1);
        assert_eq!(read("x.net", &text).unwrap_err().to_string(), message);
    }
}

proptest! {
    #[test]
    fn printed_nets_are_read_back(net in common::any_net()) {
        let text = print(&net);
        let again = parse("again", &text).unwrap();
        prop_assert_eq!(again.without_lines(), net, "{}", text);
    }

    #[test]
    fn nothing_panics(text in "(place|transition|in|out|net|parameter|[ -~]{0,6}|\n|exponential|rate|empirical|1:|\"|\\PC){0,30}") {
        inorder_petri::text::fuzz_one(text.as_bytes());
    }
}
