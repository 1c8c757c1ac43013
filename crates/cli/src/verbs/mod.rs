//! The verbs. To add one, write a file with `Args` and `run`, add three lines here, and its name to a group in `groups.rs`.

use clap::Subcommand;

use crate::error::Outcome;

pub(crate) use groups::grouped;

mod analyze;
#[cfg(feature = "parquet")]
mod campaign;
mod compare;
mod completions;
#[cfg(feature = "parquet")]
mod corpus;
mod diff;
mod emulate;
mod groups;
mod lab;
mod live;
mod man;
mod metrics;
mod netproc;
mod packetdrill;
mod petri;
#[cfg(feature = "parquet")]
mod population;
mod probe;
mod qlog;
mod query;
mod reflect;
mod reproduce;
mod runs;
mod simulate;
mod sort;
#[cfg(feature = "parquet")]
mod study;
mod watch;

/// One variant for each verb.
#[derive(Subcommand)]
pub(crate) enum Verb {
    /// Report reordering, loss and spurious retransmission in captures
    Analyze(analyze::Args),
    /// Run the grid of a scenario as tasks that can be interrupted, into datasets of Parquet files
    #[cfg(feature = "parquet")]
    Campaign(campaign::Args),
    /// Analyse any number of captures as tasks that can be interrupted, into datasets of Parquet files
    #[cfg(feature = "parquet")]
    Corpus(corpus::Args),
    /// Compare two results, before and after a change: what got better, what worse, and how sure that is
    Compare(compare::Args),
    /// Compare two captures of any traffic, packet by packet: lost, late, duplicated, delay between them
    Diff(diff::Args),
    /// Emulate a path between two interfaces: delay, jitter, late packets, loss, rate, in real time
    Emulate(emulate::Args),
    /// Sort packets as they come: between two interfaces, or what one interface receives
    Live(live::Args),
    /// Run a scenario on a real Linux kernel in virtual time, beside the simulation or alone
    Lab(lab::Args),
    /// Compute the metrics of RFC 4737 and RFC 5236 for numbers given as text
    Metrics(metrics::Args),
    /// Simulate a network processor: throughput, reordering, where packets spend their time
    Netproc(netproc::Args),
    /// Simulate, solve or analyse a stochastic Petri net
    Petri(petri::Args),
    /// Run packetdrill scripts against the simulated endpoints
    Packetdrill(packetdrill::Args),
    /// Simulate and capture connections whose settings are drawn, with the truth about them
    #[cfg(feature = "parquet")]
    Population(population::Args),
    /// Measure the order of both directions of a path, with numbered packets to a STAMP reflector or ICMP echoes
    Probe(probe::Args),
    /// Ask the datasets of studies in SQL
    Query(query::Query),
    /// Report spurious losses of QUIC from qlog files, and their cost
    Qlog(qlog::Args),
    /// Answer the packets of `inorder probe` and of other STAMP senders
    Reflect(reflect::Args),
    /// Simulate TCP over paths that reorder, from a scenario file
    Simulate(simulate::Args),
    /// Sort a capture as a receiver's network card could
    Sort(sort::Args),
    /// Summarise a corpus: how many connections reordering affects, how much, how late, at which rates
    Summary(query::Summary),
    /// Analyse what passes an interface, interval by interval, without an end
    Watch(watch::Args),
    /// Run a paper's experiments again: printed values, ours, and claims held, failed or undecided
    Reproduce(reproduce::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
    /// Print the manual page, or write one page for each verb into a directory
    Man(man::Args),
}

/// The verbs whose start counts: the definition of their options alone is made in a fraction of the time that all take.
#[derive(Subcommand)]
pub(crate) enum SoonStarted {
    /// See [`Verb::Analyze`].
    Analyze(analyze::Args),
}

impl From<SoonStarted> for Verb {
    fn from(verb: SoonStarted) -> Self {
        match verb {
            SoonStarted::Analyze(args) => Verb::Analyze(args),
        }
    }
}

impl Verb {
    /// Runs the verb; `command` makes the definition of the command line, which some verbs print.
    pub(crate) fn run(&self, command: fn() -> clap::Command) -> Outcome {
        match self {
            Verb::Analyze(args) => analyze::run(args),
            #[cfg(feature = "parquet")]
            Verb::Campaign(args) => campaign::run(args),
            #[cfg(feature = "parquet")]
            Verb::Corpus(args) => corpus::run(args),
            Verb::Compare(args) => compare::run(args),
            Verb::Diff(args) => diff::run(args),
            Verb::Emulate(args) => emulate::run(args),
            Verb::Live(args) => live::run(args),
            Verb::Lab(args) => lab::run(args),
            Verb::Metrics(args) => metrics::run(args),
            Verb::Netproc(args) => netproc::run(args),
            Verb::Petri(args) => petri::run(args),
            Verb::Packetdrill(args) => packetdrill::run(args),
            #[cfg(feature = "parquet")]
            Verb::Population(args) => population::run(args),
            Verb::Query(args) => query::query(args),
            Verb::Probe(args) => probe::run(args),
            Verb::Qlog(args) => qlog::run(args),
            Verb::Reflect(args) => reflect::run(args),
            Verb::Simulate(args) => simulate::run(args),
            Verb::Sort(args) => sort::run(args),
            Verb::Summary(args) => query::summary(args),
            Verb::Watch(args) => watch::run(args),
            Verb::Reproduce(args) => reproduce::run(args),
            Verb::Completions(args) => completions::run(args, command()),
            Verb::Man(args) => man::run(args, command()),
        }
    }
}

/// Converts microseconds of an option to nanoseconds; values that are too large become the largest time.
fn nanoseconds(us: u64) -> i64 {
    i64::try_from(us).map_or(i64::MAX, |us| us.saturating_mul(1_000))
}
