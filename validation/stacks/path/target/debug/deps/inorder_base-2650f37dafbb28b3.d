/work/main/validation/stacks/path/target/debug/deps/inorder_base-2650f37dafbb28b3.d: /work/main/crates/base/src/lib.rs /work/main/crates/base/src/heap.rs /work/main/crates/base/src/names.rs /work/main/crates/base/src/random.rs /work/main/crates/base/src/sequence.rs /work/main/crates/base/src/stats/mod.rs /work/main/crates/base/src/stats/correlation.rs /work/main/crates/base/src/stats/difference.rs /work/main/crates/base/src/stats/distribution.rs /work/main/crates/base/src/stats/estimate.rs /work/main/crates/base/src/stats/histogram.rs

/work/main/validation/stacks/path/target/debug/deps/libinorder_base-2650f37dafbb28b3.rmeta: /work/main/crates/base/src/lib.rs /work/main/crates/base/src/heap.rs /work/main/crates/base/src/names.rs /work/main/crates/base/src/random.rs /work/main/crates/base/src/sequence.rs /work/main/crates/base/src/stats/mod.rs /work/main/crates/base/src/stats/correlation.rs /work/main/crates/base/src/stats/difference.rs /work/main/crates/base/src/stats/distribution.rs /work/main/crates/base/src/stats/estimate.rs /work/main/crates/base/src/stats/histogram.rs

/work/main/crates/base/src/lib.rs:
/work/main/crates/base/src/heap.rs:
/work/main/crates/base/src/names.rs:
/work/main/crates/base/src/random.rs:
/work/main/crates/base/src/sequence.rs:
/work/main/crates/base/src/stats/mod.rs:
/work/main/crates/base/src/stats/correlation.rs:
/work/main/crates/base/src/stats/difference.rs:
/work/main/crates/base/src/stats/distribution.rs:
/work/main/crates/base/src/stats/estimate.rs:
/work/main/crates/base/src/stats/histogram.rs:
