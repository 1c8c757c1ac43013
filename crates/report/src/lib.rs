//! Results as text for people, JSON, CSV, Parquet and pages, all from one list of columns.
//!
//! A [`Column`] says once how a fact of a row is called, what it is, in which unit, and how it is
//! read. From a slice of columns and any rows this crate makes
//!
//! | function | output |
//! |---|---|
//! | [`text::write`] | a table for a terminal or a pipe, within a width |
//! | [`csv::write`] | CSV (RFC 4180) |
//! | [`json::write`], [`json::write_rows`] | JSON, nested where columns say so |
//! | `parquet::write` | Parquet (feature `parquet`) |
//! | [`html::Table`] | a sortable table of a page |
//! | [`schema::write`] | the JSON Schema of what [`json`] writes |
//!
//! [`html`] also frames pages that open without a network, with charts. [`number`] and
//! [`escape`] hold how numbers look and how text from outside is kept text, for everything else
//! that prints.
//!
//! Where rows are made of several things, or columns depend on the run, a [`Sheet`] puts them
//! together; rows inside rows are [`List`], [`Map`], [`Object`], [`Part`] and [`Maybe`]. The crate knows nothing of
//! what the rows mean: slices of columns stand beside the types they describe, in the crates
//! above. [`Column`] has an example.

mod check;
mod column;
pub mod csv;
pub mod escape;
mod field;
mod grid;
pub mod html;
mod nested;
pub mod number;
#[cfg(feature = "parquet")]
pub mod parquet;
mod sheet;
pub mod text;
mod value;

pub use check::problems;
pub use column::{Adapt, AnyColumn, Boxed, Column, Nested, Read, json, schema};
pub use field::{Digits, Element, Field, Files, Kind, Rank};
pub use nested::{List, Map, Maybe, Object, Part};
pub use sheet::Sheet;
pub use value::Value;
