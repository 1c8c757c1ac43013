//! Finds out what is wanted.

use crate::invariants::Invariants;
use crate::markov::{Chain, MarkovError};
use crate::net::Net;
use crate::query::Sum;
use crate::reachability::{Graph, Moves, Plain, Report};

use crate::inspect::document::{Document, Findings};
use crate::inspect::error::Error;
use crate::inspect::exact::Exact;
use crate::inspect::queries::{self, Answer, Asked};
use crate::inspect::simulate::{self, Settings};
use crate::inspect::watch::{Progress, Watch};

/// Maximum number of markings that are explored, unless [`Wishes::limit`] says otherwise.
const MAX_MARKINGS: usize = 2_000_000;

/// What is wanted of a net.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// Simulate; queries about numbers are then estimated instead of solved.
    pub simulate: bool,
    /// Solve the Markov chain.
    pub exact: bool,
    /// Find P- and T-invariants.
    pub invariants: bool,
    /// Explore up to this many markings for the report on them.
    pub reachability: Option<usize>,
    /// Queries to answer.
    pub queries: Vec<String>,
    /// Keep the reachable markings in [`Findings::graph`].
    pub graph: bool,
    /// Greatest number of markings for solutions, queries and the graph, and of intermediate solutions for invariants.
    pub limit: Option<usize>,
    /// How to simulate; the exact solution is that at its `time`, if there is one.
    pub simulation: Settings,
}

/// Finds out what is wanted. If the job was stopped, the findings are those until then.
///
/// # Errors
/// If a query cannot be read, or what is wanted does not apply to the net.
pub fn examine(net: Net, wishes: &Wishes, watch: &Watch<'_>) -> Result<Document, Error> {
    let asked = queries::read(&wishes.queries, &net)?;
    let asks_for_numbers = queries::numbers(&asked).next().is_some();
    if wishes.simulate && wishes.simulation.reserve && asks_for_numbers {
        return Err(Error::Reserved);
    }
    let mut findings = Findings::default();
    if wishes.invariants {
        let limit = wishes.limit.unwrap_or(Invariants::LIMIT);
        let found = Invariants::limited(&net, limit).map_err(Error::not_applicable)?;
        findings.invariants = Some(found);
    }
    examine_markings(&mut Plain::of(&net), wishes, &asked, watch, &mut findings)?;
    if wishes.exact || (!wishes.simulate && asks_for_numbers) {
        let limit = wishes.limit.unwrap_or(MAX_MARKINGS);
        let chain = Chain::new_while(&net, limit, |graph| explored(graph, watch));
        solve(chain, wishes, &asked, watch, &mut findings)?;
    }
    if wishes.simulate && !watch.is_stopped() {
        let rewards: Vec<Sum> = queries::numbers(&asked)
            .map(|(_, sum)| sum.clone())
            .collect();
        let simulated = simulate::run(&net, &wishes.simulation, &rewards, watch)?;
        let means = match wishes.simulation.at_end {
            true => &simulated.measures.rewards_at_end,
            false => &simulated.measures.rewards,
        };
        let means = means.iter().copied();
        let answers = queries::numbers(&asked).zip(means);
        findings
            .answers
            .extend(answers.map(|((text, sum), mean)| queries::estimated(text, sum, mean)));
        findings.simulated = Some(simulated);
    }
    Ok(finished(net, findings, wishes, watch))
}

/// Finds out what is wanted about anything with states and moves, as a coloured net. It is not simulated here and has no invariants.
///
/// # Errors
/// If a query cannot be read, or what is wanted does not apply to the net.
pub fn examine_moves(
    moves: &mut dyn Moves,
    wishes: &Wishes,
    watch: &Watch<'_>,
) -> Result<Document, Error> {
    let asked = queries::read(&wishes.queries, moves.net())?;
    if let Some((text, _)) = queries::numbers(&asked).find(|(_, sum)| sum.asks_what_is_enabled()) {
        return Err(Error::Query {
            text: text.to_owned(),
            problem: "what is enabled in a coloured net depends on more than numbers of tokens; \
                      ask for T.busy, or a formula such as EF deadlock"
                .to_owned(),
        });
    }
    let mut findings = Findings::default();
    examine_markings(moves, wishes, &asked, watch, &mut findings)?;
    if wishes.exact || queries::numbers(&asked).next().is_some() {
        let limit = wishes.limit.unwrap_or(MAX_MARKINGS);
        let chain = Chain::of_moves(moves, limit, |graph| explored(graph, watch));
        solve(chain, wishes, &asked, watch, &mut findings)?;
    }
    Ok(finished(moves.net().clone(), findings, wishes, watch))
}

fn finished(net: Net, mut findings: Findings, wishes: &Wishes, watch: &Watch<'_>) -> Document {
    let place = |answer: &Answer| wishes.queries.iter().position(|q| *q == answer.query);
    findings.answers.sort_by_key(place);
    findings.was_interrupted = watch.is_stopped();
    Document { net, findings }
}

/// What needs the reachable markings: the report on them, formulas, and the graph itself.
fn examine_markings(
    moves: &mut dyn Moves,
    wishes: &Wishes,
    asked: &[Asked],
    watch: &Watch<'_>,
    findings: &mut Findings,
) -> Result<(), Error> {
    let explore = |moves: &mut dyn Moves, limit: usize| {
        let graph = Graph::of_moves(moves, limit, |graph| explored(graph, watch));
        graph.map_err(Error::not_applicable)
    };
    if let Some(bound) = wishes.reachability {
        let graph = explore(moves, bound)?;
        findings.reachability = Some(Report::of_graph(moves, &graph));
    }
    if !wishes.graph && queries::formulas(asked).next().is_none() {
        return Ok(());
    }
    let graph = explore(moves, wishes.limit.unwrap_or(MAX_MARKINGS))?;
    let answers = queries::formulas(asked)
        .map(|(text, formula)| queries::checked(text, formula, moves.net(), &graph));
    findings.answers.extend(answers);
    findings.graph = wishes.graph.then_some(graph);
    Ok(())
}

/// The exact solution in the long run, or at the time that was given. There is none if the job was stopped.
fn solve(
    chain: Result<Chain, MarkovError>,
    wishes: &Wishes,
    asked: &[Asked],
    watch: &Watch<'_>,
    findings: &mut Findings,
) -> Result<(), Error> {
    let solved = chain.and_then(|chain| solve_chain(&chain, wishes, asked, watch, findings));
    match solved {
        Err(MarkovError::Stopped { .. }) => Ok(()),
        solved => solved.map_err(|error| Error::NotApplicable {
            line: error.line(),
            problem: error.to_string(),
        }),
    }
}

fn solve_chain(
    chain: &Chain,
    wishes: &Wishes,
    asked: &[Asked],
    watch: &Watch<'_>,
    findings: &mut Findings,
) -> Result<(), MarkovError> {
    let markings = chain.len();
    let keep_going = |solving| watch.tell(Progress::Solving { markings, solving });
    let time = wishes.simulation.time;
    let solution = match time {
        Some(time) => chain.transient_while(time, keep_going)?,
        None => chain.steady_state_while(keep_going)?,
    };
    let answers = queries::numbers(asked)
        .map(|(text, sum)| queries::solved(text, sum, chain.net(), &solution));
    if !wishes.simulate {
        findings.answers.extend(answers);
    }
    if wishes.exact {
        findings.exact = Some(Exact::new(chain, &solution, time));
    }
    Ok(())
}

fn explored(graph: &Graph, watch: &Watch<'_>) -> bool {
    watch.tell(Progress::Explored {
        markings: graph.len(),
        bytes: graph.memory_footprint(),
    })
}
