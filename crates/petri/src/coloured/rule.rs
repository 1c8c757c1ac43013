//! Transitions as the engine runs them: conditions that do not depend on bindings come first, in flat lists.

use std::collections::BTreeSet;

use inorder_base::random::Random;

use super::bound::Bound;
use super::handle::Of;
use super::model::PlaceSpec;
use super::spec::{Act, Cancel, Count, Output, Product, Spend, Take, Timing, TransitionSpec};
use crate::schedule::tally::TransitionTally;

/// At least (or, for inhibitors, fewer than) `count` tokens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Need {
    pub(crate) place: u32,
    pub(crate) count: u32,
}

/// Room that outputs need in a place with a capacity.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    pub(crate) place: u32,
    /// Number of tokens after the firing minus the number before.
    pub(crate) growth: u32,
    /// Number of tokens deposited.
    pub(crate) reserve: u32,
}

/// Which lane of a place an arc refers to.
pub(crate) enum Lane<T> {
    /// The place has only one lane.
    Only,
    /// The lane of the firing's colour.
    Colour,
    /// Computed from the bound tokens.
    Of(Of<T, u32>),
}

impl<T> Lane<T> {
    fn new(place: &PlaceSpec<T>, key: Option<Of<T, u32>>) -> Self {
        match key {
            Some(key) => Self::Of(key),
            None if place.is_keyed() => Self::Colour,
            None => Self::Only,
        }
    }

    #[inline]
    pub(crate) fn of(&mut self, bound: &Bound<'_, T>) -> u32 {
        match self {
            Self::Only => 0,
            Self::Colour => bound.colour,
            Self::Of(key) => key(bound),
        }
    }

    fn is_told(&self) -> bool {
        matches!(self, Self::Of(_))
    }
}

impl<T> Count<T> {
    #[inline]
    pub(crate) fn of(&mut self, bound: &Bound<'_, T>) -> u32 {
        match self {
            Self::Fixed(count) => *count,
            Self::By(count) => count(bound),
        }
    }
}

pub(crate) struct TakeArc<T> {
    pub(crate) place: u32,
    pub(crate) count: u32,
    pub(crate) lane: Lane<T>,
    pub(crate) keep: bool,
}

pub(crate) struct SpendArc<T> {
    pub(crate) place: u32,
    pub(crate) count: Count<T>,
    pub(crate) lane: Lane<T>,
    pub(crate) keep: bool,
}

/// An output arc; `lane` is used for plain tokens, typed tokens contain their key.
pub(crate) struct OutputArc<T> {
    pub(crate) place: u32,
    pub(crate) product: Product<T>,
    pub(crate) lane: Lane<T>,
}

/// Conditions on the numbers of tokens in places, independent of colours.
pub(crate) struct Conditions {
    /// Places that must hold several tokens.
    pub(crate) needs: Box<[Need]>,
    /// Places that must hold fewer tokens than this.
    pub(crate) inhibitors: Box<[Need]>,
    /// Places that must have room for the outputs of the transition.
    pub(crate) rooms: Box<[Room]>,
}

/// A transition of a running net.
pub(crate) struct Rule<T> {
    /// Its index in the modeller's order.
    pub(crate) id: u32,
    pub(crate) priority: u32,
    pub(crate) weight: f64,
    pub(crate) servers: u32,
    /// Conditions that do not depend on the colour.
    pub(crate) conditions: Conditions,
    /// The keyed places joined by the colour.
    pub(crate) joins: Box<[u32]>,
    /// The enabled colours at the last check; one bit for a transition without colour.
    pub(crate) enabled: Box<[u64]>,
    /// Their number.
    pub(crate) ways: u32,
    /// True if the lists above are not sufficient: a colour is then enabled if a binding is found.
    pub(crate) must_bind: bool,
    /// True if there may be more than one binding per colour.
    pub(crate) must_search: bool,
    pub(crate) takes: Box<[TakeArc<T>]>,
    pub(crate) spends: Box<[SpendArc<T>]>,
    pub(crate) colour_inhibitors: Box<[Need]>,
    pub(crate) resets: Box<[u32]>,
    pub(crate) guard: Option<Of<T, bool>>,
    pub(crate) timing: Timing<T>,
    pub(crate) act: Option<Act<T>>,
    pub(crate) cancels: Box<[Cancel<T>]>,
    /// If firings may be cancelled: those under way, by start time, number of the start, and slot.
    pub(crate) under_way: Option<BTreeSet<(u64, u64, u32)>>,
    pub(crate) outputs: Box<[OutputArc<T>]>,
    pub(crate) random: Random,
    pub(crate) tally: TransitionTally,
}

impl<T> Rule<T> {
    /// Compiles a checked transition.
    pub(crate) fn new(
        id: u32,
        spec: TransitionSpec<T>,
        places: &[PlaceSpec<T>],
        seed: u64,
    ) -> Self {
        let priority = spec.priority();
        let servers = servers(&spec);
        let (needs, joins, rooms) = (needs(&spec), joins(&spec, places), rooms(&spec, places));
        let keys = joins.first().map_or(1, |&p| places[p as usize].keys());
        let (per_colour, whole): (Vec<_>, Vec<_>) = spec
            .inhibitors
            .iter()
            .partition(|inhibitor| inhibitor.of_colour);
        let takes: Box<[TakeArc<T>]> = spec
            .takes
            .into_iter()
            .map(|take| take_arc(take, places))
            .collect();
        let spends: Box<[SpendArc<T>]> = spec
            .spends
            .into_iter()
            .map(|spend| spend_arc(spend, places))
            .collect();
        let need = |i: &&super::spec::Inhibitor| Need {
            place: i.place,
            count: i.count,
        };
        let must_bind = spec.guard.is_some()
            || !per_colour.is_empty()
            || takes
                .iter()
                .any(|t| t.lane.is_told() || is_many(&t.lane, t.count))
            || spends.iter().any(|s| s.lane.is_told() || is_many_plain(s));
        let must_search = must_bind && takes.iter().any(|t| places[t.place as usize].is_random());
        Self {
            id,
            priority,
            weight: spec.weight,
            servers,
            conditions: Conditions {
                needs: needs.into_iter().filter(|need| need.count > 1).collect(),
                inhibitors: whole.iter().map(need).collect(),
                rooms,
            },
            joins,
            enabled: vec![0; (keys as usize).div_ceil(64)].into(),
            ways: 0,
            must_bind,
            must_search,
            takes,
            spends,
            colour_inhibitors: per_colour.iter().map(need).collect(),
            resets: spec.resets.into(),
            guard: spec.guard,
            timing: spec.timing,
            act: spec.act,
            cancels: spec.cancels.into(),
            under_way: None,
            outputs: spec
                .outputs
                .into_iter()
                .map(|o| output_arc(o, places))
                .collect(),
            random: Random::new(seed, &format!("transition/{}", spec.name)),
            tally: TransitionTally::default(),
        }
    }

    /// The places that must hold a token for the rule to be enabled.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = u32> {
        let spends = self.spends.iter();
        let spends = spends.filter(|arc| matches!(arc.count, Count::Fixed(1..)));
        self.takes
            .iter()
            .map(|arc| arc.place)
            .chain(spends.map(|arc| arc.place))
    }

    /// Its servers, if it takes time: `Some(None)` for no limit.
    pub(crate) fn limit(&self) -> Option<Option<u32>> {
        let limit = Some(self.servers).filter(|&servers| servers < u32::MAX);
        (!matches!(self.timing, Timing::Immediate)).then_some(limit)
    }

    /// Its priority, and its weight in a random choice.
    pub(crate) fn rank(&self) -> (u32, f64) {
        (self.priority, self.weight * f64::from(self.ways))
    }

    /// Number of tokens that a firing binds.
    pub(crate) fn arity(&self) -> usize {
        self.takes.iter().map(|take| take.count as usize).sum()
    }
}

/// A colour with one token in every keyed place needs no further check, unless several are needed.
fn is_many<T>(lane: &Lane<T>, count: u32) -> bool {
    matches!(lane, Lane::Colour) && count > 1
}

fn is_many_plain<T>(spend: &SpendArc<T>) -> bool {
    match spend.count {
        Count::Fixed(count) => is_many(&spend.lane, count),
        Count::By(_) => true,
    }
}

/// Without inputs, only the servers limit the firings in progress.
fn servers<T>(spec: &TransitionSpec<T>) -> u32 {
    let consumes = spec.takes.iter().any(|t| !t.keep) || spec.spends.iter().any(|s| !s.keep);
    spec.servers.unwrap_or(if consumes { u32::MAX } else { 1 })
}

fn needs<T>(spec: &TransitionSpec<T>) -> Vec<Need> {
    let takes = spec.takes.iter().map(|take| Need {
        place: take.place,
        count: take.count,
    });
    let spends = spec.spends.iter().filter_map(|spend| match spend.count {
        Count::Fixed(count) => Some(Need {
            place: spend.place,
            count,
        }),
        Count::By(_) => None,
    });
    takes.chain(spends).collect()
}

/// The keyed places of arcs that use the colour.
pub(crate) fn joins<T>(spec: &TransitionSpec<T>, places: &[PlaceSpec<T>]) -> Box<[u32]> {
    let takes = spec
        .takes
        .iter()
        .filter(|t| t.key.is_none())
        .map(|t| t.place);
    let spends = spec
        .spends
        .iter()
        .filter(|s| s.key.is_none())
        .map(|s| s.place);
    takes
        .chain(spends)
        .filter(|&p| places[p as usize].is_keyed())
        .collect()
}

fn rooms<T>(spec: &TransitionSpec<T>, places: &[PlaceSpec<T>]) -> Box<[Room]> {
    let mut rooms: Vec<Room> = Vec::new();
    let to = |output: &Output<T>| output.product.places(output.place);
    let outputs = spec
        .outputs
        .iter()
        .flat_map(|o| to(o).into_iter().map(move |p| (p, o)));
    for (place, output) in outputs.filter(|&(p, _)| places[p as usize].capacity().is_some()) {
        let given = given(&output.product);
        match rooms.iter_mut().find(|room| room.place == place) {
            Some(room) => room.reserve = room.reserve.saturating_add(given),
            None => rooms.push(Room {
                place,
                growth: 0,
                reserve: given,
            }),
        }
    }
    for room in &mut rooms {
        room.growth = room.reserve.saturating_sub(taken(spec, room.place));
    }
    rooms.into()
}

fn given<T>(product: &Product<T>) -> u32 {
    match product {
        Product::Plain(Count::Fixed(count), _) => *count,
        _ => 1,
    }
}

/// Number of tokens that a firing certainly takes from a place.
fn taken<T>(spec: &TransitionSpec<T>, place: u32) -> u32 {
    let takes = spec
        .takes
        .iter()
        .filter(|t| t.place == place && !t.keep)
        .map(|t| t.count);
    let spends = spec.spends.iter().filter(|s| s.place == place && !s.keep);
    let spends = spends.map(|s| match s.count {
        Count::Fixed(count) => count,
        Count::By(_) => 0,
    });
    takes.chain(spends).sum()
}

fn take_arc<T>(take: Take<T>, places: &[PlaceSpec<T>]) -> TakeArc<T> {
    TakeArc {
        place: take.place,
        count: take.count,
        lane: Lane::new(&places[take.place as usize], take.key),
        keep: take.keep,
    }
}

fn spend_arc<T>(spend: Spend<T>, places: &[PlaceSpec<T>]) -> SpendArc<T> {
    SpendArc {
        place: spend.place,
        count: spend.count,
        lane: Lane::new(&places[spend.place as usize], spend.key),
        keep: spend.keep,
    }
}

fn output_arc<T>(output: Output<T>, places: &[PlaceSpec<T>]) -> OutputArc<T> {
    let place = &places[output.place as usize];
    match output.product {
        Product::Plain(count, key) => OutputArc {
            place: output.place,
            lane: Lane::new(place, key),
            product: Product::Plain(count, None),
        },
        product => OutputArc {
            place: output.place,
            lane: Lane::Only,
            product,
        },
    }
}
