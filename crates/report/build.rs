//! Embeds the chart libraries of the page, if somebody fetched them (`tools/fetch-vega`).

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Constants of the generated file and what they hold.
const FILES: [(&str, &str); 4] = [
    ("vega", "vega.min.js"),
    ("vega_lite", "vega-lite.min.js"),
    ("vega_embed", "vega-embed.min.js"),
    ("licences", "LICENSES.txt"),
];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=vega.lock");
    println!("cargo::rerun-if-env-changed=INORDER_VEGA_DIR");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let code = match libraries()? {
        Some(dir) => embed(&dir, &out)?,
        None => {
            println!(
                "cargo::warning=the HTML page will have no charts: tools/fetch-vega fetches \
                 their libraries"
            );
            "None".to_owned()
        }
    };
    fs::write(out.join("vega.rs"), code)
}

/// The folder with all files, if there is one.
fn libraries() -> io::Result<Option<PathBuf>> {
    let dir = match env::var_os("INORDER_VEGA_DIR") {
        Some(dir) => Some(PathBuf::from(dir)),
        None => cache_dir()?,
    };
    Ok(dir.filter(|dir| FILES.iter().all(|(_, file)| dir.join(file).is_file())))
}

/// `${XDG_CACHE_HOME:-~/.cache}/inorder/vega/VERSIONS`, as `tools/fetch-vega` names it.
fn cache_dir() -> io::Result<Option<PathBuf>> {
    let lock = fs::read_to_string("vega.lock")?;
    let versions: Vec<&str> = lock
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_whitespace().nth(1))
        .collect();
    let cache = match env::var_os("XDG_CACHE_HOME").filter(|dir| !dir.is_empty()) {
        Some(dir) => Some(PathBuf::from(dir)),
        None => env::var_os("HOME").map(|home| Path::new(&home).join(".cache")),
    };
    Ok(cache.map(|cache| cache.join("inorder/vega").join(versions.join("-"))))
}

/// Copies the files, made safe inside a `<script>` element, and returns the code naming them.
fn embed(dir: &Path, out: &Path) -> io::Result<String> {
    let mut fields = String::new();
    for (field, file) in FILES {
        println!("cargo::rerun-if-changed={}", dir.join(file).display());
        let text = fs::read_to_string(dir.join(file))?;
        fs::write(out.join(file), inline(&text))?;
        fields.push_str(&format!(
            "{field}: include_str!(concat!(env!(\"OUT_DIR\"), \"/{file}\")),\n"
        ));
    }
    Ok(format!("Some(Bundle {{\n{fields}}})"))
}

/// Without end tags of scripts and references to source maps.
fn inline(text: &str) -> String {
    text.lines()
        .filter(|line| !line.starts_with("//# sourceMappingURL"))
        .map(|line| line.replace("</script", "<\\/script") + "\n")
        .collect()
}
