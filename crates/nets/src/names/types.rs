//! The fields of records, the records of places, the cells of variables.

use super::{Field, Item, Names, VariableDef};
use crate::ast::{FieldDecl, Kind, Tokens};
use crate::error::{Checked, Fault};
use crate::ir::{Op, Size, Slot, Ty};
use crate::units::{NUMBER, TIME};

impl Names<'_> {
    pub(super) fn declare_records(&mut self) -> Checked<()> {
        let mut number = 0;
        for statement in self.statements.clone() {
            let Kind::Record { fields, .. } = &statement.kind else {
                continue;
            };
            let (mut made, mut words): (Vec<Field>, usize) = (Vec::new(), 0);
            for field in fields {
                if made.iter().any(|other| other.name == field.name.text) {
                    let problem = format!("the record has two fields called {}", field.name.text);
                    return Err(Fault::new(field.name.at, problem));
                }
                let (ty, size) = self.field_type(field)?;
                let slot = Slot { at: words, size };
                words += if size == Size::Wide { 2 } else { 1 };
                made.push(Field {
                    name: field.name.text.clone(),
                    ty,
                    slot,
                });
            }
            let record = &mut self.records[number];
            (record.fields, record.words) = (made, words);
            number += 1;
        }
        Ok(())
    }

    pub(super) fn field_type(&self, field: &FieldDecl) -> Checked<(Ty, Size)> {
        let narrow = |high| Size::Narrow { low: 0, high };
        let (ty, size) = match field.of.text.as_str() {
            "int" => (Ty::Int, Size::Wide),
            "bool" => (Ty::Bool, narrow(1)),
            "time" => (Ty::Real(TIME), Size::Wide),
            "real" => (Ty::Real(NUMBER), Size::Wide),
            name => match self.items.get(name) {
                Some(&Item::Enum(number)) => {
                    let values = self.enums[number].values.len();
                    (Ty::Enum(number), narrow(values as i64 - 1))
                }
                _ => {
                    let known = ["int", "bool", "time", "real"].into_iter();
                    let known = known.chain(self.enums.iter().map(|e| e.name));
                    let expected = "a type: int, bool, time, real or an enumeration";
                    return Err(Fault::unknown(field.of.at, expected, name, known));
                }
            },
        };
        let Some((low, high)) = &field.range else {
            return Ok((ty, size));
        };
        if ty != Ty::Int {
            return Err(Fault::new(low.at, "only fields of type int have a range"));
        }
        let (from, to) = (self.int(low)?, self.int(high)?);
        if from > to || from < 0 || to > i64::from(u32::MAX) {
            let found = format!("{from}..{to}");
            return Err(Fault::expected(
                low.at,
                "a range within 0..4294967295",
                found,
            ));
        }
        Ok((
            ty,
            Size::Narrow {
                low: from,
                high: to,
            },
        ))
    }

    pub(super) fn declare_places(&mut self) -> Checked<()> {
        let mut number = 0;
        for statement in self.statements.clone() {
            let Kind::Place(place) = &statement.kind else {
                continue;
            };
            let record = match &place.tokens {
                Tokens::Plain { .. } => None,
                Tokens::Typed { record, .. } | Tokens::Sink { record } => {
                    Some(self.record(record)?)
                }
            };
            self.place_records[number] = record;
            number += 1;
        }
        Ok(())
    }

    pub(super) fn declare_variables(&mut self) -> Checked<()> {
        /// Most cells that all variables together may have.
        const MAX_CELLS: i64 = 1 << 20;
        let (mut number, mut first) = (0, 0usize);
        for statement in self.statements.clone() {
            let Kind::Variable { name, size, value } = &statement.kind else {
                continue;
            };
            let cells = match size {
                Some(size) => self.int(size)?,
                None => 1,
            };
            if !(1..=MAX_CELLS - first as i64).contains(&cells) {
                let expected = format!("a size of at least 1, {MAX_CELLS} in all");
                return Err(Fault::expected(name.at, expected, cells));
            }
            let node = self.constant(value)?;
            let initial = match node.op {
                Op::Real(x) => x.to_bits().cast_signed(),
                _ => node.as_int().unwrap_or(0),
            };
            self.variables[number] = VariableDef {
                first,
                cells: cells as usize,
                is_list: size.is_some(),
                ty: node.ty,
                initial,
            };
            first += cells as usize;
            number += 1;
        }
        Ok(())
    }
}
