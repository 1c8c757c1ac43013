/work/main/validation/stacks/path/target/debug/deps/strsim-23927d7cfe5517a7.d: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/strsim-0.11.1/src/lib.rs

/work/main/validation/stacks/path/target/debug/deps/libstrsim-23927d7cfe5517a7.rmeta: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/strsim-0.11.1/src/lib.rs

/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/strsim-0.11.1/src/lib.rs:
