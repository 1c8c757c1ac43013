/work/main/validation/stacks/path/target/debug/deps/inorder_scenario-43fe31f8dae867d1.d: /work/main/crates/scenario/src/lib.rs /work/main/crates/scenario/src/config/mod.rs /work/main/crates/scenario/src/config/application.rs /work/main/crates/scenario/src/config/capture.rs /work/main/crates/scenario/src/config/card.rs /work/main/crates/scenario/src/config/discipline.rs /work/main/crates/scenario/src/config/endpoint.rs /work/main/crates/scenario/src/config/flow.rs /work/main/crates/scenario/src/config/habits.rs /work/main/crates/scenario/src/config/impairments.rs /work/main/crates/scenario/src/config/lab.rs /work/main/crates/scenario/src/config/line.rs /work/main/crates/scenario/src/config/link.rs /work/main/crates/scenario/src/config/run.rs /work/main/crates/scenario/src/config/stage.rs /work/main/crates/scenario/src/context.rs /work/main/crates/scenario/src/cumulative.rs /work/main/crates/scenario/src/declare.rs /work/main/crates/scenario/src/dotted.rs /work/main/crates/scenario/src/error.rs /work/main/crates/scenario/src/fuzz.rs /work/main/crates/scenario/src/grid.rs /work/main/crates/scenario/src/kind.rs /work/main/crates/scenario/src/names.rs /work/main/crates/scenario/src/quantity.rs /work/main/crates/scenario/src/reader.rs /work/main/crates/scenario/src/reference.rs /work/main/crates/scenario/src/scenario.rs /work/main/crates/scenario/src/schema/mod.rs /work/main/crates/scenario/src/schema/bounds.rs /work/main/crates/scenario/src/schema/form.rs /work/main/crates/scenario/src/schema/owner.rs /work/main/crates/scenario/src/trace.rs /work/main/crates/scenario/src/value.rs /work/main/crates/scenario/src/introduction.md

/work/main/validation/stacks/path/target/debug/deps/libinorder_scenario-43fe31f8dae867d1.rmeta: /work/main/crates/scenario/src/lib.rs /work/main/crates/scenario/src/config/mod.rs /work/main/crates/scenario/src/config/application.rs /work/main/crates/scenario/src/config/capture.rs /work/main/crates/scenario/src/config/card.rs /work/main/crates/scenario/src/config/discipline.rs /work/main/crates/scenario/src/config/endpoint.rs /work/main/crates/scenario/src/config/flow.rs /work/main/crates/scenario/src/config/habits.rs /work/main/crates/scenario/src/config/impairments.rs /work/main/crates/scenario/src/config/lab.rs /work/main/crates/scenario/src/config/line.rs /work/main/crates/scenario/src/config/link.rs /work/main/crates/scenario/src/config/run.rs /work/main/crates/scenario/src/config/stage.rs /work/main/crates/scenario/src/context.rs /work/main/crates/scenario/src/cumulative.rs /work/main/crates/scenario/src/declare.rs /work/main/crates/scenario/src/dotted.rs /work/main/crates/scenario/src/error.rs /work/main/crates/scenario/src/fuzz.rs /work/main/crates/scenario/src/grid.rs /work/main/crates/scenario/src/kind.rs /work/main/crates/scenario/src/names.rs /work/main/crates/scenario/src/quantity.rs /work/main/crates/scenario/src/reader.rs /work/main/crates/scenario/src/reference.rs /work/main/crates/scenario/src/scenario.rs /work/main/crates/scenario/src/schema/mod.rs /work/main/crates/scenario/src/schema/bounds.rs /work/main/crates/scenario/src/schema/form.rs /work/main/crates/scenario/src/schema/owner.rs /work/main/crates/scenario/src/trace.rs /work/main/crates/scenario/src/value.rs /work/main/crates/scenario/src/introduction.md

/work/main/crates/scenario/src/lib.rs:
/work/main/crates/scenario/src/config/mod.rs:
/work/main/crates/scenario/src/config/application.rs:
/work/main/crates/scenario/src/config/capture.rs:
/work/main/crates/scenario/src/config/card.rs:
/work/main/crates/scenario/src/config/discipline.rs:
/work/main/crates/scenario/src/config/endpoint.rs:
/work/main/crates/scenario/src/config/flow.rs:
/work/main/crates/scenario/src/config/habits.rs:
/work/main/crates/scenario/src/config/impairments.rs:
/work/main/crates/scenario/src/config/lab.rs:
/work/main/crates/scenario/src/config/line.rs:
/work/main/crates/scenario/src/config/link.rs:
/work/main/crates/scenario/src/config/run.rs:
/work/main/crates/scenario/src/config/stage.rs:
/work/main/crates/scenario/src/context.rs:
/work/main/crates/scenario/src/cumulative.rs:
/work/main/crates/scenario/src/declare.rs:
/work/main/crates/scenario/src/dotted.rs:
/work/main/crates/scenario/src/error.rs:
/work/main/crates/scenario/src/fuzz.rs:
/work/main/crates/scenario/src/grid.rs:
/work/main/crates/scenario/src/kind.rs:
/work/main/crates/scenario/src/names.rs:
/work/main/crates/scenario/src/quantity.rs:
/work/main/crates/scenario/src/reader.rs:
/work/main/crates/scenario/src/reference.rs:
/work/main/crates/scenario/src/scenario.rs:
/work/main/crates/scenario/src/schema/mod.rs:
/work/main/crates/scenario/src/schema/bounds.rs:
/work/main/crates/scenario/src/schema/form.rs:
/work/main/crates/scenario/src/schema/owner.rs:
/work/main/crates/scenario/src/trace.rs:
/work/main/crates/scenario/src/value.rs:
/work/main/crates/scenario/src/introduction.md:
