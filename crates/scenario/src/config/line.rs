//! Lines between places, and the routes over them.

use super::flow::Direction;
use super::stage::{Label, Stages};
use super::{Config, PathUse};
use crate::declare::keys;
use crate::error::Problem;
use crate::kind::{Count32, Text};
use crate::quantity::require;
use crate::reader::Reader;
use crate::value::Node;

/// Maximum number of lines in a route.
const MAX_LINES_OF_ROUTE: usize = 250;

keys! {
    /// A line from one place to another, in addition to the two paths. The hosts are called `A` and `B`; all other
    /// places are hops, which exist because lines begin or end there.
    pub struct NetworkLine in "line" {
        /// Name for routes and grid keys.
        name: Text, required;
        /// The place at which it begins.
        from: Text, required;
        /// The place at which it ends.
        to: Text, required;
        /// Routers on it: each takes one from the time to live of what passes, which captures show.
        routers: Count32, default "0", in "0"..="60";
        /// The stages that packets pass, in order.
        stages as "stage": Stages, blank "an ideal line";
    }
}

/// The source and the destination host of a direction.
fn hosts(direction: Direction) -> [&'static str; 2] {
    match direction {
        Direction::Forward => ["A", "B"],
        Direction::Reverse => ["B", "A"],
    }
}

/// The paths of `[[forward]]` and `[[reverse]]`: their names in routes, and their ends.
const PATHS: [(&str, Direction); 2] = [
    ("forward", Direction::Forward),
    ("reverse", Direction::Reverse),
];

/// Checks that lines have unique names, and that routes lead from one host to the other.
pub(super) fn check_network(config: &Config, r: &Reader<'_>) -> Result<(), Problem> {
    let elements = |key| r.child(key).map(Node::elements).unwrap_or_default();
    check_lines(&config.lines, elements("line"))?;
    for (flow, node) in config.flows.iter().zip(elements("flow")) {
        let [from, to] = hosts(flow.direction);
        if flow.path == PathUse::Shared {
            check_route(&config.lines, node.get("route"), [from, to])?;
            check_route(&config.lines, node.get("return_route"), [to, from])?;
        }
    }
    for (probe, node) in config.probes.iter().zip(elements("probe")) {
        check_route(&config.lines, node.get("route"), hosts(probe.direction))?;
    }
    Ok(())
}

fn check_lines(lines: &[NetworkLine], nodes: &[Node]) -> Result<(), Problem> {
    for (at, (line, node)) in lines.iter().zip(nodes).enumerate() {
        let place = |key| node.get(key).map_or(&node.place, |node| &node.place);
        let name = &line.name;
        let before = lines.iter().take(at).map(|line| line.name.as_str());
        let taken = PATHS.map(|(path, _)| path).into_iter().chain(before);
        let what = format!("name: a second line is called \"{name}\"");
        let own = !name.is_empty() && taken.into_iter().all(|taken| taken != name);
        require(own, place("name"), &what, "a name of its own")?;
        let what = format!("to: line \"{name}\" ends where it begins");
        require(line.from != line.to, place("to"), &what, "another place")?;
        let stages = node.get("stage").map(Node::elements).unwrap_or_default();
        Label::check_names(stages, "line.stage")?;
    }
    Ok(())
}

fn check_route(
    lines: &[NetworkLine],
    route: Option<&Node>,
    hosts: [&str; 2],
) -> Result<(), Problem> {
    let Some(route) = route else {
        return Ok(());
    };
    let names = route.elements();
    let what = format!("a route of {} lines", names.len());
    let fits = (1..=MAX_LINES_OF_ROUTE).contains(&names.len());
    require(fits, &route.place, &what, "1 to 250 lines")?;
    let [mut at, end] = hosts;
    for node in names {
        let [from, to] = ends(lines, node)?;
        let what = format!("route: line {} begins at {from}", node.show());
        let expected = format!("a line that begins at {at}");
        require(from == at, &node.place, &what, &expected)?;
        at = to;
    }
    let what = format!("the route ends at {at}");
    require(at == end, &route.place, &what, &format!("its end at {end}"))
}

/// The ends of the line that `node` names.
fn ends<'a>(lines: &'a [NetworkLine], node: &Node) -> Result<[&'a str; 2], Problem> {
    let name = crate::quantity::text(node)?;
    if let Some((_, direction)) = PATHS.iter().find(|(path, _)| *path == name) {
        return Ok(hosts(*direction));
    }
    if let Some(line) = lines.iter().find(|line| line.name == name) {
        return Ok([&line.from, &line.to]);
    }
    let known = || {
        let lines = lines.iter().map(|line| line.name.as_str());
        PATHS.iter().map(|(path, _)| *path).chain(lines)
    };
    let what = format!("route: no line is called \"{name}\"");
    let expected = format!("one of {}", known().collect::<Vec<_>>().join(", "));
    Err(Problem::new(&node.place, what, expected).nearest(&name, known()))
}
