//! Finds out what is wanted.

use inorder_petri::invariants::Invariants;
use inorder_petri::markov::{Chain, MarkovError};
use inorder_petri::net::Net;
use inorder_petri::query::Sum;
use inorder_petri::reachability::{Graph, Report};

use crate::document::{Document, Findings};
use crate::error::Error;
use crate::exact::Exact;
use crate::queries::{self, Answer, Asked};
use crate::simulate::{self, Settings};
use crate::watch::{Progress, Watch};

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
    if let Some(bound) = wishes.reachability {
        let graph = explore(&net, bound, watch);
        findings.reachability = Some(Report::of_graph(&net, &graph));
    }
    examine_markings(&net, wishes, &asked, watch, &mut findings);
    if wishes.exact || (!wishes.simulate && asks_for_numbers) {
        solve(&net, wishes, &asked, watch, &mut findings).map_err(Error::not_applicable)?;
    }
    if wishes.simulate {
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
            .extend(answers.map(|((text, _), mean)| queries::estimated(text, mean)));
        findings.simulated = Some(simulated);
    }
    let place = |answer: &Answer| wishes.queries.iter().position(|q| *q == answer.query);
    findings.answers.sort_by_key(place);
    findings.was_interrupted = watch.is_stopped();
    Ok(Document { net, findings })
}

/// What needs the reachable markings: formulas, and the graph itself.
fn examine_markings(
    net: &Net,
    wishes: &Wishes,
    asked: &[Asked],
    watch: &Watch<'_>,
    findings: &mut Findings,
) {
    if !wishes.graph && queries::formulas(asked).next().is_none() {
        return;
    }
    let graph = explore(net, wishes.limit.unwrap_or(MAX_MARKINGS), watch);
    let answers = queries::formulas(asked)
        .map(|(text, formula)| queries::checked(text, formula, net, &graph));
    findings.answers.extend(answers);
    findings.graph = wishes.graph.then_some(graph);
}

/// The exact solution in the long run, or at the time that was given.
fn solve(
    net: &Net,
    wishes: &Wishes,
    asked: &[Asked],
    watch: &Watch<'_>,
    findings: &mut Findings,
) -> Result<(), MarkovError> {
    let limit = wishes.limit.unwrap_or(MAX_MARKINGS);
    let chain = Chain::new_while(net, limit, |graph| explored(graph, watch))?;
    watch.tell(Progress::Solving {
        markings: chain.len(),
    });
    let time = wishes.simulation.time;
    let solution = match time {
        Some(time) => chain.transient(time)?,
        None => chain.steady_state()?,
    };
    let answers =
        queries::numbers(asked).map(|(text, sum)| queries::solved(text, sum, net, &solution));
    if !wishes.simulate {
        findings.answers.extend(answers);
    }
    if wishes.exact {
        findings.exact = Some(Exact::new(&chain, &solution, time));
    }
    Ok(())
}

fn explore(net: &Net, limit: usize, watch: &Watch<'_>) -> Graph {
    Graph::explore_while(net, limit, |graph| explored(graph, watch))
}

fn explored(graph: &Graph, watch: &Watch<'_>) -> bool {
    watch.tell(Progress::Explored {
        markings: graph.len(),
        bytes: graph.memory_footprint(),
    })
}
