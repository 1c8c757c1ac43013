//! Transitions and their lines.

use super::Parser;
use inorder_petri::coloured::Which;

use crate::ast::{ArcKind, ArcLine, CancelLine, OutLine, TransitionDecl};
use crate::error::Checked;
use crate::lex::Lexeme;
use crate::words::is_line_of_transition;

impl Parser {
    pub(super) fn transition(&mut self) -> Checked<TransitionDecl> {
        let name = self.name("the name of a transition")?;
        self.end_of_line()?;
        let lines = self.arc_lines()?;
        Ok(TransitionDecl { name, lines })
    }

    fn arc_lines(&mut self) -> Checked<Vec<ArcLine>> {
        let mut lines = Vec::new();
        loop {
            let at = self.at();
            self.operators = 0;
            if let Some(kind) = self.arc_line()? {
                lines.push(ArcLine { at, kind });
            } else {
                return Ok(lines);
            }
        }
    }

    /// The next line, if it belongs to a transition.
    fn arc_line(&mut self) -> Checked<Option<ArcKind>> {
        let Lexeme::Word(word) = self.peek().clone() else {
            return Ok(None);
        };
        if word == "if" {
            return self.conditional_lines();
        }
        // `else` alone on its line belongs to an `if` around the transition.
        let is_end = word == "else" && matches!(self.peek_at(1), Lexeme::Newline | Lexeme::End);
        if is_end || !is_line_of_transition(&word) {
            return Ok(None);
        }
        self.advance();
        let kind = match word.as_str() {
            "priority" => ArcKind::Priority(self.expr()?),
            "weight" => ArcKind::Weight(self.expr()?),
            "servers" => ArcKind::Servers(self.expr()?),
            "delay" => ArcKind::Delay(self.expr()?),
            "guard" => ArcKind::Guard(self.expr()?),
            "in" => self.input(false)?,
            "read" => self.input(true)?,
            "inhibit" => ArcKind::Inhibit {
                place: self.name("the name of a place")?,
                key: self.index()?,
                count: self.count()?,
            },
            "reset" => ArcKind::Reset(self.name("the name of a place")?),
            "cancel" => ArcKind::Cancel(self.cancelled()?),
            "do" => ArcKind::Do(self.assignment()?),
            "out" => ArcKind::Out(self.output(false)?),
            _ => ArcKind::Out(self.output(true)?),
        };
        self.end_of_line()?;
        Ok(Some(kind))
    }

    /// `if` among the lines of a transition; `None` if the block holds statements.
    fn conditional_lines(&mut self) -> Checked<Option<ArcKind>> {
        let begin = self.next;
        self.deeper()?;
        self.advance();
        let on = self.expr()?;
        self.end_of_line()?;
        let holds_lines = matches!(self.peek(), Lexeme::Word(word) if word == "if" || is_line_of_transition(word));
        if !holds_lines {
            self.next = begin;
            self.depth -= 1;
            return Ok(None);
        }
        let then = self.arc_lines()?;
        let otherwise = match self.take_word("else") {
            true => {
                self.end_of_line()?;
                self.arc_lines()?
            }
            false => Vec::new(),
        };
        self.depth -= 1;
        if !self.is_word("end") {
            // The block began like lines of a transition but holds statements, too: read it as statements.
            self.next = begin;
            return Ok(None);
        }
        self.advance();
        self.end_of_line()?;
        Ok(Some(ArcKind::If {
            on,
            then,
            otherwise,
        }))
    }

    /// `[A, B:] PLACE [[KEY]] [COUNT]`
    fn input(&mut self, keep: bool) -> Checked<ArcKind> {
        let mut bind = vec![self.name("the name of a place, or of a token and a colon")?];
        while self.take(",") {
            bind.push(self.name("the name of a token")?);
        }
        let place = match bind.len() == 1 && !self.take(":") {
            true => bind.remove(0),
            false => {
                if bind.len() > 1 {
                    self.symbol(":")?;
                }
                self.name("the name of a place")?
            }
        };
        Ok(ArcKind::In {
            bind,
            place,
            key: self.index()?,
            count: self.count()?,
            keep,
        })
    }

    /// `[TOKEN:] TRANSITION [oldest | newest | all] [to PLACE] [if CONDITION]`
    fn cancelled(&mut self) -> Checked<CancelLine> {
        let mut transition = self.name("the name of a transition, or of a token and a colon")?;
        let mut bind = None;
        if self.take(":") {
            bind = Some(std::mem::replace(
                &mut transition,
                self.name("the name of a transition")?,
            ));
        }
        let mut which = Which::Oldest;
        if let Lexeme::Word(word) = self.peek()
            && let Some(named) = crate::build::which(word)
        {
            which = named;
            self.advance();
        }
        let to = match self.take_word("to") {
            true => Some(self.name("the name of a place")?),
            false => None,
        };
        Ok(CancelLine {
            bind,
            transition,
            which,
            to,
            only_if: self.optional("if")?,
        })
    }

    fn count(&mut self) -> Checked<Option<crate::ast::Expr>> {
        match self.peek() {
            Lexeme::Newline | Lexeme::End => Ok(None),
            _ => self.expr().map(Some),
        }
    }

    /// `PLACE [[KEY]] [: TOKEN | COUNT] [if CONDITION]`
    fn output(&mut self, is_else: bool) -> Checked<OutLine> {
        let place = self.name("the name of a place")?;
        let key = self.index()?;
        let is_bare = matches!(self.peek(), Lexeme::Newline | Lexeme::End) || self.is_word("if");
        let value = if self.take(":") || !is_bare {
            Some(self.expr()?)
        } else {
            None
        };
        let only_if = self.optional("if")?;
        Ok(OutLine {
            place,
            key,
            value,
            only_if,
            is_else,
        })
    }
}
