//! Nets of GreatSPN's editor and of TAPAAL: what they mean, what is refused, and no panic.

use crate::common;
use crate::common::cases::check;

use std::fmt::Write;

use inorder_petri::net::{ArcKind, Net, Place, PlaceId, Servers, Timing, Transition};
use inorder_petri::pnml::read;
use inorder_petri::reachability::Graph;
use proptest::prelude::*;

/// Constants, a parameter, all kinds of transitions and arcs.
const PROJECT: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!-- This project file has been saved by the New GreatSPN Editor, v.100 --><project name="p" version="121">
  <gspn name="repair" zoom="50">
    <nodes>
      <constant consttype="REAL" name="fails" value="1/10" x="1" y="1"/>
      <constant consttype="REAL" name="mends" value="5 * fails" x="1" y="1"/>
      <template name="machines" type="INTEGER" value="6" x="1" y="1"/>
      <place marking="machines" name="working" x="3.0" y="9.0"/>
      <place name="broken" x="3.0" y="9.0"/>
      <place name="seen" x="3.0" y="9.0"/>
      <transition delay="fails" name="fail" nservers-x="0.5" type="EXP" x="2" y="9"/>
      <transition name="look" priority="2" type="IMM" weight="0.5" x="7" y="4"/>
      <transition delay="mends" name="mend" nservers="2" type="EXP" x="7" y="4"/>
      <transition delay="3.0" name="tick" nservers="Single" type="DET" x="7" y="4"/>
      <text-box name="__textBox0" x="1" y="2">words</text-box>
    </nodes>
    <edges>
      <arc head="fail" kind="INPUT" tail="working"/>
      <arc head="broken" kind="OUTPUT" mult="machines - 5" tail="fail"><point x="1" y="2"/></arc>
      <arc head="look" kind="INPUT" tail="broken"/>
      <arc head="look" kind="INHIBITOR" mult="2" tail="seen"/>
      <arc head="seen" kind="OUTPUT" tail="look"/>
      <arc head="mend" kind="INPUT" tail="seen"/>
      <arc head="working" kind="OUTPUT" tail="mend"/>
      <arc head="working" kind="OUTPUT" tail="tick"/>
    </edges>
  </gspn>
  <measures gspn-name="repair" name="Measures"><formulas/></measures>
</project>"#;

#[test]
fn a_project_of_greatspn() {
    let net = read("p.PNPRO", PROJECT.as_bytes()).unwrap();
    let mut expected = Net::new("repair");
    let working = expected.add_place(Place::new("working", 6));
    let broken = expected.add_place(Place::new("broken", 0));
    let seen = expected.add_place(Place::new("seen", 0));
    let timed = |name, rate| Transition::new(name, Timing::exponential(rate));
    expected.add_transition(
        timed("fail", 0.1)
            .servers(Servers::Infinite)
            .input(working, 1)
            .output(broken, 1),
    );
    expected.add_transition(
        Transition::new("look", Timing::weighted(2, 0.5))
            .input(broken, 1)
            .inhibitor(seen, 2)
            .output(seen, 1),
    );
    expected.add_transition(
        timed("mend", 0.5)
            .servers(Servers::Multiple(2))
            .input(seen, 1)
            .output(working, 1),
    );
    let tick = Timing::Deterministic { delay: 3.0 };
    expected.add_transition(Transition::new("tick", tick).output(working, 1));
    assert_eq!(net.without_lines(), expected);
}

/// A ring of processes, a table of pairs, and everything that an expression of colours may have.
const COLOURED: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<project name="p" version="121">
  <gspn name="ring">
    <nodes>
      <template last-binding="3" name="N" type="INTEGER"/>
      <color-class definition="circular p{1..N}" name="P"/>
      <color-class definition="{a} is Slow + t{1..2} is Fast" name="T"/>
      <color-class definition="P * T" name="PxT"/>
      <color-var domain="P" name="x"/>
      <color-var domain="P" name="y"/>
      <color-var domain="T" name="k"/>
      <constant consttype="INTEGER" domain="P" name="everyone" value="&lt;All&gt;"/>
      <place domain="P" marking="everyone" name="idle"/>
      <place domain="PxT" marking="&lt;All,Slow&gt;" name="at"/>
      <place domain="P" marking="2&lt;All&gt; - &lt;p1&gt;" name="forks"/>
      <place marking="N - 2" name="free"/>
      <transition delay="2.0" guard="x != y &amp;&amp; (k in Slow || y == p1)" name="take" nservers="1" type="EXP"/>
      <transition delay="0.5" guard="k !in Slow" name="give" type="EXP"/>
      <transition name="drop" type="IMM"/>
    </nodes>
    <edges>
      <arc head="take" kind="INPUT" mult="&lt;x&gt;" tail="idle"/>
      <arc head="take" kind="INPUT" mult="&lt;x&gt;+&lt;x++&gt;" tail="forks"/>
      <arc head="take" kind="INHIBITOR" mult="&lt;y,k&gt;" tail="at"/>
      <arc head="take" kind="INPUT" tail="free"/>
      <arc head="at" kind="OUTPUT" mult="&lt;x,k&gt;" tail="take"/>
      <arc head="give" kind="INPUT" mult="&lt;x,k&gt;" tail="at"/>
      <arc head="forks" kind="OUTPUT" mult="&lt;All-x--&gt;" tail="give"/>
      <arc head="idle" kind="OUTPUT" mult="&lt;x&gt;" tail="give"/>
      <arc head="free" kind="OUTPUT" tail="give"/>
      <arc head="drop" kind="INPUT" mult="&lt;x,Slow&gt;" tail="at"/>
      <arc head="idle" kind="OUTPUT" mult="&lt;x&gt;" tail="drop"/>
    </edges>
  </gspn>
</project>"#;

/// Each place is one for each of its colours, each transition one for each binding for which its guard holds.
#[test]
fn a_project_of_greatspn_with_colours() {
    let net = read("p.PNPRO", COLOURED.as_bytes()).unwrap();
    let names: Vec<&str> = net.places.iter().map(|place| place.name.as_str()).collect();
    let at = [
        "at_p1_a", "at_p1_t1", "at_p1_t2", "at_p2_a", "at_p2_t1", "at_p2_t2", "at_p3_a",
        "at_p3_t1", "at_p3_t2",
    ];
    let forks = ["forks_p1", "forks_p2", "forks_p3"];
    let expected = ["idle_p1", "idle_p2", "idle_p3"]
        .iter()
        .chain(&at)
        .chain(&forks)
        .chain(&["free"]);
    assert_eq!(names, expected.copied().collect::<Vec<&str>>());
    let tokens: Vec<u32> = net
        .places
        .iter()
        .map(|place| place.tokens)
        .filter(|n| *n > 0)
        .collect();
    assert_eq!(tokens, [1, 1, 1, 1, 1, 1, 1, 2, 2, 1]);
    let of = |start: &str| {
        net.transitions
            .iter()
            .filter(|t| t.name.starts_with(start))
            .count()
    };
    // With k slow x and y are any two, otherwise y is p1: 6 and 2 times 2. A token to give is of two kinds.
    assert_eq!((of("take"), of("give"), of("drop")), (6 + 2 * 2, 6, 3));
    let place = |name: &str| PlaceId(names.iter().position(|place| *place == name).unwrap());
    let found = |name: &str| net.transitions.iter().find(|t| t.name == name).unwrap();
    // The bindings are in the order of the names of the variables: k, x, y.
    let take = found("take_a_p3_p2");
    assert_eq!(take.servers, Servers::Single);
    assert_eq!(take.timing, Timing::exponential(2.0));
    for name in ["idle_p3", "forks_p3", "forks_p1", "free"] {
        assert_eq!(take.multiplicity(ArcKind::Input, place(name)), 1, "{name}");
    }
    assert_eq!(take.multiplicity(ArcKind::Inhibitor, place("at_p2_a")), 1);
    assert_eq!(take.multiplicity(ArcKind::Output, place("at_p3_a")), 1);
    let give = found("give_t1_p1");
    assert_eq!(give.servers, Servers::Infinite);
    let back = ["forks_p1", "forks_p2", "forks_p3"]
        .map(|name| give.multiplicity(ArcKind::Output, place(name)));
    assert_eq!(back, [1, 1, 0]);
    assert!(found("drop_p2").timing.is_immediate());
}

/// The functions that GreatSPN's editor offers for densities, as its own examples have them (JavaGUI of its sources).
#[test]
fn general_transitions_of_greatspn_have_the_delays_of_their_densities() {
    let delay = |text: &str| {
        let found = format!("delay=\"{text}\" name=\"tick\" nservers=\"Single\" type=\"GEN\"");
        let fixed = "delay=\"3.0\" name=\"tick\" nservers=\"Single\" type=\"DET\"";
        let net = read("p.PNPRO", PROJECT.replacen(fixed, &found, 1).as_bytes()).unwrap();
        let tick = net.transitions.iter().find(|t| t.name == "tick");
        tick.map(|t| t.timing.clone()).unwrap()
    };
    assert_eq!(delay("I[mends * 8]"), Timing::Deterministic { delay: 4.0 });
    let uniform = Timing::Uniform {
        low: 3.0,
        high: 6.0,
    };
    assert_eq!(delay("Uniform[machines/2, 6]"), uniform);
    let erlang = Timing::Erlang {
        stages: 4,
        rate: 1.75,
    };
    assert_eq!(delay("Erlang[1.75, 4]"), erlang);
    let Timing::Drawn(triangular) = delay("Triangular[2,8]") else {
        panic!("not drawn");
    };
    assert_eq!(
        (triangular.family().name, triangular.mean()),
        ("triangular", 5.0)
    );
}

/// Names of conditions and actions, which GreatSPN's automata use, are no numbers.
#[test]
fn templates_that_are_no_numbers_are_left_out() {
    let condition = "<template last-binding=\"#seen==0\" name=\"Phi\" type=\"STATEPROP\"/><template name=\"act\" type=\"ACTION\"/>";
    let project = PROJECT.replacen("<nodes>", &format!("<nodes>{condition}"), 1);
    assert_eq!(
        read("p.PNPRO", project.as_bytes()),
        read("p.PNPRO", PROJECT.as_bytes())
    );
}

/// Two components that share a place and a transition; a transport arc; a constant.
const COMPOSED: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<pnml xmlns="http://www.informatik.hu-berlin.de/top/pnml/ptNetb">
  <shared-place initialMarking="1" invariant="&lt; inf" name="lock"/>
  <shared-transition name="both" urgent="false"/>
  <constant name="n" value="2"/>
  <net active="true" id="A" type="P/T net">
    <place id="P0" initialMarking="n" invariant="&lt; inf" name="idle"><type><text>dot</text></type></place>
    <place id="P1" initialMarking="0" invariant="&lt; inf" name="busy"/>
    <place id="P2" initialMarking="0" invariant="&lt; inf" name="lock"/>
    <transition id="T0" infiniteServer="false" name="begin" priority="0" urgent="false"/>
    <transition id="T1" name="both" urgent="false"/>
    <arc id="I0" inscription="[0,inf):1" source="P0" target="T0" type="transport" weight="1"/>
    <arc id="I1" inscription="[0,inf):1" source="T0" target="P1" type="transport" weight="1"/>
    <arc id="I2" inscription="[0, inf)" source="P2" target="T0" type="timed" weight="1"/>
    <arc id="I3" inscription="[0,inf)" source="P1" target="T1" type="timed" weight="n"/>
  </net>
  <net active="true" id="B" type="P/T net">
    <place id="P0" initialMarking="0" invariant="&lt; inf" name="idle"/>
    <place id="P2" initialMarking="0" invariant="&lt; inf" name="lock"/>
    <transition id="T0" name="both" urgent="false"/>
    <arc id="I0" inscription="1" source="T0" target="P0" type="normal" weight="1"/>
    <arc id="I1" inscription="[0,inf)" source="P2" target="T0" type="tapnInhibitor" weight="1"/>
  </net>
  <net active="false" id="C"><place id="P0" initialMarking="0" invariant="&lt;= 5" name="idle"/></net>
</pnml>"#;

#[test]
fn a_net_of_tapaal_is_composed_of_its_components() {
    let net = read("x.tapn", COMPOSED.as_bytes()).unwrap();
    let names: Vec<&str> = net.places.iter().map(|place| &*place.name).collect();
    assert_eq!(names, ["lock", "A.idle", "A.busy", "B.idle"]);
    assert_eq!((net.places[0].tokens, net.places[1].tokens), (1, 2));
    let names: Vec<&str> = net.transitions.iter().map(|t| &*t.name).collect();
    assert_eq!(names, ["A.begin", "both"]);
    let both = &net.transitions[1];
    assert_eq!(both.multiplicity(ArcKind::Input, PlaceId(2)), 2);
    assert_eq!(both.multiplicity(ArcKind::Inhibitor, PlaceId(0)), 1);
    assert_eq!(both.multiplicity(ArcKind::Output, PlaceId(3)), 1);
    // Newer versions write a distribution that says nothing.
    let newer = COMPOSED.replace(
        "name=\"begin\"",
        "distribution=\"constant\" value=\"1.0\" name=\"begin\"",
    );
    assert_eq!(read("x.tapn", newer.as_bytes()), Ok(net.clone()));
    // The lock is taken once and never given back: two markings, and then nothing can fire.
    assert_eq!(Graph::explore(&net, 10).len(), 2);
}

#[test]
fn what_the_nets_here_cannot_mean_is_refused_by_place() {
    let message = |document: &str| read("f", document.as_bytes()).unwrap_err().to_string();
    check(include_str!("../cases/greatspn.txt"), PROJECT, message);
    check(
        include_str!("../cases/greatspn-colours.txt"),
        COLOURED,
        message,
    );
    check(include_str!("../cases/tapaal.txt"), COMPOSED, message);
}

/// A net as GreatSPN's editor would save it; `None` for what its format does not have.
fn project_of(net: &Net) -> Option<String> {
    let escaped = |text: &str| {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        text.replace('"', "&quot;")
    };
    let mut out = format!("<project><gspn name=\"{}\"><nodes>", escaped(&net.name));
    for place in &net.places {
        write!(
            out,
            "<place name=\"{}\" marking=\"{}\"/>",
            escaped(&place.name),
            place.tokens
        )
        .ok()?;
    }
    for t in &net.transitions {
        let timing = match t.timing {
            Timing::Exponential { rate } => format!("type=\"EXP\" delay=\"{rate}\""),
            Timing::Deterministic { delay } => format!("type=\"DET\" delay=\"{delay}\""),
            Timing::Immediate { priority, weight } => {
                format!("type=\"IMM\" priority=\"{priority}\" weight=\"{weight}\"")
            }
            _ => return None,
        };
        let servers = match t.servers {
            Servers::Single => "nservers=\"Single\"".to_owned(),
            Servers::Multiple(n) => format!("nservers=\"{n}\""),
            Servers::Infinite => String::new(),
        };
        write!(
            out,
            "<transition name=\"{}\" {timing} {servers}/>",
            escaped(&t.name)
        )
        .ok()?;
    }
    out += "</nodes><edges>";
    for t in &net.transitions {
        for arc in &t.arcs {
            let (kind, from, to) = match arc.kind {
                ArcKind::Input => ("INPUT", &net.places[arc.place.0].name, &t.name),
                ArcKind::Output => ("OUTPUT", &t.name, &net.places[arc.place.0].name),
                ArcKind::Inhibitor => ("INHIBITOR", &net.places[arc.place.0].name, &t.name),
                _ => return None,
            };
            let (from, to) = (escaped(from), escaped(to));
            let mult = arc.multiplicity;
            write!(
                out,
                "<arc kind=\"{kind}\" tail=\"{from}\" head=\"{to}\" mult=\"{mult}\"/>"
            )
            .ok()?;
        }
    }
    Some(out + "</edges></gspn></project>")
}

proptest! {
    #[test]
    fn projects_are_read_as_the_nets_they_were_written_from(mut net in common::any_net()) {
        net.places.iter_mut().for_each(|place| place.capacity = None);
        for t in &mut net.transitions {
            t.arcs.retain(|arc| !matches!(arc.kind, ArcKind::Read | ArcKind::Reset));
            let has_inputs = t.arcs_of(ArcKind::Input).next().is_some();
            if t.timing.is_immediate() || !has_inputs {
                t.servers = Servers::Single;
            }
        }
        let keeps_names = |name: &str| name == name.trim();
        let names = net.places.iter().map(|p| &p.name).chain(net.transitions.iter().map(|t| &t.name));
        prop_assume!(names.chain([&net.name]).all(|name| keeps_names(name)));
        prop_assume!(net.validate().is_ok());
        let Some(document) = project_of(&net) else { return Ok(()) };
        let again = read("p", document.as_bytes());
        prop_assert_eq!(again.map(Net::without_lines), Ok(net), "{}", document);
    }

    #[test]
    fn damage_never_panics(
        project in any::<bool>(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..4), 0..8),
    ) {
        let mut document = if project { PROJECT } else { COMPOSED }.as_bytes().to_vec();
        for (place, byte, what) in changes {
            if document.is_empty() {
                break;
            }
            let at = place.index(document.len());
            match what {
                0 => document[at] = byte,
                1 => document.insert(at, b"<>/&\"'; 0-9*("[usize::from(byte) % 13]),
                2 => { document.remove(at); }
                _ => document.truncate(at.max(document.len() / 2)),
            }
        }
        inorder_petri::pnml::fuzz_one(&document);
    }
}
