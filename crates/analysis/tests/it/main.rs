//! All tests from outside in one program, so that the crate is linked once. `cargo test -p inorder-analysis --test it connections::` runs
//! those of one file.

mod announced;
mod bridge;
mod connections;
mod csv;
mod cure;
mod dead;
mod digits;
mod doubtful_streams;
mod ends;
mod field;
mod figures;
mod frames;
mod headline;
mod held;
mod html;
mod invariants;
mod json;
mod one_way;
mod parquet;
mod sample;
mod schema;
mod several;
mod streams;
mod summed;
mod table;
mod variants;
mod words;
