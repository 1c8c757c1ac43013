//! Nets in any of their formats.

use crate::net::Net;
use crate::parameters::Parameters;
use crate::text::{Mistake, ReadError};
use crate::{pnml, text, tina};

/// With this line the `.net` files of GreatSPN's older programs begin.
const OLD_GREATSPN: &str = "|0|";

/// Reads a net: PNML if it begins with `<`, TINA's format if it looks like it, otherwise the text format.
///
/// # Errors
/// The first mistake in it.
pub fn read(name: &str, bytes: &[u8]) -> Result<Net, ReadError> {
    read_with(name, bytes, &mut Parameters::default())
}

/// Reads a net with values of its parameters, which then hold what the net declares.
///
/// # Errors
/// The first mistake in it.
pub fn read_with(name: &str, bytes: &[u8], parameters: &mut Parameters) -> Result<Net, ReadError> {
    let net = net_of(name, bytes, parameters)?;
    if net.places.is_empty() && net.transitions.is_empty() {
        let mistake = Mistake::unexpected("places and transitions", "none");
        return Err(ReadError::at(0, mistake).in_file(name));
    }
    Ok(net)
}

/// Whether the first character is that of a document, in UTF-8 or, behind a byte order mark, in UTF-16.
fn is_xml(bytes: &[u8]) -> bool {
    let starts: [&[u8]; 3] = [b"\xef\xbb\xbf<", b"\xff\xfe<\0", b"\xfe\xff\0<"];
    bytes.trim_ascii_start().starts_with(b"<")
        || starts.iter().any(|start| bytes.starts_with(start))
}

/// The net in whichever format.
fn net_of(name: &str, bytes: &[u8], parameters: &mut Parameters) -> Result<Net, ReadError> {
    if is_xml(bytes) {
        return pnml::read_with(name, bytes, parameters);
    }
    let wrong = |line, expected: &str, found: &str| {
        ReadError::at(line, Mistake::unexpected(expected, found)).in_file(name)
    };
    let Ok(source) = std::str::from_utf8(bytes) else {
        return Err(wrong(0, "text or PNML", "other bytes"));
    };
    if source.starts_with(OLD_GREATSPN) {
        let found = "a .net file of its older programs; its editor reads them and saves either";
        return Err(wrong(1, "a project of GreatSPN (PNPRO) or PNML", found));
    }
    match tina::is_tina(source) {
        true => tina::read(name, source),
        false => text::read_with(name, source, parameters),
    }
}
