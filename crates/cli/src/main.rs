//! The `inorder` command: one small file a verb.
fn main() {}
