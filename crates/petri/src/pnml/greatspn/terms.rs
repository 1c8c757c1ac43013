//! Tokens and guards of GreatSPN's nets with colours, as terms of symmetric nets.

use super::colours::{Colours, constant, over};
use super::{mistaken, wrong};
use crate::arithmetic;
use crate::net::Line;
use crate::pnml::tree::Element;
use crate::text::{Mistake, ReadError};

/// Parentheses and negations may be nested this deep.
const DEEPEST: u32 = 100;

impl Colours<'_, '_> {
    /// The term of tokens of a class, or of plain ones without a class.
    pub(super) fn tokens(
        &self,
        node: &Element,
        text: &str,
        class: &str,
    ) -> Result<Element, ReadError> {
        let line = node.line;
        let text = self.multisets.get(text).copied().unwrap_or(text);
        if class.is_empty() {
            return Ok(times(
                self.whole(node, text)?,
                Element::made("dotconstant", line),
            ));
        }
        let inner = text
            .strip_prefix('(')
            .and_then(|text| text.strip_suffix(')'));
        let mut cursor = Cursor::of(node, inner.unwrap_or(text));
        let (mut added, mut taken) = (vec![self.summand(&mut cursor, class)?], Vec::new());
        loop {
            if cursor.takes("+") {
                added.push(self.summand(&mut cursor, class)?);
            } else if cursor.takes("-") {
                taken.push(self.summand(&mut cursor, class)?);
            } else {
                cursor.end()?;
                return Ok(difference(line, added, taken));
            }
        }
    }

    fn whole(&self, node: &Element, text: &str) -> Result<u32, ReadError> {
        let number = arithmetic::whole(text, self.constants);
        number.map_err(|error| mistaken(node, error))
    }

    /// Tokens as `2<x, All - y>`.
    fn summand(&self, cursor: &mut Cursor<'_>, class: &str) -> Result<Element, ReadError> {
        let node = cursor.node;
        let factor = match cursor.until_any(&['<', '+', '-']).trim() {
            "" => 1,
            text => self.whole(node, text)?,
        };
        cursor.expect("<")?;
        let mut tuple = Vec::new();
        for part in self.parts(class) {
            if !tuple.is_empty() {
                cursor.expect(",")?;
            }
            tuple.push(self.part(cursor, part)?);
        }
        cursor.expect(">")?;
        Ok(times(factor, over("tuple", node.line, tuple)))
    }

    /// What stands at one position of a tuple: values that are added or taken away.
    fn part(&self, cursor: &mut Cursor<'_>, class: &str) -> Result<Element, ReadError> {
        let (mut added, mut taken) = (vec![self.values(cursor, class)?], Vec::new());
        loop {
            if cursor.takes("+") {
                added.push(self.values(cursor, class)?);
            } else if cursor.takes("-") {
                taken.push(self.values(cursor, class)?);
            } else {
                return Ok(difference(cursor.node.line, added, taken));
            }
        }
    }

    /// One value, or all of the class or of a subclass.
    fn values(&self, cursor: &mut Cursor<'_>, class: &str) -> Result<Element, ReadError> {
        let (word, line) = (cursor.peek_word(), cursor.node.line);
        let subclasses = self.classes.get(class).map(|of| &of.subclasses);
        if word == "All" {
            cursor.word();
            return Ok(Element::made("all", line).holding([self.sort(cursor.node, class)?]));
        }
        if let Some(values) = subclasses.and_then(|subclasses| subclasses.get(word)) {
            cursor.word();
            self.spend(cursor.node, values.len())?;
            let values = values.iter().map(|value| constant(class, value, line));
            return Ok(over("add", line, values));
        }
        self.value(cursor, Some(class))
    }

    /// A variable, the value next to it, or a value of the class.
    fn value(&self, cursor: &mut Cursor<'_>, class: Option<&str>) -> Result<Element, ReadError> {
        let (word, line) = (cursor.word(), cursor.node.line);
        let Some(&of) = self.variables.get(word) else {
            let class = class.filter(|class| {
                let of = self.classes.get(class);
                of.is_some_and(|of| of.values.iter().any(|value| value == word))
            });
            let known = self.variables.keys().copied();
            return class
                .map(|class| constant(class, word, line))
                .ok_or_else(|| {
                    let expected = "a variable or a value of the class";
                    wrong(cursor.node, Mistake::unknown(expected, word, known))
                });
        };
        let variable = Element::made("variable", line).with("refvariable", word);
        let name = match (cursor.takes("++"), cursor.takes("--")) {
            (true, _) => "successor",
            (_, true) => "predecessor",
            _ => return Ok(variable),
        };
        match self.classes.get(of) {
            Some(class) if class.is_circular => Ok(over(name, line, [variable])),
            _ => Err(cursor.found("a variable of a circular class before ++ or --", word)),
        }
    }

    /// A guard.
    pub(super) fn guard(&self, cursor: &mut Cursor<'_>) -> Result<Element, ReadError> {
        let mut any = vec![self.and(cursor)?];
        while cursor.takes("||") {
            any.push(self.and(cursor)?);
        }
        Ok(over("or", cursor.node.line, any))
    }

    fn and(&self, cursor: &mut Cursor<'_>) -> Result<Element, ReadError> {
        let mut all = vec![self.comparison(cursor)?];
        while cursor.takes("&&") {
            all.push(self.comparison(cursor)?);
        }
        Ok(over("and", cursor.node.line, all))
    }

    fn comparison(&self, cursor: &mut Cursor<'_>) -> Result<Element, ReadError> {
        cursor.depth += 1;
        if cursor.depth > DEEPEST {
            return Err(cursor.found(&format!("a guard at most {DEEPEST} deep"), "a deeper one"));
        }
        let line = cursor.node.line;
        let found = if cursor.takes("(") {
            let inner = self.guard(cursor)?;
            cursor.expect(")")?;
            inner
        } else if cursor.takes("!") {
            over("not", line, [self.comparison(cursor)?])
        } else {
            let class = self.variables.get(cursor.peek_word()).copied();
            let left = self.value(cursor, class)?;
            if cursor.takes("==") {
                over("equality", line, [left, self.value(cursor, class)?])
            } else if cursor.takes("!=") {
                over("inequality", line, [left, self.value(cursor, class)?])
            } else {
                let is_not = cursor.takes("!");
                cursor.expect("in")?;
                let name = cursor.word();
                let of = class.and_then(|class| self.classes.get(class)?.subclasses.get(name));
                let Some((values, class)) = of.zip(class) else {
                    return Err(cursor.found("a subclass", name));
                };
                let is = |value: &String| {
                    over(
                        "equality",
                        line,
                        [left.clone(), constant(class, value, line)],
                    )
                };
                let any = over("or", line, values.iter().map(is));
                if is_not {
                    over("not", line, [any])
                } else {
                    any
                }
            }
        };
        cursor.depth -= 1;
        Ok(found)
    }
}

/// A number of times the same tokens.
fn times(factor: u32, tokens: Element) -> Element {
    let number = Element::made("numberconstant", tokens.line).with("value", &factor.to_string());
    over("numberof", tokens.line, [number, tokens])
}

fn difference(line: Line, mut added: Vec<Element>, taken: Vec<Element>) -> Element {
    if added.len() == 1 && taken.is_empty() {
        return added.remove(0);
    }
    let sums = [over("add", line, added), over("add", line, taken)];
    over("subtract", line, sums)
}

/// What is left of the text of an attribute.
pub(super) struct Cursor<'t> {
    pub(super) node: &'t Element,
    rest: &'t str,
    depth: u32,
}

impl<'t> Cursor<'t> {
    pub(super) fn of(node: &'t Element, text: &'t str) -> Self {
        let (rest, depth) = (text.trim(), 0);
        Self { node, rest, depth }
    }

    /// Steps over a word or a sign, if it is next.
    pub(super) fn takes(&mut self, wanted: &str) -> bool {
        let is_word = wanted.starts_with(char::is_alphabetic);
        let is_next = match is_word {
            true => self.peek_word() == wanted,
            false => self.rest.starts_with(wanted),
        };
        if is_next {
            self.skip(wanted.len());
        }
        is_next
    }

    pub(super) fn expect(&mut self, wanted: &str) -> Result<(), ReadError> {
        match self.takes(wanted) {
            true => Ok(()),
            false => Err(self.found(wanted, self.rest)),
        }
    }

    pub(super) fn end(&self) -> Result<(), ReadError> {
        match self.rest {
            "" => Ok(()),
            rest => Err(self.found("the end of the expression", rest)),
        }
    }

    fn peek_word(&self) -> &'t str {
        let is_other = |c: char| !c.is_alphanumeric() && c != '_';
        &self.rest[..self.rest.find(is_other).unwrap_or(self.rest.len())]
    }

    pub(super) fn word(&mut self) -> &'t str {
        let word = self.peek_word();
        self.skip(word.len());
        word
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest[bytes..].trim_start();
    }

    /// The text up to the first of these characters.
    fn until_any(&mut self, ends: &[char]) -> &'t str {
        let text = &self.rest[..self.rest.find(ends).unwrap_or(self.rest.len())];
        self.skip(text.len());
        text
    }

    pub(super) fn until(&mut self, end: char) -> Result<&'t str, ReadError> {
        let text = self.until_any(&[end]);
        self.expect(&end.to_string())?;
        Ok(text)
    }

    fn found(&self, expected: &str, found: &str) -> ReadError {
        let found = if found.is_empty() {
            "the end of the expression"
        } else {
            found
        };
        wrong(self.node, Mistake::unexpected(expected, found))
    }
}
