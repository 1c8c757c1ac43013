//! The files and tables of a small campaign.

use std::sync::atomic::AtomicBool;

use inorder_scenario::Scenario;
use inorder_sim::output::{Report, write_csv, write_json, write_page, write_table};
use inorder_sim::{Campaign, CellResult, MEASURES, RunResult, registries, run_all_with, values};

const TEXT: &str = r#"
title = "A <small> one"
run = { duration = "1 s", repetitions = 3 }
output.trace_interval = "20 ms"
flow = [{ name = "x", count = 2 }]
[[forward]]
kind = "link"
rate = "10 Mbit/s"
queue = "20 packets"
delay = "10 ms"
[grid]
"forward.0.queue" = ["20 packets", "2 packets"]
"#;

fn with_report(check: impl FnOnce(&Report<'_>)) {
    let scenario = Scenario::load(TEXT, "small.toml", &registries()).unwrap();
    let cells = scenario.cells().unwrap();
    let stop = AtomicBool::new(false);
    let campaign = Campaign {
        repetitions: 0,
        threads: 1,
        progress: &(),
        stop: &stop,
    };
    let runs = run_all_with(&cells, &campaign, |_, run| run).unwrap();
    let result = |(cell, runs): (_, &Vec<RunResult>)| {
        let measures: Vec<_> = runs.iter().map(|run| (run.seed, values(run))).collect();
        CellResult::new(cell, &measures)
    };
    let results: Vec<CellResult> = cells.iter().zip(&runs).map(result).collect();
    let firsts: Vec<Option<RunResult>> = runs
        .into_iter()
        .map(|runs| runs.into_iter().next())
        .collect();
    check(&Report {
        file: "small.toml",
        title: "A <small> one",
        cells: &results,
        first_runs: &firsts,
        is_partial: false,
    });
}

fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn the_table_fits_and_begins_with_the_grid() {
    with_report(|report| {
        for width in [None, Some(100), Some(60), Some(10)] {
            let text = written(|out| write_table(out, report, width));
            assert_eq!(text.lines().count(), 3, "{text}");
            assert!(
                text.starts_with("0.queue     runs  throughput Mbit/s"),
                "{text}"
            );
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
            // The first measure is never dropped.
            assert!(
                width.is_none_or(|width| widest <= width.max(45)),
                "{width:?}\n{text}"
            );
        }
        let text = written(|out| write_table(out, report, None));
        let second = text.lines().nth(2).unwrap();
        assert!(second.starts_with("2 packets      3 "), "{text}");
    });
}

#[test]
fn csv_has_one_row_per_run_and_one_column_per_measure() {
    with_report(|report| {
        let text = written(|out| write_csv(out, report));
        let columns: Vec<usize> = text.lines().map(|line| line.split(',').count()).collect();
        // Beside the axis and the seed: the engine, its kernel and its clock.
        assert_eq!(columns, [5 + MEASURES.len(); 7]);
        assert!(text.starts_with("forward.0.queue,seed,"));
    });
}

#[test]
fn json_is_balanced_and_contains_the_names() {
    with_report(|report| {
        let text = written(|out| write_json(out, report));
        let count = |c: char| text.matches(c).count();
        assert_eq!((count('{'), count('[')), (count('}'), count(']')));
        assert_eq!(text.matches("\"seed\":").count(), 6);
        assert!(
            text.contains("\"labels\":{\"forward.0.queue\":\"2 packets\"},\"confidence\":0.95")
        );
        assert!(!text.contains("NaN") && !text.contains("inf"));
    });
}

#[test]
fn the_page_shows_comparisons_first_and_folds_charts_over_time() {
    with_report(|report| {
        let page = written(|out| write_page(out, report));
        assert!(page.contains("<h1>A &lt;small&gt; one</h1>"));
        assert!(page.contains("default-src 'none'"), "no request is allowed");
        assert_eq!(page.matches("<tr><td>").count(), 2, "a row a cell");
        let (charts, folded) = (
            page.find("data-measure=0"),
            page.find("<details class=\"card cell"),
        );
        assert!(charts.unwrap() < folded.unwrap());
        assert_eq!(page.matches("data-cell=").count(), 2);
        assert_eq!(page.matches("data-panel=").count(), 8, "four charts a cell");
    });
}

/// The samples of a line with 10 Mbit/s never show more, although data behind a hole is delivered all at once.
#[test]
fn samples_never_show_more_than_the_line_carries() {
    with_report(|report| {
        for run in report.first_runs.iter().flatten() {
            for flow in 0..run.flows.len() {
                let samples = run.samples.iter().filter(|s| s.flow as usize == flow);
                let samples: Vec<_> = samples.collect();
                for pair in samples.windows(2) {
                    let bytes = pair[1].arrived_bytes - pair[0].arrived_bytes;
                    let ns = pair[1].time_ns - pair[0].time_ns;
                    // Bytes to bits; a segment may end just inside the interval.
                    let bits_per_ns = (bytes - bytes.min(1460)) as f64 * 8.0 / ns as f64;
                    assert!(bits_per_ns <= 0.01, "{bytes} bytes in {ns} ns");
                }
            }
        }
    });
}
