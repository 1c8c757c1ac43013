//! Escapes text from outside in HTML, scripts, CSV and on a terminal, so that it cannot act as markup or commands.
//! (In JSON, `serde_json` escapes.)

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};

/// Removes control characters, which must not reach the terminal: names come from outside.
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}

/// A CSV cell, quoted if necessary (RFC 4180 section 2).
pub fn csv(text: &str) -> Cow<'_, str> {
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
                // Control and bidirectional characters could hide or reverse the surrounding text.
                c if c.is_control() && c != '\n' => f.write_str("\u{fffd}")?,
                '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => f.write_str("\u{fffd}")?,
                c => write!(f, "{c}")?,
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
    }

    #[test]
    fn cells_are_quoted_when_they_must_be() {
        assert_eq!(csv("plain text"), "plain text");
        assert_eq!(csv("a,b"), "\"a,b\"");
        assert_eq!(csv("say \"no\"\n"), "\"say \"\"no\"\"\n\"");
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
