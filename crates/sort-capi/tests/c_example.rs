//! The C examples build with a plain C compiler against the static and the shared library, and succeed.

#[path = "../../cli/tests/it/common/needs.rs"]
mod needs;

use std::path::{Path, PathBuf};

/// The directory in which cargo has put the libraries of this build.
fn library_dir() -> Option<PathBuf> {
    let test = std::env::current_exe().ok()?;
    test.ancestors()
        .skip(1)
        .find(|dir| dir.join("libinorder_sort_capi.a").exists())
        .map(Path::to_path_buf)
}

#[test]
#[cfg_attr(miri, ignore = "runs a compiler")]
fn builds_and_runs_against_both_libraries() {
    let Some(programs) = needs::needs(&["cc", "make"]) else {
        return;
    };
    let Some(libraries) = library_dir() else {
        return needs::skipped("this build made no static library");
    };
    let build = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c_example");
    std::fs::create_dir_all(&build).unwrap();
    let output = programs
        .command("make")
        .arg("-B")
        .arg("-C")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples"))
        .arg("check")
        .arg(format!("LIBDIR={}", libraries.display()))
        .arg(format!("BUILD={}", build.display()))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{errors}");
    // Two programs, each against two libraries.
    assert_eq!(said.matches("as promised").count(), 4, "{said}{errors}");
}
