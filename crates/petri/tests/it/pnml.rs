//! PNML: files of other tools, error messages, and round trips without loss or panic.

use crate::common;
use crate::common::cases::check;

use inorder_petri::net::{ArcKind, Net, Servers, Timing};
use inorder_petri::parameters::Parameters;
use inorder_petri::pnml::{self, parse, read, write};
use proptest::prelude::*;

/// Nested pages, a reference place, graphics, foreign toolspecific, a prefix, spaces and line ends.
const STANDARD: &str = r##"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE pnml [<!ENTITY x "y">]>
<p:pnml xmlns:p="http://www.pnml.org/version-2009/grammar/pnml">
 <p:net id="n1" type="http://www.pnml.org/version-2009/grammar/ptnet">
  <p:name> <p:text>
     mutual exclusion </p:text></p:name>
  <p:page id="g1">
   <p:place id="p1"><p:name><p:text> id&#108;e &amp; fine </p:text>
      <p:graphics><p:offset x="0" y="-10"/></p:graphics></p:name>
      <p:toolspecific tool="other" version="7"><anything><deep a="1"/></anything></p:toolspecific>
      <p:initialMarking><p:text> 2
      </p:text></p:initialMarking></p:place>
   <p:page id="g2">
     <p:transition id="t1"><p:graphics><p:position x="1" y="2"/></p:graphics></p:transition>
     <p:referencePlace id="r1" ref="r2"/>
     <p:referencePlace id="r2" ref="p1"/>
     <p:place id="p2"/>
     <p:arc id="a1" source="r1" target="t1"><p:inscription><p:text>2</p:text></p:inscription></p:arc>
   </p:page>
  </p:page>
  <p:arc id="a2" source="t1" target="p2"/>
  <p:arc id="a3" source="t1" target="p2"/>
 </p:net>
</p:pnml>"##;

#[test]
fn the_standard_with_pages_and_references() {
    let net = read("standard.pnml", STANDARD.as_bytes()).unwrap();
    assert_eq!(net.name, "mutual exclusion");
    assert_eq!(
        (net.places[0].name.as_str(), net.places[0].tokens),
        ("idle & fine", 2)
    );
    assert_eq!(
        (net.places[1].name.as_str(), net.places[1].line),
        ("p2", 17)
    );
    let t = &net.transitions[0];
    assert_eq!(
        (t.name.as_str(), &t.timing),
        ("t1", &Timing::exponential(1.0))
    );
    assert_eq!(
        (t.arcs[0].kind, t.arcs[0].place.0, t.arcs[0].multiplicity),
        (ArcKind::Input, 0, 2)
    );
    // Two arcs between the same nodes are one arc of multiplicity 2.
    assert_eq!(
        (t.arcs[1].kind, t.arcs[1].place.0, t.arcs[1].multiplicity),
        (ArcKind::Output, 1, 2)
    );
}

/// As PIPE writes: no page, Latin-1, values instead of texts, coloured tokens.
const PIPE: &[u8] = b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\" standalone=\"no\"?>
<pnml><net id=\"Net-One\" type=\"P/T net\">
<token id=\"Default\" enabled=\"true\" red=\"0\" green=\"0\" blue=\"0\"/>
<place id=\"P0\"><graphics><position x=\"165.0\" y=\"165.0\"/></graphics>
<name><value>caf\xe9</value><graphics/></name>
<initialMarking><value>Default,3</value></initialMarking><capacity><value>0</value></capacity></place>
<place id=\"P1\"><name><value>P1</value></name><capacity><value>4</value></capacity></place>
<transition id=\"T0\"><name><value>T0</value></name><orientation><value>0</value></orientation>
<rate><value>2.5</value></rate><timed><value>true</value></timed>
<infiniteServer><value>true</value></infiniteServer><priority><value>1</value></priority></transition>
<transition id=\"T1\"><rate><value>0.5</value></rate><timed><value>false</value></timed>
<infiniteServer><value>false</value></infiniteServer><priority><value>3</value></priority></transition>
<arc id=\"P0 to T0\" source=\"P0\" target=\"T0\"><inscription><value>Default,1</value></inscription>
<tagged><value>false</value></tagged><arcpath id=\"000\" x=\"1\" y=\"2\"/><type value=\"normal\"/></arc>
<arc id=\"T0 to P1\" source=\"T0\" target=\"P1\"><inscription><value>Default,2</value></inscription></arc>
<arc id=\"P1 to T1\" source=\"P1\" target=\"T1\"/>
<arc id=\"h\" source=\"P0\" target=\"T1\"><type value=\"inhibitor\"/></arc>
</net></pnml>";

#[test]
fn files_of_pipe() {
    let net = read("pipe.xml", PIPE).unwrap();
    assert_eq!(
        (net.places[0].name.as_str(), net.places[0].tokens),
        ("café", 3)
    );
    assert_eq!(
        (net.places[0].capacity, net.places[1].capacity),
        (None, Some(4))
    );
    assert_eq!(net.transitions[0].timing, Timing::exponential(2.5));
    assert_eq!(net.transitions[0].servers, Servers::Infinite);
    assert_eq!(net.transitions[0].arcs[1].multiplicity, 2);
    assert_eq!(net.transitions[1].timing, Timing::weighted(3, 0.5));
    assert_eq!(net.transitions[1].arcs[1].kind, ArcKind::Inhibitor);
}

#[test]
fn special_arcs_in_every_spelling() {
    let spellings = [
        (
            r#"<arc id="a" source="p" target="t"><type value="inhibitor"/></arc>"#,
            ArcKind::Inhibitor,
        ),
        (
            r#"<arc id="a" source="p" target="t" type="inhibitor"/>"#,
            ArcKind::Inhibitor,
        ),
        (
            r#"<arc id="a" source="p" target="t"><arctype><text>inhibitor</text></arctype></arc>"#,
            ArcKind::Inhibitor,
        ),
        (
            r#"<arc id="a" source="p" target="t"><type><text> Inhibitor </text></type></arc>"#,
            ArcKind::Inhibitor,
        ),
        (
            r#"<arc id="a" source="p" target="t"><arcType>test</arcType></arc>"#,
            ArcKind::Read,
        ),
        (
            r#"<arc id="a" source="p" target="t" kind="read"/>"#,
            ArcKind::Read,
        ),
        (
            r#"<arc id="a" source="p" target="t"><type value="reset"/></arc>"#,
            ArcKind::Reset,
        ),
        (
            r#"<arc id="a" source="p" target="t"><type value="normal"/></arc>"#,
            ArcKind::Input,
        ),
    ];
    for (arc, kind) in spellings {
        let net = read("a", small(arc).as_bytes()).unwrap();
        assert_eq!(net.transitions[0].arcs[0].kind, kind, "{arc}");
    }
}

/// A net with one place and one transition that contains this on line 3.
fn small(more: &str) -> String {
    format!(
        "<pnml><net id=\"n\" type=\"ptnet\">\n<place id=\"p\"/><transition id=\"t\"/>\n{more}</net></pnml>"
    )
}

#[test]
fn errors_contain_element_and_line() {
    check(include_str!("../cases/pnml.txt"), "", |text| {
        let document = match text {
            whole if whole.is_empty() || whole.starts_with("<pnml") => whole.to_owned(),
            element => small(element),
        };
        read("f", document.as_bytes()).unwrap_err().to_string()
    });
}

#[test]
fn other_encodings() {
    let document = small("<place id=\"q\"><name><text>é☃</text></name></place>");
    let with_mark = [b"\xef\xbb\xbf", document.as_bytes()].concat();
    let utf16: Vec<u8> = std::iter::once(0xfeff_u16)
        .chain(document.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    for bytes in [with_mark, utf16] {
        assert_eq!(read("f", &bytes).unwrap().places[1].name, "é☃");
    }
    let error = read("f", b"<pnml>\n\xe9</pnml>").unwrap_err();
    assert_eq!(
        error.to_string(),
        "f:2: expected UTF-8, found other bytes, and no encoding is declared"
    );
}

#[test]
fn elements_nested_without_end_are_refused() {
    let error = read("f", "<a>".repeat(100_000).as_bytes()).unwrap_err();
    assert!(error.to_string().contains("200 deep"), "{error}");
}

/// A valid document to be damaged.
fn documents() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(STANDARD.as_bytes().to_vec()),
        Just(PIPE.to_vec()),
        common::any_net().prop_map(|net| write(&net).into_bytes()),
    ]
}

#[test]
fn the_example_file_is_the_example_net() {
    let document = include_bytes!("../../nets/shared-memory.pnml");
    let text = include_str!("../../nets/published/shared-memory.net");
    let net = inorder_petri::text::read("net", text).unwrap();
    assert_eq!(
        read("pnml", document).unwrap().without_lines(),
        net.without_lines()
    );
}

/// The names equal the ids that the writer assigns to other places.
#[test]
fn names_that_look_like_ids_stay_where_they_are() {
    let source =
        "net swap\nplace p1 5\nplace p0\ntransition t0 exponential rate 1\n  in p1\n  out p0\n";
    let net = inorder_petri::text::read("net", source).unwrap();
    let again = read("again", write(&net).as_bytes()).unwrap();
    assert_eq!(again.without_lines(), net.without_lines());
}

#[test]
fn an_id_used_as_a_name_is_changed_if_another_element_has_that_name() {
    let named = r#"<place id="a"><name><text>q</text></name></place><place id="q"/>"#;
    let net = read("f", small(named).as_bytes()).unwrap();
    let names: Vec<&str> = net.places.iter().map(|place| &*place.name).collect();
    assert_eq!(names, ["p", "q", "q_"]);
}

proptest! {
    #[test]
    fn written_nets_are_read_back(net in common::any_net()) {
        let document = write(&net);
        let again: Net = parse("again", document.as_bytes()).unwrap();
        prop_assert_eq!(again.without_lines(), net, "{}", document);
    }

    #[test]
    fn damage_never_panics(
        mut document in documents(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..4), 0..8),
    ) {
        for (place, byte, what) in changes {
            if document.is_empty() {
                break;
            }
            let at = place.index(document.len());
            match what {
                0 => document[at] = byte,
                1 => document.insert(at, b"<>/&\"'; 0-9"[usize::from(byte) % 11]),
                2 => { document.remove(at); }
                _ => document.truncate(at),
            }
        }
        pnml::fuzz_one(&document);
    }
}

#[test]
fn a_net_of_several_is_chosen_by_its_name() {
    let document =
        b"<pnml><net id='a'><place id='p'/></net><net id='b'><place id='q'/></net></pnml>";
    let read = |name: &str| {
        let mut wanted = Parameters::default().of_net(Some(name.to_owned()));
        pnml::read_with("f", document, &mut wanted)
    };
    assert_eq!(read("b").unwrap().places[0].name, "q");
    let error = read("c").unwrap_err().to_string();
    assert_eq!(
        error,
        "f:1: pnml: expected the name of a net of the file, found c; did you mean a?"
    );
}

#[test]
fn elements_of_other_namespaces_are_refused_unless_they_are_named() {
    let prefixed = "<pnml xmlns:x='urn:other'><net id='n'><transition id='t'><x:guard>p &gt; 2</x:guard></transition></net></pnml>";
    let own = prefixed
        .replace("x:guard", "guard")
        .replace("<guard>", "<guard xmlns='urn:other'>");
    for (document, name) in [(prefixed, "x:guard"), (own.as_str(), "guard")] {
        let error = read("f", document.as_bytes()).unwrap_err().to_string();
        assert!(
            error.starts_with("f:1: transition t: expected elements of PNML only"),
            "{error}"
        );
        assert!(error.ends_with(&format!("found {name}")), "{error}");
        let mut ignoring = Parameters::default().ignoring([name.to_owned()]);
        assert!(pnml::read_with("f", document.as_bytes(), &mut ignoring).is_ok());
    }
    // Times of tools that write no namespace of their own.
    let timed = "<pnml><net id='n'><transition id='t'><name><text>t</text></name><delay><interval/></delay></transition></net></pnml>";
    let error = read("f", timed.as_bytes()).unwrap_err().to_string();
    assert!(error.ends_with("(--ignore NAME), found delay"), "{error}");
    let mut ignoring = Parameters::default().ignoring(["delay".to_owned()]);
    assert!(pnml::read_with("f", timed.as_bytes(), &mut ignoring).is_ok());
    // The type says that tokens have colours, the marking that they have none.
    let mixed = "<pnml><net id='n' type='http://www.pnml.org/version-2009/grammar/symmetricnet'>\
        <place id='p'><initialMarking><text>2</text></initialMarking></place></net></pnml>";
    let error = read("f", mixed.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("expected hlinitialMarking"), "{error}");
    // A prefix of the namespace of PNML itself is none of another.
    let prefixed = "<p:pnml xmlns:p='http://www.pnml.org/version-2009/grammar/pnml'><p:net id='n'><p:place id='q'>\
        <p:initialMarking><p:text>3</p:text></p:initialMarking></p:place></p:net></p:pnml>";
    assert_eq!(read("f", prefixed.as_bytes()).unwrap().places[0].tokens, 3);
}

#[test]
fn types_of_nets_are_known_or_refused_by_name() {
    let of = |grammar: &str| {
        let document = format!(
            "<pnml><net id=\"n\" {grammar}>\n<place id=\"p\"/><transition id=\"t\"/>\
             <arc id=\"a\" source=\"p\" target=\"t\"/></net></pnml>"
        );
        read("f", document.as_bytes()).map_err(|error| error.to_string())
    };
    for grammar in [
        "",
        "type=\"\"",
        "type=\"P/T net\"",
        "type=\"PTNet\"",
        "type=\"http://www.informatik.hu-berlin.de/top/pntd/ptNetb\"",
        "type=\"http://www.pnml.org/version-2009/grammar/pnmlcoremodel\"",
        "type=\"http://www.yasper.org/specs/epnml-1.1\"",
    ] {
        assert!(of(grammar).is_ok(), "{grammar}");
    }
    for unknown in ["http://example.org/hybridnet", "timed", "GSPN", "notptnet"] {
        let expected = format!(
            "f:1: net n: expected a net of type ptnet, symmetricnet or highlevelnet, found type {unknown}"
        );
        assert_eq!(of(&format!("type=\"{unknown}\"")), Err(expected));
    }
}
