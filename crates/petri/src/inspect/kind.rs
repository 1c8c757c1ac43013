//! How numbers are written, in tables and files alike.

use inorder_report::{Digits, Kind};

/// A number with the same digits as in the tables.
pub const REAL: Kind = Kind::Number(Digits::Fine);
