//! The `inorder` command; the library of this package runs it.

use std::process::ExitCode;

/// An analysis makes and drops a few small objects for each connection. This allocator does so with fewer instructions
/// and cache misses than glibc's, and musl's is slower still (benches/README.md has the figures).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(inorder_command::run(std::env::args_os()))
}
