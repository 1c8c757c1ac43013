//! The declarations of a symmetric net: sorts, their constants, variables.

use std::collections::BTreeMap;

use crate::pnml::tree::{Element, parsed};
use crate::text::{Mistake, ReadError};

/// Values of one sort, at most.
const MAX_VALUES: usize = 1_000_000;

/// A sort as the numbers of its atoms: one, or several for a product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sort(pub(super) Vec<usize>);

/// A sort whose values have no parts.
#[derive(Debug, Clone)]
struct Atom {
    values: Vec<String>,
    /// The first number, if the values are a range of numbers.
    from: Option<i64>,
}

/// All that is declared, by `id`.
#[derive(Debug, Default)]
pub(super) struct Sorts {
    atoms: Vec<Atom>,
    named: BTreeMap<String, Sort>,
    /// Constants: the atom, and the index of the value.
    constants: BTreeMap<String, (usize, usize)>,
    variables: BTreeMap<String, usize>,
    /// Partitions: for every value of an atom, the index of its part.
    partitions: BTreeMap<String, Vec<usize>>,
}

impl Sorts {
    pub(super) fn of(net: &Element) -> Result<Self, ReadError> {
        let mut sorts = Self::default();
        // The first atom is that of plain tokens.
        sorts.atoms.push(Atom {
            values: vec![String::new()],
            from: None,
        });
        let pages = net.children.iter().filter(|child| child.name == "page");
        let places = std::iter::once(net).chain(pages);
        let declarations = places.flat_map(|element| &element.children);
        let declarations = declarations.filter(|child| child.name == "declaration");
        let all: Vec<&Element> = declarations
            .filter_map(|d| d.child("structure")?.child("declarations"))
            .flat_map(|all| &all.children)
            .collect();
        // Products refer to sorts that may stand behind them.
        let is_product = |element: &&&Element| element.child("productsort").is_some();
        let (products, others): (Vec<&Element>, Vec<&Element>) =
            all.iter().partition(|element| is_product(element));
        for element in others.iter().chain(&products) {
            if element.name == "namedsort" {
                sorts.named_sort(element)?;
            }
        }
        for element in &all {
            match element.name.as_str() {
                "namedsort" => {}
                "variabledecl" => {
                    let sort = sorts.of_first(element)?;
                    let [atom] = sort.0[..] else {
                        let expected = "a variable of a sort without parts";
                        return Err(element.wrong(Mistake::unexpected(expected, "a product")));
                    };
                    sorts.variables.insert(id(element), atom);
                }
                "partition" => sorts.partition(element)?,
                other => {
                    let expected = "a declaration of a sort, a variable or a partition";
                    return Err(element.wrong(Mistake::unexpected(expected, other)));
                }
            }
        }
        Ok(sorts)
    }

    fn named_sort(&mut self, element: &Element) -> Result<(), ReadError> {
        let sort = self.of_first(element)?;
        self.named.insert(id(element), sort);
        Ok(())
    }

    fn of_first(&mut self, element: &Element) -> Result<Sort, ReadError> {
        let Some(sort) = element.children.first() else {
            return Err(element.wrong(Mistake::unexpected("a sort", "none")));
        };
        match sort.name.as_str() {
            "cyclicenumeration" | "finiteenumeration" => {
                let atom = self.atoms.len();
                let mut values = Vec::new();
                for constant in &sort.children {
                    self.constants.insert(id(constant), (atom, values.len()));
                    let name = constant.attribute("name").filter(|name| !name.is_empty());
                    values.push(name.map_or_else(|| id(constant), str::to_owned));
                }
                self.atom(sort, Atom { values, from: None })
            }
            "finiteintrange" => {
                let bound = |name: &str| -> Result<i64, ReadError> {
                    let text = sort.attribute(name).unwrap_or_default();
                    parsed(sort, text, "a whole number")
                };
                let (from, to) = (bound("start")?, bound("end")?);
                if !(0..MAX_VALUES as i64).contains(&to.saturating_sub(from)) {
                    let expected = format!("1 to {MAX_VALUES} values");
                    return Err(sort.wrong(Mistake::unexpected(expected, format!("{from}..{to}"))));
                }
                let values = (from..=to).map(|value| value.to_string()).collect();
                let from = Some(from);
                self.atom(sort, Atom { values, from })
            }
            _ => self.of_element(sort),
        }
    }

    fn atom(&mut self, element: &Element, atom: Atom) -> Result<Sort, ReadError> {
        if atom.values.is_empty() {
            return Err(element.wrong(Mistake::unexpected("a sort with a value", "none")));
        }
        self.atoms.push(atom);
        Ok(Sort(vec![self.atoms.len() - 1]))
    }

    /// The parts of a sort, in their order.
    fn partition(&mut self, element: &Element) -> Result<(), ReadError> {
        let sort = self.of_first(element)?;
        let [atom] = sort.0[..] else {
            let expected = "a partition of a sort without parts";
            return Err(element.wrong(Mistake::unexpected(expected, "a product")));
        };
        let mut part_of = vec![usize::MAX; self.atoms[atom].values.len()];
        let parts = element.children.iter();
        let parts = parts.filter(|child| child.name == "partitionelement");
        for (number, part) in parts.enumerate() {
            self.constants.insert(id(part), (usize::MAX, number));
            for member in &part.children {
                let of = self.constant(member)?;
                if let Some(slot) = part_of.get_mut(of.1) {
                    *slot = number;
                }
            }
        }
        self.partitions.insert(id(element), part_of);
        Ok(())
    }

    /// A sort where it is used.
    pub(super) fn of_element(&self, element: &Element) -> Result<Sort, ReadError> {
        match element.name.as_str() {
            "dot" => Ok(self.dot()),
            "usersort" => {
                let name = element.attribute("declaration").unwrap_or_default();
                let found = self.named.get(name).cloned();
                found.ok_or_else(|| {
                    let known = self.named.keys().map(String::as_str);
                    element.wrong(Mistake::unknown("the id of a sort", name, known))
                })
            }
            "productsort" => {
                let parts = element.children.iter().map(|part| self.of_element(part));
                let parts = parts.collect::<Result<Vec<Sort>, ReadError>>()?;
                Ok(Sort(parts.into_iter().flat_map(|sort| sort.0).collect()))
            }
            other => {
                let expected =
                    "a finite sort (dot, usersort, productsort, an enumeration or a range)";
                Err(element.wrong(Mistake::unexpected(expected, other)))
            }
        }
    }

    pub(super) fn dot(&self) -> Sort {
        Sort(vec![0])
    }

    /// Number of values.
    pub(super) fn size(&self, sort: &Sort) -> usize {
        let sizes = sort.0.iter().map(|&atom| self.len(atom));
        sizes.fold(1, usize::saturating_mul)
    }

    pub(super) fn len(&self, atom: usize) -> usize {
        self.atoms.get(atom).map_or(1, |atom| atom.values.len())
    }

    /// The values of the atoms of a value; nothing for plain tokens.
    pub(super) fn words(&self, sort: &Sort, mut value: usize) -> Vec<String> {
        let mut words = Vec::new();
        for &atom in sort.0.iter().rev() {
            let len = self.len(atom);
            words.push(self.value(atom, value % len));
            value /= len;
        }
        words.reverse();
        words.retain(|word| !word.is_empty());
        words
    }

    pub(super) fn value(&self, atom: usize, index: usize) -> String {
        let atom = self.atoms.get(atom);
        atom.and_then(|atom| atom.values.get(index))
            .cloned()
            .unwrap_or_default()
    }

    /// The atom and the index of a constant; the atom of a part of a partition is `usize::MAX`.
    pub(super) fn constant(&self, element: &Element) -> Result<(usize, usize), ReadError> {
        let name = element.attribute("declaration").unwrap_or_default();
        self.constants.get(name).copied().ok_or_else(|| {
            let known = self.constants.keys().map(String::as_str);
            element.wrong(Mistake::unknown("the id of a constant", name, known))
        })
    }

    /// The atom and the index of a number of a range.
    pub(super) fn number(&self, element: &Element) -> Result<(usize, usize), ReadError> {
        let text = element.attribute("value").unwrap_or_default();
        let value: i64 = parsed(element, text, "a whole number")?;
        let range = element.child("finiteintrange");
        let bound = |name: &str| range.and_then(|range| range.attribute(name)?.parse::<i64>().ok());
        let (from, to) = (bound("start"), bound("end"));
        let is_it = |atom: &Atom| {
            let last = atom.from.map(|from| from + atom.values.len() as i64 - 1);
            atom.from.is_some() && atom.from == from && last == to
        };
        let atom = self.atoms.iter().position(is_it);
        let index = from.and_then(|from| usize::try_from(value - from).ok());
        match (atom, index) {
            (Some(atom), Some(index)) if index < self.len(atom) => Ok((atom, index)),
            _ => Err(element.wrong(Mistake::unexpected(
                "a number of a declared range",
                value.to_string(),
            ))),
        }
    }

    pub(super) fn variable(&self, element: &Element) -> Result<(&str, usize), ReadError> {
        let name = element.attribute("refvariable").unwrap_or_default();
        let found = self.variables.get_key_value(name);
        found
            .map(|(name, &atom)| (name.as_str(), atom))
            .ok_or_else(|| {
                let known = self.variables.keys().map(String::as_str);
                element.wrong(Mistake::unknown("the id of a variable", name, known))
            })
    }

    /// The part of a partition in which a value is.
    pub(super) fn part(&self, element: &Element, value: usize) -> Result<usize, ReadError> {
        let name = element.attribute("refpartition").unwrap_or_default();
        let part = self.partitions.get(name).and_then(|parts| parts.get(value));
        part.copied().ok_or_else(|| {
            let known = self.partitions.keys().map(String::as_str);
            element.wrong(Mistake::unknown("the id of a partition", name, known))
        })
    }
}

fn id(element: &Element) -> String {
    element.attribute("id").unwrap_or_default().to_owned()
}
