//! High-level nets of PNML, unfolded to places and transitions of plain tokens.

use crate::common::runs::formula;
use inorder_petri::net::Net;
use inorder_petri::pnml;
use inorder_petri::query::Verdict;
use inorder_petri::reachability::Graph;
use inorder_petri::text::ReadError;

/// A term with the terms within it.
fn term(name: &str, parts: &[String]) -> String {
    let parts: Vec<String> = parts
        .iter()
        .map(|part| format!("<subterm>{part}</subterm>"))
        .collect();
    format!("<{name}>{}</{name}>", parts.concat())
}

fn variable(id: &str) -> String {
    format!("<variable refvariable=\"{id}\"/>")
}

fn many(count: u32, of: String) -> String {
    term(
        "numberof",
        &[
            format!("<numberconstant value=\"{count}\"><positive/></numberconstant>"),
            of,
        ],
    )
}

fn place(id: &str, sort: &str, marking: &str) -> String {
    let marking = match marking {
        "" => String::new(),
        marking => format!("<hlinitialMarking><structure>{marking}</structure></hlinitialMarking>"),
    };
    format!("<place id=\"{id}\"><type><structure>{sort}</structure></type>{marking}</place>")
}

fn arc(from: &str, to: &str, term: &str) -> String {
    format!(
        "<arc id=\"{from}-{to}\" source=\"{from}\" target=\"{to}\"><hlinscription><structure>{term}</structure>\
         </hlinscription></arc>"
    )
}

fn net(declarations: &str, content: &str) -> Result<Net, ReadError> {
    let text = format!(
        "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\n\
         <net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/symmetricnet\">\n\
         <declaration><structure><declarations>{declarations}</declarations></structure></declaration>\n\
         <page id=\"page\">{content}</page></net></pnml>"
    );
    pnml::read("symmetric.pnml", text.as_bytes())
}

const SEAT: &str = "<usersort declaration=\"Seat\"/>";

/// A ring of places at a table: the fork beside each and that of the next.
fn philosophers(seats: u32) -> Net {
    let values: Vec<String> = (0..seats)
        .map(|seat| format!("<feconstant id=\"s{seat}\" name=\"{seat}\"/>"))
        .collect();
    let declarations = format!(
        "<namedsort id=\"Seat\" name=\"Seat\"><cyclicenumeration>{}</cyclicenumeration></namedsort>\
         <variabledecl id=\"x\" name=\"x\">{SEAT}</variabledecl>",
        values.concat()
    );
    let (x, next) = (variable("x"), term("successor", &[variable("x")]));
    let both = term("add", &[many(1, x.clone()), many(1, next.clone())]);
    let all = format!("<all>{SEAT}</all>");
    let content = [
        place("think", SEAT, &all),
        place("fork", SEAT, &all),
        place("hold", SEAT, ""),
        place("eat", SEAT, ""),
        "<transition id=\"left\"/><transition id=\"right\"/><transition id=\"leave\"/>".to_owned(),
        arc("think", "left", &x),
        arc("fork", "left", &x),
        arc("left", "hold", &x),
        arc("hold", "right", &x),
        arc("fork", "right", &next),
        arc("right", "eat", &x),
        arc("eat", "leave", &x),
        arc("leave", "think", &x),
        arc("leave", "fork", &both),
    ];
    net(&declarations, &content.concat()).expect("a net")
}

fn verdict(net: &Net, query: &str) -> Verdict {
    let graph = Graph::explore(net, 100_000);
    formula(net, query).check(net, &graph).verdict
}

#[test]
fn colours_become_places_and_bindings_become_transitions() {
    let net = philosophers(3);
    assert_eq!((net.places.len(), net.transitions.len()), (12, 9));
    assert_eq!(verdict(&net, "EF deadlock"), Verdict::Holds);
    assert_eq!(
        verdict(&net, "AG (eat_0 + eat_1 + eat_2 <= 1)"),
        Verdict::Holds
    );
    assert_eq!(verdict(&net, "EF (hold_0 = 1 & eat_1 = 1)"), Verdict::Holds);
    // Of two at a table each takes one fork, or one both.
    let graph = Graph::explore(&philosophers(2), 1000);
    assert_eq!(graph.len(), 6);
}

#[test]
fn products_conditions_numbers_and_ranges() {
    let declarations = "<namedsort id=\"Bit\" name=\"Bit\"><finiteintrange start=\"2\" end=\"4\"/></namedsort>\
        <namedsort id=\"Pair\" name=\"Pair\"><productsort><usersort declaration=\"Bit\"/>\
        <usersort declaration=\"Bit\"/></productsort></namedsort>\
        <variabledecl id=\"a\" name=\"a\"><usersort declaration=\"Bit\"/></variabledecl>\
        <variabledecl id=\"b\" name=\"b\"><usersort declaration=\"Bit\"/></variabledecl>";
    let pair = "<usersort declaration=\"Pair\"/>";
    let number = |value: u32| {
        format!(
            "<finiteintrangeconstant value=\"{value}\"><finiteintrange start=\"2\" end=\"4\"/></finiteintrangeconstant>"
        )
    };
    let start = term("tuple", &[number(2), number(4)]);
    let (a, b) = (variable("a"), variable("b"));
    let less = term("lessthan", &[a.clone(), b.clone()]);
    let swap = "<transition id=\"swap\"><condition><structure>".to_owned()
        + &less
        + "</structure></condition></transition>";
    let content = [
        place("pairs", pair, &many(2, start)),
        place("done", "<dot/>", ""),
        swap,
        arc("pairs", "swap", &term("tuple", &[a.clone(), b.clone()])),
        arc("swap", "pairs", &term("tuple", &[b, a])),
        arc("swap", "done", &many(3, "<dotconstant/>".to_owned())),
    ];
    let net = net(declarations, &content.concat()).expect("a net");
    assert_eq!(net.places.len(), 10);
    // Three of nine pairs rise.
    assert_eq!(net.transitions.len(), 3);
    assert_eq!(
        verdict(&net, "AF (pairs_4_2 = 2 & done = 6)"),
        Verdict::Holds
    );
}

#[test]
fn what_is_not_a_symmetric_net_is_refused_by_name() {
    let refused = |declarations: &str, content: &str| {
        net(declarations, content).expect_err("refused").to_string()
    };
    let strings = "<namedsort id=\"S\" name=\"S\"><string/></namedsort>";
    let found = refused(strings, "");
    assert!(
        found.contains("string") && found.contains("symmetric.pnml:3"),
        "{found}"
    );
    let unknown = place("p", "<usersort declaration=\"Seet\"/>", "");
    let seat = "<namedsort id=\"Seat\" name=\"Seat\"><dot/></namedsort>";
    let found = refused(seat, &unknown);
    assert!(found.contains("did you mean Seat"), "{found}");
}
