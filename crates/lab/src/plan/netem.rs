//! The words of netem for one or several stages of a path.
//!
//! netem applies duplication, loss, damage and delay in this order, so successive stages that follow it share one netem.

use inorder_path::SCALE;
use inorder_scenario::config::{self as plain, Distribution, Loss};

use super::Table;
use super::refusal::Refusal;

/// Most packets in a netem whose stage has no limit of its own.
const NO_LIMIT: u64 = 1_000_000;
/// Numbers in a table of late packets. netem takes 16,384, but `tc` sends no message that long.
const LARGEST_TABLE: usize = 16_000;
/// Maximum difference between the share of late packets and the one wanted: a table of netem has a limited size.
const MAX_SHARE_ERROR: f64 = 0.05;

/// How long packets wait.
#[derive(Clone, PartialEq, Debug)]
enum Wait {
    /// All of them as long, nanoseconds.
    Fixed(i64),
    /// netem's words.
    Random(String),
    /// A share waits longer.
    Late { base_ns: i64, late: plain::Late },
}

/// One netem.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Netem {
    /// In netem's order: duplication, loss, damage. A stage is added only behind those that netem applies before it.
    before: Vec<(u8, String)>,
    wait: Wait,
    /// The rest: reordering, rate.
    after: String,
    limit: u64,
    /// The tables it needs.
    pub tables: Vec<Table>,
    /// True if nothing may be added.
    is_full: bool,
}

impl Default for Netem {
    fn default() -> Self {
        Netem {
            before: Vec::new(),
            wait: Wait::Fixed(0),
            after: String::new(),
            limit: NO_LIMIT,
            tables: Vec::new(),
            is_full: false,
        }
    }
}

const DUPLICATE: u8 = 0;
const LOSS: u8 = 1;
const CORRUPT: u8 = 2;

impl Netem {
    /// A constant delay.
    pub(super) fn delay(ns: i64) -> Self {
        Netem {
            wait: Wait::Fixed(ns),
            ..Netem::default()
        }
    }

    /// The stage `delay`.
    pub(super) fn jitter(stage: &plain::Delay) -> Self {
        if stage.jitter_ns == 0 {
            let limit = stage.limit_packets.unwrap_or(NO_LIMIT);
            // Its limit must not become that of others.
            let is_full = stage.limit_packets.is_some();
            return Netem {
                limit,
                is_full,
                ..Netem::delay(stage.delay_ns)
            };
        }
        let (words, tables) = random(
            stage.delay_ns,
            stage.jitter_ns,
            stage.distribution,
            stage.correlation,
        );
        Netem {
            wait: Wait::Random(words),
            limit: stage.limit_packets.unwrap_or(NO_LIMIT),
            tables,
            ..Netem::default()
        }
    }

    /// What is behind the line of a lane: loss, and a delay with normal jitter; nothing if there is none of them.
    pub(super) fn lane(delay_ns: i64, jitter_ns: i64, loss: f64) -> Option<Self> {
        let before = match loss > 0.0 {
            true => vec![(LOSS, format!("loss random {}", percent(loss)))],
            false => Vec::new(),
        };
        let (wait, tables) = match jitter_ns {
            0 => (Wait::Fixed(delay_ns), Vec::new()),
            _ => {
                let (words, tables) = random(delay_ns, jitter_ns, Distribution::Normal, 0.0);
                (Wait::Random(words), tables)
            }
        };
        let is_something = !before.is_empty() || wait != Wait::Fixed(0);
        is_something.then(|| Netem {
            before,
            wait,
            tables,
            ..Netem::default()
        })
    }

    /// The stage `loss`.
    pub(super) fn loss(stage: &Loss) -> Self {
        Self::first(LOSS, loss_words(stage))
    }

    /// The stage `duplicate`.
    pub(super) fn duplicate(stage: &plain::Duplicate) -> Self {
        Self::first(
            DUPLICATE,
            format!("duplicate {}", chance(stage.probability, stage.correlation)),
        )
    }

    /// The stage `corrupt`.
    pub(super) fn corrupt(stage: &plain::Corrupt) -> Self {
        let words = chance(stage.probability, stage.correlation);
        match stage.discard {
            true => Self::first(LOSS, format!("loss random {words}")),
            false => Self::first(CORRUPT, format!("corrupt {words}")),
        }
    }

    /// The stage `reorder`.
    pub(super) fn reorder(stage: &plain::Reorder) -> Self {
        let words = chance(stage.probability, stage.correlation);
        Netem {
            after: format!(" reorder {words} gap {}", stage.gap.max(1)),
            is_full: true,
            ..Netem::delay(stage.delay_ns)
        }
    }

    /// The stage `late`, while packets are late.
    pub(super) fn late(stage: &plain::Late, key: &str) -> Result<Self, Refusal> {
        if stage.probability == 0.0 {
            return Ok(Netem::default());
        }
        let (table, share) = two_lanes(stage.probability);
        if (share / stage.probability - 1.0).abs() > MAX_SHARE_ERROR {
            let what =
                format!("netem's tables have {LARGEST_TABLE} numbers, too few for this share");
            return Err(Refusal::new(
                format!("{key}.probability"),
                what,
                "0, or at least 0.06 % and not nearly 100 %",
            ));
        }
        Ok(Netem {
            wait: Wait::Late {
                base_ns: 0,
                late: stage.clone(),
            },
            tables: vec![table],
            ..Netem::default()
        })
    }

    /// The stage `netem`.
    pub(super) fn whole(stage: &plain::Netem) -> Self {
        let mut before = Vec::new();
        let parts = [
            (
                DUPLICATE,
                "duplicate",
                stage.duplicate,
                stage.duplicate_correlation,
            ),
            (LOSS, "loss random", stage.loss, stage.loss_correlation),
            (CORRUPT, "corrupt", stage.corrupt, stage.corrupt_correlation),
        ];
        for (order, word, probability, correlation) in parts {
            if probability > 0.0 {
                before.push((
                    order,
                    format!("{word} {}", chance(probability, correlation)),
                ));
            }
        }
        let mut after = String::new();
        if stage.reorder > 0.0 {
            let words = chance(stage.reorder, stage.reorder_correlation);
            after = format!(" reorder {words} gap {}", stage.gap.max(1));
        }
        if let Some(rate) = stage.bits_per_s {
            after.push_str(&format!(" rate {rate}bit"));
        }
        let (wait, tables) = match stage.jitter_ns {
            0 => (Wait::Fixed(stage.delay_ns), Vec::new()),
            jitter => {
                let (words, tables) = random(
                    stage.delay_ns,
                    jitter,
                    stage.distribution,
                    stage.correlation,
                );
                (Wait::Random(words), tables)
            }
        };
        Netem {
            before,
            wait,
            after,
            limit: stage.limit_packets,
            tables,
            is_full: true,
        }
    }

    fn first(order: u8, words: String) -> Self {
        Netem {
            before: vec![(order, words)],
            ..Netem::default()
        }
    }

    /// Adds the netem behind this one if one netem does both; otherwise returns it.
    pub(super) fn join(&mut self, next: Netem) -> Option<Netem> {
        let last = self.before.last().map(|(order, _)| *order);
        let waits = self.wait != Wait::Fixed(0);
        let in_order = next
            .before
            .first()
            .is_none_or(|(order, _)| !waits && last.is_none_or(|last| last < *order));
        let wait = join_waits(&self.wait, &next.wait);
        match wait {
            Some(wait) if in_order && !self.is_full && !next.is_full => {
                self.before.extend(next.before);
                self.wait = wait;
                self.limit = self.limit.min(next.limit);
                self.tables.extend(next.tables);
                None
            }
            _ => Some(next),
        }
    }

    /// The words at the beginning of a run.
    pub(super) fn words(&self) -> String {
        match &self.wait {
            Wait::Late { late, .. } if late.from_ns > 0 => self.words_with(false),
            _ => self.words_with(true),
        }
    }

    /// Times from which other words hold.
    pub(super) fn changes(&self) -> Vec<(i64, String)> {
        let Wait::Late { late, .. } = &self.wait else {
            return Vec::new();
        };
        let from = (late.from_ns > 0).then(|| (late.from_ns, self.words_with(true)));
        let until = late.until_ns.map(|at_ns| (at_ns, self.words_with(false)));
        from.into_iter().chain(until).collect()
    }

    fn words_with(&self, is_late: bool) -> String {
        let mut words = format!("netem limit {}", self.limit);
        match &self.wait {
            Wait::Fixed(0) if self.after.is_empty() => {}
            Wait::Fixed(ns) => words.push_str(&format!(" delay {}", time(*ns))),
            Wait::Random(given) => words.push_str(&format!(" {given}")),
            Wait::Late { base_ns, late } if is_late => {
                let name = lane_name(late.probability);
                let correlation = percent(late.correlation);
                // `tc` takes a table only with a delay: at least a microsecond.
                let (base, spread) = (time((*base_ns).max(1000)), time(late.delay_ns));
                words.push_str(&format!(
                    " delay {base} {spread} {correlation} distribution {name}"
                ));
            }
            Wait::Late { base_ns, .. } => words.push_str(&format!(" delay {}", time(*base_ns))),
        }
        for (_, part) in &self.before {
            words.push(' ');
            words.push_str(part);
        }
        words + &self.after
    }
}

fn join_waits(first: &Wait, second: &Wait) -> Option<Wait> {
    match (first, second) {
        (Wait::Fixed(0), other) | (other, Wait::Fixed(0)) => Some(other.clone()),
        (Wait::Fixed(one), Wait::Fixed(other)) => Some(Wait::Fixed(one.saturating_add(*other))),
        (Wait::Fixed(fixed), Wait::Late { base_ns, late })
        | (Wait::Late { base_ns, late }, Wait::Fixed(fixed)) => Some(Wait::Late {
            base_ns: base_ns.saturating_add(*fixed),
            late: late.clone(),
        }),
        _ => None,
    }
}

fn random(
    mean_ns: i64,
    jitter_ns: i64,
    shape: Distribution,
    correlation: f64,
) -> (String, Vec<Table>) {
    let name = match shape {
        Distribution::Uniform => "",
        Distribution::UniformUnit => "uniform-unit",
        Distribution::Normal => "normal",
        Distribution::Exponential => "exponential",
        Distribution::Pareto => "pareto",
        Distribution::ParetoNormal => "paretonormal",
    };
    let mut words = format!(
        "delay {} {} {}",
        // `tc` takes a table only with a delay: at least a microsecond.
        time(mean_ns.max(1000)),
        time(jitter_ns),
        percent(correlation)
    );
    let table = inorder_path::Table::of(shape).map(|table| Table {
        name: name.to_owned(),
        numbers: table.numbers().to_vec(),
    });
    if table.is_some() {
        words.push_str(&format!(" distribution {name}"));
    }
    (words, table.into_iter().collect())
}

/// A table of which this share is one spread, and the rest nothing; and the share it really has.
fn two_lanes(share: f64) -> (Table, f64) {
    let late = ((share * LARGEST_TABLE as f64).round() as usize).min(LARGEST_TABLE);
    let mut numbers = vec![0; LARGEST_TABLE - late];
    numbers.extend(vec![SCALE as i16; late]);
    let table = Table {
        name: lane_name(share),
        numbers,
    };
    (table, late as f64 / LARGEST_TABLE as f64)
}

/// The name of the table of a share of late packets.
fn lane_name(share: f64) -> String {
    format!("late-{}", (share * LARGEST_TABLE as f64).round())
}

fn loss_words(stage: &Loss) -> String {
    match stage {
        Loss::Uniform(loss) => {
            format!("loss random {}", chance(loss.probability, loss.correlation))
        }
        Loss::GilbertElliott(model) => {
            let r = model.to_good.unwrap_or(1.0 - model.to_bad);
            // netem wants 1 - h, the loss in the bad state, and 1 - k, that in the good one.
            format!(
                "loss gemodel {} {} {} {}",
                percent(model.to_bad),
                percent(r),
                percent(model.loss_in_bad),
                percent(model.loss_in_good)
            )
        }
        Loss::Markov(model) => {
            let p31 = model.p31.unwrap_or(1.0 - model.p13);
            let words = [model.p13, p31, model.p32, model.p23, model.p14].map(percent);
            format!("loss state {}", words.join(" "))
        }
    }
}

fn chance(probability: f64, correlation: f64) -> String {
    match correlation > 0.0 {
        true => format!("{} {}", percent(probability), percent(correlation)),
        false => percent(probability),
    }
}

/// A time as `tc` reads it.
fn time(ns: i64) -> String {
    format!("{}us", ns as f64 / 1000.0)
}

fn percent(share: f64) -> String {
    format!("{}%", share * 100.0)
}
