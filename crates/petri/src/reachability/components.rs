//! Strongly connected components (R. Tarjan, "Depth-first search and linear graph algorithms", 1972), without
//! recursion.

/// The component of every node. Components are numbered so that edges lead to the same or a lower number.
pub(crate) struct Components {
    pub of: Vec<u32>,
    pub count: usize,
}

impl Components {
    /// Of the graph with `nodes` nodes, where `successor(node, i)` is the end of the `i`-th edge of `node`.
    pub(crate) fn find(nodes: usize, successor: impl Fn(usize, usize) -> Option<usize>) -> Self {
        let mut search = Search {
            order: vec![UNSEEN; nodes],
            low: vec![0; nodes],
            of: vec![UNSEEN; nodes],
            stack: Vec::new(),
            seen: 0,
            count: 0,
        };
        let mut calls: Vec<(usize, usize)> = Vec::new();
        for root in 0..nodes {
            if search.order[root] != UNSEEN {
                continue;
            }
            search.enter(root);
            calls.push((root, 0));
            while let Some((node, edge)) = calls.last_mut() {
                let node = *node;
                let Some(next) = successor(node, *edge) else {
                    calls.pop();
                    search.leave(node, calls.last().map(|&(before, _)| before));
                    continue;
                };
                *edge += 1;
                if search.order[next] == UNSEEN {
                    search.enter(next);
                    calls.push((next, 0));
                } else if search.of[next] == UNSEEN {
                    search.low[node] = search.low[node].min(search.order[next]);
                }
            }
        }
        Self {
            of: search.of,
            count: search.count as usize,
        }
    }

    /// The nodes of every component, in order.
    pub(crate) fn members(&self) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); self.count];
        for (node, &component) in self.of.iter().enumerate() {
            members[component as usize].push(node);
        }
        members
    }
}

const UNSEEN: u32 = u32::MAX;

struct Search {
    order: Vec<u32>,
    low: Vec<u32>,
    of: Vec<u32>,
    stack: Vec<usize>,
    seen: u32,
    count: u32,
}

impl Search {
    fn enter(&mut self, node: usize) {
        self.order[node] = self.seen;
        self.low[node] = self.seen;
        self.seen += 1;
        self.stack.push(node);
    }

    fn leave(&mut self, node: usize, before: Option<usize>) {
        if let Some(before) = before {
            self.low[before] = self.low[before].min(self.low[node]);
        }
        if self.low[node] != self.order[node] {
            return;
        }
        while let Some(member) = self.stack.pop() {
            self.of[member] = self.count;
            if member == node {
                break;
            }
        }
        self.count += 1;
    }
}
