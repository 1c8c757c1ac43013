//! Elimination of the markings in which no time passes.
//!
//! From each vanishing marking the net reaches tangible markings with certain probabilities after some immediate
//! firings. Markings are processed component by component, against the direction of the firings, so that all
//! successors are known. Within a cycle of vanishing markings, `N = (I - Q)^-1` contains the expected visits (J. G.
//! Kemeny and J. L. Snell, "Finite Markov Chains", 1960, ch. 3). It is computed without subtractions, so no digits
//! are lost if a cycle is left with a very small probability.

use super::MarkovError;
use super::gth::fundamental;
use crate::net::Net;
use crate::net::compiled::Fast;
use crate::reachability::Graph;
use crate::reachability::components::Components;

/// Probabilities by state of the chain, in order.
pub(super) type Row = Vec<(u32, f64)>;

/// Maximum number of vanishing markings in one cycle; the time grows with the cube, the memory with the square.
const CYCLE_LIMIT: usize = 2000;

/// Steps of eliminations between two questions whether they go on: a tenth of a second in the largest cycle.
const LOOK: usize = 64;

/// The role of every state of the graph.
#[derive(Debug, Clone)]
pub(super) struct Vanishing {
    /// By state of the graph: its state of the chain, or the index of its row in `rows`.
    place_of: Vec<Place>,
    rows: Vec<Row>,
    /// Components of vanishing states; each comes after those to which it leads.
    components: Vec<Component>,
}

#[derive(Debug, Clone, Copy)]
enum Place {
    Tangible(u32),
    Vanishing(u32),
}

/// Vanishing states that are reachable from each other, or a single one.
#[derive(Debug, Clone)]
struct Component {
    members: Vec<usize>,
    /// Expected visits of `members[j]` from `members[i]` at `[i * len + j]`.
    visits: Vec<f64>,
}

impl Vanishing {
    /// Ends with an error as soon as `keep_going` returns false.
    pub(super) fn eliminate(
        net: &Net,
        graph: &Graph,
        transitions: &[Option<Fast>],
        mut keep_going: impl FnMut() -> bool,
    ) -> Result<Self, MarkovError> {
        let (markings, mut steps) = (graph.len(), 0);
        let mut go_on = || {
            steps += 1;
            match steps % LOOK == 0 && !keep_going() {
                true => Err(MarkovError::Stopped { markings }),
                false => Ok(()),
            }
        };
        let mut all = Self {
            place_of: number_states(graph),
            rows: Vec::new(),
            components: Vec::new(),
        };
        all.rows = vec![Row::new(); graph.len() - tangible(graph)];
        if all.rows.is_empty() {
            return Ok(all);
        }
        for members in vanishing_components(graph) {
            let solved = all.solve(net, graph, transitions, &members, &mut go_on)?;
            for (&member, row) in members.iter().zip(solved.1) {
                if let Place::Vanishing(slot) = all.place_of[member] {
                    all.rows[slot as usize] = row;
                }
            }
            let visits = solved.0;
            all.components.push(Component { members, visits });
        }
        Ok(all)
    }

    /// Visits within one component, and the tangible states after each member.
    fn solve(
        &self,
        net: &Net,
        graph: &Graph,
        transitions: &[Option<Fast>],
        members: &[usize],
        go_on: &mut impl FnMut() -> Result<(), MarkovError>,
    ) -> Result<(Vec<f64>, Vec<Row>), MarkovError> {
        let n = members.len();
        let (markings, limit) = (n, CYCLE_LIMIT);
        if n > limit {
            return Err(MarkovError::CycleTooLarge { markings, limit });
        }
        let mut inside = vec![0.0; n * n];
        let mut exits: Vec<Row> = Vec::with_capacity(n);
        for (i, &member) in members.iter().enumerate() {
            let mut exit = Row::new();
            let mut is_lost = loses_a_choice(graph, transitions, member);
            for (target, p) in choices(graph, transitions, member) {
                match members.binary_search(&target) {
                    Ok(j) => inside[i * n + j] += p,
                    Err(_) => self.for_each_tangible(target, |to, q| {
                        is_lost |= p > 0.0 && q > 0.0 && p * q < f64::MIN_POSITIVE;
                        exit.push((to, p * q));
                    }),
                }
            }
            if is_lost {
                let marking = net.marking_text(graph.marking(member));
                return Err(MarkovError::Rates { marking });
            }
            exits.push(merged(exit));
        }
        let leave: Vec<f64> = exits.iter().map(|e| e.iter().map(|x| x.1).sum()).collect();
        let visits = fundamental(&inside, &leave, &mut *go_on)?;
        let visits = visits.ok_or_else(|| loops(net, graph, members))?;
        let row = |i: usize| {
            go_on()?;
            let visited = exits.iter().zip(&visits[i * n..(i + 1) * n]);
            let scaled = visited.flat_map(|(exit, v)| exit.iter().map(move |&(to, p)| (to, v * p)));
            Ok(merged(scaled.collect()))
        };
        let rows = (0..n).map(row).collect::<Result<_, MarkovError>>()?;
        Ok((visits, rows))
    }

    /// Calls `visit` with every state of the chain that the graph's state `number` reaches without time.
    pub(super) fn for_each_tangible(&self, number: usize, mut visit: impl FnMut(u32, f64)) {
        match self.place_of[number] {
            Place::Tangible(state) => visit(state, 1.0),
            Place::Vanishing(slot) => {
                for &(to, p) in &self.rows[slot as usize] {
                    visit(to, p);
                }
            }
        }
    }

    pub(super) fn tangible_after(&self, number: usize) -> Row {
        let mut row = Row::new();
        self.for_each_tangible(number, |to, p| row.push((to, p)));
        row
    }

    /// Calls `see` with the index of every edge of an immediate transition and its firings per unit of time; `flow`
    /// contains the rate at which tangible states lead to each state of the graph.
    pub(super) fn each_flow(
        &self,
        graph: &Graph,
        transitions: &[Option<Fast>],
        mut flow: Vec<f64>,
        see: &mut dyn FnMut(usize, f64),
    ) {
        for component in self.components.iter().rev() {
            let n = component.members.len();
            let entering: Vec<f64> = component.members.iter().map(|&m| flow[m]).collect();
            for (j, &member) in component.members.iter().enumerate() {
                let visits = entering
                    .iter()
                    .enumerate()
                    .map(|(i, f)| f * component.visits[i * n + j]);
                let rate: f64 = visits.sum();
                let edges = graph.edge_indices(member);
                for (edge, (target, p)) in edges.zip(choices(graph, transitions, member)) {
                    see(edge, rate * p);
                    if component.members.binary_search(&target).is_err() {
                        flow[target] += rate * p;
                    }
                }
            }
        }
    }
}

fn tangible(graph: &Graph) -> usize {
    (0..graph.len()).filter(|&i| !graph.is_vanishing(i)).count()
}

fn number_states(graph: &Graph) -> Vec<Place> {
    let (mut tangible, mut vanishing) = (0, 0);
    let mut number = |i| {
        let counter = if graph.is_vanishing(i) {
            &mut vanishing
        } else {
            &mut tangible
        };
        *counter += 1;
        *counter - 1
    };
    let place = |i| {
        let n = number(i);
        if graph.is_vanishing(i) {
            Place::Vanishing(n)
        } else {
            Place::Tangible(n)
        }
    };
    (0..graph.len()).map(place).collect()
}

/// Components of the vanishing states, each after those to which it leads.
fn vanishing_components(graph: &Graph) -> Vec<Vec<usize>> {
    let successor = |node: usize, i: usize| {
        if !graph.is_vanishing(node) {
            return None;
        }
        graph.edges_of(node).get(i).map(|edge| edge.target as usize)
    };
    let components = Components::find(graph.len(), successor);
    let mut members = components.members();
    members.retain(|m| graph.is_vanishing(m[0]));
    members
}

/// The successors of a vanishing state with their probabilities, edge by edge.
fn choices<'a>(
    graph: &'a Graph,
    transitions: &'a [Option<Fast>],
    number: usize,
) -> impl Iterator<Item = (usize, f64)> + 'a {
    let edges = graph.edge_indices(number);
    let total: f64 = edges.clone().map(|i| weight(graph, transitions, i)).sum();
    edges.map(move |index| {
        let p = weight(graph, transitions, index) / total;
        (graph.edges[index].target as usize, p)
    })
}

/// The weight of the edge with this index.
fn weight(graph: &Graph, transitions: &[Option<Fast>], index: usize) -> f64 {
    match graph.speeds.get(index) {
        Some(&(weight, _)) => weight,
        None => {
            let fast = transitions[graph.edges[index].transition()].as_ref();
            fast.map_or(0.0, |fast| fast.speed)
        }
    }
}

/// Whether a weight above 0 becomes a probability that has not all digits, or is 0.
fn loses_a_choice(graph: &Graph, transitions: &[Option<Fast>], number: usize) -> bool {
    let weights = graph
        .edge_indices(number)
        .map(|i| weight(graph, transitions, i));
    weights
        .zip(choices(graph, transitions, number))
        .any(|(weight, (_, p))| weight > 0.0 && p < f64::MIN_POSITIVE)
}

fn merged(mut row: Row) -> Row {
    row.sort_by_key(|&(to, _)| to);
    row.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    row
}

fn loops(net: &Net, graph: &Graph, members: &[usize]) -> MarkovError {
    let edges = members.iter().flat_map(|&m| graph.edges_of(m));
    let mut fired: Vec<usize> = edges.map(|edge| edge.transition()).collect();
    fired.sort_unstable();
    fired.dedup();
    MarkovError::ZeroTimeLoop {
        transitions: fired
            .iter()
            .map(|&t| net.transitions[t].name.clone())
            .collect(),
        marking: net.marking_text(graph.marking(members[0])),
    }
}
