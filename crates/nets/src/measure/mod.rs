//! Measures: what a net declares, checked, and the numbers of a run.

mod check;
mod quantiles;
mod value;

use std::cell::RefCell;

use inorder_base::random::Random;
use inorder_metrics::{Lanes, METRICS, RECEIVED, Readings, Receivers, Reordering};
use inorder_petri::coloured::{Bound, Marking, PlaceId};
use inorder_petri::statistics::Totals;
use inorder_report::{AnyColumn, number};

pub(crate) use self::check::plan;
use self::quantiles::Quantiles;
use self::value::{Leaf, Measure};
use crate::code::{Int, Real};
use crate::token::Token;
use crate::units::Clock;

/// A number of the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The order whose metric it is; `measures` for numbers that the net declares.
    pub group: String,
    /// Its name.
    pub name: String,
    /// Its unit; may be empty.
    pub unit: String,
}

/// A value of every token that arrives in a place.
pub(crate) struct Collector<const N: usize> {
    place: PlaceId,
    value: Real<N>,
    sum: f64,
    count: u64,
    /// The value is a condition.
    is_condition: bool,
    /// For quantiles.
    values: Option<Quantiles>,
}

/// Tokens that must lie on both sides of a quantile for it to be known.
const MIN_TOKENS_BEYOND: f64 = 10.0;

/// Why a number of a run has no interval, or may have none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unsure {
    /// It is 0 because what it counts did not occur; the rate at which it may is below this number, which is infinite where
    /// nothing is known.
    NeverSeen(f64),
    /// A quantile with fewer than ten tokens beyond it.
    FewTokens,
    /// It is computed from whole numbers, which are equal in a few runs by chance: that says nothing of their spread.
    Counted,
}

/// What was measured in a run.
pub(crate) struct Measured {
    /// The measures with their names.
    pub(crate) measures: Vec<(String, f64)>,
    /// By measure.
    pub(crate) unsure: Vec<Option<Unsure>>,
    pub(crate) orders: Vec<Ordered>,
}

/// The integral over time of a number computed from numbers of tokens.
pub(crate) struct Gauge {
    of: Measure,
    value: f64,
    since: u64,
    integral: f64,
}

/// The order of the tokens that arrive in a place.
pub(crate) struct Order<const N: usize> {
    place: PlaceId,
    number: Int<N>,
    stream: Option<Int<N>>,
    bytes: Option<Int<N>>,
    flow: Option<(Int<N>, Int<N>)>,
    /// `None` for a net of a chain that is not the last.
    lanes: Option<Lanes>,
    receivers: Receivers,
}

/// The order of the tokens that arrived in a place, from the first one on.
#[derive(Debug)]
pub struct Ordered {
    /// What receivers that acknowledge cumulatively saw.
    pub readings: Readings,
    /// The metrics of RFC 4737 and RFC 5236; of several nets in a chain only behind the last.
    pub metrics: Option<Reordering>,
}

impl Ordered {
    /// The values of the rows of an order.
    fn values(&self) -> impl Iterator<Item = f64> {
        let received = RECEIVED.iter();
        let received =
            received.map(|column| column.value(&self.readings).number().unwrap_or(f64::NAN));
        let metrics = self.metrics.iter().flat_map(|metrics| {
            let value = |column: &inorder_report::Column<Reordering>| {
                number::bare(column.field.kind, &column.value(metrics)).unwrap_or(f64::NAN)
            };
            METRICS.iter().map(value)
        });
        received.chain(metrics)
    }
}

/// The numbers of the rows: of the measures, then of the orders.
pub(crate) fn values(measures: &[(String, f64)], orders: &[Ordered]) -> Vec<f64> {
    let of_orders = orders.iter().flat_map(Ordered::values);
    let measures = measures.iter().map(|(_, value)| *value);
    measures.chain(of_orders).collect()
}

/// Everything that is measured in a run.
pub(crate) struct Plan<const N: usize> {
    rows: Vec<Row>,
    /// The measures, each with the value of its unit.
    measures: Vec<(Measure, f64)>,
    collectors: Vec<Collector<N>>,
    gauges: Vec<Gauge>,
    orders: Vec<Order<N>>,
    /// By place: whether its tokens are looked at.
    watched: Vec<bool>,
    clock: Clock,
    random: RefCell<Random>,
    is_warm: bool,
}

impl<const N: usize> Plan<N> {
    /// What the values stand for; without `is_last` only the measures and what receivers see.
    pub(crate) fn rows(&self, is_last: bool) -> impl Iterator<Item = &Row> {
        let (declared, of_orders) = self.rows.split_at(self.measures.len());
        let each = RECEIVED.len() + METRICS.len();
        let kept = if is_last { each } else { RECEIVED.len() };
        let of_orders = of_orders.chunks(each);
        declared
            .iter()
            .chain(of_orders.flat_map(move |rows| rows.iter().take(kept)))
    }

    pub(crate) fn watch(&mut self, place: PlaceId) {
        self.watched[place.index()] = true;
    }

    #[inline]
    pub(crate) fn is_watched(&self, place: PlaceId) -> bool {
        self.watched[place.index()]
    }

    /// A token arrived in a place that is watched.
    pub(crate) fn deposited(&mut self, now: u64, place: PlaceId, token: &Token<N>) {
        let bound = Bound {
            tokens: std::slice::from_ref(token),
            colour: 0,
            now,
            started: now,
        };
        let random = self.random.get_mut();
        let natural = |value: i64| usize::try_from(value).unwrap_or(usize::MAX);
        for order in self.orders.iter_mut().filter(|order| order.place == place) {
            let number = (order.number)(&bound, random);
            let lane = order
                .stream
                .as_ref()
                .map_or(0, |of| natural(of(&bound, random)));
            let bytes = order.bytes.as_ref().map_or(0, |of| of(&bound, random));
            if let Some(lanes) = &mut order.lanes {
                let time_ns = self.clock.nanoseconds(now);
                let bytes = u32::try_from(bytes).unwrap_or(0);
                lanes.receive(lane, number.max(0).cast_unsigned(), time_ns, bytes);
            }
            let (flow, seq) = match &order.flow {
                Some((flow, number)) => (flow(&bound, random), number(&bound, random)),
                None => (0, number),
            };
            order.receivers.receive(lane, flow as u32, seq as u32);
        }
        if !self.is_warm {
            return;
        }
        for collector in self.collectors.iter_mut().filter(|c| c.place == place) {
            let value = (collector.value)(&bound, random);
            collector.sum += value;
            collector.count += 1;
            if let Some(values) = &mut collector.values {
                values.add(value);
            }
        }
    }

    pub(crate) fn has_gauges(&self) -> bool {
        !self.gauges.is_empty()
    }

    /// The numbers of tokens from `now` on.
    pub(crate) fn settled(&mut self, now: u64, tokens: &dyn Marking) {
        for gauge in &mut self.gauges {
            gauge.integral += gauge.value * (now - gauge.since) as f64;
            gauge.since = now;
            gauge.value = gauge.of.value(&|leaf| match leaf {
                Leaf::Tokens(place) => f64::from(tokens.tokens(place)),
                Leaf::WithKey(place, key) => f64::from(tokens.with_key(place, key)),
                _ => 0.0,
            });
        }
    }

    /// The warm-up is over.
    pub(crate) fn warmed_up(&mut self, now: u64) {
        self.is_warm = true;
        for gauge in &mut self.gauges {
            (gauge.since, gauge.integral) = (now, 0.0);
        }
    }

    /// The measures and the orders, from the totals at the end of the warm-up and of the run.
    pub(crate) fn finish(mut self, from: (&Totals, u64), to: (&Totals, u64)) -> Measured {
        for gauge in &mut self.gauges {
            gauge.integral += gauge.value * to.1.saturating_sub(gauge.since) as f64;
        }
        let ticks = to.1.saturating_sub(from.1) as f64;
        let leaf = |leaf| self.leaf(leaf, from.0, to.0, ticks);
        let measures = self.measures.iter();
        let unsure = measures
            .clone()
            .map(|(of, unit)| self.unsure(of, *unit, &leaf));
        let unsure = unsure.collect();
        let measures = measures.map(|(of, unit)| of.value(&leaf) / unit);
        let names = self.rows.iter().map(|row| row.name.clone());
        let measures = names.zip(measures).collect();
        let orders = self.orders.into_iter().map(|order| Ordered {
            readings: order.receivers.readings().clone(),
            metrics: order.lanes.map(Lanes::finish),
        });
        Measured {
            measures,
            unsure,
            orders: orders.collect(),
        }
    }

    /// Why a measure is not known.
    fn unsure(&self, of: &Measure, unit: f64, leaf: &dyn Fn(Leaf) -> f64) -> Option<Unsure> {
        let (mut is_few, mut events, mut are_seen) = (false, 0, false);
        of.walk(&mut |one| match one {
            Leaf::Quantile(n, q) if 0.0 < q && q < 1.0 => {
                is_few |= self.collectors[n].count as f64 * q.min(1.0 - q) < MIN_TOKENS_BEYOND;
            }
            Leaf::Mean(n) if !self.collectors[n].is_condition => {}
            Leaf::Firings(_) | Leaf::Arrivals(_) | Leaf::Gauge(_) | Leaf::Mean(_) => {
                events += 1;
                are_seen |= leaf(one) != 0.0;
            }
            _ => {}
        });
        if is_few {
            return Some(Unsure::FewTokens);
        }
        let is_unseen = events > 0 && !are_seen && of.value(leaf) == 0.0;
        // At a rate above 3 / t, what is random and never occurs in a time t is seen in 95 % of all runs.
        let bound = match of.is_rate() {
            true => 3.0 / leaf(Leaf::Ticks) / unit,
            false => f64::INFINITY,
        };
        if is_unseen {
            return Some(Unsure::NeverSeen(bound));
        }
        self.is_counted(of).then_some(Unsure::Counted)
    }

    /// Whether a measure is computed from whole numbers and the time of the run only.
    fn is_counted(&self, of: &Measure) -> bool {
        let (mut counts, mut others) = (0, 0);
        of.walk(&mut |one| match one {
            Leaf::Firings(_) | Leaf::Arrivals(_) | Leaf::Peak(_) => counts += 1,
            Leaf::Mean(n) if self.collectors[n].is_condition => counts += 1,
            Leaf::Ticks => {}
            _ => others += 1,
        });
        counts > 0 && others == 0
    }

    fn leaf(&self, leaf: Leaf, from: &Totals, to: &Totals, ticks: f64) -> f64 {
        let place = |place: PlaceId| (&from.places[place.index()], &to.places[place.index()]);
        match leaf {
            Leaf::Firings(t) => (to.transitions[t].firings - from.transitions[t].firings) as f64,
            Leaf::Busy(t) => (to.transitions[t].busy - from.transitions[t].busy) as f64 / ticks,
            Leaf::Arrivals(p) => {
                let (from, to) = place(p);
                (to.arrivals - from.arrivals) as f64
            }
            Leaf::Tokens(p) => {
                let (from, to) = place(p);
                (to.integral - from.integral) as f64 / ticks
            }
            Leaf::WithKey(..) => f64::NAN,
            Leaf::Peak(p) => f64::from(place(p).1.peak),
            Leaf::Ticks => ticks,
            Leaf::Sum(n) => self.collectors[n].sum,
            Leaf::Mean(n) => self.collectors[n].sum / self.collectors[n].count as f64,
            Leaf::Quantile(n, q) => {
                let values = self.collectors[n].values.as_ref();
                let value = values.and_then(|values| values.quantile(q));
                value.unwrap_or(f64::NAN)
            }
            Leaf::Gauge(n) => self.gauges[n].integral / ticks,
        }
    }
}

/// The rows of an order.
fn rows_of(order: &str) -> impl Iterator<Item = Row> {
    let row = |name: String, unit: &str| Row {
        group: order.to_owned(),
        name,
        unit: unit.to_owned(),
    };
    let received = RECEIVED.iter();
    let received = received.map(move |c| row(c.field.name.to_owned(), c.field.unit));
    let metrics = METRICS.iter();
    let metrics =
        metrics.map(move |c| row(number::bare_name(&c.field), number::bare_unit(&c.field)));
    received.chain(metrics)
}
