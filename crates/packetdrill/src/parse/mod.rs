//! Parses text into a [`Script`].

mod call;
mod packet;
mod scanner;
mod time;

use thiserror::Error;

use crate::script::{Event, Script, Setting, What, When};
use scanner::Scanner;

/// Why text is not a script.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: expected {expected}, found {found}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: usize,
    /// What was expected there.
    pub expected: String,
    /// What was found there.
    pub found: String,
}

/// Parses a script.
///
/// Statements of the language that this subset does not support (packets of other protocols, encapsulation) become
/// [`What::Unsupported`]; text that is not in the language is an error.
pub fn parse(text: &str) -> Result<Script, ParseError> {
    let mut scanner = Scanner::new(text);
    let mut script = Script::default();
    loop {
        scanner.skip_blank()?;
        if scanner.at_end() {
            // A script without events cannot fail, so it must not pass.
            return match script.events.is_empty() {
                true => Err(scanner.error("a statement")),
                false => Ok(script),
            };
        }
        if scanner.rest().starts_with("--") {
            script.options.push(setting(&mut scanner));
        } else {
            script.events.push(event(&mut scanner)?);
        }
    }
}

fn setting(scanner: &mut Scanner<'_>) -> Setting {
    let line = scanner.line();
    scanner.take("--");
    let text = scanner.rest_of_line();
    let text = text.split("//").next().unwrap_or_default().trim();
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    Setting {
        line,
        name: name.trim().to_owned(),
        value: value.trim().to_owned(),
    }
}

fn event(scanner: &mut Scanner<'_>) -> Result<Event, ParseError> {
    let line = scanner.line();
    let (when, until) = match scanner.peek() {
        Some('`' | '%') => (When::Same, None),
        _ => time::when(scanner)?,
    };
    scanner.skip_space();
    let what = match scanner.peek() {
        Some('<' | '>') => packet::packet(scanner)?,
        Some('`') => {
            scanner.take("`");
            What::Command(scanner.until("`")?.to_owned())
        }
        Some('%') => {
            scanner.expect("%{")?;
            What::Code(scanner.until("}%")?.to_owned())
        }
        Some(c) if c.is_ascii_alphabetic() => What::Call(call::call(scanner)?),
        _ => return Err(scanner.error("`<`, `>`, a command, code or a call")),
    };
    Ok(Event {
        line,
        when,
        until,
        what,
    })
}
