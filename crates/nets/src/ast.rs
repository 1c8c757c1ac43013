//! The text of a net as a tree.

use inorder_petri::coloured::Which;

use crate::error::Span;
use crate::operator::Operator;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) at: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ExprKind {
    Int(i64),
    Real(f64),
    /// A number with a unit behind it; the flag is true for `/ s` behind the unit.
    Quantity(f64, Name, bool),
    Name(String),
    Field(Box<Expr>, Name),
    Index(Box<Expr>, Box<Expr>),
    /// A function, or a random function of a stream.
    Call {
        stream: Option<Name>,
        function: Name,
        arguments: Vec<Argument>,
    },
    Negative(Box<Expr>),
    Not(Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    If(Box<[Expr; 3]>),
    Case(Box<Expr>, Vec<Arm>),
    Record(Option<Box<Expr>>, Vec<(Name, Expr)>),
}

/// An argument, with its weight in a list of values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Argument {
    pub(crate) value: Expr,
    pub(crate) weight: Option<Expr>,
}

/// One value of a `case`; without a value, all the others.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Arm {
    pub(crate) on: Option<Expr>,
    pub(crate) value: Expr,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) at: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Statement {
    pub(crate) at: Span,
    /// How deep it was included; 0 in the file itself.
    pub(crate) depth: u8,
    pub(crate) kind: Kind,
}

#[expect(
    clippy::large_enum_variant,
    reason = "a net has some hundreds of them, which are read once"
)]
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    Include(String),
    Clock {
        unit: Name,
        at: Option<Expr>,
    },
    Parameter(Parameter),
    Constant {
        name: Name,
        value: Expr,
    },
    Enum {
        name: Name,
        values: Vec<Name>,
    },
    Record {
        name: Name,
        fields: Vec<FieldDecl>,
    },
    Variable {
        name: Name,
        size: Option<Expr>,
        value: Expr,
    },
    Stream(Name),
    Function {
        name: Name,
        parameters: Vec<Name>,
        body: Expr,
    },
    Action {
        name: Name,
        lines: Vec<Do>,
    },
    Alias {
        name: Name,
        place: Name,
    },
    Place(PlaceDecl),
    Transition(TransitionDecl),
    Measure {
        name: Name,
        value: Expr,
        unit: Option<Unit>,
    },
    Order(OrderDecl),
    Run(RunDecl),
    Chain(ChainDecl),
    Sweep {
        name: Name,
        values: Values,
    },
    If {
        on: Expr,
        then: Vec<Statement>,
        otherwise: Vec<Statement>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameter {
    pub(crate) name: Name,
    pub(crate) of: Option<Name>,
    pub(crate) value: Expr,
    pub(crate) range: Option<(Expr, Expr)>,
    pub(crate) about: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FieldDecl {
    pub(crate) name: Name,
    pub(crate) of: Name,
    pub(crate) range: Option<(Expr, Expr)>,
}

/// An assignment, or the name of an action.
#[expect(
    clippy::large_enum_variant,
    reason = "a net has some hundreds of them, which are read once"
)]
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Do {
    Assign {
        name: Name,
        index: Option<Expr>,
        how: Assign,
        value: Expr,
    },
    Action(Name),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Assign {
    Set,
    Add,
    Subtract,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Order {
    Fifo,
    Random,
    Least(Expr),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlaceDecl {
    pub(crate) name: Name,
    pub(crate) capacity: Option<Expr>,
    pub(crate) tokens: Tokens,
}

impl PlaceDecl {
    /// Whether it is divided by a key.
    pub(crate) fn has_keys(&self) -> bool {
        match &self.tokens {
            Tokens::Plain { keys, .. } => keys.is_some(),
            Tokens::Typed { by, .. } => by.is_some(),
            Tokens::Sink { .. } => false,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tokens {
    /// Keys, and the number of tokens (of each key).
    Plain {
        keys: Option<Expr>,
        count: Option<Expr>,
    },
    Typed {
        record: Name,
        order: Order,
        by: Option<(Expr, Expr)>,
        initial: Vec<TokenLine>,
    },
    Sink {
        record: Name,
    },
}

/// Initial tokens: one for each combination of the variables.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TokenLine {
    pub(crate) value: Expr,
    pub(crate) each: Vec<(Name, Expr, Expr)>,
    pub(crate) only_if: Option<Expr>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TransitionDecl {
    pub(crate) name: Name,
    pub(crate) lines: Vec<ArcLine>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ArcLine {
    pub(crate) at: Span,
    pub(crate) kind: ArcKind,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ArcKind {
    Priority(Expr),
    Weight(Expr),
    Servers(Expr),
    Delay(Expr),
    Guard(Expr),
    /// Takes tokens, or with `keep` only looks at them.
    In {
        bind: Vec<Name>,
        place: Name,
        key: Option<Expr>,
        count: Option<Expr>,
        keep: bool,
    },
    Inhibit {
        place: Name,
        key: Option<Expr>,
        count: Option<Expr>,
    },
    Reset(Name),
    Cancel(CancelLine),
    Do(Do),
    Out(OutLine),
    If {
        on: Expr,
        then: Vec<ArcLine>,
        otherwise: Vec<ArcLine>,
    },
}

/// Firings of another transition that end without outputs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CancelLine {
    /// The name of the first token that such a firing holds.
    pub(crate) bind: Option<Name>,
    pub(crate) transition: Name,
    pub(crate) which: Which,
    pub(crate) to: Option<Name>,
    pub(crate) only_if: Option<Expr>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OutLine {
    pub(crate) place: Name,
    pub(crate) key: Option<Expr>,
    /// A token, or for plain tokens their number.
    pub(crate) value: Option<Expr>,
    pub(crate) only_if: Option<Expr>,
    /// True for a further place of the output before it.
    pub(crate) is_else: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unit {
    pub(crate) text: String,
    pub(crate) value: Expr,
}

/// A stream of numbered tokens whose order is measured.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OrderDecl {
    pub(crate) name: Name,
    pub(crate) place: Name,
    pub(crate) number: Expr,
    pub(crate) stream: Option<(Expr, Expr)>,
    pub(crate) bytes: Option<Expr>,
    pub(crate) flow: Option<(Expr, Expr)>,
    pub(crate) ends: Option<Expr>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RunDecl {
    pub(crate) end: Expr,
    pub(crate) place: Option<Name>,
    pub(crate) warm_up: Option<Expr>,
}

/// The net several times, one behind the other.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ChainDecl {
    /// The name of the number of each net.
    pub(crate) number: Name,
    pub(crate) count: Expr,
    pub(crate) from: Name,
    pub(crate) to: Name,
}

/// The values of a sweep.
#[expect(
    clippy::large_enum_variant,
    reason = "a net has some hundreds of them, which are read once"
)]
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Values {
    List(Vec<Expr>),
    Range {
        from: Expr,
        to: Expr,
        step: Option<Expr>,
    },
}
