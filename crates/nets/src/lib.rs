//! A language for coloured timed Petri nets: queues, packets and processors as text files.
//!
//! Tokens are records with fields, transitions have guards, delays and expressions on their arcs, and a file declares its
//! parameters, how long a run takes and what is measured. A file is checked (names, types, dimensions; errors name file,
//! line and column), compiled to closures and run by [`inorder_petri::coloured`], the engine of the nets in Rust.
//! A run is a function of the text, the parameters and a seed, on every machine and with any number of threads.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use inorder_nets::{Campaign, Program, Report};
//!
//! let text = "coloured net queue
//! parameter load = 0.5 from 0 to 0.99
//! record job
//!   came: time
//! place source 1
//! place waiting: job
//! place server 1
//! sink out: job
//! transition arrive
//!   in source
//!   delay exponential(1 us / load)
//!   out source
//!   out waiting: {came = now}
//! transition serve
//!   in job: waiting
//!   in server
//!   delay exponential(1 us)
//!   out server
//!   out out: job
//! run 20000 at out
//! measure response = mean(out, now - came) in us
//! ";
//! let nothing_included = &mut |_: &str, name: &str| Err(format!("no file {name}"));
//! let study = Program::read("queue.net", text, nothing_included)?
//!     .study(&[("load".to_owned(), "0.2, 0.5".to_owned())])?;
//! let campaign = Campaign {
//!     seed: 1,
//!     repetitions: 2,
//!     threads: 0,
//!     progress: &|_| {},
//!     stop: &AtomicBool::new(false),
//! };
//! let cells = study.run(&campaign)?;
//! // M/M/1: 1 / (1 - load) service times.
//! let response = &cells[1].runs[0][0];
//! assert!((response - 2.0).abs() < 0.2, "{response}");
//! let report = Report::new(study.name(), study.axes(), cells, false);
//! report.write_text(&mut std::io::stdout(), None)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod ast;
mod build;
mod code;
mod error;
mod ir;
mod lex;
mod live;
mod lower;
mod measure;
mod names;
mod operator;
mod parse;
mod program;
mod reference;
mod report;
mod run;
mod space;
mod study;
mod token;
mod units;
mod words;

pub use error::NetError;
pub use inorder_petri::coloured::Stop;
pub use live::{Arrived, Held, Live, Port};
pub use measure::{Ordered, Row, Unsure};
pub use program::{Load, Program, is_coloured};
pub use reference::write_reference;
pub use report::{PARTS, Report, write_schema};
pub use run::{Moment, Ran};
pub use space::Seen;
pub use study::{Campaign, CellResult, Setting, Study};

/// Reads and checks any bytes; what is valid is run for a moment.
#[doc(hidden)]
pub fn fuzz_one(data: &[u8]) {
    use std::cell::Cell;

    /// Times at which a run is asked whether it goes on.
    const QUESTIONS: u32 = 2;

    let text = String::from_utf8_lossy(data);
    let mut none = |_: &str, name: &str| Err(format!("no file {name}"));
    let Ok(program) = Program::read("fuzz", &text, &mut none) else {
        return;
    };
    let settings = std::collections::BTreeMap::new();
    let Ok(chain) = names::Names::chain(&program.statements, &settings) else {
        return;
    };
    let asked = Cell::new(0);
    let go_on = |_| {
        asked.set(asked.get() + 1);
        asked.get() < QUESTIONS
    };
    let _ = run::run(&chain, 1, Some(&go_on));
}
