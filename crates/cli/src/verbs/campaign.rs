//! `inorder campaign`: `simulate` for grids that take hours or days.

use std::path::PathBuf;

use inorder_sim::output::{Report, write_table};
use inorder_study::{Job, Study};

use crate::error::{ExitCode, INTERRUPTED, Outcome};
use crate::outputs;
use crate::verbs::runs::{Changes, Outputs};
use crate::verbs::study::Place;

/// Options of `inorder campaign`.
#[derive(clap::Args)]
#[command(after_help = "\
The runs are those of `inorder simulate`, which keeps them in memory; here each task writes its runs to the dataset \
`runs`. After Ctrl-C, or when the process or the machine was killed, the same command goes on and loses the tasks that \
were running. When all runs are there, what `inorder simulate` prints and writes is made from them.\n\n\
Examples:\n  inorder campaign srpic.toml --out study\n  inorder campaign srpic.toml --out study --json=srpic.json\n  \
inorder query 'select \"receiver_card.sorter\", avg(throughput) from runs group by all' study")]
pub(crate) struct Args {
    /// The scenario file
    #[arg(value_name = "SCENARIO.toml")]
    file: PathBuf,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    changes: Changes,
    #[command(flatten)]
    outputs: Outputs,
    /// Runs of a task, which are lost together if it is interrupted [default: enough for about 1000 tasks in all]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    runs_per_task: u64,
}

/// Plans the tasks, or goes on with them, runs them, and prints the results of all.
pub(super) fn run(args: &Args) -> Outcome {
    args.outputs.prepare(&args.file)?;
    let job = Job::Campaign(args.changes.campaign(&args.file)?);
    let study = if args.place.is_elsewhere() {
        let code = args.place.elsewhere(&job, &[], args.runs_per_task)?;
        if code != ExitCode::SUCCESS {
            return Ok(code);
        }
        Study::open(&args.place.out)?
    } else {
        let study = Study::begin(&args.place.out, job, Vec::new(), args.runs_per_task)?;
        args.place.run(&study, args.changes.threads)?;
        study
    };
    let tally = study.tally();
    if !tally.is_complete() {
        return args.place.report(&tally, "runs", "");
    }
    let (title, cells) = study.cells()?;
    let name = args.file.display().to_string();
    let report = Report {
        file: &name,
        title: &title,
        cells: &cells,
        first_runs: &[],
        is_partial: false,
    };
    if !args.outputs.take_stdout() {
        let width = outputs::style(0, false).width;
        outputs::text(|out| write_table(out, &report, width))?;
    }
    args.outputs.write(&report)?;
    Ok(match tally.is_complete() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(INTERRUPTED),
    })
}
