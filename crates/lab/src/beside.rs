//! The cells of a campaign on real Linux, alone or beside the same cells simulated.

use inorder_sim::output::RUNS_ON;
use inorder_sim::{CellResult, Results};

use crate::agreement::{self, Agreement};
use crate::campaign::Done;

/// Results in the order in which they are shown, and how far both engines agree.
pub struct SideBySide {
    /// Cells and their first runs: those of Linux, each followed by the simulated one, if there is one.
    pub results: Results,
    /// A row for each measure that both have; empty without a simulation.
    pub agreements: Vec<Agreement>,
}

impl SideBySide {
    /// Of what was done on Linux and, if it was simulated as well, of the simulation of the same cells. Cells of two engines
    /// differ on the axis [`RUNS_ON`].
    pub fn new(done: &Done, simulated: Option<&Results>) -> Self {
        let mut results = Results {
            cells: Vec::new(),
            first_runs: Vec::new(),
        };
        for (number, cell) in done.cells.iter().enumerate() {
            results.cells.push(cell.result.clone());
            results.first_runs.push(cell.first.clone());
            if let Some(simulated) = simulated
                && let Some(cell) = simulated.cells.get(number)
            {
                results.cells.push(cell.clone());
                let first = simulated.first_runs.get(number).cloned();
                results.first_runs.push(first.flatten());
            }
        }
        let Some(simulated) = simulated else {
            return SideBySide {
                results,
                agreements: Vec::new(),
            };
        };
        for cell in &mut results.cells {
            let engine = cell.engine.words();
            cell.labels.push((RUNS_ON.to_owned(), engine));
        }
        let linux: Vec<CellResult> = done.cells.iter().map(|cell| cell.result.clone()).collect();
        SideBySide {
            results,
            agreements: agreement::compare(&linux, &simulated.cells),
        }
    }
}
