//! One run of a net, or of a chain of nets.

mod cascade;
mod stage;

use inorder_petri::coloured::PlaceId;

use crate::ast::{Kind, RunDecl};
use crate::code::DELAYS;
use crate::error::{Checked, Fault, Span};
use crate::measure::{Row, Unsure};
use crate::names::Names;
use crate::units::TIME;
use cascade::Cascade;
use stage::Stage;
pub(crate) use stage::stands_still;
pub use stage::{Moment, Ran};

/// The numbers of a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) rows: Vec<Row>,
    pub(crate) values: Vec<f64>,
    /// By value: why it is not known.
    pub(crate) unsure: Vec<Option<Unsure>>,
    /// Places that grew until the end, with the tokens that they got for each that they lost.
    pub(crate) unstable: Vec<(String, f64)>,
    /// The marking and what is waited for, if nothing could happen any more before the end of the run.
    pub(crate) stands_still: Option<String>,
    /// Completed firings of all transitions.
    pub(crate) firings: u64,
}

/// When a run ends, and when its warm-up does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Until {
    Tokens { warm_up: u64, end: u64 },
    Time { warm_up: u64, end: u64 },
}

/// Runs the nets of a chain, or the only net, with a seed; `go_on` hears the share of the run that is done and says
/// whether to go on. Without `go_on` they are only checked.
pub(crate) fn run(
    chain: &[Names<'_>],
    seed: u64,
    go_on: Option<&dyn Fn(f64) -> bool>,
) -> Checked<Outcome> {
    let run = Run { seed, go_on };
    with_size(chain, run)
}

/// Something to do with nets whose tokens have at most `N` words.
pub(crate) trait WithSize {
    type Out;
    fn sized<const N: usize>(self, chain: &[Names<'_>]) -> Checked<Self::Out>;
}

struct Run<'g> {
    seed: u64,
    go_on: Option<&'g dyn Fn(f64) -> bool>,
}

impl WithSize for Run<'_> {
    type Out = Outcome;

    fn sized<const N: usize>(self, chain: &[Names<'_>]) -> Checked<Outcome> {
        let (rows, rans) = sized::<N>(chain, self.seed, self.go_on)?;
        // The last net first, since its numbers are those of the chain.
        let values = rans.iter().rev().flat_map(Ran::values).collect();
        let unsure = rans.iter().rev().flat_map(Ran::unsure).collect();
        let unstable = rans.iter().flat_map(|ran| ran.unstable.clone()).collect();
        let stands_still = rans.iter().find_map(|ran| ran.stands_still.clone());
        let firings = rans.iter().map(|ran| ran.end.totals.firings()).sum();
        Ok(Outcome {
            rows,
            values,
            unsure,
            unstable,
            stands_still,
            firings,
        })
    }
}

/// Chooses the size of the tokens.
pub(crate) fn with_size<J: WithSize>(chain: &[Names<'_>], job: J) -> Checked<J::Out> {
    let records = chain.iter().flat_map(|names| &names.records);
    let words = records.map(|record| record.words).max();
    match words.unwrap_or(0) {
        0..=4 => job.sized::<4>(chain),
        5..=8 => job.sized::<8>(chain),
        9..=12 => job.sized::<12>(chain),
        13..=20 => job.sized::<20>(chain),
        21..=64 => job.sized::<64>(chain),
        words => {
            let problem = format!(
                "a record has {words} words, but at most 64 are possible; fields of type `int LOW..HIGH` need one, of type int two"
            );
            Err(Fault::new(Span::default(), problem))
        }
    }
}

/// What was counted in each net of a chain; see [`run`].
pub(crate) fn account(
    chain: &[Names<'_>],
    seed: u64,
    go_on: &dyn Fn(f64) -> bool,
) -> Checked<Vec<Ran>> {
    with_size(chain, Account { seed, go_on })
}

struct Account<'g> {
    seed: u64,
    go_on: &'g dyn Fn(f64) -> bool,
}

impl WithSize for Account<'_> {
    type Out = Vec<Ran>;

    fn sized<const N: usize>(self, chain: &[Names<'_>]) -> Checked<Vec<Ran>> {
        Ok(sized::<N>(chain, self.seed, Some(self.go_on))?.1)
    }
}

/// The rows, those of the last net first, and what was counted in each net.
fn sized<const N: usize>(
    chain: &[Names<'_>],
    seed: u64,
    go_on: Option<&dyn Fn(f64) -> bool>,
) -> Checked<(Vec<Row>, Vec<Ran>)> {
    let stage = |names| Stage::<N>::new(names, seed);
    let stages = chain.iter().map(stage).collect::<Checked<Vec<_>>>()?;
    let rows = stages.iter().rev().flat_map(Stage::rows).collect();
    let Some(last) = chain.last() else {
        return Err(Fault::new(Span::default(), "there is no net"));
    };
    let (until, at) = ends(last)?;
    let Some(go_on) = go_on else {
        return Ok((rows, Vec::new()));
    };
    Ok((rows, Cascade::new(stages, until, at).run(go_on)?))
}

/// When a run ends, and where that is declared.
pub(crate) fn ends(names: &Names<'_>) -> Checked<(Until, Span)> {
    let (run, at) = declared(names)?;
    Ok((until(names, run)?, at))
}

/// What `run` says, and where.
fn declared<'p>(names: &Names<'p>) -> Checked<(&'p RunDecl, Span)> {
    let declared = names
        .statements
        .iter()
        .find_map(|statement| match &statement.kind {
            Kind::Run(run) => Some((run, statement.at)),
            _ => None,
        });
    declared.ok_or_else(|| {
        let problem = "the net does not say how long a run takes: expected `run COUNT at PLACE` or `run TIME`";
        Fault::new(Span::default(), problem)
    })
}

/// The place whose tokens a net of a chain counts: for the last one that of `run`, for the others the sink from which
/// they are passed on.
pub(crate) fn counted(names: &Names<'_>, places: &[PlaceId]) -> Checked<Option<PlaceId>> {
    let place = match names.chain_of().filter(|_| !names.hop.is_last()) {
        Some(chain) => Some(&chain.from),
        None => declared(names)?.0.place.as_ref(),
    };
    place
        .map(|place| Ok(places[names.place(place)?]))
        .transpose()
}

fn until(names: &Names<'_>, run: &RunDecl) -> Checked<Until> {
    let (warm_up, end) = length(names, run)?;
    if end == 0 || warm_up >= end {
        let what = if end == 0 {
            "a run longer than 0"
        } else {
            "a warm-up shorter than the run"
        };
        return Err(Fault::expected(run.end.at, what, end));
    }
    if run.place.is_none() {
        return Ok(Until::Time { warm_up, end });
    }
    // The arrival of the first token begins the time in which the others are counted.
    let warm_up = warm_up.max(1).min(end - 1).max(u64::from(end > 1));
    Ok(Until::Tokens { warm_up, end })
}

/// Warm-up and length, in tokens or ticks.
fn length(names: &Names<'_>, run: &RunDecl) -> Checked<(u64, u64)> {
    let value = |expr| match run.place {
        Some(_) => names.int(expr).map(|n| u64::try_from(n).unwrap_or(0)),
        None => match names.real(expr, TIME)? {
            ticks if ticks < DELAYS.end => Ok((ticks + 0.5) as u64),
            _ => Err(Fault::expected(
                expr.at,
                "a time of less than 4e18 ticks",
                "a longer one",
            )),
        },
    };
    let end = value(&run.end)?;
    let warm_up = run.warm_up.as_ref().map(value).transpose()?;
    Ok((warm_up.unwrap_or(end / 10), end))
}
