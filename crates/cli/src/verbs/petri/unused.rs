//! Refuses options of a simulation or of an exploration that would change nothing of what is asked.

use inorder_petri::net::Net;
use inorder_petri::query::Query;

use super::{Args, simulates};
use crate::error::CliError;

/// Without something to simulate, explore or solve.
const NOT_SIMULATED: &str =
    "only for simulations, and nothing is simulated here; --simulate does so";
const NEITHER: &str = "the end of a simulation or the time of an exact solution, and nothing is simulated or solved here";
const TRACED: &str = "not with --trace, whose run ends at --time and in which transitions race";
const OVER_TIME: &str = "not with --at, for which all runs are made";
const NOT_EXPLORED: &str = "only with --exact, --query, --states or --invariants";

/// Refuses the first option that would have no effect.
pub(super) fn refuse(args: &Args, net: &Net) -> Result<(), CliError> {
    let options = &args.simulation;
    let is_number = |text: &String| matches!(Query::read(text, net), Ok(Query::Mean(_)));
    let simulated = simulates(args) && !args.play;
    let solved =
        args.wanted.exact || !args.wanted.simulate && args.wanted.query.iter().any(is_number);
    let traced = args.trace.is_some();
    let explores = args.wanted.exact
        || args.wanted.invariants
        || !args.wanted.query.is_empty()
        || args.wanted.states.is_some();
    let problem = |option: &str| match option {
        "--time" => (!simulated && !solved && !traced).then_some(NEITHER),
        "--memory" => (!simulated && !traced).then_some(NOT_SIMULATED),
        "--reserve" if traced => Some(TRACED),
        "--warm-up" | "--replications" if traced && !simulated => Some(TRACED),
        "--precision" if simulated && args.at.is_some() => Some(OVER_TIME),
        "--at" => (!simulated && !solved).then_some(NEITHER),
        "--limit" => (!explores).then_some(NOT_EXPLORED),
        _ => (!simulated).then_some(NOT_SIMULATED),
    };
    let others = [
        ("--at", args.at.is_some()),
        ("--limit", args.wanted.limit.is_some()),
    ];
    let others = others.into_iter().filter(|(_, given)| *given);
    let mut given = options.given().chain(others.map(|(option, _)| option));
    let refused = given.find_map(|option| Some(format!("{option}: {}", problem(option)?)));
    refused.map_or(Ok(()), |problem| Err(CliError::Usage(problem)))
}
