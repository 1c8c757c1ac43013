//! How often intervals of 95 % hold the true value: ten models with known answers, every way to end a simulation, many
//! seeds.
//!
//! `cargo run --release -p inorder-nets --example coverage -- [SEEDS] [docs/petri.md] [MODEL]`
//!
//! Prints a table; given a file (not `-`), also puts it there between the two lines that say where. Given a part of the name
//! of a model and how long it runs, as `M/M/4`, only those rows are made. Runs that come with a doubt (see
//! docs/petri.md) are counted apart: what they print is not said to be an interval of 95 %. Every row has random numbers of
//! its own: with those of another row, the same long queue would be in the runs of both, and one accident would look like a
//! bias of all.

#![allow(clippy::disallowed_methods)] // The table has a date.

use std::fmt::Write;
use std::sync::atomic::AtomicBool;

use inorder_base::random::Random;
use inorder_nets::{Campaign, Program};
use inorder_petri::inspect::{Known, Settings, Watch, Wishes, examine, read};
use inorder_petri::statistics::Estimate;
use rayon::prelude::*;

type Failed = Box<dyn std::error::Error + Send + Sync>;

const BEGIN: &str =
    "<!-- coverage: made by `cargo run --release -p inorder-nets --example coverage` -->\n";
const END: &str = "<!-- end of coverage -->\n";

/// A net with a true value.
struct Model {
    name: String,
    text: String,
    /// Mean number in its first place; `None` for the exact solution of its chain.
    mean: Option<f64>,
    /// A number in its first place that is rarely reached, and how likely it is.
    rare: Option<(u32, f64)>,
    /// For a coloured net: the measure whose value `mean` is.
    is_coloured: bool,
}

/// How a simulation ends.
#[derive(Clone, Copy)]
enum Rule {
    Precision(f64),
    Time(f64),
    Runs(f64),
    Level(f64),
    Repetitions(u32),
}

impl Rule {
    fn words(self) -> String {
        match self {
            Self::Precision(precision) => format!("`--precision {precision}`"),
            Self::Time(time) => format!("`--time {time}`"),
            Self::Runs(precision) => format!("`--replications 4000 --precision {precision}`"),
            Self::Level(precision) => format!("`--level`, `--precision {precision}`"),
            Self::Repetitions(times) => format!("`--repetitions {times}`"),
        }
    }

    fn settings(self, seed: u64) -> Settings {
        let base = Settings {
            seed,
            ..Settings::default()
        };
        match self {
            Self::Precision(precision) => Settings { precision, ..base },
            Self::Time(time) => Settings {
                time: Some(time),
                precision: 0.0,
                ..base
            },
            Self::Runs(precision) => Settings {
                precision,
                replications: Some(4000),
                ..base
            },
            // Only of coloured nets, which have no settings.
            Self::Repetitions(_) => base,
            Self::Level(precision) => Settings {
                precision,
                level: Some("q".to_owned()),
                ..base
            },
        }
    }
}

fn main() -> Result<(), Failed> {
    let mut arguments = std::env::args().skip(1);
    let seeds = arguments.next().map_or(Ok(200), |n| n.parse())?;
    let file = arguments.next().filter(|file| file != "-");
    let wanted = arguments.next().unwrap_or_default();
    let mut table = format!(
        "Of {seeds} seeds each, {}:\n\n| model | how long | intervals that hold it | runs with a word (of these hold it) | mean of all runs, true |\n|---|---|---|---|---|\n",
        today()
    );
    let models = models();
    let plain = models
        .iter()
        .flat_map(|model| rules(model).into_iter().map(move |rule| (model, rule)));
    let rare = models.iter().filter(|model| model.rare.is_some());
    let all = plain.chain(rare.map(|model| (model, Rule::Level(0.2))));
    let is_wanted = |(model, rule): &(&Model, Rule)| {
        format!("{} {}", model.name, rule.words()).contains(&wanted)
    };
    for (model, rule) in all.filter(is_wanted) {
        let row = row(model, rule, seeds)?;
        println!("{}", row.trim_end());
        table.push_str(&row);
    }
    if let Some(file) = file {
        let page = std::fs::read_to_string(&file)?;
        let parts = page.split_once(BEGIN);
        let parts = parts.and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
        let (before, after) = parts.ok_or("the file has no place for the table")?;
        std::fs::write(&file, format!("{before}{BEGIN}\n{table}\n{END}{after}"))?;
    }
    Ok(())
}

fn rules(model: &Model) -> Vec<Rule> {
    if model.is_coloured {
        return vec![Rule::Repetitions(20)];
    }
    vec![Rule::Precision(0.1), Rule::Time(100_000.0), Rule::Runs(0.1)]
}

/// A single server with exponential arrivals.
fn queue(name: &str, load: f64, service: &str, squares: f64) -> Model {
    Model {
        name: format!("{name}, load {load}"),
        text: format!(
            "place q\ntransition a exponential rate {load}\n out q\ntransition s {service}\n in q\n"
        ),
        // Pollaczek and Khinchine; `squares` is the mean square of the service times, whose mean is 1.
        mean: Some(load + load * load * squares / (2.0 * (1.0 - load))),
        rare: None,
        is_coloured: false,
    }
}

fn models() -> Vec<Model> {
    let exponential = |load| queue("M/M/1", load, "exponential rate 1", 2.0);
    let rare = |load: f64, tokens: u32| {
        let probability = load.powi(tokens.cast_signed());
        Model {
            rare: Some((tokens, probability)),
            ..exponential(load)
        }
    };
    vec![
        rare(0.5, 13),
        rare(0.8, 35),
        exponential(0.9),
        queue("M/D/1", 0.9, "deterministic 1", 1.0),
        queue(
            "M/G/1, lognormal, variance 4",
            0.8,
            "lognormal mean 1 sd 2",
            5.0,
        ),
        queue(
            "M/G/1, Weibull, variance 5",
            0.7,
            "weibull shape 0.5 scale 0.5",
            6.0,
        ),
        servers(),
        closed(),
        coloured(),
        bursts(),
        exponential(0.95),
    ]
}

/// M/M/4 at a load of 0.9 (Erlang C).
fn servers() -> Model {
    let (offered, servers) = (3.6f64, 4);
    let mut term = 1.0;
    let mut below = 0.0;
    for k in 1..=servers {
        below += term;
        term *= offered / f64::from(k);
    }
    let full = term / (1.0 - 0.9);
    let waits = full / (below + full);
    // At least `tokens` there: all servers busy and the others wait.
    let tokens = 60;
    Model {
        name: "M/M/4, load 0.9".to_owned(),
        text: "place q\ntransition a exponential rate 3.6\n out q\ntransition s exponential rate 1 servers 4\n in q\n".to_owned(),
        mean: Some(offered + waits * 0.9 / (1.0 - 0.9)),
        rare: Some((tokens, waits * 0.9f64.powi(tokens.cast_signed() - servers))),
        is_coloured: false,
    }
}

/// A processor and two disks with eight jobs.
fn closed() -> Model {
    Model {
        name: "closed, 8 jobs, 3 stations".to_owned(),
        text: "place q 8\nplace chosen\nplace near\nplace far\n\
            transition run exponential rate 10\n in q\n out chosen\n\
            transition left immediate weight 7\n in chosen\n out near\n\
            transition right immediate weight 3\n in chosen\n out far\n\
            transition read exponential rate 7\n in near\n out q\n\
            transition fetch exponential rate 2\n in far\n out q\n"
            .to_owned(),
        mean: None,
        rare: None,
        is_coloured: false,
    }
}

/// Arrivals only in bursts of 50 service times on average, with pauses as long.
fn bursts() -> Model {
    Model {
        name: "arrivals in bursts, load 0.8".to_owned(),
        text: "place q 0 capacity 1000\nplace on 1\nplace off\n\
            transition a exponential rate 1.6\n read on\n out q\n\
            transition s exponential rate 1\n in q\n\
            transition pause exponential rate 0.02\n in on\n out off\n\
            transition burst exponential rate 0.02\n in off\n out on\n"
            .to_owned(),
        mean: None,
        rare: None,
        is_coloured: false,
    }
}

/// The stay in M/M/1 at a load of 0.8.
fn coloured() -> Model {
    Model {
        name: "coloured M/M/1, load 0.8, mean stay".to_owned(),
        text: "coloured net queue\nrecord job\n  came: time\nplace source 1\nplace waiting: job\nplace server 1\nsink out: job\n\
            transition arrive\n  in source\n  delay exponential(1.25 us)\n  out source\n  out waiting: {came = now}\n\
            transition serve\n  in job: waiting\n  in server\n  delay exponential(1 us)\n  out server\n  out out: job\n\
            run 100000 at out\nmeasure stay = mean(out, now - came) in us\n"
            .to_owned(),
        mean: Some(5.0),
        rare: None,
        is_coloured: true,
    }
}

fn row(model: &Model, rule: Rule, seeds: u64) -> Result<String, Failed> {
    let rare = model.rare.filter(|_| matches!(rule, Rule::Level(_)));
    let truth = match (rare, model.mean) {
        (Some((_, probability)), _) => probability,
        (None, Some(mean)) => mean,
        (None, None) => exact(model)?,
    };
    let campaign = format!("{} {}", model.name, rule.words());
    let found = (1..=seeds)
        .into_par_iter()
        .map(|run| estimate(model, rule, Random::new(run, &campaign).next_u64()));
    let found = found.collect::<Result<Vec<(Estimate, bool)>, Failed>>()?;
    let (trusted, doubted): (Vec<_>, Vec<_>) =
        found.iter().partition(|(_, is_trusted)| *is_trusted);
    let hold =
        |runs: &[&(Estimate, bool)]| runs.iter().filter(|(found, _)| found.covers(truth)).count();
    let held = hold(&trusted);
    let mean = found.iter().map(|(found, _)| found.mean).sum::<f64>() / seeds as f64;
    let what = rare.map_or(String::new(), |(tokens, _)| format!(", P(q >= {tokens})"));
    let mut row = String::new();
    writeln!(
        row,
        "| {}{what} | {} | {held} of {} ({:.1} %) | {} ({}) | {mean:.4e}, {truth:.4e} |",
        model.name,
        rule.words(),
        trusted.len(),
        100.0 * held as f64 / trusted.len().max(1) as f64,
        doubted.len(),
        hold(&doubted),
    )?;
    Ok(row)
}

fn exact(model: &Model) -> Result<f64, Failed> {
    let wishes = Wishes {
        exact: true,
        ..Wishes::default()
    };
    let found = examine(
        read("model", model.text.as_bytes())?,
        &wishes,
        &Watch::default(),
    )?;
    let exact = found.findings.exact.ok_or("no solution")?;
    let first = exact.places.first().ok_or("no place")?;
    Ok(first.tokens)
}

/// The estimate, and whether nothing speaks against its interval.
fn estimate(model: &Model, rule: Rule, seed: u64) -> Result<(Estimate, bool), Failed> {
    if let Rule::Repetitions(times) = rule {
        return repetitions(model, times, seed);
    }
    let rare = model.rare.filter(|_| matches!(rule, Rule::Level(_)));
    let wishes = Wishes {
        simulate: true,
        queries: rare
            .map(|(tokens, _)| format!("P(q >= {tokens})"))
            .into_iter()
            .collect(),
        simulation: rule.settings(seed),
        ..Wishes::default()
    };
    let found = examine(
        read("model", model.text.as_bytes())?,
        &wishes,
        &Watch::default(),
    )?
    .findings;
    let simulated = found.simulated.ok_or("not simulated")?;
    let is_trusted = simulated.doubts.is_empty() && simulated.ends.is_none();
    let estimate = match found.answers.first().map(|answer| &answer.answer) {
        None => simulated.measures.places.first().ok_or("no place")?.tokens,
        Some(Known::Number(mean, half_width)) => Estimate {
            mean: *mean,
            half_width: half_width.unwrap_or(0.0),
        },
        Some(Known::Holds(_) | Known::Always(_)) => return Err("no number".into()),
    };
    Ok((estimate, is_trusted))
}

fn repetitions(model: &Model, times: u32, seed: u64) -> Result<(Estimate, bool), Failed> {
    let mut none = |_: &str, name: &str| Err(format!("no file {name}"));
    let study = Program::read("model", &model.text, &mut none)?.study(&[])?;
    let campaign = Campaign {
        seed,
        repetitions: times,
        threads: 1,
        progress: &|_| {},
        stop: &AtomicBool::new(false),
    };
    let cells = study.run(&campaign)?;
    let runs = &cells.first().ok_or("no cell")?.runs;
    let values = runs.iter().filter_map(|run| run.first().copied());
    Ok((Estimate::of_mean(values, 0.95), true))
}

/// The date of today, by the Gregorian calendar (E. G. Richards, "Calendars", in Urban and Seidelmann, 2013).
fn today() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let day = since.map_or(0, |since| since.as_secs() / 86_400) as i64 + 2_440_588;
    let f = day + 1401 + (4 * day + 274_277) / 146_097 * 3 / 4 - 38;
    let g = (4 * f + 3) % 1461 / 4;
    let h = 5 * g + 2;
    let month = (h / 153 + 2) % 12 + 1;
    let year = (4 * f + 3) / 1461 - 4716 + (14 - month) / 12;
    format!("{year}-{month:02}-{:02}", h % 153 / 5 + 1)
}
