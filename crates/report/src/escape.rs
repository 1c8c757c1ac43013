//! Escapes text from outside in HTML, scripts, CSV and on a terminal, so that it cannot act as markup or commands.
//! (In JSON, `serde_json` escapes.)

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::io::{self, Write};

/// Replaces control characters and those that turn the direction of writing, which must not reach the terminal: names come
/// from outside.
pub fn printable(text: &str) -> String {
    text.chars().map(shown).collect()
}

/// As [`printable`], of a text of several lines.
pub fn printable_lines(text: &str) -> String {
    let line = |c| if c == '\n' { c } else { shown(c) };
    text.chars().map(line).collect()
}

/// The character, or what stands for one that could hide or reverse the surrounding text.
fn shown(c: char) -> char {
    match c {
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

/// A CSV cell, quoted if necessary (RFC 4180 section 2). A spreadsheet would run what begins like a formula, so an apostrophe
/// stands before it unless it is a number.
pub fn csv(text: &str) -> Cow<'_, str> {
    let formula =
        text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
    if formula && text.len() > 1 {
        return Cow::Owned(quoted(&format!("'{text}")).into_owned());
    }
    quoted(text)
}

fn quoted(text: &str) -> Cow<'_, str> {
    if text.contains(['"', ',', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}

/// Shows text inside an element or a quoted attribute.
pub struct Text<'a>(pub &'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '\n' => f.write_char(c)?,
                c => f.write_char(shown(c))?,
            }
        }
        Ok(())
    }
}

/// Writes JSON into a `<script>` element: `<`, `>` and `&` become escapes.
///
/// In JSON these characters occur only inside strings, where `\u003c` means the same. So no string can end the
/// element or begin a comment.
pub struct ScriptJson<W>(pub W);

impl<W: Write> Write for ScriptJson<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        for part in bytes.split_inclusive(|b| matches!(b, b'<' | b'>' | b'&')) {
            let (safe, escape) = match part.split_last() {
                Some((b'<', safe)) => (safe, "\\u003c"),
                Some((b'>', safe)) => (safe, "\\u003e"),
                Some((b'&', safe)) => (safe, "\\u0026"),
                _ => (part, ""),
            };
            self.0.write_all(safe)?;
            self.0.write_all(escape.as_bytes())?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(printable("a\x1b[2Jb\n"), "a\u{fffd}[2Jb\u{fffd}");
        assert_eq!(printable_lines("a\u{202e}\nb\r"), "a\u{fffd}\nb\u{fffd}");
    }

    #[test]
    fn cells_are_quoted_when_they_must_be() {
        assert_eq!(csv("plain text"), "plain text");
        assert_eq!(csv("a,b"), "\"a,b\"");
        assert_eq!(csv("say \"no\"\n"), "\"say \"\"no\"\"\n\"");
        assert_eq!(csv("=cmd|'/c'!A1"), "'=cmd|'/c'!A1");
        assert_eq!(csv("@a,b"), "\"'@a,b\"");
        assert_eq!((csv("-1.5").as_ref(), csv("-").as_ref()), ("-1.5", "-"));
    }

    #[test]
    fn text_cannot_become_markup() {
        let evil = "<script>alert('1')</script>&\"\x1b\u{202e}";
        assert_eq!(
            Text(evil).to_string(),
            "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;&quot;\u{fffd}\u{fffd}"
        );
    }

    #[test]
    fn escaped_json_means_the_same_and_cannot_end_the_script() {
        let evil = "</script><!-- & ]]>é";
        let mut out = ScriptJson(Vec::new());
        serde_json::to_writer(&mut out, evil).unwrap();
        let text = String::from_utf8(out.0).unwrap();
        assert!(!text.contains(['<', '>', '&']));
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), evil);
    }
}
