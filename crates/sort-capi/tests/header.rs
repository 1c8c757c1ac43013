//! The checked-in header is what cbindgen generates from the source.
//!
//! After a change: `UPDATE_HEADER=1 cargo test -p inorder-sort-capi --test header`.

use std::path::Path;

#[test]
#[cfg_attr(miri, ignore = "reads files")]
fn the_header_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let mut made = Vec::new();
    cbindgen::Builder::new()
        .with_crate(root)
        .with_config(config)
        .generate()
        .unwrap()
        .write(&mut made);
    let path = root.join("include/inorder_sort.h");
    if std::env::var_os("UPDATE_HEADER").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(
        kept.as_bytes() == made,
        "include/inorder_sort.h is out of date: run this test with UPDATE_HEADER=1"
    );
}
