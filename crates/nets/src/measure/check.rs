//! Checks the measures of a net and makes what counts them.

use std::cell::RefCell;

use inorder_base::random::Random;
use inorder_metrics::{Lanes, Receivers};
use inorder_petri::coloured::PlaceId;

use super::quantiles::Quantiles;
use super::value::{Leaf, Measure};
use super::{Collector, Gauge, Order, Plan, Row, rows_of};
use crate::ast::{Argument, Expr, ExprKind, Kind, Name, OrderDecl, Unit};
use crate::code::Shared;
use crate::error::{Checked, Fault};
use crate::ir::Ty;
use crate::lower::{Lower, May, Scope};
use crate::names::{Item, Names};
use crate::operator::{Arith, Operator};
use crate::units::{Dim, NUMBER, TIME};
use crate::words::{Entry, MEASURES};

/// Streams of an order, at most.
const MAX_STREAMS: i64 = 1 << 16;

/// Makes what counts the measures; `places` are the handles of the places by their number.
pub(crate) fn plan<const N: usize>(
    names: &Names<'_>,
    shared: &Shared,
    places: &[PlaceId],
) -> Checked<Plan<N>> {
    let mut check = Check {
        names,
        shared,
        places,
        collectors: Vec::new(),
        gauges: Vec::new(),
    };
    let (mut rows, mut order_rows) = (Vec::new(), Vec::new());
    let (mut measures, mut orders) = (Vec::new(), Vec::new());
    for statement in &names.statements {
        match &statement.kind {
            Kind::Measure { name, value, unit } => {
                let (row, measure) = check.declared(name, value, unit.as_ref())?;
                rows.push(row);
                measures.push(measure);
            }
            Kind::Order(order) => {
                orders.push(check.order(order)?);
                order_rows.extend(rows_of(&order.name.text));
            }
            _ => {}
        }
    }
    rows.extend(order_rows);
    let mut watched = vec![false; places.len()];
    let seen = check.collectors.iter().map(|c| c.place);
    for place in seen.chain(orders.iter().map(|order| order.place)) {
        watched[place.index()] = true;
    }
    Ok(Plan {
        rows,
        measures,
        collectors: check.collectors,
        gauges: check.gauges,
        orders,
        watched,
        clock: names.clock.clone(),
        random: RefCell::new(Random::new(0, "")),
        is_warm: false,
    })
}

struct Check<'c, 'p, const N: usize> {
    names: &'c Names<'p>,
    shared: &'c Shared,
    places: &'c [PlaceId],
    collectors: Vec<Collector<N>>,
    gauges: Vec<Gauge>,
}

/// A measure with its type: a condition or a real number.
type Typed = (Measure, Ty);

impl<const N: usize> Check<'_, '_, N> {
    fn declared(
        &mut self,
        name: &Name,
        value: &Expr,
        unit: Option<&Unit>,
    ) -> Checked<(Row, (Measure, f64))> {
        let (measure, ty) = self.measure(value, false)?;
        let dim = match ty {
            Ty::Real(dim) => dim,
            _ => return Err(Fault::expected(value.at, "a number", "a condition")),
        };
        let factor = match unit {
            Some(unit) => {
                let node = self.names.constant(&unit.value)?.into_real_if_int();
                match (node.ty == Ty::Real(dim), node.as_real()) {
                    (true, Some(factor)) if factor > 0.0 => factor,
                    _ => {
                        let expected = format!("a unit of {dim}");
                        return Err(Fault::expected(unit.value.at, expected, &unit.text));
                    }
                }
            }
            None if dim == NUMBER => 1.0,
            None => {
                let problem = format!("the measure is {dim}: expected `in UNIT` behind it");
                return Err(Fault::new(value.at, problem));
            }
        };
        let row = Row {
            group: "measures".to_owned(),
            name: name.text.clone(),
            unit: unit.map_or(String::new(), |unit| unit.text.clone()),
        };
        Ok((row, (measure, factor)))
    }

    /// A measure; with `at_once` one of the numbers of tokens at a time, as in P(...).
    fn measure(&mut self, expr: &Expr, at_once: bool) -> Checked<Typed> {
        match &expr.kind {
            ExprKind::Negative(a) => {
                let (a, ty) = self.number(a, at_once)?;
                Ok((Measure::Negative(Box::new(a)), Ty::Real(ty)))
            }
            ExprKind::Not(a) => Ok((
                Measure::Not(Box::new(self.condition(a, at_once)?)),
                Ty::Bool,
            )),
            ExprKind::Binary(operator, a, b) => self.binary(*operator, a, b, at_once),
            ExprKind::If(parts) => {
                let on = self.condition(&parts[0], at_once)?;
                let (then, dim) = self.number(&parts[1], at_once)?;
                let otherwise = self.of_dim(&parts[2], dim, at_once)?;
                Ok((Measure::If(Box::new([on, then, otherwise])), Ty::Real(dim)))
            }
            ExprKind::Call {
                stream: None,
                function,
                arguments,
            } => match self.names.item(&function.text) {
                Some(_) => self.constant(expr),
                None => self.call(function, arguments, at_once),
            },
            _ => self.constant(expr),
        }
    }

    fn constant(&self, expr: &Expr) -> Checked<Typed> {
        let node = self.names.constant(expr)?.into_real_if_int();
        let value = match node.ty {
            Ty::Bool => node.as_int().unwrap_or(0) as f64,
            _ => node.as_real().unwrap_or(f64::NAN),
        };
        Ok((Measure::Number(value), node.ty))
    }

    fn number(&mut self, expr: &Expr, at_once: bool) -> Checked<(Measure, Dim)> {
        match self.measure(expr, at_once)? {
            (measure, Ty::Real(dim)) => Ok((measure, dim)),
            _ => Err(Fault::expected(expr.at, "a number", "something else")),
        }
    }

    fn of_dim(&mut self, expr: &Expr, dim: Dim, at_once: bool) -> Checked<Measure> {
        match self.number(expr, at_once)? {
            (measure, found) if found == dim => Ok(measure),
            (_, found) => Err(Fault::expected(expr.at, dim, found)),
        }
    }

    fn condition(&mut self, expr: &Expr, at_once: bool) -> Checked<Measure> {
        match self.measure(expr, at_once)? {
            (measure, Ty::Bool) => Ok(measure),
            _ => Err(Fault::expected(expr.at, "a condition", "a number")),
        }
    }

    fn binary(&mut self, operator: Operator, a: &Expr, b: &Expr, at_once: bool) -> Checked<Typed> {
        let (left, right, ty) = match operator {
            Operator::And | Operator::Or => {
                let (a, b) = (self.condition(a, at_once)?, self.condition(b, at_once)?);
                (a, b, Ty::Bool)
            }
            Operator::Arith(arith @ (Arith::Multiply | Arith::Divide)) => {
                let ((a, of), (b, by)) = (self.number(a, at_once)?, self.number(b, at_once)?);
                let dim = match arith {
                    Arith::Multiply => of.times(by),
                    _ => of.over(by),
                };
                (a, b, Ty::Real(dim))
            }
            Operator::Arith(_) => {
                let (left, dim) = self.number(a, at_once)?;
                (left, self.of_dim(b, dim, at_once)?, Ty::Real(dim))
            }
            Operator::Compare(_) => {
                let (left, dim) = self.number(a, at_once)?;
                (left, self.of_dim(b, dim, at_once)?, Ty::Bool)
            }
        };
        Ok((
            Measure::Binary(operator, Box::new(left), Box::new(right)),
            ty,
        ))
    }

    fn call(&mut self, function: &Name, arguments: &[Argument], at_once: bool) -> Checked<Typed> {
        let args: Vec<&Expr> = arguments.iter().map(|argument| &argument.value).collect();
        if let ("min" | "max", [a, b]) = (function.text.as_str(), args.as_slice()) {
            return self.extreme(&function.text, a, b, at_once);
        }
        let Some(entry) = MEASURES.iter().find(|entry| entry.name() == function.text) else {
            let known = MEASURES.iter().map(Entry::name);
            return Err(Fault::unknown(
                function.at,
                "a measure",
                &function.text,
                known,
            ));
        };
        let leaf = |leaf, dim| Ok((Measure::Leaf(leaf), Ty::Real(dim)));
        let per_time = Dim { time: -1, data: 0 };
        match (function.text.as_str(), args.as_slice(), at_once) {
            ("tokens", [place], _) => leaf(Leaf::Tokens(self.place(place)?), NUMBER),
            ("tokens", [place, key], true) => {
                let place = self.place(place)?;
                let number = self.names.int(key)?;
                let key = u32::try_from(number)
                    .map_err(|_| Fault::expected(key.at, "a key from 0", number))?;
                leaf(Leaf::WithKey(place, key), NUMBER)
            }
            ("tokens", [_, _], false) => {
                let of = Expr {
                    kind: ExprKind::Call {
                        stream: None,
                        function: function.clone(),
                        arguments: arguments.to_vec(),
                    },
                    at: function.at,
                };
                self.gauge(&of)
            }
            ("P", [condition], false) => {
                let of = self.condition(condition, true)?;
                Ok((self.gauged(of), Ty::Real(NUMBER)))
            }
            ("E", [of], false) => self.gauge(of),
            ("rate", [of, value], false) => {
                let (number, dim) = self.collector(of, value, false)?;
                let sum = Measure::Leaf(Leaf::Sum(number));
                Ok((over(sum, Leaf::Ticks), Ty::Real(dim.over(TIME))))
            }
            ("rate", [of], false) => {
                let counted = Measure::Leaf(self.counted(of)?);
                Ok((over(counted, Leaf::Ticks), Ty::Real(per_time)))
            }
            ("count", [of], false) => leaf(self.counted(of)?, NUMBER),
            ("peak", [place], false) => leaf(Leaf::Peak(self.place(place)?), NUMBER),
            ("busy", [of], false) => leaf(Leaf::Busy(self.transition(of)?), NUMBER),
            ("stay", [place], false) => Ok((stay(self.place(place)?), Ty::Real(TIME))),
            ("mean", [place, value], false) => {
                let (number, dim) = self.collector(place, value, false)?;
                leaf(Leaf::Mean(number), dim)
            }
            ("quantile", [q, place, value], false) => {
                let share = self.names.real(q, NUMBER)?;
                if !(0.0..=1.0).contains(&share) {
                    return Err(Fault::expected(q.at, "a share from 0 to 1", share));
                }
                let (number, dim) = self.collector(place, value, true)?;
                leaf(Leaf::Quantile(number, share), dim)
            }
            _ if at_once => Err(Fault::expected(
                function.at,
                "tokens(PLACE), which is known at any time",
                &function.text,
            )),
            _ => Err(Fault::expected(
                function.at,
                entry.form,
                format!("{} argument(s)", args.len()),
            )),
        }
    }

    /// The smaller or the greater of two numbers.
    fn extreme(&mut self, which: &str, a: &Expr, b: &Expr, at_once: bool) -> Checked<Typed> {
        let (left, dim) = self.number(a, at_once)?;
        let (left, right) = (Box::new(left), Box::new(self.of_dim(b, dim, at_once)?));
        let arith = match which {
            "min" => Arith::Min,
            _ => Arith::Max,
        };
        let measure = Measure::Binary(Operator::Arith(arith), left, right);
        Ok((measure, Ty::Real(dim)))
    }

    fn gauge(&mut self, of: &Expr) -> Checked<Typed> {
        let (of, dim) = self.number(of, true)?;
        Ok((self.gauged(of), Ty::Real(dim)))
    }

    fn gauged(&mut self, of: Measure) -> Measure {
        self.gauges.push(Gauge {
            of,
            value: 0.0,
            since: 0,
            integral: 0.0,
        });
        Measure::Leaf(Leaf::Gauge(self.gauges.len() - 1))
    }

    fn name<'e>(&self, expr: &'e Expr, expected: &str) -> Checked<&'e str> {
        match &expr.kind {
            ExprKind::Name(name) => Ok(name),
            _ => Err(Fault::expected(expr.at, expected, "an expression")),
        }
    }

    fn place_number(&self, expr: &Expr) -> Checked<usize> {
        let text = self.name(expr, "the name of a place")?.to_owned();
        self.names.place(&Name { text, at: expr.at })
    }

    fn place(&self, expr: &Expr) -> Checked<PlaceId> {
        Ok(self.places[self.place_number(expr)?])
    }

    fn transition(&self, expr: &Expr) -> Checked<usize> {
        let name = self.name(expr, "the name of a transition")?;
        match self.names.item(name) {
            Some(&Item::Transition(number)) => Ok(number),
            _ => {
                let all = self.names.statements.iter();
                let known = all.filter_map(|statement| match &statement.kind {
                    Kind::Transition(transition) => Some(transition.name.text.as_str()),
                    _ => None,
                });
                Err(Fault::unknown(
                    expr.at,
                    "the name of a transition",
                    name,
                    known,
                ))
            }
        }
    }

    /// Firings of a transition, or arrivals in a place.
    fn counted(&self, expr: &Expr) -> Checked<Leaf> {
        let name = self.name(expr, "the name of a transition or place")?;
        match self.names.item(name) {
            Some(Item::Transition(_)) => Ok(Leaf::Firings(self.transition(expr)?)),
            _ => Ok(Leaf::Arrivals(self.place(expr)?)),
        }
    }

    /// What the fields of the tokens that arrive in a place are called.
    fn scope(&self, place: &Expr) -> Checked<Scope> {
        let number = self.place_number(place)?;
        let Some(record) = self.names.place_records[number] else {
            return Err(Fault::expected(
                place.at,
                "a place of tokens of a record",
                "plain tokens",
            ));
        };
        Ok(Scope {
            fields_of: Some(record),
            may: May {
                time: true,
                ..May::default()
            },
            ..Scope::default()
        })
    }

    fn collector(&mut self, place: &Expr, value: &Expr, is_ranked: bool) -> Checked<(usize, Dim)> {
        let scope = self.scope(place)?;
        let node = Lower::new(self.names, scope).number(value)?;
        let dim = match node.ty {
            Ty::Int | Ty::Bool => NUMBER,
            Ty::Real(dim) => dim,
            Ty::Enum(_) => {
                return Err(Fault::expected(
                    value.at,
                    "a number",
                    "a value of an enumeration",
                ));
            }
        };
        let is_condition = node.ty == Ty::Bool;
        self.collectors.push(Collector {
            place: self.place(place)?,
            value: self.shared.real(&node),
            sum: 0.0,
            count: 0,
            is_condition,
            values: is_ranked.then(Quantiles::default),
        });
        Ok((self.collectors.len() - 1, dim))
    }

    fn order(&self, order: &OrderDecl) -> Checked<Order<N>> {
        let place = Expr {
            kind: ExprKind::Name(order.place.text.clone()),
            at: order.place.at,
        };
        let lower = Lower::new(self.names, self.scope(&place)?);
        let int = |expr: &Expr| lower.int(expr).map(|node| self.shared.int(&node));
        let streams = match &order.stream {
            None => 1,
            Some((_, below)) => match self.names.int(below)? {
                number @ 1..=MAX_STREAMS => number,
                other => {
                    let expected = format!("1 to {MAX_STREAMS} streams");
                    return Err(Fault::expected(below.at, expected, other));
                }
            },
        };
        let ends = order
            .ends
            .as_ref()
            .map(|ends| self.names.int(ends))
            .transpose()?;
        let ends = ends
            .and_then(|ends| u32::try_from(ends).ok())
            .filter(|&n| n > 0);
        let flow = match &order.flow {
            Some((flow, number)) => Some((int(flow)?, int(number)?)),
            None => None,
        };
        Ok(Order {
            place: self.place(&place)?,
            number: int(&order.number)?,
            stream: order.stream.as_ref().map(|(key, _)| int(key)).transpose()?,
            bytes: order.bytes.as_ref().map(int).transpose()?,
            flow,
            lanes: self.names.hop.is_last().then(|| Lanes::new(streams as u32)),
            receivers: Receivers::new(streams as u32, ends),
        })
    }
}

/// Mean time of a token in a place, by Little's law.
fn stay(place: PlaceId) -> Measure {
    let (tokens, ticks) = (Leaf::Tokens(place), Leaf::Ticks);
    let time = Measure::Binary(
        Operator::Arith(Arith::Multiply),
        Box::new(Measure::Leaf(tokens)),
        Box::new(Measure::Leaf(ticks)),
    );
    over(time, Leaf::Arrivals(place))
}

fn over(a: Measure, b: Leaf) -> Measure {
    Measure::Binary(
        Operator::Arith(Arith::Divide),
        Box::new(a),
        Box::new(Measure::Leaf(b)),
    )
}
