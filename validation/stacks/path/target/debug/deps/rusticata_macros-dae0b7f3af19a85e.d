/work/main/validation/stacks/path/target/debug/deps/rusticata_macros-dae0b7f3af19a85e.d: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/rusticata-macros-5.0.0/src/lib.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/rusticata-macros-5.0.0/src/combinator.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/rusticata-macros-5.0.0/src/debug.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/rusticata-macros-5.0.0/src/macros.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/rusticata-macros-5.0.0/src/traits.rs

/work/main/validation/stacks/path/target/debug/deps/librusticata_macros-dae0b7f3af19a85e.rmeta: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/rusticata-macros-5.0.0/src/lib.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/rusticata-macros-5.0.0/src/combinator.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/rusticata-macros-5.0.0/src/debug.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/rusticata-macros-5.0.0/src/macros.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/rusticata-macros-5.0.0/src/traits.rs

/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/rusticata-macros-5.0.0/src/lib.rs:
/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/rusticata-macros-5.0.0/src/combinator.rs:
/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/rusticata-macros-5.0.0/src/debug.rs:
/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/rusticata-macros-5.0.0/src/macros.rs:
/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/rusticata-macros-5.0.0/src/traits.rs:
