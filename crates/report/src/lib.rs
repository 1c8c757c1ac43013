//! Results as text for people, JSON, CSV, Parquet and HTML pages, all from one list of columns.
//!
//! A [`Column`] defines once the name, meaning and unit of a fact of a row, and how to read it. From a slice of
//! columns and any rows this crate makes
//!
//! | function | output |
//! |---|---|
//! | [`text::write`] | a table for a terminal or a pipe, within a width |
//! | [`csv::write`] | CSV (RFC 4180) |
//! | [`json::write`], [`json::write_rows`] | JSON, with nested objects where columns are nested |
//! | `parquet::write` | Parquet (feature `parquet`) |
//! | `arrow::Batches` | record batches of Apache Arrow, for data frames in memory (feature `arrow`) |
//! | [`html::Table`] | a sortable table of a page |
//! | [`prometheus::write`] | the text format of Prometheus |
//! | [`schema::write`] | the JSON Schema of what [`json`] writes |
//!
//! [`html`] also frames pages that need no network, with charts. [`number`] formats numbers, and [`escape`] escapes
//! text from outside, for all other code that prints.
//!
//! If rows are made of several parts, or columns depend on the run, a [`Sheet`] combines them; rows inside rows are
//! [`List`], [`Map`], [`Object`], [`Part`] and [`Maybe`]. The crate does not depend on the meaning of the rows:
//! slices of columns are declared beside the types they describe, in other crates. [`Column`] has an example.

#![forbid(unsafe_code)]

#[cfg(feature = "arrow")]
pub mod arrow;
mod check;
mod column;
pub mod csv;
mod document;
pub mod escape;
mod field;
mod grid;
pub mod html;
mod nested;
pub mod number;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod prometheus;
mod sheet;
pub mod text;
mod value;

pub use check::problems;
pub use column::{Adapt, AnyColumn, Boxed, Column, Nested, Read, json, schema};
pub use csv::in_files;
pub use document::Document;
pub use field::{Digits, Element, Field, Files, Kind, Rank};
pub use nested::{List, Map, Maybe, Object, Part};
pub use sheet::Sheet;
pub use value::Value;
