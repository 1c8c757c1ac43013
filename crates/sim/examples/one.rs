//! Runs every cell of a scenario once: `one FILE [key=value ...]`.

use inorder_scenario::Scenario;
use inorder_sim::{registries, run};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("which scenario?")?;
    let text = std::fs::read_to_string(&file)?;
    let mut scenario = Scenario::load(&text, &file, &registries())?;
    for assignment in arguments {
        scenario.set(&assignment)?;
    }
    for cell in scenario.cells()? {
        let result = run(&cell.config, cell.config.run.seed)?;
        let labels: Vec<&str> = cell
            .labels
            .iter()
            .map(|(_, value)| value.as_str())
            .collect();
        println!("{}: {} events", labels.join(" "), result.events);
        for flow in &result.flows {
            let rate = flow.counts.delivered_bytes as f64 * 8e3 / flow.measured_ns.max(1) as f64;
            println!(
                "  {} {}: {rate:.2} Mb/s {:?} {:?}",
                flow.name, flow.number, flow.error, flow.counts
            );
        }
    }
    Ok(())
}
