//! The recordings of the lab (`testdata/lab`), each with its truth from both ends: reading them, and
//! scoring what one capture let the inference say. Shared by the tests and by the example
//! `calibration`.

#![allow(dead_code, reason = "each user takes a part of it")]

pub(crate) mod ablation;
pub(crate) mod aims;
pub(crate) mod count;
pub(crate) mod floors;
pub(crate) mod many;
pub(crate) mod recording;
pub(crate) mod score;
pub(crate) mod snap;
pub(crate) mod table;
pub(crate) mod truth;
