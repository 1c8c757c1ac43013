//! Terms of a symmetric net for a binding of its variables.

use std::collections::BTreeMap;

use super::sorts::{Sort, Sorts};
use crate::pnml::tree::{Element, parsed};
use crate::text::{Mistake, ReadError};

/// The index of the value of every variable.
pub(super) type Bound = BTreeMap<String, usize>;

/// Number of tokens by the index of their colour.
type Multiset = BTreeMap<usize, i64>;

/// Stands for an atom where a value is a part of a partition, which belongs to no atom.
const PART: usize = usize::MAX;

/// A value: the index of each of its atoms.
type Value = Vec<(usize, usize)>;

pub(super) struct Terms<'s> {
    pub(super) sorts: &'s Sorts,
}

impl Terms<'_> {
    /// The tokens of a term of a place with `size` colours.
    pub(super) fn multiset(
        &self,
        term: &Element,
        bound: &Bound,
        size: usize,
    ) -> Result<Multiset, ReadError> {
        let mut all = Multiset::new();
        match term.name.as_str() {
            "all" => {
                let sort = term.children.first();
                let sort = sort.ok_or_else(|| term.wrong(Mistake::unexpected("a sort", "none")))?;
                let of = self.sorts.size(&self.sorts.of_element(sort)?);
                all.extend((0..of).map(|colour| (colour, 1)));
            }
            "add" | "subtract" => {
                for (index, part) in parts(term).enumerate() {
                    let sign = if index > 0 && term.name == "subtract" {
                        -1
                    } else {
                        1
                    };
                    for (colour, count) in self.multiset(part, bound, size)? {
                        *all.entry(colour).or_default() += sign * count;
                    }
                }
            }
            "numberof" => {
                let [factor, of] = two_of(term, "a number and a term")?;
                let text = factor.attribute("value").unwrap_or_default();
                let factor: i64 = parsed(factor, text, "a whole number")?;
                for (colour, count) in self.multiset(of, bound, size)? {
                    let count = factor.checked_mul(count);
                    all.insert(colour, count.unwrap_or(i64::MAX));
                }
            }
            "empty" => {}
            "tuple" if parts(term).any(is_of_many) => {
                for (value, count) in self.tuples(term, bound)? {
                    *all.entry(self.colour(&value)).or_default() += count;
                }
            }
            _ => {
                let colour = self.colour(&self.value(term, bound)?);
                all.insert(colour, 1);
            }
        }
        match all.keys().next_back() {
            Some(&colour) if colour >= size => {
                let expected = "a term of the sort of the place";
                Err(term.wrong(Mistake::unexpected(expected, "another sort")))
            }
            _ => Ok(all),
        }
    }

    /// The tuples of which each part is one of the tokens that the term has at its place.
    fn tuples(&self, term: &Element, bound: &Bound) -> Result<Vec<(Value, i64)>, ReadError> {
        let mut all = vec![(Value::new(), 1_i64)];
        for part in parts(term) {
            let ends = self.tokens(part, bound)?;
            let longer = |(start, count): &(Value, i64)| {
                let with = |(end, of): &(Value, i64)| {
                    let value = start.iter().chain(end).copied().collect();
                    (value, count.saturating_mul(*of))
                };
                ends.iter().map(with).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(longer).collect();
        }
        Ok(all)
    }

    /// The tokens of a part of a tuple.
    fn tokens(&self, term: &Element, bound: &Bound) -> Result<Vec<(Value, i64)>, ReadError> {
        let mut all = Vec::new();
        match term.name.as_str() {
            "all" => {
                let sort = term.children.first();
                let sort = sort.ok_or_else(|| term.wrong(Mistake::unexpected("a sort", "none")))?;
                let [atom] = self.sorts.of_element(sort)?.0[..] else {
                    let expected = "all of a sort without parts";
                    return Err(term.wrong(Mistake::unexpected(expected, "a product")));
                };
                all.extend((0..self.sorts.len(atom)).map(|index| (vec![(atom, index)], 1)));
            }
            "add" | "subtract" => {
                for (index, part) in parts(term).enumerate() {
                    let is_taken = index > 0 && term.name == "subtract";
                    let sign = if is_taken { -1 } else { 1 };
                    let tokens = self.tokens(part, bound)?;
                    all.extend(
                        tokens
                            .into_iter()
                            .map(|(value, count)| (value, sign * count)),
                    );
                }
            }
            _ => all.push((self.value(term, bound)?, 1)),
        }
        Ok(all)
    }

    fn colour(&self, value: &Value) -> usize {
        let add = |sum: usize, &(atom, index): &(usize, usize)| sum * self.sorts.len(atom) + index;
        value.iter().fold(0, add)
    }

    fn value(&self, term: &Element, bound: &Bound) -> Result<Value, ReadError> {
        let one = |term: &Element| -> Result<(usize, usize), ReadError> {
            let inner = parts(term).next();
            let inner = inner.ok_or_else(|| term.wrong(Mistake::unexpected("a term", "none")))?;
            match self.value(inner, bound)?[..] {
                [one] => Ok(one),
                _ => Err(term.wrong(Mistake::unexpected("a value without parts", "a tuple"))),
            }
        };
        Ok(match term.name.as_str() {
            "dotconstant" => vec![(0, 0)],
            "variable" => {
                let (name, atom) = self.sorts.variable(term)?;
                vec![(atom, bound.get(name).copied().unwrap_or(0))]
            }
            "useroperator" => vec![self.sorts.constant(term)?],
            "finiteintrangeconstant" => vec![self.sorts.number(term)?],
            "successor" => {
                let (atom, index) = one(term)?;
                vec![(atom, (index + 1) % self.sorts.len(atom))]
            }
            "predecessor" => {
                let (atom, index) = one(term)?;
                let len = self.sorts.len(atom);
                vec![(atom, (index + len - 1) % len)]
            }
            "partitionelementof" => vec![(PART, self.sorts.part(term, one(term)?.1)?)],
            "tuple" => {
                let values = parts(term).map(|part| self.value(part, bound));
                values.collect::<Result<Vec<Value>, ReadError>>()?.concat()
            }
            other => {
                let expected = "a term of a symmetric net";
                return Err(term.wrong(Mistake::unexpected(expected, other)));
            }
        })
    }

    /// Whether a condition holds.
    pub(super) fn holds(&self, term: &Element, bound: &Bound) -> Result<bool, ReadError> {
        let holds = |part: &Element| self.holds(part, bound);
        let compared = || -> Result<std::cmp::Ordering, ReadError> {
            let [a, b] = two_of(term, "two terms")?;
            let (a, b) = (self.value(a, bound)?, self.value(b, bound)?);
            let alike = a.iter().map(|v| v.0).eq(b.iter().map(|v| v.0));
            match alike {
                true => Ok(a.cmp(&b)),
                false => Err(term.wrong(Mistake::unexpected("two terms of one sort", "others"))),
            }
        };
        Ok(match term.name.as_str() {
            "booleanconstant" => term.attribute("value") == Some("true"),
            "and" => all(parts(term).map(holds))?,
            "or" => !all(parts(term).map(|part| holds(part).map(|holds| !holds)))?,
            "not" => !all(parts(term).map(holds))?,
            "imply" => {
                let [a, b] = two_of(term, "two conditions")?;
                !holds(a)? || holds(b)?
            }
            "equality" => compared()?.is_eq(),
            "inequality" => compared()?.is_ne(),
            "lessthan" => compared()?.is_lt(),
            "lessthanorequal" => compared()?.is_le(),
            "greaterthan" => compared()?.is_gt(),
            "greaterthanorequal" => compared()?.is_ge(),
            other => {
                let expected = "a condition of a symmetric net";
                return Err(term.wrong(Mistake::unexpected(expected, other)));
            }
        })
    }
}

/// Whether a part of a tuple may stand for several values.
fn is_of_many(part: &Element) -> bool {
    matches!(part.name.as_str(), "all" | "add" | "subtract")
}

fn all(parts: impl Iterator<Item = Result<bool, ReadError>>) -> Result<bool, ReadError> {
    for part in parts {
        if !part? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The terms within a term.
fn parts(term: &Element) -> impl Iterator<Item = &Element> {
    let subterms = term.children.iter().filter(|child| child.name == "subterm");
    subterms.filter_map(|subterm| subterm.children.first())
}

fn two_of<'e>(term: &'e Element, expected: &str) -> Result<[&'e Element; 2], ReadError> {
    let mut all = parts(term);
    match (all.next(), all.next(), all.next()) {
        (Some(a), Some(b), None) => Ok([a, b]),
        _ => Err(term.wrong(Mistake::unexpected(expected, "another number of terms"))),
    }
}

/// All values of the variables of a transition, one after the other.
pub(super) struct Binding {
    /// The variables with their atoms and the numbers of their values, in the order of their names.
    variables: Vec<(String, usize, usize)>,
    bound: Bound,
}

impl Binding {
    /// Of the variables in these terms.
    pub(super) fn of<'e>(
        sorts: &Sorts,
        terms: impl Iterator<Item = &'e Element>,
    ) -> Result<Self, ReadError> {
        let mut atoms = BTreeMap::new();
        for term in terms {
            collect(sorts, term, &mut atoms)?;
        }
        let bound = atoms.keys().map(|name| (name.clone(), 0)).collect();
        let variables = atoms.into_iter();
        let variables = variables.map(|(name, atom)| (name, atom, sorts.len(atom)));
        Ok(Self {
            variables: variables.collect(),
            bound,
        })
    }

    pub(super) fn bound(&self) -> &Bound {
        &self.bound
    }

    pub(super) fn words(&self, sorts: &Sorts) -> Vec<String> {
        let values = self.variables.iter().zip(self.bound.values());
        let words =
            values.flat_map(|((_, atom, _), index)| sorts.words(&Sort(vec![*atom]), *index));
        words.collect()
    }

    /// The next binding; false after the last one.
    pub(super) fn advance(&mut self) -> bool {
        for ((.., len), value) in self.variables.iter().zip(self.bound.values_mut()).rev() {
            *value += 1;
            if *value < *len {
                return true;
            }
            *value = 0;
        }
        false
    }
}

fn collect(
    sorts: &Sorts,
    term: &Element,
    found: &mut BTreeMap<String, usize>,
) -> Result<(), ReadError> {
    if term.name == "variable" {
        let (name, atom) = sorts.variable(term)?;
        found.insert(name.to_owned(), atom);
    }
    term.children
        .iter()
        .try_for_each(|child| collect(sorts, child, found))
}
