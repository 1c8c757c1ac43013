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
pub fn score_all(
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
pub fn by_trait(scored: &[Scored]) -> BTreeMap<String, [Counts; 3]> {
    let mut all: BTreeMap<String, [Counts; 3]> = BTreeMap::new();
    for (word, sides) in scored.iter().flat_map(|s| &s.traits) {
        let sum = all.entry(word.clone()).or_default();
        sum.iter_mut()
            .zip(sides)
            .for_each(|(sum, side)| *sum += side);
    }
    all
}

/// Sums by kind of path, or one row each.
pub fn rows(
    all: &[Recording],
    scored: &[Scored],
    each: bool,
    side: fn(&Scored) -> &Counts,
) -> Vec<(String, Counts)> {
    let mut rows: Vec<(String, Counts)> = Vec::new();
    for (recording, scored) in all.iter().zip(scored) {
        let name = if each {
            &recording.name
        } else {
            recording.kind()
        };
        let at = rows.iter().position(|(n, _)| n == name).unwrap_or_else(|| {
            rows.push((name.to_owned(), Counts::default()));
            rows.len() - 1
        });
        rows[at].1 += side(scored);
    }
    rows
}
