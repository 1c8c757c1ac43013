//! The options of a simulation.

use inorder_petri::inspect::Settings;
use inorder_petri::race;

/// Runs that end at a time, unless --replications says otherwise.
const RUNS_TO_A_TIME: u32 = 1000;

/// Defaults of the options of these names.
const PRECISION: f64 = 0.01;
const CONFIDENCE: f64 = 0.95;

/// How to simulate.
#[derive(clap::Args)]
pub(super) struct Options {
    /// Simulated time at which the run (or each replication) ends at the latest; with --exact the time of the
    /// solution, instead of the long run
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = positive)]
    pub time: Option<f64>,
    /// Simulated time at the start that does not count (warm-up)
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = not_negative)]
    warm_up: Option<f64>,
    /// Relative half width of the intervals at which to stop; 0 to use the whole time
    #[arg(long, value_name = "SHARE", default_value_t = PRECISION, allow_negative_numbers = true, value_parser = not_negative)]
    precision: f64,
    /// Probability that an interval holds the true value
    #[arg(long, value_name = "SHARE", default_value_t = CONFIDENCE, allow_negative_numbers = true, value_parser = share)]
    confidence: f64,
    /// Seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Use independent runs, at most this many, instead of batches of one run
    #[arg(long, value_name = "RUNS", value_parser = clap::value_parser!(u32).range(2..))]
    replications: Option<u32>,
    /// What the clock of a transition remembers when another transition fires
    #[arg(long, value_enum, default_value_t = Memory::Enabling)]
    pub memory: Memory,
    /// Timed transitions take their tokens when they start, instead of racing for them
    #[arg(long, conflicts_with = "memory")]
    pub reserve: bool,
    /// Estimate the --query numbers by importance splitting (RESTART): a number that rises towards what is rare, such as
    /// 'queue' or 'queue + 2 * lost'
    #[arg(long, value_name = "NUMBER", requires = "query", requires = "simulate", conflicts_with_all = ["reserve", "replications", "at", "exact"])]
    pub level: Option<String>,
}

impl Options {
    /// The options that were given, besides the seed.
    pub(super) fn given(&self) -> impl Iterator<Item = &'static str> {
        let all = [
            ("--time", self.time.is_some()),
            ("--warm-up", self.warm_up.is_some()),
            ("--precision", self.precision != PRECISION),
            ("--confidence", self.confidence != CONFIDENCE),
            ("--replications", self.replications.is_some()),
            ("--memory", self.memory != Memory::Enabling),
            ("--reserve", self.reserve),
            ("--level", self.level.is_some()),
        ];
        all.into_iter()
            .filter_map(|(name, given)| given.then_some(name))
    }

    /// As the library takes them; for the state at a time, independent runs that end there, all of them.
    pub(super) fn settings(&self, at: Option<f64>) -> Settings {
        if at.is_some() {
            return Settings {
                time: at,
                warm_up: None,
                precision: 0.0,
                replications: Some(self.replications.unwrap_or(RUNS_TO_A_TIME)),
                at_end: true,
                ..self.settings(None)
            };
        }
        Settings {
            time: self.time,
            warm_up: self.warm_up,
            precision: self.precision,
            confidence: self.confidence,
            seed: self.seed,
            replications: self.replications,
            memory: self.memory.into(),
            reserve: self.reserve,
            at_end: false,
            level: self.level.clone(),
        }
    }
}

/// The policies of [`race::Memory`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Memory {
    /// It continues while its transition stays enabled
    Enabling,
    /// It stops while its transition is disabled
    Age,
    /// It is drawn anew after every timed firing
    Resampling,
}

impl From<Memory> for race::Memory {
    fn from(memory: Memory) -> Self {
        match memory {
            Memory::Enabling => Self::Enabling,
            Memory::Age => Self::Age,
            Memory::Resampling => Self::Resampling,
        }
    }
}

fn number(text: &str, expected: &str, fits: impl Fn(f64) -> bool) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if fits(number) => Ok(number),
        _ => Err(format!("expected {expected}")),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    number(text, "a number above 0", |n| n > 0.0 && n.is_finite())
}

fn not_negative(text: &str) -> Result<f64, String> {
    number(text, "a number not below 0", |n| n >= 0.0 && n.is_finite())
}

fn share(text: &str) -> Result<f64, String> {
    number(text, "a number between 0 and 1", |n| n > 0.0 && n < 1.0)
}
