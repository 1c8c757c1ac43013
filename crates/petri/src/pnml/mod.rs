//! Place/transition nets in PNML (ISO/IEC 15909-2), with timing in `toolspecific`.
//!
//! [`write()`] uses the grammar of 2009: one page, `initialMarking` and `inscription` as text. Properties that the
//! standard cannot express are stored in `<toolspecific tool="inorder" version="1">`:
//!
//! | element | holds |
//! |---|---|
//! | `place` | `<capacity value="7"/>` |
//! | `transition` | `<timing kind="..." .../>` with the numbers of the kind as attributes, `<servers value="2"/>` |
//! | `arc` | `<kind value="inhibitor"/>`, or `read`, `reset` |
//! | any | `<name value="..."/>` for names that begin or end with a space |
//!
//! Kinds of timing and their attributes: `immediate` (`priority`, `weight`), `exponential` (`rate`),
//! `deterministic` (`delay`), `uniform` (`low`, `high`), `erlang` (`stages`, `rate`), `empirical` (`values`, as
//! `delay:weight` separated by spaces), and the [families](crate::net::family) with their parameters.
//!
//! [`read`] accepts the output of many tools: no pages, or nested pages; reference nodes; graphics and unknown
//! `toolspecific`; missing markings and inscriptions (0 and 1); names that are missing or used twice (the id is then
//! used as the name); text with surrounding spaces; special arcs marked by an attribute or an element `type`, `kind`
//! or `arctype`, with the word in `value` or as text; the `<value>` elements, `Default,1` markings and the `timed`,
//! `rate`, `infiniteServer`, `priority` and `capacity` elements of PIPE; UTF-8, UTF-16 and Latin-1. A transition
//! without timing is exponential with rate 1.
//!
//! A net without a `type` is a place/transition net. Those of a type that is neither a place/transition nor a high-level one
//! are refused.
//!
//! Two other formats in XML are recognised and read where they mean such a net, and refused by place where they do not:
//! a project of GreatSPN (PNPRO), and a net of TAPAAL (`.tapn`) in which neither times nor colours matter.
//!
//! Of a file with several nets, the wanted one is chosen by [`Parameters::of_net`]. Elements of other namespaces inside of
//! places, transitions and arcs may change what a net means. They are refused, unless [`Parameters::ignoring`] names them.

mod document;
mod greatspn;
mod interpret;
mod tapaal;
mod timing;
mod tree;
mod write;

pub use write::write;

use crate::net::Net;
use crate::parameters::Parameters;
use crate::text::{Mistake, ReadError, validated};

/// Reads the first net of a PNML document and validates it. `file` is used in error messages.
///
/// ```
/// use inorder_petri::pnml;
///
/// let document = br#"<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet">
///   <place id="p"><initialMarking><text>2</text></initialMarking></place>
///   <transition id="t"/>
///   <arc id="a" source="p" target="q"/>
/// </net></pnml>"#;
/// let error = pnml::read("x.pnml", document).unwrap_err();
/// assert_eq!(error.to_string(), "x.pnml:4: arc a: expected the id of a place or transition, found q; did you mean p?");
/// ```
pub fn read(file: &str, document: &[u8]) -> Result<Net, ReadError> {
    read_with(file, document, &mut Parameters::default())
}

/// Reads a PNML document with values of parameters: the constants of GreatSPN and TAPAAL. PNML itself has none.
pub fn read_with(
    file: &str,
    document: &[u8],
    parameters: &mut Parameters,
) -> Result<Net, ReadError> {
    let valid = net_of(document, parameters).and_then(validated);
    valid.map_err(|error| error.in_file(file))
}

/// Reads the first net of a PNML document without validating it.
pub fn parse(file: &str, document: &[u8]) -> Result<Net, ReadError> {
    let read = net_of(document, &mut Parameters::default());
    read.map_err(|error| error.in_file(file))
}

fn net_of(document: &[u8], parameters: &mut Parameters) -> Result<Net, ReadError> {
    let text = document::text_of(document)?;
    of_element(&tree::parse(&text)?, parameters)
}

/// Reads any bytes; a valid net is written and read again.
#[doc(hidden)]
pub fn fuzz_one(data: &[u8]) {
    let Ok(net) = read("fuzz", data) else { return };
    let again = parse("again", write(&net).as_bytes());
    assert_eq!(again.map(Net::without_lines), Ok(net.without_lines()));
}

/// The first net below `root`, by the form of the program that wrote it.
fn of_element(root: &tree::Element, parameters: &mut Parameters) -> Result<Net, ReadError> {
    if root.name == "project" {
        return greatspn::net(root, parameters);
    }
    if tapaal::is_tapaal(root) {
        return tapaal::net(root, parameters);
    }
    interpret::net(root, parameters)
}

/// The net of a file that is wanted, by the attribute that holds the names, or the only one.
fn chosen<'a>(
    file: &tree::Element,
    nets: &[&'a tree::Element],
    attribute: &str,
    parameters: &Parameters,
) -> Result<&'a tree::Element, ReadError> {
    let name = |net: &&'a tree::Element| net.attribute(attribute).unwrap_or_default();
    if let Some(wanted) = parameters.net() {
        let found = nets.iter().find(|net| name(net) == wanted);
        return found.copied().ok_or_else(|| {
            let known = nets.iter().map(name);
            file.wrong(Mistake::unknown(
                "the name of a net of the file",
                wanted,
                known,
            ))
        });
    }
    match nets {
        [net] => Ok(net),
        [] => Err(file.wrong(Mistake::unexpected("a net", "none"))),
        nets => {
            let names: Vec<&str> = nets.iter().map(name).collect();
            let found = format!("{} nets: {}", nets.len(), names.join(", "));
            let expected = "one net, or the name of the one that is wanted (--net NAME)";
            Err(file.wrong(Mistake::unexpected(expected, found)))
        }
    }
}
