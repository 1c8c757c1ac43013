//! The reachability graph, up to a maximum number of markings.

use super::moves::{Move, Moves, Plain};
use super::states::States;
use crate::net::{Net, TransitionId};

/// The markings reachable from the initial one, by breadth-first search, and the firings between them.
///
/// Immediate transitions fire before timed ones and by priority, as in the stochastic net.
#[derive(Debug, Clone)]
pub struct Graph {
    pub(crate) states: States,
    /// Edges of state `i` are `edges[first[i]..first[i + 1]]`.
    pub(crate) first: Vec<usize>,
    pub(crate) edges: Vec<Edge>,
    /// Speed and deposits of every edge; empty if its transition alone says them.
    pub(crate) speeds: Vec<(f64, u32)>,
    has_speeds: bool,
    /// The edge by which each state was first reached: previous state and transition; itself for the first one.
    parent: Vec<(u32, u32)>,
    vanishing: Vec<bool>,
    /// States with a successor that was left out.
    cut: Vec<bool>,
    places: usize,
    is_complete: bool,
    /// Bytes that the moves keep besides.
    kept_by_moves: usize,
    is_too_large: bool,
}

/// A firing that leads to a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Edge {
    /// Index of the transition in the net; with [`STAGE`] set, it completes a stage and does not fire yet.
    label: u32,
    pub target: u32,
}

const STAGE: u32 = 1 << 31;

/// Number of markings after which whoever watches the exploration is asked whether to go on.
const WATCHED: usize = 4096;

/// Memory that an exploration may take for each marking of its limit, in bytes: several hundred numbers of tokens. The states of
/// an unbounded queue of coloured tokens grow with the queue, so that their number alone bounds no memory.
const BYTES_PER_MARKING: usize = 2048;

/// What an exploration may take however low its limit is, in bytes (a 32-bit machine has no more).
const MIN_BYTES_ALLOWED: u64 = 4 << 30;

impl Edge {
    pub(crate) fn transition(self) -> usize {
        (self.label & !STAGE) as usize
    }

    pub(crate) fn is_firing(self) -> bool {
        self.label & STAGE == 0
    }
}

impl Graph {
    /// Explores the markings of `net`, at most `limit` of them.
    ///
    /// ```
    /// use inorder_petri::{net::*, reachability::Graph};
    ///
    /// let mut net = Net::new("two");
    /// let (a, b) = (net.add_place(Place::new("a", 2)), net.add_place(Place::new("b", 0)));
    /// net.add_transition(Transition::new("go", Timing::exponential(1.0)).input(a, 1).output(b, 1));
    /// let graph = Graph::explore(&net, 100);
    /// assert_eq!((graph.len(), graph.is_complete()), (3, true));
    /// assert_eq!(graph.marking(2), [0, 2]);
    /// ```
    pub fn explore(net: &Net, limit: usize) -> Self {
        Self::explore_while(net, limit, |_| true)
    }

    /// Explores until `keep_going` returns false; it is called once for several thousand markings.
    pub(crate) fn explore_while(
        net: &Net,
        limit: usize,
        keep_going: impl FnMut(&Self) -> bool,
    ) -> Self {
        // A plain net has no move that fails.
        let mut keep_going = keep_going;
        let explored =
            Self::of_moves_while(&mut Plain::of(net), limit, |graph, _| keep_going(graph));
        explored.unwrap_or_else(|_| Self::new(0, net.places.len()))
    }

    fn new(columns: usize, places: usize) -> Self {
        Self {
            states: States::new(columns),
            first: vec![0],
            edges: Vec::new(),
            speeds: Vec::new(),
            has_speeds: false,
            parent: vec![(0, 0)],
            vanishing: Vec::new(),
            cut: Vec::new(),
            places,
            is_complete: true,
            kept_by_moves: 0,
            is_too_large: false,
        }
    }

    /// Explores the states to which moves lead, at most `limit` of them, until they take too much memory or `keep_going` returns
    /// false.
    pub fn of_moves(
        moves: &mut (impl Moves + ?Sized),
        limit: usize,
        mut keep_going: impl FnMut(&Self) -> bool,
    ) -> Result<Self, String> {
        Self::of_moves_while(moves, limit, |graph, _| keep_going(graph))
    }

    /// The same for whoever looks at the moves, too.
    pub(crate) fn of_moves_while<M: Moves + ?Sized>(
        moves: &mut M,
        limit: usize,
        mut keep_going: impl FnMut(&Self, &M) -> bool,
    ) -> Result<Self, String> {
        let initial = moves.initial()?;
        let mut graph = Self::new(initial.len(), moves.net().places.len());
        graph.has_speeds = moves.deposits().is_some();
        graph.states.intern(&initial, limit.max(1));
        let at_any_limit = usize::try_from(MIN_BYTES_ALLOWED).unwrap_or(usize::MAX);
        let most_bytes = limit.saturating_mul(BYTES_PER_MARKING).max(at_any_limit);
        let mut from = Vec::new();
        let mut next = 0;
        while next < graph.states.len() {
            graph.kept_by_moves = moves.memory_footprint();
            graph.is_too_large = graph.memory_footprint() > most_bytes;
            if graph.is_too_large || (next % WATCHED == 0 && !keep_going(&graph, moves)) {
                graph.leave_out_successors();
                break;
            }
            from.clear();
            from.extend_from_slice(graph.states.get(next));
            graph.cut.push(false);
            let mut is_vanishing = false;
            moves.each(&from, &mut |made, to| {
                is_vanishing |= made.is_immediate;
                graph.connect(made, to, limit);
            })?;
            graph.vanishing.push(is_vanishing);
            graph.first.push(graph.edges.len());
            next += 1;
        }
        Ok(graph)
    }

    /// Ends the exploration: what follows the markings that were not expanded is unknown.
    fn leave_out_successors(&mut self) {
        self.is_complete = false;
        self.first.resize(self.states.len() + 1, self.edges.len());
        self.cut.resize(self.states.len(), true);
        self.vanishing.resize(self.states.len(), false);
    }

    /// Bytes of memory that it takes.
    pub fn memory_footprint(&self) -> usize {
        self.states.memory_footprint()
            + self.first.capacity() * size_of::<usize>()
            + self.edges.capacity() * size_of::<Edge>()
            + self.speeds.capacity() * size_of::<(f64, u32)>()
            + self.parent.capacity() * size_of::<(u32, u32)>()
            + self.vanishing.capacity()
            + self.cut.capacity()
            + self.kept_by_moves
    }

    fn connect(&mut self, made: Move, to: &[u32], limit: usize) {
        let label = made.transition | if made.is_stage { STAGE } else { 0 };
        let Some((target, is_new)) = self.states.intern(to, limit) else {
            self.is_complete = false;
            self.cut[self.first.len() - 1] = true;
            return;
        };
        if is_new {
            self.parent.push(((self.first.len() - 1) as u32, label));
        }
        self.edges.push(Edge { label, target });
        if self.has_speeds {
            self.speeds.push((made.speed, made.deposit));
        }
    }

    /// True if transitions alone do not say what happens: the net is coloured.
    pub(crate) fn is_coloured(&self) -> bool {
        self.has_speeds
    }

    /// Number of markings found.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Always false: the initial marking is always present.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of firings between them.
    pub fn edges(&self) -> usize {
        self.edges.len()
    }

    /// True if the exploration ended because the markings take too much memory.
    pub(crate) fn is_too_large(&self) -> bool {
        self.is_too_large
    }

    /// True if no marking was left out because of the limit.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The tokens of every place in marking `number`; 0 is the initial marking.
    ///
    /// # Panics
    ///
    /// If there is no such marking.
    pub fn marking(&self, number: usize) -> &[u32] {
        &self.states.get(number)[..self.places]
    }

    /// The whole state with this number: its marking, and what the moves keep besides.
    pub(crate) fn state(&self, number: usize) -> &[u32] {
        self.states.get(number)
    }

    /// True if marking `number` enables an immediate transition, so that no time passes in it.
    pub(crate) fn is_vanishing(&self, number: usize) -> bool {
        self.vanishing.get(number).copied().unwrap_or(false)
    }

    /// The firings possible in marking `number`, with the following markings, except those left out.
    pub fn successors(&self, number: usize) -> impl Iterator<Item = (TransitionId, usize)> + '_ {
        self.edges_of(number)
            .iter()
            .map(|edge| (TransitionId(edge.transition()), edge.target as usize))
    }

    pub(crate) fn edges_of(&self, number: usize) -> &[Edge] {
        &self.edges[self.edge_indices(number)]
    }

    pub(crate) fn edge_indices(&self, number: usize) -> std::ops::Range<usize> {
        self.first[number]..self.first[number + 1]
    }

    /// True if no transition can fire in marking `number`.
    pub(crate) fn enables_nothing(&self, number: usize) -> bool {
        self.edges_of(number).is_empty() && !self.cut[number]
    }

    /// True if a successor of marking `number` was left out.
    pub(crate) fn is_cut(&self, number: usize) -> bool {
        self.cut[number]
    }

    /// The marking from which `number` was first reached; `None` for the initial one.
    pub(crate) fn parent(&self, number: usize) -> Option<usize> {
        (number > 0).then(|| self.parent[number].0 as usize)
    }

    /// A shortest firing sequence from the initial marking to marking `number`.
    pub fn path_to(&self, number: usize) -> Vec<TransitionId> {
        let mut path = Vec::new();
        let mut at = number;
        while let Some(before) = self.parent(at) {
            let edge = Edge {
                label: self.parent[at].1,
                target: 0,
            };
            path.push(TransitionId(edge.transition()));
            at = before;
        }
        path.reverse();
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markov::Chain;

    /// A counter without end whose states are as large as their number.
    struct Growing {
        net: Net,
        kept: usize,
    }

    impl Moves for Growing {
        fn net(&self) -> &Net {
            &self.net
        }

        fn initial(&mut self) -> Result<Vec<u32>, String> {
            Ok(vec![0])
        }

        fn each(
            &mut self,
            state: &[u32],
            visit: &mut dyn FnMut(Move, &[u32]),
        ) -> Result<(), String> {
            self.kept += state[0] as usize * (1 << 20);
            let made = Move {
                transition: 0,
                is_stage: false,
                is_immediate: false,
                speed: 1.0,
                deposit: 0,
            };
            visit(made, &[state[0] + 1]);
            Ok(())
        }

        fn memory_footprint(&self) -> usize {
            self.kept
        }
    }

    #[test]
    fn an_exploration_ends_when_the_states_take_too_much_memory() {
        let text = "place q\ntransition a exponential rate 1\n out q\n";
        let net = crate::text::read("growing.net", text).unwrap();
        let mut moves = Growing { net, kept: 0 };
        let graph = Graph::of_moves(&mut moves, 2_000_000, |_| true).unwrap();
        // The first 92 states take 4 GiB: 0 + 1 + ... + 91 MiB.
        assert_eq!((graph.len(), graph.is_complete()), (93, false));
        moves.kept = 0;
        let error = Chain::of_moves(&mut moves, 2_000_000, |_| true).unwrap_err();
        let expected = "the first 93 markings take 4 GiB of memory (up to 92 tokens in q); raise the limit, or the net is unbounded";
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}
