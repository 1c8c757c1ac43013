//! The first program of the machines in which `inorder lab` runs scenarios, and, outside of a machine, their keeper; see
//! `inorder_lab::guest` and `inorder_lab::keeper`.

fn main() {
    #[cfg(target_os = "linux")]
    match std::process::id() {
        1 => inorder_lab::guest::main(),
        _ => inorder_lab::keeper::main(std::env::args_os().skip(1)),
    }
}
