//! Runs all of a scenario and prints its JSON: `json FILE [key=value ...]`. `tools/other-machine` compares this
//! output between machines.

use std::io;
use std::sync::atomic::AtomicBool;

use inorder_scenario::Scenario;
use inorder_sim::output::{Report, write_json};
use inorder_sim::{Campaign, registries, run_all};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("which scenario?")?;
    let text = std::fs::read_to_string(&file)?;
    let mut scenario = Scenario::load(&text, &file, &registries())?;
    for assignment in arguments {
        scenario.set(&assignment)?;
    }
    let stop = AtomicBool::new(false);
    let campaign = Campaign {
        repetitions: 0,
        threads: 0,
        progress: &(),
        stop: &stop,
    };
    let results = run_all(&scenario.cells()?, &campaign)?;
    let report = Report {
        file: &file,
        title: "",
        cells: &results,
        first_runs: &[],
        is_partial: false,
    };
    write_json(&mut io::stdout().lock(), &report)?;
    Ok(())
}
