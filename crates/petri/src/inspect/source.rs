//! Nets in any of their formats.

use crate::net::Net;
use crate::parameters::Parameters;
use crate::{pnml, text, tina};

/// With this line the `.net` files of GreatSPN's older programs begin.
const OLD_GREATSPN: &str = "|0|";

/// What is wrong with the text of a net.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}{}: {problem}", at(*.line))]
pub struct ReadError {
    /// The name of the net's file.
    pub name: String,
    /// Line, from 1; 0 if the mistake has no place.
    pub line: u32,
    /// What is wrong and what was expected.
    pub problem: String,
}

fn at(line: u32) -> String {
    match line {
        0 => String::new(),
        _ => format!(":{line}"),
    }
}

/// Reads a net: PNML if it begins with `<`, TINA's format if it looks like it, otherwise the text format.
///
/// # Errors
/// The first mistake in it.
pub fn read(name: &str, bytes: &[u8]) -> Result<Net, ReadError> {
    read_with(name, bytes, &mut Parameters::default())
}

/// The same with values of the net's parameters, which then hold what the net declares.
///
/// # Errors
/// The first mistake in it.
pub fn read_with(name: &str, bytes: &[u8], parameters: &mut Parameters) -> Result<Net, ReadError> {
    let wrong = |line: u32, problem: String| ReadError {
        name: name.to_owned(),
        line,
        problem,
    };
    let net = net_of(name, bytes, parameters).map_err(|(line, problem)| wrong(line, problem))?;
    if net.places.is_empty() && net.transitions.is_empty() {
        let problem = "expected places and transitions, found none";
        return Err(wrong(0, problem.to_owned()));
    }
    Ok(net)
}

/// Whether the first character is that of a document, in UTF-8 or, behind a byte order mark, in UTF-16.
fn is_xml(bytes: &[u8]) -> bool {
    let starts: [&[u8]; 3] = [b"\xef\xbb\xbf<", b"\xff\xfe<\0", b"\xfe\xff\0<"];
    bytes.trim_ascii_start().starts_with(b"<")
        || starts.iter().any(|start| bytes.starts_with(start))
}

/// The net in whichever format, or the line of the first mistake and what it is.
fn net_of(name: &str, bytes: &[u8], parameters: &mut Parameters) -> Result<Net, (u32, String)> {
    if is_xml(bytes) {
        return pnml::read_with(name, bytes, parameters)
            .map_err(|error| (error.line, format!("{}{}", error.element, error.mistake)));
    }
    let Ok(source) = std::str::from_utf8(bytes) else {
        return Err((0, "expected text or PNML, found other bytes".to_owned()));
    };
    if source.starts_with(OLD_GREATSPN) {
        let problem = "expected a project of GreatSPN (PNPRO) or PNML, found a .net file of its older programs; its editor \
                       reads them and saves either";
        return Err((1, problem.to_owned()));
    }
    let read = match tina::is_tina(source) {
        true => tina::read(name, source),
        false => text::read_with(name, source, parameters),
    };
    read.map_err(|error| (error.line, error.mistake.to_string()))
}
