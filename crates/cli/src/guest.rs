//! The first program of the machines in which `inorder lab` runs scenarios; see `inorder_lab::guest`.

fn main() {
    #[cfg(target_os = "linux")]
    inorder_lab::guest::main();
}
