//! From words to queries.

use super::formula::{Comparison, Formula, Paths, Sum};
use super::words::{Word, words};
use super::{Query, QueryError};
use crate::net::{Net, TransitionId};
use crate::text::Mistake;

/// Maximum number of open parentheses and prefixes, because parsing and evaluation are recursive.
const DEEPEST: usize = 100;

/// Words that are never names, unless in quotes.
const KEYWORDS: [&str; 13] = [
    "EX", "AX", "EF", "AF", "EG", "AG", "true", "false", "deadlock", "enabled", "and", "or", "not",
];

/// What an expression denotes.
enum Value {
    Number(Sum),
    Condition(Formula),
}

/// Puts an operator of paths in front of a formula.
type OfPaths = fn(Paths, Box<Formula>) -> Formula;

struct Parser<'a> {
    net: &'a Net,
    words: Vec<(usize, Word)>,
    at: usize,
    depth: usize,
}

pub(super) fn query(text: &str, net: &Net) -> Result<Query, QueryError> {
    let words = words(text)?;
    let mut parser = Parser {
        net,
        words,
        at: 0,
        depth: 0,
    };
    let query = parser.query()?;
    match parser.word() {
        Word::End => Ok(query),
        _ => Err(parser.unexpected("an operator or the end of the query")),
    }
}

impl Parser<'_> {
    fn query(&mut self) -> Result<Query, QueryError> {
        let is_call = matches!(self.words.get(1), Some((_, Word::Symbol("("))));
        match self.word() {
            Word::Name(name) if is_call && name == "P" => {
                self.at += 1;
                let column = self.column();
                let condition = self.condition_of(Self::primary)?;
                Ok(Query::Mean(number(Value::Condition(condition), column)?))
            }
            Word::Name(name) if is_call && name == "E" => {
                self.at += 1;
                let column = self.column();
                let value = self.primary()?;
                Ok(Query::Mean(number(value, column)?))
            }
            _ => Ok(Query::Holds(self.condition_of(Self::expression)?)),
        }
    }

    fn word(&self) -> Word {
        self.words[self.at].1.clone()
    }

    fn column(&self) -> usize {
        self.words[self.at].0
    }

    fn next(&mut self) -> Word {
        let word = self.word();
        self.at = (self.at + 1).min(self.words.len() - 1);
        word
    }

    /// Consumes the next word if it is one of these symbols or keywords.
    fn take(&mut self, wanted: &[&str]) -> bool {
        let is_wanted = match &self.words[self.at].1 {
            Word::Symbol(symbol) => wanted.contains(symbol),
            Word::Name(name) => wanted.contains(&name.as_str()),
            _ => false,
        };
        if is_wanted {
            self.at += 1;
        }
        is_wanted
    }

    fn require(&mut self, symbol: &'static str) -> Result<(), QueryError> {
        if self.take(&[symbol]) {
            return Ok(());
        }
        Err(self.unexpected(symbol))
    }

    fn unexpected(&self, expected: &str) -> QueryError {
        error_at(self.column(), expected, &self.word().text())
    }

    /// What `parse` reads, which must be a condition or formula.
    fn condition_of(
        &mut self,
        parse: fn(&mut Self) -> Result<Value, QueryError>,
    ) -> Result<Formula, QueryError> {
        let column = self.column();
        condition(parse(self)?, column)
    }

    /// `f => g`, `f | g`, `f & g` and below.
    fn expression(&mut self) -> Result<Value, QueryError> {
        self.deeper(|parser| {
            let column = parser.column();
            let first = parser.disjunction()?;
            if !parser.take(&["=>"]) {
                return Ok(first);
            }
            let premise = condition(first, column)?;
            let conclusion = parser.condition_of(Self::expression)?;
            let not = Formula::Not(Box::new(premise));
            Ok(Value::Condition(Formula::Or(vec![not, conclusion])))
        })
    }

    fn disjunction(&mut self) -> Result<Value, QueryError> {
        self.joined(&["|", "||", "or"], Self::conjunction, Formula::Or)
    }

    fn conjunction(&mut self) -> Result<Value, QueryError> {
        self.joined(&["&", "&&", "and"], Self::prefixed, Formula::And)
    }

    fn joined(
        &mut self,
        operators: &[&str],
        part: fn(&mut Self) -> Result<Value, QueryError>,
        join: fn(Vec<Formula>) -> Formula,
    ) -> Result<Value, QueryError> {
        let column = self.column();
        let first = part(self)?;
        if !self.take(operators) {
            return Ok(first);
        }
        let mut parts = vec![condition(first, column)?, self.condition_of(part)?];
        while self.take(operators) {
            parts.push(self.condition_of(part)?);
        }
        Ok(Value::Condition(join(parts)))
    }

    /// `!` and the operators of paths, which bind more strongly than `&`.
    fn prefixed(&mut self) -> Result<Value, QueryError> {
        self.deeper(|parser| {
            if parser.take(&["!", "not"]) {
                let operand = parser.condition_of(Self::prefixed)?;
                return Ok(Value::Condition(Formula::Not(Box::new(operand))));
            }
            match parser.operator_of_paths() {
                Some((paths, join)) => {
                    let operand = parser.condition_of(Self::prefixed)?;
                    Ok(Value::Condition(join(paths, Box::new(operand))))
                }
                None => parser.comparison(),
            }
        })
    }

    fn operator_of_paths(&mut self) -> Option<(Paths, OfPaths)> {
        let Word::Name(name) = self.word() else {
            return None;
        };
        let (paths, kind) = match name.as_bytes() {
            [b'E', kind] => (Paths::Some, kind),
            [b'A', kind] => (Paths::All, kind),
            _ => return None,
        };
        let join: OfPaths = match kind {
            b'X' => Formula::Next,
            b'F' => Formula::Finally,
            b'G' => Formula::Globally,
            _ => return None,
        };
        self.at += 1;
        Some((paths, join))
    }

    fn comparison(&mut self) -> Result<Value, QueryError> {
        let column = self.column();
        let left = self.sum()?;
        let Some(comparison) = self.operator_of_comparison() else {
            return Ok(left);
        };
        let left = number(left, column)?;
        let column = self.column();
        let right = number(self.sum()?, column)?;
        Ok(Value::Condition(Formula::Compare(left, comparison, right)))
    }

    fn operator_of_comparison(&mut self) -> Option<Comparison> {
        let Word::Symbol(symbol) = self.word() else {
            return None;
        };
        let comparison = match symbol {
            "=" | "==" => Comparison::Equal,
            "!=" | "<>" => Comparison::Different,
            "<" => Comparison::Less,
            "<=" => Comparison::AtMost,
            ">" => Comparison::More,
            ">=" => Comparison::AtLeast,
            _ => return None,
        };
        self.at += 1;
        Some(comparison)
    }

    fn sum(&mut self) -> Result<Value, QueryError> {
        let column = self.column();
        let first = self.product()?;
        let mut parts = Vec::new();
        loop {
            let is_negative = self.take(&["-"]);
            if !is_negative && !self.take(&["+"]) {
                break;
            }
            let at = self.column();
            let part = number(self.product()?, at)?;
            parts.push(if is_negative {
                Sum::Negative(Box::new(part))
            } else {
                part
            });
        }
        if parts.is_empty() {
            return Ok(first);
        }
        parts.insert(0, number(first, column)?);
        Ok(Value::Number(Sum::Total(parts)))
    }

    fn product(&mut self) -> Result<Value, QueryError> {
        let column = self.column();
        let first = self.primary()?;
        if !self.take(&["*"]) {
            return Ok(first);
        }
        let mut parts = vec![number(first, column)?, self.factor()?];
        while self.take(&["*"]) {
            parts.push(self.factor()?);
        }
        Ok(Value::Number(Sum::Product(parts)))
    }

    fn factor(&mut self) -> Result<Sum, QueryError> {
        let column = self.column();
        number(self.primary()?, column)
    }

    fn primary(&mut self) -> Result<Value, QueryError> {
        let column = self.column();
        let is_until = matches!(self.words.get(self.at + 1), Some((_, Word::Symbol("["))));
        match self.next() {
            Word::Number(number) => Ok(Value::Number(Sum::Number(number))),
            Word::Quoted(name) => self.place(&name, column),
            Word::Symbol("#") => self.tokens(),
            Word::Symbol("-") => self.negative(),
            Word::Symbol("(") => {
                let value = self.expression()?;
                self.require(")")?;
                Ok(value)
            }
            Word::Name(name) if is_until && name == "E" => self.until(Paths::Some),
            Word::Name(name) if is_until && name == "A" => self.until(Paths::All),
            Word::Name(name) => self.named(&name, column),
            found => Err(error_at(
                column,
                "a place, a number or a condition",
                &found.text(),
            )),
        }
    }

    fn named(&mut self, name: &str, column: usize) -> Result<Value, QueryError> {
        match name {
            "true" | "false" => Ok(Value::Condition(Formula::Constant(name == "true"))),
            "deadlock" => Ok(Value::Condition(Formula::Deadlock)),
            "enabled" => {
                self.require("(")?;
                let transition = self.transition()?;
                self.require(")")?;
                Ok(Value::Condition(Formula::Enabled(transition)))
            }
            // As measures of coloured nets have it.
            "tokens" if matches!(self.word(), Word::Symbol("(")) => {
                self.at += 1;
                let tokens = self.tokens()?;
                self.require(")")?;
                Ok(tokens)
            }
            _ if KEYWORDS.contains(&name) => {
                let expected = "a place, a number or a condition";
                Err(error_at(column, expected, name))
            }
            _ => self.place(name, column),
        }
    }

    /// The place behind `#`.
    fn tokens(&mut self) -> Result<Value, QueryError> {
        let column = self.column();
        match self.next() {
            Word::Name(name) | Word::Quoted(name) => self.place(&name, column),
            found => Err(error_at(column, "a place", &found.text())),
        }
    }

    fn negative(&mut self) -> Result<Value, QueryError> {
        self.deeper(|parser| {
            let operand = parser.factor()?;
            Ok(Value::Number(Sum::Negative(Box::new(operand))))
        })
    }

    fn until(&mut self, paths: Paths) -> Result<Value, QueryError> {
        self.require("[")?;
        let before = self.condition_of(Self::expression)?;
        if !self.take(&["U"]) {
            return Err(self.unexpected("U"));
        }
        let goal = self.condition_of(Self::expression)?;
        self.require("]")?;
        let until = Formula::Until(paths, Box::new(before), Box::new(goal));
        Ok(Value::Condition(until))
    }

    fn place(&self, name: &str, column: usize) -> Result<Value, QueryError> {
        let place = self.net.place_named(name).ok_or_else(|| {
            let valid = self.net.places.iter().map(|place| place.name.as_str());
            let mistake = Mistake::unknown("a place", name, valid);
            QueryError { column, mistake }
        })?;
        Ok(Value::Number(Sum::Tokens(place)))
    }

    fn transition(&mut self) -> Result<TransitionId, QueryError> {
        let column = self.column();
        let name = match self.next() {
            Word::Name(name) | Word::Quoted(name) => name,
            found => return Err(error_at(column, "a transition", &found.text())),
        };
        self.net.transition_named(&name).ok_or_else(|| {
            let valid = self.net.transitions.iter().map(|t| t.name.as_str());
            let mistake = Mistake::unknown("a transition", &name, valid);
            QueryError { column, mistake }
        })
    }

    fn deeper(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<Value, QueryError>,
    ) -> Result<Value, QueryError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.too_deep());
        }
        let value = parse(self);
        self.depth -= 1;
        value
    }

    fn too_deep(&self) -> QueryError {
        let expected = format!("at most {DEEPEST} operators within each other");
        error_at(self.column(), &expected, "more")
    }
}

fn error_at(column: usize, expected: &str, found: &str) -> QueryError {
    let mistake = Mistake::unexpected(expected, found);
    QueryError { column, mistake }
}

fn condition(value: Value, column: usize) -> Result<Formula, QueryError> {
    match value {
        Value::Condition(formula) => Ok(formula),
        Value::Number(_) => Err(error_at(
            column,
            "a condition, such as a comparison",
            "a number",
        )),
    }
}

/// The value as a number of one marking; a condition counts 1 where it holds.
fn number(value: Value, column: usize) -> Result<Sum, QueryError> {
    match value {
        Value::Number(sum) => Ok(sum),
        Value::Condition(formula) if formula.is_condition() => {
            Ok(Sum::Indicator(Box::new(formula)))
        }
        Value::Condition(_) => Err(error_at(
            column,
            "a condition of one marking",
            "a formula about what follows",
        )),
    }
}
