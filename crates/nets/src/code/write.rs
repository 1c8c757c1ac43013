//! Functions that make tokens.

use std::sync::Arc;

use inorder_base::random::Random;
use inorder_petri::coloured::Bound;

use super::{Errors, Int, Make, Real, Shared, Wrong, bits};
use crate::error::Span;
use crate::ir::{Op, Size, Store, TokenNode, TokenOp};
use crate::token::Token;

/// What is written into a token.
enum Write<const N: usize> {
    Word(usize, u32),
    Wide(usize, i64),
    /// A narrow field of a bound token whose range is within that of the field.
    Copy {
        to: usize,
        token: usize,
        from: usize,
    },
    Narrow {
        to: usize,
        value: Int<N>,
        low: i64,
        high: i64,
        at: Span,
    },
    Int(usize, Int<N>),
    Real(usize, Real<N>),
}

impl<const N: usize> Write<N> {
    #[inline]
    fn into(&self, token: &mut Token<N>, b: &Bound<'_, Token<N>>, r: &mut Random, errors: &Errors) {
        match self {
            &Self::Word(to, value) => token.set_word(to, value),
            &Self::Wide(to, value) => token.set_wide(to, value),
            &Self::Copy { to, token: i, from } => token.set_word(to, b.tokens[i].word(from)),
            Self::Narrow {
                to,
                value,
                low,
                high,
                at,
            } => {
                let value = value(b, r);
                if (*low..=*high).contains(&value) {
                    token.set_word(*to, value as u32);
                } else {
                    let (low, high) = (*low, *high);
                    errors.tell(*at, Wrong::Range { value, low, high });
                    token.set_word(*to, low as u32);
                }
            }
            Self::Int(to, value) => token.set_wide(*to, value(b, r)),
            Self::Real(to, value) => token.set_wide(*to, value(b, r).to_bits().cast_signed()),
        }
    }
}

impl Shared {
    /// A function that makes a token.
    pub(crate) fn token<const N: usize>(&self, node: &TokenNode) -> Make<N> {
        match &node.op {
            &TokenOp::Bound(index) => Box::new(move |b, _| b.tokens[index]),
            TokenOp::New(stores) => {
                let (writes, errors) = (self.writes(stores), Arc::clone(&self.errors));
                Box::new(move |b, r| {
                    let mut token = Token::default();
                    for write in &writes {
                        write.into(&mut token, b, r, &errors);
                    }
                    token
                })
            }
            TokenOp::With(base, stores) => {
                let (writes, errors) = (self.writes(stores), Arc::clone(&self.errors));
                if let TokenOp::Bound(index) = base.op {
                    return Box::new(move |b, r| {
                        let mut token = b.tokens[index];
                        for write in &writes {
                            write.into(&mut token, b, r, &errors);
                        }
                        token
                    });
                }
                let base: Make<N> = self.token(base);
                Box::new(move |b, r| {
                    let mut token = base(b, r);
                    for write in &writes {
                        write.into(&mut token, b, r, &errors);
                    }
                    token
                })
            }
            TokenOp::If(on, then, otherwise) => {
                let on: Int<N> = self.int(on);
                let (then, otherwise): (Make<N>, Make<N>) =
                    (self.token(then), self.token(otherwise));
                Box::new(move |b, r| {
                    if on(b, r) != 0 {
                        then(b, r)
                    } else {
                        otherwise(b, r)
                    }
                })
            }
        }
    }

    fn writes<const N: usize>(&self, stores: &[Store]) -> Box<[Write<N>]> {
        stores.iter().map(|store| self.write(store)).collect()
    }

    fn write<const N: usize>(&self, store: &Store) -> Write<N> {
        let to = store.slot.at;
        let Size::Narrow { low, high } = store.slot.size else {
            return match bits(&store.value) {
                Some(bits) => Write::Wide(to, bits),
                None if store.value.is_real() => Write::Real(to, self.real(&store.value)),
                None => Write::Int(to, self.int(&store.value)),
            };
        };
        match store.value.op {
            // Constants were checked.
            Op::Int(n) => Write::Word(to, n as u32),
            Op::Field(token, from) if is_within(from.size, low, high) => Write::Copy {
                to,
                token,
                from: from.at,
            },
            _ => Write::Narrow {
                to,
                value: self.int(&store.value),
                low,
                high,
                at: store.at,
            },
        }
    }
}

fn is_within(size: Size, low: i64, high: i64) -> bool {
    matches!(size, Size::Narrow { low: from, high: to } if low <= from && to <= high)
}
