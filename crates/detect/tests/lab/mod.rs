//! The recordings of the lab (`testdata/lab`), each with its truth from both ends: reading them, and
//! scoring what one capture let the inference say. Shared by the tests and by the example
//! `calibration`.

#![allow(dead_code, reason = "each user takes a part of it")]

pub mod ablation;
pub mod aims;
pub mod count;
pub mod floors;
pub mod many;
pub mod recording;
pub mod score;
pub mod snap;
pub mod table;
pub mod truth;
