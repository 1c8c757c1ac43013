//! Formulas on the reachability graph, by fixed points (E. M. Clarke, E. A. Emerson, A. P. Sistla, "Automatic
//! verification of finite-state concurrent systems using temporal logic specifications", 1986).
//!
//! If the graph is only a part of the markings, each formula has two sets of markings: those in which it certainly
//! holds, and those in which it may hold. A marking of which a successor was left out may be followed by anything.

use super::formula::{Formula, Paths};
use crate::net::{Net, TransitionId};
use crate::reachability::Graph;

/// The answer to a formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It holds in the initial marking.
    Holds,
    /// It does not hold.
    Fails,
    /// The markings that were explored do not decide it.
    Unknown,
}

/// A formula's answer with what shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The answer.
    pub verdict: Verdict,
    /// A shortest firing sequence that shows it, and the number of the marking to which it leads: for `EF f` that
    /// holds, to a marking with `f`; for `AG f` that fails, to one without `f`. `None` for other formulas.
    pub witness: Option<(Vec<TransitionId>, usize)>,
}

impl Formula {
    /// Whether it holds in the initial marking of `graph`, which was explored from `net`.
    pub fn check(&self, net: &Net, graph: &Graph) -> Checked {
        let checker = Checker::new(net, graph);
        let (holds, witness) = match self {
            // These two need no set of their own: the nearest marking decides.
            Formula::Finally(Paths::Some, inner) => checker.reach(inner),
            Formula::Globally(Paths::All, inner) => {
                let (found, witness) = checker.reach(&Formula::Not(inner.clone()));
                (found.not(), witness)
            }
            _ => (checker.sets(self).of(0), None),
        };
        let verdict = match holds {
            Bounds { surely: true, .. } => Verdict::Holds,
            Bounds { maybe: false, .. } => Verdict::Fails,
            _ => Verdict::Unknown,
        };
        Checked { verdict, witness }
    }
}

/// Whether a formula certainly holds, and whether it may hold.
#[derive(Clone, Copy)]
struct Bounds {
    surely: bool,
    maybe: bool,
}

impl Bounds {
    fn not(self) -> Self {
        Self {
            surely: !self.maybe,
            maybe: !self.surely,
        }
    }
}

/// The markings in which a formula certainly holds, and in which it may hold.
struct Sets {
    surely: Vec<bool>,
    maybe: Vec<bool>,
}

impl Sets {
    fn certain(set: Vec<bool>) -> Self {
        Self {
            maybe: set.clone(),
            surely: set,
        }
    }

    fn of(&self, marking: usize) -> Bounds {
        Bounds {
            surely: self.surely[marking],
            maybe: self.maybe[marking],
        }
    }

    fn not(self) -> Self {
        let complement = |set: Vec<bool>| set.into_iter().map(|holds| !holds).collect();
        Self {
            surely: complement(self.maybe),
            maybe: complement(self.surely),
        }
    }

    fn join(mut self, other: &Self, join: fn(bool, bool) -> bool) -> Self {
        let update = |own: &mut [bool], other: &[bool]| {
            own.iter_mut()
                .zip(other)
                .for_each(|(a, &b)| *a = join(*a, b));
        };
        update(&mut self.surely, &other.surely);
        update(&mut self.maybe, &other.maybe);
        self
    }
}

/// A graph with the edges in both directions.
struct Checker<'a> {
    net: &'a Net,
    graph: &'a Graph,
    /// The predecessors of marking `i` are `before[first[i]..first[i + 1]]`.
    first: Vec<usize>,
    before: Vec<u32>,
}

impl<'a> Checker<'a> {
    fn new(net: &'a Net, graph: &'a Graph) -> Self {
        let mut first = vec![0; graph.len() + 1];
        for edge in &graph.edges {
            first[edge.target as usize + 1] += 1;
        }
        for i in 0..graph.len() {
            first[i + 1] += first[i];
        }
        let mut at = first.clone();
        let mut before = vec![0; graph.edges()];
        for from in 0..graph.len() {
            for edge in graph.edges_of(from) {
                let slot = &mut at[edge.target as usize];
                before[*slot] = from as u32;
                *slot += 1;
            }
        }
        Self {
            net,
            graph,
            first,
            before,
        }
    }

    fn predecessors(&self, marking: usize) -> impl Iterator<Item = usize> + '_ {
        let range = self.first[marking]..self.first[marking + 1];
        self.before[range].iter().map(|&from| from as usize)
    }

    /// Whether a marking in which `goal` holds can be reached, and the nearest one.
    fn reach(&self, goal: &Formula) -> (Bounds, Option<(Vec<TransitionId>, usize)>) {
        let sets = self.sets(goal);
        // Markings are numbered in the order of their distance.
        let nearest = sets.surely.iter().position(|&holds| holds);
        let bounds = Bounds {
            surely: nearest.is_some(),
            maybe: !self.graph.is_complete() || sets.maybe.contains(&true),
        };
        (bounds, nearest.map(|i| (self.graph.path_to(i), i)))
    }

    fn sets(&self, formula: &Formula) -> Sets {
        if formula.is_condition() && !self.graph.is_coloured() {
            return self.condition(formula);
        }
        match formula {
            Formula::Not(f) => self.sets(f).not(),
            Formula::And(parts) => self.joined(parts, |a, b| a & b),
            Formula::Or(parts) => self.joined(parts, |a, b| a | b),
            Formula::Next(Paths::Some, f) => self.next(&self.sets(f)),
            Formula::Next(Paths::All, f) => self.next(&self.sets(f).not()).not(),
            Formula::Finally(Paths::Some, f) => self.until(&self.everywhere(), &self.sets(f)),
            Formula::Finally(Paths::All, f) => self.globally(&self.sets(f).not()).not(),
            Formula::Globally(Paths::Some, f) => self.globally(&self.sets(f)),
            Formula::Globally(Paths::All, f) => {
                self.until(&self.everywhere(), &self.sets(f).not()).not()
            }
            Formula::Until(Paths::Some, f, g) => self.until(&self.sets(f), &self.sets(g)),
            Formula::Until(Paths::All, f, g) => self.until_on_all(self.sets(f), self.sets(g)),
            Formula::Constant(_)
            | Formula::Deadlock
            | Formula::Enabled(_)
            | Formula::Compare(..) => self.condition(formula),
        }
    }

    fn condition(&self, formula: &Formula) -> Sets {
        let holds = |i: usize| match formula {
            Formula::Deadlock => self.graph.enables_nothing(i),
            // In a coloured net more than the numbers of tokens decides, and priorities count.
            Formula::Enabled(t) if self.graph.is_coloured() => {
                let mut edges = self.graph.edges_of(i).iter();
                edges.any(|edge| edge.transition() == t.0)
            }
            _ => formula.holds_in(self.net, self.graph.marking(i)),
        };
        Sets::certain((0..self.graph.len()).map(holds).collect())
    }

    fn everywhere(&self) -> Sets {
        Sets::certain(vec![true; self.graph.len()])
    }

    fn joined(&self, parts: &[Formula], join: fn(bool, bool) -> bool) -> Sets {
        let mut parts = parts.iter().map(|part| self.sets(part));
        let first = parts.next().unwrap_or_else(|| self.everywhere());
        parts.fold(first, |all, part| all.join(&part, join))
    }

    /// `EX f`
    fn next(&self, f: &Sets) -> Sets {
        let leads = |set: &[bool], from: usize| {
            let mut edges = self.graph.edges_of(from).iter();
            edges.any(|edge| set[edge.target as usize])
        };
        let all = 0..self.graph.len();
        Sets {
            surely: all.clone().map(|i| leads(&f.surely, i)).collect(),
            maybe: all
                .map(|i| self.graph.is_cut(i) || leads(&f.maybe, i))
                .collect(),
        }
    }

    /// `E[f U g]`: the least fixed point, backwards from `g`.
    fn until(&self, f: &Sets, g: &Sets) -> Sets {
        let may_begin = |i: usize| g.maybe[i] || self.graph.is_cut(i) && f.maybe[i];
        Sets {
            surely: self.backwards(&f.surely, g.surely.clone()),
            maybe: self.backwards(&f.maybe, (0..self.graph.len()).map(may_begin).collect()),
        }
    }

    fn backwards(&self, through: &[bool], mut reached: Vec<bool>) -> Vec<bool> {
        let mut open: Vec<usize> = (0..reached.len()).filter(|&i| reached[i]).collect();
        while let Some(marking) = open.pop() {
            for from in self.predecessors(marking) {
                if through[from] && !reached[from] {
                    reached[from] = true;
                    open.push(from);
                }
            }
        }
        reached
    }

    /// `EG f`: the greatest fixed point. A path ends in a deadlock, or never.
    fn globally(&self, f: &Sets) -> Sets {
        let ends = |i: usize| self.graph.enables_nothing(i);
        Sets {
            surely: self.remain(f.surely.clone(), ends),
            maybe: self.remain(f.maybe.clone(), |i| ends(i) || self.graph.is_cut(i)),
        }
    }

    /// Removes markings from which every firing leaves the set, until there are none.
    fn remain(&self, mut set: Vec<bool>, may_end: impl Fn(usize) -> bool) -> Vec<bool> {
        let stays = |set: &[bool], from: usize| {
            let edges = self.graph.edges_of(from).iter();
            edges.filter(|edge| set[edge.target as usize]).count()
        };
        let mut ways: Vec<usize> = (0..set.len())
            .map(|i| stays(&set, i) + usize::from(may_end(i)))
            .collect();
        let mut open: Vec<usize> = (0..set.len()).filter(|&i| set[i] && ways[i] == 0).collect();
        while let Some(marking) = open.pop() {
            set[marking] = false;
            for from in self.predecessors(marking) {
                ways[from] -= 1;
                if set[from] && ways[from] == 0 {
                    open.push(from);
                }
            }
        }
        set
    }

    /// `A[f U g]` fails where `g` may never come, or where `f` may end before it.
    fn until_on_all(&self, f: Sets, g: Sets) -> Sets {
        let not_g = g.not();
        let neither = f.not().join(&not_g, |a, b| a & b);
        let ends_before = self.until(&not_g, &neither);
        let never = self.globally(&not_g);
        never.join(&ends_before, |a, b| a | b).not()
    }
}
