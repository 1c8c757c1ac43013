/work/main/validation/stacks/path/target/debug/deps/path-2dcbf0813a3ca0ba.d: src/main.rs src/end.rs src/icmp.rs src/record.rs src/words.rs

/work/main/validation/stacks/path/target/debug/deps/libpath-2dcbf0813a3ca0ba.rmeta: src/main.rs src/end.rs src/icmp.rs src/record.rs src/words.rs

src/main.rs:
src/end.rs:
src/icmp.rs:
src/record.rs:
src/words.rs:
