//! Embeds the files of `experiments/`: for each paper its `paper.toml`, its scenarios and its printed tables.
//!
//! The generated list contains each file with its path below `experiments/`, so a new paper or scenario needs no
//! change in the source.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Files with these endings are embedded; all others are only for readers.
const ENDINGS: [&str; 4] = ["toml", "csv", "trace", "cdf"];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let root = root.join("../../experiments").canonicalize()?;
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    for folder in entries(&root)?.iter().filter(|path| path.is_dir()) {
        println!("cargo::rerun-if-changed={}", folder.display());
        files.extend(entries(folder)?.into_iter().filter(|path| is_data(path)));
    }
    let lines = files.iter().filter_map(|path| {
        println!("cargo::rerun-if-changed={}", path.display());
        let name = path.strip_prefix(&root).ok()?.to_str()?.replace('\\', "/");
        Some(format!(
            "    ({name:?}, include_str!({:?})),\n",
            path.to_str()?
        ))
    });
    let list = format!("&[\n{}]\n", lines.collect::<String>());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("files.rs"), list)
}

/// The entries of a folder, sorted by name.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn is_data(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    path.is_file() && ending.is_some_and(|ending| ENDINGS.contains(&ending))
}
