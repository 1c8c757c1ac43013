//! Decodes the bytes of a document.

use crate::text::{Mistake, ReadError};
use std::borrow::Cow;

/// The characters of a document in UTF-8, UTF-16 (by its byte order mark) or Latin-1 (by its declaration).
pub(super) fn text_of(bytes: &[u8]) -> Result<Cow<'_, str>, ReadError> {
    match bytes {
        [0xfe, 0xff, rest @ ..] => Ok(utf16(rest, u16::from_be_bytes).into()),
        [0xff, 0xfe, rest @ ..] => Ok(utf16(rest, u16::from_le_bytes).into()),
        _ if says_latin1(bytes) => Ok(bytes
            .iter()
            .map(|&b| char::from(b))
            .collect::<String>()
            .into()),
        _ => utf8(bytes).map(Cow::from),
    }
}

fn utf8(bytes: &[u8]) -> Result<&str, ReadError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let lines = before.iter().filter(|&&b| b == b'\n').count();
        ReadError::at(
            u32::try_from(lines + 1).unwrap_or(u32::MAX),
            Mistake::unexpected("UTF-8", "other bytes, and no encoding is declared"),
        )
    })
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    let chars = char::decode_utf16(units);
    chars
        .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

/// True if the XML declaration names an encoding with one byte per character.
fn says_latin1(bytes: &[u8]) -> bool {
    let head = bytes[..bytes.len().min(200)].to_ascii_lowercase();
    let declaration = head.split(|&b| b == b'>').next().unwrap_or_default();
    let names: [&[u8]; 3] = [b"iso-8859-1", b"latin1", b"windows-1252"];
    let contains = |name: &[u8]| declaration.windows(name.len()).any(|w| w == name);
    declaration.starts_with(b"<?xml") && names.into_iter().any(contains)
}
