//! Numbers in nets as expressions of named constants: `2 * rate`, `(n + 1) / 3`.

use std::collections::BTreeMap;

/// Values of constants, by name.
pub(crate) type Values = BTreeMap<String, f64>;

/// Parentheses and signs may be nested this deep.
const DEEPEST: u32 = 100;

/// Why a text is no number: what was expected and what was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) expected: String,
    pub(crate) found: String,
}

/// The value of an expression of numbers, constants, `+ - * /` and parentheses.
pub(crate) fn value(text: &str, constants: &Values) -> Result<f64, Wrong> {
    let mut parser = Parser {
        rest: text,
        constants,
        depth: 0,
    };
    let value = parser.sum()?;
    match parser.peek() {
        None => Ok(value),
        Some(found) => Err(wrong("the end of the number", found)),
    }
}

/// The value of an expression as a whole number.
pub(crate) fn whole(text: &str, constants: &Values) -> Result<u32, Wrong> {
    let number = value(text, constants)?;
    let is_whole = number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number);
    match is_whole {
        true => Ok(number as u32),
        false => Err(wrong("a whole number, at most 4294967295", number)),
    }
}

fn wrong(expected: impl Into<String>, found: impl std::fmt::Display) -> Wrong {
    Wrong {
        expected: expected.into(),
        found: found.to_string(),
    }
}

struct Parser<'a> {
    rest: &'a str,
    constants: &'a Values,
    depth: u32,
}

impl<'a> Parser<'a> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.rest = &self.rest[wanted.len_utf8()..];
        }
        found
    }

    /// The text up to the first character that does not fit.
    fn taken(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !fits(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn sum(&mut self) -> Result<f64, Wrong> {
        let mut sum = self.product()?;
        loop {
            if self.take('+') {
                sum += self.product()?;
            } else if self.take('-') {
                sum -= self.product()?;
            } else {
                return Ok(sum);
            }
        }
    }

    fn product(&mut self) -> Result<f64, Wrong> {
        let mut product = self.factor()?;
        loop {
            if self.take('*') {
                product *= self.factor()?;
            } else if self.take('/') {
                product /= self.factor()?;
            } else {
                return Ok(product);
            }
        }
    }

    fn factor(&mut self) -> Result<f64, Wrong> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let expected = format!("an expression at most {DEEPEST} deep");
            return Err(wrong(expected, "a deeper one"));
        }
        let value = match self.peek() {
            Some('-') => {
                self.take('-');
                -self.factor()?
            }
            Some('(') => {
                self.take('(');
                let value = self.sum()?;
                if !self.take(')') {
                    let found = self.peek().map_or("the end".to_owned(), String::from);
                    return Err(wrong(")", found));
                }
                value
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number()?,
            Some(c) if is_part(c) => self.constant()?,
            Some(found) => return Err(wrong("a number or the name of a constant", found)),
            None => return Err(wrong("a number or the name of a constant", "nothing")),
        };
        self.depth -= 1;
        Ok(value)
    }

    /// Digits with a point and an exponent, whose sign belongs to the number.
    fn number(&mut self) -> Result<f64, Wrong> {
        let start = self.rest;
        self.taken(|c| c.is_ascii_digit() || c == '.');
        if self.rest.starts_with(['e', 'E']) {
            self.rest = &self.rest[1..];
            self.rest = self.rest.strip_prefix(['+', '-']).unwrap_or(self.rest);
            self.taken(|c| c.is_ascii_digit());
        }
        let text = &start[..start.len() - self.rest.len()];
        text.parse().map_err(|_| wrong("a number", text))
    }

    fn constant(&mut self) -> Result<f64, Wrong> {
        let name = self.taken(is_part);
        if let Some(&value) = self.constants.get(name) {
            return Ok(value);
        }
        let known = self.constants.keys().map(String::as_str);
        let nearest = inorder_base::names::nearest(name, known);
        let hint = nearest.map_or_else(String::new, |near| format!("; did you mean {near}?"));
        Err(wrong(
            "a number or the name of a constant",
            format!("{name}{hint}"),
        ))
    }
}

/// Whether a name may contain this character.
pub(crate) fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_bind_closer_than_sums() {
        let constants = Values::from([("n".to_owned(), 4.0), ("rate_1".to_owned(), 0.5)]);
        let of = |text: &str| value(text, &constants);
        assert_eq!(of("1 + 2*n"), Ok(9.0));
        assert_eq!(of("-(n - 6) / 4 * 1e1"), Ok(5.0));
        assert_eq!(of("2*rate_1-1.5e-1"), Ok(0.85));
        assert_eq!(whole("n*n-1", &constants), Ok(15));
        let found = |text: &str| of(text).unwrap_err().found;
        assert_eq!(found("2 * m"), "m; did you mean n?");
        assert_eq!(found("2 +"), "nothing");
        assert_eq!(found("(2"), "the end");
        assert_eq!(found("#P * 2"), "#");
        assert_eq!(found("1.2.3"), "1.2.3");
        assert_eq!(
            whole("n / 3", &constants).unwrap_err().found,
            (4.0 / 3.0).to_string()
        );
        assert!(of(&"(".repeat(1000)).is_err());
    }
}
