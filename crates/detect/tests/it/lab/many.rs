//! Many recordings at once, and their sums.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use inorder_detect::Config;

use super::count::Counts;
use super::recording::Recording;
use super::score::{Scored, score};

/// Scores of all recordings in their order, worked on by several threads (0: as many as there are
/// cores).
pub(crate) fn score_all(
    all: &[Recording],
    config: &Config,
    threads: usize,
) -> Result<Vec<Scored>, String> {
    let threads = match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        n => n,
    };
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(recording) = all.get(at) else {
                        break;
                    };
                    let result = score(recording, config);
                    let mut done = done.lock().expect("no thread panics while it holds this");
                    done.push((at, result.map_err(|e| format!("{}: {e}", recording.name))));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("all threads have ended");
    done.sort_by_key(|&(at, _)| at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Sums by trait: a habit of an endpoint, a kind of path, a defect of the capture.
pub(crate) fn by_trait(scored: &[Scored]) -> BTreeMap<String, [Counts; 3]> {
    let mut all: BTreeMap<String, [Counts; 3]> = BTreeMap::new();
    for (word, sides) in scored.iter().flat_map(|s| &s.traits) {
        let sum = all.entry(word.clone()).or_default();
        sum.iter_mut()
            .zip(sides)
            .for_each(|(sum, side)| *sum += side);
    }
    all
}

/// What one row of a table sums up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum By {
    #[default]
    Kind,
    Recording,
    /// What each stack sends and receives (`validation/stacks`).
    Stack,
}

impl By {
    fn names(self, recording: &Recording) -> Vec<String> {
        match self {
            By::Kind => vec![recording.kind().to_owned()],
            By::Recording => vec![recording.name.clone()],
            By::Stack => recording.stacks(),
        }
    }
}

/// One row a kind of path, recording or stack.
pub(crate) fn rows(
    all: &[Recording],
    scored: &[Scored],
    by: By,
    side: fn(&Scored) -> &Counts,
) -> Vec<(String, Counts)> {
    let mut rows: Vec<(String, Counts)> = Vec::new();
    for (recording, scored) in all.iter().zip(scored) {
        for name in by.names(recording) {
            let at = rows.iter().position(|(n, _)| *n == name);
            let at = at.unwrap_or_else(|| {
                rows.push((name, Counts::default()));
                rows.len() - 1
            });
            rows[at].1 += side(scored);
        }
    }
    if by == By::Stack {
        rows.sort_by(|(a, _), (b, _)| a.cmp(b));
    }
    rows
}

/// Everything, each recording once.
pub(crate) fn sum(scored: &[Scored], side: fn(&Scored) -> &Counts) -> Counts {
    let mut sum = Counts::default();
    for scored in scored {
        sum += side(scored);
    }
    sum
}
