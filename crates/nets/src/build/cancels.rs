//! Firings that others cancel.

use inorder_base::random::Random;
use inorder_petri::coloured::{TransitionId, Which};

use super::{Builder, Handle};
use crate::ast::{CancelLine, Name};
use crate::code::Int;
use crate::error::{Checked, Fault};
use crate::ir::Node;
use crate::lower::{May, Scope};
use crate::token::Token;

/// A line of a transition that waits until all transitions are known.
pub(super) struct Cancels<'l> {
    pub(super) line: &'l CancelLine,
    pub(super) by: TransitionId,
    /// The tokens of the transition to which the line belongs.
    pub(super) tokens: Vec<(String, usize)>,
}

impl<const N: usize> Builder<'_, '_, N> {
    pub(super) fn cancels(&mut self, all: &[Cancels<'_>]) -> Checked<()> {
        all.iter().try_for_each(|cancels| self.cancel(cancels))
    }

    fn cancel(&mut self, Cancels { line, by, tokens }: &Cancels<'_>) -> Checked<()> {
        let name = &line.transition;
        let full = format!("{}{}", self.names.hop.prefix(), name.text);
        let Some(id) = self.model.find_transition(&full) else {
            let known = self.model.transition_names();
            let expected = "the name of a transition";
            return Err(Fault::unknown(name.at, expected, &name.text, known));
        };
        let held = self.bound.get(id.index());
        let held = held.and_then(|records| records.first().copied());
        let mut tokens = tokens.clone();
        let arity = tokens.len();
        match (&line.bind, held) {
            (None, _) => {}
            (Some(bind), Some(_)) if tokens.iter().any(|(name, _)| *name == bind.text) => {
                let problem = format!("two tokens are called {}", bind.text);
                return Err(Fault::new(bind.at, problem));
            }
            (Some(bind), Some(record)) => tokens.push((bind.text.clone(), record)),
            (Some(bind), None) => {
                let problem = format!("a firing of {} holds no token of a record", name.text);
                return Err(Fault::new(bind.at, problem));
            }
        }
        let to = line
            .to
            .as_ref()
            .map(|to| self.returned(to, held))
            .transpose()?;
        let only_if = match &line.only_if {
            Some(condition) => Some(self.condition(condition, tokens)?),
            None => None,
        };
        let only_if: Option<Int<N>> = only_if.map(|node| self.shared.int(&node));
        let (mut all, mut none) = (Vec::new(), Random::new(0, ""));
        let fits = move |own: &inorder_petri::coloured::Bound<'_, Token<N>>, held: &[Token<N>]| {
            let Some(only_if) = &only_if else {
                return true;
            };
            all.clear();
            all.extend(own.tokens.iter().take(arity));
            all.extend(held.first());
            let bound = inorder_petri::coloured::Bound {
                tokens: &all,
                ..*own
            };
            only_if(&bound, &mut none) != 0
        };
        self.model
            .transition_again(*by)
            .cancel(id, line.which, fits, to);
        Ok(())
    }

    /// Where the token of a cancelled firing goes.
    fn returned(&self, to: &Name, held: Option<usize>) -> Checked<inorder_petri::coloured::Queue> {
        match (self.handle(to)?, held) {
            (Handle::Queue(queue, record), Some(held)) if record == held => Ok(queue),
            _ => Err(Fault::expected(
                to.at,
                "a place for the first token that the cancelled firing holds",
                &to.text,
            )),
        }
    }

    fn condition(
        &self,
        condition: &crate::ast::Expr,
        tokens: Vec<(String, usize)>,
    ) -> Checked<Node> {
        let scope = Scope {
            tokens,
            may: May {
                draw: false,
                ..May::EVERYTHING
            },
            ..Scope::default()
        };
        let records: Vec<usize> = scope.tokens.iter().map(|(_, record)| *record).collect();
        let node = self.lower(scope).condition(condition)?;
        self.uses
            .borrow_mut()
            .decides(&node, &records, condition.at);
        Ok(node)
    }
}

/// Which firings a word means.
pub(crate) fn which(word: &str) -> Option<Which> {
    match word {
        "oldest" => Some(Which::Oldest),
        "newest" => Some(Which::Newest),
        "all" => Some(Which::All),
        _ => None,
    }
}
