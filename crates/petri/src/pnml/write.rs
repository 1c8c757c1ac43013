//! From a net to a PNML document.

use crate::net::{Arc, ArcKind, Net, Observation, Place, Servers, Timing, Transition};
use quick_xml::escape::escape;
use std::fmt::Write;

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
    <pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\n  \
    <net id=\"net\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\">\n";

/// The net as a PNML document.
pub fn write(net: &Net) -> String {
    let mut out = String::from(HEAD);
    out += &labels("    ", &net.name, &[]);
    out += "    <page id=\"page\">\n";
    for (i, place) in net.places.iter().enumerate() {
        out += &place_element(i, place);
    }
    for (i, transition) in net.transitions.iter().enumerate() {
        out += &transition_element(i, transition);
    }
    let mut number = 0;
    for (t, transition) in net.transitions.iter().enumerate() {
        for arc in &transition.arcs {
            out += &arc_element(number, t, arc);
            number += 1;
        }
    }
    out + "    </page>\n  </net>\n</pnml>\n"
}

fn place_element(number: usize, place: &Place) -> String {
    let own = place
        .capacity
        .map(|most| format!("<capacity value=\"{most}\"/>"));
    let mut body = labels("        ", &place.name, own.as_slice());
    if place.tokens > 0 {
        body += &text_label("initialMarking", &place.tokens.to_string());
    }
    format!("      <place id=\"p{number}\">\n{body}      </place>\n")
}

fn transition_element(number: usize, transition: &Transition) -> String {
    let mut own = vec![format!("<timing {}/>", timing(&transition.timing))];
    own.extend(match transition.servers {
        Servers::Single => None,
        Servers::Multiple(n) => Some(format!("<servers value=\"{n}\"/>")),
        Servers::Infinite => Some("<servers value=\"infinite\"/>".to_owned()),
    });
    let body = labels("        ", &transition.name, &own);
    format!("      <transition id=\"t{number}\">\n{body}      </transition>\n")
}

fn arc_element(number: usize, transition: usize, arc: &Arc) -> String {
    let (place, t) = (format!("p{}", arc.place.0), format!("t{transition}"));
    let (source, target) = match arc.kind {
        ArcKind::Output => (t, place),
        _ => (place, t),
    };
    let mut body = String::new();
    if arc.multiplicity != 1 {
        body += &text_label("inscription", &arc.multiplicity.to_string());
    }
    if !matches!(arc.kind, ArcKind::Input | ArcKind::Output) {
        body += &toolspecific(
            "        ",
            &[format!("<kind value=\"{}\"/>", arc.kind.name())],
        );
    }
    let head = format!("      <arc id=\"a{number}\" source=\"{source}\" target=\"{target}\"");
    if body.is_empty() {
        head + "/>\n"
    } else {
        format!("{head}>\n{body}      </arc>\n")
    }
}

/// The name, and properties that the standard cannot express.
fn labels(indent: &str, name: &str, own: &[String]) -> String {
    let text = escape(printable(name)).into_owned();
    let mut out = format!("{indent}<name><text>{text}</text></name>\n");
    let mut own = own.to_vec();
    if name.trim_ascii() != name {
        own.push(format!("<name value=\"{text}\"/>"));
    }
    if !own.is_empty() {
        out += &toolspecific(indent, &own);
    }
    out
}

fn toolspecific(indent: &str, elements: &[String]) -> String {
    let mut out = format!("{indent}<toolspecific tool=\"inorder\" version=\"1\">\n");
    for element in elements {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{indent}  {element}");
    }
    out + indent + "</toolspecific>\n"
}

fn text_label(name: &str, text: &str) -> String {
    format!("        <{name}><text>{text}</text></{name}>\n")
}

fn timing(timing: &Timing) -> String {
    match timing {
        Timing::Immediate { priority, weight } => {
            format!("kind=\"immediate\" priority=\"{priority}\" weight=\"{weight}\"")
        }
        Timing::Exponential { rate } => format!("kind=\"exponential\" rate=\"{rate}\""),
        Timing::Deterministic { delay } => format!("kind=\"deterministic\" delay=\"{delay}\""),
        Timing::Uniform { low, high } => {
            format!("kind=\"uniform\" low=\"{low}\" high=\"{high}\"")
        }
        Timing::Erlang { stages, rate } => {
            format!("kind=\"erlang\" stages=\"{stages}\" rate=\"{rate}\"")
        }
        Timing::Drawn(drawn) => {
            let parameter = |(name, value)| format!(" {name}=\"{value}\"");
            let parameters: String = drawn.parameters().map(parameter).collect();
            format!("kind=\"{}\"{parameters}", drawn.family().name)
        }
        Timing::Empirical { values } => {
            let value = |v: &Observation| format!("{}:{}", v.delay, v.weight);
            let values: Vec<String> = values.iter().map(value).collect();
            format!("kind=\"empirical\" values=\"{}\"", values.join(" "))
        }
    }
}

/// A name without control characters, which XML cannot represent.
fn printable(name: &str) -> String {
    name.chars()
        .map(|c| {
            if c.is_control() {
                char::REPLACEMENT_CHARACTER
            } else {
                c
            }
        })
        .collect()
}
