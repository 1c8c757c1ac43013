//! Socket calls: `setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0`.

use super::{ParseError, scanner::Scanner};
use crate::script::{Call, Value};

/// Maximum nesting of lists and structures.
const DEPTH: usize = 16;

pub(super) fn call(scanner: &mut Scanner<'_>) -> Result<Call, ParseError> {
    let name = scanner.word().to_owned();
    scanner.expect("(")?;
    let arguments = values(scanner, ")", DEPTH)?;
    scanner.expect("=")?;
    let result = result(scanner)?;
    Ok(Call {
        name,
        arguments,
        result,
        errno: errno(scanner)?,
    })
}

fn result(scanner: &mut Scanner<'_>) -> Result<Option<i64>, ParseError> {
    scanner.skip_space();
    if scanner.take("...") {
        return Ok(None);
    }
    integer(scanner).map(Some)
}

/// An error name and its text in parentheses, on the same line.
fn errno(scanner: &mut Scanner<'_>) -> Result<Option<String>, ParseError> {
    scanner.run(|c| c == ' ' || c == '\t');
    let name = scanner
        .run(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
        .to_owned();
    scanner.run(|c| c == ' ' || c == '\t');
    if scanner.take("(") {
        scanner.until(")")?;
    }
    Ok((!name.is_empty()).then_some(name))
}

fn values(scanner: &mut Scanner<'_>, end: &str, depth: usize) -> Result<Vec<Value>, ParseError> {
    let mut list = Vec::new();
    loop {
        scanner.skip_blank()?;
        if scanner.take(end) {
            return Ok(list);
        }
        if !list.is_empty() {
            scanner.expect(",")?;
            scanner.skip_blank()?;
        }
        list.push(value(scanner, depth)?);
    }
}

fn value(scanner: &mut Scanner<'_>, depth: usize) -> Result<Value, ParseError> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(scanner.error("less nesting"));
    };
    match scanner.peek() {
        Some('.') => scanner.expect("...").map(|()| Value::Ellipsis),
        Some('[') => {
            scanner.take("[");
            values(scanner, "]", depth).map(Value::List)
        }
        Some('{') => {
            scanner.take("{");
            members(scanner, depth).map(Value::Struct)
        }
        Some('"') => {
            scanner.take("\"");
            Ok(Value::Text(scanner.until("\"")?.to_owned()))
        }
        Some(c) if c.is_ascii_digit() || c == '-' => integer(scanner).map(Value::Integer),
        Some(c) if c.is_ascii_alphabetic() || c == '_' => Ok(Value::Name(names(scanner))),
        _ => Err(scanner.error("an argument")),
    }
}

/// Constants joined by `|`, written without spaces; `htons(8080)` and similar calls keep their argument.
fn names(scanner: &mut Scanner<'_>) -> String {
    let mut text = scanner.word().to_owned();
    loop {
        let before = scanner.clone();
        scanner.skip_space();
        if scanner.take("|") {
            text.push('|');
            text.push_str(scanner.word());
        } else if scanner.take("(") {
            let Ok(inner) = scanner.until(")") else {
                *scanner = before;
                return text;
            };
            text.push_str(&format!("({inner})"));
        } else {
            *scanner = before;
            return text;
        }
    }
}

/// `name=value` or `.name=value`, or a bare value.
fn members(scanner: &mut Scanner<'_>, depth: usize) -> Result<Vec<(String, Value)>, ParseError> {
    let mut list = Vec::new();
    loop {
        scanner.skip_blank()?;
        if scanner.take("}") {
            return Ok(list);
        }
        if !list.is_empty() {
            scanner.expect(",")?;
            scanner.skip_blank()?;
        }
        let before = scanner.clone();
        if !scanner.rest().starts_with("...") {
            scanner.take(".");
        }
        let name = scanner.word().to_owned();
        // The length of what a member points to, as in `msg_iov(2)=[...]`, follows from the value.
        if !name.is_empty() && scanner.take("(") {
            scanner.until(")")?;
        }
        scanner.skip_space();
        if !name.is_empty() && (scanner.take("=") || scanner.take(":")) {
            scanner.skip_blank()?;
            list.push((name, value(scanner, depth)?));
        } else {
            *scanner = before;
            list.push((String::new(), value(scanner, depth)?));
        }
    }
}

fn integer(scanner: &mut Scanner<'_>) -> Result<i64, ParseError> {
    scanner.skip_space();
    let before = scanner.clone();
    let negative = scanner.take("-");
    let parsed = if scanner.take("0x") {
        i64::from_str_radix(scanner.run(|c| c.is_ascii_hexdigit()), 16)
    } else {
        scanner.run(|c| c.is_ascii_digit()).parse()
    };
    let number = parsed.map_err(|_| before.error("a number"))?;
    Ok(if negative { -number } else { number })
}
