/work/main/validation/stacks/path/target/debug/deps/inorder_sort-6a05b4150097ebd2.d: /work/main/crates/sort/src/lib.rs /work/main/crates/sort/src/classify.rs /work/main/crates/sort/src/batch.rs /work/main/crates/sort/src/key.rs /work/main/crates/sort/src/meta.rs /work/main/crates/sort/src/out.rs /work/main/crates/sort/src/place.rs /work/main/crates/sort/src/siphash.rs /work/main/crates/sort/src/sorter.rs /work/main/crates/sort/src/sorters/mod.rs /work/main/crates/sort/src/sorters/both.rs /work/main/crates/sort/src/sorters/config.rs /work/main/crates/sort/src/sorters/none.rs /work/main/crates/sort/src/sorters/resequence/mod.rs /work/main/crates/sort/src/sorters/resequence/burst.rs /work/main/crates/sort/src/sorters/resequence/deadlines.rs /work/main/crates/sort/src/sorters/resequence/flows.rs /work/main/crates/sort/src/sorters/resequence/held.rs /work/main/crates/sort/src/sorters/resequence/lateness.rs /work/main/crates/sort/src/sorters/resequence/learnt.rs /work/main/crates/sort/src/sorters/resequence/lessons.rs /work/main/crates/sort/src/sorters/resequence/order.rs /work/main/crates/sort/src/sorters/resequence/paths.rs /work/main/crates/sort/src/sorters/resequence/released.rs /work/main/crates/sort/src/sorters/resequence/rule.rs /work/main/crates/sort/src/sorters/srpic/mod.rs /work/main/crates/sort/src/sorters/srpic/block.rs /work/main/crates/sort/src/sorters/srpic/burst.rs /work/main/crates/sort/src/sorters/srpic/config.rs /work/main/crates/sort/src/sorters/srpic/model.rs /work/main/crates/sort/src/sorters/srpic/ring.rs /work/main/crates/sort/src/sorters/text.rs /work/main/crates/sort/src/sorters/window.rs /work/main/crates/sort/src/table.rs

/work/main/validation/stacks/path/target/debug/deps/libinorder_sort-6a05b4150097ebd2.rmeta: /work/main/crates/sort/src/lib.rs /work/main/crates/sort/src/classify.rs /work/main/crates/sort/src/batch.rs /work/main/crates/sort/src/key.rs /work/main/crates/sort/src/meta.rs /work/main/crates/sort/src/out.rs /work/main/crates/sort/src/place.rs /work/main/crates/sort/src/siphash.rs /work/main/crates/sort/src/sorter.rs /work/main/crates/sort/src/sorters/mod.rs /work/main/crates/sort/src/sorters/both.rs /work/main/crates/sort/src/sorters/config.rs /work/main/crates/sort/src/sorters/none.rs /work/main/crates/sort/src/sorters/resequence/mod.rs /work/main/crates/sort/src/sorters/resequence/burst.rs /work/main/crates/sort/src/sorters/resequence/deadlines.rs /work/main/crates/sort/src/sorters/resequence/flows.rs /work/main/crates/sort/src/sorters/resequence/held.rs /work/main/crates/sort/src/sorters/resequence/lateness.rs /work/main/crates/sort/src/sorters/resequence/learnt.rs /work/main/crates/sort/src/sorters/resequence/lessons.rs /work/main/crates/sort/src/sorters/resequence/order.rs /work/main/crates/sort/src/sorters/resequence/paths.rs /work/main/crates/sort/src/sorters/resequence/released.rs /work/main/crates/sort/src/sorters/resequence/rule.rs /work/main/crates/sort/src/sorters/srpic/mod.rs /work/main/crates/sort/src/sorters/srpic/block.rs /work/main/crates/sort/src/sorters/srpic/burst.rs /work/main/crates/sort/src/sorters/srpic/config.rs /work/main/crates/sort/src/sorters/srpic/model.rs /work/main/crates/sort/src/sorters/srpic/ring.rs /work/main/crates/sort/src/sorters/text.rs /work/main/crates/sort/src/sorters/window.rs /work/main/crates/sort/src/table.rs

/work/main/crates/sort/src/lib.rs:
/work/main/crates/sort/src/classify.rs:
/work/main/crates/sort/src/batch.rs:
/work/main/crates/sort/src/key.rs:
/work/main/crates/sort/src/meta.rs:
/work/main/crates/sort/src/out.rs:
/work/main/crates/sort/src/place.rs:
/work/main/crates/sort/src/siphash.rs:
/work/main/crates/sort/src/sorter.rs:
/work/main/crates/sort/src/sorters/mod.rs:
/work/main/crates/sort/src/sorters/both.rs:
/work/main/crates/sort/src/sorters/config.rs:
/work/main/crates/sort/src/sorters/none.rs:
/work/main/crates/sort/src/sorters/resequence/mod.rs:
/work/main/crates/sort/src/sorters/resequence/burst.rs:
/work/main/crates/sort/src/sorters/resequence/deadlines.rs:
/work/main/crates/sort/src/sorters/resequence/flows.rs:
/work/main/crates/sort/src/sorters/resequence/held.rs:
/work/main/crates/sort/src/sorters/resequence/lateness.rs:
/work/main/crates/sort/src/sorters/resequence/learnt.rs:
/work/main/crates/sort/src/sorters/resequence/lessons.rs:
/work/main/crates/sort/src/sorters/resequence/order.rs:
/work/main/crates/sort/src/sorters/resequence/paths.rs:
/work/main/crates/sort/src/sorters/resequence/released.rs:
/work/main/crates/sort/src/sorters/resequence/rule.rs:
/work/main/crates/sort/src/sorters/srpic/mod.rs:
/work/main/crates/sort/src/sorters/srpic/block.rs:
/work/main/crates/sort/src/sorters/srpic/burst.rs:
/work/main/crates/sort/src/sorters/srpic/config.rs:
/work/main/crates/sort/src/sorters/srpic/model.rs:
/work/main/crates/sort/src/sorters/srpic/ring.rs:
/work/main/crates/sort/src/sorters/text.rs:
/work/main/crates/sort/src/sorters/window.rs:
/work/main/crates/sort/src/table.rs:
