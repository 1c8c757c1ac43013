//! Values of tokens.

use super::{Lower, Value};
use crate::ast::{Expr, Name};
use crate::error::{Checked, Fault, Span};
use crate::ir::{Node, Op, Size, Store, TokenNode, TokenOp, Ty};
use crate::names::Field;

impl Lower<'_, '_> {
    /// A token of this record.
    pub(crate) fn token(&self, expr: &Expr, record: usize) -> Checked<TokenNode> {
        let words = |record: usize| format!("a token of {}", self.names.records[record].name);
        match self.value(expr, Some(record))? {
            Value::Token(token) if token.record == record => Ok(token),
            Value::Token(token) => {
                Err(Fault::expected(expr.at, words(record), words(token.record)))
            }
            Value::Number(node) => Err(self.names.mistyped(expr.at, words(record), node.ty)),
        }
    }

    pub(super) fn token_value(
        &self,
        base: Option<&Expr>,
        fields: &[(Name, Expr)],
        record: Option<usize>,
        at: Span,
    ) -> Checked<TokenNode> {
        let base = match base {
            None => None,
            Some(expr) => match self.value(expr, record)? {
                Value::Token(token) => Some(token),
                Value::Number(_) => return Err(Fault::expected(expr.at, "a token", "a number")),
            },
        };
        let record = base.as_ref().map(|token| token.record).or(record);
        let Some(record) = record else {
            return Err(Fault::new(at, "it is not clear which record this is"));
        };
        let mut stores = Vec::new();
        for (name, value) in fields {
            stores.push(self.store(record, name, value)?);
        }
        let op = match base {
            None => TokenOp::New(stores),
            Some(token) => TokenOp::With(Box::new(token), stores),
        };
        Ok(TokenNode { record, op })
    }

    fn store(&self, record: usize, name: &Name, value: &Expr) -> Checked<Store> {
        let of = &self.names.records[record];
        let Some(field) = of.fields.iter().find(|field| field.name == name.text) else {
            let known = of.fields.iter().map(|field| field.name.as_str());
            let expected = format!("a field of {}", of.name);
            return Err(Fault::unknown(name.at, &expected, &name.text, known));
        };
        let node = self.of_type(value, field.ty)?;
        if let (Size::Narrow { low, high }, Some(known)) = (field.slot.size, node.as_int())
            && !(low..=high).contains(&known)
        {
            let expected = format!("{low} to {high} for {}", field.name);
            return Err(Fault::expected(value.at, expected, known));
        }
        Ok(Store {
            slot: field.slot,
            value: node,
            at: value.at,
        })
    }
}

/// A field of a token: of one that is bound, or of one whose fields are listed.
pub(super) fn field_of(token: &TokenNode, field: &Field) -> Option<Node> {
    let ty = field.ty;
    let listed = |stores: &[Store]| {
        let store = stores.iter().rev().find(|store| store.slot == field.slot);
        store.map(|store| store.value.clone())
    };
    match &token.op {
        TokenOp::Bound(index) => Some(Node {
            ty,
            op: Op::Field(*index, field.slot),
        }),
        TokenOp::New(stores) => Some(listed(stores).unwrap_or_else(|| match ty {
            Ty::Real(dim) => Node::real(0.0, dim),
            _ => Node { ty, op: Op::Int(0) },
        })),
        TokenOp::With(base, stores) => listed(stores).or_else(|| field_of(base, field)),
        TokenOp::If(..) => None,
    }
}
