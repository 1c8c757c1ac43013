//! The text format: valid nets, and error messages.

use crate::common;
use crate::common::cases::check;

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

#[test]
fn errors_contain_file_and_line() {
    let message = |text: &str| read("f.net", text).unwrap_err().to_string();
    check(include_str!("../cases/text.txt"), "", message);
    check(include_str!("../cases/invalid.txt"), "", message);
}

#[test]
fn of_a_long_text_a_message_has_the_beginning() {
    let text = format!(
        "place a 1\ntransition t exponential rate {}1\nin a\n",
        "(".repeat(100_000)
    );
    let message = read("f.net", &text).unwrap_err().to_string();
    assert!(
        message.starts_with("f.net:2: expected a rate, found (((("),
        "{message}"
    );
    assert!(
        message.len() < 300 && message.ends_with("((..."),
        "{message}"
    );
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
    let message = |text: &str| read("x.net", text).unwrap_err().to_string();
    check(include_str!("../cases/parameters.txt"), PARAMETERS, message);
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
