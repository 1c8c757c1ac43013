//! Calls: functions of the net, those of the language, and random ones.

use std::sync::Arc;

use inorder_petri::net::Drawn;
use inorder_petri::net::family::{self, FAMILIES, Family};

use super::{Lower, MAX_CALLS, Scope, Value};
use crate::ast::{Argument, Expr, Name};
use crate::error::{Checked, Fault};
use crate::ir::{Draw, DrawKind, Node, Op, Rounding, Ty};
use crate::names::Item;
use crate::operator::Arith;
use crate::units::{Dim, NUMBER};
use crate::words::{Entry, FUNCTIONS, MEASURES, RANDOM};

impl Lower<'_, '_> {
    pub(super) fn call(
        &self,
        stream: Option<&Name>,
        function: &Name,
        arguments: &[Argument],
        record: Option<usize>,
    ) -> Checked<Value> {
        let is_own = stream.is_none();
        match self.names.item(&function.text) {
            Some(Item::Function(parameters, body)) if is_own => {
                return self.insert(function, parameters, body, arguments, record);
            }
            _ => {}
        }
        let rounding = match function.text.as_str() {
            "floor" => Some(Rounding::Floor),
            "ceil" => Some(Rounding::Ceil),
            "round" => Some(Rounding::Nearest),
            _ => None,
        };
        let node = match (function.text.as_str(), rounding) {
            (_, Some(rounding)) if is_own => self.whole_of(rounding, function, arguments)?,
            ("min" | "max", _) if is_own => {
                let [a, b] = plain(function, arguments)?;
                let arith = if function.text == "min" {
                    Arith::Min
                } else {
                    Arith::Max
                };
                self.sum(arith, a, b, function.at)?
            }
            _ => self.draw(stream, function, arguments)?,
        };
        Ok(Value::Number(node))
    }

    /// The body of a function with its arguments.
    fn insert(
        &self,
        function: &Name,
        parameters: &[Name],
        body: &Expr,
        arguments: &[Argument],
        record: Option<usize>,
    ) -> Checked<Value> {
        if arguments.len() != parameters.len() {
            let expected = format!("{} argument(s) of {}", parameters.len(), function.text);
            return Err(Fault::expected(function.at, expected, arguments.len()));
        }
        if self.calls >= MAX_CALLS {
            let problem = format!("functions call each other more than {MAX_CALLS} deep");
            return Err(Fault::new(function.at, problem));
        }
        let mut values = Vec::new();
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let value = self.value(&argument.value, None)?;
            if let Value::Number(node) = &value {
                let mut draws = false;
                node.walk(&mut |op| draws |= matches!(op, Op::Draw(_)));
                if draws {
                    let problem =
                        "an argument of a function may not be random: it could be used twice";
                    return Err(Fault::new(argument.value.at, problem));
                }
            }
            values.push((parameter.text.clone(), value));
        }
        let inner = Lower {
            names: self.names,
            scope: Scope {
                values,
                may: self.scope.may,
                ..Scope::default()
            },
            calls: self.calls + 1,
        };
        inner.value(body, record)
    }

    fn whole_of(
        &self,
        rounding: Rounding,
        function: &Name,
        arguments: &[Argument],
    ) -> Checked<Node> {
        let [a] = plain(function, arguments)?;
        let node = self.real(a, NUMBER)?;
        let Some(x) = node.as_real() else {
            return Ok(Node {
                ty: Ty::Int,
                op: Op::Whole(rounding, Box::new(node), function.at),
            });
        };
        let whole = rounding.of(x).map(Node::int);
        whole.ok_or_else(|| Fault::expected(function.at, "a whole number of 64 bits", x))
    }

    fn draw(
        &self,
        stream: Option<&Name>,
        function: &Name,
        arguments: &[Argument],
    ) -> Checked<Node> {
        let family = family::named(&function.text);
        if family.is_none() && !RANDOM.iter().any(|entry| entry.name() == function.text) {
            return Err(self.no_function(function));
        }
        if !self.scope.may.draw {
            let problem = format!(
                "{} is random: only delays and what happens at the end of a firing may be",
                function.text
            );
            return Err(Fault::new(function.at, problem));
        }
        let stream = stream.map(|name| self.stream(name)).transpose()?;
        let (ty, kind) = match (family, function.text.as_str()) {
            (Some(family), _) => self.of_family(family, function, arguments)?,
            (_, "exponential") => {
                let [mean] = plain(function, arguments)?;
                let mean = self.any_real(mean)?;
                (mean.ty, DrawKind::Exponential(mean))
            }
            (_, "uniform") => {
                let [low, high] = plain(function, arguments)?;
                let (low, high) = self.alike(low, high)?;
                let (low, high) = (low.into_real(), high.into_real());
                (low.ty, DrawKind::Uniform(low, high))
            }
            (_, "erlang") => {
                let [stages, mean] = plain(function, arguments)?;
                let (stages, mean) = (self.int(stages)?, self.any_real(mean)?);
                (mean.ty, DrawKind::Erlang(stages, mean))
            }
            (_, "unit") => {
                let [] = plain(function, arguments)?;
                (Ty::Real(NUMBER), DrawKind::Unit)
            }
            (_, "chance") => {
                let [p] = plain(function, arguments)?;
                (Ty::Bool, DrawKind::Chance(self.real(p, NUMBER)?))
            }
            (_, "below") => {
                let [n] = plain(function, arguments)?;
                (Ty::Int, DrawKind::Below(self.int(n)?))
            }
            _ => return self.empirical(stream, function, arguments),
        };
        let at = arguments
            .first()
            .map_or(function.at, |first| first.value.at);
        let constants = kind.arguments().map(|both| both.map(Node::as_real));
        if let Some([Some(a), Some(b)]) = constants
            && let Some((expected, found)) = kind.unfit([a, b])
        {
            return Err(Fault::expected(at, expected, found));
        }
        let op = Op::Draw(Box::new(Draw { kind, stream, at }));
        Ok(Node { ty, op })
    }

    fn no_function(&self, function: &Name) -> Fault {
        if MEASURES.iter().any(|entry| entry.name() == function.text) {
            let problem = format!("{} is only for measures", function.text);
            return Fault::new(function.at, problem);
        }
        let known = FUNCTIONS.iter().chain(RANDOM).map(Entry::name);
        let known = known.chain(FAMILIES.iter().map(|family| family.name));
        let known = known.chain(self.names.known());
        Fault::unknown(function.at, "a function", &function.text, known)
    }

    fn stream(&self, name: &Name) -> Checked<usize> {
        match self.names.item(&name.text) {
            Some(&Item::Stream(number)) => Ok(number),
            _ => {
                let known = self.names.streams.iter().copied();
                let expected = "the name of a stream of random numbers";
                Err(Fault::unknown(name.at, expected, &name.text, known))
            }
        }
    }

    fn any_real(&self, expr: &Expr) -> Checked<Node> {
        Ok(self.quantity_of(expr)?.into_real_if_int())
    }

    /// One of several values; of a single one without a random number.
    fn empirical(
        &self,
        stream: Option<usize>,
        function: &Name,
        arguments: &[Argument],
    ) -> Checked<Node> {
        let [first, rest @ ..] = arguments else {
            return Err(Fault::expected(function.at, "at least one value", "none"));
        };
        let mut nodes = vec![self.number(&first.value)?];
        for argument in rest {
            nodes.push(self.alike(&first.value, &argument.value)?.1);
        }
        let mut weights = Vec::new();
        for argument in arguments {
            let weight = match &argument.weight {
                Some(weight) => self.names.real(weight, NUMBER)?,
                None => 1.0,
            };
            if !(weight >= 0.0 && weight.is_finite()) {
                let at = argument.weight.as_ref().map_or(function.at, |w| w.at);
                return Err(Fault::expected(at, "a weight that is not negative", weight));
            }
            weights.push(weight);
        }
        let total: f64 = weights.iter().sum();
        if total <= 0.0 {
            return Err(Fault::expected(function.at, "a weight above 0", "none"));
        }
        if nodes.len() == 1 {
            return Ok(nodes.remove(0));
        }
        let ty = nodes[0].ty;
        let mut sum = 0.0;
        let values = weights.into_iter().zip(nodes).map(|(weight, node)| {
            sum += weight / total;
            (sum, node)
        });
        let kind = DrawKind::Empirical(values.collect());
        let at = first.value.at;
        let op = Op::Draw(Box::new(Draw { kind, stream, at }));
        Ok(Node { ty, op })
    }

    /// A delay of one of the families of plain nets; its parameters are constant.
    fn of_family(
        &self,
        family: &'static Family,
        function: &Name,
        arguments: &[Argument],
    ) -> Checked<(Ty, DrawKind)> {
        if arguments.len() != family.parameters.len() {
            let expected = format!("{}({})", family.name, family.parameters.join(", "));
            let found = format!("{} argument(s)", arguments.len());
            return Err(Fault::expected(function.at, expected, found));
        }
        let (mut values, mut dim) = (Vec::new(), None::<Dim>);
        for (name, argument) in family.parameters.iter().zip(arguments) {
            let node = self.names.constant(&argument.value)?.into_real_if_int();
            let (Ty::Real(of), Some(value)) = (node.ty, node.as_real()) else {
                return Err(Fault::expected(
                    argument.value.at,
                    "a number",
                    "another value",
                ));
            };
            let wanted = match *name {
                "shape" => NUMBER,
                _ => *dim.get_or_insert(of),
            };
            if of != wanted {
                return Err(Fault::expected(argument.value.at, wanted, of));
            }
            values.push(value);
        }
        let drawn = Drawn::new(family, values);
        if let Some((_, _, expected)) = drawn.fault() {
            let problem = format!("{}: expected {expected}", family.name);
            return Err(Fault::new(function.at, problem));
        }
        let ty = Ty::Real(dim.unwrap_or(NUMBER));
        Ok((ty, DrawKind::Family(Arc::new(drawn))))
    }
}

/// The arguments of a function that has this number of them, without weights.
fn plain<'a, const N: usize>(function: &Name, arguments: &'a [Argument]) -> Checked<[&'a Expr; N]> {
    if let Some(weight) = arguments.iter().find_map(|a| a.weight.as_ref()) {
        return Err(Fault::expected(weight.at, "no weights", "a weight"));
    }
    let all: Vec<&Expr> = arguments.iter().map(|argument| &argument.value).collect();
    let count = all.len();
    all.try_into().map_err(|_| {
        let expected = format!("{N} argument(s) of {}", function.text);
        Fault::expected(function.at, expected, count)
    })
}
