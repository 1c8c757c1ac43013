/work/main/validation/stacks/path/target/debug/deps/circular-5aa19d47bcc9d426.d: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/circular-0.3.0/src/lib.rs

/work/main/validation/stacks/path/target/debug/deps/libcircular-5aa19d47bcc9d426.rmeta: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/circular-0.3.0/src/lib.rs

/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/circular-0.3.0/src/lib.rs:
